"""What a language adds to reading and decoding: the fields of its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from unicodedata import is_normalized, normalize

from cappunc_cli.languages.spelling_words import ApostropheWords, NumberWords

#: Apostrophe and hyphens of typesetters, as tables and vocabularies have them.
TYPEWRITER = str.maketrans("’‐‑", "'--")

_ROMAN = re.compile(r"[ivxlcdm]+")


@dataclass(frozen=True, slots=True)
class Language:
    """Conventions of one written language; all words in it are bare (lower case, NFC, `'`).

    `opening` are the marks that open what `?` and `!` close, in their order. `quotes` open and
    close a quotation; with `quoted_stops` they enclose the comma or period beside them, as
    English has it (question and exclamation marks go by what they ask). `spaced` marks stand behind a no-break space,
    as French has them. `always_capital` words
    are capital wherever they stand (`i'm`, Spanish `Sr.`), `always_lower` ones are lower-case
    (`e.g.`); `abbreviations` end in a period that ends no sentence when
    another word follows (`dr`, `vs`); `titles` among
    them are always followed by a name. With `ordinals` the period of a number (`XX. mendea`)
    ends none either. `clitics` stay lower-case beside the hyphen of a capital word
    (`Într-o`, not `Într-O`), `linking` words between two of them (`Mar-a-Lago`). `letters` are
    other codes of the language's letters. `diacritics` are those that text typed without them lacks.
    `latin` says that it is written in Latin letters. `frequent` words make up every fourth word or so of its speech and
    hardly one of another language's. `numbers` and `apostrophes` are what spelling may change where that is asked for.

    Where a line may break (Netflix Timed Text Style Guide): best before the conjunctions, prepositions and
    relative pronouns of `begin_lines`, which end none; `never_last` are the other words that are bound to the next
    one (articles, auxiliaries, negations, subject pronouns), `never_first` those bound to the one before. Closed
    classes alone; without them a line breaks by marks and length.
    """

    code: str
    name: str
    marks: str = ",.?!:;—…"
    opening: str = ""
    quotes: tuple[str, str] = ("“", "”")
    quoted_stops: bool = False
    spaced: str = ""
    always_capital: frozenset[str] = frozenset()
    always_lower: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    ordinals: bool = False
    clitics: frozenset[str] = frozenset()
    linking: frozenset[str] = frozenset()
    letters: Mapping[str, str] = field(default_factory=dict)
    diacritics: str = ""
    latin: bool = True
    frequent: frozenset[str] = frozenset()
    begin_lines: frozenset[str] = frozenset()
    never_last: frozenset[str] = frozenset()
    never_first: frozenset[str] = frozenset()
    numbers: NumberWords | None = None
    apostrophes: ApostropheWords | None = None

    def spelled(self, word: str) -> str:
        """A word as tables and models know it: NFC, one code per letter, the typewriter's apostrophe and hyphen."""
        if word.isascii():
            return word
        if not is_normalized("NFC", word):
            word = normalize("NFC", word)
        for other, letter in self.letters.items():
            word = word.replace(other, letter)
        return word.translate(TYPEWRITER)

    def abbreviates(self, bare: str) -> bool:
        """Whether a period after this word, spelled as above, ends no sentence."""
        if bare in self.abbreviations:
            return True
        return self.ordinals and (bare.isdecimal() or _ROMAN.fullmatch(bare) is not None)


def words(*lines: str) -> frozenset[str]:
    """The words of some lines."""
    return frozenset(" ".join(lines).split())
