"""Run groups of files on Ray actors, each with its own models; those of a dead actor are tried again file by file."""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.files.executors import Executor
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.results import Result, failed
from cappunc_cli.files.run import Worker, WorkOrder

#: Seconds between checks of timeouts, and of the number of cores.
_POLL_S, _GROW_S = 1.0, 10.0
#: Environment variable that makes Ray send its token (RAY_AUTH_TOKEN, ~/.ray/auth_token) to a cluster.
_AUTH = "RAY_AUTH_MODE"
#: Number of actors that may die before they are ready until the run gives up.
_MAX_FALSE_STARTS = 10


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Where and how the actors run.

    Without an `address`, RAY_ADDRESS is used, or else Ray is started on this machine. Without `engines`, there is one
    for each core or GPU, including those of nodes that join later. `gpu` gives each actor a GPU. `seconds` is the time
    limit of a file. `metrics_port` is the port for Prometheus of a Ray on this machine; None is any.
    """

    address: str | None = None
    engines: int | None = None
    gpu: bool = False
    seconds: float = 600.0
    metrics_port: int | None = None


def on_ray(options: RayOptions, reporter: Reporter) -> Executor:
    """An Executor of Ray actors. Ray is started or connected to for the run.

    Raises CappuncError if Ray is not installed, and WrongUsage for a metrics port that could not be served: right away
    rather than after a million files have been listed.
    """
    _check(options)

    def work(order: WorkOrder, groups: Iterable[list[Job]], _: FileTally) -> Iterator[Result]:
        # Ray prints events of its workers to standard output; we report the outcome of files ourselves.
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stderr if reporter.verbose else nowhere):
            ray = _connected(options, reporter)
            try:
                metrics = RayMetrics()
                for result in _Pool(ray, options, order).results(iter(groups)):
                    if not result.node:  # not counted by a worker
                        metrics.count(result)
                    yield result
            finally:
                ray.shutdown()

    return work


def _check(options: RayOptions) -> None:
    # Before Ray is loaded: send no usage statistics, and leave CUDA_VISIBLE_DEVICES alone.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if find_spec("ray") is None:
        raise CappuncError(f"--ray needs the package ray: {install_extra('ray')}")
    if (port := options.metrics_port) is None:
        return
    if _address(options) is not None:
        raise WrongUsage(f"--metrics-port is for Ray on this machine; use ray start --metrics-export-port={port}")
    if not _has_exporter():
        raise WrongUsage(f"--metrics-port needs Ray's metrics exporter: {install_extra('ray')}")


def _address(options: RayOptions) -> str | None:
    """The address of the cluster; None for Ray on this machine."""
    address = options.address or os.environ.get("RAY_ADDRESS")
    return None if address in ("", "local") else address


def _connected(options: RayOptions, reporter: Reporter) -> Any:
    """The module ray, after starting Ray or connecting to it. Raises CappuncError."""
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    address = _address(options)
    arguments: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address is None:
        # Only names and counts pass through the object store.
        arguments |= {"include_dashboard": False, "object_store_memory": 128 << 20, "address": "local"}
        arguments |= {"num_cpus": options.engines} if options.engines is not None else {}
        arguments |= {"_metrics_export_port": options.metrics_port} if options.metrics_port is not None else {}
    else:
        arguments["address"] = address
    try:
        ray.init(**arguments)
    except Exception as error:
        # Ray sends its token to a cluster that it discovers, but not to one at a given address.
        hint = "" if address in (None, "auto") or _AUTH in os.environ else f"; if it needs a token, set {_AUTH}=token"
        reason = " ".join(str(error).split())[:200]
        raise CappuncError(f"cannot connect to Ray at {address or 'this machine'}: {reason}{hint}") from error
    reporter.detail(f"Ray {ray.__version__}: {address or 'local'}")
    return ray


def _has_exporter() -> bool:
    """Whether Ray's extra `default` is installed, without which it exports no metrics."""
    try:
        import ray.dashboard.optional_deps  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Call:
    """A group that an actor works on, or [] for the actor's start; `deaths` is how often it has ended one."""

    actor: Any
    group: list[Job]
    deaths: int
    since: float


class _Pool:
    """The actors of a run, each with one group at a time."""

    def __init__(self, ray: Any, options: RayOptions, order: WorkOrder) -> None:
        self._ray = ray
        self._options = options
        self._order = order
        self._signature = order.request.signature()
        resources = {"num_cpus": 1, "num_gpus": 1 if options.gpu else 0}
        self._kind = ray.remote(max_restarts=0, max_task_retries=0, **resources)(RayWorker)
        self._calls: dict[Any, _Call] = {}
        self._idle: list[Any] = []
        self._false_starts = 0
        self._grown = -_GROW_S
        #: Groups to be tried again, with the number of actors that died of them.
        self._again: deque[tuple[list[Job], int]] = deque()
        #: Failures of the driver's own, after all tries.
        self._failures: deque[Result] = deque()

    def results(self, groups: Iterator[list[Job]]) -> Iterator[Result]:
        """Yield the results of all groups, in order of completion."""
        following = next(groups, None)
        while True:
            self._grow()
            while self._idle and (following is not None or self._again):
                if self._again:
                    group, deaths = self._again.popleft()
                else:
                    group, deaths, following = following or [], 0, next(groups, None)
                actor = self._idle.pop()
                self._calls[actor.run.remote(group)] = _Call(actor, group, deaths, time.monotonic())
            while self._failures:
                yield self._failures.popleft()
            if following is None and not self._again and not any(call.group for call in self._calls.values()):
                return
            yield from self._finished()
            self._check_timeouts()

    def _grow(self) -> None:
        """Start actors up to the requested number, or the number of cores or GPUs at the moment."""
        count = len(self._idle) + len(self._calls)
        if count and time.monotonic() - self._grown < _GROW_S:
            return
        self._grown = time.monotonic()
        if not any(node["Alive"] for node in self._ray.nodes()):
            raise CappuncError("all Ray nodes have died; run the same command again to resume")
        wanted = self._options.engines
        if wanted is None:
            available = self._ray.cluster_resources().get("GPU" if self._options.gpu else "CPU", 0)
            wanted = max(int(available), 1)
        for _ in range(wanted - count):
            actor = self._kind.remote(self._order, self._signature)
            self._calls[actor.begin.remote()] = _Call(actor, [], 0, time.monotonic())

    def _finished(self) -> Iterator[Result]:
        ready, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=_POLL_S)
        for answer in ready:
            call = self._calls.pop(answer)
            try:
                results = self._ray.get(answer)
            except self._ray.exceptions.RayTaskError as error:
                self._raised(call, error)
            except self._ray.exceptions.RayError as error:
                if not call.group and "CappuncError" in str(error):
                    raise CappuncError(_line(error)) from error
                self._died(call, f"its process died ({type(error).__name__}), perhaps out of memory")
            else:
                self._false_starts = 0
                self._idle.append(call.actor)
                yield from results

    def _raised(self, call: _Call, error: Exception) -> None:
        """An actor is alive, but its call raised an error."""
        cause = getattr(error, "cause", None)
        if not call.group:
            raise cause if isinstance(cause, CappuncError) else CappuncError(_line(error)) from error
        self._idle.append(call.actor)
        self._retry(call.group, 2, f"nothing written, this is a bug: {_line(cause or error)}")

    def _died(self, call: _Call, reason: str, deaths: int = 1) -> None:
        """An actor has died, and another takes its place."""
        self._grown = -_GROW_S
        if not call.group:
            self._false_starts += 1
            if self._false_starts >= _MAX_FALSE_STARTS:
                raise CappuncError("Ray workers fail to start; see the logs of Ray")
            return
        self._retry(call.group, call.deaths + deaths, reason)

    def _retry(self, group: list[Job], deaths: int, reason: str) -> None:
        """Try the files of a group again one by one; a file that was alone twice fails: one death may be the node's."""
        if len(group) > 1:
            self._again += [([job], 0) for job in group]
        elif deaths < 2:
            self._again.append((group, deaths))
        else:
            self._failures.append(failed(group[0], CappuncError(reason)))

    def _check_timeouts(self) -> None:
        now = time.monotonic()
        for answer, call in list(self._calls.items()):
            if call.group and now - call.since > self._options.seconds:
                del self._calls[answer]
                self._ray.kill(call.actor, no_restart=True)
                self._died(call, f"takes longer than --file-timeout ({self._options.seconds:g} s)", deaths=2)


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines else type(error).__name__
    return text.removeprefix("cappunc_cli.errors.CappuncError: ")


class RayMetrics:
    """This process's counters in Ray's Prometheus exporter."""

    def __init__(self) -> None:
        from ray.util.metrics import Counter

        self._counts = {
            name: Counter(f"cappunc_{name}", description=about)
            for name, about in (
                ("files", "Files with a result."),
                ("words", "Words of these files."),
                ("failed", "Files that failed."),
            )
        }

    def count(self, result: Result) -> None:
        """Add a file."""
        for name, increment in metrics_of(result).items():
            self._counts[name].inc(increment)


def metrics_of(result: Result) -> dict[str, int]:
    """The increments of the counters by a file, without zeros."""
    if result.status == "failed":
        return {"failed": 1}
    found = {"files": int(result.status != "skipped"), "words": result.words}
    return {name: count for name, count in found.items() if count}


class RayWorker:
    """The actor: a Worker with metrics and a memory limit."""

    def __init__(self, order: WorkOrder, signature: str) -> None:
        """Raises CappuncError if this machine's version or models differ from the driver's."""
        node = platform.node()
        if order.request.signature() != signature:
            raise CappuncError(f"{node} has a different version of cappunc, or different models, than the driver")
        self._worker = Worker(order, node=node)
        self._metrics = RayMetrics()
        if order.memory is not None:
            _limit_memory(order.memory)

    def begin(self) -> list[Result]:
        """No results; called to learn when the actor is ready."""
        return []

    def run(self, group: list[Job]) -> list[Result]:
        """As `Worker.run`, without the content of results, which has been written."""
        results = list(self._worker.run(group))
        for result in results:
            self._metrics.count(result)
        return [replace(result, data=None) for result in results]


def _limit_memory(more: int) -> None:
    """Limit the process to `more` bytes beyond its present use, so that the machine does not run out of memory."""
    if sys.platform != "linux":
        return
    import resource

    status = Path("/proc/self/status").read_text("ascii", "replace")
    kilobytes = next((line.split()[1] for line in status.splitlines() if line.startswith("VmData:")), "0")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = (int(kilobytes) << 10) + more
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))
