"""The options of restoration."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import NoneType

from cappunc_cli.document.labels import MARKS, QUOTE_PAIR, PairedMark
from cappunc_cli.errors import WrongUsage, require
from cappunc_cli.languages import Language, language
from cappunc_cli.restore.chunks import check
from cappunc_cli.restore.models.registry import ModelConfig, languages_with
from cappunc_cli.restore.terms import Glossary

EXISTING = ("auto", "keep", "replace")
#: Nats for or against every mark at either end of the sensitivity: e^6 = 400 times.
SENSITIVITY_NATS = 6.0
#: What each style adds to the score of a comma, in nats: a comma needs odds of about 2:1 with light, 1:2 with heavy.
STYLES = {"light": -0.8, "standard": 0.0, "heavy": 0.8}

_ONLY_IF_NAMED = QUOTE_PAIR | {PairedMark.OPEN_DASH}


@dataclass(frozen=True, slots=True)
class Options:
    """How a text is restored.

    `marks`: the marks that may be added; None means all that the model knows except quotation marks and dashes of
    direct speech, which are a matter of house style and must be named. `sensitivity`: from 0 (hardly any mark) over
    0.5 (as trained) to 1 (many). `style`: that of commas (light, standard, heavy), on which house styles differ most.
    `existing`: what happens to the marks and case of the input (auto, keep, replace). `window`, `overlap` and
    `min_words_cut`, in words, override the model's own. `pauses`: whether timestamps are used. `language`: the code of
    the text's language for a model of several (None: its first). `glossary`: terms that are written as given. `apart`
    decides marks and case independently, to measure what deciding them together is worth.

    Raises WrongUsage for invalid values.

    >>> words = [cappunc.Word(text) for text in "so are you coming to london".split()]
    >>> cappunc.restore(words, cappunc.load_model("en"), cappunc.Options(marks="."))
    ['So', 'are', 'you', 'coming', 'to', 'London.']
    """

    marks: str | None = None
    sensitivity: float = 0.5
    style: str = "standard"
    existing: str = "auto"
    window: int | None = None
    overlap: int | None = None
    min_words_cut: int | None = None
    pauses: bool = True
    language: str | None = None
    glossary: Glossary = field(default_factory=Glossary)
    apart: bool = False

    def __post_init__(self) -> None:
        for name in ("pauses", "apart"):
            require(name, getattr(self, name), bool, "True or False")
        for name in ("style", "existing"):
            require(name, getattr(self, name), str, "a str")
        for name in ("marks", "language"):
            require(name, getattr(self, name), (str, NoneType), "a str or None")
        require("glossary", self.glossary, Glossary, "a Glossary")
        if self.marks is not None and (unknown := [m for m in self.marks if m not in (*MARKS, *PairedMark)]):
            raise WrongUsage(f"unknown mark {unknown[0]!r}; the marks are {MARKS}{''.join(PairedMark)}")
        is_number = isinstance(self.sensitivity, int | float) and not isinstance(self.sensitivity, bool)
        if not is_number or not 0 <= self.sensitivity <= 1:
            raise WrongUsage(f"the sensitivity must be between 0 and 1, not {self.sensitivity!r}")
        if self.style not in STYLES:
            raise WrongUsage(f"the style of commas must be one of {', '.join(STYLES)}, not {self.style!r}")
        if self.existing not in EXISTING:
            raise WrongUsage(f"existing marks: must be one of {', '.join(EXISTING)}, not {self.existing!r}")
        for words in (self.window, self.overlap, self.min_words_cut):
            if words is not None and (isinstance(words, bool) or not isinstance(words, int)):
                raise WrongUsage(f"window, overlap and min_words_cut must be whole numbers, not {words!r}")

    def conventions(self, config: ModelConfig) -> Language:
        """The conventions of the text's language."""
        return language(self.language or config.languages[0])

    def paired_marks(self, config: ModelConfig) -> frozenset[PairedMark]:
        """The quotation marks and dashes to restore; naming one quotation mark asks for both.

        Raises WrongUsage if the model does not restore them.
        """
        asked = {mark for mark in _ONLY_IF_NAMED if mark in (self.marks or "")}
        if asked & QUOTE_PAIR:
            asked |= QUOTE_PAIR
        if missing := sorted(asked - set(config.around)):
            others = ", ".join(languages_with(missing[0]))
            hint = f"; models for {others} do" if others else ""
            raise WrongUsage(f"the model {config.name} does not restore {str(missing[0])!r}{hint}")
        return frozenset(asked)

    def windows(self, config: ModelConfig) -> tuple[int, int, int]:
        """(window, overlap, min_words_cut), with defaults scaled to the sizes that are given; raises WrongUsage."""
        window = config.window if self.window is None else self.window
        overlap = min(config.overlap, max(window, 1) // 2) if self.overlap is None else self.overlap
        cut = self.min_words_cut
        if cut is None:
            cut = overlap * config.min_words_cut // max(config.overlap, 1)
        check(window, overlap, cut)
        return window, overlap, cut
