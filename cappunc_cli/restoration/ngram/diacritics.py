"""Diacritics: one code per letter, and the letters that a text typed without them has lost.

The trigram model chooses among all spellings of a word that it knows, over the same lattice
in which it weighs marks and cases (Carânică et al. condition Romanian so before anything else).
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np

from cappunc_cli.languages import Language
from cappunc_cli.restoration.chunks import split
from cappunc_cli.restoration.ngram.ngram_engine import NgramEngine, build_lattice, lattice_posteriors
from cappunc_cli.restoration.ngram.trigrams import WordForm
from cappunc_cli.transcript.labels import strip

#: A text lacks its diacritics when fewer than one word in so many has any; Romanian prose has one in three.
_RARE = 20
#: Spellings of a word that come into question, the most frequent ones; beyond them is noise.
_MOST_SPELLINGS = 4
#: Words at once: the table of each has a few thousand entries.
_WORDS_AT_ONCE = 2000
_WINDOW, _OVERLAP = 120, 20


def normalise(text: str, conventions: Language) -> str:
    """Other codes of the language's letters made the usual ones; each in the text's own normal form."""
    if text.isascii():
        return text
    for other, letter in conventions.letters.items():
        text = text.replace(other, letter)
        apart = normalize("NFD", other), normalize("NFD", letter)
        text = text.replace(*apart)
    return text


class DiacriticRestorer:
    """Gives words of one language the diacritics that they lack."""

    def __init__(self, engine: NgramEngine, conventions: Language) -> None:
        self._engine = engine
        self._language = conventions
        pairs = {letter: normalize("NFD", letter)[0] for letter in conventions.diacritics}
        self._plain = str.maketrans(pairs)
        self._spellings: dict[str, list[str]] = {}
        for word in engine.forms.known():
            self._spellings.setdefault(word.translate(self._plain), []).append(word)

    def restore(self, texts: Sequence[str]) -> list[str]:
        """The written words in one code per letter and, where the text lacks them, with diacritics.

        Marks and case stay; so does the number of characters of a word.
        """
        texts = [normalise(text, self._language) for text in texts]
        # What has become readable may make the rest so; as good as always, the second round only confirms.
        for _ in range(4):
            bare = [strip(text)[0] for text in texts]
            if not self._lacks(bare):
                break
            new = [_spelled(text, word, best) for text, word, best in zip(texts, bare, self._best(bare), strict=True)]
            if new == texts:
                break
            texts = new
        return texts

    def _lacks(self, bare: Sequence[str]) -> bool:
        words = [self._language.spelled(word) for word in bare]
        return sum(word.translate(self._plain) != word for word in words) * _RARE < len(words)

    def _best(self, bare: Sequence[str]) -> list[str]:
        """The likeliest spelling of each bare word."""
        best: list[str] = []
        for start in range(0, len(bare), _WORDS_AT_ONCE):
            best += self._best_of(bare[start : start + _WORDS_AT_ONCE])
        return best

    def _best_of(self, bare: Sequence[str]) -> list[str]:
        spellings = [self._candidates(word) for word in bare]
        if all(len(some) == 1 for some in spellings):
            return [some[0] for some in spellings]
        forms: list[list[WordForm]] = [[form for s in some for form in self._engine.forms.of(s)] for some in spellings]
        owners = [[s for s in some for _ in self._engine.forms.of(s)] for some in spellings]
        closes = np.zeros(len(bare), np.bool_)
        closes[-1] = True
        lattice = build_lattice(self._engine.model, forms, closes, opens=True)
        result = list(bare)
        for chunk in split(len(bare), _WINDOW, _OVERLAP):
            states = lattice_posteriors(lattice, [chunk])[1][0].sum(1)
            for i in chunk.kept:
                chances: dict[str, float] = {}
                for owner, chance in zip(owners[i], states[i - chunk.start], strict=False):
                    chances[owner] = chances.get(owner, 0.0) + float(chance)
                result[i] = max(chances, key=lambda word: chances[word])
        return result

    def _candidates(self, word: str) -> list[str]:
        """The spellings of a bare word, itself first; it alone where it has diacritics or none would fit."""
        own = self._language.spelled(word)
        if own.translate(self._plain) != own or len(own) != len(word):
            return [own]
        others = [s for s in self._spellings.get(own, ()) if s != own]
        # Frequent words come first in the model.
        known = own in self._engine.forms
        return [own, *others[:_MOST_SPELLINGS]] if known or not others else others[:_MOST_SPELLINGS]


def _spelled(text: str, bare: str, best: str) -> str:
    """The written word with the letters of another spelling of it."""
    if len(best) != len(bare):
        return text
    start = len(strip(text)[1].before)
    letters = list(text)
    for i, (old, new) in enumerate(zip(bare, best, strict=True), start):
        if old != new and old not in "’'":
            letters[i] = new.upper() if letters[i].isupper() else new
    return "".join(letters)
