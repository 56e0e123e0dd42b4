"""The model that `cappunc eval` scores: stripped words in, restored words and probabilities out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import FOLD, Sample
from cappunc_cli.evaluation.calibration import fold_columns
from cappunc_cli.evaluation.pairs import NO_FOLD
from cappunc_cli.features.evaluate.inputs import Source, listing, starts
from cappunc_cli.features.evaluate.options import EvalOptions
from cappunc_cli.files.language_detection import AUTO, DEFAULT, detect_language, words_of
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.request import ModelChoice
from cappunc_cli.files.storage import read_unpacked
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import ENGINES, model_languages
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import as_read, probabilities, rewrite


@dataclass(frozen=True, slots=True)
class Restorer:
    """A model and the options with which it is scored; probabilities are folded like the marks."""

    model: Model
    options: Options
    fold: Mapping[str, str]

    def identity(self) -> str:
        """Name and hash for the signature, and those of the other models of an ensemble."""
        code = self.options.conventions(self.model.config).code
        configs = [self.model.config, *(member.config for member, _ in self.model.members(code))]
        return "+".join(f"{config.name}@{next(iter(config.files.values()), 'unknown')[:12]}" for config in configs)

    def described(self) -> dict[str, str]:
        """The options for the signature, most important first."""
        options = self.options
        return {
            "pauses": "yes" if options.pauses else "no",
            "marks": options.marks or "all",
            "sensitivity": f"{options.sensitivity:g}",
            **({"style": options.style} if options.style != "standard" else {}),
            "window": "/".join(map(str, options.windows(self.model.config))),
            "device": self.model.engine.device.split(":")[0],
        }

    def sample(self, source: Source, words: Sequence[Word]) -> Sample:
        """Restore the bare `words` of a document, and pair them with what is written in it."""
        written = [word.text for word in source.words]
        if not words:
            return Sample(source.name, written, [])
        read = as_read(words, self.model, self.options)
        rows = probabilities(read.parts, self.model, self.options)
        texts = read.joined(rewrite(read.parts, rows, self.model, self.options))
        last = np.append(np.diff(read.owners) > 0, True)  # the mark of a word is that of its last part
        folded = fold_columns(rows[last, len(CASE_CLASSES) :], MARK_CLASSES, self.fold)
        return Sample(source.name, written, texts, starts(words), folded)


def restorer_of(options: EvalOptions) -> Restorer:
    """The model to score: the one named, or that of the reference's language."""
    scored = options.scored
    code = scored.lang
    if code == AUTO and scored.model is None:
        first = next(iter(listing(list(map(Path, options.ref)))), None)
        known = model_languages(ENGINES[scored.engine])
        code = detect_language(words_of(read_unpacked(str(first))), known) if first else DEFAULT
    name = ModelChoice(scored.lang, scored.model, scored.engine).of_language(code)
    model = load_model(name, scored.device, engine=scored.engine)
    if model.engine.warning:
        Reporter().info(model.engine.warning)
    asked = Options(
        language=None if code == AUTO else code,
        marks=scored.marks,
        sensitivity=scored.sensitivity,
        style=scored.style,
        existing="replace",  # a stripped reference has nothing to keep
        window=scored.window,
        overlap=scored.overlap,
        min_words_cut=scored.min_words_cut,
        pauses=scored.pauses,
    )
    return Restorer(model, asked, FOLD if options.fold else NO_FOLD)
