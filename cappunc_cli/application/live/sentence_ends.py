"""Where sentences end in live words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cappunc_cli.transcript.labels import TERMINAL, cached_strip

if TYPE_CHECKING:
    from cappunc_cli.languages import Language


def ends_sentence(text: str, language: Language) -> bool:
    """Whether a sentence ends with this word; the period of an abbreviation ends none."""
    bare, label = cached_strip(text)
    shortened = label.mark == "." and language.abbreviates(language.spelled(bare))
    return label.mark != "" and label.mark in TERMINAL and not shortened
