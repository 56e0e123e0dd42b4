"""Where a line may break, and the best breaks of a text.

Netflix Timed Text Style Guide, General Requirements, "Line Treatment": one line if it fits; break after punctuation,
before conjunctions and prepositions; never between article and noun, first and last name, subject pronoun and verb,
verb and auxiliary, reflexive or negation. Of two lines the lower one is the longer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise

from cappunc_cli.languages import Language
from cappunc_cli.transcript.labels import TERMINAL, Case, Label, cached_strip


class BreakQuality(IntEnum):
    """The place between two words, from where a break is best to where it must not be."""

    SENTENCE = 0
    CLAUSE = 1
    PHRASE = 2
    WORD = 3
    BOUND = 4


#: What a break costs by its place; what is wrong with the length of a line (as a share of the width, squared), which
#: counts more where an upper line is the longer one; each character too many.
_BREAK = (0.0, 0.5, 1.5, 3.0, 9.0)
_UNEVEN, _TOP_HEAVY, _OVERFULL = 12.0, 1.5, 1_000.0
_NAMES = (Case.CAPITAL, Case.MIXED)


def break_qualities(texts: Sequence[str], language: Language) -> list[BreakQuality]:
    """The place after each word; the last one ends a sentence."""
    known = [(language.spelled(bare), label) for bare, label in map(cached_strip, texts)]
    between = [_place(*one, *other, language) for one, other in pairwise(known)]
    return [*between, BreakQuality.SENTENCE] if known else []


def _place(bare: str, label: Label, after: str, following: Label, language: Language) -> BreakQuality:
    if bare in language.titles:
        return BreakQuality.BOUND
    if label.mark and not (label.mark == "." and language.abbreviates(bare)):
        return BreakQuality.SENTENCE if label.mark in TERMINAL else BreakQuality.CLAUSE
    if bare in language.begin_lines or after in language.never_first:
        return BreakQuality.BOUND
    if bare in language.never_last:
        # `tell you | that`, `it is | in`: the pronoun is no subject here, the verb no auxiliary.
        return BreakQuality.WORD if after in language.begin_lines else BreakQuality.BOUND
    closes = label.after and not label.mark
    if closes or following.before or after in language.begin_lines:
        return BreakQuality.PHRASE
    names = label.case in _NAMES and following.case in _NAMES and after not in language.always_capital
    numbers = any(map(str.isdigit, bare)) and following.case is Case.LOWER
    return BreakQuality.BOUND if names or numbers else BreakQuality.WORD


_Begins = tuple[int, "_Begins | None"]


def _unfolded(begins: _Begins | None) -> Iterator[int]:
    while begins is not None:
        at, begins = begins
        yield at


class LineBreaker:
    """The ways to break stretches of a text into lines of a width; a word is never broken."""

    def __init__(self, texts: Sequence[str], language: Language, width: int) -> None:
        self.texts, self.width = texts, width
        self.places = break_qualities(texts, language)
        self._sums = [0, *accumulate(len(text) + 1 for text in texts)]

    def length(self, start: int, stop: int) -> int:
        """Characters of words[start:stop] in one line."""
        return self._sums[stop] - self._sums[start] - 1

    def best(self, start: int, stop: int) -> tuple[float, tuple[int, ...]]:
        """The least cost of words[start:stop], and the words that begin a line, the first one included.

        As few lines as can hold the text; only a word that is wider than the width exceeds it.
        """
        latest, earliest = self.filled(start, stop), self._filled_up(start, stop)
        ideal = self.length(start, stop) / len(latest)
        # The cheapest way to break the words from each one on into one line, then into one more, and so on: its cost,
        # and the words that begin a line as pairs of one and the rest.
        ways: dict[int, tuple[float, _Begins]] = {
            at: (self._line(at, stop, ideal), (at, None)) for at in range(earliest[-1], latest[-1] + 1)
        }
        for first, last in zip(earliest[-2::-1], latest[-2::-1], strict=True):
            below, ways = ways, {}
            for at in range(first, last + 1):
                ends = [to for to in below if to > at and self._fits(at, to)]
                cost, to = min((self._head(at, to, ideal) + below[to][0], to) for to in ends)
                ways[at] = cost, (at, below[to][1])
        total, begins = ways[start]
        return total, tuple(_unfolded(begins))

    def fit(self, start: int, stop: int, count: int) -> bool:
        """Whether so many lines can hold words[start:stop]."""
        if self.length(start, stop) > count * (self.width + 1) - 1:
            return False
        begins = [*self.filled(start, stop), stop]
        return len(begins) <= count + 1 and all(self.length(a, b) <= self.width for a, b in pairwise(begins))

    def filled(self, start: int, stop: int) -> list[int]:
        """The words that begin a line if each line takes all that fits: so many lines are needed at least."""
        begins = [start]
        for at in range(start + 1, stop):
            if not self._fits(begins[-1], at + 1):
                begins.append(at)
        return begins

    def _filled_up(self, start: int, stop: int) -> list[int]:
        """As `filled`, but from the last line upwards: no line of so many can begin earlier."""
        ends = [stop]
        for at in range(stop - 1, start, -1):
            if not self._fits(at - 1, ends[-1]):
                ends.append(at)
        return [start, *ends[:0:-1]]

    def _fits(self, start: int, stop: int) -> bool:
        return stop - start == 1 or self._sums[stop] - self._sums[start] <= self.width + 1

    def cost(self, begins: Sequence[int], stop: int) -> float:
        """The cost of breaking the words up to `stop` before those of `begins`, the first of them."""
        ideal = self.length(begins[0], stop) / len(begins)
        inner = sum(self._head(a, b, ideal) for a, b in pairwise(begins))
        return inner + self._line(begins[-1], stop, ideal)

    def shown(self, begins: Sequence[int], stop: int) -> Iterator[str]:
        """The lines."""
        for a, b in pairwise((*begins, stop)):
            yield " ".join(self.texts[a:b])

    def _head(self, start: int, stop: int, ideal: float) -> float:
        """The cost of a line that is not the last one."""
        heavy = _TOP_HEAVY if self.length(start, stop) > ideal else 1.0
        return self._line(start, stop, ideal, heavy) + _BREAK[self.places[stop - 1]]

    def _line(self, start: int, stop: int, ideal: float, heavy: float = 1.0) -> float:
        length = self.length(start, stop)
        uneven: float = ((length - ideal) / self.width) ** 2
        return heavy * _UNEVEN * uneven + _OVERFULL * max(length - self.width, 0)
