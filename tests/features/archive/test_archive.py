"""Archives in one process: what is done once, what is refused, what is left when a run is stopped."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cappunc_cli.cli.main import app
from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.features.archive import archive_summary, ledger, target_lock, work_plan
from cappunc_cli.features.archive.archive import ArchiveOrder, in_this_process, run_archive
from cappunc_cli.features.archive.archive_summary import ArchiveSummary, kind_of
from cappunc_cli.features.archive.block_worker import BlockResult, BlockWorker, Refusal, WorkOrder
from cappunc_cli.features.archive.fix_request import FixRequest
from cappunc_cli.features.archive.ledger import Line
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.features.archive.target_store import TargetStore
from cappunc_cli.features.archive.work_plan import BlockFile, FileBlock, WorkPlan
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.model_choice import ModelChoice
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import file_identity
from cappunc_cli.files.urls import Entry, Url, read_url, url_exists, walk_url, write_url
from cappunc_cli.restore.options import Options

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
    found = (path for path in place.rglob("*") if path.is_file() and ".cappunc" not in path.relative_to(place).parts[0])
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in found}


def archive(order: ArchiveOrder, reporter: Reporter | None = None) -> ArchiveSummary:
    told = reporter or Reporter(quiet=True)
    summary = ArchiveSummary()
    run_archive(order, in_this_process(told), told, summary)
    return summary


def cappunc(*arguments: str | Path, data: str | None = None) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], input=data)


def test_a_store_and_a_disk_get_the_same_bytes(tree: Path, tiny_model: Path) -> None:
    upload(tree / "in", "memory://old")
    model = ("--model", tiny_model)
    assert cappunc("fix", *model, tree / "in", "-o", tree / "out").exit_code == 0
    expected = results(tree / "out")
    assert len(expected) == 9
    first = cappunc("fix", *model, "memory://old/", "-o", "memory://new/season")
    assert first.exit_code == 0, first.stderr
    assert results("memory://new/season") == expected
    assert "files    9 fixed, 1 skipped" in first.stderr
    assert cappunc("fix", *model, "memory://old", "-o", tree / "down").exit_code == 0
    assert results(tree / "down") == expected
    again = cappunc("fix", *model, "memory://old/", "-o", "memory://new/season")
    assert "files    0 fixed, 9 up to date, 1 skipped" in again.stderr
    (line,) = read_url("memory://new/season/.cappunc/refused.jsonl").splitlines()
    assert json.loads(line)["path"] == "memory://old/log.json"
    assert json.loads(line)["skipped"] is True


def test_new_files_are_processed_and_foreign_files_kept(tree: Path, request_: FixRequest) -> None:
    order = ArchiveOrder([str(tree / "in")], str(tree / "out"), request_)
    (tree / "out").mkdir()
    (tree / "out/0.txt").write_text("an editor's own")
    assert (archive(order).fixed, (tree / "out/0.txt").read_text()) == (8, "an editor's own")
    (tree / "in/2.txt").write_text("hello london\n")
    (tree / "in/new.txt").write_text("hello cat\n")
    before = (tree / "out/4.txt").stat().st_mtime_ns
    second = archive(order)
    assert (second.fixed, second.known, second.refused, second.skipped) == (2, 7, 1, 1)
    assert (tree / "out/4.txt").stat().st_mtime_ns == before
    # Other options do all again, but for what somebody has changed meanwhile, be it as long as it was.
    edited = (tree / "out/4.txt").read_bytes().swapcase()
    (tree / "out/4.txt").write_bytes(edited)
    few_marks = Settings("", "auto", None, Options(marks="."))
    other = ArchiveOrder(order.names, order.target, FixRequest(request_.choice, few_marks))
    third = archive(other)
    assert (third.fixed, third.refused) == (8, 2)
    assert (tree / "out/4.txt").read_bytes() == edited
    told = [json.loads(line) for line in (tree / "out/.cappunc/refused.jsonl").read_text().splitlines()]
    reasons = {Path(entry["path"]).name: entry["reason"] for entry in told}
    # The reason names the result: it is not the input that exists already.
    assert reasons["0.txt"] == f"“{tree}/out/0.txt” already exists; --force overwrites it"
    assert reasons["4.txt"] == f"“{tree}/out/4.txt” was changed since a run wrote it; --force overwrites it"
    assert third.reasons == {
        "… already exists; --force overwrites it": 1,
        "… was changed since a run wrote it; --force overwrites it": 1,
    }
    forced = archive(ArchiveOrder(order.names, order.target, request_, force=True))
    assert (forced.fixed, forced.refused) == (10, 0)
    assert (tree / "out/0.txt").read_text() != "an editor's own"


@pytest.mark.parametrize("stage", range(8))
def test_a_run_killed_at_any_write_resumes(
    tree: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    """It dies at its n-th write, which may be a part of the record or a result."""
    monkeypatch.setattr(work_plan, "FILES_TOGETHER", 3)
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
    assert (resumed.fixed, resumed.known, resumed.refused) == (9 - len(there), len(there), 0)


def test_each_file_is_named_once_in_the_ledger(tree: Path, request_: FixRequest) -> None:
    archive(ArchiveOrder([str(tree / "in")], "memory://new", request_))
    lines = list(ledger.read_all(TargetStore("memory://new")))
    made = results("memory://new")
    assert sorted(line.file for line in lines) == sorted(made)
    assert all((line.size, line.md5) == (len(made[line.file]), ledger.md5_of(made[line.file])) for line in lines)


def test_malformed_ledger_lines_are_ignored() -> None:
    store = TargetStore("memory://new")
    good = Line("a.txt", "tag", 3, "md5", "sig")
    ledger.write_part(store, "run-1", [good])
    bad = [b'{"file": "b"', b"[]", b'{"file": 1, "output": 2}', b"\xff", b"[" * 100_000]
    bad += [b'{"file": "b", "input": "tag", "output": [1e999, "md5"], "with": "sig"}']
    write_url("memory://new/.cappunc/done/run-2.jsonl", b"\n".join(bad))
    assert list(ledger.read_all(store)) == [good]


def test_a_second_driver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for root in (str(tmp_path), "memory://new"):
        store = TargetStore(root)
        second = TargetLock(store, "second")
        with TargetLock(store, "first"), monkeypatch.context() as patch:
            patch.setattr(target_lock.os, "getpid", lambda: -1)  # another process, as far as the lock can tell
            with pytest.raises(CappuncError, match=r"process \d+ on .* is writing to it") as error:
                second.__enter__()
        assert str(error.value).startswith(root)
        with TargetLock(store, "third"):
            pass


def test_the_lease_of_a_dead_driver_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    store = TargetStore("memory://new")
    told = {"run": "dead", "host": "elsewhere", "pid": 1, "time": target_lock.time.time() - target_lock.DEAD_S - 1}
    write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
    with TargetLock(store, "next"):
        assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "next"
    # One of this machine is known to be dead at once.
    told |= {"host": target_lock.platform.node(), "pid": 2**22 + 1, "time": target_lock.time.time()}
    write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
    with TargetLock(store, "next"):
        pass
    monkeypatch.setattr(target_lock, "RENEWED_S", 0.01)
    with TargetLock(store, "frozen") as lock:
        write_url("memory://new/.cappunc/lock", json.dumps(told).encode())
        for _ in range(500):
            if lock.lost:
                break
            target_lock.time.sleep(0.01)
        assert lock.lost is not None
    # It is the other's now.
    assert json.loads(read_url("memory://new/.cappunc/lock"))["run"] == "dead"


def test_a_run_with_too_many_refusals_stops(tree: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_plan, "FILES_TOGETHER", 2)
    for i in range(6):
        (tree / f"in/bad{i}.json").write_text(BAD + str(i))
    order = ArchiveOrder([str(tree / "in")], str(tree / "out"), request_, fail_over=50)
    assert archive(order).refused == 6
    monkeypatch.setattr("cappunc_cli.features.archive.archive._MIN_FINISHED", 2)
    with pytest.raises(CappuncError, match=r"^stopped: \d+ of \d+ files were refused, more than 10 % \(--fail-over\)$"):
        archive(ArchiveOrder(order.names, str(tree / "other"), request_, fail_over=10))
    assert (tree / "other/.cappunc/refused.jsonl").read_text().count("broken JSON") >= 1


def test_a_refusal_is_a_line_of_the_report(tree: Path, tiny_model: Path) -> None:
    (tree / "in/bad.json").write_text(BAD)
    report = tree / "report.jsonl"
    model = ("--model", tiny_model)
    alone = cappunc("fix", *model, tree / "in/bad.json", "-o", tree / "x.json")
    run = cappunc("fix", *model, tree / "in", "-o", "memory://new/", "--report", report, "--fail-over", "20%")
    assert run.exit_code == 1
    bad, _ = sorted(map(json.loads, report.read_text().splitlines()), key=lambda entry: str(entry["path"]))
    assert f"cappunc: {bad['path']}:{bad['line']}: {bad['reason']}" in alone.stderr
    assert bad["seconds"] >= 0
    assert "refused  1 × " in run.stderr
    assert "words/s" in run.stderr


def test_files_that_ran_out_of_memory_are_retried_alone(
    tree: Path, request_: FixRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    read = Fixer.read

    def starved(fixer: Fixer, text: str, name: str) -> Any:
        if name.endswith("/0.txt"):
            asked.append(True)
            if len(asked) == 1:
                raise MemoryError
        if name.endswith("/2.txt"):
            raise MemoryError
        return read(fixer, text, name)

    monkeypatch.setattr(Fixer, "read", starved)
    summary = archive(ArchiveOrder([str(tree / "in")], str(tree / "out"), request_))
    assert (summary.fixed, summary.refused, summary.skipped) == (8, 1, 1)
    assert summary.reasons == {"needs more memory than is available": 1}
    assert len(asked) == 2


def test_a_file_larger_than_the_memory_limit_is_not_read(tree: Path, request_: FixRequest) -> None:
    store = TargetStore(str(tree / "out"))
    worker = BlockWorker(WorkOrder(request_, store, request_.signature(), "run", memory=1 << 20))
    large = BlockFile(str(tree / "in/none.txt"), "none.txt", 2 << 30, "tag")
    result = worker.run(FileBlock(0, (large,)))
    reason = "has 2,048 MB, more than --file-memory allows (1 MB)"
    assert [(refusal.path, refusal.reason) for refusal in result.refusals] == [(large.source, reason)]


def test_a_block_of_a_dead_worker_is_done_again(tree: Path, request_: FixRequest) -> None:
    """Some of its results are there already, whether or not older ones lay there before."""
    store = TargetStore(str(tree / "out"))
    sources = [tree / "in/0.txt", tree / "in/2.txt"]
    for ours in (None, ("0" * 32,)):
        files = tuple(BlockFile(str(path), path.name, 10, "tag", ours=ours) for path in sources)
        worker = BlockWorker(WorkOrder(request_, store, request_.signature(), "run"))
        if ours is None:
            assert worker.run(FileBlock(0, files[:1])).fixed == 1
        result = worker.run(FileBlock(0, files, alone=True))
        assert (result.fixed, result.refusals) == (2, [])
    (tree / "out/2.txt").write_text("an editor's own")
    result = worker.run(FileBlock(0, files))
    assert (result.fixed, len(result.refusals)) == (1, 1)


def test_a_worker_with_another_model_is_refused(request_: FixRequest) -> None:
    with pytest.raises(CappuncError, match="a different version of cappunc, or different models"):
        BlockWorker(WorkOrder(request_, TargetStore("memory://new"), "other", "run"))


def test_each_language_has_its_model(tree: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what says so is in a language without a model: it is refused, the others are done."""
    monkeypatch.setenv("CAPPUNC_MODELS", str(tree / "models"))
    (tree / "models").mkdir()
    (tree / "models/en").symlink_to(tiny_model)
    (tree / "in/czech.txt").write_text("včera jsme šli do města a potom jsme se vrátili domů protože pršelo\n")
    run = cappunc("fix", tree / "in", "-o", "memory://new/", "--report", tree / "report.jsonl")
    told = [json.loads(line) for line in (tree / "report.jsonl").read_text().splitlines()]
    refused = [entry for entry in told if not entry.get("skipped")]
    assert [Path(entry["path"]).name for entry in refused] == ["czech.txt"], run.stderr
    assert "looks like Czech" in refused[0]["reason"] or "cs" in refused[0]["reason"]
    assert "(en " in run.stderr


def test_blocks_are_sorted_by_size_and_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_plan, "FILES_TOGETHER", 3)
    monkeypatch.setattr(work_plan, "BYTES_TOGETHER", 100)
    plan = WorkPlan()
    sizes = [5, 300, 70, 40, 10, 5, 5, 5]
    plan.add_inputs(Entry(f"in/{i}", f"{i}", size, "t") for i, size in enumerate(sizes))
    assert plan.todo("sig") == (8, 440)
    blocks = list(plan.blocks(TargetStore("memory://new")))
    assert [[file.size for file in block.files] for block in blocks] == [[300], [70], [40, 10, 5], [5, 5, 5]]
    assert [block.number for block in blocks] == [0, 1, 2, 3]
    plan.close()


def test_names_need_not_be_valid_text() -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    plan = WorkPlan()
    plan.add_inputs([Entry(f"in/{name}", name, 1, "t")])
    plan.add_lines([Line(name, "t", 2, "m", "sig")])
    plan.add_results([Entry(f"out/{name}", name, 2, "t")])
    assert plan.todo("sig") == (0, 0)
    assert plan.todo("other") == (1, 1)
    ((file,),) = (block.files for block in plan.blocks(TargetStore("out")))
    assert (file.relative, file.source, file.ours) == (name, f"in/{name}", ("m",))


def test_two_inputs_cannot_become_one() -> None:
    plan = WorkPlan()
    plan.add_inputs([Entry("a/x.txt", "x.txt", 1, "t")])
    plan.add_inputs([Entry("a/x.txt", "x.txt", 1, "t")])
    with pytest.raises(BadOption, match=r"b/x\.txt and a/x\.txt would both become x\.txt"):
        plan.add_inputs([Entry("b/x.txt", "x.txt", 1, "t")])
    with pytest.raises(BadOption):
        WorkPlan().add_inputs([Entry("a/x.txt", "x.txt", 1, "t"), Entry("b/x.txt", "x.txt", 1, "t")])


def test_a_url_is_no_local_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = []

    def identity(name: object) -> object:
        looked_up.append(str(name))
        return file_identity(name)  # type: ignore[arg-type]

    monkeypatch.setattr(work_plan, "file_identity", identity)
    local = tmp_path / "a.txt"
    local.write_text("so\n", encoding="utf-8")
    plan = WorkPlan([str(local)])
    plan.add_inputs([Entry(str(local), "a.txt", 3, "t"), Entry("memory://old/b.txt", "b.txt", 3, "t")])
    assert plan.input_at(Url("memory://new/a.txt")) == ""
    assert plan.input_at(Url("memory://old/b.txt")) == "memory://old/b.txt"
    assert str(local) not in looked_up
    assert plan.input_at(local) == str(local)


def test_a_list_names_the_files(tree: Path, request_: FixRequest) -> None:
    listed = ArchiveOrder([str(tree / "in")], "memory://new", request_, listed=["deep/1.txt", "0.txt", "none.txt"])
    summary = archive(listed)
    assert (summary.fixed, summary.refused) == (2, 1)
    assert set(results("memory://new")) == {"deep/1.txt", "0.txt"}
    with pytest.raises(CappuncError, match="is not a path in"):
        archive(ArchiveOrder([str(tree / "in")], "memory://new", request_, listed=["../x.txt"]))
    anywhere = archive(ArchiveOrder([], "memory://flat", request_, listed=[str(tree / "in/deep/1.txt")]))
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


def test_a_link_among_the_results_leads_to_no_input(tree: Path, request_: FixRequest) -> None:
    (tree / "out").mkdir()
    (tree / "out/0.txt").symlink_to(tree / "in/2.txt")
    (tree / "out/deep").symlink_to(tree / "in/deep")
    before = results(tree / "in")
    summary = archive(ArchiveOrder([str(tree / "in")], str(tree / "out"), request_, force=True))
    assert (summary.fixed, summary.refused) == (4, 5)
    assert results(tree / "in") == before
    told = [json.loads(line) for line in (tree / "out/.cappunc/refused.jsonl").read_text().splitlines()]
    reasons = {entry["path"].removeprefix(f"{tree}/in/"): entry["reason"] for entry in told}
    assert reasons["0.txt"] == f"“{tree}/out/0.txt” is also the input {tree}/in/2.txt; nothing written"
    assert reasons["deep/1.txt"] == f"“{tree}/out/deep/1.txt” is the input itself"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such pipes")
def test_an_archive_writes_to_no_pipe_and_to_no_result_twice(tree: Path, request_: FixRequest) -> None:
    (tree / "out").mkdir()
    (tree / "out/0.txt").symlink_to("2.txt")
    os.mkfifo(tree / "out/4.txt")
    summary = archive(ArchiveOrder([str(tree / "in")], str(tree / "out"), request_, force=True))
    assert (summary.fixed, summary.refused) == (7, 2)
    assert (tree / "out/2.txt").read_text().lower().startswith("then we went")
    told = [json.loads(line)["reason"] for line in (tree / "out/.cappunc/refused.jsonl").read_text().splitlines()]
    linked = f"“{tree}/out/0.txt” is also the result of {tree}/in/2.txt; nothing written"
    assert {linked, f"“{tree}/out/4.txt” is a pipe; nothing written"} <= {*told}


@pytest.mark.parametrize(
    ("source", "target", "option", "name"),
    [
        ("in", "memory://new/", "--report", "in/deep/1.txt"),
        ("memory://old/", "out", "--glossary", "out/0.txt"),
    ],
)
def test_an_archive_overwrites_nothing_that_it_reads(
    tree: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str, option: str, name: str
) -> None:
    monkeypatch.chdir(tree)
    Path("out").mkdir()
    Path("out/0.txt").write_text("London\n")
    upload(Path("in"), "memory://old")
    before = Path(name).read_bytes()
    run = cappunc("fix", "--model", tiny_model, source, "-o", target, "--force", option, name)
    assert run.exit_code
    assert "input" in f"{run.stderr}{run.exception}"
    assert Path(name).read_bytes() == before


@pytest.mark.parametrize("report", ["out/deep/1.txt", "in/../out/0.txt", "link.jsonl", "memory://new/deep/1.txt"])
def test_the_report_of_an_archive_is_none_of_its_results(
    tree: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    monkeypatch.chdir(tree)
    Path("link.jsonl").symlink_to("out/2.txt")
    upload(Path("in"), "memory://old")
    target = "memory://new" if "://" in report else "out"
    run = cappunc("fix", "--model", tiny_model, "memory://old/", "-o", f"{target}/", "--report", report)
    assert isinstance(run.exception, WrongUsage)
    assert "is the result of memory://old/" in str(run.exception)
    assert not results(target if "://" in target else Path(target))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ray",), "needs -o with a directory or URL"),
        (("--ray", "-o", "out", "--diff"), "--diff"),
        (("--ray", "-o", "out", "-"), "needs the names"),
        (("-o", "memory://new/", "--jobs", "2"), "needs a local directory for the results, or --ray"),
        (("-o", "out/", "--fail-over", "5%"), "needs --ray"),
        (("-o", "out/", "--file-timeout", "5"), "--file-timeout: needs --ray"),
        (("-o", "memory://new/", "--file-memory", "512"), "--file-memory: needs --ray"),
        (("-o", "memory://new/", "--fail-over", "many"), "is not a percentage"),
    ],
)
def test_wrong_usage_of_archives(tree: Path, tiny_model: Path, options: tuple[str, ...], message: str) -> None:
    found = cappunc("fix", "--model", tiny_model, tree / "in", *options)
    assert message in f"{found.stderr}{found.exception!r}{getattr(found.exception, 'message', '')}"
    assert found.exit_code


def test_progress_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    summary = ArchiveSummary(todo=1000, known=5)
    result = BlockResult(0, "node-1", fixed=200, seconds=2.0, refusals=[Refusal("a.srt", "no cue 12", 3)])
    result.words["en"] = 40_000
    summary.add(result)
    monkeypatch.setattr(archive_summary, "_PROGRESS_S", 0.0)
    archive_summary.ArchiveProgress(Reporter(), summary, None).update()
    line = capsys.readouterr().err
    assert line.startswith("cappunc: 201 of 1,000 files, ")
    assert "words/s, " in line
    assert line.endswith("left, 1 refused\n")
    table = summary.table()
    assert table[0] == "files    200 fixed, 5 up to date, 1 refused"
    assert table[1].startswith("words    40,000 (en 40,000) in ")
    assert table[2:] == ["refused  1 × no cue …", "node     node-1: 200 files, 40,000 words, 20,000 words/s"]


def test_refusals_are_grouped_without_quotes_and_numbers() -> None:
    kinds = {kind_of(Refusal("a", text)) for text in ("word 7 is “a”, not “b”", "word 12 is “x y”, not “”")}
    assert kinds == {"word … is …, not …"}
