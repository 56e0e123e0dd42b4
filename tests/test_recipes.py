"""Every recipe of docs/recipes.md, run as it stands, with stand-ins for what cannot run here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from commands import SRT, TINY, WORDS

import cappunc_cli as cappunc

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/recipes.md"
if not PAGE.is_file():
    pytest.skip("only in a checkout", allow_module_level=True)
PARTS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))

#: What stands in for a program: it checks its arguments and writes what the program was seen to write.
STAND_IN = """#!{python}
import shutil, sys
expected, source, target = {expected!r}, {source!r}, {target!r}
if sys.argv[1:] != expected:
    sys.exit(f"{{sys.argv[1:]}} is not {{expected}}")
shutil.copy(source, target)
"""
SAVED = {"whisper-cli": "whispercpp", "whisperx": "whisperx", "stable-ts": "stable-ts", "vosk-transcriber": "vosk"}


def blocks(title: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PARTS[title], re.DOTALL)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the recipes begin with, and English restored by the model of a few KB."""
    for name in ("en", "en-fast"):
        shutil.copytree(TINY, tmp_path / "models" / name)
    (tmp_path / "talk.wav").write_bytes(b"RIFF")
    for name in ("talk.srt", "in/a.srt", "media/films/a.srt", "subtitles/a.srt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SRT, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAPPUNC_MODELS", str(tmp_path / "models"))
    scripts = tmp_path / "bin"
    scripts.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join((str(scripts), str(Path(sys.executable).parent), os.environ["PATH"])))
    return tmp_path


def stand_in(desk: Path, call: str, source: Path, target: str) -> None:
    name, *expected = call.split()
    path = desk / "bin" / name
    path.write_text(STAND_IN.format(python=sys.executable, expected=expected, source=str(source), target=target))
    path.chmod(0o755)


def shell(text: str, code: int = 0) -> None:
    if sys.platform == "win32":
        pytest.skip("a shell of POSIX")
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", text], capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr


def spoken(path: str | Path) -> str:
    return " ".join(cappunc.read(Path(path)).texts)


@pytest.mark.parametrize("title", ["whisper.cpp", "WhisperX", "stable-ts", "vosk"])
def test_recognisers(desk: Path, title: str) -> None:
    [text] = blocks(title, "bash")
    program, *_ = text.split()
    source = next(
        path for path in sorted((ROOT / "fixtures/json" / SAVED[program]).iterdir()) if ".fixed" not in path.name
    )
    stand_in(desk, text.splitlines()[0], source, "talk.json")
    shell(text)
    result = text.split()[-1]
    heard, shown = spoken(source), spoken(result)
    # The same words, now with marks or capitals of their own.
    assert re.sub(r"\W", "", shown).lower() == re.sub(r"\W", "", heard).lower()
    assert re.search(r"[A-Z].*[.,?]", shown)


def module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        found = ModuleType(".".join(parts[:i]))
        monkeypatch.setitem(sys.modules, found.__name__, found)
    vars(found).update(members)


def ran(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(text, "recipes.md", "exec"), {})
    return capsys.readouterr().out.strip()


@pytest.mark.usefixtures("desk")
def test_faster_whisper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = [SimpleNamespace(word=f" {word}", start=i / 2, end=i / 2 + 0.4) for i, word in enumerate(WORDS.split())]
    heard = SimpleNamespace(transcribe=lambda *_, **__: (iter([SimpleNamespace(words=words)]), None))
    module(monkeypatch, "faster_whisper", WhisperModel=lambda _: heard)
    expected = "".join(cappunc.restore_words(words, language="en")).strip()
    assert ran(blocks("faster-whisper", "python")[0], capsys) == expected != WORDS


@pytest.mark.usefixtures("desk")
def test_nemo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = [{"word": word, "start": i / 2, "end": i / 2 + 0.4} for i, word in enumerate(WORDS.split())]
    heard = SimpleNamespace(transcribe=lambda *_, **__: [SimpleNamespace(timestamp={"word": words})])
    module(monkeypatch, "nemo.collections.asr.models", ASRModel=SimpleNamespace(from_pretrained=lambda _: heard))
    assert ran(blocks("NeMo", "python")[0], capsys).lower() != WORDS


def test_pysubs2(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pysubs2")
    ran(blocks("pysubs2", "python")[0], capsys)
    assert re.sub(r"\W", "", spoken("talk.ass")).lower() == re.sub(r"\W", "", spoken("talk.srt"))
    assert spoken("talk.ass") != spoken(desk / "talk.srt")


def test_ffmpeg(desk: Path) -> None:
    ffmpeg = shutil.which("ffmpeg") or pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    (desk / "bin/ffmpeg").symlink_to(ffmpeg)
    shell("ffmpeg -v error -f lavfi -i color=s=16x16:d=7 -i talk.srt -map 0 -map 1 -c:s srt film.mkv")
    shell(blocks("ffmpeg: out of a film and back", "bash")[0])
    shell(
        "ffmpeg -v error -i film.fixed.mkv -map 0:s:0 back.srt && ffmpeg -v error -i film.fixed.mkv -map 0:v -f null -"
    )
    assert (desk / "back.srt").read_text() == (desk / "film.srt").read_text()
    assert spoken("film.srt") != spoken("talk.srt")


def test_mkvtoolnix(desk: Path) -> None:
    [text] = blocks("mkvtoolnix", "bash")
    extract, _, merge = text.splitlines()
    stand_in(desk, extract, desk / "talk.srt", "film.srt")
    stand_in(desk, merge, desk / "talk.srt", "film.fixed.mkv")
    shell(text)
    assert spoken("film.srt") != spoken("talk.srt")
    assert (desk / "film.fixed.mkv").is_file()


def test_bazarr_and_jellyfin(desk: Path) -> None:
    one, nightly = blocks("Bazarr and Jellyfin", "bash")
    shell(one.replace("{{subtitles}}", "media/films/a.srt"))
    assert (done := spoken("media/films/a.srt")) != spoken("talk.srt")
    (desk / "media/films/a.srt").write_text(SRT)
    shell(nightly)
    assert spoken("media/films/a.srt") == done


def test_the_action_and_cron(desk: Path) -> None:
    yaml = pytest.importorskip("yaml")
    [action] = blocks("A GitHub action", "yaml")
    steps = yaml.safe_load(action)["jobs"]["subtitles"]["steps"]
    shell(steps[-1]["run"], code=1)  # something is missing
    [line] = blocks("cron", "crontab")
    shell(line.split(None, 5)[5])
    assert spoken("out/a.srt") != spoken("in/a.srt")
    assert json.loads((desk / "cappunc.jsonl").read_text())["status"] == "fixed"


def test_yt_dlp_is_called_as_in_its_own_tests() -> None:
    """`tests/features/test_yt_dlp.py` runs it."""
    own = (ROOT / "tests/features/test_yt_dlp.py").read_text("utf-8")
    plug_in, line = blocks("yt-dlp", "bash")
    assert "Cappunc:when=before_dl;lang=en" in plug_in
    assert "Cappunc:when=before_dl;lang=en" in own
    assert "%(requested_subtitles.:.filepath)#q || true" in line
    assert "%(requested_subtitles.:.filepath)#q || true" in own


def test_every_recipe_is_tried() -> None:
    own = Path(__file__).read_text("utf-8")
    assert [title for title in PARTS if f'"{title}"' not in own] == []
