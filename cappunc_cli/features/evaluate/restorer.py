"""The model that `cappunc eval` scores: stripped words in, restored words and probabilities out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from cappunc_cli.document.pauses import pauses
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation.calibration import fold_columns
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import as_read, probabilities, rewrite


@dataclass(frozen=True, slots=True)
class Restorer:
    """A model and the options with which it is scored.

    `times` says which of the reference's times it gets: all of them (`yes`), only `starts`, or times in which the
    pauses are `shuffled` with the seed.
    """

    model: Model
    options: Options
    fold: Mapping[str, str]
    times: str = "yes"
    seed: int = 0

    def identity(self) -> str:
        """Name and hash for the signature, and those of the other models of an ensemble."""
        code = self.options.conventions(self.model.config).code
        configs = [self.model.config, *(member.config for member, _ in self.model.members(code))]
        return "+".join(f"{config.name}@{next(iter(config.files.values()), 'unknown')[:12]}" for config in configs)

    def described(self) -> dict[str, str]:
        """The options for the signature, most important first."""
        times = f"shuffled@{self.seed}" if self.times == "shuffled" else self.times
        window, overlap, cut = self.options.windows(self.model.config)
        return {
            "pauses": times if self.options.pauses else "no",
            "marks": "given" if self.options.existing == "keep" else self.options.marks or "all",
            "sensitivity": f"{self.options.sensitivity:g}",
            **({"style": self.options.style} if self.options.style != "standard" else {}),
            "window": f"{window}/{overlap}/{cut}",
            **({"decided": "independently"} if self.options.apart else {}),
            "device": self.model.engine.device.split(":")[0],
        }

    def with_every_mark(self) -> Restorer:
        """The same model with all marks that it restores, including quotation marks and dashes."""
        marks = "".join((*self.model.config.marks, *self.model.config.around))
        return replace(self, options=replace(self.options, marks=marks))

    def restore(self, words: Sequence[Word]) -> tuple[list[str], Rows]:
        """New texts, and the probabilities of no mark, comma, period and question mark, of shape [words, 4]."""
        config = self.model.config
        if self.times == "shuffled":
            words = shuffled_pauses(words, self.seed)
        elif self.times == "starts":
            words = without_ends(words)
        read = as_read(words, self.model, self.options)
        rows = probabilities(read.parts, self.model, self.options)
        texts = read.joined(rewrite(read.parts, rows, self.model, self.options))
        last = np.append(np.diff(read.owners) > 0, True)  # the mark of a word is that of its last part
        return texts, fold_columns(rows[last, len(config.cases) :], config.marks, self.fold)


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


def without_ends(words: Sequence[Word]) -> list[Word]:
    """The same words with start times only, as in YouTube's captions."""
    return [replace(word, end=None) for word in words]
