"""Revert changes of marks or case that would make words be read back as something else.

`london: never` must not become `London: never`, which reads as a speaker's name, and `(he left at last)` must not
become `(HE LEFT AT LAST)`, which reads as a sound: the words would be lost to the next reader. There a colon becomes a
comma, or the words stay as they were. A dash before the first word of a line marks a new speaker, so none is added
there. Of `30, %.` the comma stays, as the period would be that of `30`, and in `&Quot;` the capital, which makes it
no entity.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from cappunc_cli.document.labels import dress, strip
from cappunc_cli.document.words import Copy, Span, Word
from cappunc_cli.formats.markup import HIDDEN
from cappunc_cli.formats.nonspeech import LONGEST_NAME_PARTS
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import at_copy, edits, same_spaces, splice

_BRACKETED = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_BRACKETS = frozenset("()（）[]")
_DASHES = frozenset("—–―")
#: Matches a region that has the same words whatever their case and marks are, but for a new colon or dash: nothing in
#: it is markup, an address or a sign.
_PLAIN = re.compile(r"""(?>(?:[\w\s,?!;…'’"“”-]|\.(?!\w))*)""")
#: How often the words that are read back otherwise are reverted before the whole region is.
_ATTEMPTS = 3
#: The number of a word, and one of its copies.
_Place = tuple[int, Copy]


def revert_ambiguous(
    source: str,
    regions: Sequence[Span],
    words: Sequence[Word],
    texts: Sequence[str],
    hidden: re.Pattern[str] = HIDDEN,
) -> list[str]:
    """The texts without the changes that would be misread.

    `regions` are in the order of the source, and `Word.cue` is an index into them; `hidden` matches the markup in them.
    """
    result = list(texts)
    for number, places in _places(regions, words):
        pairs = [(words[i].text, texts[i]) for i, _ in places]
        if all(old == new for old, new in pairs):
            continue
        region = _Region(source, regions[number], hidden, words, places)
        risky = any(_has_colon(new) or _has_new_dash(old, new) for old, new in pairs)
        if risky or not _PLAIN.fullmatch(source, *region.span):
            _revert_in_region(region, result)
    return result


def unguarded(source: str, regions: Sequence[Span], words: Sequence[Word]) -> list[bool]:
    """Whether each word is in a region where only a new colon or a new dash before a word would ever be reverted.

    Such a region has no colon in it, and no brackets except around what is not a word. Nor is a word safe whose mark
    stands before an address or a sign, as that has one, too: `see us, www.example.org.`
    """
    result = [True] * len(words)
    for number, places in _places(regions, words):
        region = source[slice(*regions[number])]
        safe = not any(_has_colon(words[i].text) for i, _ in places)
        if safe and not _BRACKETS.isdisjoint(region):
            around = [found.span() for found in _BRACKETED.finditer(source, *regions[number])]
            inside = any(a < copy[0][0] < b for a, b in around for _, copy in places)
            safe = not inside and not _has_colon(region) and _BRACKETS.isdisjoint(_BRACKETED.sub("", region))
        for i, _ in places:
            if not safe or (words[i].followed and strip(words[i].text)[1].after):
                result[i] = False
    return result


def _places(regions: Sequence[Span], words: Sequence[Word]) -> Iterator[tuple[int, Sequence[_Place]]]:
    """Yield each region with the copies in it, in order."""
    if all(len(word.places) == 1 for word in words):
        for cue, group in groupby(enumerate(words), key=lambda pair: pair[1].cue):
            yield cue, [(i, word.places[0]) for i, word in group]
        return
    # By the regions of the copies, not the cues of the words: a copy may be in another layer, at the start of a line.
    starts = [start for start, _ in regions]
    found: dict[int, list[_Place]] = {}
    for i, word in enumerate(words):
        for copy in word.places:
            found.setdefault(bisect_right(starts, copy[0][0]) - 1, []).append((i, copy))
    for region, places in sorted(found.items()):
        yield region, sorted(places, key=itemgetter(1))


@dataclass(frozen=True, slots=True)
class _Region:
    """A stretch of the source, the pattern of its markup, and the copies of words in it."""

    source: str
    span: Span
    hidden: re.Pattern[str]
    words: Sequence[Word]
    places: Sequence[_Place]

    def wanted(self, texts: Sequence[str]) -> list[str]:
        """The new text of each copy, which may be written differently from the first copy."""
        return [at_copy(self.source, copy, self.words[i].text, texts[i]) for i, copy in self.places]

    def read(self, texts: Sequence[str]) -> list[str]:
        """Write the region with these texts and read its words back."""
        changes = (
            edit
            for (i, copy), text in zip(self.places, self.wanted(texts), strict=True)
            if texts[i] != self.words[i].text
            for edit in edits(self.source, copy, text)
        )
        text = splice(self.source, changes, *self.span)
        return [word.text for word in scan(text, 0, len(text), self.hidden).words]

    def lines(self) -> Sequence[int]:
        """The number of the line of each word, as it is in the source."""
        return [word.line for word in scan(self.source, *self.span, self.hidden).words]

    def misread(self, texts: Sequence[str]) -> Sequence[int]:
        """The numbers of the places whose words are read back as others, and those around them if words are lost."""
        read, wanted = self.read(texts), self.wanted(texts)
        if len(read) == len(wanted):
            return [n for n, (a, b) in enumerate(zip(read, wanted, strict=True)) if a != b]
        first = next(
            (n for n, (a, b) in enumerate(zip(read, wanted, strict=False)) if a != b), min(len(read), len(wanted))
        )
        last = next((n for n, (a, b) in enumerate(zip(read[::-1], wanted[::-1], strict=False)) if a != b), 0)
        return range(max(0, first - 1), min(len(wanted), max(first, len(wanted) - last) + 1))


def _revert_in_region(region: _Region, texts: list[str]) -> None:
    """Revert as few changes as it takes: new dashes, colons, label-like words, the words that are misread, then all."""
    numbers = [i for i, _ in region.places]
    old = {i: region.words[i].text for i in numbers}
    if not region.misread(texts):
        return
    read = region.read(texts)
    for n, i in enumerate(numbers):
        if _has_new_dash(old[i], texts[i]) and (len(read) != len(numbers) or read[n] != texts[i]):
            texts[i] = texts[i][1:]
    if not region.misread(texts):
        return
    for i in numbers:
        texts[i] = _without_new_colon(old[i], texts[i])
    if not region.misread(texts):
        return
    lines, start = region.lines(), 0
    for n, i in enumerate(numbers):
        start = n if n and lines[n] != lines[n - 1] else start
        if _has_colon(old[i]):  # the end of what would be a label if capitalised: `mary ann:`
            for j in numbers[max(start, n + 1 - LONGEST_NAME_PARTS) : n + 1]:
                texts[j] = _as_before(old[j], texts[j])
    for _ in range(_ATTEMPTS):
        misread = region.misread(texts)
        if not misread:
            return
        for n in misread:
            texts[numbers[n]] = _as_before(old[numbers[n]], texts[numbers[n]])
    for i in numbers:
        texts[i] = _as_before(old[i], texts[i])
    if region.misread(texts):
        for i in numbers:
            texts[i] = old[i]


def _as_before(old: str, new: str) -> str:
    """The old text, but with the letters of the new one where they differ (`--diacritics`)."""
    bare, label = strip(old)
    letters = strip(new)[0]
    return old if letters == bare or label.form else dress(letters, label)


def _has_colon(text: str) -> bool:
    return ":" in text or "：" in text


def _has_new_dash(old: str, new: str) -> bool:
    return new[:1] in _DASHES and old[:1] not in _DASHES


def _without_new_colon(old: str, new: str) -> str:
    if not _has_colon(new) or _has_colon(old):
        return new
    bare, label = strip(new)
    if label.mark != ":":
        return new
    text = dress(bare, label.with_mark(","))
    # In `c ,` the comma is no new mark, so the space before it has to stay.
    return text if same_spaces(old, text) else dress(bare, replace(label, after=strip(old)[1].after))
