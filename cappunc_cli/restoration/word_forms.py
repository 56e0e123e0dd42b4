"""The form of a word in mixed case, by rules for compounds, names, ordinals and abbreviations."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import is_normalized, normalize

from cappunc_cli.document.labels import capital, fold, upper
from cappunc_cli.languages import DEGREE, Language, is_number
from cappunc_cli.restoration.lexicon import Lexicon

#: `x` of `x-ray`, `u.s.` of `u.s.-backed`, `l4` and `l5` of `l4-l5`.
_INITIALS = re.compile(r"[^\W\d_](\.[^\W\d_])*\.?|[^\W\d_]\d+")
DOTTED = re.compile(r"[^\W\d_](\.[^\W\d_])+\.?")
#: `i-i'm`, `b-but`, `th-that's`: the beginning of a word said again, a letter or two consonants.
STUTTER = re.compile(r"(?:([^\W\d_]|[^\W\d_aeiou]{2})-)(?:\1-)*(\1(?:['’]?[^\W\d_]+(?:['’][^\W\d_]+)*)?)")
#: Prefixes after which a name has another capital: `O'Brien`, `D'Angelo`, `Sant'Agata`.
_APOSTROPHE_PREFIXES = ("o'", "o’", "d'", "d’", "sant'", "sant’")
#: Letters from which on an acronym is told from a word with its ending.
_SHORTEST_ACRONYM = 3
#: `xixe`, but not French `vie`.
_ORDINAL = re.compile(r"(x{1,2}(?:i[xv]|v?i{0,3})|i{2,3}|i[xv]|vi{2,3})(\D+)")


@lru_cache(maxsize=1 << 16)
def mixed_form(word: str, lexicon: Lexicon, language: Language) -> str | None:
    """The form of a word that no rule gives: listed or by its prefixes and hyphens; None if it has none.

    In mixed case, but for an abbreviation that the language writes in upper case.
    """
    if listed := language.forms.get(word) or language.eras.get(word):
        return listed
    form = lexicon.get(word)
    if form is None and (plain := language.spelled(word)) != word:
        # Written as the word is: `l’OTAN` as `l'OTAN`, and `IP‑Adresse` with a no-break hyphen as with another.
        known = mixed_form(plain, lexicon, language)
        if known is None:
            return None
        known = known if is_normalized("NFC", word) else normalize("NFD", known)
        return "".join(c.upper() if k.isupper() else c for c, k in zip(word, known, strict=False))
    if form is None:
        form = ordinal_form(word, language) or _inflected(word, lexicon, language)
    if form is None and STUTTER.fullmatch(word):
        form = "-".join(capital(part) for part in word.split("-"))
    if form is None:
        parted = "-" in word.strip("-") or "/" in word.strip("/")
        sides = [_compound(side, lexicon, language) for side in word.split("/")] if parted else [_named(word, language)]
        form = "/".join(sides)
    return form if form is not None and fold(form) == word and form not in (word, capital(word), upper(word)) else None


def ordinal_form(word: str, language: Language) -> str | None:
    """A Roman ordinal with an ending: Basque `XIV.a`, French `XIXe`; None for any other word."""
    if language.ordinal_endings and (found := _ORDINAL.fullmatch(word)):
        return upper(found[1]) + found[2] if found[2] in language.ordinal_endings else None
    numeral, period, ending = word.partition(".")
    if not (period and language.ordinals and len(numeral) > 1 and is_number(numeral) and not numeral.isdecimal()):
        return None
    return upper(numeral) + period + ending if ending in language.clitics else None


def _inflected(word: str, lexicon: Lexicon, language: Language) -> str | None:
    """An acronym of the lexicon with its ending: Basque `EHUko`, `VIIIak`; None for any other word."""
    if not (language.inflects_acronyms and word.isalpha()):
        return None
    for length in range(_SHORTEST_ACRONYM, len(word)):
        ending = word[length:]
        known = lexicon.get(word[:length]) if ending in language.clitics else None
        if known and known.isupper():
            return known + ending
    return None


def start_form(form: str, language: Language) -> str:
    """A mixed-case form at the start of a sentence: `L'Ukraine`, `Non-Italian`, but `iPhone`, `'s-Hertogenbosch`."""
    lower = language.elided(form) or (form[:1].isalpha() and form.partition("-")[0].islower())
    return capital(form) if lower else form


def _compound(word: str, lexicon: Lexicon, language: Language) -> str:
    """Write the parts of a compound as most compounds of the lexicon have them: `EU-led`, `non-Italian`.

    Other parts are capital: `Anglo-Saxon`, `Mar-a-Lago`, but Romanian `Într-o`. After a single letter they are
    lower-case (`K-pop`), unless nouns are capital.
    """
    first, others = lexicon.parts
    parts = word.split("-")
    written = []
    for i, part in enumerate(parts):
        plain = language.spelled(part)
        if plain in language.clitics or (0 < i < len(parts) - 1 and plain in language.linking):
            written.append(part)
        elif _INITIALS.fullmatch(part):
            written.append(upper(part))
        else:
            acronym = lexicon.get(part) or ""
            known = (others if i else first).get(part) or (acronym if acronym.isupper() else None)
            letter = len(parts[0]) == 1 and not language.capital_nouns
            after_acronym = len(parts[0]) > 1 and written[:1] == [upper(parts[0])] and language.lower_after_acronyms
            if i == 1 and (letter or after_acronym):
                # Not as in other compounds: Dutch `Fractie` is usual in them because of names such as `PSE-Fractie`.
                written.append(known if known and known.isupper() else part)
            else:
                written.append(known or _inflected(part, lexicon, language) or _named(part, language))
    return "-".join(written)


def _named(word: str, language: Language) -> str:
    """The capital form of a name within a sentence, with its second capital as in `O'Brien`, `McDonald` and `Ph.D`.

    The article or preposition of `l'Ukraine` and `l'O.N.U` stays lower-case.
    """
    if elided := language.elided(word):
        if DOTTED.fullmatch(word, elided):
            return word[:elided] + upper(word[elided:])
        return word[:elided] + _named(word[elided:], language)
    if language.digraph and word.startswith(language.digraph):
        return language.digraph.upper() + word[len(language.digraph) :]
    if DEGREE.fullmatch(word):
        return capital(word[:-1]) + word[-1].upper()
    prefix = next((prefix for prefix in _APOSTROPHE_PREFIXES if word.startswith(prefix)), "")
    if prefix and len(word) > len(prefix) + 1:
        return capital(prefix) + capital(word[len(prefix) :])
    if word.startswith("mc") and len(word) > 4:
        return "Mc" + capital(word[2:])
    return capital(word)
