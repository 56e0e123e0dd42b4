"""Archives in one process: what is done once, what is refused, what is left when a run is stopped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import TINY
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.archive import target_lock
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.record import Record
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import content_hash
from cappunc_cli.files.urls import read_url, url_exists, walk_url, write_url

memory = pytest.importorskip("fsspec.implementations.memory")
WORDS = "hello anna then we went to london where is the cat"
BAD = '{"results": [{"alternatives": [{"transcript": "a'
pytestmark = pytest.mark.usefixtures("memory_store")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Nine texts, and what is none."""
    for i in range(9):
        place = tmp_path / "in" / ("deep" if i % 2 else "") / f"{i}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(" ".join(WORDS.split()[i:]) + "\n")
    (tmp_path / "in/log.json").write_text('{"level": "info"}')
    (tmp_path / "in/.hidden.txt").write_text("hello")
    return tmp_path


REQUEST = FixRequest("en", str(TINY), device="cpu")


def upload(folder: Path, url: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            write_url(f"{url}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def results(place: Path | str) -> dict[str, bytes]:
    """What is at a target but for the record and the lock."""
    if isinstance(place, str):
        if not url_exists(place):
            return {}
        return {entry.relative: read_url(entry.source) for entry in walk_url(place)}
    found = (
        path
        for path in place.rglob("*")
        if path.is_file() and not path.relative_to(place).parts[0].startswith(".cappunc")
    )
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in found}


class Outcome(NamedTuple):
    """What a run says: its exit code, its messages, and the counts of its table."""

    code: int
    said: str
    fixed: int
    known: int
    skipped: int
    failed: int


def cappunc(command: str, *arguments: object) -> Outcome:
    options = ["--model", str(TINY), "--lang", "en", "--device", "cpu"]
    run = CliRunner().invoke(app, [command, *options, *map(str, arguments)])
    said = f"{run.stderr}{run.exception or ''}"
    table = {what: int(count) for count, what in re.findall(r"(\d+) (fixed|up to date|skipped|failed)\b", said)}
    counts = [table.get(what, 0) for what in ("fixed", "up to date", "skipped", "failed")]
    return Outcome(run.exit_code, said, *counts)


def archive(*arguments: object) -> Outcome:
    return cappunc("archive", *arguments)


def refused(target: Path) -> dict[str, str]:
    """The reasons in the report at a target, by the names of files."""
    lines = map(json.loads, (target / ".cappunc/refused.jsonl").read_text().splitlines())
    return {Path(line["file"]).name: line["reason"] for line in lines}


def test_a_store_and_a_disk_get_the_same_bytes(tree: Path) -> None:
    upload(tree / "in", "memory://old")
    first = archive(tree / "in", tree / "out")
    expected = results(tree / "out")
    assert (first.code, first.fixed, first.skipped, len(expected)) == (0, 9, 1, 9)
    order = ("memory://old/", "memory://new/season")
    assert archive(*order).fixed == 9
    assert results("memory://new/season") == expected
    archive("memory://old", tree / "down")
    assert results(tree / "down") == expected
    again = archive(*order)
    assert (again.fixed, again.known, again.skipped) == (0, 9, 1)
    (line,) = read_url("memory://new/season/.cappunc/refused.jsonl").splitlines()
    assert json.loads(line)["file"] == "memory://old/log.json"
    assert json.loads(line)["status"] == "skipped"


def test_archives_and_fix_know_each_others_results(tree: Path) -> None:
    archive(tree / "in", tree / "out")
    assert "0 files fixed, 9 up to date" in cappunc("fix", tree / "in", "-o", tree / "out").said


@pytest.mark.parametrize("tells", ["nothing", "ETag", "md5Hash"])
def test_a_changed_result_in_a_store_is_noticed(tree: Path, monkeypatch: pytest.MonkeyPatch, tells: str) -> None:
    store = memory.MemoryFileSystem
    real, read = store.find, []

    def find(self: Any, *asked: Any, **options: Any) -> dict[str, Any]:
        """Listings as of Amazon's and Google's stores."""
        found = real(self, *asked, **options)
        for name, info in found.items():
            digest = hashlib.md5(self.store[name].getvalue())
            told = {"ETag": f'"{digest.hexdigest()}"', "md5Hash": base64.b64encode(digest.digest()).decode()}
            info |= {tells: told[tells], "etag": "CJjI2v4="} if tells in told else {}
        return found

    def cat_file(self: Any, path: str, *_: Any) -> bytes:
        read.append(path)
        return self.store[path].getvalue()

    upload(tree / "in", "memory://box/in")
    monkeypatch.setattr(store, "find", find)
    assert archive("memory://box/in", "memory://box/out").fixed == 9
    monkeypatch.setattr(store, "cat_file", cat_file)
    assert archive("memory://box/in", "memory://box/out").known == 9
    assert any(path.startswith("/box/out/") and path.endswith(".txt") for path in read) == (tells == "nothing")
    edited = read_url("memory://box/out/0.txt").swapcase()
    write_url("memory://box/out/0.txt", edited)
    run = archive("memory://box/in", "memory://box/out")
    assert (run.code, run.known, run.failed) == (1, 8, 1)
    assert read_url("memory://box/out/0.txt") == edited


def test_new_files_are_processed_and_foreign_files_kept(tree: Path) -> None:
    order = (tree / "in", tree / "out")
    (tree / "out").mkdir()
    (tree / "out/0.txt").write_text("an editor's own")
    assert (archive(*order).fixed, (tree / "out/0.txt").read_text()) == (8, "an editor's own")
    (tree / "in/2.txt").write_text("hello london\n")
    (tree / "in/new.txt").write_text("hello cat\n")
    before = (tree / "out/4.txt").stat().st_mtime_ns
    second = archive(*order)
    assert (second.fixed, second.known, second.failed, second.skipped) == (2, 7, 1, 1)
    assert (tree / "out/4.txt").stat().st_mtime_ns == before
    # Other options do all again, but for what somebody has changed meanwhile, be it as long as it was.
    edited = (tree / "out/4.txt").read_bytes().swapcase()
    (tree / "out/4.txt").write_bytes(edited)
    third = archive("--marks", ".", *order)
    assert (third.fixed, third.failed) == (8, 2)
    assert (tree / "out/4.txt").read_bytes() == edited
    # The reason names the result: it is not the input that exists already.
    reasons = refused(tree / "out")
    assert reasons["0.txt"] == f"“{tree}/out/0.txt” already exists; --force overwrites it"
    assert reasons["4.txt"] == f"“{tree}/out/4.txt” was changed since a run wrote it; --force overwrites it"
    for reason in ("already exists", "was changed since a run wrote it"):
        assert f"failed   1 × … {reason}; --force overwrites it" in third.said
    forced = archive("--force", *order)
    assert (forced.fixed, forced.failed) == (10, 0)
    assert (tree / "out/0.txt").read_text() != "an editor's own"


@pytest.mark.parametrize("stage", range(8))
def test_a_run_killed_at_any_write_resumes(tree: Path, monkeypatch: pytest.MonkeyPatch, stage: int) -> None:
    """It dies at its n-th write, which may be a part of the record or a result."""
    upload(tree / "in", "memory://old")
    archive("memory://old/", "memory://whole")
    order = ("memory://old/", "memory://new")
    count, true, lock = 0, memory.MemoryFileSystem.pipe_file, threading.Lock()

    def dies(self: Any, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        nonlocal count
        with lock:
            mine = path.endswith("lock") or "/new/" not in path
            count += not mine
            if not mine and count > stage:
                raise SystemExit(9)
        true(self, path, value, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(memory.MemoryFileSystem, "pipe_file", dies)
        assert archive(*order).code == 9
    there = results("memory://new")
    whole = results("memory://whole")
    assert there.items() <= whole.items()
    resumed = archive(*order)
    assert results("memory://new") == whole
    assert (resumed.fixed, resumed.known, resumed.failed) == (9 - len(there), len(there), 0)


def test_each_file_is_named_once_in_the_record(tree: Path) -> None:
    archive(tree / "in", "memory://new")
    lines = list(Record("memory://new", "").lines())
    made = results("memory://new")
    assert sorted(line.file for line in lines) == sorted(made)
    assert all((line.size, line.digest) == (len(made[line.file]), content_hash(made[line.file])) for line in lines)


def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    for root in (str(tmp_path), "memory://new"):
        second = TargetLock(Record(root, "", "second"))
        with (
            TargetLock(Record(root, "", "first")),
            pytest.raises(CappuncError, match=r"process \d+ on .* is writing to it") as error,
        ):
            second.__enter__()
        assert str(error.value).startswith(root)
        with TargetLock(Record(root, "", "third")):
            pass


def checked_until_lost(lock: TargetLock) -> None:
    while True:
        lock.check()
        target_lock.time.sleep(0.01)


def test_the_lease_of_a_dead_driver_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"run": "dead", "host": "elsewhere", "pid": 1, "time": target_lock.time.time() - target_lock.DEAD_S - 1}
    write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
    memory.MemoryFileSystem.store["/new/.cappunc/lock"].modified -= timedelta(seconds=target_lock.DEAD_S + 1)
    with TargetLock(Record("memory://new", "", "next")):
        assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "next"
    told["time"] = target_lock.time.time()
    monkeypatch.setattr(target_lock, "RENEWED_S", 0.01)
    with TargetLock(Record("memory://new", "", "frozen")) as lock:
        write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
        with pytest.raises(CappuncError, match="is writing to it"):
            checked_until_lost(lock)
    # It is the other's now.
    assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "dead"


@pytest.mark.parametrize("written", ["1e400", "-1e400", "NaN", "1e300", "0", "null", '"x"', "{}"])
@pytest.mark.parametrize("tells", [True, False])
def test_the_time_of_the_store_decides_about_a_lease(
    written: str, tells: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what a driver whose clock is wrong, or anybody, has written into it."""

    def unknown(*_: object) -> None:
        raise NotImplementedError

    if not tells:
        monkeypatch.setattr(memory.MemoryFileSystem, "modified", unknown)
    lease = f'{{"run": "other", "host": "elsewhere", "pid": 1, "time": {written}}}'
    write_url("memory://new/.cappunc/lock", lease.encode())
    if tells:
        with pytest.raises(CappuncError, match="process 1 on elsewhere is writing to it"):
            TargetLock(Record("memory://new", "", "next")).__enter__()
        memory.MemoryFileSystem.store["/new/.cappunc/lock"].modified -= timedelta(seconds=target_lock.DEAD_S + 1)
    with TargetLock(Record("memory://new", "", "next")):
        assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "next"
    assert not url_exists("memory://new/.cappunc")


def test_a_run_with_too_many_failures_stops(tree: Path) -> None:
    for i in range(200):
        (tree / f"in/bad{i}.json").write_text(BAD + str(i))
    assert archive("--fail-over", "100%", tree / "in", tree / "out").failed == 200
    said = archive("--fail-over", "10", tree / "in", tree / "other").said
    assert re.search(r"stopped: \d+ of \d+ files failed, more than 10 % \(--fail-over\)$", said)
    assert (tree / "other/.cappunc/refused.jsonl").read_text().count("broken JSON") >= 1


def test_report_and_log(tree: Path) -> None:
    (tree / "in/bad.json").write_text(BAD)
    report, log = tree / "report.jsonl", "memory://logs/log.jsonl"
    assert archive("--report", report, "--log", log, tree / "in", "memory://new/").failed == 1
    lines = {Path(line["file"]).name: line for line in map(json.loads, report.read_text().splitlines())}
    assert {name: line["status"] for name, line in lines.items()} == {"bad.json": "failed", "log.json": "skipped"}
    assert "broken JSON" in lines["bad.json"]["reason"]
    assert lines["bad.json"]["line"] == 1
    assert len(read_url(log).splitlines()) == 11


def test_a_file_larger_than_the_memory_limit_is_not_read(tree: Path) -> None:
    worker = Worker(REQUEST, "new", memory=1 << 20)
    job = Job(str(tree / "in/none.txt"), str(tree / "none.txt"), size=2 << 30)
    (result,) = worker.run([job])
    assert str(result.error) == f"{job.source}: has 2,048 MB, more than --file-memory allows (1 MB)"


def test_a_group_of_a_dead_worker_is_done_again(tree: Path) -> None:
    """Some of its results are there already."""
    jobs = [Job(str(tree / "in" / name), str(tree / "out" / name)) for name in ("0.txt", "2.txt")]
    record = Record(str(tree / "out"), "s", "run")
    assert [result.status for result in Worker(REQUEST, "new", record).run(jobs[:1])] == ["fixed"]
    assert [result.status for result in Worker(REQUEST, "new", record).run(jobs)] == ["fixed", "fixed"]
    (tree / "out/2.txt").write_text("an editor's own")
    again = {result.job.source: result.status for result in Worker(REQUEST, "new", record).run(jobs)}
    assert again == {jobs[0].source: "fixed", jobs[1].source: "failed"}


def test_two_inputs_cannot_become_one(tree: Path) -> None:
    upload(tree / "in", "memory://old")
    run = archive("memory://old/", tree / "in", tree / "out")
    assert (run.code, bool(re.search(r"would both become .*0\.txt", run.said.replace("\n", "")))) == (2, True)


def test_a_list_names_the_files(tree: Path) -> None:
    (tree / "list").write_text("deep/1.txt\n0.txt\nnone.txt\n")
    listed = archive("--files-from", tree / "list", tree / "in", "memory://new")
    assert (listed.fixed, listed.failed) == (2, 1)
    assert set(results("memory://new")) == {"deep/1.txt", "0.txt"}
    anywhere = archive(tree / "in/deep/1.txt", "memory://flat")
    assert (anywhere.fixed, set(results("memory://flat"))) == (1, {"1.txt"})


def test_results_below_the_source_are_no_inputs(tree: Path) -> None:
    order = (tree / "in", tree / "in/out")
    assert archive(*order).fixed == 9
    assert archive(*order).known == 9
    assert "is both source and target" in archive(tree / "in", f"{tree}/in/").said


@pytest.mark.parametrize("place", ["memory://all", "all"])
def test_no_result_overwrites_another_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    for name in ("new/1/a.txt", "1/a.txt"):
        (tmp_path / "all" / name).parent.mkdir(parents=True)
        (tmp_path / "all" / name).write_text(f"{name} {WORDS}\n")
    upload(tmp_path / "all", "memory://all")
    monkeypatch.chdir(tmp_path)
    where = place if "://" in place else Path(place)
    before = results(where)
    report = tmp_path / "report.jsonl"
    names = [f"{place}/new/*/a.txt", f"{place}/1/a.txt"]
    assert archive("--force", "--report", report, *names, place).fixed == 1
    after = results(where)
    assert after.keys() == {*before, "a.txt"}
    assert before.items() <= after.items()
    told = [json.loads(line)["reason"] for line in report.read_text().splitlines()]
    assert told == [f"“{place}/1/a.txt” is also the input {place}/1/a.txt; nothing written"]


@pytest.mark.parametrize("report", ["out/deep/1.txt", "in/../out/0.txt", "link.jsonl", "memory://new/deep/1.txt"])
def test_the_report_of_an_archive_is_none_of_its_results(
    tree: Path, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    monkeypatch.chdir(tree)
    Path("link.jsonl").symlink_to("out/2.txt")
    target = "memory://new" if "://" in report else "out"
    assert "is the result of in/" in archive("--report", report, "in/", f"{target}/").said
    assert not results(target if "://" in target else Path(target))


def test_an_archive_overwrites_nothing_that_it_reads(tree: Path) -> None:
    assert "is an input" in archive("--report", tree / "in/deep/1.txt", tree / "in", "memory://new/").said
    terms = tree / "out/0.txt"
    terms.parent.mkdir()
    terms.write_text("London\n")
    assert archive("--force", "--glossary", terms, tree / "in", tree / "out").failed == 1
    assert terms.read_text() == "London\n"


@pytest.mark.parametrize("target", ["memory://box/out", "out"])
def test_a_key_that_is_no_path_is_refused_alone(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = memory.MemoryFileSystem.store
    odd = ["a//b.txt", "/c.txt", "a/../d.txt", "../../e.txt", "./f.txt"]
    for key in ("a/b.txt", "a/c.txt", ".hidden/x.txt", "new\nline.txt", *odd):
        store[f"/box/in/{key}"] = memory.MemoryFile(None, f"/box/in/{key}", WORDS.encode())

    def listed(_: object, path: str, **__: object) -> dict[str, Any]:
        """All keys of a store that has no directories."""
        found = {name: file for name, file in store.items() if name.startswith(f"{path.rstrip('/')}/")}
        return {name: {"name": name, "size": file.size, "created": file.created} for name, file in found.items()}

    monkeypatch.setattr(memory.MemoryFileSystem, "find", listed)
    for fixed, known in ((3, 0), (0, 3)):
        run = archive("memory://box/in", target)
        assert (run.code, run.fixed, run.known) == (1, fixed, known)
        assert all(f"memory://box/in/{key}: cannot keep its path" in run.said for key in odd)
    found = {entry.relative for entry in walk_url(target)} if "://" in target else results(tmp_path / target)
    assert {*found} == {"a/b.txt", "a/c.txt", "new\nline.txt"}
    assert [path.name for path in tmp_path.iterdir()] == [] if "://" in target else ["out"]


def test_a_name_that_is_too_long_fails_alone(tmp_path: Path) -> None:
    write_url(f"memory://box/in/{'x' * 300}.txt", WORDS.encode())
    write_url("memory://box/in/a.txt", WORDS.encode())
    run = archive("memory://box/in", tmp_path / "out")
    assert (run.code, run.fixed, run.failed) == (1, 1, 1)
