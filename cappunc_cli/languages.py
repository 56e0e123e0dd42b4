"""What a language adds to decoding; one table entry per language, no code elsewhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Conventions of one written language.

    `always_capital` are bare words that are never lower-case (`i'm`); `abbreviations` end in
    a period that ends no sentence when another word follows (`dr`, `vs`); `titles` among
    them are always followed by a name. `quotes` open and close a quotation.
    """

    code: str
    name: str
    marks: str = ",.?!:;—…"
    quotes: tuple[str, str] = ("“", "”")
    always_capital: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()


_ENGLISH_I = "i i'm i've i'd i'll i'ma i’m i’ve i’d i’ll"
_ENGLISH_TITLES = "mr mrs ms dr prof gen col lt sgt capt gov sen rep rev hon st messrs mt ft"
_ENGLISH_ABBREVIATIONS = (
    "vs jr sr inc ltd co corp no nos vol fig approx dept est etc ave blvd jan feb aug sept oct nov dec"
)

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language(
            "en",
            "English",
            always_capital=frozenset(_ENGLISH_I.split()),
            abbreviations=frozenset((_ENGLISH_TITLES + " " + _ENGLISH_ABBREVIATIONS).split()),
            titles=frozenset(_ENGLISH_TITLES.split()),
        ),
    )
}
