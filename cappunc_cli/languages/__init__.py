"""Conventions of languages: one data file for each, and word lists that apply to all.

To add a language, add a file with its conventions, and its name to the table below; no code anywhere else may test for
a language. A model may also be trained for a code without a file: `language` then returns default conventions.
"""

from __future__ import annotations

import re
from functools import cache

from cappunc_cli.errors import WrongUsage
from cappunc_cli.languages.language import Language, read_language

__all__ = ["CODE", "LANGUAGES", "UNSPACED", "Language", "code_of", "language"]

#: An ISO 639 language code, among `LANGUAGES` or not.
CODE = re.compile(r"[a-z]{2,3}")

#: The codes and English names of the languages with a data file.
LANGUAGES = {
    "ca": "Catalan", "de": "German", "en": "English", "es": "Spanish", "eu": "Basque", "fr": "French",
    "it": "Italian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "vi": "Vietnamese",
}  # fmt: skip

#: Languages written without spaces between words, whose words cannot be found by splitting at spaces.
UNSPACED = frozenset(("bo", "dz", "ja", "km", "lo", "my", "th", "zh"))
_CODES = {name.lower(): code for code, name in LANGUAGES.items()}


@cache
def language(code: str) -> Language:
    """The conventions of a language by its code; the defaults for a code without a file."""
    return read_language(code, LANGUAGES[code]) if code in LANGUAGES else Language(code, code)


def code_of(name: str) -> str:
    """The language code for `EN`, `en-US` or `English`, or `auto`; any other name is returned unchanged.

    Raises WrongUsage for an empty name, as from an unset shell variable.
    """
    plain = name.strip().lower()
    if not plain:
        raise WrongUsage("the name of the language is empty")
    code = _CODES.get(plain, re.split("[-_.]", plain)[0])
    return code if code == "auto" or CODE.fullmatch(code) else name


def codes_of(names: str) -> str:
    """The codes for one or several languages (`English,es`), joined by commas. Raises WrongUsage."""
    codes = list(dict.fromkeys(map(code_of, names.split(","))))
    if len(codes) > 1 and "auto" in codes:
        raise WrongUsage("auto stands alone; a list of languages limits what is detected")
    return ",".join(codes)
