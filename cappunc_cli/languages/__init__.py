"""Conventions of languages: one file of data each, and what holds in all of them.

To add a language: a file here with its LANGUAGE, and its name in the table below. No `if` on a language anywhere
else. A model may also be trained for a code that has no file; `language` then gives the plain conventions.
"""

from __future__ import annotations

from cappunc_cli.languages import ca, de, en, es, eu, fr, it, nl, pl, pt, ro, vi
from cappunc_cli.languages.language import Language

__all__ = ["LANGUAGES", "UNSPACED", "Language", "language"]

LANGUAGES: dict[str, Language] = {
    file.LANGUAGE.code: file.LANGUAGE for file in (ca, de, en, es, eu, fr, it, nl, pl, pt, ro, vi)
}

#: Languages whose words no spaces part: what has no word marks in a file can be given none back.
UNSPACED = frozenset(("bo", "dz", "ja", "km", "lo", "my", "th", "zh"))


def language(code: str) -> Language:
    """The conventions of a language by its code; the plain ones for a language without an entry."""
    return LANGUAGES.get(code) or Language(code, code)
