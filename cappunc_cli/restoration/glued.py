"""Words that are written as one with a sign between them (`said--I`, `him/I`), which a model must read apart."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import cached_strip, fold
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.decoding.word_properties import UNITS
from cappunc_cli.restoration.lexicon import Lexicon

#: A dash or dots between letters, and a slash or bracket between words: neither `w/o` and `person(s)`, nor `a/b/c.txt`.
_DASH = re.compile(r"(?<=[^\W\d_])(--+|—|…|\.{2,})(?=[^\W\d_])")
_SLASH = re.compile(r"[^\W\d_]{2,}([/(])(?:[^\W\d_]{2,}|[iI]\b)[^/\w]*")


@dataclass(frozen=True, slots=True)
class Parted:
    """Words, and the `parts` in which a model reads them: several of a glued word, or the word itself.

    `signs` are (start, stop) of those between the parts of a word, by its number; `owners` the numbers of the words of
    the parts.
    """

    words: Sequence[Word]
    parts: Sequence[Word]
    owners: Sequence[int]
    signs: Mapping[int, Sequence[tuple[int, int]]]

    @classmethod
    def of(cls, words: Sequence[Word], lexicon: Lexicon) -> Parted:
        """The words in parts."""
        written = [(i, word.text) for i, word in enumerate(words) if not word.text.isalpha()]
        signs = {i: found for i, text in written if (found := _signs(text, lexicon))}
        if not signs:
            return cls(words, words, range(len(words)), {})
        owned = [(part, i) for i, word in enumerate(words) for part in _parts(word, signs.get(i, ()))]
        return cls(words, [part for part, _ in owned], [i for _, i in owned], signs)

    @property
    def bare(self) -> tuple[str, ...]:
        """The parts without marks and case."""
        return tuple(cached_strip(part.text)[0] for part in self.parts)

    def whole(self, part: int, text: str) -> str:
        """The word of a part without its marks, if the part without its own were `text`."""
        owner = self.owners[part]
        word, signs = self.words[owner].text, self.signs.get(owner)
        if signs is None:
            return text
        number = part - bisect_left(self.owners, owner)
        start = signs[number - 1][1] if number else 0
        bare, label = cached_strip(word[start : signs[number][0] if number < len(signs) else len(word)])
        start += len(label.before)
        new, (_, marks) = word[:start] + text + word[start + len(bare) :], cached_strip(word)
        return new[len(marks.before) : len(new) - len(marks.after)]

    def joined(self, texts: Sequence[str]) -> list[str]:
        """One text for each word, given those of the parts."""
        rest = iter(texts)
        found = []
        for i, word in enumerate(self.words):
            text = next(rest)
            for start, stop in self.signs.get(i, ()):
                sign = word.text[start:stop]
                text += ("" if text.endswith(sign) else sign) + next(rest)
            same = i not in self.signs or fold(cached_strip(text)[0]) == fold(cached_strip(word.text)[0])
            found.append(text if same else word.text)
        return found


def _signs(text: str, lexicon: Lexicon) -> list[tuple[int, int]]:
    """(start, stop) of the signs between the parts of a word."""
    if ("/" in text or "(" in text) and (found := _SLASH.fullmatch(text)):
        bare = cached_strip(text)[0]
        return [] if bare in UNITS or lexicon.get(bare) else [found.span(1)]
    return [found.span(1) for found in _DASH.finditer(text)]


def _parts(word: Word, signs: Sequence[tuple[int, int]]) -> Iterator[Word]:
    """The parts of a word between its signs; a sign that is a mark belongs to the part before it."""
    text, first = word.text, 0
    if not signs:
        yield word
        return
    for start, stop in (*signs, (len(text), len(text))):
        own = text[first:stop] if cached_strip(text[first:stop])[1].after else text[first:start]
        begins, ends = first == 0, stop == len(text)
        yield replace(
            word,
            text=own,
            start=word.start if begins else None,
            end=word.end if ends else None,
            places=(),
            sound=word.sound and begins,
            preceded=word.preceded and begins,
            followed=word.followed or not ends,  # no mark comes between a word and the sign after it
            blank_before=word.blank_before and begins,
        )
        first = stop
