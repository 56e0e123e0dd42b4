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
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from cappunc_cli.document.labels import dress, strip
from cappunc_cli.document.words import Copy, Document, Span
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import aligned_blocks, at_copy, edits, same_spaces, splice

_COLON = re.compile("[:：]")
#: A new text of a word that may be misread wherever it is: a colon, or a dash before it.
_RISKY = re.compile("[—–―]|.*?[:：]", re.DOTALL)
#: Matches a region that has the same words whatever their case and marks are, but for a new colon or dash: nothing in
#: it is markup, an address or a sign.
_PLAIN = re.compile(r"""(?>(?:[\w\s,?!;…'’"“”-]|\.(?!\w))*)""")
#: How often the words that are read back otherwise are reverted before the whole region is.
_ATTEMPTS = 3
#: The number of a word, and one of its copies.
_Place = tuple[int, Copy]


def revert_ambiguous(document: Document, texts: Sequence[str]) -> list[str]:
    """The texts without the changes that would be misread; the cues of the document are in the order of the source."""
    result = list(texts)
    # A change that is harmless in one copy of a word may be misread in the next.
    for _ in range(max((len(word.places) for word in document.words), default=0)):
        for region, places in _places(document):
            pairs = [(document.words[i].text, result[i]) for i, _ in places]
            if any(old != new for old, new in pairs) and (
                any(_RISKY.match(new) for _, new in pairs) or not _PLAIN.fullmatch(document.source, *region)
            ):
                _revert_in_region(document, region, places, result)
    return result


def _places(document: Document) -> Iterator[tuple[Span, Sequence[_Place]]]:
    """Yield each region with the copies in it, in order."""
    words, cues = document.words, document.detail.cues
    if all(len(word.places) == 1 for word in words):
        for number, group in groupby(enumerate(words), key=lambda pair: pair[1].cue):
            yield cues[number].text, [(i, word.places[0]) for i, word in group]
        return
    # By the regions of the copies, not the cues of the words: a copy may be in another layer, at the start of a line.
    starts = [cue.text[0] for cue in cues]
    found: dict[int, list[_Place]] = {}
    for i, word in enumerate(words):
        for copy in word.places:
            found.setdefault(bisect_right(starts, copy[0][0]) - 1, []).append((i, copy))
    for number, places in sorted(found.items()):
        yield cues[number].text, sorted(places, key=itemgetter(1))


def _misread(document: Document, region: Span, places: Sequence[_Place], texts: Sequence[str]) -> list[int]:
    """Write a region with these texts and read its words back: the numbers of the places whose words are misread.

    Beside words that are read where there are none, these are the words before and after.
    """
    source, hidden = document.source, document.detail.hidden
    old = [document.words[i].text for i, _ in places]
    wanted = [at_copy(source, copy, before, texts[i]) for (i, copy), before in zip(places, old, strict=True)]
    changed = [(copy, new) for (i, copy), before, new in zip(places, old, wanted, strict=True) if texts[i] != before]
    text = splice(source, (edit for copy, new in changed for edit in edits(source, copy, new)), *region)
    read = [word.text for word in scan(text, 0, len(text), hidden).words]
    blocks = [range(start, stop) for same, _, _, start, stop in aligned_blocks(read, wanted) if not same]
    found = (n for block in blocks for n in (block or (block.start - 1, block.start)))
    return [n for n in found if 0 <= n < len(wanted)]


def _revert_in_region(document: Document, region: Span, places: Sequence[_Place], texts: list[str]) -> None:
    """Revert as few changes as it takes: new dashes and colons of the words that are misread, then all of these."""
    numbers = [i for i, _ in places]
    for attempt in range(_ATTEMPTS + 2):
        if not (misread := _misread(document, region, places, texts)):
            return
        for i in numbers if attempt >= _ATTEMPTS else [numbers[n] for n in misread]:
            old = document.words[i].text
            if attempt == 0:
                new_dash = texts[i][0] in "—–―" and old[0] not in "—–―"
                texts[i] = _without_new_colon(old, texts[i][new_dash:])
            else:
                texts[i] = old if attempt > _ATTEMPTS else _as_before(old, texts[i])


def _as_before(old: str, new: str) -> str:
    """The old text, but with the letters of the new one where they differ (`--diacritics`)."""
    bare, label = strip(old)
    letters = strip(new)[0]
    return old if letters == bare or label.form else dress(letters, label)


def _without_new_colon(old: str, new: str) -> str:
    bare, label = strip(new)
    if label.mark != ":" or _COLON.search(old):
        return new
    text = dress(bare, label.with_mark(","))
    # In `c ,` the comma is no new mark, so the space before it has to stay.
    return text if same_spaces(old, text) else dress(bare, replace(label, after=strip(old)[1].after))
