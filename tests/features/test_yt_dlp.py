"""The post-processor of yt-dlp, tried with the real yt-dlp on a page of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import SRT, TINY, cappunc

pytest.importorskip("yt_dlp")

#: What YouTube sends: each line twice, with times of words.
ROLLING = (Path(__file__).parents[2] / "fixtures/vtt/youtube.vtt").read_text("utf-8")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def page(tmp_path: Path) -> Iterator[str]:
    """The address of a page with a film and its subtitles."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "film.mp4").write_bytes(b"film" * 1000)
    (site / "en.vtt").write_text(ROLLING, "utf-8")
    (site / "en.srt").write_text(SRT, "utf-8")
    (site / "broken.ass").write_text("[Script Info]\nno events\n", "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(folder: Path, page: str, *options: str) -> subprocess.CompletedProcess[str]:
    """yt-dlp for the page: rolling captions, subtitles, and some that are broken."""
    info = {
        "id": "1", "title": "film", "extractor": "page", "extractor_key": "Generic", "webpage_url": page, "ext": "mp4",
        "formats": [{"format_id": "1", "url": f"{page}/film.mp4", "ext": "mp4", "protocol": "http"}],
        "automatic_captions": {"en": [{"url": f"{page}/en.vtt", "ext": "vtt"}]},
        "subtitles": {
            "en-US": [{"url": f"{page}/en.srt", "ext": "srt"}], "en-GB": [{"url": f"{page}/broken.ass", "ext": "ass"}],
        },
    }  # fmt: skip
    (folder / "info.json").write_text(json.dumps(info))
    call = [sys.executable, "-m", "yt_dlp", "--ignore-config", "--load-info-json", "info.json", "-o", "film.%(ext)s"]
    call += ["--write-subs", "--write-auto-subs", "--sub-langs", "all", "--fixup", "never", "--no-cache-dir", *options]
    for name in ("en", "en-fast"):
        shutil.copytree(TINY, folder / "models" / name, dirs_exist_ok=True)
    scripts = str(Path(sys.executable).parent)
    surroundings = {**os.environ, "CAPPUNC_MODELS": str(folder / "models"), "NO_PROXY": "*"}
    surroundings["PATH"] = f"{scripts}{os.pathsep}{surroundings['PATH']}"
    return subprocess.run(call, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("more", [(), ("--skip-download",)])
def test_each_subtitle_is_restored_and_one_that_is_refused_left(
    tmp_path: Path, page: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(tmp_path, page, "--use-postprocessor", "Cappunc:when=before_dl;lang=en", *more)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "film.mp4").exists() == (not more)
    monkeypatch.setenv("CAPPUNC_MODELS", str(tmp_path / "models"))
    for name, source in (("film.en.vtt", ROLLING), ("film.en-US.srt", SRT)):
        expected = cappunc("fix", "--lang", "en", data=source.encode()).stdout
        assert (tmp_path / name).read_bytes() == expected != source.encode()
    assert (tmp_path / "film.en-GB.ass").read_text() == (tmp_path / "site/broken.ass").read_text()
    assert "left as it is: film.en-GB.ass: no [Events] section" in found.stderr


def test_options_that_are_wrong_stop_it_before_anything_is_downloaded(tmp_path: Path, page: str) -> None:
    found = run(tmp_path, page, "--use-postprocessor", "Cappunc:when=before_dl;colour=red")
    assert found.returncode != 0
    assert "cappunc: unknown option: colour" in found.stderr
    assert not list(tmp_path.glob("film*"))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_the_line_for_those_who_want_no_plug_in(tmp_path: Path, page: str) -> None:
    """`--exec` quotes the names of the files; a file that is refused does not stop the others."""
    line = "before_dl:cappunc fix -i --lang en %(requested_subtitles.:.filepath)#q || true"
    found = run(tmp_path, page, "--exec", line)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "film.mp4").exists()
    assert (tmp_path / "film.en.vtt").read_text() != ROLLING
    assert (tmp_path / "film.en-US.srt").read_text() != SRT
