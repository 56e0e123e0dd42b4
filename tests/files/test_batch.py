"""Many files: groups, worker processes, the record, and going on where a run stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import commands
import pytest
from commands import TINY
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Word
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.record import PRIVATE, Record, Result, signature
from cappunc_cli.files.run import FILES_TOGETHER, Worker, job_groups
from cappunc_cli.files.storage import content_hash
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.pipeline import restore

WORDS = ["hello", "anna", "then", "we", "went", "to", "london", "where", "is", "the", "cat", "dog"]
REQUEST = FixRequest("en", str(TINY), device="cpu")


def cappunc(*arguments: str | Path, cwd: Path, data: bytes = b"") -> commands.Run:
    return commands.cappunc("fix", "--model", TINY, *arguments, cwd=cwd, data=data)


def run_in(tree: Path, *arguments: str) -> Any:
    """`cappunc fix` in this process, in a directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tree)
        return CliRunner().invoke(app, ["fix", "--model", str(TINY), *arguments])


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Thirty files of some words below tmp_path/in."""
    chance = Random(1)
    (tmp_path / "in/deep").mkdir(parents=True)
    for i in range(30):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(0, 60))]
        (tmp_path / "in" / ("deep" if i % 2 else ".") / f"{i}.txt").write_text(" ".join(words) + "\n")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.txt")}


def parts(folder: Path) -> list[Path]:
    """The parts of the record of a directory."""
    return sorted((folder / PRIVATE).glob("*.jsonl"))


def record_of(folder: Path) -> Record:
    return Record(str(folder), signature(REQUEST))


def jobs_of(tree: Path) -> list[Job]:
    sources = sorted((tree / "in").rglob("*.txt"))
    return [Job(str(path), str(tree / "out" / path.relative_to(tree / "in"))) for path in sources]


def worked(jobs: Iterable[Job], record: Record | None = None) -> list[Result]:
    worker = Worker(REQUEST, "new", record)
    return [result for group in job_groups(jobs) for result in worker.run(group)]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_processes_do_what_one_process_does(tree: Path, jobs: str) -> None:
    (tree / "in/bad.srt").write_text("1\nno time\nhere\n")
    run = cappunc("in", "-o", "out", "--jobs", jobs, cwd=tree)
    assert run.returncode == 1
    lines = run.stderr.decode().splitlines()
    assert [line for line in lines if "bad.srt" in line] != []
    assert "cappunc: 1 of 31 files failed" in lines
    assert lines[-1].startswith("cappunc: 30 files fixed, 1 failed; ")
    model = load_model(str(TINY), "cpu")
    for name, data in contents(tree / "in").items():
        words = [Word(text) for text in data.decode().split()]
        assert (tree / "out" / name).read_text().split() == restore(words, model)


def test_files_in_two_languages_have_one_summary(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for i in range(12):
        (tmp_path / f"in/en{i}.txt").write_text("the cat is in the house and that is where it was\n")
        (tmp_path / f"in/es{i}.txt").write_text("el gato está en la casa y allí es donde estaba siempre\n")
    run = commands.cappunc("fix", "in", "-o", "out", cwd=tmp_path)
    lines = [line for line in run.stderr.decode().splitlines() if "files" in line]
    assert len(lines) == 1
    assert lines[0].startswith("cappunc: 24 files fixed; ")


def test_a_run_resumes_where_it_stopped(tree: Path) -> None:
    assert run_in(tree, "in", "-o", "out").exit_code == 0
    first = contents(tree / "out")
    assert "0 files fixed, 30 up to date" in run_in(tree, "in", "-o", "out").stderr
    # A killed run: half a line in the record, some results lost.
    record = parts(tree / "out")[-1]
    torn = json.loads(record.read_text().splitlines()[-1])["file"]
    record.write_text(record.read_text()[:-20])
    gone = "deep/1.txt" if torn != "deep/1.txt" else "deep/3.txt"
    (tree / "out" / gone).unlink()
    Path(tree / "in/2.txt").write_text("hello cat\n")
    more = run_in(tree, "in", "-o", "out")
    assert "already exists; --force overwrites it" in more.stderr  # the file whose line was torn
    assert more.exit_code == 1
    assert "2 files fixed, 27 up to date, 1 failed" in more.stderr
    assert (tree / "out/2.txt").read_text() == "Hello cat.\n"
    assert run_in(tree, "in", "-o", "out", "--force").exit_code == 0
    assert contents(tree / "out") == {**first, "2.txt": b"Hello cat.\n"}


def test_other_options_redo_our_results_and_no_other_files(tree: Path) -> None:
    assert run_in(tree, "in", "-o", "out").exit_code == 0
    # As long as it was, so that only the hash tells.
    edited = (tree / "out/0.txt").read_bytes().swapcase()
    (tree / "out/0.txt").write_bytes(edited)
    run = run_in(tree, "in", "-o", "out", "--marks", ".")
    assert "29 files fixed, 1 failed" in run.stderr
    assert (tree / "out/0.txt").read_bytes() == edited
    assert not any(b"?" in data for name, data in contents(tree / "out").items())


def test_a_result_of_other_bytes_is_not_up_to_date(tree: Path) -> None:
    assert run_in(tree, "in", "-o", "out").exit_code == 0
    edited, times = (tree / "out/0.txt").read_bytes().swapcase(), (tree / "out/0.txt").stat()
    (tree / "out/0.txt").write_bytes(edited)
    os.utime(tree / "out/0.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    run = run_in(tree, "in", "-o", "out")
    assert (run.exit_code, (tree / "out/0.txt").read_bytes()) == (1, edited)
    assert "out/0.txt: was changed since a run wrote it; --force overwrites it" in run.stderr
    assert "0 files fixed, 29 up to date, 1 failed" in run.stderr


def test_a_record_that_came_along_authorises_no_overwriting(tree: Path) -> None:
    """It names the very size and time of somebody's own file, but cannot know its content."""
    mine = tree / "out/0.txt"
    mine.parent.mkdir()
    mine.write_text("mine\n")
    found, source = mine.stat(), (tree / "in/0.txt").stat()
    (tree / "out" / PRIVATE).mkdir()
    entry = {"file": "0.txt", "of": "../in/0.txt", "input": f"{source.st_size}-{source.st_mtime_ns}", "with": "x"}
    entry |= {"output": [found.st_size, "0" * 32]}
    (tree / "out" / PRIVATE / "run-1.jsonl").write_text(json.dumps(entry) + "\n")
    run = run_in(tree, "in", "-o", "out")
    assert (run.exit_code, mine.read_text()) == (1, "mine\n")
    assert "out/0.txt: was changed since a run wrote it; --force overwrites it" in run.stderr


def test_a_bad_text_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cappunc_cli.files.fixer import Opened

    real = Opened.restore

    def picky(self: Opened) -> list[str]:
        if "cat" in self.document.texts:
            raise CappuncError("no cats")
        return real(self)

    monkeypatch.setattr(Opened, "restore", picky)
    jobs = []
    for name, text in (("a.txt", "hello"), ("b.txt", "cat"), ("c.txt", "dog")):
        (tmp_path / name).write_text(text)
        jobs.append(Job(str(tmp_path / name), str(tmp_path / "out" / name)))
    results = worked(jobs)
    assert sorted((Path(result.job.source).name, result.status, result.reason) for result in results) == [
        ("a.txt", "fixed", ""),
        ("b.txt", "failed", "no cats"),
        ("c.txt", "fixed", ""),
    ]
    assert [p.name for p in sorted((tmp_path / "out").iterdir())] == ["a.txt", "c.txt"]


def test_groups_begin_small_and_are_bounded(tmp_path: Path) -> None:
    for i in range(500):
        (tmp_path / f"{i}.txt").write_text("x" * (600_000 if i in (450, 451) else 10))
    jobs = [Job(str(tmp_path / f"{i}.txt")) for i in range(500)]
    groups = list(job_groups(jobs))
    assert [job for group in groups for job in group] == jobs
    assert len(groups[0]) <= 4
    assert max(map(len, groups)) <= FILES_TOGETHER
    assert [jobs[450]] in groups
    assert list(job_groups([])) == []


def test_a_list_of_files_is_resumed_as_a_directory_is(tree: Path) -> None:
    names = [f"in/{i}.txt" for i in range(0, 10, 2)]
    assert run_in(tree, *names[:3], "-o", "out").exit_code == 0
    before = contents(tree / "out")
    times = {path: path.stat().st_mtime_ns for path in (tree / "out").glob("*.txt")}
    run = run_in(tree, *names, "-o", "out")
    assert run.exit_code == 0
    assert "2 files fixed, 3 up to date" in run.stderr
    assert len(contents(tree / "out")) == 5
    assert contents(tree / "out").items() >= before.items()
    assert {path: path.stat().st_mtime_ns for path in times} == times
    # One of them alone, called from elsewhere, by two processes: it is all the same record.
    assert "0 files fixed, 1 up to date" in run_in(tree.parent, str(tree / names[0]), "-o", str(tree / "out")).stderr
    assert "0 files fixed, 5 up to date" in run_in(tree, "--jobs", "2", *names, "-o", "out/").stderr


def test_a_result_of_another_file_is_not_overwritten(tree: Path) -> None:
    for folder in ("one", "two"):
        (tree / folder).mkdir()
        (tree / folder / "a.txt").write_text(f"hello {folder} hello anna\n")
    assert run_in(tree, "one/a.txt", "-o", "out").exit_code == 0
    before = contents(tree / "out")
    run = run_in(tree, "two/a.txt", "-o", "out")
    assert (run.exit_code, run.stderr) == (1, "cappunc: out/a.txt: already exists; --force overwrites it\n")
    assert contents(tree / "out") == before
    (tree / "one/a.txt").write_text("hello again\n")
    assert run_in(tree, "one/a.txt", "-o", "out").exit_code == 0
    assert contents(tree / "out") != before


def test_a_result_from_a_pipe_is_never_up_to_date(tree: Path) -> None:
    assert [cappunc("-", "-o", "out/", cwd=tree, data=data).returncode for data in (b"hello anna", b"hi")] == [0, 1]


def test_results_are_recorded_before_they_are_renamed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, jobs = tree / "out", jobs_of(tree)
    renamed: list[tuple[str, bool]] = []
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.suffix == ".txt":
            lines = list(record_of(out).lines())
            key = target.relative_to(out).as_posix()
            renamed.append((key, any((line.file, line.size) == (key, self.stat().st_size) for line in lines)))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    worked(jobs, record_of(out))
    assert sorted(renamed) == sorted((Path(str(job.target)).relative_to(out).as_posix(), True) for job in jobs)


def test_an_input_that_is_edited_while_it_is_read_is_not_up_to_date(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    from cappunc_cli.files import run

    job = jobs_of(tree)[0]
    real = run.read_bytes

    def edited(source: str) -> bytes:
        data = real(source)
        Path(job.source).write_text("hello hello cat\n")
        return data

    monkeypatch.setattr(run, "read_bytes", edited)
    worked([job], record_of(tree / "out"))
    assert job.target is not None
    assert [again.source for again in record_of(tree / "out").plan([job])] == [job.source]


def test_malformed_lines_of_a_record_are_ignored(tree: Path) -> None:
    (tree / "out" / PRIVATE).mkdir(parents=True)
    lines = ["[" * 100_000, '{"a":' * 50_000, '{"file": ["0.txt"], "input": 1, "output": 2}', "7", "\0", "\udcff"]
    lines.append('{"file": "b", "of": "b", "input": "t", "output": [1e999, "h"], "with": "s"}')
    (tree / "out" / PRIVATE / "run-1.jsonl").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    run = run_in(tree, "in", "-o", "out")
    assert (run.exit_code, len(contents(tree / "out"))) == (0, 30)
    assert "0 files fixed, 30 up to date" in run_in(tree, "in", "-o", "out").stderr


def test_a_record_that_cannot_be_read_ends_the_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["fix", "--model", str(TINY), str(tree / "in"), "-o", str(tree / "out")]
    assert CliRunner().invoke(app, command).exit_code == 0
    record, real = parts(tree / "out")[0], Path.read_bytes

    def read_bytes(self: Path) -> bytes:
        # Not by chmod: root may read anything.
        if self == record:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 1
    assert str(run.exception) == f"[Errno 13] Permission denied: '{record}'"


@pytest.mark.parametrize("kind", ["file", "pipe", "link", "dangling link"])
def test_a_record_that_is_not_a_directory_is_refused(tree: Path, kind: str) -> None:
    record, other = tree / "out" / PRIVATE, tree / "precious"
    record.parent.mkdir()
    match kind:
        case "file":
            record.touch()
        case "pipe":
            os.mkfifo(record)
        case _:
            record.symlink_to(other)
    if kind == "link":
        other.mkdir()
    run = cappunc("in", "-o", "out", cwd=tree)
    assert run.returncode == 1
    said = f"cappunc: out/{PRIVATE}: is not a directory and cannot hold the record of results\n"
    assert run.stderr.decode() == said
    assert contents(tree / "out") == {}
    assert other.exists() == (kind == "link")
    assert kind != "link" or not any(other.iterdir())


def test_links_and_pipes_in_a_record_are_not_read(tree: Path) -> None:
    record = tree / "out" / PRIVATE
    record.mkdir(parents=True)
    os.mkfifo(record / "a-pipe.jsonl")
    (record / "a-link.jsonl").symlink_to(tree / "in/0.txt")
    assert cappunc("in", "-o", "out", cwd=tree).returncode == 0


def put_there(place: Path, kind: str) -> Path:
    """Something at a place that is no file of cappunc's own, and a file that must stay as it is."""
    precious = place.parent / "precious"
    precious.write_text("dear")
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "link":
            place.symlink_to("precious")
        case "dangling link":
            place.symlink_to("nowhere")
        case "hard link":
            place.hardlink_to(precious)
        case "directory":
            place.mkdir()
    return precious


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such pipes")
@pytest.mark.parametrize("kind", ["pipe", "link", "dangling link", "hard link", "directory"])
@pytest.mark.parametrize("name", ["lock", "refused.jsonl"])
def test_a_trap_among_the_files_of_an_archive_is_named_and_stays(tree: Path, name: str, kind: str) -> None:
    private = tree / "out" / PRIVATE
    private.mkdir(parents=True)
    precious = put_there(private / name, kind)
    run = commands.cappunc("archive", "--model", TINY, "in", "out", "--lang", "en", cwd=tree)
    said = f"cappunc: out/{PRIVATE}/{name}: is not a file of cappunc's own; remove it"
    assert (run.returncode, run.stderr.decode().splitlines()[-1]) == (1, said)
    assert precious.read_text() == "dear"
    assert not (private / "nowhere").exists()
    assert contents(tree / "out") == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such pipes")
@pytest.mark.parametrize("kind", ["pipe", "link", "dangling link", "hard link", "directory"])
def test_a_trap_at_the_name_of_a_temporary_file_fails_alone(tree: Path, kind: str) -> None:
    part = f".cappunc-{content_hash(b'0.txt')[:16]}.tmp"
    (tree / "out").mkdir()
    precious = put_there(tree / "out" / part, kind)
    run = cappunc("in", "-o", "out", cwd=tree)
    assert run.returncode == 1
    assert f"out/{part}: is not a file of cappunc's own; remove it\n" in run.stderr.decode()
    assert precious.read_text() == "dear"
    assert len(contents(tree / "out")) == len(contents(tree / "in")) - 1


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_control_c_does_not_reach_workers_that_are_starting_and_a_killed_one_is_told(tree: Path, sent: str) -> None:
    # Before anything of a worker's own has run.
    (tree / "early").mkdir()
    (tree / "early/sitecustomize.py").write_text(
        f"import os, signal, sys\nif '--multiprocessing-fork' in sys.orig_argv: os.kill(os.getpid(), signal.{sent})\n"
    )
    paths = f"{tree / 'early'}{os.pathsep}{os.environ['PYTHONPATH']}"
    run = subprocess.run(
        commands.line("fix", "--model", TINY, "in", "-o", "out", "--jobs", "2"),
        capture_output=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    killed = sent == "SIGKILL"
    assert (run.returncode, len(contents(tree / "out"))) == ((1, 0) if killed else (0, 30)), run.stderr
    assert (b"cappunc: a worker process ended unexpectedly\n" in run.stderr) == killed


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("options", [[], ["--jobs", "2"]])
def test_a_signal_keeps_and_logs_what_has_been_written(tree: Path, options: list[str], sent: str) -> None:
    number = getattr(signal, sent)

    def as_for_a_user() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    for i in range(2000):
        (tree / f"in/more{i}.txt").write_text("hello anna then we went to london\n" * 40)
    command = commands.line("fix", "--model", TINY, "in", "-o", "out", "--log", "log")
    with subprocess.Popen(
        [*command, *options],
        cwd=tree,
        stderr=subprocess.PIPE,
        preexec_fn=as_for_a_user,
    ) as process:
        while process.poll() is None and not list((tree / "out").glob("*.txt")):
            time.sleep(0.01)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 128 + number
    [line] = said.splitlines()
    assert line.endswith(b" of 2,030 files done; run the same command again to resume")
    # Nothing is written any more.
    results = {f"out/{name}" for name in contents(tree / "out")}
    assert 0 < len(results) < 2030
    lines = [json.loads(line) for line in (tree / "log").read_text().splitlines()]
    logged = {line["target"] for line in lines if line["status"] in ("fixed", "unchanged")}
    # But for one whose line was being written.
    assert logged <= results
    assert len(results - logged) <= 1
    assert f"{len(logged):,} of 2,030 files".encode() in said or len(results - logged) == 1


def test_a_log_has_a_line_for_each_file(tree: Path) -> None:
    (tree / "in/bad.srt").write_text("1\nno time\nhere\n")
    (tree / "in/info.json").write_text('{"id": "x", "title": "talk"}')
    run = run_in(tree, "in", "-o", "out", "--log", "log.jsonl")
    assert run.exit_code == 1
    lines = {line["file"]: line for line in map(json.loads, (tree / "log.jsonl").read_text().splitlines())}
    assert len(lines) == 32
    assert lines["in/bad.srt"]["status"] == "failed"
    assert f"in/bad.srt: {lines['in/bad.srt']['reason']}" in run.stderr
    assert lines["in/info.json"]["status"] == "skipped"
    for name, data in contents(tree / "in").items():
        line = lines[f"in/{name}"]
        assert (line["target"], line["words"]) == (f"out/{name}", len(data.split()))
        assert line["status"] in ("fixed", "unchanged")
        if data.split():
            assert (line["model"], line["language"]) == ("tiny", "en")
    # Failures are tried again.
    assert "0 files fixed, 30 up to date, 1 skipped, 1 failed" in run_in(tree, "in", "-o", "out").stderr


def test_a_log_to_standard_error_and_none_over_an_input(tree: Path) -> None:
    run = run_in(tree, "in/0.txt", "-o", "-", "--log", "-")
    assert json.loads(run.stderr.splitlines()[0])["file"] == "in/0.txt"
    before = contents(tree / "in")
    assert run_in(tree, "in", "-o", "out", "--log", "in/0.txt").exit_code == 2
    assert run_in(tree, "in", "-o", "out", "--log", "out/0.txt").exit_code == 2
    assert contents(tree / "in") == before


def test_a_file_is_read_once_even_to_detect_its_language(tree: Path) -> None:
    os.mkfifo(tree / "pipe.txt")
    text = "il gatto era nella casa e là siamo andati a vedere dove era il cane quando siamo tornati"
    shell = f"(echo {text} >pipe.txt) & {sys.executable} -m cappunc_cli fix --model {TINY} pipe.txt -o -"
    run = subprocess.run(["sh", "-c", shell], cwd=tree, capture_output=True, text=True, check=False)
    assert run.stdout.lower().split()[0] == "il"


def test_a_directory_is_searched_for_transcripts_of_all_names(tmp_path: Path) -> None:
    """Those that other files have as well are read, and skipped with a word if they are none."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("start,end,text\n0.0,1.0,hello anna then\n1.0,2.0,we went to london\n")
    (folder / "b.json3").write_text(
        '{"events": [{"tStartMs": 0, "dDurationMs": 900, "segs": [{"utf8": "hello anna"}]}]}'
    )
    (folder / "c.xml").write_text("<transcript><text start='0' dur='1'>hello anna</text></transcript>")
    (folder / "d.csv").write_text("name,price\nchair,20\n")
    # What yt-dlp writes beside subtitles is none, and is passed over in silence.
    (folder / "f.info.json").write_text('{"id": "x", "title": "talk"}')
    (folder / "g.jsonl").write_text('{"id": "x", "title": "talk"}\n{"id": "y"}\n')
    (folder / "h.jsonl").write_text('{"result": [{"word": "hello", "start": 0, "end": 1}], "text": "hello"}\n' * 2)
    (folder / "e.sub").write_bytes(b"\x00\x00\x01\xba\x44\xff\xfe")
    run = run_in(tmp_path, "in", "-o", "out")
    assert (run.exit_code, run.stderr.count("; skipped")) == (0, 3)
    assert "cappunc: in/d.csv: " in run.stderr
    assert "f.info.json" not in run.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("[a-z]*")) == ["a.csv", "b.json3", "c.xml", "h.jsonl"]
    named = run_in(tmp_path, "in/f.info.json", "-o", "out2/")
    assert (named.exit_code, "skipped" in named.stderr) == (1, False)


@pytest.mark.parametrize("command", [["check"], ["review"], ["convert", "--to", "vtt"], ["captions"], ["fix"]])
def test_standard_input_is_read_once_by_every_command(tmp_path: Path, command: list[str]) -> None:
    text = b"1\n00:00:01,000 --> 00:00:03,000\nil gatto era nella casa con il cane\n"
    run = commands.cappunc(*command, "--model", TINY, cwd=tmp_path, data=text)
    assert b"8 words" in run.stdout + run.stderr or b"casa" in run.stdout.lower()
