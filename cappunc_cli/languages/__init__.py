"""Conventions of languages: one data file for each, and word lists that apply to all.

To add a language, add a file with its LANGUAGE and name it in the table below; no code anywhere else may test for a
language. A model may also be trained for a code without a file: `language` then returns default conventions.
"""

from __future__ import annotations

from cappunc_cli.languages import ca, de, en, es, eu, fr, it, nl, pl, pt, ro, vi
from cappunc_cli.languages.language import Language

__all__ = ["LANGUAGES", "UNSPACED", "Language", "language"]

LANGUAGES: dict[str, Language] = {
    file.LANGUAGE.code: file.LANGUAGE for file in (ca, de, en, es, eu, fr, it, nl, pl, pt, ro, vi)
}

#: Languages written without spaces between words, whose words cannot be found by splitting at spaces.
UNSPACED = frozenset(("bo", "dz", "ja", "km", "lo", "my", "th", "zh"))


def language(code: str) -> Language:
    """The conventions of a language by its code; the defaults for a code without an entry."""
    return LANGUAGES.get(code) or Language(code, code)
