"""The options that `stream` and the server share: how live words are restored, and who may connect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Device, Engine, GlossaryFiles, ModelName, languages_known
from cappunc_cli.languages import code_of
from cappunc_cli.options import EXPERT, MODEL, SPEED, Option
from cappunc_cli.restoration.models.registry import NETWORK
from cappunc_cli.restoration.options import Marks, Pauses, Sensitivity, Style
from cappunc_cli.restoration.tuned import LOOK_AHEAD

Origins = Annotated[
    tuple[str, ...], Option("Web page that may connect, such as https://example.org.", EXPERT, metavar="URL")
]
Hosts = Annotated[tuple[str, ...], Option("Name by which clients may reach this server.", EXPERT, metavar="NAME")]


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How live words are restored."""

    look_ahead: Annotated[int, Option("Words to wait for before writing one.", SPEED, least=0, settable=True)] = (
        LOOK_AHEAD
    )
    max_delay: Annotated[
        float | None,
        Option("Longest time that a word may wait.", SPEED, metavar="SECONDS", least=0, most=86_400, settable=True),
    ] = None
    every: Annotated[
        int, Option("Write N words at once: less work, more delay.", SPEED, least=1, most=64, settable=True)
    ] = 1
    lang: Annotated[
        str | None,
        Option(
            "Language of the words (default: the model's, or en).",
            MODEL,
            metavar="CODE",
            check=code_of,
            complete=languages_known,
            settable=True,
        ),
    ] = None
    model: ModelName = None
    engine: Engine = NETWORK
    device: Device = "auto"
    marks: Marks = None
    sensitivity: Sensitivity = 0.5
    style: Style = "standard"
    glossary: GlossaryFiles = ()
    pauses: Pauses = True
