"""The words of a document as spelling rules see them; spoken numbers in digits, if they can be read in just one way.

One to nine stay words, as style guides recommend. Consecutive number words are read together; unless they make up
exactly one number, time of day or year, they all stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from cappunc_cli.document.labels import Case, Label, strip
from cappunc_cli.document.words import Document

if TYPE_CHECKING:
    from text_to_num import Occurence

#: Marks after which a sentence may begin.
_ENDS = frozenset(".?!…:")
_HYPHEN = re.compile("[-‐‑]")
_DIGIT = re.compile(r"\d")
#: Numbers from here on have thousands separators; years never have.
_GROUPED = 10_000
#: The minutes that make a time of day without `a.m.`; `five twenty` might be a price or a score.
_QUARTERS = (15, 30, 45)


class PassageWords:
    """Bare words (with straight apostrophes), their labels and what separates them.

    `protected` are the indices of words that must not change.
    """

    def __init__(self, document: Document, protected: Set[int] = frozenset()) -> None:
        self.words = document.words
        self.source = document.source
        self.protected = protected
        stripped = list(map(strip, document.texts))
        self.bare: list[str] = [bare.replace("’", "'") for bare, _ in stripped]
        self.labels: list[Label] = [label for _, label in stripped]

    def joined(self, i: int) -> bool:
        """Whether a word follows another of the same turn with no marks between them."""
        if not 0 < i < len(self.bare) or self.words[i - 1].turn != self.words[i].turn:
            return False
        return not self.labels[i - 1].after and not self.labels[i].before

    def before(self, i: int) -> str:
        """The bare word before word `i` if the two are joined, else ""."""
        return self.bare[i - 1] if self.joined(i) else ""

    def next(self, i: int) -> str:
        """The bare word `i` if it is joined to the one before it, else ""."""
        return self.bare[i] if self.joined(i) else ""

    def may_change(self, i: int) -> bool:
        """Whether a word is neither protected, nor a name (capital within a sentence), nor an acronym."""
        case = self.labels[i].case
        if i in self.protected or case is Case.MIXED:
            return False
        if case is Case.UPPER:
            return any(
                label.case is Case.UPPER for label in (*self.labels[max(i - 1, 0) : i], *self.labels[i + 1 : i + 2])
            )
        begins = i == 0 or self.words[i - 1].turn != self.words[i].turn or self.labels[i - 1].mark in _ENDS
        return begins or case is not Case.CAPITAL

    def place(self, first: int, stop: int) -> tuple[int, int] | None:
        """The span of words[first:stop] in the source if they can be replaced as one piece, else None.

        They can if each is shown once, in plain text, in the same line and cue, with only spaces between them, and if
        no time would be lost with a word.
        """
        spans: list[tuple[int, int]] = []
        for i in range(first, stop):
            start, end = self.words[i].at, self.words[i].until
            if start < 0 or self.words[i].copies:
                return None
            if self.source[start:end] != self.words[i].text:
                return None
            if i > first:
                between = self.source[spans[-1][1] : start]
                timed = self.words[i].start is not None or self.words[i - 1].end is not None
                if not between or between.strip(" ") or timed or self.words[i].cue != self.words[first].cue:
                    return None
            spans.append((start, end))
        return spans[0][0], spans[-1][1]


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive number words, [first, stop); `parts` are the words, split at hyphens."""

    first: int
    stop: int
    parts: list[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A token for text_to_num: the interface that its `find_numbers` expects."""

    word: str

    def text(self) -> str:
        return self.word

    def nt_separated(self, _previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


class SpokenNumbers:
    """Finds the numbers of one text."""

    def __init__(self, text: PassageWords, known: Mapping[str, frozenset[str]], code: str) -> None:
        self._text = text
        self._known = known
        self._code = code
        self._cardinals = known["units"] | known["teens"] | known["tens"] | known["scales"] | known["zeros"]
        self._all = self._cardinals | known["ordinals"] | known["others"]

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        """Yield (first word, word after the last, digits) of each number to be written in digits, in order."""
        runs = list(self._runs())
        written = [self._written(run) for run in runs]
        # `ten to three`, `five, ten`: both in digits, or neither.
        linked = [i for i, (one, other) in enumerate(pairwise(runs)) if self._are_linked(one, other)]
        for i in (*linked, *reversed(linked)):
            if None in (written[i], written[i + 1]):
                written[i] = written[i + 1] = None
        for run, new in zip(runs, written, strict=True):
            if new is not None:
                count, digits = new
                yield run.first, run.first + count, digits

    def _runs(self) -> Iterator[_Run]:
        text, i = self._text, 0
        while i < len(text.bare):
            parts = self._parts(i)
            if not parts:
                i += 1
                continue
            first, i = i, i + 1
            while more := self._following(i, parts):
                i += len(more)
                parts += chain.from_iterable(more)
            yield _Run(first, i, parts)

    def _following(self, i: int, parts: list[str]) -> list[list[str]]:
        """The parts of the next word of a run, or of the next two where one is a joining `and` or `point`."""
        text, known = self._text, self._known
        if not text.joined(i):
            return []
        if following := self._parts(i):
            return [following]
        inside = (text.bare[i] in known["joining"] and parts[-1] in known["scales"]) or (
            text.bare[i] in known["point"] and parts[-1] in self._cardinals
        )
        following = self._parts(i + 1) if inside and text.joined(i + 1) else []
        return [[text.bare[i]], following] if following and following[0] in self._cardinals else []

    def _parts(self, i: int) -> list[str]:
        """The number words that make up a word (a word with a digit is one, too), or nothing."""
        bare = self._text.bare[i]
        parts = _HYPHEN.split(bare)
        return parts if all(part in self._all or _DIGIT.search(part) for part in parts) else []

    def _are_linked(self, one: _Run, other: _Run) -> bool:
        between = range(one.stop, other.first)
        text = self._text
        if not between:  # `thirty. One of them` is one number if the mark is wrong
            return True
        return (
            len(between) < 3
            and all(text.bare[i] in self._known["links"] for i in between)
            and all(map(text.joined, range(one.stop, other.first + 1)))
        )

    def _written(self, run: _Run) -> tuple[int, str] | None:
        """How many words of a run are replaced, and the digits; None where the reading is not certain."""
        text, known = self._text, self._known
        cases = [text.labels[i].case for i in range(run.first, run.stop)]
        if Case.UPPER in cases or any(case is not Case.LOWER for case in cases[1:]):
            return None
        if not all(map(text.may_change, range(run.first, run.stop))):
            return None
        if text.before(run.first) in known["point"]:  # decimals without a number before them
            return None
        after = text.next(run.stop)
        if after in known["vague"] or (after in known["joining"] and text.next(run.stop + 1) == "a"):  # ten and a half
            return None
        digits = self._time_or_year(run) or self._single_number(run)
        return digits if digits and text.place(run.first, run.first + digits[0]) else None

    def _single_number(self, run: _Run) -> tuple[int, str] | None:
        """As `_written`, for a run that is one number."""
        known, parts, count = self._known, run.parts, run.stop - run.first
        if parts[0] in known["scales"]:  # a hundred and twenty
            return None
        if parts[-1] in known["large"] and count > 1:
            factor = self._read(parts[:-1])
            if factor is not None and not factor.is_ordinal and factor.value < 1000:
                return (count - 1, factor.text) if factor.value >= 10 or not known["point"].isdisjoint(parts) else None
        whole = self._read(parts)
        if whole is None:
            return None
        if whole.is_ordinal:
            certain = len(parts) > 1 and parts[-2] in known["tens"] and parts[-1] in known["ordinals"]
            return (count, whole.text) if certain and whole.value < _GROUPED else None
        if not known["point"].isdisjoint(parts):
            return (count, whole.text) if whole.value < _GROUPED else None
        if whole.value < 10 or not known["others"].isdisjoint(parts):
            return None
        return count, whole.text if whole.value < _GROUPED else f"{int(whole.text):,}"

    def _time_or_year(self, run: _Run) -> tuple[int, str] | None:
        """As `_written`, for a run that is the two numbers of a time of day or a year."""
        text, known = self._text, self._known
        first, second = self._value(run.parts[:1]), self._value(run.parts[1:])
        if len(run.parts) == 3 and run.parts[1] in known["zeros"] and run.parts[2] in known["units"]:  # three oh five
            second = self._value(run.parts[2:])
        elif second < 10:
            return None
        before = text.before(run.first)
        # A number can end at a mark, or before a word that cannot be counted.
        ends = not text.joined(run.stop) or text.bare[run.stop] in known["may_follow"]
        if 1 <= first <= 12 and 0 < second < 60:
            ahead = [text.next(i) for i in range(run.stop, run.stop + 3)]
            explicit = any(" ".join(ahead[:length]) in known["day_times"] for length in (1, 2, 3))
            if explicit or (before in known["clock"] and second in _QUARTERS and ends):
                return run.stop - run.first, f"{first}:{second:02}"
        if 13 <= first <= 20 and 0 < second < 100 and before in known["year"] and ends:
            return run.stop - run.first, f"{first}{second:02}"
        return None

    def _value(self, parts: list[str]) -> int:
        """The cardinal below a hundred that these words are, or -1."""
        number = self._read(parts) if parts and not self._known["scales"].intersection(parts) else None
        return int(number.value) if number and not number.is_ordinal and self._known["point"].isdisjoint(parts) else -1

    def _read(self, parts: list[str]) -> Occurence | None:
        """The number that text_to_num reads, if all the parts together are one number."""
        from text_to_num import find_numbers

        numbers = find_numbers(list(map(_Part, parts)), self._code, 0.0)
        return numbers[0] if len(numbers) == 1 and (numbers[0].start, numbers[0].end) == (0, len(parts)) else None


def digits_of(words: Sequence[str], code: str) -> str:
    """The digits of a number that some words spell in a language; "" if they spell none, or text2num cannot tell."""
    if find_spec("text_to_num") is None:
        return ""
    from text_to_num import find_numbers

    try:
        numbers = find_numbers(list(map(_Part, words)), code, 0.0)
    except ValueError:  # a language that it does not know
        return ""
    return numbers[0].text if len(numbers) == 1 and (numbers[0].start, numbers[0].end) == (0, len(words)) else ""
