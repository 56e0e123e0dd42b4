"""Process blocks in Ray actors, each with one engine; blocks of a dead actor are retried, and refused file by file."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.features.archive.archive import PARALLEL_BLOCKS, Workers
from cappunc_cli.features.archive.block_worker import BlockResult, BlockWorker, Refusal, WorkOrder
from cappunc_cli.features.archive.work_plan import FileBlock
from cappunc_cli.files.progress import Reporter

#: A block of more bytes is submitted alone, since two would need twice the memory.
_LARGE = 8 << 20
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


@dataclass(slots=True, eq=False)
class _Actor:
    """An actor with its pending calls: the block of each, or None for its start. `since` is when the oldest began."""

    handle: Any
    calls: dict[Any, FileBlock | None] = field(default_factory=dict)
    since: float = 0.0
    ready: bool = False

    def blocks(self) -> list[FileBlock]:
        return [block for block in self.calls.values() if block is not None]


def on_ray(options: RayOptions, reporter: Reporter) -> Workers:
    """Workers that are Ray actors. Ray is started or connected to for the run.

    Raises CappuncError if Ray is not installed, and WrongUsage for a metrics port that could not be served: right away
    rather than after a million files have been listed.
    """
    _check(options)

    def work(order: WorkOrder, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        if notice := order.request.notice():
            reporter.info(notice)
        # Ray prints events of its workers to standard output; we report the outcome of files ourselves.
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stderr if reporter.verbose else nowhere):
            ray = _connected(options, reporter)
            try:
                metrics = RayMetrics()
                for result in _Pool(ray, options, order, reporter).results(blocks):
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
        raise CappuncError(f"--ray needs the package ray: {install_extra('cluster')}")
    if (port := options.metrics_port) is None:
        return
    if _address(options) is not None:
        raise WrongUsage(f"--metrics-port is for Ray on this machine; use ray start --metrics-export-port={port}")
    if not _has_exporter():
        raise WrongUsage(f"--metrics-port needs Ray's metrics exporter: {install_extra('cluster')}")


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


class _Pool:
    """The actors of a run."""

    def __init__(self, ray: Any, options: RayOptions, order: WorkOrder, reporter: Reporter) -> None:
        self._ray = ray
        self._options = options
        self._reporter = reporter
        self._order = order
        resources = {"num_cpus": 1, "num_gpus": 1 if options.gpu else 0}
        self._kind = ray.remote(max_concurrency=PARALLEL_BLOCKS, max_restarts=0, max_task_retries=0, **resources)(
            RayWorker
        )
        self._actors: list[_Actor] = []
        self._false_starts = 0
        self._grown = 0.0
        #: Blocks to be tried again.
        self._retries: deque[FileBlock] = deque()
        #: Refusals of the driver's own, after all retries.
        self._refusals: deque[BlockResult] = deque()

    def results(self, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        """Yield the results of all blocks, in order of completion."""
        following: FileBlock | None = next(blocks, None)
        while True:
            self._grow()
            for actor in self._actors:
                while (block := self._retries[0] if self._retries else following) and _has_room(actor, block):
                    if self._retries:
                        self._retries.popleft()
                    else:
                        following = next(blocks, None)
                    self._submit(actor, block)
            if following is None and not self._retries and not any(actor.blocks() for actor in self._actors):
                yield from self._own_refusals()
                if not self._retries:
                    return
            yield from self._finished()
            self._check_timeouts()
            yield from self._own_refusals()

    def _own_refusals(self) -> Iterator[BlockResult]:
        while self._refusals:
            yield self._refusals.popleft()

    def _grow(self) -> None:
        """Start actors up to the requested number, or the number of cores or GPUs at the moment."""
        if self._actors and time.monotonic() - self._grown < _GROW_S:
            return
        self._grown = time.monotonic()
        if not any(node["Alive"] for node in self._ray.nodes()):
            raise CappuncError("all Ray nodes have died; run the same command again to resume")
        wanted = self._options.engines
        if wanted is None:
            available = self._ray.cluster_resources().get("GPU" if self._options.gpu else "CPU", 0)
            wanted = max(int(available), 1)
        while len(self._actors) < wanted:
            self._start_actor()

    def _start_actor(self) -> None:
        actor = _Actor(self._kind.remote(self._order))
        actor.calls[actor.handle.begin.remote()] = None
        self._actors.append(actor)

    def _submit(self, actor: _Actor, block: FileBlock) -> None:
        if not actor.blocks():
            actor.since = time.monotonic()
        actor.calls[actor.handle.run.remote(block)] = block

    def _finished(self) -> Iterator[BlockResult]:
        calls = {call: actor for actor in self._actors for call in actor.calls}
        ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=_POLL_S)
        if ready:
            ready, _ = self._ray.wait(list(calls), num_returns=len(calls), timeout=0)
        for call in ready:
            actor = calls[call]
            if call not in actor.calls:
                continue  # the actor died with another call
            result = self._answer(actor, call)
            if result is not None:
                yield result
                # One by one: which file took the memory is not known.
                self._retries += [FileBlock(result.number, (file,), alone=True) for file in result.retry]

    def _answer(self, actor: _Actor, call: Any) -> BlockResult | None:
        block = actor.calls[call]
        try:
            answer = self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if block is None:
                raise cause if isinstance(cause, CappuncError) else CappuncError(_line(error)) from error
            del actor.calls[call]
            actor.since = time.monotonic()
            self._retry(block, f"nothing written, this is a bug: {_line(cause or error)}", culprit=True)
            return None
        except self._ray.exceptions.RayError as error:
            if block is None and "CappuncError" in str(error):
                raise CappuncError(_line(error)) from error
            self._remove(actor, f"its process died ({type(error).__name__}), perhaps out of memory")
            return None
        del actor.calls[call]
        actor.since = time.monotonic()
        if block is None:
            actor.ready = True
            self._false_starts = 0
            return None
        assert isinstance(answer, BlockResult)
        return answer

    def _remove(self, actor: _Actor, reason: str, timed_out: bool = False) -> None:
        """Remove a dead actor and retry its blocks; if it `timed_out`, the oldest block is to blame."""
        blocks = actor.blocks()
        actor.calls.clear()
        self._actors.remove(actor)
        self._grown = 0.0
        if not actor.ready:
            self._false_starts += 1
            if self._false_starts >= _MAX_FALSE_STARTS:
                raise CappuncError("Ray workers fail to start; see the logs of Ray")
        for i, block in enumerate(blocks):
            self._retry(block, reason, culprit=len(blocks) == 1 or (timed_out and i == 0), died=not timed_out)
        if not self._actors:
            self._start_actor()

    def _retry(self, block: FileBlock, reason: str, culprit: bool, died: bool = False) -> None:
        """Try a failed block again, alone; if it is the `culprit`, file by file; and finally refuse the file."""
        if not culprit:
            self._retries.append(replace(block, alone=True))
        elif len(block.files) > 1:
            self._retries += [FileBlock(block.number, (file,), alone=True) for file in block.files]
        elif not block.alone or (died and not block.tried):
            # The first death may be the node's fault.
            self._retries.append(replace(block, alone=True, tried=block.alone))
        else:
            (file,) = block.files
            self._refusals.append(BlockResult(block.number, "", refusals=[Refusal(file.source, reason)]))

    def _check_timeouts(self) -> None:
        now = time.monotonic()
        for actor in list(self._actors):
            if actor.blocks() and now - actor.since > self._options.seconds:
                self._ray.kill(actor.handle, no_restart=True)
                reason = f"takes longer than --file-timeout ({self._options.seconds:g} s)"
                self._remove(actor, reason, timed_out=True)


def _has_room(actor: _Actor, block: FileBlock) -> bool:
    if not actor.ready:
        return False
    current = actor.blocks()
    if any(other.alone or other.size > _LARGE for other in current):
        return False
    return not current if block.alone or block.size > _LARGE else len(current) < PARALLEL_BLOCKS


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
                ("refused", "Files that were refused."),
            )
        }

    def count(self, result: BlockResult) -> None:
        """Add a block."""
        for name, increment in metrics_of(result).items():
            self._counts[name].inc(increment)


def metrics_of(result: BlockResult) -> dict[str, int]:
    """The increments of the counters by a block, without zeros."""
    refused = sum(not refusal.skipped for refusal in result.refusals)
    increments = {"files": result.fixed, "words": result.words.total(), "refused": refused}
    return {name: count for name, count in increments.items() if count}


class RayWorker:
    """The actor: a BlockWorker with metrics and a memory limit."""

    def __init__(self, order: WorkOrder) -> None:
        self._worker = BlockWorker(order)
        self._metrics = RayMetrics()
        if order.memory is not None:
            _limit_memory(order.memory)

    def begin(self) -> str:
        """The node's name; called to learn when the actor is ready."""
        return self._worker.node

    def run(self, block: FileBlock) -> BlockResult:
        """As `BlockWorker.run`."""
        result = self._worker.run(block)
        self._metrics.count(result)
        return result


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
