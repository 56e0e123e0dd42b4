"""The plug-in of Subtitle Edit 5, by the contract of its documentation (docs/plugin.md, apiVersion 1)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import SRT, TINY, Run, cappunc

from cappunc_cli import formats

CUES = ["hello anna", "then we went to london", "", "where is the cat", "i do not know"]


def clock(i: int, mark: str) -> str:
    return f"{i // 1200:02}:{i // 20 % 60:02}:{3 * i % 60:02}{mark}"


def srt(cues: list[str]) -> str:
    blocks = (f"{i + 1}\n{clock(i, ',000')} --> {clock(i, ',900')}\n{text}\n" for i, text in enumerate(cues))
    return "\n".join(blocks)


def vtt(cues: list[str]) -> str:
    return "WEBVTT\n\n" + "\n".join(
        f"{clock(i, '.000')} --> {clock(i, '.900')}\n{text}\n" for i, text in enumerate(cues)
    )


def ass(cues: list[str], comment: int | None = None) -> str:
    head = "[Script Info]\nScriptType: v4.00+\n\n[Events]\nFormat: Layer, Start, End, Style, Name, "
    lines = (
        f"{'Comment' if i == comment else 'Dialogue'}: 0,{clock(i, '.00')},{clock(i, '.90')},Default,,0,0,0,,{text}\n"
        for i, text in enumerate(cues)
    )
    return f"{head}MarginL, MarginR, MarginV, Effect, Text\n{''.join(lines)}"


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en", "en-fast"):
        shutil.copytree(TINY, tmp_path / "models" / name)
    monkeypatch.setenv("CAPPUNC_MODELS", str(tmp_path / "models"))


def request(folder: Path, native: str, rip: str, kind: str = "SubRip", name: str = "film.srt", **more: Any) -> Path:
    """A request as Subtitle Edit writes it; `more` replaces its members."""
    found = {
        "apiVersion": 1,
        "requestType": "run",
        "responseFilePath": str(folder / "response.json"),
        "tempDirectory": str(folder),
        "subtitle": {"format": kind, "fileName": f"C:\\videos\\{name}", "native": native, "subRip": rip},
        "selectedIndices": [],
        "videoFileName": "C:\\videos\\film.mkv",
        "frameRate": 23.976,
        "videoDurationSeconds": 1432.5,
        "videoWidth": 1920,
        "videoHeight": 1080,
        "uiLanguage": "English",
        "theme": "Dark",
        "themeColors": {"isDark": True, "backgroundColor": "#FF212121"},
        "seVersion": "5.0.0",
        "settings": None,
        "settingsVersion": None,
    }
    path = folder / "request.json"
    path.write_text(json.dumps({**found, **more}), "utf-8")
    return path


#: The members of a response by their documentation: what each must be.
MEMBERS: dict[str, Callable[[Any], bool]] = {
    "apiVersion": lambda value: value == 1,
    "status": lambda value: value in ("ok", "cancelled", "error"),
    "message": lambda value: isinstance(value, str) and "\n" not in value,
    "subtitle": lambda value: set(value) == {"format", "native"} and all(isinstance(x, str) for x in value.values()),
    "settings": lambda value: value is not None,  # what came comes back
    "settingsVersion": lambda value: isinstance(value, int),
    "undoDescription": lambda value: isinstance(value, str),
}


def answered(path: Path, *options: str) -> dict[str, Any]:
    """The response to a request, which fits the contract."""
    run = cappunc("subtitle-edit", "run", *options, path)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    found: dict[str, Any] = json.loads((path.parent / "response.json").read_bytes())
    assert found.keys() <= MEMBERS.keys()
    assert all(MEMBERS[name](value) for name, value in found.items())
    assert {"apiVersion", "status", "message"} <= found.keys()
    assert (found["status"] == "ok") == ("subtitle" in found)
    return found


def fixed(folder: Path, name: str, text: str, *options: str) -> Run:
    """What the command line makes of the same file."""
    (folder / name).write_bytes(text.encode())
    return cappunc("fix", *options, name, "-o", "-", cwd=folder)


KINDS = {
    "srt": (srt(CUES), "SubRip"),
    "crlf.srt": (srt(CUES).replace("\n", "\r\n"), "SubRip"),
    "bom.srt": ("\ufeff" + srt(CUES), "SubRip"),
    "long.srt": (srt([f"hello anna {i} then we went" for i in range(2000)]), "SubRip"),
    "ass": (ass(CUES), "Advanced Sub Station Alpha"),
    "styled.ass": (ass(["{\\an8}hello {\\i1}anna{\\i0}", *CUES]), "Advanced Sub Station Alpha"),
    "vtt": (vtt(CUES), "WebVTT"),
    "sub": (
        "{1}{1}23.976\n" + "".join(f"{{{90 * i}}}{{{90 * i + 60}}}{text}\n" for i, text in enumerate(CUES)),
        "MicroDVD",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_all_lines_are_those_of_fix(tmp_path: Path, name: str) -> None:
    text, kind = KINDS[name]
    name = name if "." in name else f"film.{name}"
    expected = fixed(tmp_path, name, text, "--fps", "23.976").stdout
    assert expected not in (b"", text.encode())
    found = answered(request(tmp_path, text, srt(CUES), kind, name))
    assert found["subtitle"] == {"format": kind, "native": expected.decode()}


@pytest.mark.parametrize(
    ("native", "kind", "name"),
    [(srt(CUES), "SubRip", "x.srt"), (vtt(CUES), "WebVTT", "x.vtt"), (ass(CUES), "Advanced Sub Station Alpha", "x.ass"),
     (ass(CUES, comment=0), "Advanced Sub Station Alpha", "x.ass")],
)  # fmt: skip
def test_only_selected_lines_change(tmp_path: Path, native: str, kind: str, name: str) -> None:
    whole = answered(request(tmp_path, native, srt(CUES), kind, name))["subtitle"]["native"].splitlines()
    found = answered(request(tmp_path, native, srt(CUES), kind, name, selectedIndices=[3]))["subtitle"]["native"]
    old = native.splitlines()
    [at] = [i for i, line in enumerate(old) if CUES[3] in line]
    # The others are context: the line is as it is in the whole.
    assert found.splitlines() == [*old[:at], whole[at], *old[at + 1 :]]
    assert whole[at] != old[at]


def test_lines_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    found = answered(request(tmp_path, srt(CUES), srt(CUES[:-1]), selectedIndices=[1]))
    assert found["status"] == "error"
    assert found["message"].startswith("film.srt: which lines are selected is not certain")


@pytest.mark.parametrize(
    "native", ["<?xml version='1.0'?><Un><Of>hello anna</Of></Un>", "@00:01 hello anna\n@00:04 and then"]
)
def test_a_format_of_subtitle_edit_alone_comes_back_as_subrip(tmp_path: Path, native: str) -> None:
    expected = fixed(tmp_path, "film.srt", srt(CUES)).stdout.decode()
    found = answered(request(tmp_path, native, srt(CUES), "Unheard Of", "film.unheard"))
    assert found["subtitle"] == {"format": "SubRip", "native": expected}
    assert "SubRip" in found["message"]


def test_settings_are_options_of_fix_and_come_back(tmp_path: Path) -> None:
    settings = {"lang": "en", "existing": "replace", "marks": "."}
    expected = fixed(tmp_path, "film.srt", SRT, "--lang", "en", "--existing", "replace", "--marks", ".").stdout.decode()
    found = answered(request(tmp_path, SRT, SRT, settings=settings, settingsVersion=3))
    assert (found["subtitle"]["native"], found["settings"], found["settingsVersion"]) == (expected, settings, 3)
    # Those of the installation count where Subtitle Edit has none.
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    found = answered(request(tmp_path, SRT, SRT), "--settings", str(tmp_path / "settings.json"))
    assert found["subtitle"]["native"] == expected
    assert "settings" not in found


def test_a_refusal_is_the_line_that_fix_prints(tmp_path: Path) -> None:
    broken = ass(CUES).replace("Effect, Text", "Effect")
    run = fixed(tmp_path, "film.ass", broken)
    found = answered(request(tmp_path, broken, srt(CUES), "Advanced Sub Station Alpha", "film.ass"))
    assert (found["status"], f"cappunc: {found['message']}\n") == ("error", run.stderr.decode())
    for settings, message in (
        ({"colour": 1}, "unknown option: colour"),
        ({"lang": "is"}, "no model for is "),
        ([1], "settings must"),
    ):
        found = answered(request(tmp_path, SRT, SRT, settings=settings))
        assert (found["status"], message in found["message"]) == ("error", True)
    found = answered(request(tmp_path, SRT, SRT, subtitle={"format": "SubRip", "native": "\ud83d"}))
    assert found["status"] == "error"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"apiVersion": 2}', '{"apiVersion": 1, "subtitle": {}}', "[" * 100_000]
)
def test_what_is_no_request_is_an_error_of_the_command(tmp_path: Path, text: str) -> None:
    (tmp_path / "request.json").write_text(text)
    run = cappunc("subtitle-edit", "run", tmp_path / "request.json")
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (1, b"", 1)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["request.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="the launcher of Windows is a script of cmd.exe")
def test_the_installed_plug_in_answers(tmp_path: Path) -> None:
    plugins = tmp_path / "Plug ins"
    assert cappunc("subtitle-edit", "install", plugins, "--lang", "en", "--fast").returncode == 0
    folder = plugins / "cappunc"
    manifest = json.loads((folder / "plugin.json").read_bytes())
    assert manifest["apiVersion"] == 1
    assert set(manifest["executables"]) == {"windows", "linux", "macos"}
    assert all((folder / name).is_file() for name in (*manifest["executables"].values(), manifest["icon"]))
    assert (folder / "icon.png").read_bytes().startswith(b"\x89PNG")
    path = request(tmp_path, SRT, SRT)
    launcher = folder / manifest["executables"]["linux"]
    assert os.access(launcher, os.X_OK)
    # As Subtitle Edit starts it: in the folder of the plug-in, with the request as its only argument.
    run = subprocess.run([launcher, path], cwd=folder, capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    found = json.loads((tmp_path / "response.json").read_bytes())
    assert found["subtitle"]["native"] == fixed(tmp_path, "talk.srt", SRT, "--lang", "en", "--fast").stdout.decode()
    # What was set stays when a newer version is installed.
    assert cappunc("subtitle-edit", "install", plugins).returncode == 0
    assert json.loads((folder / "settings.json").read_bytes()) == {"lang": "en", "fast": True}


def test_it_is_installed_where_subtitle_edit_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cappunc_cli.features.subtitle_edit.command.user_config_path", lambda *_, **__: tmp_path / "se")
    run = cappunc("subtitle-edit", "install")
    assert (run.returncode, b"name the folder Plugins" in run.stderr) == (1, True)
    (tmp_path / "se").mkdir()
    assert cappunc("subtitle-edit", "install").returncode == 0
    assert (tmp_path / "se/Plugins/cappunc/plugin.json").is_file()


def test_the_grid_of_the_tests_is_that_of_the_readers() -> None:
    """Subtitle Edit writes a cue for each line, empty ones too."""
    assert len(formats.read(srt(CUES)).detail.cues) == len(formats.read(vtt(CUES)).detail.cues) == len(CUES)
