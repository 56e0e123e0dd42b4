"""Revert changes of marks or case that would make words be read back as something else.

`london: never` must not become `London: never`, which reads as a speaker's name, and `(he left at last)` must not
become `(HE LEFT AT LAST)`, which reads as a sound: the words would be lost to the next reader. There a colon becomes a
comma, or the words stay as they were. A dash before the first word of a line marks a new speaker, so none is added
there. Of `30, %.` the comma stays, as the period would be that of `30`, and in `&Quot;` the capital, which makes it
no entity.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import ne
from sys import intern

from cappunc_cli.document.labels import dress, strip
from cappunc_cli.document.words import Copy, Span, Words
from cappunc_cli.formats.text.nonspeech import LONGEST_NAME_PARTS
from cappunc_cli.formats.text.speech import scan_lazily
from cappunc_cli.formats.text.splice import Edit, Spans, at_copy, check_count, edits, same_spaces, splice
from cappunc_cli.formats.text.visible import HIDDEN

_BRACKETED = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_DASHES = frozenset("—–―")
#: Matches a region that has the same words whatever their case and marks are, but for a new colon or dash: nothing in
#: it is markup, an address or a sign.
_PLAIN = re.compile(r"""(?>(?:[\w\s,?!;…'’"“”-]|\.(?!\w))*)""")
#: How often the words that are read back otherwise are reverted before the whole region is.
_ATTEMPTS = 3
#: A word and the spot of one of its copies, packed into one integer, as there can be more of them than words.
_Place = int
_SPOT_BITS = 32


def revert_ambiguous(
    source: str,
    regions: Spans,
    words: Words,
    texts: Sequence[str],
    hidden: re.Pattern[str] = HIDDEN,
) -> list[str]:
    """The texts without the changes that would be misread.

    `regions` are in the order of the source; `hidden` matches the markup in them. Raises ValueError if there are not
    as many texts as words.
    """
    check_count(words, texts)
    result = list(texts)
    changed = bytes(map(ne, words.texts, texts))
    risky = bytes(_has_colon(new) or _has_new_dash(old, new) for old, new in zip(words.texts, texts, strict=True))
    for number, places in _places(regions, words):
        region = _Region(source, (regions.starts[number], regions.stops[number]), hidden, words, places)
        if region.has(changed) and (region.has(risky) or not region.is_plain()):
            _revert_in_region(region, result)
    return result


def unguarded(source: str, regions: Spans, words: Words) -> list[bool]:
    """Whether each word is in a region where only a new colon or a new dash before a word would ever be reverted.

    Such a region has no colon in it, and no brackets except around what is not a word. Nor is a word safe whose mark
    stands before an address or a sign, as that has one, too: `see us, www.example.org.`
    """
    result = [True] * len(words)
    for number, places in _places(regions, words):
        start, stop = regions.starts[number], regions.stops[number]
        brackets = list(_BRACKETED.finditer(source, start, stop))
        begins = [_copy(words, place)[0][0] for place in places]
        safe = not any(_has_colon(words.texts[_word(place)]) for place in places)
        if safe and any(source.find(bracket, start, stop) >= 0 for bracket in "()（）[]"):
            rest = "".join(map(source.__getitem__, _between(start, stop, brackets)))
            inside = any(a.start() < begin < a.end() for a in brackets for begin in begins)
            safe = not inside and not _has_colon(source[start:stop]) and not set(rest).intersection("()（）[]")
        for place in places:
            i = _word(place)
            if not safe or (words.followed[i] and strip(words.texts[i])[1].after):
                result[i] = False
    return result


def _between(start: int, stop: int, found: Sequence[re.Match[str]]) -> Iterator[slice]:
    """The parts outside the matches."""
    for one in found:
        yield slice(start, one.start())
        start = one.end()
    yield slice(start, stop)


def _places(regions: Spans, words: Words) -> Iterator[tuple[int, Sequence[_Place]]]:
    """Yield each region with the copies in it, in order."""
    if words.single:
        for cue, start, stop in words.cues.stretches():
            yield cue or 0, range(start << _SPOT_BITS, stop << _SPOT_BITS, 1 << _SPOT_BITS)
        return
    # By the regions of the copies, not the cues of the words: a copy may be in another layer, at the start of a line.
    found: dict[int, array[int]] = {}
    for i in range(len(words)):
        for spot in words.spots(i):
            region = bisect_right(regions.starts, words.copy(i, spot)[0][0]) - 1
            found.setdefault(region, array("Q")).append(i << _SPOT_BITS | spot)
    for region, places in sorted(found.items()):
        yield region, sorted(places, key=lambda place: _copy(words, place))


def _word(place: _Place) -> int:
    return place >> _SPOT_BITS


def _copy(words: Words, place: _Place) -> Copy:
    return words.copy(_word(place), place & (1 << _SPOT_BITS) - 1)


@dataclass(frozen=True, slots=True)
class _Region:
    """A stretch of the source, the pattern of its markup, and the copies of words in it."""

    source: str
    span: Span
    hidden: re.Pattern[str]
    words: Words
    places: Sequence[_Place]

    def has(self, words: bytes) -> bool:
        """Whether the flag of any of its words is set; `words` has one flag for each word of the document."""
        if isinstance(self.places, range):
            return words.find(1, _word(self.places[0]), _word(self.places[-1]) + 1) >= 0
        return any(words[_word(place)] for place in self.places)

    def is_plain(self) -> bool:
        """Whether nothing in it could be read otherwise."""
        return _PLAIN.fullmatch(self.source, *self.span) is not None

    def read(self, texts: Sequence[str]) -> Iterator[str]:
        """Write the region with these texts and read its words back."""
        text = splice(self.source[slice(*self.span)], self._edits(texts), in_order=True)
        return (word.text for word in scan_lazily(text, 0, len(text), self.hidden).words)

    def lines(self) -> Sequence[int]:
        """The number of the line of each word, as it is in the source."""
        return array("I", [word.line for word in scan_lazily(self.source, *self.span, self.hidden).words])

    def _edits(self, texts: Sequence[str]) -> Iterator[Edit]:
        start = self.span[0]
        for place in self.places:
            if texts[_word(place)] != self.words.texts[_word(place)]:
                for a, b, new in edits(self.source, _copy(self.words, place), self._wanted(place, texts)):
                    yield a - start, b - start, new

    def _wanted(self, place: _Place, texts: Sequence[str]) -> str:
        """The new text of a copy, which may be written differently from the first copy."""
        old, new = self.words.texts[_word(place)], texts[_word(place)]
        return new if self.words.single else at_copy(self.source, _copy(self.words, place), old, new)

    def reads_back(self, texts: Sequence[str]) -> bool:
        """Whether the region with these texts has the same words when it is read back."""
        return not self.misread(texts)

    def misread(self, texts: Sequence[str]) -> Sequence[int]:
        """The numbers of the places whose words are read back as others, and those around them if words are lost."""
        read, wanted = list(self.read(texts)), [self._wanted(place, texts) for place in self.places]
        if len(read) == len(wanted):
            return [n for n, (a, b) in enumerate(zip(read, wanted, strict=True)) if a != b]
        first = next(
            (n for n, (a, b) in enumerate(zip(read, wanted, strict=False)) if a != b), min(len(read), len(wanted))
        )
        last = next((n for n, (a, b) in enumerate(zip(read[::-1], wanted[::-1], strict=False)) if a != b), 0)
        return range(max(0, first - 1), min(len(wanted), max(first, len(wanted) - last) + 1))


def _revert_in_region(region: _Region, texts: list[str]) -> None:
    """Revert as few changes as it takes: new dashes, colons, label-like words, the words that are misread, then all."""
    old, numbers = region.words.texts, array("I", map(_word, region.places))
    if region.reads_back(texts):
        return
    read = list(map(intern, region.read(texts)))
    for n, i in enumerate(numbers):
        if _has_new_dash(old[i], texts[i]) and (len(read) != len(numbers) or read[n] != texts[i]):
            texts[i] = texts[i][1:]
    del read
    if region.reads_back(texts):
        return
    for i in numbers:
        texts[i] = _without_new_colon(old[i], texts[i])
    if region.reads_back(texts):
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
    if not region.reads_back(texts):
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
