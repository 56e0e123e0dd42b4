"""How words are written elsewhere: with their counts in a model's lexicon.txt, and by rules for compounds and names."""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, MutableMapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from cappunc_cli.document.labels import capital, fold, upper
from cappunc_cli.errors import BadModel
from cappunc_cli.languages import Language
from cappunc_cli.languages.language import APOSTROPHE_PREFIXES, CLAN_PREFIX, DEGREE, is_number

#: A word of which this share is in upper case is an acronym, and has no mixed-case form.
_SURE = 0.9
#: How often an unlisted Roman numeral counts as seen in upper case: `xxvii`, but not `mix`.
_NUMERAL, _NUMERAL_COUNT = re.compile(r"(?=...)x{0,3}(?:i[xv]|v?i{0,3})"), 8
_POSSESSIVE = re.compile(r"['’][sS]\Z")
#: The counts of a word, and its form in mixed case.
_COUNTS = re.compile(r"(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})\t(\S+))?)?)?")
#: `x` of `x-ray`, `u.s.` of `u.s.-backed`, `l4` and `l5` of `l4-l5`.
_INITIALS = re.compile(r"[^\W\d_](\.[^\W\d_])*\.?|[^\W\d_]\d+")
DOTTED = re.compile(r"[^\W\d_](\.[^\W\d_])+\.?")
#: `i-i'm`, `b-but`, `th-that's`: the beginning of a word said again, a letter or two consonants.
STUTTER = re.compile(r"(?:([^\W\d_]|[^\W\d_aeiou]{2})-)(?:\1-)*(\1(?:['’]?[^\W\d_]+(?:['’][^\W\d_]+)*)?)")
#: A dash or dots between two words.
_GLUE = re.compile(r"(--+|—|…|\.{2,})")
#: Letters from which on an acronym is told from a word with its ending.
_SHORTEST_ACRONYM = 3
#: Between two words that are written as one: `well...okay`.
JOINED = ".."
#: `xixe`, but not French `vie`.
_ORDINAL = re.compile(r"(x{1,2}(?:i[xv]|v?i{0,3})|i{2,3}|i[xv]|vi{2,3})(\D+)")


class FormCounts(NamedTuple):
    """How often a word is in lower case, capital, in upper case, and written as `form` within sentences."""

    lower: int = 0
    capital: int = 0
    upper: int = 0
    mixed: int = 0
    form: str = ""


def without_possessive(word: str) -> str:
    """A word, bare or not, without a possessive s, which has the case of neither a name nor an acronym."""
    return _POSSESSIVE.sub("", word)


class Lexicon:
    """The words of one language in a lexicon.

    `shares` are those of the four cases among all words within sentences, empty if it has no counts.
    """

    def __init__(self, lines: MutableMapping[str, str], shares: tuple[float, ...] = ()) -> None:
        self._lines = lines
        self.shares = shares

    def counts(self, bare: str) -> FormCounts | None:
        """The counts of a bare word, without its possessive s; None if it is not listed, or without counts."""
        word = without_possessive(bare).replace("’", "'")
        line = self._lines.get(word, "")
        if match := _COUNTS.fullmatch(line):
            *numbers, form = match.groups()
            lower, capital, upper_, mixed = (int(number or 0) for number in numbers)
            return FormCounts(lower, capital, upper_, mixed, form or "")
        return FormCounts(upper=_NUMERAL_COUNT) if not line and _NUMERAL.fullmatch(word) else None

    def with_words(self, counts: Mapping[str, FormCounts]) -> Lexicon:
        """This lexicon with other counts for some bare words."""
        lines = {bare: "\t".join(map(str, own if own.form else own[:3])) for bare, own in counts.items()}
        return Lexicon(ChainMap(lines, self._lines), self.shares) if lines and self.shares else self

    def get(self, bare: str) -> str | None:
        """The acronym or mixed-case form of a bare word; None if it has none."""
        word = bare if bare in self._lines else without_possessive(bare)
        form = self._lines.get(word, "")
        if _COUNTS.fullmatch(form):
            counts = self.counts(word) or FormCounts()
            form = upper(word) if counts.upper >= _SURE * sum(counts[:4]) else counts.form
        return form + bare[len(word) :] if form else None

    def forms(self) -> Iterator[tuple[str, str]]:
        """All bare words that have a form, with it."""
        return ((bare, form) for bare in self._lines if (form := self.get(bare)) is not None)


class Lexicons:
    """The lexicon of a model in each of its languages, by code; that of a language without a section is empty.

    A line of lexicon.txt is a bare word and its counts in lower case, capital, upper and mixed case, with the latter's
    form, separated by tabs; zeros at the end are left out. A section begins with `[code]` and the counts of all words.
    Lines without a tab, before the first section, are forms without counts, and belong to every language.
    """

    def __init__(self, text: str = "") -> None:
        self._known: dict[str, Lexicon] = {}
        head, *sections = re.split(r"^\[(\w+)\]", text, flags=re.MULTILINE)
        forms: dict[str, str] = {}
        for line in filter(None, map(str.strip, head.split("\n"))):
            forms.setdefault(fold(line), line)
        self._common = Lexicon(forms)
        for code, body in zip(sections[::2], sections[1::2], strict=True):
            total, *lines = body.strip("\n").split("\n")
            known: dict[str, str] = dict(line.split("\t", 1) for line in lines if "\t" in line)
            numbers = [int(number) for number in total.split("\t") if number.isdecimal()]
            if len(numbers) != 4 or not all(numbers):
                raise ValueError(f"section {code} lacks the counts of all words")
            self._known[code] = Lexicon(forms | known, tuple(number / sum(numbers) for number in numbers))

    @classmethod
    def read(cls, directory: Path) -> Lexicons:
        """Read lexicon.txt of a model, if there is one; raises BadModel."""
        path = directory / "lexicon.txt"
        try:
            return cls(path.read_text(encoding="utf-8") if path.is_file() else "")
        except ValueError as error:
            raise BadModel(f"not a lexicon: {error}", str(path)) from error

    def __getitem__(self, code: str) -> Lexicon:
        return self._known.get(code, self._common)


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
    if form is None:
        form = glued_form(word, lexicon, language)
    if form is None and STUTTER.fullmatch(word):
        form = "-".join(capital(part) for part in word.split("-"))
    if form is None:
        parted = "-" in word.strip("-") or "/" in word.strip("/")
        sides = [_compound(side, lexicon, language) for side in word.split("/")] if parted else [_named(word, language)]
        form = "/".join(sides)
    return form if form is not None and fold(form) == word and form not in (word, capital(word), upper(word)) else None


def glued_form(word: str, lexicon: Lexicon, language: Language) -> str | None:
    """`know--I`, `anna--BMW`: words on both sides of a dash, which are written as anywhere; None for one word."""
    parts = _GLUE.split(word) if JOINED in word or "--" in word or "—" in word or "…" in word else []
    if len(parts) < 3:
        return None
    return "".join(capital(part) if part in language.always_capital else lexicon.get(part) or part for part in parts)


def ordinal_form(word: str, language: Language) -> str | None:
    """A Roman ordinal with an ending: Basque `XIV.a`, French `XIXe`; None for any other word."""
    if language.ordinal_endings and (found := _ORDINAL.fullmatch(word)):
        return upper(found[1]) + found[2] if found[2] in language.ordinal_endings else None
    numeral, period, ending = word.partition(".")
    if not (period and language.ordinals and len(numeral) > 1 and is_number(numeral) and not numeral.isdecimal()):
        return None
    return upper(numeral) + period + ending if ending in language.clitics else None


def _inflected(word: str, lexicon: Lexicon, language: Language) -> str | None:
    """An acronym of the lexicon with its ending: Basque `EHUko`, `VIIIak`; None for any other word.

    Of 455 words in mixed case in the training texts that it finds 421 are written so.
    """
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
    lower = language.elided(form) or (form[:1].isalpha() and _GLUE.split(form)[0].partition("-")[0].islower())
    return capital(form) if lower else form


def _compound(word: str, lexicon: Lexicon, language: Language) -> str:
    """Write the parts of a compound as most compounds of the lexicon have them: `EU-led`, `non-Italian`.

    Other parts are capital: `Anglo-Saxon`, `Mar-a-Lago`, but Romanian `Într-o`. Of 15,132 compounds in the corpora of
    the English model that its lexicon lacks 75 % get the right form, and 56 % if every part is capital. After a single
    letter they are lower-case, as in 1,360 of the 1,539 such English compounds that the lexicon lacks (`K-pop`), unless
    nouns are capital.
    """
    first, others = _parts_of(lexicon)
    parts = word.split("-")
    written = []
    for i, part in enumerate(parts):
        plain = language.spelled(part)
        if plain in language.clitics or (0 < i < len(parts) - 1 and plain in language.linking):
            written.append(part)
        elif _INITIALS.fullmatch(part):
            written.append(upper(part))
        else:
            known = (others if i else first).get(part)
            letter = len(parts[0]) == 1 and not language.capital_nouns
            acronym = len(parts[0]) > 1 and written[:1] == [upper(parts[0])] and language.lower_after_acronyms
            if i == 1 and (letter or acronym):
                # Not as in other compounds: Dutch `Fractie` is usual in them because of names such as `PSE-Fractie`.
                written.append(known if known and known.isupper() else part)
            else:
                written.append(known or _inflected(part, lexicon, language) or _named(part, language))
    return "-".join(written)


@lru_cache(maxsize=2)
def _parts_of(lexicon: Lexicon) -> tuple[dict[str, str], dict[str, str]]:
    """The most frequent form of each first part of a compound, and of each other part; acronyms are either."""
    forms: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = {}, {}
    acronyms = {}
    for bare, form in lexicon.forms():
        if form.isupper():
            acronyms[bare] = form
        elif "-" in form:
            for i, part in enumerate(form.split("-")):
                forms[i > 0].setdefault(fold(part), Counter())[part] += 1
    first, others = ({bare: seen.most_common(1)[0][0] for bare, seen in table.items()} for table in forms)
    return acronyms | first, acronyms | others


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
    prefix = next((prefix for prefix in APOSTROPHE_PREFIXES if word.startswith(prefix)), "")
    if prefix and len(word) > len(prefix) + 1:
        return capital(prefix) + capital(word[len(prefix) :])
    if word.startswith(CLAN_PREFIX) and len(word) > 4:
        return "Mc" + capital(word[2:])
    return capital(word)
