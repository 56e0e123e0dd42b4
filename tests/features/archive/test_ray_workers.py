"""Groups on Ray: who dies, hangs or lacks memory is refused alone, and all else is done once."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.archive import ray_workers
from cappunc_cli.features.archive.options import RayOptions
from cappunc_cli.features.archive.ray_workers import results_on
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import Result
from cappunc_cli.files.run import Worker

TINY = Path(__file__).parents[2] / "tiny_model"
ORDER = Worker(FixRequest("en", str(TINY), device="cpu"), "new")


class Died(Exception):
    """A process's end, as Ray tells it."""


class Raised(Died):
    """What a task raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Call:
    """A reference, which can be a key."""

    def __init__(self, group: list[Job]) -> None:
        self.group = group


class FakeRay:
    """What `results_on` needs of Ray: `behaviour` gives the results of a group, or raises, when it is waited for."""

    exceptions = SimpleNamespace(RayError=Died, RayTaskError=Raised)

    def __init__(self, behaviour: Callable[[list[Job]], list[Result]], cores: int = 2) -> None:
        self.behaviour = behaviour
        self.cores = cores
        self.most = 0

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": True}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cores}

    def put(self, value: object) -> object:
        return value

    def remote(self, **_: Any) -> Callable[[Any], Any]:
        return lambda _: SimpleNamespace(remote=lambda _told, group: Call(group))

    def wait(self, calls: list[Call], num_returns: int, timeout: float) -> tuple[list[Call], list[Call]]:
        assert timeout > 0
        self.most = max(self.most, len(calls))
        return calls[:num_returns], calls[num_returns:]

    def get(self, call: Call) -> list[Result]:
        return self.behaviour(call.group)


def groups(count: int = 8, files: int = 5) -> list[list[Job]]:
    return [[Job(f"in/{n}-{i}") for i in range(files)] for n in range(count)]


def done(group: list[Job]) -> list[Result]:
    return [Result(job, "fixed", node="node") for job in group]


def run(ray: FakeRay, given: list[list[Job]], seconds: float = 600.0) -> tuple[int, dict[str, str]]:
    """How many files are done, and why the others are not."""
    results = list(results_on(ray, RayOptions(file_timeout=seconds), ORDER, iter(given)))
    assert len({result.job.source for result in results}) == len(results)
    fixed = sum(result.status == "fixed" for result in results)
    return fixed, {result.job.source: result.reason for result in results if result.status == "failed"}


def that_has(name: str, error: Exception) -> tuple[Callable[[list[Job]], list[Result]], Counter[str]]:
    """A behaviour that raises for every group with a certain file, and counts how often each file is done."""
    counts: Counter[str] = Counter()

    def behaviour(group: list[Job]) -> list[Result]:
        if any(job.source == name for job in group):
            raise error
        counts.update(job.source for job in group)
        return done(group)

    return behaviour, counts


def test_each_group_is_done_once_and_each_core_has_one() -> None:
    ray = FakeRay(done)
    assert run(ray, groups(20)) == (100, {})
    assert ray.most == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Died("gone"), "its process died (Died), perhaps out of memory"),
        (Raised(KeyError("oh")), "nothing written, this is a bug: 'oh'"),
    ],
)
def test_a_file_that_kills_its_process_is_refused_alone(error: Exception, reason: str) -> None:
    behaviour, counts = that_has("in/3-2", error)
    assert run(FakeRay(behaviour), groups()) == (39, {"in/3-2": reason})
    assert set(counts.values()) == {1}


def test_a_file_that_hangs_is_refused_alone() -> None:
    """Its process ends itself when the time is over."""
    behaviour, counts = that_has("in/3-2", Died("gone"))
    fixed, refused = run(FakeRay(behaviour), groups(), seconds=0.0)
    assert (fixed, refused) == (39, {"in/3-2": "takes longer than --file-timeout (0 s)"})
    assert set(counts.values()) == {1}


def test_a_process_ends_itself_when_its_time_is_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never.txt")
    code = """
import sys
from cappunc_cli.features.archive import ray_workers
from tests.features.archive.test_ray_workers import Job, ORDER, signature
ray_workers.RayMetrics = lambda: None
ray_workers.RayWorker(ORDER, signature(ORDER.request), 1.0).run([Job(sys.argv[1])])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "never.txt")]
    assert subprocess.run(command, cwd=TINY.parents[1], timeout=120, check=False).returncode == 1


def test_a_process_that_dies_by_itself_loses_no_files() -> None:
    """A node goes: each of its groups is done elsewhere."""
    deaths = iter([True, False, True, False, False, True])

    def behaviour(group: list[Job]) -> list[Result]:
        if next(deaths, False):
            raise Died("the node has gone")
        return done(group)

    assert run(FakeRay(behaviour), groups()) == (40, {})


def test_a_run_ends_with_the_last_node() -> None:
    """A task that is asked for then would be waited for in vain."""

    class Gone(FakeRay):
        def nodes(self) -> list[dict[str, bool]]:
            return [{"Alive": not self.most}]

    def dies(_: list[Job]) -> list[Result]:
        raise Died("the node has gone")

    with pytest.raises(CappuncError, match="all Ray nodes have died"):
        run(Gone(dies), groups())


def test_a_node_with_another_version_ends_the_run() -> None:
    def refuses(_: list[Job]) -> list[Result]:
        raise Raised(CappuncError("node has a different version of cappunc"))

    with pytest.raises(CappuncError, match="a different version"):
        run(FakeRay(refuses), groups())


def test_nodes_that_come_later_get_groups() -> None:
    ray = FakeRay(done, cores=1)

    def more() -> Iterator[list[Job]]:
        for number, group in enumerate(groups(20)):
            ray.cores = 1 + (number > 5) * 2
            yield group

    assert len(list(results_on(ray, RayOptions(), ORDER, more()))) == 100
    assert ray.most == 3


def test_the_metrics_port_is_for_local_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = ModuleType("ray")
    ray.__spec__ = ModuleSpec("ray", None)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(WrongUsage, match="ray start --metrics-export-port=8080"):
        ray_workers.on_ray(RayOptions(ray_address="10.0.0.1:6379", metrics_port=8080))


@pytest.mark.parametrize(
    ("address", "told"), [("10.0.0.1:6379", True), ("auto", False), (None, False)], ids=["named", "found", "own"]
)
def test_a_cluster_may_want_a_token(monkeypatch: pytest.MonkeyPatch, address: str | None, told: bool) -> None:
    def refused(**_: Any) -> None:
        raise ConnectionError("Failed to connect\nto Ray")

    ray = ModuleType("ray")
    ray.__dict__.update(init=refused)
    monkeypatch.setitem(sys.modules, "ray", ray)
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CappuncError, match="Failed to connect to Ray") as raised:
        ray_workers._connected(RayOptions(ray_address=address), Reporter(quiet=True))
    assert ("RAY_AUTH_MODE=token" in str(raised.value)) == told


def test_skipped_files_are_not_counted_as_failed() -> None:
    counts: Counter[str] = Counter()
    for status, words in (("fixed", 40), ("unchanged", 2), ("failed", 0), ("skipped", 0)):
        counts.update(ray_workers.metrics_of(Result(Job("a"), status, words=words)))
    assert counts == {"files": 2, "words": 42, "failed": 1}


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(CappuncError, match=r"--ray needs the package ray: .*install"):
        ray_workers.on_ray(RayOptions())


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_ray_gives_what_one_process_gives(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "in").mkdir()
    for i in range(20):
        (tmp_path / f"in/{i}.txt").write_text("hello anna then we went to london\n" * (i + 1))
    (tmp_path / "in/bad.json").write_text('{"results": [{"alternatives": [{"transcript": "a')
    paths = {**os.environ, "RAY_worker_niceness": "0"}

    def cappunc(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cappunc_cli", *options, "--model", str(tiny_model)]
        return subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True, check=False)

    assert cappunc("fix", "in", "-o", "one").returncode == 1
    ray = cappunc("archive", "in", "other", "--ray", "--jobs", "1")
    assert (ray.returncode, ray.stdout) == (1, ""), ray.stderr
    assert "files    20 fixed, 1 failed" in ray.stderr
    for path in (tmp_path / "one").glob("*.txt"):
        assert (tmp_path / "other" / path.name).read_bytes() == path.read_bytes()
    (refusal,) = map(json.loads, (tmp_path / "other/.cappunc/refused.jsonl").read_text().splitlines())
    assert refusal["file"] == "in/bad.json"


#: What Python does as it starts: small blocks, and a worker that stays at its last file until somebody has looked.
SLOWLY = """
import os, sys, time
from cappunc_cli.files import fixer, run
run.FILES_TOGETHER = 4
true = fixer.FixRequest.read
def read(self, text, name):
    while name.endswith("z.txt") and not os.path.exists("looked"):
        time.sleep(0.1)
    return true(self, text, name)
fixer.FixRequest.read = read
"""


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_prometheus_reads_the_metrics_of_a_run(tmp_path: Path, tiny_model: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("ray.dashboard.optional_deps", reason="Ray without its exporter", exc_type=ImportError)
    (tmp_path / "in").mkdir()
    for i in range(23):
        (tmp_path / f"in/{i}.txt").write_text("hello anna then we went to london\n" * (i + 2))
    (tmp_path / "in/bad.json").write_text('{"results": [{"alternatives": [{"transcript": "a' + " " * 100)
    (tmp_path / "in/z.txt").write_text("hello anna\n")  # the shortest is the last, in a block of its own
    (tmp_path / "sitecustomize.py").write_text(SLOWLY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}",
        "RAY_worker_niceness": "0",
        "RAY_metrics_report_interval_ms": "1000",
    }
    command = [sys.executable, "-m", "cappunc_cli", "archive", "--model", str(tiny_model), "in", "out", "--ray"]
    command += ["--jobs", "1", "--metrics-port", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, env=paths, stderr=subprocess.PIPE, text=True) as process:
        try:
            wanted = {"files": 23.0, "words": 7.0 * sum(range(2, 25)), "failed": 1.0}
            deadline = time.monotonic() + 240
            figures: dict[str, float] = {}
            while figures != wanted and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.5)
                figures = scraped(port)
        finally:
            (tmp_path / "looked").touch()
        _, said = process.communicate()
    assert figures == wanted, said
    assert "files    24 fixed, 1 failed" in said


def scraped(port: int) -> dict[str, float]:
    """The sums of cappunc's own figures that are there now, over all workers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    except OSError:
        return {}
    found: dict[str, float] = {}
    for name, value in re.findall(r"^ray_cappunc_(\w+?)_total\{.*\} (\S+)$", text, re.MULTILINE):
        found[name] = found.get(name, 0.0) + float(value)
    return found
