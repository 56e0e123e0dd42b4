"""Pieces of words: whether a file marks where its words begin, by a leading space (` lon`, `don`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


#: At least this share of the texts begin with a space: of those with one token each, and of longer ones.
_SHARE_OF_TOKENS, _SHARE_OF_TEXTS = 0.4, 0.8
#: Fewer texts prove nothing.
_FEWEST = 4


def cues_are_pieces(texts: Sequence[str]) -> bool:
    """Whether a leading space begins a word in these texts, and a text without one continues the word before.

    False where every text begins with a space, or none; or where a text ends with one, as then the spaces between
    words are written otherwise.
    """
    shown = [text for text in texts if text.strip()]
    spaced = sum(text[0] == " " for text in shown)
    if len(shown) < _FEWEST or spaced == len(shown) - (shown[0][0] != " "):
        return False
    if any(text[-1].isspace() or "\n" in text for text in shown):
        return False
    several = sum(len(text.split()) > 1 for text in shown)
    return spaced >= (_SHARE_OF_TEXTS if 4 * several > len(shown) else _SHARE_OF_TOKENS) * len(shown)
