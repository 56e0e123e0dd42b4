"""Words that are written as one with a sign between them (`said--I`, `him/I`), which a model must read apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cappunc_cli.document.labels import cached_strip, fold
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.decoding.word_properties import UNITS

#: A dash or dots between letters, and a slash or bracket between words: neither `w/o` and `person(s)`, nor `a/b/c.txt`.
_DASH = re.compile(r"(?<=[^\W\d_])(--+|—|…|\.{2,})(?=[^\W\d_])")
_SLASH = re.compile(r"[^\W\d_]{2,}([/(])(?:[^\W\d_]{2,}|[iI]\b)[^/\w]*")


def part_glued(words: Sequence[Word], lexicon: Mapping[str, str]) -> Sequence[Word]:
    """The words with those that are glued in parts; the same object if none is."""
    if not any(_signs(word.text, lexicon) for word in words):
        return words
    return [part for word in words for part in _parts(word, lexicon)]


def join_glued(words: Sequence[Word], texts: Sequence[str], lexicon: Mapping[str, str]) -> list[str]:
    """One text for each of the words, given those of their parts."""
    if len(words) == len(texts):
        return list(texts)
    rest = iter(texts)
    joined = []
    for word in words:
        signs = _signs(word.text, lexicon)
        text = next(rest)
        for start, stop in signs:
            sign = word.text[start:stop]
            text += ("" if text.endswith(sign) else sign) + next(rest)
        same = fold(cached_strip(text)[0]) == fold(cached_strip(word.text)[0])
        joined.append(text if same else word.text)
    return joined


def _signs(text: str, lexicon: Mapping[str, str]) -> list[tuple[int, int]]:
    """(start, stop) of the signs between the parts of a word."""
    if text.isalpha():
        return []
    if ("/" in text or "(" in text) and (found := _SLASH.fullmatch(text)):
        bare = cached_strip(text)[0]
        return [] if bare in UNITS or bare in lexicon else [found.span(1)]
    return [found.span(1) for found in _DASH.finditer(text)]


def _parts(word: Word, lexicon: Mapping[str, str]) -> Iterator[Word]:
    """The parts of a word; a sign that is a mark belongs to the part before it."""
    signs, text = _signs(word.text, lexicon), word.text
    first = 0
    for start, stop in signs:
        own = text[first:stop] if cached_strip(text[first:stop])[1].after else text[first:start]
        begins = first == 0
        yield replace(
            word,
            text=own,
            start=word.start if begins else None,
            end=None,
            places=(),
            sound=word.sound and begins,
            preceded=word.preceded and begins,
            followed=True,  # no mark comes between a word and the sign after it
            blank_before=word.blank_before and begins,
        )
        first = stop
    yield (
        word
        if not first
        else replace(word, text=text[first:], start=None, places=(), sound=False, preceded=False, blank_before=False)
    )
