"""Find the best line breaks of a text, and the ends of its sentences.

The rules follow the Netflix Timed Text Style Guide, General Requirements, "Line Treatment": keep text on one line
if it fits; break after punctuation, before conjunctions and prepositions; never separate article and noun, first and
last name, subject pronoun and verb, or a verb and its auxiliary, reflexive pronoun or negation. Of two lines the lower
one should be the longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise

from cappunc_cli.document.labels import TERMINAL, Case, Label, strip
from cappunc_cli.languages import Language


class BreakQuality(IntEnum):
    """How good a break between two words is, from best (SENTENCE) to forbidden (BOUND)."""

    SENTENCE = 0
    CLAUSE = 1
    PHRASE = 2
    WORD = 3
    BOUND = 4


#: The cost of a break, by BreakQuality.
_BREAK = (0.0, 0.5, 1.5, 3.0, 9.0)
#: The cost of a line's difference from the ideal length (as a share of the width, squared); its factor where the line
#: is not the last one and too long; the cost of each character beyond the width.
_UNEVEN, _TOP_HEAVY, _OVERFULL = 12.0, 1.5, 1_000.0
_NAMES = (Case.CAPITAL, Case.MIXED)


def break_qualities(texts: Sequence[str], language: Language) -> list[BreakQuality]:
    """Rate a break after each word; the last word counts as the end of a sentence."""
    known = [(language.spelled(bare), label) for bare, label in map(strip, map(language.read, texts))]
    between = [_place(*one, *other, language) for one, other in pairwise(known)]
    return [*between, BreakQuality.SENTENCE] if known else []


def _place(bare: str, label: Label, after: str, following: Label, language: Language) -> BreakQuality:
    if bare in language.titles:
        return BreakQuality.BOUND
    # `George W. | Bush`, but not `plan B. | The`.
    goes_on = after in language.begin_lines or after in language.never_last
    is_initial = label.case is Case.CAPITAL and not goes_on
    shortened = label.mark == "." and language.shortens(bare, is_initial)
    if label.mark and not shortened:
        return BreakQuality.SENTENCE if label.mark in TERMINAL else BreakQuality.CLAUSE
    if shortened and len(bare) == 1 and following.mark == ".":
        return BreakQuality.BOUND  # `z. | B.`
    if bare in language.begin_lines or after in language.never_first:
        return BreakQuality.BOUND
    if bare in language.never_last:
        # `tell you | that`, `it is | in`: here the pronoun is not a subject and the verb not an auxiliary.
        return BreakQuality.WORD if after in language.begin_lines else BreakQuality.BOUND
    closes = label.after and not label.mark
    if closes or following.before or after in language.begin_lines:
        return BreakQuality.PHRASE
    # `J.R.R.` is a name, too.
    names = (
        (label.case in _NAMES or bare.endswith("."))
        and following.case in _NAMES
        and after not in language.always_capital
    )
    numbers = any(map(str.isdigit, bare)) and following.case is Case.LOWER
    return BreakQuality.BOUND if names or numbers else BreakQuality.WORD


class LineBreaker:
    """Breaks stretches of a text into lines of at most `width` characters; words are never split.

    Line breaks are given and returned as the indices of the words that start a line, the first one included.
    """

    def __init__(self, texts: Sequence[str], language: Language, width: int) -> None:
        self.texts, self.width = texts, width
        self.places = break_qualities(texts, language)
        self._sums = [0, *accumulate(len(text) + 1 for text in texts)]

    def length(self, start: int, stop: int) -> int:
        """The length of words[start:stop] as one line, in characters."""
        return self._sums[stop] - self._sums[start] - 1

    def best(self, start: int, stop: int) -> tuple[float, tuple[int, ...]]:
        """Find the cheapest line breaks of words[start:stop]; returns their cost and the line starts.

        There are as few lines as can hold the text, and only a single word may exceed the width.
        """
        latest = self.greedy(start, stop)
        ideal = self.length(start, stop) / len(latest)
        # Dynamic programming from the last line up: for each word that can start the current line, the cost of the
        # best way to break all words from there on, and its line starts. With as few lines as this, a line starts
        # after the latest start of the one above.
        best: dict[int, tuple[float, tuple[int, ...]]] = {stop: (0.0, ())}
        for above, last in zip([*latest[-2::-1], start - 1], latest[::-1], strict=True):
            below, best = best, {}
            for at in range(above + 1, last + 1):
                ends = [to for to in below if to > at and self._fits(at, to)]
                if ends:
                    cost, to = min((self._line(at, to, ideal, to == stop) + below[to][0], to) for to in ends)
                    best[at] = cost, (at, *below[to][1])
        return best[start]

    def fit(self, start: int, stop: int, count: int) -> bool:
        """Whether words[start:stop] fit into `count` lines."""
        bounds = [*self.greedy(start, stop), stop]
        return len(bounds) <= count + 1 and all(self.length(a, b) <= self.width for a, b in pairwise(bounds))

    def greedy(self, start: int, stop: int) -> list[int]:
        """The line starts if each line takes all the words that fit: the fewest lines, each starting at its latest."""
        starts = [start]
        for at in range(start + 1, stop):
            if not self._fits(starts[-1], at + 1):
                starts.append(at)
        return starts

    def _fits(self, start: int, stop: int) -> bool:
        return stop - start == 1 or self._sums[stop] - self._sums[start] <= self.width + 1

    def cost(self, starts: Sequence[int], stop: int) -> float:
        """The cost of lines that start at `starts`, the last of which ends before word `stop`."""
        ideal = self.length(starts[0], stop) / len(starts)
        return sum(self._line(a, b, ideal, b == stop) for a, b in pairwise((*starts, stop)))

    def shown(self, starts: Sequence[int], stop: int) -> Iterator[str]:
        """The text of the lines that start at `starts`, the last of which ends before word `stop`."""
        for a, b in pairwise((*starts, stop)):
            yield " ".join(self.texts[a:b])

    def _line(self, start: int, stop: int, ideal: float, last: bool) -> float:
        """The cost of a line, with the break after it unless it is the last one."""
        length = self.length(start, stop)
        factor = _TOP_HEAVY if length > ideal and not last else 1.0
        cost: float = factor * _UNEVEN * ((length - ideal) / self.width) ** 2 + _OVERFULL * max(length - self.width, 0)
        return cost if last else cost + _BREAK[self.places[stop - 1]]


def ends_sentence(text: str, language: Language) -> bool:
    """Whether a sentence ends with this word; the period of an abbreviation or initial ends none."""
    bare, label = strip(language.read(text))
    shortened = label.mark == "." and language.shortens(language.spelled(bare), label.case is Case.CAPITAL)
    return label.mark != "" and label.mark in TERMINAL and not shortened
