"""`cappunc subtitle-edit`: install the plug-in, and answer a request.

The contract is docs/plugin.md of the repository SubtitleEdit/subtitleedit, apiVersion 1.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from bisect import bisect_right
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path, PurePath
from subprocess import list2cmdline
from typing import Any

import typer
from platformdirs import user_config_path

from cappunc_cli import formats
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput, CappuncError, UnknownFormat, WrongUsage
from cappunc_cli.features.subtitle_edit.options import InstallOptions, RunOptions, SubtitleEditOptions
from cappunc_cli.files.fixer import Fixed, Fixer
from cappunc_cli.files.output import Reporter, counted
from cappunc_cli.files.storage import about, errors_about, read_bytes, write_atomic
from cappunc_cli.serving.fixing import open_bytes, request_asked
from cappunc_cli.version import __version__

_API = 1
#: The name of the plug-in's folder and launchers, and of its format of last resort.
_NAME, _SUBRIP = "cappunc", "SubRip"
_EVENT = re.compile(r"^(?:Dialogue|Comment):", re.MULTILINE)


def subtitle_edit(context: typer.Context, _: SubtitleEditOptions) -> None:
    """Without a command there is nothing to do."""
    typer.echo(context.get_help(), err=True)
    raise typer.Exit(2)


def install(_: typer.Context, options: InstallOptions) -> None:
    """Write the folder of the plug-in; settings that are there stay. Raises CappuncError and OSError."""
    plugins = Path(options.folder) if options.folder is not None else _data_folder() / "Plugins"
    folder = plugins / _NAME
    folder.mkdir(parents=True, exist_ok=True)
    call = [sys.executable, "-P", "-m", "cappunc_cli", "subtitle-edit", "run", "--settings"]
    own = files(__package__)
    manifest = json.loads(own.joinpath("plugin.json").read_bytes()) | {"version": __version__}
    line = list2cmdline(call).replace("%", "%%")  # as cmd.exe reads it
    write_atomic(folder / "plugin.json", _dump(manifest))
    write_atomic(folder / "icon.png", own.joinpath("icon.png").read_bytes())
    write_atomic(folder / f"{_NAME}.cmd", f'@echo off\r\n{line} "%~dp0settings.json" %1\r\n'.encode())
    script = f'#!/bin/sh\nexec {shlex.join(call)} "$(dirname "$0")/settings.json" "$1"\n'
    write_atomic(folder / _NAME, script.encode("utf-8", "surrogateescape"))
    (folder / _NAME).chmod(0o755)
    asked = {"lang": options.lang} if options.lang != "auto" else {}
    if asked or options.fast or not (folder / "settings.json").exists():
        write_atomic(folder / "settings.json", _dump(asked | ({"fast": True} if options.fast else {})))
    Reporter().info(f"{folder}: installed; start Subtitle Edit again and open its menu Plugins")


def _data_folder() -> Path:
    """The data folder of Subtitle Edit. Raises CappuncError."""
    folder = user_config_path("Subtitle Edit", appauthor=False, roaming=True)
    if not folder.is_dir():
        hint = "name the folder Plugins in its data folder, which Ctrl+Alt+Shift+D opens in Subtitle Edit"
        raise CappuncError(f"Subtitle Edit has no data folder here; {hint}", str(folder))
    return folder


def run(_: typer.Context, options: RunOptions) -> None:
    """Write the response to a request: also of what is refused. Raises CappuncError for what is no request."""
    with errors_about(options.request):
        request = _loaded(options.request)
        subtitle, target = request.get("subtitle"), request.get("responseFilePath")
        is_ours = request.get("apiVersion") == _API
        if not (is_ours and isinstance(subtitle, dict) and isinstance(target, str) and target):
            raise BadInput(f"not a request of Subtitle Edit with apiVersion {_API}")
    known = {key: request[key] for key in ("settings", "settingsVersion") if request.get(key) is not None}
    name = PurePath(str(subtitle.get("fileName") or "subtitle").replace("\\", "/")).name
    try:
        settings = request.get("settings") or (_loaded(options.settings) if options.settings else {})
        answer = _answer(request, subtitle, settings, name)
    except (CappuncError, OSError) as error:
        answer = {"status": "error", "message": str(about(error, name))}
    except Exception as error:
        answer = {"status": "error", "message": f"{name}: nothing changed, this is a bug: {error!r}"}
    write_atomic(Path(target), _dump({"apiVersion": _API, **answer, **known}))


def _answer(
    request: Mapping[str, Any], subtitle: Mapping[str, Any], settings: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """The response with the new subtitle. Raises CappuncError."""
    if not isinstance(settings, dict):
        raise WrongUsage("settings must be an object with options of fix")
    rate = request.get("frameRate")
    own = {"fps": rate} if isinstance(rate, int | float) and not isinstance(rate, bool) and rate >= 1 else {}
    notes: list[str] = []
    fixer = Fixer(request_asked((own | settings).items()), notes.append)
    kind, text, rip = (subtitle.get(key) for key in ("format", "native", "subRip"))
    if not isinstance(text, str) or not isinstance(kind, str):
        raise BadInput("the request has no subtitle")
    try:
        opened = open_bytes(_bytes(text), name, fixer)
        is_known = opened.document.format != "txt"  # in which times would be words
    except CappuncError as error:
        if error.code != UnknownFormat.code:
            raise
        is_known = False
    if not is_known:
        if not isinstance(rip, str) or not rip.strip():
            raise BadInput(f"cappunc does not read the format {kind}")
        kind = _SUBRIP
        opened = open_bytes(_bytes(rip), "subtitle.srt", fixer)
        notes.append("its format is not one that cappunc reads, so it comes back as SubRip")
    with errors_about(name):
        new, selected = opened.restore(), request.get("selectedIndices") or []
        if selected:
            lines = _line_numbers(opened.document, rip)
            old = opened.document.texts
            new = [b if line in {*selected} else a for a, b, line in zip(old, new, lines, strict=True)]
        fixed: Fixed = opened.write(new)
    notes += [opened.note] if opened.note else []
    said = (
        f"{counted(fixed.words, 'word')}, {counted(fixed.marks, 'mark')} and {counted(fixed.capitals, 'capital')} set"
    )
    return {
        "status": "ok",
        "message": "; ".join([said, *notes]),
        "subtitle": {"format": kind, "native": fixed.data.decode()},
        "undoDescription": f"cappunc {__version__}",
    }


def _line_numbers(document: Document, rip: object) -> list[int]:
    """The number of each word's line in Subtitle Edit's grid, from 0. Raises CappuncError if that is not certain.

    Subtitle Edit writes each line of its grid as a cue; in ASS, comments are lines, too.
    """
    if document.format == "ass":
        starts = [found.start() for found in _EVENT.finditer(document.source)]
        numbers, count = [bisect_right(starts, word.at) - 1 for word in document.words], len(starts)
    else:
        numbers, count = [word.cue for word in document.words], len(getattr(document.detail, "cues", ()))
    shown = formats.read(rip, format="srt").detail if isinstance(rip, str) and rip.strip() else None
    if shown is None or len(shown.cues) != count:
        raise CappuncError("which lines are selected is not certain in this format; select no line, for all of them")
    return numbers


def _loaded(path: str) -> dict[str, Any]:
    """A JSON object in a file. Raises CappuncError and OSError."""
    try:
        found = json.loads(read_bytes(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {str(error).lower()}", path) from error
    if not isinstance(found, dict):
        raise BadInput("not a JSON object", path)
    return found


def _bytes(text: str) -> bytes:
    """A text as a file has it, so that it is read as `fix` reads files. Raises BadInput for half a character."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("has half a character, which cannot be written") from error


def _dump(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"
