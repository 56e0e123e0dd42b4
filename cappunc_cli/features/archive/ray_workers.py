"""Run groups of files as Ray tasks. Workers keep their models; the files of a dead worker are tried one by one."""

from __future__ import annotations

import faulthandler
import logging
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.features.archive.options import RayOptions
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import Result, failed, signature
from cappunc_cli.files.run import Executor, Worker

#: Seconds between looks at the nodes and their cores.
_POLL_S = 1.0
#: Environment variable that makes Ray send its token (RAY_AUTH_TOKEN, ~/.ray/auth_token) to a cluster.
_AUTH = "RAY_AUTH_MODE"
#: The worker of this process, if Ray has started it for a run.
_worker: RayWorker | None = None


def on_ray(options: RayOptions) -> Executor:
    """An Executor of Ray tasks. Ray is started or connected to for the run.

    Raises CappuncError if Ray is not installed, and WrongUsage for a metrics port that could not be served: right away
    rather than after a million files have been listed.
    """
    _check(options)

    def work(worker: Worker, groups: Iterable[list[Job]], reporter: Reporter) -> Generator[Result]:
        # Ray prints events of its workers to standard output; we report the outcome of files ourselves.
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stderr if reporter.verbose else nowhere):
            ray = _connected(options, reporter)
            try:
                metrics = RayMetrics()
                for result in results_on(ray, options, worker, iter(groups)):
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
    if find_spec("prometheus_client") is None:  # which its extra `default` brings
        raise WrongUsage(f"--metrics-port needs Ray's metrics exporter: {install_extra('ray')}")


def _address(options: RayOptions) -> str | None:
    """The address of the cluster; None for Ray on this machine."""
    address = options.ray_address or os.environ.get("RAY_ADDRESS")
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
        arguments |= {"num_cpus": options.jobs} if options.jobs is not None else {}
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


def results_on(ray: Any, options: RayOptions, worker: Worker, groups: Iterator[list[Job]]) -> Iterator[Result]:
    """Yield the results of all groups, in order of completion. Raises CappuncError if no node is left."""
    gpu = worker.request.device.startswith("cuda")
    resources = {"num_cpus": 1, "num_gpus": 1 if gpu else 0}
    # By default Ray ends the process of a GPU task after each call, and its models with it.
    task = ray.remote(max_retries=0, max_calls=0, **resources)(run_group)
    # In a list Ray does not resolve it, so that a process fetches it once.
    told = [ray.put((worker, signature(worker.request), options.file_timeout))]
    running: dict[Any, tuple[list[Job], int, float]] = {}
    # The groups that must be tried again, with how many processes have died of them.
    again: deque[tuple[list[Job], int]] = deque()
    following = next(groups, None)
    while following is not None or again or running:
        if not any(node["Alive"] for node in ray.nodes()):
            raise CappuncError("all Ray nodes have died; run the same command again to resume")
        # All cores or GPUs, also on nodes that have joined since.
        cores = int(ray.cluster_resources().get("GPU" if gpu else "CPU", 0))
        while len(running) < (options.jobs or max(cores, 1)) and (following is not None or again):
            if again:
                group, deaths = again.popleft()
            else:
                group, deaths, following = following or [], 0, next(groups, None)
            running[task.remote(told, group)] = (group, deaths, time.monotonic())
        ready, _ = ray.wait(list(running), num_returns=1, timeout=_POLL_S)
        for answer in ready:
            group, deaths, since = running.pop(answer)
            try:
                yield from ray.get(answer)
                continue
            except ray.exceptions.RayTaskError as error:
                cause = getattr(error, "cause", None)
                if isinstance(cause, CappuncError):
                    raise cause from error
                said = str(cause or error).strip() or type(cause or error).__name__
                deaths, reason = 2, f"nothing written, this is a bug: {said.splitlines()[-1].strip()}"
            except ray.exceptions.RayError as error:
                deaths, reason = deaths + 1, f"its process died ({type(error).__name__}), perhaps out of memory"
                if time.monotonic() - since >= options.file_timeout:
                    deaths, reason = 2, f"takes longer than --file-timeout ({options.file_timeout:g} s)"
            # The files of a group are tried one by one; one that was alone twice fails: one death may be the node's.
            if len(group) > 1:
                again += [([job], 0) for job in group]
            elif deaths < 2:
                again.append((group, deaths))
            else:
                yield failed(group[0], CappuncError(reason))


def run_group(told: list[Any], group: list[Job]) -> list[Result]:
    """The task: the results of a group, without their content: it has been written."""
    global _worker
    if _worker is None:
        import ray

        _worker = RayWorker(*ray.get(told[0]))
    return _worker.run(group)


class RayMetrics:
    """This process's counters in Ray's Prometheus exporter."""

    def __init__(self) -> None:
        from ray.util.metrics import Counter

        told = {"files": "Files with a result.", "words": "Words of these files.", "failed": "Files that failed."}
        self._counts = {name: Counter(f"cappunc_{name}", description=about) for name, about in told.items()}

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
    """A Worker with metrics, and with limits of memory and of time."""

    def __init__(self, worker: Worker, expected: str, seconds: float) -> None:
        """Raises CappuncError if this machine's version or models differ from the driver's."""
        if signature(worker.request) != expected:
            node = platform.node()
            raise CappuncError(f"{node} has a different version of cappunc, or different models, than the driver")
        self._worker = worker
        self._metrics = RayMetrics()
        self._seconds = seconds
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        if worker.memory is not None:
            _limit_memory(worker.memory)

    def run(self, group: list[Job]) -> list[Result]:
        """As `Worker.run`; a group that takes too long ends the process, whatever it hangs in."""
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=self._nowhere)
        try:
            results = list(self._worker.run(group))
        finally:
            faulthandler.cancel_dump_traceback_later()
        for result in results:
            self._metrics.count(result)
        return [replace(result, data=None, node=platform.node()) for result in results]


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
