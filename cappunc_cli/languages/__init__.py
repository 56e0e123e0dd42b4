"""Conventions of languages: one data file for each, CODE.toml in this folder, and word lists that apply to all.

To add a language, add a file with the fields of `Language` that differ, and its name to the table below; no code
anywhere else may test for a language. A model may also be trained for a code without a file: `language` then returns
default conventions. In a file, a set of words is a text with spaces between them, or a list if some have spaces
themselves. `titles` and `dotted` words (abbreviations that are never in upper case) need not be listed again among the
abbreviations.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain
from pathlib import Path
from unicodedata import is_normalized, normalize

from cappunc_cli.errors import WrongUsage

#: An ISO 639 language code, among `LANGUAGES` or not.
CODE = re.compile(r"[a-z]{2,3}")

#: The codes and English names of the languages with a data file.
LANGUAGES = {
    "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "et": "Estonian", "eu": "Basque", "fi": "Finnish", "fr": "French", "gl": "Galician",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "lt": "Lithuanian", "lv": "Latvian",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovene", "sr": "Serbian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian",
    "vi": "Vietnamese",
}  # fmt: skip

#: Codes of languages or varieties whose texts are treated as a language with a data file.
VARIETIES = {"bs": "hr", "grc": "el", "ms": "id", "nn": "nb", "no": "nb"}

#: Languages written without spaces between words, whose words cannot be found by splitting at spaces.
UNSPACED = frozenset(("bo", "dz", "ja", "km", "lo", "my", "th", "zh"))
_CODES = {name.lower(): code for code, name in LANGUAGES.items()}

#: Maps typographic apostrophes and hyphens to the ASCII ones that word lists and vocabularies use.
TYPEWRITER = str.maketrans("’‐‑", "'--")

#: `ph.d`, `ed.d`, `pharm.d`
DEGREE = re.compile(r"[^\W\d_]{2,5}\.[^\W\d_]")

#: `report.docx`: the case of a file's name is its author's choice. Left out are `.js`, `.io` and `.net`, which end the
#: names of programs (`Node.js`).
FILE_NAME = re.compile(
    r"[^\W_][\w-]+\.(?:docx?|odt|pdf|txt|md|tex|xlsx?|ods|csv|tsv|pptx?|json|xml|ya?ml|html?|css|ini|log|py|cpp|java|ipynb"
    r"|sql|bat|exe|zip|gz|tar|jpe?g|png|gif|svg|tiff?|mp[34]|wav|flac|avi|mov|mkv|srt|vtt)"
)

_ROMAN = re.compile(r"[ivxlcdm]+")
_APOSTROPHE = re.compile("['’]")


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """Conventions of one written language; all its words are bare (lower case, NFC, `'`).

    A text is read with the characters of `read_as` for those that mean something else in this language than in others:
    the Greek question mark `;`, the Turkish pairs of cases `İ` `i` and `I` `ı`. Nothing is lost and no length changes,
    so that `written` is the inverse of `read`. Labels, models, lexicons and the words below know only what is read.

    `opening` are the marks that open what `?` and `!` close, in this order. `quotes` open and close a quotation; with
    `quoted_stops` a comma or period goes inside the closing quote, as in English (`?` and `!` go where the question
    is). `spaced` marks take a no-break space before them, as in French.

    `always_capital` words are capital everywhere (`i'm`, Spanish `Sr.`), `always_lower` words never (`p.m.`), and
    `never_upper` abbreviations at most in their first letter (Dutch `d.w.z.`). `forms` maps abbreviations, and always
    units, to the one way in which they are written (German `z.B.`, Vietnamese `PGS`, `kWh`), `eras` those that are
    written so after a year or a century only (Spanish `44 a.C.`, but `Washington D.C.`; Polish `XX w.`). Beside one of
    the words for `centuries` a Roman numeral is capital (`siglo XX`), and their abbreviations are lower-case there
    (`s. XX`).
    `initialisms` are those of two letters that are capital if a recogniser writes them as two words (`u s`). The
    period of `abbreviations` ends no sentence when another word follows (`dr`, `vs`); `titles`, a subset of them,
    are always followed by a name; with `lower_titles` they are lower-case within a sentence. With
    `ordinals`, neither does the period of a number (`XX. mendea`); `ordinal_endings` stay lower-case after a Roman one
    (French `XIXe`).

    `clitics` stay lower-case beside the hyphen of a capital word (`Într-o`, not `Într-O`) and, with
    `inflects_acronyms`, after an acronym without one (Basque `EHUko`), `elisions` before the
    apostrophe of a name within a sentence (`l'Ukraine`), `linking` words between two parts of a compound
    (`Mar-a-Lago`), other words after a single letter (`K-pop`; not with `capital_nouns`, as in German `U-Bahn`) and,
    with `lower_after_acronyms`, after an acronym (Dutch `CDA-fractie`). The letters of a `digraph` are capital together
    (Dutch `IJsland`). `letters` maps other encodings of a letter to the usual one. `diacritics` are the letters that
    text typed without them lacks. `frequent` words make up about every fourth word of speech in this language, and
    hardly any of another's. It is written in one of `scripts`, the first words of Unicode's names of letters. `near`
    languages are taken for it, and it for them; `telling` words are in none of these. `fillers` are sounds of
    hesitation that are no words, `regions` those that editors ask for by name, with the same conventions. `stl` is its
    code in EBU STL (appendix of Tech 3264), and `captions` has what is different in the limits of a published
    guideline, by its name.
    `numbers` and `apostrophes` are for the spelling options; en.toml describes their sets.

    Line breaks follow the Netflix Timed Text Style Guide: a line best begins with one of the conjunctions,
    prepositions and relative pronouns in `begin_lines`, and ends with none of them; `never_last` are other words that
    belong to the next one (articles, auxiliaries, negations, subject pronouns), `never_first` words that belong to the
    previous one. These are closed classes only; without them lines break by marks and length.
    """

    code: str
    name: str
    read_as: Mapping[str, str] = field(default_factory=dict)
    marks: str = ",.?!:;—…"
    opening: str = ""
    quotes: tuple[str, str] = ("“", "”")
    quoted_stops: bool = False
    spaced: str = ""
    always_capital: frozenset[str] = frozenset()
    always_lower: frozenset[str] = frozenset()
    never_upper: frozenset[str] = frozenset()
    forms: Mapping[str, str] = field(default_factory=dict)
    eras: Mapping[str, str] = field(default_factory=dict)
    centuries: frozenset[str] = frozenset()
    initialisms: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    lower_titles: bool = False
    ordinals: bool = False
    ordinal_endings: frozenset[str] = frozenset()
    clitics: frozenset[str] = frozenset()
    inflects_acronyms: bool = False
    elisions: frozenset[str] = frozenset()
    lower_after_acronyms: bool = False
    capital_nouns: bool = False
    digraph: str = ""
    linking: frozenset[str] = frozenset()
    letters: Mapping[str, str] = field(default_factory=dict)
    diacritics: str = ""
    frequent: frozenset[str] = frozenset()
    begin_lines: frozenset[str] = frozenset()
    never_last: frozenset[str] = frozenset()
    never_first: frozenset[str] = frozenset()
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    apostrophes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    scripts: frozenset[str] = frozenset(("LATIN",))
    near: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()
    stl: str = "00"
    regions: str = ""
    captions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", {**UNIT_FORMS, **self.forms})

    def read(self, text: str) -> str:
        """A text of this language with the characters by which labels and models know its marks and cases."""
        return _replaced(text, self.read_as) if self.read_as else text

    def written(self, text: str) -> str:
        """The inverse of `read`."""
        return _replaced(text, {new: old for old, new in self.read_as.items()}) if self.read_as else text

    def spelled(self, word: str) -> str:
        """Normalise a word for look-up: NFC, one encoding per letter, ASCII apostrophe and hyphen."""
        if word.isascii():
            return word
        if not is_normalized("NFC", word):
            word = normalize("NFC", word)
        for other, letter in self.letters.items():
            word = word.replace(other, letter)
        return word.translate(TYPEWRITER)

    def elided(self, word: str) -> int:
        """The length of the elision that a word begins with, its apostrophe included: 2 for `l'Ukraine`, or 0."""
        apostrophe = _APOSTROPHE.search(word)
        return apostrophe.end() if apostrophe and word[: apostrophe.start()].lower() in self.elisions else 0

    def is_quoted(self, mark: str) -> bool:
        """Whether a mark beside a closing quote goes inside it, as far as the mark alone decides."""
        return self.quoted_stops if mark in (",", ".") else mark not in (";", ":")

    def abbreviates(self, bare: str) -> bool:
        """Whether a period after this word, normalised by `spelled`, may be part of an abbreviation or ordinal."""
        if bare in self.abbreviations or bare[self.elided(bare) :] in self.abbreviations:
            return True
        return self.ordinals and is_number(bare)

    def shortens(self, bare: str, is_capital: bool) -> bool:
        """Whether a period after this word, normalised by `spelled`, belongs to it as in `abbreviates`, to part of an
        abbreviation with spaces (`z. B.`), or to an initial (`George W. Bush`).
        """
        if bare in self.always_capital and bare not in self.abbreviations:
            return False  # `It was I.`
        if self.abbreviates(bare) or (is_capital and len(bare) == 1):
            return True
        lists = self.abbreviations, self.always_lower
        return any(bare in dotted.rstrip(".").split(".") for dotted in chain(*lists))


def is_number(bare: str) -> bool:
    """Whether a bare word is a number, in digits or Roman."""
    return bare.isdecimal() or _ROMAN.fullmatch(bare) is not None


def written_forms(forms: str) -> dict[str, str]:
    """The bare words of these forms, and the forms."""
    return {form.lower(): form for form in forms.split()}


#: Units of measure; their form is the same in every language. Units that may be other words are left out (`mW`, `kV`).
UNIT_FORMS = written_forms("kWh MWh GWh TWh kHz MHz GHz Mbit/s Gbit/s kJ/mol")


def _replaced(text: str, characters: Mapping[str, str]) -> str:
    """A text with other characters; the first that fits counts."""
    return re.sub("|".join(map(re.escape, characters)), lambda found: characters[found[0]], text)


@cache
def language(code: str) -> Language:
    """The conventions of a language by its code; the defaults for a code without a file."""
    if code not in LANGUAGES:
        return Language(code, code)
    text = Path(__file__).with_name(f"{code}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    if read_as := table.get("read_as"):  # at the end of the file, whose words are read so, too
        table = {**tomllib.loads(_replaced(text.partition("[read_as]")[0], read_as)), "read_as": read_as}
    dotted, titles = _set(table.pop("dotted", "")), _set(table.get("titles", ""))
    table["abbreviations"] = _set(table["abbreviations"]) | dotted | titles
    table["never_upper"] = _set(table.get("never_upper", "")) | dotted
    for field_ in fields(Language):
        if field_.name in ("forms", "eras") and field_.name in table:
            table[field_.name] = written_forms(table[field_.name])
        elif field_.type == "frozenset[str]" and field_.name in table:
            table[field_.name] = _set(table[field_.name])
    if "quotes" in table:
        table["quotes"] = tuple(table["quotes"])
    for group in ("numbers", "apostrophes"):
        table[group] = {key: _set(words) for key, words in table.get(group, {}).items()}
    return Language(code, LANGUAGES[code], **table)


def _set(words: str | list[str] | frozenset[str]) -> frozenset[str]:
    return frozenset(words.split() if isinstance(words, str) else words)


def code_of(name: str) -> str:
    """The language code for `EN`, `en-US` or `English`, or `auto`; any other name is returned unchanged.

    Raises WrongUsage for an empty name, as from an unset shell variable.
    """
    plain = name.strip().lower()
    if not plain:
        raise WrongUsage("the name of the language is empty")
    code = _CODES.get(plain, re.split("[-_.]", plain)[0])
    code = VARIETIES.get(code, code)
    return code if code == "auto" or CODE.fullmatch(code) else name


def codes_of(names: str) -> str:
    """The codes for one or several languages (`English,es`), joined by commas. Raises WrongUsage."""
    codes = list(dict.fromkeys(map(code_of, names.split(","))))
    if len(codes) > 1 and "auto" in codes:
        raise WrongUsage("auto stands alone; a list of languages limits what is detected")
    return ",".join(codes)
