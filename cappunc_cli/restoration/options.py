"""The options of restoration."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import NoneType
from typing import Annotated

from cappunc_cli.document.labels import MARKS, QUOTE_PAIR, PairedMark
from cappunc_cli.errors import WrongUsage
from cappunc_cli.languages import Language, language
from cappunc_cli.options import CHANGE, EXPERT, Option, described, require
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.terms import Glossary
from cappunc_cli.restoration.tuned import STYLES


def known_marks(marks: str) -> str:
    """The marks; raises ValueError if one of them is unknown."""
    if unknown := [mark for mark in marks if mark not in (*MARKS, *PairedMark)]:
        raise ValueError(f"may have only {MARKS}{''.join(PairedMark)}, not {unknown[0]!r}")
    return marks


Marks = Annotated[
    str | None,
    Option(
        f"Use only these: {MARKS}“”– (others become the nearest).",
        CHANGE,
        metavar="MARKS",
        check=known_marks,
        settable=True,
    ),
]
Sensitivity = Annotated[
    float, Option("0 adds few marks, 1 many.", CHANGE, metavar="0..1", least=0, most=1, settable=True)
]
Style = Annotated[
    str,
    Option("Commas: light, standard or heavy.", CHANGE, metavar="STYLE", choices=tuple(STYLES), settable=True),
]
Existing = Annotated[
    str,
    Option(
        "auto: add what is missing; keep: never remove; recheck: also correct; replace: start over.",
        CHANGE,
        metavar="HOW",
        choices=("auto", "keep", "recheck", "replace"),
        settable=True,
    ),
]
Pauses = Annotated[bool, Option("Ignore the pauses between words.", EXPERT, settable=True)]
Window = Annotated[int | None, Option("Number of words that the model reads at once.", EXPERT, least=1, settable=True)]
Overlap = Annotated[int | None, Option("Number of words that adjacent windows share.", EXPERT, least=0, settable=True)]
MinWordsCut = Annotated[
    int | None,
    Option("Last words of a window to take from the next one.", EXPERT, least=0, settable=True),
]


@dataclass(frozen=True, slots=True)
class Options:
    """How a text is restored.

    `marks`: the marks that may be added. None allows all that the model knows, except quotation marks and dashes of
    direct speech: house styles differ on them, so they must be named. `sensitivity`: 0 adds hardly any mark, 0.5 as
    many as in training, 1 many. `style`: light, standard or heavy use of commas. `existing`: what happens to the marks
    and case of the input (auto, keep, recheck, replace). `window`, `overlap` and `min_words_cut`, in words, override
    the model's own. `pauses`: whether time stamps are used. `language`: the code of the text's language, for a model
    of several languages (None: its first). `glossary`: terms that are written as given.

    Raises WrongUsage for invalid values.

    >>> words = [cappunc.Word(text) for text in "so are you coming to london".split()]
    >>> cappunc.restore(words, cappunc.load_model("en"), cappunc.Options(marks="."))
    ['So', 'are', 'you', 'coming', 'to', 'London.']
    """

    marks: Marks = None
    sensitivity: Sensitivity = 0.5
    style: Style = "standard"
    existing: Existing = "auto"
    pauses: Pauses = True
    window: Window = None
    overlap: Overlap = None
    min_words_cut: MinWordsCut = None
    language: str | None = None
    glossary: Glossary = field(default_factory=Glossary)

    def __post_init__(self) -> None:
        for name, option in described(Options).items():
            try:
                option.verify(getattr(self, name))
            except ValueError as error:
                raise WrongUsage(f"{name} {error}") from error
        require("language", self.language, (str, NoneType), "a str or None")
        require("glossary", self.glossary, Glossary, "a Glossary")

    def conventions(self, config: ModelConfig) -> Language:
        """The conventions of the text's language."""
        return language(self.language or config.languages[0])

    def paired_marks(self, config: ModelConfig) -> frozenset[PairedMark]:
        """The quotation marks and dashes to restore; naming one quotation mark asks for both.

        Raises WrongUsage if the model does not restore them.
        """
        asked = {mark for mark in (*QUOTE_PAIR, PairedMark.OPEN_DASH) if mark in (self.marks or "")}
        if asked & QUOTE_PAIR:
            asked |= QUOTE_PAIR
        if missing := sorted(asked - set(config.around)):
            raise WrongUsage(f"the model {config.name} does not restore {str(missing[0])!r}")
        return frozenset(asked)
