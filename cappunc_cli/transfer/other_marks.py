"""What another text says of our words: the marks and the case of its own, moved where words are missing.

Where words of the other text are missing in ours, the first sentence end among them goes to the word before them,
unless they are in brackets; their other marks go with them. Of two marks that meet, a sentence end comes before any
other mark, and a word's own sentence end before one that was moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cappunc_cli.document.labels import (
    QUOTES,
    QUOTES_AFTER,
    TERMINAL,
    Case,
    Given,
    Label,
    PairedMark,
    capital,
    strip,
)
from cappunc_cli.restoration.decoding.passage import columns, writing_style
from cappunc_cli.transfer.alignment import EQUAL, NEAR, PLACE, Link

#: Marks after which the other text may begin a sentence.
_ENDS = frozenset(f"{TERMINAL}…")
#: From so many words without a sentence end on, the other text lacks marks there.
_LONGEST_SENTENCE = 120
#: Most words of a quotation, and of an aside in brackets.
_LONGEST_PAIR = 200
_OPENING = frozenset((PairedMark.OPEN_QUESTION, PairedMark.OPEN_EXCLAMATION, PairedMark.OPEN_DASH))


def given_words(ours: Sequence[str], theirs: Sequence[str], links: Sequence[Link]) -> list[Given | None]:
    """What the other text says of each of our words; None of those that it does not have."""
    other, found = _Other(theirs), list[Given | None]([None] * len(ours))
    before, last_mark = Link(0, 0, 0, 0, EQUAL), "."
    for link, following in pairwise([*links, None]):
        assert link is not None
        mark = other.mark(link, following, len(ours))
        label = other.labels[link.other]
        signs = label.paired & _OPENING if label.before and link.kind < PLACE else frozenset()
        for i, text in enumerate(other.cased(ours, link, before, last_mark in _ENDS), link.first):
            found[i] = Given(mark if i == link.stop - 1 else "", text, signs if i == link.first else frozenset())
        before, last_mark = link, mark or "-"
    for i, sign in _quotations(other.labels, links):
        if (one := found[i]) is not None:
            found[i] = Given(one.mark, one.text, one.paired | {sign})
    return found


class _Other:
    """The words of the other text."""

    def __init__(self, texts: Sequence[str]) -> None:
        stripped = [strip(text) for text in texts]
        self.bare, self.labels = [bare for bare, _ in stripped], [label for _, label in stripped]
        self._cores = [label.inside(text) for (_, label), text in zip(stripped, texts, strict=True)]
        style = writing_style(self.bare, *columns(self.labels))
        self._is_cased = not (style.lower or style.upper or style.title)
        self._ends = [label.mark in _ENDS for label in self.labels]
        #: Which words are in sentences of usual length, and which in brackets.
        self._marked, self._aside, start = [style.punctuated] * len(texts), [False] * len(texts), 0
        for stop in [i + 1 for i, end in enumerate(self._ends) if end] + [len(texts)]:
            if stop - start >= _LONGEST_SENTENCE:
                self._marked[start:stop] = [False] * (stop - start)
            start = stop
        for start, last in _enclosed(self.labels, frozenset("(["), frozenset(")]")):
            self._aside[start : last + 1] = [True] * (last + 1 - start)

    def mark(self, link: Link, following: Link | None, count: int) -> str | None:
        """The mark after the last of our words of a link, or "" for none; None if the other text does not tell."""
        last = link.until - 1
        own = self.labels[last].mark
        if self._ends[last]:
            return own
        if not own and (not self._marked[last] or self.bare[last].endswith(".")):  # `U.S.` may end a sentence, too
            return None
        if link.stop == count and link.until == len(self.labels):
            return own
        first, other = (count, len(self.labels)) if following is None else (following.first, following.other)
        if other < link.until or (other > link.until and first > link.stop):
            return own or None  # it goes on elsewhere, or with other words
        lost = (
            (i for i in range(link.until, other) if self._ends[i] and not self._aside[i]) if first == link.stop else ()
        )
        moved = next((self.labels[i].mark for i in lost), own)
        return moved if moved in _ENDS or link.stop < count else None

    def cased(self, ours: Sequence[str], link: Link, before: Link, ended: bool) -> list[str]:
        """Our words of a link without marks, in their case in the other text, each "" if that does not tell it.

        The link `before` has `ended` a sentence.
        """
        bare, label = [strip(text)[0] for text in ours[link.first : link.stop]], self.labels[link.other]
        starts = link.other == 0 or (self._ends[link.other - 1] and not self._aside[link.other - 1])
        next_to = before.stop == link.first
        # What begins a sentence in one text only has its case from that.
        same_start = starts == (link.first == 0 or (next_to and ended)) or (not starts and label.case is not Case.LOWER)
        known = self._is_cased and (same_start or (next_to and before.until == link.other))
        if label.case is Case.LOWER and not self._marked[link.other]:
            known = False
        if not known or link.kind == PLACE:
            return [""] * len(bare)
        if link.kind == NEAR:
            return [capital(bare[0]) if label.case is not Case.LOWER else ""]
        if len(bare) == 1 and bare[0] == self.bare[link.other]:
            return [self._cores[link.other]]
        cores = self._cores[link.other : link.until]
        if len(bare) == 1:  # `Anti Virus` is Antivirus
            labels = self.labels[link.other + 1 : link.until]
            rest = [
                core.lower() if one.case is Case.CAPITAL else core for core, one in zip(cores[1:], labels, strict=True)
            ]
            cores = [cores[0], *rest]
        return _recased(bare, "".join(cores))


def _recased(bare: Sequence[str], written: str) -> list[str]:
    """Words with the case of the letters in `written`; "" each if these are others, as those of a number."""
    letters = [c for c in written if c.isalnum()]
    # A stutter (`I-I`) has more of them than the word.
    if len(letters) != sum(map(str.isalnum, "".join(bare))):
        if len(bare) > 1 or not letters or letters[0].isdigit() or bare[0][:1].isdigit():
            return [""] * len(bare)
        return [capital(bare[0]) if letters[0].isupper() else bare[0]]
    rest = iter(letters)
    return ["".join((c.upper() if next(rest).isupper() else c) if c.isalnum() else c for c in word) for word in bare]


def _enclosed(labels: Sequence[Label], opening: frozenset[str], closing: frozenset[str]) -> Iterator[tuple[int, int]]:
    """(first, last) words of what is opened and closed."""
    start = -1
    for i, label in enumerate(labels):
        if not opening.isdisjoint(label.before):
            start = i
        if start >= 0 and not closing.isdisjoint(label.after):
            if i - start < _LONGEST_PAIR:
                yield start, i
            start = -1


def _quotations(labels: Sequence[Label], links: Sequence[Link]) -> Iterator[tuple[int, PairedMark]]:
    """Our first and last word of each quotation of which we have some words."""
    at = {j: link for link in links for j in range(link.other, link.until)}
    for start, last in _enclosed(labels, QUOTES, QUOTES_AFTER):
        known = [at[j] for j in range(start, last + 1) if j in at]
        if known and 0 < known[-1].stop - known[0].first <= _LONGEST_PAIR:
            yield known[0].first, PairedMark.OPEN_QUOTE
            yield known[-1].stop - 1, PairedMark.CLOSE_QUOTE
