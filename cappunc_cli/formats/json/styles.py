"""The style of a stream: whether it shows case and marks when read, and so gets them when written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cappunc_cli.document.labels import Label, cached_strip, dress
from cappunc_cli.formats.json.occurrences import Occurrence

# A stream without marks or capitals has that style only if more than this share of its words have them elsewhere.
_RARE = 1 / 50
#: Features of a word in a stream, as bits: it is shown, it has a mark, it has a capital.
_SHOWN, _MARKED, _CAPITAL = 1, 2, 4


class Style(NamedTuple):
    """Whether a stream shows marks and case; a word list, for example, may have case but leave marks to the text."""

    case: bool = True
    marks: bool = True


#: The style with both.
FULL_STYLE = Style()


@lru_cache(maxsize=1 << 15)
def features(text: str) -> int:
    """The features of a word that is shown."""
    label = cached_strip(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | _MARKED * marked | _CAPITAL * capital


def styles_of(seen: Sequence[bytearray], unmarked: Sequence[bool]) -> Iterator[Style]:
    """The style of each stream, from the features of its words; `unmarked` streams never have marks.

    `seen` has the features of each word in each stream.
    """
    for stream, never_marks in enumerate(unmarked):
        raw = _lacks(stream, seen, _MARKED)
        # Lower case in all streams, or together with marks, is not a style but what is to be restored.
        yield Style(not (raw and _lacks(stream, seen, _CAPITAL)), not never_marks and not raw)


def _lacks(stream: int, seen: Sequence[bytearray], feature: int) -> bool:
    """Whether a stream never has a feature that other streams show of the same words."""
    own = seen[stream]
    count = len(own) - own.count(0)
    if not count or any(bits & feature for bits in own):
        return False
    others = (theirs for s, theirs in enumerate(seen) if s != stream)
    return any(
        sum(1 for bits, other in zip(own, theirs, strict=True) if bits and other & feature) > _RARE * count
        for theirs in others
    )


def differing(seen: Sequence[bytearray], styles: Sequence[Style]) -> Iterator[int]:
    """The words that some streams show with a capital and others without."""
    cased = [stream for stream, style in zip(seen, styles, strict=True) if style.case]
    for i, features_of_word in enumerate(zip(*cased, strict=True)):
        if len({bits & _CAPITAL for bits in features_of_word if bits}) > 1:
            yield i


def target(
    own: str,
    place: Occurrence,
    style: Style,
    before: Sequence[str],
    after: Sequence[str],
    synced_case: Container[int] = (),
) -> str:
    """The new text of an occurrence that reads `own`, when the words change from `before` to `after`.

    An occurrence follows the changes of its words. It takes the case of words in `synced_case` even where that has not
    changed.
    """
    case_of = place.case_of
    if case_of is not None and case_of not in synced_case and before[case_of] == after[case_of]:
        case_of = None
    mark_of = place.mark_of if place.mark_of is not None and before[place.mark_of] != after[place.mark_of] else None
    if case_of == mark_of and case_of is not None and style == FULL_STYLE and own == before[case_of]:
        return after[case_of]
    if place.letters is not None and style.case:
        own = _with_letters(own, place.letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = cached_strip(own)
    if case_of is not None and bare == cached_strip(before[case_of])[0]:
        bare = cached_strip(after[case_of])[0]  # its diacritics may have been restored
    if case_of is not None and style.case:
        same = case_of in synced_case and bare == cached_strip(after[case_of])[0]
        label = _with_case(label, None if same else before[case_of], after[case_of])
    if mark_of is not None and style.marks:
        label = label.with_mark(cached_strip(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str | None, after: str) -> Label:
    """The label with the case of `after`, unless that is the case of `before`."""
    new = cached_strip(after)[1]
    if before is not None and ((old := cached_strip(before)[1]).case, old.form) == (new.case, new.form):
        return label
    return replace(label, case=new.case, form=new.form)


def _with_letters(own: str, letters: tuple[int, int, int], before: Sequence[str], after: Sequence[str]) -> str:
    """The token with each letter changed like that letter of the words."""
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
