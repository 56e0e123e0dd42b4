"""What a user may ask of a restoration."""

from __future__ import annotations

from dataclasses import dataclass, field

from cappunc_cli.errors import WrongUsage
from cappunc_cli.labels import MARKS, Around
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.chunks import check
from cappunc_cli.restoration.config import ModelConfig
from cappunc_cli.restoration.glossary import Glossary

EXISTING = ("auto", "keep", "replace")

QUOTES = frozenset((Around.OPEN_QUOTE, Around.CLOSE_QUOTE))
_EDITORS_CHOICE = QUOTES | {Around.OPEN_DASH}


@dataclass(frozen=True, slots=True)
class Options:
    """`marks` are the only ones to add (None: all of the model's but quotation marks and dashes
    of direct speech, which are an editor's choice and must be named); `sensitivity` goes from 0
    (hardly any mark) over 0.5 (as trained) to 1 (many); `existing` says what happens to the
    marks and case of the input; window, overlap and min_words_cut (words) replace the
    model's own; without `pauses` the times are not looked at. `language` is the code of the
    text's language where the model has several (None: the model's first); the terms of
    `glossary` are written as they are in it. `apart` decides marks and case each on their own, which
    only measures what deciding them together is worth. Raises WrongUsage.
    """

    marks: str | None = None
    sensitivity: float = 0.5
    existing: str = "auto"
    window: int | None = None
    overlap: int | None = None
    min_words_cut: int | None = None
    pauses: bool = True
    language: str | None = None
    glossary: Glossary = field(default_factory=Glossary)
    apart: bool = False

    def __post_init__(self) -> None:
        if self.marks is not None and (unknown := [m for m in self.marks if m not in (*MARKS, *Around)]):
            raise WrongUsage(f"unknown mark {unknown[0]!r}; the marks are {MARKS}{''.join(Around)}")
        if not 0 <= self.sensitivity <= 1:
            raise WrongUsage(f"the sensitivity goes from 0 to 1, not {self.sensitivity}")
        if self.existing not in EXISTING:
            raise WrongUsage(f"existing marks: use {', '.join(EXISTING)}, not {self.existing!r}")

    def conventions(self, config: ModelConfig) -> Language:
        """The conventions of the text's language."""
        return language(self.language or config.languages[0])

    def around(self, config: ModelConfig) -> frozenset[Around]:
        """The quotation marks and dashes that are asked for; one quote asks for both, `?` for its `¿`.

        Raises WrongUsage where the model does not restore them.
        """
        asked = {mark for mark in _EDITORS_CHOICE if mark in (self.marks or "")}
        if asked & QUOTES:
            asked |= QUOTES
        if missing := sorted(asked - set(config.around)):
            raise WrongUsage(f"the model {config.name} does not restore {str(missing[0])!r}")
        return frozenset(asked)

    def windows(self, config: ModelConfig) -> tuple[int, int, int]:
        """(window, overlap, min_words_cut); what is not asked for follows from what is. Raises WrongUsage."""
        window = config.window if self.window is None else self.window
        overlap = min(config.overlap, max(window, 1) // 2) if self.overlap is None else self.overlap
        cut = min(config.min_words_cut, overlap // 2) if self.min_words_cut is None else self.min_words_cut
        check(window, overlap, cut)
        return window, overlap, cut
