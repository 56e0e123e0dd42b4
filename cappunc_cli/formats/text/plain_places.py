"""Where a word can be replaced without writing the whole file: a review page does so while its user decides."""

from __future__ import annotations

import re

from cappunc_cli.document.words import Document
from cappunc_cli.formats.text import guard
from cappunc_cli.formats.text.cues import CueOrigin

_LETTERS = re.compile(r"""["“„«‘'¿¡]*(?=[^\W\d_])[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…—"”’»]*""")


def plain_places_in_cues(document: Document) -> list[int | None]:
    """The offset of each word that can simply be replaced in the source, without `write`; None for other words.

    Such a word has one copy in one fragment and consists of letters. Replacing it with other marks (but a colon or a
    dash before it) or case gives the same source as `write`. Other words are not safe: a number without its mark might
    be read as the index of a cue, `S>` in another case as a tag.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    words, unguarded = document.words, guard.unguarded(origin.source, origin.regions, document.words)
    found: list[int | None] = []
    for i, text in enumerate(words.texts):
        copies = words.copies(i)
        plain = unguarded[i] and len(copies) == 1 and len(copies[0]) == 1 and _LETTERS.fullmatch(text) is not None
        start, stop = copies[0][0] if plain else (0, 0)
        found.append(start if plain and origin.source[start:stop] == text else None)
    return found
