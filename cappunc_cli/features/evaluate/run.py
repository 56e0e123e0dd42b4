"""Score hypotheses or a model: from the options of `cappunc eval` to scores, and the function for Python."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import FOLD, Evaluation, Sample
from cappunc_cli.evaluation.bootstrap import resample
from cappunc_cli.evaluation.pairs import NO_FOLD
from cappunc_cli.evaluation.report import Signature, System, as_dict, describe_fold, hash_words
from cappunc_cli.features.evaluate.inputs import Source, listing, pair_samples, read_transcript, sources, starts
from cappunc_cli.features.evaluate.options import EvalOptions, ScoredModel
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.language_detection import AUTO, DEFAULT, detect_language, words_of
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.storage import read_unpacked
from cappunc_cli.languages import codes_of
from cappunc_cli.languages import language as language_of
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import model_languages
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from cappunc_cli.version import __version__

#: Bootstrap samples of a comparison by default.
_DRAWS = 1000


def evaluate(
    reference: str | os.PathLike[str],
    *systems: str | os.PathLike[str],
    fold: bool = True,
    bootstrap: int = 0,
    seed: int = 0,
    model: str | None = None,
    language: str = AUTO,
    format: str | None = None,
) -> dict[str, object]:
    """Score files against a reference, as `cappunc eval --json` does, and return the object that it prints.

    `reference` is a file or a directory, and so is each of the `systems`; several are compared. Without any, the model
    is scored. The other parameters are described in `cappunc eval --help`. Raises CappuncError and OSError.

    >>> cappunc.fix(Path("talk.srt")).save("gold.srt")
    >>> cappunc.fix(Path("talk.srt"), fast=True).save("fast.srt")
    >>> found = cappunc.evaluate("gold.srt", "talk.srt", "fast.srt")
    >>> {name: round(system["scores"]["micro"]["f1"], 1) for name, system in found["systems"].items()}
    {'talk.srt': 0.0, 'fast.srt': 0.9}
    """
    options = EvalOptions(
        ScoredModel(lang=codes_of(language), model=model),
        tuple(os.fspath(system) for system in systems),
        (os.fspath(reference),),
        format_name=format,
        fold=fold,
        bootstrap=bootstrap,
        seed=seed,
    )
    return as_dict(*score(options, Reporter()))


def grouped_by_system(references: Sequence[Path], hypotheses: Sequence[Path]) -> dict[str, list[Path]]:
    """The hypotheses of each system by its name: each directory, or each file beside a single reference file.

    Otherwise (several references in order, or files beside a directory) all hypotheses belong to one system.
    """
    single = len(references) == 1 and not references[0].is_dir()
    if len(hypotheses) < 2 or not (single or all(path.is_dir() for path in hypotheses)):
        return {"": list(hypotheses)}
    short = Counter(path.name for path in hypotheses)
    found = {str(path) if short[path.name] > 1 or not path.name else path.name: [path] for path in hypotheses}
    return found if len(found) > 1 else {"": list(hypotheses)}


def score(
    options: EvalOptions, reporter: Reporter, read: Callable[..., Iterable[Source]] = read_transcript
) -> tuple[list[System], Signature]:
    """Score the model, one hypothesis, or the hypotheses of several systems, each compared with the first.

    Reference files are counted by the `reporter` as they are restored or compared. Raises CappuncError.
    """
    references, hypotheses = list(map(Path, options.ref)), list(map(Path, options.hyp))
    reader, fold = partial(read, format=options.format_name), FOLD if options.fold else NO_FOLD
    restorer = None if hypotheses else restorer_of(options)
    evaluations = {}
    for name, own in grouped_by_system(references, hypotheses).items():
        if restorer is None:
            samples = as_read(pair_samples(references, own, reader, reporter), options.scored.lang)
        else:
            samples = [restorer.of(source) for source in sources(references, reader, reporter)]
        evaluations[name] = Evaluation(samples, fold)
    several = len(evaluations) > 1
    draws = options.bootstrap or _DRAWS * several
    tested = {"bootstrap": f"{draws}x{options.seed}", **({"test": "paired"} if several else {})} if draws else {}
    drawn = resample(list(evaluations.values()), draws, options.seed) if draws else [()] * len(evaluations)
    systems = [System(*item, *found) for item, found in zip(evaluations.items(), drawn, strict=True)]
    return systems, signature_of(options, restorer, tested, samples)


def as_read(samples: Sequence[Sample], code: str) -> Sequence[Sample]:
    """The samples as `Language.read` has their marks and cases, in their language or in that of the first."""
    if code == AUTO:
        code = detect_language(words_of(" ".join(samples[0].reference[:1000])), [])
    own = language_of(code)
    if not own.read_as:
        return samples
    sides = ([list(map(own.read, side)) for side in (one.reference, one.hypothesis)] for one in samples)
    return [replace(one, reference=a, hypothesis=b) for one, (a, b) in zip(samples, sides, strict=True)]


def signature_of(
    options: EvalOptions, restorer: Restorer | None, more: Mapping[str, str], samples: Sequence[Sample]
) -> Signature:
    """What the scores of the samples depend on; `more` says how they were resampled."""
    return {
        "cappunc": __version__,
        **(restorer.described() if restorer else {"model": "none"}),
        "fold": describe_fold(FOLD if options.fold else NO_FOLD),
        **more,
        "data": hash_words([sample.reference for sample in samples]),
    }


@dataclass(frozen=True, slots=True)
class Restorer:
    """A model and the options with which it is scored."""

    model: Model
    options: Options

    def described(self) -> dict[str, str]:
        """For the signature: name and hash of the model, and of others of its ensemble, and the options."""
        options = self.options
        code = options.conventions(self.model.config).code
        members = (member.config for member, _ in self.model.ensemble if code in member.config.languages)
        configs = [self.model.config, *members]
        names = (f"{config.name}@{next(iter(config.files.values()), 'unknown')[:12]}" for config in configs)
        return {
            "model": "+".join(names),
            "pauses": "yes" if options.pauses else "no",
            "marks": options.marks or "all",
            "sensitivity": f"{options.sensitivity:g}",
            **({"style": options.style} if options.style != "standard" else {}),
            "window": "/".join(map(str, self.model.config.windows(options))),
            "device": self.model.engine.device.split(":")[0],
        }

    def of(self, source: Source) -> Sample:
        """Restore a document that is stripped to its bare words, and pair them with what is written in it."""
        return self.sample(source, source.stripped(self.options.conventions(self.model.config)))

    def sample(self, source: Source, words: Sequence[Word]) -> Sample:
        """Restore the bare `words` of a document, and pair them with what is written in it."""
        written, own = [word.text for word in source.words], self.options.conventions(self.model.config)
        found = restore(words, self.model, self.options) if words else []
        return as_read([Sample(source.name, written, found, starts(words))], own.code)[0]


def restorer_of(options: EvalOptions) -> Restorer:
    """The model to score: the one named, or that of the reference's language."""
    scored = options.scored
    code = scored.lang
    if code == AUTO and scored.model is None:
        first = next(iter(listing(list(map(Path, options.ref)))), None)
        known = model_languages(scored.engine)
        code = detect_language(words_of(read_unpacked(str(first))), known) if first else DEFAULT
    name = FixRequest(scored.lang, scored.model, scored.engine).of_language(code)
    model = load_model(name, scored.device, engine=scored.engine)
    if model.engine.warning:
        Reporter().info(model.engine.warning)
    same = {name: getattr(scored, name) for name in ScoredModel.__slots__ if name in Options.__slots__}
    # A stripped reference has nothing to keep.
    return Restorer(model, Options(language=None if code == AUTO else code, existing="replace", **same))
