"""One alignment of reference and hypothesis words; every metric reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from cappunc_cli.labels import Label, strip

#: rapidfuzz starts from a band this wide and doubles it: hours of nearly equal words cost
#: seconds, and Hirschberg's division inside keeps the memory linear.
_FIRST_BAND = 100


@dataclass(frozen=True, slots=True)
class Token:
    """One word taken apart by `labels.strip`."""

    bare: str
    label: Label


@dataclass(frozen=True, slots=True)
class Run:
    """Reference words [start, stop) beside hypothesis words [other_start, other_stop).

    Either both are equally long, or one is empty: words deleted or inserted. `equal` says
    that all bare words of the run agree; a run that is not equal and not one-sided holds
    substitutions only.
    """

    start: int
    stop: int
    other_start: int
    other_stop: int
    equal: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """Both sides and the runs that cover them in order; `runs` is as short as the errors are few."""

    reference: Sequence[Token]
    hypothesis: Sequence[Token]
    runs: tuple[Run, ...]

    def pairs(self) -> Iterator[tuple[int | None, int | None]]:
        """Word indices side by side; None where the other side has no word."""
        for run in self.runs:
            if run.start == run.stop:
                yield from ((None, j) for j in range(run.other_start, run.other_stop))
            elif run.other_start == run.other_stop:
                yield from ((i, None) for i in range(run.start, run.stop))
            else:
                yield from zip(range(run.start, run.stop), range(run.other_start, run.other_stop), strict=True)


def tokens(words: Sequence[str]) -> list[Token]:
    """Written words taken apart; equal words share one Token."""
    known: dict[str, Token] = {}
    result = []
    for word in words:
        token = known.get(word)
        if token is None:
            token = known[word] = Token(*strip(word))
        result.append(token)
    return result


def align(reference: Sequence[Token], hypothesis: Sequence[Token]) -> Alignment:
    """Align by the smallest number of word errors; case and marks do not count.

    The distance is the true minimum, so the word error rate is that of any other scorer.
    """
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(token.bare, len(numbers)) for token in reference]
    right = [numbers.setdefault(token.bare, len(numbers)) for token in hypothesis]
    if left == right:
        # The usual case, a restored reference, needs no search.
        runs: tuple[Run, ...] = (Run(0, len(left), 0, len(right), True),) if left else ()
    else:
        runs = tuple(
            Run(code.src_start, code.src_end, code.dest_start, code.dest_end, code.tag == "equal")
            for code in Levenshtein.opcodes(left, right, score_hint=_FIRST_BAND)
        )
    return Alignment(reference, hypothesis, runs)
