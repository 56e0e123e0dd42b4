"""`cappunc eval` with options for those who make models and compare them with published figures; prints JSON.

Beside transcripts it reads label files (IWSLT, xashru, NeMo, SEPP) and JSON lines (`models/lab/datasets.py`).

    python -m models.lab.variants --shuffle-pauses --model en-fast --ref $DATA/iwslt/test2011
    python -m models.lab.variants --metric nemo --ref gold.txt fixed.txt

--metric: scores as other projects define them (`models/lab/presets.py`). --gold-windows: windows that end with a
sentence. --speech-dashes: hyphens before words of plain text are dashes of direct speech. --shuffle-pauses: the known
pauses stand between other words. --starts-alone: words have no ends, as in YouTube's captions. --independent: marks and
case are decided apart. --marks-given: the marks of the reference are kept, so that only case is restored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from cappunc_cli import formats
from cappunc_cli.cli.main import COMMANDS, command
from cappunc_cli.document.labels import MARKS, TERMINAL, Case, dress, strip
from cappunc_cli.document.words import Word, pauses
from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation import FOLD, Evaluation, Sample
from cappunc_cli.evaluation.pairs import NO_FOLD
from cappunc_cli.evaluation.report import Signature, System, as_dict, plain
from cappunc_cli.features.evaluate.inputs import Source, sources, without_breaks
from cappunc_cli.features.evaluate.options import EvalOptions
from cappunc_cli.features.evaluate.run import Restorer, as_read, restorer_of, score, signature_of
from cappunc_cli.files.output import Reporter, write_json
from cappunc_cli.files.storage import read_unpacked
from cappunc_cli.options import EXPERT, FILES, OUTPUT, Option
from cappunc_cli.restoration.decoding.decoder import decide, mark_scores, written_labels
from cappunc_cli.restoration.decoding.evidence import evidence
from cappunc_cli.restoration.decoding.paired_marks import viterbi
from cappunc_cli.restoration.decoding.passage import place_marks
from cappunc_cli.restoration.pipeline import probabilities, read_passage
from models.lab.calibration import calibration_error, restored
from models.lab.datasets import RecognisedSource, read_benchmark
from models.lab.presets import PRESETS
from models.lab.readers import speech_dashes

#: What is taken away, by its option, and what the signature says of it.
VARIANTS = {
    "--shuffle-pauses": "pauses:shuffled",
    "--starts-alone": "pauses:starts",
    "--independent": "decided:independently",
    "--marks-given": "marks:given",
}


@dataclass(frozen=True, slots=True)
class LabOptions(EvalOptions):
    """The options of `cappunc eval`, and those for makers."""

    preset: Annotated[
        str | None, Option("Scores as a project defines them.", OUTPUT, name="metric", choices=tuple(PRESETS))
    ] = None
    only: Annotated[str | None, Option("Score only documents whose names match.", FILES, metavar="GLOB")] = None
    gold_windows: Annotated[
        int | None, Option("Windows of at most N words, cut at the reference's sentence ends.", EXPERT, least=1)
    ] = None
    speech_dashes: Annotated[bool, Option("In plain text, a hyphen before a word opens direct speech.", EXPERT)] = False


#: The options that only this command has.
OWN = {"--gold-windows", "--speech-dashes", *VARIANTS}


def reported(systems: Sequence[System], signature: Signature, preset: str | None) -> dict[str, object]:
    """The report of `cappunc eval --json`, with the scores of a preset of the first system."""
    if preset is None:
        return as_dict(systems, signature)
    values = PRESETS[preset](systems[0].evaluation)
    own = {"name": preset, "scores": {name: plain(value) for name, value in values.items()}}
    return as_dict(systems, {**signature, "metric": preset}) | {"preset": own}


def scored(options: LabOptions, variants: frozenset[str]) -> dict[str, object]:
    """The report of `cappunc eval --json` on a model of some variants."""
    restorer = restorer_of(options)
    changed = restorer.options
    if options.preset == "autopunct" and options.scored.marks is None:
        changed = replace(changed, marks="".join((MARKS, *restorer.model.config.around)))
    if "--marks-given" in variants:
        changed = replace(changed, existing="keep", sensitivity=0.0)  # hardly any are missing
    restorer = replace(restorer, options=changed)
    # A chain over the marks (chain.py), which only experiments have.
    config = Path(options.scored.model or "") / "config.json"
    transitions = json.loads(config.read_text("utf-8")).get("crf") if config.is_file() else None
    samples: list[Sample] = []
    rows, fold = [], FOLD if options.fold else NO_FOLD
    own_language = restorer.options.conventions(restorer.model.config)
    for source in documents(options):
        words = list(lowered(source) if "--marks-given" in variants else source.stripped(own_language))
        if "--shuffle-pauses" in variants:
            words = shuffled_pauses(words, options.seed)
        if "--starts-alone" in variants:
            words = [replace(word, end=None) for word in words]
        texts, own = restored(words, restorer, fold)
        if words and "--independent" in variants:
            texts = apart(words, restorer)
        elif words and transitions:
            texts = chained(words, restorer, np.array(transitions))
        samples += as_read([Sample(source.name, [word.text for word in source.words], texts)], own_language.code)
        rows.append(own)
    told = dict(VARIANTS[variant].split(":") for variant in sorted(variants))
    if options.gold_windows is not None:
        told["windows"] = f"gold@{options.gold_windows}"
    signature = signature_of(options, restorer, told, samples)
    evaluation = Evaluation(samples, fold)
    found = reported([System("", evaluation)], signature, options.preset)
    return found | {"calibration": {"ece": calibration_error(evaluation, rows)}}


def apart(words: list[Word], restorer: Restorer) -> list[str]:
    """The texts of words whose marks and cases are the most probable ones, whether they go together or not."""
    model = replace(restorer.model, config=replace(restorer.model.config, consistency=0.0))
    passage = read_passage(words, probabilities(words, model, restorer.options), model, restorer.options)
    marks = mark_scores(passage, evidence(passage)).argmax(1)
    labels = written_labels(passage, passage.posteriors.cases.argmax(1), place_marks(passage, marks))
    return list(map(dress, passage.bare, labels))


def chained(words: list[Word], restorer: Restorer, transitions: NDArray[np.float64]) -> list[str]:
    """The texts of words whose marks are the best sequence by the scores and the `transitions` between them."""
    model, options = restorer.model, restorer.options
    passage = read_passage(words, probabilities(words, model, options), model, options)
    known = evidence(passage)
    known.marks = viterbi(mark_scores(passage, known), transitions).astype(np.int8)
    return list(map(dress, passage.bare, decide(passage, known)))


def documents(options: LabOptions) -> Iterator[Source]:
    """The documents of the references, as the options ask for them."""
    if options.speech_dashes:
        found: Iterator[Source] = map(novel, map(Path, options.ref))
    else:
        found = sources(list(map(Path, options.ref)), partial(read_benchmark, format=options.format_name))
    for source in found:
        if options.only is not None and not fnmatch(source.name, options.only):
            continue
        yield from (source,) if options.gold_windows is None else gold_windows(source, options.gold_windows)


def novel(path: Path) -> Source:
    """A text whose hyphens before words are dashes of direct speech."""
    # At the head of a line, a dash would be read as a change of speaker rather than as text.
    text = speech_dashes(read_unpacked(str(path))).replace("\n—", " —")
    return Source(path.name.removesuffix(".xz"), without_breaks(formats.read(text, format="txt")))


def gold_windows(source: Source, most: int) -> Iterator[Source]:
    """Split a document into pieces of at most `most` words that end with a sentence; longer sentences are dropped.

    This is how JointCapPunc scores (utils/data_loader.py). It shows the model where sentences end, so the figures
    can be compared with that system only.
    """
    start = end = count = 0
    for i, word in enumerate(source.words, 1):
        if strip(word.text)[1].mark not in TERMINAL or not strip(word.text)[1].mark:
            continue
        if i - start > most and end > start:
            yield Source(f"{source.name}/{count}", source.words[start:end])
            start, count = end, count + 1
        if i - start > most:
            start = i
        end = i
    if end > start:
        yield Source(f"{source.name}/{count}", source.words[start:end])


def lowered(source: Source) -> Iterator[Word]:
    """The reference words in lower case with their marks. Raises BadInput if there are recognised words."""
    if isinstance(source, RecognisedSource):
        raise BadInput(f"{source.name}: recognised words have no marks to keep")
    for word in source.words:
        bare, label = strip(word.text)
        yield replace(word, text=dress(bare, replace(label, case=Case.LOWER, form="")))


def shuffled_pauses(words: Sequence[Word], seed: int) -> list[Word]:
    """The same words with their known pauses shuffled; unknown pauses stay where they are."""
    old = pauses(words)
    known = [pause for pause in old if pause is not None]
    Random(seed).shuffle(known)
    remaining = iter(known)
    clock, result = 0, []
    before: int | None = None
    for word, pause in zip(words, old, strict=True):
        # Only pauses matter: words last 1 ms, without an end before an unknown pause and without a start after one.
        start = None if before is None else clock
        result.append(replace(word, start=start, end=None if pause is None else clock + 1))
        before = pause if pause is None else next(remaining)
        clock += 1 + (before or 0)
    return result


def main(arguments: Sequence[str]) -> None:
    """Run `cappunc eval` with LabOptions and some of the VARIANTS."""
    variants = frozenset(VARIANTS.keys() & set(arguments))

    def report(_context: Any, options: LabOptions) -> None:
        if options.hyp:
            write_json(reported(*score(options, Reporter(), read_benchmark), options.preset))
        else:
            write_json(scored(options, variants))

    own = replace(COMMANDS["eval"], options=LabOptions, function=report)
    command("eval", own)([one for one in arguments if one not in variants and one != "--json"])


if __name__ == "__main__":
    main(sys.argv[1:])
