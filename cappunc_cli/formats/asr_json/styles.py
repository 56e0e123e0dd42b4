"""Styles of streams: which of case and marks a stream shows when a file is read, and so keeps when it is written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from cappunc_cli.formats.asr_json.occurrences import Occurrence
from cappunc_cli.transcript.labels import Label, cached_strip, dress

# Below this share of marked words a list that has none is simply unpunctuated.
_RARE = 1 / 50
#: What a stream shows of a word: the word itself, a mark, a capital.
_SHOWN, _MARKED, _CAPITAL = 1, 2, 4


class Style(NamedTuple):
    """The style of a stream: a word list may keep case and leave the marks to the text."""

    case: bool = True
    marks: bool = True


#: Both: it spells its words as they are.
WHOLE = Style()


@lru_cache(maxsize=1 << 15)
def shows(text: str) -> int:
    """_SHOWN, and whether the word has a mark or a capital."""
    label = cached_strip(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | _MARKED * marked | _CAPITAL * capital


def styles_of(seen: Sequence[bytearray], silent: Sequence[bool]) -> Iterator[Style]:
    """The style of each stream, by what it and the others show of each word; the `silent` ones write no marks."""
    for stream, mute in enumerate(silent):
        raw = _lacks(stream, seen, _MARKED)
        # Lower case alone, or beside marks, is no style, but what is to be restored.
        yield Style(not (raw and _lacks(stream, seen, _CAPITAL)), not mute and not raw)


def _lacks(stream: int, seen: Sequence[bytearray], what: int) -> bool:
    """Streams without a mark, or without a capital, beside others that have them keep to that."""
    own = _bits(seen[stream], _SHOWN)
    count = own.bit_count()
    if not count or _bits(seen[stream], what):
        return False
    return any((_bits(theirs, what) & own).bit_count() > _RARE * count for s, theirs in enumerate(seen) if s != stream)


def differing(seen: Sequence[bytearray], styles: Sequence[Style]) -> Iterator[int]:
    """The words that some streams show with a capital and others without."""
    high = low = 0
    for stream in compress(seen, [style.case for style in styles]):
        capitals = _bits(stream, _CAPITAL)
        high, low = high | capitals, low | _bits(stream, _SHOWN) & ~capitals
    if both := high & low:
        yield from compress(range(len(seen[0])), both.to_bytes(len(seen[0])))


def _bits(seen: bytearray, what: int) -> int:
    """A number with one bit for each word of which a stream shows that."""
    return (int.from_bytes(seen) & int.from_bytes(bytes([what]) * len(seen))) >> what.bit_length() - 1


def target(
    own: str, place: Occurrence, style: Style, before: Sequence[str], after: Sequence[str], led: Container[int] = ()
) -> str:
    """The text of a place, which is `own` now, when its words turn from `before` into `after`.

    It takes the case of words that are `led`, whether or not these change theirs.
    """
    case_of = place.case_of
    if case_of is not None and case_of not in led and before[case_of] == after[case_of]:
        case_of = None
    mark_of = place.mark_of if place.mark_of is not None and before[place.mark_of] != after[place.mark_of] else None
    if case_of == mark_of and case_of is not None and style == WHOLE and own == before[case_of]:
        return after[case_of]
    if place.letters is not None and style.case:
        own = _with_letters(own, place.letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = cached_strip(own)
    if case_of is not None and bare == cached_strip(before[case_of])[0]:
        bare = cached_strip(after[case_of])[0]  # it may have got its diacritics
    if case_of is not None and style.case:
        same = case_of in led and bare == cached_strip(after[case_of])[0]
        label = _with_case(label, None if same else before[case_of], after[case_of])
    if mark_of is not None and style.marks:
        label = label.with_mark(cached_strip(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str | None, after: str) -> Label:
    """The label with the case of `after`, unless it was that `before`."""
    new = cached_strip(after)[1]
    if before is not None and ((old := cached_strip(before)[1]).case, old.form) == (new.case, new.form):
        return label
    return replace(label, case=new.case, form=new.form)


def _with_letters(own: str, letters: tuple[int, int, int], before: Sequence[str], after: Sequence[str]) -> str:
    """The token with each letter changed as the same letter of the words was."""
    first, stop, at = letters
    old = "".join([c for text in before[first:stop] for c in text if c.isalnum()])
    new = "".join([c for text in after[first:stop] for c in text if c.isalnum()])
    shown = list(own)
    for i, c in enumerate(own):
        if c.isalnum():
            if at < len(new) == len(old) and old[at] != new[at]:
                shown[i] = new[at]
            at += 1
    return "".join(shown)
