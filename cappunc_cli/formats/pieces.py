"""Entries that are pieces of words: whether a file marks where its words begin."""

from __future__ import annotations

from collections.abc import Iterable

#: At least so large a share of the entries begins a word. Of word pieces in any language it is far more, and a stray
#: space before an entry here or there says nothing.
_SHARE = 1 / 5


def spaces_begin_words(texts: Iterable[str]) -> bool:
    """Whether entries write a space before each word; then one without a space continues the word before it.

    So do recognisers that put out pieces of words (` lon`, `don`), and Whisper for whole words. The first entry does
    not count: nothing comes before it.
    """
    found = [text[0].isspace() for text in texts if text.strip()][1:]
    return any(found) and sum(found) >= _SHARE * len(found)
