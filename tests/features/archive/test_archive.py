"""Archives in one process: what is done once, what is refused, what is left when a run is stopped."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.features.archive import target_lock
from cappunc_cli.features.archive.command import ArchiveOrder, run_archive
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.features.fix.command import FixRun, fix_files
from cappunc_cli.files.executors import in_this_process
from cappunc_cli.files.fixer import Settings
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.record import Record, content_hash
from cappunc_cli.files.request import FixRequest, ModelChoice
from cappunc_cli.files.results import ResultWriter
from cappunc_cli.files.run import Worker, WorkOrder
from cappunc_cli.files.summary import Summary, kind_of
from cappunc_cli.files.urls import read_url, url_exists, walk_url, write_url
from cappunc_cli.restoration.options import Options

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


@pytest.fixture
def request_(tiny_model: Path) -> FixRequest:
    return FixRequest(ModelChoice("en", str(tiny_model)), Settings("", "cpu", None, Options()))


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


def archive(order: ArchiveOrder) -> Summary:
    summary = Summary()
    run_archive(order, in_this_process(), Reporter(quiet=True), summary)
    return summary


def refused(target: Path) -> dict[str, str]:
    """The reasons in the report at a target, by the names of files."""
    lines = map(json.loads, (target / ".cappunc/refused.jsonl").read_text().splitlines())
    return {Path(line["file"]).name: line["reason"] for line in lines}


def test_a_store_and_a_disk_get_the_same_bytes(tree: Path, request_: FixRequest) -> None:
    upload(tree / "in", "memory://old")
    summary = archive(ArchiveOrder([str(tree / "in")], str(tree / "out"), request_))
    expected = results(tree / "out")
    assert (summary.fixed, summary.skipped, len(expected)) == (9, 1, 9)
    order = ArchiveOrder(["memory://old/"], "memory://new/season", request_)
    assert archive(order).fixed == 9
    assert results("memory://new/season") == expected
    archive(ArchiveOrder(["memory://old"], str(tree / "down"), request_))
    assert results(tree / "down") == expected
    again = archive(order)
    assert (again.fixed, again.known, again.skipped) == (0, 9, 1)
    (line,) = read_url("memory://new/season/.cappunc/refused.jsonl").splitlines()
    assert json.loads(line)["file"] == "memory://old/log.json"
    assert json.loads(line)["status"] == "skipped"


def test_archives_and_fix_know_each_others_results(tree: Path, request_: FixRequest) -> None:
    archive(ArchiveOrder([str(tree / "in")], str(tree / "out"), request_))
    jobs = [Job(str(path), tree / "out" / path.relative_to(tree / "in")) for path in (tree / "in").rglob("[0-9].txt")]
    summary = Summary()
    fix_files(jobs, FixRun(request_, "new", str(tree / "out")), Reporter(True), summary)
    assert (summary.fixed, summary.known) == (0, 9)


def test_new_files_are_processed_and_foreign_files_kept(tree: Path, request_: FixRequest) -> None:
    order = ArchiveOrder([str(tree / "in")], str(tree / "out"), request_)
    (tree / "out").mkdir()
    (tree / "out/0.txt").write_text("an editor's own")
    assert (archive(order).fixed, (tree / "out/0.txt").read_text()) == (8, "an editor's own")
    (tree / "in/2.txt").write_text("hello london\n")
    (tree / "in/new.txt").write_text("hello cat\n")
    before = (tree / "out/4.txt").stat().st_mtime_ns
    second = archive(order)
    assert (second.fixed, second.known, second.failed, second.skipped) == (2, 7, 1, 1)
    assert (tree / "out/4.txt").stat().st_mtime_ns == before
    # Other options do all again, but for what somebody has changed meanwhile, be it as long as it was.
    edited = (tree / "out/4.txt").read_bytes().swapcase()
    (tree / "out/4.txt").write_bytes(edited)
    few_marks = Settings("", "auto", None, Options(marks="."))
    other = ArchiveOrder(order.names, order.target, FixRequest(request_.choice, few_marks))
    third = archive(other)
    assert (third.fixed, third.failed) == (8, 2)
    assert (tree / "out/4.txt").read_bytes() == edited
    # The reason names the result: it is not the input that exists already.
    reasons = refused(tree / "out")
    assert reasons["0.txt"] == f"“{tree}/out/0.txt” already exists; --force overwrites it"
    assert reasons["4.txt"] == f"“{tree}/out/4.txt” was changed since a run wrote it; --force overwrites it"
    assert third.reasons == {
        "… already exists; --force overwrites it": 1,
        "… was changed since a run wrote it; --force overwrites it": 1,
    }
    forced = archive(ArchiveOrder(order.names, order.target, request_, force=True))
    assert (forced.fixed, forced.failed) == (10, 0)
    assert (tree / "out/0.txt").read_text() != "an editor's own"


@pytest.mark.parametrize("stage", range(8))
def test_a_run_killed_at_any_write_resumes(
    tree: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    """It dies at its n-th write, which may be a part of the record or a result."""
    upload(tree / "in", "memory://old")
    archive(ArchiveOrder(["memory://old/"], "memory://whole", request_))
    order = ArchiveOrder(["memory://old/"], "memory://new", request_)
    count, true, lock = 0, memory.MemoryFileSystem.pipe_file, threading.Lock()

    def dies(self: Any, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        nonlocal count
        with lock:
            mine = path.endswith("lock") or "/new/" not in path
            count += not mine
            if not mine and count > stage:
                raise SystemExit
        true(self, path, value, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(memory.MemoryFileSystem, "pipe_file", dies)
        with pytest.raises(SystemExit):
            archive(order)
    there = results("memory://new")
    whole = results("memory://whole")
    assert there.items() <= whole.items()
    resumed = archive(order)
    assert results("memory://new") == whole
    assert (resumed.fixed, resumed.known, resumed.failed) == (9 - len(there), len(there), 0)


def test_each_file_is_named_once_in_the_record(tree: Path, request_: FixRequest) -> None:
    archive(ArchiveOrder([str(tree / "in")], "memory://new", request_))
    lines = list(Record("memory://new", "").lines())
    made = results("memory://new")
    assert sorted(line.file for line in lines) == sorted(made)
    assert all((line.size, line.digest) == (len(made[line.file]), content_hash(made[line.file])) for line in lines)


def test_a_second_driver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for root in (str(tmp_path), "memory://new"):
        second = TargetLock(Record(root, "", "second"))
        with TargetLock(Record(root, "", "first")), monkeypatch.context() as patch:
            patch.setattr(target_lock.os, "getpid", lambda: -1)  # another process, as far as the lock can tell
            with pytest.raises(CappuncError, match=r"process \d+ on .* is writing to it") as error:
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
    with TargetLock(Record("memory://new", "", "next")):
        assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "next"
    # One of this machine is known to be dead at once.
    told |= {"host": target_lock.platform.node(), "pid": 2**22 + 1, "time": target_lock.time.time()}
    write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
    with TargetLock(Record("memory://new", "", "next")):
        pass
    monkeypatch.setattr(target_lock, "RENEWED_S", 0.01)
    with TargetLock(Record("memory://new", "", "frozen")) as lock:
        write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
        with pytest.raises(CappuncError, match="is writing to it"):
            checked_until_lost(lock)
    # It is the other's now.
    assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "dead"


def test_a_run_with_too_many_failures_stops(tree: Path, request_: FixRequest) -> None:
    for i in range(200):
        (tree / f"in/bad{i}.json").write_text(BAD + str(i))
    order = ArchiveOrder([str(tree / "in")], str(tree / "out"), request_, fail_over=100)
    assert archive(order).failed == 200
    with pytest.raises(CappuncError, match=r"^stopped: \d+ of \d+ files failed, more than 10 % \(--fail-over\)$"):
        archive(ArchiveOrder(order.names, str(tree / "other"), request_, fail_over=10))
    assert (tree / "other/.cappunc/refused.jsonl").read_text().count("broken JSON") >= 1


def test_report_and_log(tree: Path, request_: FixRequest) -> None:
    (tree / "in/bad.json").write_text(BAD)
    report, log = tree / "report.jsonl", "memory://logs/log.jsonl"
    order = ArchiveOrder([str(tree / "in")], "memory://new/", request_, report=str(report), log=log)
    assert archive(order).failed == 1
    lines = {Path(line["file"]).name: line for line in map(json.loads, report.read_text().splitlines())}
    assert {name: line["status"] for name, line in lines.items()} == {"bad.json": "failed", "log.json": "skipped"}
    assert "broken JSON" in lines["bad.json"]["reason"]
    assert lines["bad.json"]["line"] == 1
    assert len(read_url(log).splitlines()) == 11


def test_a_file_larger_than_the_memory_limit_is_not_read(tree: Path, request_: FixRequest) -> None:
    worker = Worker(WorkOrder(request_, ResultWriter("new"), memory=1 << 20))
    job = Job(str(tree / "in/none.txt"), tree / "none.txt", size=2 << 30)
    (result,) = worker.run([job])
    assert result.error == f"{job.source}: has 2,048 MB, more than --file-memory allows (1 MB)"


def test_a_group_of_a_dead_worker_is_done_again(tree: Path, request_: FixRequest) -> None:
    """Some of its results are there already."""
    jobs = [Job(str(tree / "in" / name), tree / "out" / name) for name in ("0.txt", "2.txt")]
    writer = ResultWriter("new", Record(str(tree / "out"), "s", "run"))
    assert [result.status for result in Worker(WorkOrder(request_, writer)).run(jobs[:1])] == ["fixed"]
    assert [result.status for result in Worker(WorkOrder(request_, writer)).run(jobs)] == ["fixed", "fixed"]
    (tree / "out/2.txt").write_text("an editor's own")
    again = {result.job.source: result.status for result in Worker(WorkOrder(request_, writer)).run(jobs)}
    assert again == {jobs[0].source: "fixed", jobs[1].source: "failed"}


def test_two_inputs_cannot_become_one(tree: Path, request_: FixRequest) -> None:
    upload(tree / "in", "memory://old")
    order = ArchiveOrder(["memory://old/", str(tree / "in")], str(tree / "out"), request_)
    with pytest.raises(BadOption, match=r"would both become .*0\.txt"):
        archive(order)


def test_a_list_names_the_files(tree: Path, request_: FixRequest) -> None:
    names = [str(tree / "in" / name) for name in ("deep/1.txt", "0.txt", "none.txt")]
    summary = archive(ArchiveOrder(names, "memory://new", request_, below=str(tree / "in")))
    assert (summary.fixed, summary.failed) == (2, 1)
    assert set(results("memory://new")) == {"deep/1.txt", "0.txt"}
    anywhere = archive(ArchiveOrder([str(tree / "in/deep/1.txt")], "memory://flat", request_))
    assert (anywhere.fixed, set(results("memory://flat"))) == (1, {"1.txt"})


def test_results_below_the_source_are_no_inputs(tree: Path, request_: FixRequest) -> None:
    order = ArchiveOrder([str(tree / "in")], str(tree / "in/out"), request_)
    assert archive(order).fixed == 9
    assert archive(order).known == 9
    with pytest.raises(WrongUsage, match="is both source and target"):
        archive(ArchiveOrder([str(tree / "in")], f"{tree}/in/", request_))


@pytest.mark.parametrize("place", ["memory://all", "all"])
def test_no_result_overwrites_another_input(
    tmp_path: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name in ("new/1/a.txt", "1/a.txt"):
        (tmp_path / "all" / name).parent.mkdir(parents=True)
        (tmp_path / "all" / name).write_text(f"{name} {WORDS}\n")
    upload(tmp_path / "all", "memory://all")
    monkeypatch.chdir(tmp_path)
    where = place if "://" in place else Path(place)
    before = results(where)
    report = tmp_path / "report.jsonl"
    names = [f"{place}/new/*/a.txt", f"{place}/1/a.txt"]
    assert archive(ArchiveOrder(names, place, request_, force=True, report=str(report))).fixed == 1
    after = results(where)
    assert after.keys() == {*before, "a.txt"}
    assert before.items() <= after.items()
    told = [json.loads(line)["reason"] for line in report.read_text().splitlines()]
    assert told == [f"“{place}/1/a.txt” is also the input {place}/1/a.txt; nothing written"]


@pytest.mark.parametrize("report", ["out/deep/1.txt", "in/../out/0.txt", "link.jsonl", "memory://new/deep/1.txt"])
def test_the_report_of_an_archive_is_none_of_its_results(
    tree: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    monkeypatch.chdir(tree)
    Path("link.jsonl").symlink_to("out/2.txt")
    target = "memory://new" if "://" in report else "out"
    with pytest.raises(WrongUsage, match="is the result of in/"):
        archive(ArchiveOrder(["in/"], f"{target}/", request_, report=report))
    assert not results(target if "://" in target else Path(target))


def test_an_archive_overwrites_nothing_that_it_reads(tree: Path, request_: FixRequest) -> None:
    with pytest.raises(WrongUsage, match="is an input"):
        archive(ArchiveOrder([str(tree / "in")], "memory://new/", request_, report=str(tree / "in/deep/1.txt")))
    terms = tree / "out/0.txt"
    terms.parent.mkdir()
    terms.write_text("London\n")
    order = ArchiveOrder([str(tree / "in")], str(tree / "out"), request_, force=True, also_read=[str(terms)])
    assert archive(order).failed == 1
    assert terms.read_text() == "London\n"


def test_failures_are_grouped_without_quotes_and_numbers() -> None:
    assert {kind_of(text) for text in ("word 7 is “a”, not “b”", "word 12 is “x y”, not “”")} == {"word … is …, not …"}
