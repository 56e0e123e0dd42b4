"""Files that have a URL: read, written, listed; the commands take them as they take paths."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cappunc_cli.cli.main import app, main
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.review.review_session import ReviewSession
from cappunc_cli.files import urls
from cappunc_cli.files.fixer import Fixer, FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.storage import is_url, joined, names_in
from cappunc_cli.files.urls import (
    create_url,
    fixed_part,
    is_url_directory,
    match_url,
    read_url,
    remove_url,
    stat_urls,
    url_exists,
    walk_url,
    write_url,
)

memory = pytest.importorskip("fsspec.implementations.memory")
local = pytest.importorskip("fsspec.implementations.local")
TALK = "1\n00:00:01,000 --> 00:00:06,000\nhello anna then we went to london\n"
pytestmark = pytest.mark.usefixtures("memory_store")


def run(*arguments: str, data: str | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), input=data)


def test_urls_are_distinguished_from_paths() -> None:
    assert all(map(is_url, ["s3://b/a.srt", "gs://b", "memory://a", "https://h/x"]))
    assert not any(map(is_url, ["talk.srt", "C:\\talk.srt", "C://talk.srt", "a/b://c", "-", "", None]))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fix a.srt -o file:///b/c.srt", "file:///b/c.srt: a local file is named by its path, without file://"),
        ("fix file:///b/c.srt", "file:///b/c.srt: a local file is named by its path, without file://"),
        ("fix a.srt -o s3://", "the name is empty: s3://"),
        ("eval --ref s3://b/c.srt a.srt", "s3://b/c.srt is a URL; name a file on a disk"),
        ("eval --ref a.srt s3://b/c.srt", "s3://b/c.srt is a URL; name a file on a disk"),
        ("train a.srt --lang en -o s3://b", "s3://b is a URL; name a file on a disk"),
    ],
)
def test_a_url_that_cannot_be_used_is_named_as_it_is(
    command: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.srt").write_text(TALK)
    monkeypatch.setattr(sys, "argv", ["cappunc", *command.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.srt"]  # no folder `s3:`


def test_decisions_of_a_page_are_written_beside_a_url(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, new = "memory://box/talk.srt", TALK.replace("hello", "Hello,").encode()
    write_url(source, TALK.encode())
    fixer = Fixer(FixRequest("en", str(tiny_model), device="cpu"), print)
    session = ReviewSession(Job(source), fixer, 1.0)
    own = [{"word": 1, "was": "hello", "text": "Hello,"}]
    made = {"kind": "cappunc review", "sha256": hashlib.sha256(TALK.encode()).hexdigest(), "decisions": own}
    for _ in range(2):
        assert session.write(json.dumps(made).encode())["written"] == "memory://box/talk.fixed.srt"
    assert (read_url("memory://box/talk.fixed.srt"), read_url(source)) == (new, TALK.encode())
    session.in_place = True
    session.write(json.dumps(made).encode())
    assert read_url(source) == new
    assert not list(tmp_path.iterdir())  # no folder `memory:`


def test_what_is_written_is_read_and_listed() -> None:
    for name in ("a.srt", "deep/b.srt", "deep/.hidden", ".cappunc/lock", "odd ?#name[1].txt"):
        write_url(f"memory://box/{name}", name.encode())
    assert read_url("memory://box/odd ?#name[1].txt") == b"odd ?#name[1].txt"
    listed = {entry.relative: entry for entry in walk_url("memory://box/")}
    assert set(listed) == {"a.srt", "deep/b.srt", "odd ?#name[1].txt"}
    assert listed["deep/b.srt"].source == "memory://box/deep/b.srt"
    assert listed["deep/b.srt"].size == len("deep/b.srt")
    assert {entry.relative for entry in walk_url("memory://box", hidden=True)} >= {".cappunc/lock", "deep/.hidden"}
    assert stat_urls(["memory://box/a.srt"])["memory://box/a.srt"] == urls.Entry(
        "memory://box/a.srt", "a.srt", 5, listed["a.srt"].tag
    )
    before = listed["a.srt"].tag
    write_url("memory://box/a.srt", b"other")
    assert stat_urls(["memory://box/a.srt"])["memory://box/a.srt"].tag != before


def test_a_pattern_keeps_the_path_below_its_fixed_part() -> None:
    for name in ("s1/a.srt", "s1/b.vtt", "s2/deep/c.srt"):
        write_url(f"memory://box/{name}", b"x")
    assert fixed_part("memory://box/*/a.srt") == "memory://box"
    found = {entry.source: entry.relative for entry in match_url("memory://box/**/*.srt")}
    assert found == {"memory://box/s1/a.srt": "s1/a.srt", "memory://box/s2/deep/c.srt": "s2/deep/c.srt"}


def test_a_url_with_files_below_it_is_a_directory() -> None:
    write_url("memory://box/deep/a.srt", b"x")
    assert is_url_directory("memory://box/deep")
    assert is_url_directory("memory://bucket")
    assert is_url_directory("memory://bucket/new/")
    assert not is_url_directory("memory://box/deep/a.srt")
    assert not is_url_directory("memory://box/nothing")


def test_only_one_of_two_creates_a_file() -> None:
    assert create_url("memory://box/lock", b"1")
    assert not create_url("memory://box/lock", b"2")
    assert read_url("memory://box/lock") == b"1"
    remove_url("memory://box/lock")
    remove_url("memory://box/lock")
    assert not url_exists("memory://box/lock")


def test_a_store_that_cannot_be_reached_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any, **__: Any) -> bytes:
        raise ConnectionResetError("503 Slow\nDown")

    monkeypatch.setattr(memory.MemoryFileSystem, "cat_file", down)
    with pytest.raises(CappuncError, match=r"^memory://box/a\.srt: 503 Slow Down$"):
        read_url("memory://box/a.srt")


def test_missing_files_and_unknown_stores_are_named() -> None:
    with pytest.raises(FileNotFoundError) as error:
        read_url("memory://box/none.srt")
    assert error.value.filename == "memory://box/none.srt"
    with pytest.raises(WrongUsage, match="unknown storage nosuch"):
        read_url("nosuch://box/a.srt")


def test_stores_without_atomic_put_get_a_rename(tmp_path: Path) -> None:
    place = f"local://{tmp_path}/deep/a.srt"
    write_url(place, b"one")
    write_url(place, b"two")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.srt"]
    assert read_url(place) == b"two"


def test_a_rename_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_url(f"local://{tmp_path}/a.srt", b"one")

    def fails(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(local.LocalFileSystem, "mv", fails)
    monkeypatch.setattr(local.LocalFileSystem, "mv_file", fails, raising=False)
    with pytest.raises(PermissionError):
        write_url(f"local://{tmp_path}/a.srt", b"two")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.srt", b"one")]


def test_a_url_is_joined_and_named_as_a_path() -> None:
    assert joined("s3://b/", "c/d.srt") == joined("s3://b", Path("c/d.srt")) == "s3://b/c/d.srt"
    assert joined("./b/", Path("c.srt")) == str(Path("b", "c.srt"))


def test_commands_take_urls(tiny_model: Path, tmp_path: Path) -> None:
    write_url("memory://box/talk.srt", TALK.encode())
    (tmp_path / "talk.srt").write_text(TALK)
    model = ("--model", str(tiny_model))
    assert run("fix", *model, str(tmp_path / "talk.srt"), "-o", str(tmp_path / "fixed.srt")).exit_code == 0
    expected = (tmp_path / "fixed.srt").read_bytes()
    assert expected != TALK.encode()
    assert run("fix", *model, "memory://box/talk.srt").stdout.encode() == expected
    assert run("fix", *model, "memory://box/talk.srt", "-o", "memory://out/x.srt").exit_code == 0
    assert read_url("memory://out/x.srt") == expected
    again = run("fix", *model, "memory://box/talk.srt", "-o", "memory://out/x.srt")
    assert (again.exit_code, again.stderr) == (
        1,
        "cappunc: memory://out/x.srt: already exists; --force overwrites it\n",
    )
    assert run("fix", *model, "memory://box/talk.srt", "-o", str(tmp_path / "down.srt")).exit_code == 0
    assert (tmp_path / "down.srt").read_bytes() == expected
    checked = run("check", *model, "memory://box/")
    assert checked.stdout.startswith("memory://box/talk.srt:")
    assert run("fix", *model, "--in-place", "memory://box/talk.srt").exit_code == 0
    assert read_url("memory://box/talk.srt") == expected


def test_reports_and_pages_go_to_a_url(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_url("memory://box/a.srt", TALK.encode())
    given = ("memory://box/a.srt", "--model", str(tiny_model), "--lang", "en")
    assert run("check", given[0], "--captions", "bbc", "--report", "memory://out/1.csv").exit_code == 0
    assert run("captions", *given, "-o", "memory://out/", "--report", "memory://out/2.csv").exit_code == 0
    assert run("review", *given, "--html", "memory://out/3.html").exit_code == 0
    gold = str(Path(__file__).parents[2] / "fixtures" / "eval" / "gold.txt")
    assert run("eval", "--ref", gold, gold, "--html", "memory://out/4.html").exit_code == 0
    for name, begin in (
        ("a.srt", b"1\n00:00:01,000 --> "),
        ("1.csv", b"file,profile,language,caption,"),
        ("2.csv", b"file,profile,language,caption,"),
        ("3.html", b"<!doctype html>"),
        ("4.html", b"<!doctype html>"),
    ):
        assert read_url(f"memory://out/{name}").startswith(begin)
    same = run("captions", *given, "--to", "srt", "-o", "memory://out/b.csv", "--report", "memory://out/b.csv")
    assert (same.exit_code, url_exists("memory://out/b.csv")) == (2, False)
    assert "is the result of memory://box/a.srt" in same.stderr + str(same.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_list_names_files_below_a_directory_or_anywhere(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("a.txt", "deep/b.txt", "c.txt"):
        (tmp_path / "in" / name).write_text("hello anna\n")
    (tmp_path / "list").write_bytes(b"deep/b.txt\r\n\na.txt\n")
    assert list(names_in(str(tmp_path / "list"))) == ["deep/b.txt", "a.txt"]
    options = ("check", "--model", str(tiny_model), "--files-from")
    found = run(*options, str(tmp_path / "list"), str(tmp_path / "in"))
    assert list(dict.fromkeys(line.split(":")[0] for line in found.stdout.splitlines())) == [
        f"{tmp_path}/in/{name}" for name in ("deep/b.txt", "a.txt")
    ]
    both = f"{tmp_path}/in/c.txt\0{tmp_path}/in/a.txt\0"
    assert run(*options, "-", "-0", data=both).stdout.count("lack") == 2
    wrong = run(*options, "-", data=both)
    assert "NUL" in str(wrong.exception)
    assert run("check", "-0", str(tmp_path)).exit_code == 2


def test_results_of_a_list_keep_their_paths_below_its_directory(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("a.srt", "deep/a.srt"):
        (tmp_path / "in" / name).write_text("1\n00:00:01,000 --> 00:00:03,000\nhello anna\n")
    (tmp_path / "list").write_text("a.srt\n./deep/a.srt\n")
    for command, out in (("fix", "fixed"), ("captions", "made")):
        listed = ("--files-from", str(tmp_path / "list"), "-o", str(tmp_path / out))
        run_ = run(command, "--model", str(tiny_model), f"{tmp_path}/in/", *listed)
        assert run_.exit_code == 0, run_.output
        found = {path.relative_to(tmp_path / out).as_posix() for path in (tmp_path / out).rglob("*.srt")}
        assert found == {"a.srt", "deep/a.srt"}
    (tmp_path / "list").write_text("../in/a.srt\n")
    outside = run("fix", "--model", str(tiny_model), f"{tmp_path}/in", *listed[:2], "-o", str(tmp_path / "fixed"))
    assert "../in/a.srt: is not a path in" in str(outside.exception)


def test_a_quoted_pattern_is_expanded(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("a.txt", "deep/b.txt", "deep/[c].txt", ".hidden.txt"):
        (tmp_path / "in" / name).write_text("hello anna\n")
    model = ("--model", str(tiny_model), "-q")
    assert run("fix", *model, f"{tmp_path}/in/**/*.txt", "-o", f"{tmp_path}/out/").exit_code == 0
    out = tmp_path / "out"
    assert {path.relative_to(out).as_posix() for path in out.rglob("*.txt")} == {"a.txt", "deep/b.txt", "deep/[c].txt"}
    # A file that is called so is meant itself.
    assert "[c].txt" in run("check", *model, f"{tmp_path}/in/deep/[c].txt").stdout
    deep = run("check", *model, "--json", f"{tmp_path}/in/d**/*.txt")
    assert [Path(one["file"]).name for one in json.loads(deep.stdout)] == ["[c].txt", "b.txt"]
    missing = run("check", *model, f"{tmp_path}/in/*.vtt")
    assert "matches no file" in str(missing.exception)


def test_a_pattern_reports_what_cannot_be_read(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "deep/closed/b.txt", ".closed/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("hello anna\n")
    os.mkfifo(tmp_path / "deep/pipe.txt")
    real = os.access
    # Not by chmod: root may read anything.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name[-6:] != "closed" and real(path, mode))
    for pattern, reported in (
        ("**/*.txt", ["deep/closed: Permission denied", "deep/pipe.txt: is a pipe, which is read only if it is named"]),
        ("*.txt", []),
    ):
        found = run("check", "-q", "--model", str(tiny_model), f"{tmp_path}/{pattern}")
        assert found.stderr.splitlines() == [f"cappunc: {tmp_path}/{line}" for line in reported]
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = run("check", "-q", "--model", str(tiny_model), f"{tmp_path}/deep/*.srt")
    assert str(found.exception) == f"[Errno 13] Permission denied: '{tmp_path}/deep'"


def test_fsspec_is_not_loaded_for_paths(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "a.txt").write_text("hello anna\n")
    code = (
        "import sys\n"
        f"sys.argv = ['cappunc', 'fix', '-q', '--model', {str(tiny_model)!r}, 'a.txt', '-o', 'b.txt']\n"
        "from cappunc_cli.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "sys.exit(bool({'fsspec', 'ray', 'sqlite3'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.slow
def test_nonsense_from_a_hub_is_told_in_one_line(tiny_model: Path) -> None:
    pytest.importorskip("huggingface_hub")
    answers = [b"<html>hello</html>", b"[1, 2", b"[]", b'{"sha": 5, "siblings": 3}', b"oops"]

    class Nonsense(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = int(re.findall(r"talks(\d)", self.path)[0])
            body = answers[number]
            self.send_response(500 if number == 4 else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    files = [f"hf://datasets/someone/talks{number}/talk.srt" for number in range(len(answers))]
    with ThreadingHTTPServer(("127.0.0.1", 0), Nonsense) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        places = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "PYTHONPATH": os.pathsep.join(sys.path)}
        code = (
            "from commands import cappunc\n"
            f"for url in {files}:\n"
            f"    run = cappunc('fix', '--model', {str(tiny_model)!r}, url, '-o', '-')\n"
            "    print(run.returncode, run.stdout, run.stderr.decode(), end='')"
        )
        run = subprocess.run([sys.executable, "-c", code], env=os.environ | places, capture_output=True, text=True)
        server.shutdown()
    lines = run.stdout.splitlines()
    assert [line.partition("talk.srt: ")[0] for line in lines] == [f"1 b'' cappunc: {url[:-8]}" for url in files], run
    assert "bug" not in run.stdout
