"""Options that several commands share, each described once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cappunc_cli.files.encodings import named_codec
from cappunc_cli.files.storage import is_url
from cappunc_cli.languages import LANGUAGES, codes_of
from cappunc_cli.options import CHANGE, EXPERT, FILES, MESSAGES, MODEL, OUTPUT, SPEED, Option, not_empty
from cappunc_cli.restoration.models.registry import ENGINES, NETWORK, installed
from cappunc_cli.restoration.options import Options


def languages_known() -> list[str]:
    """What a shell offers for a language."""
    return sorted(["auto", *LANGUAGES])


def models_known() -> list[str]:
    """What a shell offers for a model."""
    return sorted({directory.name for engine in ENGINES for directory in installed(engine)})


def path_of(name: str) -> str:
    """A path. Raises ValueError for URLs, and for "", because Path("") is the current directory."""
    if is_url(name):
        raise ValueError(f"{name} is a URL; name a file on a disk")
    return str(Path(not_empty(name)))


def page_of(name: str) -> str:
    """The name of an HTML page to write: `review --html talk.srt` must not overwrite the transcript."""
    if Path(not_empty(name)).suffix.lower() not in {".html", ".htm"}:
        raise ValueError(f"{name} is not the name of a page (.html)")
    return name


def report_of(name: str) -> str:
    """The name of a report to write."""
    if Path(name).suffix.lower() not in {".csv", ".json", ".html"}:
        raise ValueError(f"{name} does not end in .csv, .json or .html")
    return name


FormatName = Annotated[
    str | None,
    Option(
        "Format of the files (default: by content).",
        FILES,
        name="format",
        metavar="NAME",
        check="cappunc_cli.cli.usage:known_format",
        complete="cappunc_cli.formats:FORMATS",
        settable=True,
    ),
]
Output = Annotated[
    str | None, Option("Where to write; - is standard output.", FILES, short="o", metavar="FILE|DIR", check=not_empty)
]
Force = Annotated[bool, Option("Overwrite existing results.", FILES)]
Lang = Annotated[
    str,
    Option(
        "Language, or several (en,es); auto detects.",
        MODEL,
        metavar="CODE",
        check=codes_of,
        complete=languages_known,
        settable=True,
    ),
]
ModelName = Annotated[
    str | None,
    Option(
        "Model (default: by language); cappunc models lists them.",
        MODEL,
        metavar="NAME|DIR",
        check=not_empty,
        complete=models_known,
        settable=True,
    ),
]
Engine = Annotated[
    str,
    Option("ngram: 1 MB, much less accurate; gru: live captions.", EXPERT, choices=tuple(ENGINES), settable=True),
]
Device = Annotated[
    str,
    Option(
        "Where the model runs: auto, cpu or cuda[:N].",
        EXPERT,
        metavar="NAME",
        check="cappunc_cli.cli.usage:known_device",
        settable=True,
    ),
]
GlossaryFiles = Annotated[
    tuple[str, ...],
    Option(
        "Spell terms exactly as in this file; repeatable.",
        CHANGE,
        name="glossary",
        metavar="FILE",
        check=not_empty,
        settable=True,
    ),
]
Log = Annotated[
    str | None, Option("Write a JSON line for each file; - is stderr.", EXPERT, metavar="FILE", check=not_empty)
]
ReportFile = Annotated[
    str | None,
    Option("Write the faults of captions to FILE: .csv, .json or .html.", OUTPUT, metavar="FILE", check=report_of),
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a command reads."""

    files: Annotated[
        tuple[str, ...],
        Option("Files, directories, patterns, URLs (default: stdin).", FILES, metavar="FILES", argument=True),
    ] = ()
    files_from: Annotated[str | None, Option("Read the names of files from a list.", EXPERT, metavar="FILE|-")] = None
    nul: Annotated[bool, Option("--files-from is NUL-separated (find -print0).", EXPERT, name="null", short="0")] = (
        False
    )
    format_name: FormatName = None
    encoding: Annotated[
        str | None,
        Option(
            "Encoding, such as cp1250 (default: detect it).", EXPERT, metavar="NAME", check=named_codec, settable=True
        ),
    ] = None
    fps: Annotated[
        float | None,
        Option("Frame rate of new captions and of files in frames.", EXPERT, least=1, settable=True),
    ] = None


@dataclass(frozen=True, slots=True)
class OtherFiles:
    """Files that say more about the inputs: the marks of their words, and who speaks when."""

    marks_from: Annotated[
        str | None,
        Option("Copy marks and case from this text (or folder).", CHANGE, metavar="OTHER", check=not_empty),
    ] = None
    speakers_from: Annotated[
        str | None, Option("Read who speaks when: RTTM, or pyannote's JSON.", EXPERT, metavar="FILE", check=not_empty)
    ] = None

    def names(self) -> dict[str, str | None]:
        """The names, by option."""
        return {"marks_from": self.marks_from, "speakers_from": self.speakers_from}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model that a command uses."""

    lang: Lang = "auto"
    model: ModelName = None
    fast: Annotated[
        bool, Option("Use the language's fast model: less accurate.", SPEED, settable=True, negatable=True)
    ] = False
    device: Device = "auto"
    engine: Engine = NETWORK


@dataclass(frozen=True, slots=True)
class Messages:
    """What a command prints on standard error."""

    quiet: Annotated[bool, Option("Print only errors.", MESSAGES, short="q", settable=True)] = False
    verbose: Annotated[bool, Option("Print more detail.", MESSAGES, short="v", settable=True)] = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What `fix` changes, and how."""

    restoring: Options
    glossary: GlossaryFiles = ()
    attach: Annotated[bool, Option("Join separate marks (AWS …) to their words.", EXPERT, settable=True)] = False
    diacritics: Annotated[
        str,
        Option(
            "normalise: ş to ș; restore: add them.",
            CHANGE,
            metavar="HOW",
            choices=("keep", "normalise", "restore"),
            settable=True,
        ),
    ] = "keep"
    numbers: Annotated[bool, Option("Write clear English numbers in digits (25).", CHANGE, settable=True)] = False
    apostrophes: Annotated[bool, Option("Add missing English apostrophes (don't).", CHANGE, settable=True)] = False
    aliases: Annotated[bool, Option("Replace aliases (Term = alias) with their terms.", CHANGE, settable=True)] = False
