"""The model that `cappunc eval` scores: stripped words in, written words and probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from cappunc_cli.transcript.pauses import pauses
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.pipeline import Model, Options


@dataclass(frozen=True, slots=True)
class ReferenceTimes:
    """How much of the reference's times the model is given, and how the signature names it."""

    name: str
    of: Callable[[Sequence[Word]], Sequence[Word]]


class Restorer:
    """One opened model and the options that it is scored with."""

    def __init__(self, model: Model, options: Options, fold: Mapping[str, str], times: ReferenceTimes) -> None:
        self.model = model
        self.options = options
        self.fold = fold
        self.times = times

    def identity(self) -> str:
        """Name and hash for the signature."""
        config = self.model.config
        return f"{config.name}@{next(iter(config.files.values()), 'unknown')[:12]}"

    def described(self) -> dict[str, str]:
        """The options for the signature, in the order of their weight."""
        window, overlap, cut = self.options.windows(self.model.config)
        return {
            "pauses": self.times.name if self.options.pauses else "no",
            "marks": "given" if self.options.existing == "keep" else self.options.marks or "all",
            "sensitivity": f"{self.options.sensitivity:g}",
            **({"style": self.options.style} if self.options.style != "standard" else {}),
            "window": f"{window}/{overlap}/{cut}",
            **({"decided": "apart"} if self.options.apart else {}),
            "device": self.model.engine.device.split(":")[0],
        }

    def with_every_mark(self) -> Restorer:
        """The same model asked for all that it knows, quotation marks and dashes included."""
        marks = "".join((*self.model.config.marks, *self.model.config.around))
        return Restorer(self.model, replace(self.options, marks=marks), self.fold, self.times)

    def changed(self, option: str, value: float) -> Restorer:
        """The same model with one option of a sweep at another value, all others as they were asked for."""
        match option:
            case "min-words-cut":
                options = replace(self.options, min_words_cut=int(value))
            case "window":
                options = replace(self.options, window=int(value))
            case "overlap":
                options = replace(self.options, overlap=int(value))
            case _:
                options = replace(self.options, sensitivity=value)
        options.windows(self.model.config)  # raises before an hour is spent on the values before this one
        return Restorer(self.model, options, self.fold, self.times)

    def restore(self, words: Sequence[Word]) -> tuple[list[str], Rows]:
        """New texts, and the probabilities of no mark, comma, period and question mark [words, 4]."""
        from cappunc_cli.evaluation.calibration import fold_columns
        from cappunc_cli.restoration.pipeline import probabilities, rewrite

        config = self.model.config
        words = self.times.of(words)
        rows = probabilities(words, self.model, self.options)
        texts = rewrite(words, rows, self.model, self.options)
        return texts, fold_columns(rows[:, len(config.cases) :], config.marks, self.fold)


def _shuffled(words: Sequence[Word], seed: int) -> list[Word]:
    """The same words with their pauses dealt out anew; what was unknown stays unknown."""
    silence = pauses(words)
    known = [gap for gap in silence if gap is not None]
    Random(seed).shuffle(known)
    dealt = iter(known)
    clock, result = 0, []
    before: int | None = None
    for word, gap in zip(words, silence, strict=True):
        # Only the gaps matter: a millisecond a word, no end where the pause is unknown, and no start behind such a one.
        start = None if before is None else clock
        result.append(replace(word, start=start, end=None if gap is None else clock + 1))
        before = gap if gap is None else next(dealt)
        clock += 1 + (before or 0)
    return result


def _without_ends(words: Sequence[Word]) -> list[Word]:
    """The same words with starts alone, as YouTube times them."""
    return [replace(word, end=None) for word in words]


AS_GIVEN = ReferenceTimes("yes", lambda words: words)
STARTS = ReferenceTimes("starts", _without_ends)


def shuffled(seed: int) -> ReferenceTimes:
    """Pauses of other words of the same text."""
    return ReferenceTimes(f"shuffled@{seed}", partial(_shuffled, seed=seed))


def load_restorer(
    name: str, device: str, engine: str, options: Options, fold: Mapping[str, str], times: ReferenceTimes = AS_GIVEN
) -> Restorer:
    """Open the model; raises CappuncError."""
    from cappunc_cli.restoration.pipeline import load_model

    return Restorer(load_model(name, device, engine=engine), options, fold, times)
