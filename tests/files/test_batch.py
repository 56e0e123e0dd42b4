"""Many files: shared batches, worker processes, and going on where a run stopped."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Word
from cappunc_cli.errors import CappuncError
from cappunc_cli.files import batch, processing, worker_pool
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.input_files import Job, find_inputs
from cappunc_cli.files.manifest import NAME, Manifest
from cappunc_cli.files.progress import Reporter, Steps
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.files.storage import state_of
from cappunc_cli.restore import pipeline
from cappunc_cli.restore.models import network
from cappunc_cli.restore.options import Options
from cappunc_cli.restore.pipeline import load_model, restore, restore_all

TINY = Path(__file__).parents[1] / "tiny_model"
WORDS = ["hello", "anna", "then", "we", "went", "to", "london", "where", "is", "the", "cat", "dog"]


def cappunc(*arguments: str | Path, cwd: Path, timeout: float | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cappunc_cli", "fix", "--model", str(TINY), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, cwd=cwd, check=False, timeout=timeout)


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


def test_restoring_texts_together_equals_one_by_one() -> None:
    chance = Random(2)
    model = load_model(str(TINY), "cpu")
    texts = [[Word(chance.choice(WORDS)) for _ in range(n)] for n in (0, 1, 40, 700, 0, 3)]
    heard: list[int] = []
    assert list(restore_all(texts, model, Options(), heard.append)) == [restore(text, model) for text in texts]
    assert heard == sorted(heard)
    assert heard[-1] == sum(map(len, texts))


def test_a_long_text_is_decided_in_stretches_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(3)
    model = load_model(str(TINY), "cpu")
    words = [Word(chance.choice(WORDS), i * 400, i * 400 + 300) for i in range(1130)]
    whole = restore(words, model)
    monkeypatch.setattr(pipeline, "_SECTION", 100)
    monkeypatch.setattr(pipeline, "_CONTEXT", 40)
    assert list(restore_all([words, words[:239], words[:1]], model, Options())) == [
        whole,
        restore(words[:239], model),
        restore(words[:1], model),
    ]


def test_the_beginning_of_a_long_text_is_decided_while_the_model_reads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(str(TINY), "cpu")
    words = [Word(Random(4).choice(WORDS)) for _ in range(1000)]
    heard, decided = [0], []

    def rewrite(some: list[Word], *arguments: Any) -> list[str]:
        decided.append((len(some), heard[-1]))
        return real(some, *arguments)

    real = pipeline.rewrite
    monkeypatch.setattr(pipeline, "rewrite", rewrite)
    monkeypatch.setattr(pipeline, "_SECTION", 300)
    monkeypatch.setattr(pipeline, "_CONTEXT", 40)
    next(restore_all([words], model, Options(), heard.append))
    assert [count for count, _ in decided] == [340, 380, 380, 140]
    known = [words_read for _, words_read in decided]
    assert known == sorted(known)
    assert all(340 + 300 * i <= read < 400 + 300 * i for i, read in enumerate(known[:3]))


def test_probabilities_are_freed_before_the_result_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[weakref.ref[Any]] = []

    def merge(*arguments: Any, **options: Any) -> Any:
        merged = real(*arguments, **options)
        rows.append(weakref.ref(merged))
        return merged

    real = pipeline.merge
    monkeypatch.setattr(pipeline, "merge", merge)
    texts = restore_all([[Word(word) for word in WORDS]] * 2, load_model(str(TINY), "cpu"), Options())
    for _ in texts:
        assert all(found() is None for found in rows)
    assert len(rows) == 2


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_workers_do_what_one_process_does(tree: Path, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "FILES_TOGETHER", 4)
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


def test_workers_ask_all_models_of_an_ensemble(tree: Path) -> None:
    onnx = pytest.importorskip("onnx")
    for name in ("first", "other"):
        shutil.copytree(TINY, tree / name)
    config = json.loads((TINY / "config.json").read_text("utf-8"))
    (tree / "first/config.json").write_text(json.dumps(config | {"ensemble": {"other": 0.9}}), "utf-8")
    network = onnx.load(tree / "other/model.onnx")
    for tensor in network.graph.initializer:
        if tensor.name == "marks_here":  # other marks
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor)[:, ::-1], tensor.name))
    onnx.save(network, tree / "other/model.onnx")
    for jobs in ("1", "2"):
        assert cappunc("in", "-o", f"out{jobs}", "--jobs", jobs, "--model", "first", cwd=tree).returncode == 0
    assert contents(tree / "out1") == contents(tree / "out2")
    words = [Word(text) for text in (tree / "in/0.txt").read_text().split()]
    assert (tree / "out2/0.txt").read_text().split() != restore(words, load_model(str(TINY), "cpu"))


def test_other_json_in_a_directory_is_skipped(tree: Path) -> None:
    for path in (tree / "in").rglob("*.txt"):
        if path.name not in ("1.txt", "2.txt"):
            path.unlink()
    (tree / "in/talk.info.json").write_text('{"id": "x", "title": "talk"}')
    run = cappunc("in", "-o", "out", cwd=tree)
    assert run.returncode == 0
    said = "cappunc: in/talk.info.json: JSON, but no transcript: an object with the keys id, title; skipped"
    assert said in run.stderr.decode().splitlines()
    assert sorted(contents(tree / "out")) == ["2.txt", "deep/1.txt"]
    (tree / "in/notes.jsonl").write_text('{"id": "x", "title": "talk"}\n{"id": "y"}\n')
    (tree / "in/live.jsonl").write_text('{"result": [{"word": "hello", "start": 0, "end": 1}], "text": "hello"}\n' * 2)
    run = cappunc("in", "-o", "out", cwd=tree)
    assert run.returncode == 0
    assert b"notes.jsonl: JSON, but no transcript" in run.stderr
    assert b"Hello" in (tree / "out/live.jsonl").read_bytes()
    assert not (tree / "out/notes.jsonl").exists()
    named = cappunc("in/talk.info.json", "-o", "out2/", cwd=tree)
    assert named.returncode == 1
    assert b"skipped" not in named.stderr


def test_files_in_two_languages_have_one_summary(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for i in range(12):
        (tmp_path / f"in/en{i}.txt").write_text("the cat is in the house and that is where it was\n")
        (tmp_path / f"in/es{i}.txt").write_text("el gato está en la casa y allí es donde estaba siempre\n")
    command = [sys.executable, "-m", "cappunc_cli", "fix", "in", "-o", "out"]
    run = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
    lines = [line for line in run.stderr.decode().splitlines() if "files" in line]
    assert len(lines) == 1
    assert lines[0].startswith("cappunc: 24 files fixed; ")


def test_a_run_resumes_where_it_stopped(tree: Path) -> None:
    assert cappunc("in", "-o", "out", cwd=tree).returncode == 0
    first = contents(tree / "out")
    again = cappunc("in", "-o", "out", cwd=tree)
    assert again.returncode == 0
    assert b"0 files fixed, 30 up to date" in again.stderr
    # A killed run: half a line in the record, some results lost.
    record = tree / "out" / NAME
    record.write_text(record.read_text()[:-20])
    (tree / "out/deep/1.txt").unlink()
    Path(tree / "in/2.txt").write_text("hello cat\n")
    more = cappunc("in", "-o", "out", cwd=tree)
    assert b"already exists; --force overwrites it" in more.stderr  # the file whose line was torn
    assert more.returncode == 1
    assert b"2 files fixed, 27 up to date, 1 failed" in more.stderr
    assert (tree / "out/2.txt").read_text() == "Hello cat.\n"
    assert cappunc("in", "-o", "out", "--force", cwd=tree).returncode == 0
    assert contents(tree / "out") == {**first, "2.txt": b"Hello cat.\n"}


def test_other_options_redo_our_results_and_no_other_files(tree: Path) -> None:
    assert cappunc("in", "-o", "out", cwd=tree).returncode == 0
    (tree / "out/0.txt").write_text("corrected by hand\n")
    run = cappunc("in", "-o", "out", "--marks", ".", cwd=tree)
    assert b"29 files fixed, 1 failed" in run.stderr
    assert (tree / "out/0.txt").read_text() == "corrected by hand\n"
    assert not any(b"?" in data for name, data in contents(tree / "out").items())


def test_a_directory_with_one_file_becomes_a_directory(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/talk.txt").write_text("hello cat\n")
    assert cappunc("in", "-o", "out", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out/talk.txt").read_text() == "Hello cat.\n"


def test_an_output_directory_inside_the_input_is_no_input(tree: Path) -> None:
    assert cappunc("in", "-o", "in/fixed", cwd=tree).returncode == 0
    assert len(find_inputs([str(tree / "in")], "txt", pytest.fail, str(tree / "in/fixed"))) == 30


def test_a_bad_text_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(Fixer):
        def restore(self, documents, progress=None):  # type: ignore[no-untyped-def]
            if any(word.text == "cat" for document in documents for word in document.words):
                raise CappuncError("no cats")
            return super().restore(documents, progress)

    jobs = []
    for name, text in (("a", "hello"), ("b", "cat"), ("c", "dog")):
        (tmp_path / name).write_text(text)
        jobs.append(Job(str(tmp_path / name), tmp_path / f"{name}.out"))
    said: list[object] = []
    reporter = Reporter(quiet=True)
    monkeypatch.setattr(reporter, "error", said.append)
    fixer = Picky(Settings(str(TINY), "cpu", "txt", Options()), said.append)
    tally = batch.BatchSummary()
    batch.run_batch(jobs, fixer, ResultWriter("new"), reporter, tally)
    tally.report(reporter)
    assert said == [f"{tmp_path / 'b'}: no cats", "1 of 3 files failed"]
    assert [p.name for p in sorted(tmp_path.glob("*.out"))] == ["a.out", "c.out"]


def test_a_file_is_written_while_the_model_reads_the_next(tmp_path: Path) -> None:
    jobs = [Job(str(tmp_path / name), tmp_path / "out" / name) for name in "ab"]
    for job in jobs:
        Path(job.source).write_text("hello")
    seen = []

    class Slow(Fixer):
        def restore(self, *_):  # type: ignore[no-untyped-def]
            yield ["Hello."]
            deadline = time.monotonic() + 10
            while not jobs[0].target.exists() and time.monotonic() < deadline:  # type: ignore[union-attr]
                time.sleep(0.001)
            seen.extend(path.name for path in (tmp_path / "out").iterdir())
            yield ["Hello."]

    batch.run_batch(
        jobs,
        Slow(Settings(str(TINY), "cpu", "txt", Options()), print),
        ResultWriter("new"),
        Reporter(True),
        batch.BatchSummary(),
    )
    assert seen == ["a"]
    assert {path.read_text() for path in (tmp_path / "out").iterdir()} == {"Hello."}


def test_a_group_is_written_while_only_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "FILES_TOGETHER", 2)
    monkeypatch.setattr(processing, "_WAITING", 0)
    jobs = [Job(str(tmp_path / name), tmp_path / f"{name}.out") for name in "abcdef"]
    for job in jobs:
        Path(job.source).write_text(Path(job.source).name)
    reading = threading.Event()
    written: dict[str, list[str]] = {}

    class Watched(Fixer):
        def read(self, text, name):  # type: ignore[no-untyped-def]
            written[Path(name).name] = sorted(path.stem for path in tmp_path.glob("*.out"))
            return super().read(text, name)

        def restore(self, documents, *_):  # type: ignore[no-untyped-def]
            first, second = (document.words[0].text for document in documents)
            if first == "c":
                reading.set()
                # The model takes its time with these.
                deadline = time.monotonic() + 10
                while not jobs[1].target.exists() and time.monotonic() < deadline:  # type: ignore[union-attr]
                    time.sleep(0.001)
                written["restored c"] = sorted(path.stem for path in tmp_path.glob("*.out"))
            yield [first]
            if first == "a":
                written["b waits for c"] = ["yes"] * reading.wait(10)
            yield [second]

    fixer = Watched(Settings(str(TINY), "cpu", "txt", Options()), print)
    batch.run_batch(jobs, fixer, ResultWriter("new"), Reporter(True), batch.BatchSummary())
    assert written["b waits for c"] == ["yes"]  # read ahead
    assert written["restored c"] == ["a", "b"]  # written at once
    assert written["e"][:2] == ["a", "b"]  # and no farther ahead


@pytest.mark.parametrize("together", [2, 6])
def test_progress_moves_within_files_that_are_restored_together(
    together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "FILES_TOGETHER", together)
    jobs = [Job(str(tmp_path / str(i)), tmp_path / f"{i}.out") for i in range(6)]
    for i, job in enumerate(jobs):
        Path(job.source).write_text("hello cat " * (5 if i else 500) + "\n")
    shown: list[float] = []
    reporter = Reporter(quiet=True)
    monkeypatch.setattr(reporter, "progress", lambda _: nullcontext(Steps(lambda _, done: shown.append(done))))
    tally = batch.BatchSummary()
    batch.run_batch(
        jobs, Fixer(Settings(str(TINY), "cpu", "txt", Options()), print), ResultWriter("new"), reporter, tally
    )
    assert tally.fixed == 6
    assert shown == sorted(shown)
    assert shown[-1] == pytest.approx(6)
    parts = [at for at in shown if at < together]
    assert len(parts) > 5
    assert max(b - a for a, b in pairwise([0, *parts, together])) < together / 2


def test_progress_moves_as_the_model_reads_for_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "signal", SimpleNamespace(signal=lambda *_: None, SIGINT=0, SIG_IGN=0))
    shelves = network.chunk_groups
    monkeypatch.setattr(network, "chunk_groups", lambda chunks, _: shelves(chunks, 1000))
    jobs = [Job(str(tmp_path / str(i)), tmp_path / f"{i}.out") for i in range(5)]
    for job in jobs:
        Path(job.source).write_text("hello cat " * 1000 + "\n")
    settings = Settings(str(TINY), "cpu", "txt", Options())
    shown: list[float] = []
    steps = Steps(lambda _, done: shown.append(done))
    busy, workers = {}, []
    for some in (jobs[:2], jobs[2:4]):
        here, there = multiprocessing.Pipe()
        workers.append(threading.Thread(target=worker_pool._work, args=(there, settings, ResultWriter("new"))))
        workers[-1].start()
        here.send(some)
        busy[here] = steps.group_progress(len(some))
    outcomes = list(worker_pool._serve(busy, iter([jobs[4:]]), Fixer(settings, print), steps))
    for worker in workers:
        worker.join()
    assert sorted((outcome.job.name, outcome.error) for outcome in outcomes) == [(job.name, None) for job in jobs]
    assert shown == sorted(shown)
    assert shown[-1] == pytest.approx(5)
    assert max(b - a for a, b in pairwise([0, *shown])) < 0.2


def test_files_that_fail_together_are_not_read_twice_in_the_progress() -> None:
    shown: list[float] = []
    steps = Steps(lambda _, done: shown.append(done))
    heard, other = steps.group_progress(3), steps.group_progress(1)
    for share in (0.5, 1, 0.2, 1, 0.2):
        heard(share)
    other(1)
    for name in "abcd":
        steps.done(name)
    assert shown == [1.5, 3, 4, 4, 4, 4, 4]


def test_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "FILES_TOGETHER", 3)
    monkeypatch.setattr(batch, "BYTES_TOGETHER", 100)
    jobs = []
    for i, size in enumerate((10, 10, 10, 10, 95, 200, 1, 1)):
        (tmp_path / str(i)).write_bytes(b"x" * size)
        jobs.append(Job(str(tmp_path / str(i)), None))
    found = list(batch.job_groups([*jobs, Job("missing", None)]))
    assert [len(some) for some in found] == [3, 1, 1, 1, 3]
    assert [job for some in found for job in some][:8] == jobs


def test_the_manifest_recognises_its_results(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("x")
    target.write_text("y")
    early = Manifest(tmp_path, "one")
    assert not early.is_ours(target, str(source))
    manifest = Manifest(tmp_path, "one")
    manifest.add(target, str(source), state_of(source), state_of(target))
    manifest.close()
    entry = json.loads((tmp_path / NAME).read_text())
    assert (entry["file"], entry["with"]) == ("b", "one")
    assert early.is_ours(target, str(source))  # written by another run that still goes on
    assert Manifest(tmp_path, "one").is_done(str(source), target)
    assert not Manifest(tmp_path, "two").is_done(str(source), target)
    assert Manifest(tmp_path, "two").is_ours(target, str(source))
    assert not early.is_ours(target, str(tmp_path / "c"))
    target.write_text("yy")
    assert not Manifest(tmp_path, "one").is_ours(target, str(source))


def test_manifests_of_older_versions_are_read(tmp_path: Path) -> None:
    target = tmp_path / "b"
    target.write_text("y")
    (tmp_path / NAME).write_text(
        json.dumps({"file": "b", "input": None, "output": state_of(target), "with": "one"}) + "\n"
    )
    assert Manifest(tmp_path, "two").is_ours(target, "a")


def test_a_list_of_files_is_resumed_as_a_directory_is(tree: Path) -> None:
    names = [f"in/{i}.txt" for i in range(0, 10, 2)]
    assert cappunc(*names[:3], "-o", "out", cwd=tree).returncode == 0
    before = contents(tree / "out")
    times = {path: path.stat().st_mtime_ns for path in (tree / "out").glob("*.txt")}
    run = cappunc(*names, "-o", "out", cwd=tree)
    assert run.returncode == 0
    assert b"2 files fixed, 3 up to date" in run.stderr
    assert len(contents(tree / "out")) == 5
    assert contents(tree / "out").items() >= before.items()
    assert {path: path.stat().st_mtime_ns for path in times} == times
    # One of them alone, called from elsewhere, by two processes: it is all the same record.
    assert b"0 files fixed, 1 up to date" in cappunc(tree / names[0], "-o", tree / "out", cwd=tree.parent).stderr
    assert b"0 files fixed, 5 up to date" in cappunc("--jobs", "2", *names, "-o", "out/", cwd=tree).stderr


def test_a_result_of_another_file_is_not_overwritten(tree: Path) -> None:
    for folder in ("one", "two"):
        (tree / folder).mkdir()
        (tree / folder / "a.txt").write_text(f"hello {folder} hello anna\n")
    assert cappunc("one/a.txt", "-o", "out", cwd=tree).returncode == 0
    before = contents(tree / "out")
    run = cappunc("two/a.txt", "-o", "out", cwd=tree)
    assert (run.returncode, run.stderr) == (1, b"cappunc: out/a.txt: already exists; --force overwrites it\n")
    assert contents(tree / "out") == before
    (tree / "one/a.txt").write_text("hello again\n")
    assert cappunc("one/a.txt", "-o", "out", cwd=tree).returncode == 0
    assert contents(tree / "out") != before


def test_a_result_from_a_pipe_is_never_up_to_date(tree: Path) -> None:
    command = [sys.executable, "-m", "cappunc_cli", "fix", "--model", str(TINY), "-", "-o", "out/"]
    codes = [
        subprocess.run(command, input=data, cwd=tree, capture_output=True, check=False).returncode
        for data in (b"hello anna", b"hello london")
    ]
    assert codes == [0, 1]


def test_an_incomplete_line_does_not_corrupt_the_next(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"file": "a", "inp')
    source, target = tmp_path / "in", tmp_path / "b"
    source.write_text("x")
    target.write_text("y")
    manifest = Manifest(tmp_path, "one")
    manifest.add(target, str(source), state_of(source), state_of(target))
    manifest.close()
    assert Manifest(tmp_path, "one").is_done(str(source), target)


def test_results_are_recorded_before_they_are_renamed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tree / "out"
    sources = sorted((tree / "in").rglob("*.txt"))
    jobs = [Job(str(path), out / path.relative_to(tree / "in")) for path in sources]
    renamed: list[tuple[str, bool]] = []
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        lines = [json.loads(line) for line in (out / NAME).read_text().splitlines()]
        found = self.stat()
        state = [found.st_size, found.st_mtime_ns]
        key = target.relative_to(out).as_posix()
        renamed.append((key, any((line["file"], line["output"]) == (key, state) for line in lines)))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    fixer = Fixer(Settings(str(TINY), "cpu", None, Options()), print)
    batch.run_batch(jobs, fixer, ResultWriter("new", Manifest(out, "one")), Reporter(True), batch.BatchSummary())
    assert sorted(renamed) == sorted((job.target.relative_to(out).as_posix(), True) for job in jobs)  # type: ignore[union-attr]


def test_an_input_that_is_edited_while_it_is_read_is_not_up_to_date(tmp_path: Path) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "out/a.txt"
    source.write_text("hello\n")

    class Edited(Fixer):
        def restore(self, *arguments: Any) -> Any:
            source.write_text("hello cat\n")
            return super().restore(*arguments)

    fixer = Edited(Settings(str(TINY), "cpu", None, Options()), print)
    batch.run_batch(
        [Job(str(source), target)],
        fixer,
        ResultWriter("new", Manifest(tmp_path / "out", "one")),
        Reporter(True),
        batch.BatchSummary(),
    )
    assert target.exists()
    assert not Manifest(tmp_path / "out", "one").is_done(str(source), target)


def test_malformed_manifest_lines_are_ignored(tree: Path) -> None:
    (tree / "out").mkdir()
    lines = ["[" * 100_000, '{"a":' * 50_000, '{"file": ["0.txt"], "input": 1, "output": 2}', "7", "\0", "\udcff"]
    (tree / "out" / NAME).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    run = cappunc("in", "-o", "out", cwd=tree)
    assert (run.returncode, len(contents(tree / "out"))) == (0, 30)
    assert b"0 files fixed, 30 up to date" in cappunc("in", "-o", "out", cwd=tree).stderr


def test_a_record_that_cannot_be_read_ends_the_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["fix", "--model", str(TINY), str(tree / "in"), "-o", str(tree / "out")]
    assert CliRunner().invoke(app, command).exit_code == 0
    record, real = tree / "out" / NAME, os.open

    def opened(path: Any, *rest: Any, **named: Any) -> int:
        # Not by chmod: root may read anything.
        if path == record:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", opened)
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 1
    assert str(run.exception) == f"{record}: Permission denied"


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "dangling link"])
def test_a_manifest_that_is_not_a_file_is_refused(tree: Path, kind: str) -> None:
    record, other = tree / "out" / NAME, tree / "precious"
    record.parent.mkdir()
    match kind:
        case "directory":
            record.mkdir()
        case "pipe":
            os.mkfifo(record)
        case _:
            record.symlink_to(other)
    if kind == "link":
        other.write_text("mine\n")
    run = cappunc("in", "-o", "out", cwd=tree, timeout=60)
    assert run.returncode == 1
    assert run.stderr.decode() == f"cappunc: out/{NAME}: is not a regular file and cannot hold the record of results\n"
    assert contents(tree / "out") == {}
    assert other.exists() == (kind == "link")
    assert kind != "link" or other.read_text() == "mine\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_control_c_does_not_reach_workers_that_are_starting(tree: Path) -> None:
    # Before anything of a worker's own has run.
    (tree / "early").mkdir()
    (tree / "early/sitecustomize.py").write_text(
        "import os, signal, sys\nif '--multiprocessing-fork' in sys.orig_argv: os.kill(os.getpid(), signal.SIGINT)\n"
    )
    command = [sys.executable, "-m", "cappunc_cli", "fix", "--model", str(TINY), "in", "-o", "out", "--jobs", "2"]
    paths = f"{tree / 'early'}{os.pathsep}{os.environ['PYTHONPATH']}"
    run = subprocess.run(
        command,
        capture_output=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.returncode == 0, run.stderr
    assert len(contents(tree / "out")) == 30


def test_control_c_while_workers_are_started_is_put_off() -> None:
    came: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append("Ctrl-C"))
    try:
        with worker_pool._without_interrupts():
            signal.raise_signal(signal.SIGINT)
            came.append("started")
        assert came == ["started", "Ctrl-C"]
        signal.raise_signal(signal.SIGINT)
        assert len(came) == 3
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_killed_worker_is_reported_and_the_next_run_resumes(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "FILES_TOGETHER", 5)
    jobs = [Job(str(path), tree / "out" / path.name) for path in sorted((tree / "in").rglob("*.txt"))]
    settings = Settings(str(TINY), "cpu", None, Options())
    writer = ResultWriter("new", Manifest(tree / "out", "one"))

    class Killer(Fixer):
        @property
        def model(self):  # type: ignore[no-untyped-def, override]
            for worker in multiprocessing.active_children():
                os.kill(worker.pid, signal.SIGKILL)
            return super().model

    with pytest.raises(CappuncError, match="a worker process ended unexpectedly"):
        batch.run_batch(jobs, Killer(settings, print), writer, Reporter(True), batch.BatchSummary(), 2)
    tally = batch.BatchSummary()
    again = ResultWriter("new", Manifest(tree / "out", "one"))
    batch.run_batch(jobs, Fixer(settings, print), again, Reporter(True), tally, 2)
    assert (tally.fixed + tally.known, tally.failed) == (30, 0)
    assert not multiprocessing.active_children()
