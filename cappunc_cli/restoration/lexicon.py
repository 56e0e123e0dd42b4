"""How words are written elsewhere: the forms of words with their counts, from a model's lexicon.txt."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import NamedTuple

from cappunc_cli.document.labels import fold, upper
from cappunc_cli.errors import BadModel

#: A word of which this share is in upper case is an acronym, and has no mixed-case form.
_SURE = 0.9
#: How often an unlisted Roman numeral counts as seen in upper case: `xxvii`, but not `mix`.
_NUMERAL, _NUMERAL_COUNT = re.compile(r"(?=...)x{0,3}(?:i[xv]|v?i{0,3})"), 8
_POSSESSIVE = re.compile(r"['’][sS]\Z")
#: The counts of a word, and its form in mixed case.
_COUNTS = re.compile(r"(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})\t(\S+))?)?)?")


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


class Lexicon(Mapping[str, str]):
    """The words of one language in a lexicon; as a mapping, bare words to their acronyms and mixed-case forms.

    `shares` are those of the four cases among all words within sentences, empty if it has no counts.
    """

    # By identity, for caches.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

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

    def __getitem__(self, bare: str) -> str:
        if bare not in self._lines and (stem := without_possessive(bare)) != bare:
            return self[stem] + bare[len(stem) :]
        line = self._lines[bare]
        if not _COUNTS.fullmatch(line):
            return line
        counts = self.counts(bare) or FormCounts()
        form = upper(bare) if counts.upper >= _SURE * sum(counts[:4]) else counts.form
        if not form:
            raise KeyError(bare)
        return form

    def __contains__(self, bare: object) -> bool:
        return isinstance(bare, str) and self.get(bare) is not None

    def __iter__(self) -> Iterator[str]:
        return (bare for bare, _ in self.forms())

    def forms(self) -> Iterator[tuple[str, str]]:
        """The items, each looked up once."""
        return ((bare, form) for bare in self._lines if (form := self.get(bare)) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Lexicons(Mapping[str, Lexicon]):
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
