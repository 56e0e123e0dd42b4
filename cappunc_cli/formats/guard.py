"""Three changes of marks or case would turn speech into something else; they are not made.

`london: never` must not become `London: never`, which reads as a speaker's label, and
`(he left at last)` must not become `(HE LEFT AT LAST)`, which reads as a sound. The next
reader would lose these words. A colon becomes a comma there, or the words stay as they were.
A dash before the first word of a line says that another speaker begins, so none is added there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cappunc_cli.labels import dress, strip
from cappunc_cli.words import Word

from . import spans
from .spans import HIDDEN, Copy, Span
from .speech import LONGEST_NAME_PARTS, scan

_DASHES = frozenset("—–―")
#: (index of a word, one of its copies)
_Places = list[tuple[int, Copy]]


def settle(
    source: str,
    regions: Sequence[Span],
    words: Sequence[Word],
    texts: Sequence[str],
    hidden: re.Pattern[str] = HIDDEN,
) -> list[str]:
    """The texts, made harmless; `regions` are in the order of the source, `hidden` finds the markup in them."""
    if len(texts) != len(words):
        raise ValueError(f"{len(texts)} texts for {len(words)} words")
    result = list(texts)
    changed = [text != word.text for word, text in zip(words, texts, strict=True)]
    odd = [_has_colon(text) or _has_new_dash(word.text, text) for word, text in zip(words, texts, strict=True)]
    # Not by the words' cues: a copy in another layer may stand at the head of a line where the first one does not.
    for region, places in sorted(_places(regions, words).items()):
        if any(changed[i] for i, _ in places) and (
            any(odd[i] for i, _ in places) or _has_bracket(source, regions[region])
        ):
            _settle_region(_Region(source, regions[region], hidden), words, places, result)
    return result


@dataclass(frozen=True, slots=True)
class _Region:
    source: str
    span: Span
    hidden: re.Pattern[str]


def _has_bracket(source: str, region: Span) -> bool:
    # `mary [on the phone]: never` has its colon outside all words.
    return any(source.find(bracket, *region) >= 0 for bracket in "(（[")


def _places(regions: Sequence[Span], words: Sequence[Word]) -> Mapping[int, _Places]:
    result: dict[int, _Places] = {i: [] for i in range(len(regions))}
    starts = [start for start, _ in regions]
    for i, word in enumerate(words):
        for copy in spans.copies(word):
            result[bisect_right(starts, copy[0][0]) - 1].append((i, copy))
    for found in result.values():
        found.sort(key=lambda place: place[1])
    return result


def _settle_region(region: _Region, words: Sequence[Word], places: _Places, texts: list[str]) -> None:
    """Give up as little as it takes."""
    if _reads_back(region, places, texts):
        return
    read = _read(region, places, texts)
    for n, (i, _) in enumerate(places):
        if _has_new_dash(words[i].text, texts[i]) and (len(read) != len(places) or read[n] != texts[i]):
            texts[i] = texts[i][1:]
    if _reads_back(region, places, texts):
        return
    for i, _ in places:
        texts[i] = _without_new_colon(words[i].text, texts[i])
    if _reads_back(region, places, texts):
        return
    for n, (i, _) in enumerate(places):
        if _has_colon(words[i].text):  # the end of a label in lower case: `mary ann:`
            for j, _ in places[max(0, n + 1 - LONGEST_NAME_PARTS) : n + 1]:
                texts[j] = words[j].text
    if not _reads_back(region, places, texts):
        for i, _ in places:
            texts[i] = words[i].text


def _reads_back(region: _Region, places: _Places, texts: Sequence[str]) -> bool:
    return _read(region, places, texts) == [texts[i] for i, _ in places]


def _read(region: _Region, places: _Places, texts: Sequence[str]) -> list[str]:
    """The words of a region when it has been written."""
    source, (start, stop) = region.source, region.span
    changes = [(a - start, b - start, new) for i, copy in places for a, b, new in spans.edits(source, copy, texts[i])]
    text = spans.splice(source[start:stop], changes)
    return [word.text for word in scan(text, 0, len(text), region.hidden).words]


def _has_colon(text: str) -> bool:
    return ":" in text or "：" in text


def _has_new_dash(old: str, new: str) -> bool:
    return new[:1] in _DASHES and old[:1] not in _DASHES


def _without_new_colon(old: str, new: str) -> str:
    if not _has_colon(new) or _has_colon(old):
        return new
    bare, label = strip(new)
    return dress(bare, label.with_mark(",")) if label.mark == ":" else new
