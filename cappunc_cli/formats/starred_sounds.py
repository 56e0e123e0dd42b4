"""Sounds between asterisks: `*sighs*`, as Whisper writes it, and `**cough**`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Span
from cappunc_cli.languages.caption_words import ASIDES, JOINING, SOUNDS

#: The most words in a description of a sound within a line of speech.
LONGEST_SOUND = 8
_STARRED = re.compile(r"(?<!\S)(\*{1,3})(?=\S)([^*\r\n]{1,60})(?<=\S)\1(?!\w)")


def starred_sounds(text: str) -> Iterator[Span]:
    """The spans of sounds between asterisks, but not of emphasised words."""
    for found in _STARRED.finditer(text):
        words = [cached_strip(word)[0] for word in found.group(2).split()]
        if len(words) <= LONGEST_SOUND and any(map(SOUNDS.match, words)) and JOINING.issuperset(ASIDES & set(words)):
            yield found.span()
