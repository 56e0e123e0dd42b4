"""What a language's spelling asks beside marks and case: encodings of letters, diacritics, spaces before marks.

The trigram model chooses among the spellings of a word that it knows, with the same lattice as for marks and cases
(Carânică et al. do this to Romanian before anything else).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from unicodedata import normalize

from cappunc_cli.document.labels import dress, strip
from cappunc_cli.languages import Language
from cappunc_cli.restoration.models.network import split
from cappunc_cli.restoration.models.trigrams import Lattice, NgramEngine

#: A text lacks diacritics if fewer than one word in this many has any; in Romanian prose one in three does.
_RARE = 20
#: The most frequent spellings of a word that are considered; the rest is noise.
_MAX_SPELLINGS = 4
_WINDOW, _OVERLAP = 120, 20
#: Not the narrow no-break space: old code pages lack it.
_NO_BREAK = "\u00a0"


def normalise(text: str, conventions: Language) -> str:
    """Replace alternative encodings of the language's letters; the text's Unicode normal form is kept."""
    if text.isascii():
        return text
    for other, letter in conventions.letters.items():
        text = text.replace(other, letter)
        text = text.replace(normalize("NFD", other), normalize("NFD", letter))
    return text


class DiacriticRestorer:
    """Restores the diacritics of texts in one language."""

    def __init__(self, engine: NgramEngine, conventions: Language) -> None:
        self._engine = engine
        self._language = conventions
        pairs = {letter: normalize("NFD", letter)[0] for letter in conventions.diacritics}
        self._plain = str.maketrans(pairs)
        self._spellings: dict[str, list[str]] = {}
        for word in engine.known:
            self._spellings.setdefault(word.translate(self._plain), []).append(word)

    def restore(self, texts: Sequence[str]) -> list[str]:
        """The written words with normalised letters and, if the text lacks diacritics, with diacritics.

        Marks, case and the length of each word do not change.
        """
        texts = [normalise(text, self._language) for text in texts]
        bare = [strip(text)[0] for text in texts]
        words = [self._language.spelled(word) for word in bare]
        if sum(word.translate(self._plain) != word for word in words) * _RARE >= len(words):
            return texts
        best = zip(texts, bare, self._best_spellings(bare), strict=True)
        return [_respell(text, word, other) for text, word, other in best]

    def _best_spellings(self, bare: Sequence[str]) -> list[str]:
        """The most probable spelling of each bare word."""
        spellings = [self._candidates(word) for word in bare]
        if all(len(choices) == 1 for choices in spellings):
            return [choices[0] for choices in spellings]
        forms_of = self._engine.forms_of
        forms = [[form for s in choices for form in forms_of(s)] for choices in spellings]
        lattice = Lattice(self._engine.model, forms, [False] * len(bare))
        owners = [[s for s in choices for _ in forms_of(s)] for choices in spellings]
        result = list(bare)
        for chunk in split(len(bare), _WINDOW, _OVERLAP):
            _, states = lattice.posteriors(chunk)
            for i in range(chunk.start + chunk.before, chunk.stop - chunk.after):
                totals: dict[str, float] = {}
                for owner, probability in zip(owners[i], states[i - chunk.start].sum(0).tolist(), strict=False):
                    totals[owner] = totals.get(owner, 0.0) + probability
                result[i] = max(totals, key=lambda word: totals[word])
        return result

    def _candidates(self, word: str) -> list[str]:
        """The possible spellings of a bare word, its own first if known; only its own if it has diacritics already."""
        own = self._language.spelled(word)
        if own.translate(self._plain) != own or len(own) != len(word):
            return [own]
        others = [s for s in self._spellings.get(own, ()) if s != own]
        # In order of frequency, as in the model.
        known = own in self._engine.known
        return [own, *others[:_MAX_SPELLINGS]] if known or not others else others[:_MAX_SPELLINGS]


def _respell(text: str, bare: str, best: str) -> str:
    """The written word with the letters of its best spelling."""
    if len(best) != len(bare):
        return text
    start = len(strip(text)[1].before)
    letters = list(text)
    for i, (old, new) in enumerate(zip(bare, best, strict=True), start):
        if old != new and old not in "’'":
            letters[i] = new.upper() if letters[i].isupper() else new
    return "".join(letters)


def space_marks(old: Sequence[str], new: Sequence[str], language: Language) -> list[str]:
    """The new texts with a space before each added mark that the language spaces.

    The text's own marks decide which space, and whether there is one: in Switzerland, Belgium and Canada there may be
    none. A text without such marks gets a no-break space.
    """
    space = _usual_space(old, language.spaced)
    if not space:
        return list(new)
    return [a if a == b else _add_space(a, b, language.spaced, space) for a, b in zip(old, new, strict=True)]


def _usual_space(texts: Sequence[str], spaced: str) -> str:
    """The space before most spaced marks of a text, "" for none."""
    spaces: Counter[str] = Counter()
    for text in texts:
        after = strip(text)[1].after
        at = next((i for i, c in enumerate(after) if c in spaced), None)
        if at is not None:
            spaces[after[at - 1] if at and after[at - 1].isspace() else ""] += 1
    return spaces.most_common(1)[0][0] if spaces else _NO_BREAK


def _add_space(old: str, new: str, spaced: str, space: str) -> str:
    (_, old_label), (bare, label) = strip(old), strip(new)
    after = label.after
    at = next((i for i, c in enumerate(after) if c in spaced), None)
    if at is None or after == old_label.after or after[at - 1 : at].isspace():
        return new
    return dress(bare, replace(label, after=f"{after[:at]}{space}{after[at:]}"))
