"""Where sentences end, judged by one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cappunc_cli.document.labels import TERMINAL, Case, cached_strip

if TYPE_CHECKING:
    from cappunc_cli.languages import Language


def ends_sentence(text: str, language: Language) -> bool:
    """Whether a sentence ends with this word; the period of an abbreviation or initial ends none."""
    bare, label = cached_strip(text)
    shortened = label.mark == "." and language.shortens(language.spelled(bare), label.case is Case.CAPITAL)
    return label.mark != "" and label.mark in TERMINAL and not shortened
