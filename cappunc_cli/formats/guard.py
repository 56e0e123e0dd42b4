"""Revert changes of marks or case that would make words be read back as something else.

`london: never` must not become `London: never` (it reads as a speaker's name), and `(he left at last)` must not
become `(HE LEFT AT LAST)`, which reads as a sound: the words would be lost to the next reader. There a colon becomes a
comma, or the words stay as they were. A dash before the first word of a line marks a new speaker, so none is added
there. Of `30, %.` the comma stays, as the period would be that of `30`, and in `&Quot;` the capital, which makes it
no entity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.document.labels import dress, strip
from cappunc_cli.document.words import Copy, Document, Span
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import aligned_blocks, at_copy, edits, same_around, same_word, splice

#: A new text of a word that may be misread wherever it is: a colon, or a dash before it.
RISKY = re.compile("[—–―]|.*?[:：]", re.DOTALL)
#: Matches a region that has the same words whatever their case and marks are, but for a new colon or dash: nothing in
#: it is markup, an address or a sign.
PLAIN = re.compile(r"""(?>(?:[\w\s,?!;…'’"“”-]|\.(?!\w))*)""")
#: How often the words that are read back otherwise are reverted before the whole region is.
_ATTEMPTS = 3
#: The number of a word, and one of its copies.
Place = tuple[int, Copy]


def revert(document: Document, region: Span, places: Sequence[Place], texts: list[str]) -> None:
    """Revert as few changes in a region as it takes: new dashes and colons of misread words, then all changes of these.

    `places` are those in the region, in order.
    """
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


def _misread(document: Document, region: Span, places: Sequence[Place], texts: Sequence[str]) -> list[int]:
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


def _as_before(old: str, new: str) -> str:
    """The old text, but with the letters of the new one where they differ (`--diacritics`)."""
    label = strip(old)[1]
    return old if label.form or same_word(old, new) else dress(strip(new)[0], label)


def _without_new_colon(old: str, new: str) -> str:
    bare, label = strip(new)
    if label.mark != ":" or ":" in old or "：" in old:
        return new
    text = dress(bare, label.with_mark(","))
    # In `c ,` the comma is no new mark, so the space before it has to stay.
    return text if same_around(old, text) else dress(bare, replace(label, after=strip(old)[1].after))
