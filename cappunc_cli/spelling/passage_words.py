"""The words of a document as the spelling rules see them."""

from __future__ import annotations

from collections.abc import Set

from cappunc_cli.document.labels import Case, Label, cached_strip
from cappunc_cli.document.words import Document

_ENDS = frozenset(".?!…:")


class PassageWords:
    """Bare words (with straight apostrophes), their labels and what separates them.

    `protected` are the indices of words that must not change.
    """

    def __init__(self, document: Document, source: str, protected: Set[int] = frozenset()) -> None:
        self.words = document.words
        self.source = source
        self.protected = protected
        stripped = list(map(cached_strip, document.texts))
        self.bare: list[str] = [bare.replace("’", "'") for bare, _ in stripped]
        self.labels: list[Label] = [label for _, label in stripped]

    def __len__(self) -> int:
        return len(self.bare)

    def joined(self, i: int) -> bool:
        """Whether a word follows another of the same turn with no marks between them."""
        if not 0 < i < len(self) or self.words[i - 1].turn != self.words[i].turn:
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
        return case is not Case.CAPITAL or self.begins(i)

    def begins(self, i: int) -> bool:
        """Whether a word begins a sentence."""
        return i == 0 or self.words[i - 1].turn != self.words[i].turn or self.labels[i - 1].mark in _ENDS

    def place(self, first: int, stop: int) -> tuple[int, int] | None:
        """The span of words[first:stop] in the source if they can be replaced as one piece, else None.

        They can if each is shown once, in plain text, in the same line and cue, with only spaces between them, and if
        no time would be lost with a word.
        """
        spans: list[tuple[int, int]] = []
        for i in range(first, stop):
            copies = self.words[i].places
            if len(copies) != 1 or len(copies[0]) != 1:
                return None
            start, end = copies[0][0]
            if self.source[start:end] != self.words[i].text:
                return None
            if i > first:
                between = self.source[spans[-1][1] : start]
                timed = self.words[i].start is not None or self.words[i - 1].end is not None
                if not between or between.strip(" ") or timed or self.words[i].cue != self.words[first].cue:
                    return None
            spans.append((start, end))
        return spans[0][0], spans[-1][1]
