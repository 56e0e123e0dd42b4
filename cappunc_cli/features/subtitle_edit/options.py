"""The options of `cappunc subtitle-edit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Lang
from cappunc_cli.options import FILES, SPEED, Option, not_empty


@dataclass(frozen=True, slots=True)
class SubtitleEditOptions:
    """Work as a plug-in of Subtitle Edit 5.

    \b
    cappunc subtitle-edit install           into Subtitle Edit's data folder
    cappunc subtitle-edit install DIR       into the folder Plugins that you name
    cappunc subtitle-edit run REQUEST       what Subtitle Edit calls
    """


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """Write the folder of the plug-in: manifest, launchers, icon and settings."""

    folder: Annotated[
        str | None,
        Option(
            "Folder Plugins of Subtitle Edit (default: its own).", FILES, metavar="DIR", argument=True, check=not_empty
        ),
    ] = None
    lang: Lang = "auto"
    fast: Annotated[bool, Option("Use the language's fast model: less accurate.", SPEED)] = False


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Answer a request of Subtitle Edit."""

    request: Annotated[str, Option("File of the request.", FILES, metavar="REQUEST", argument=True, check=not_empty)]
    settings: Annotated[
        str | None, Option("Options of fix, in JSON, for requests without any.", FILES, metavar="FILE")
    ] = None
