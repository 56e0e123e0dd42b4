"""Blocks on Ray: actors that each hold one engine; what takes one's life is done again, and refused alone."""

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

from cappunc_cli.application.cluster.archive import Workers
from cappunc_cli.application.cluster.block_worker import BlockResult, BlockWorker, Refusal, WorkOrder
from cappunc_cli.application.cluster.work_plan import BlockFile, FileBlock
from cappunc_cli.application.progress import Reporter
from cappunc_cli.errors import CappuncError, WrongUsage, install_extra

#: Blocks that an actor has at a time: one is read, one restored, one written.
_TOGETHER = 3
#: A block of more bytes has an actor for itself: two such would need twice the memory.
_LARGE = 8 << 20
#: Seconds between two looks at what takes too long, and at how many cores there are.
_LOOK_S, _GROW_S = 1.0, 10.0
#: What tells Ray to show a cluster the token that it has (RAY_AUTH_TOKEN, ~/.ray/auth_token).
_AUTH = "RAY_AUTH_MODE"
#: So often an actor may fail to begin before the run gives up.
_FALSE_STARTS = 10


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Where and how the actors run.

    `address` None is RAY_ADDRESS, or else a Ray of this machine's own; `engines` None is one for each core or GPU that
    there is, also of nodes that come later. `gpu` gives each actor a GPU. `seconds` is how long a file may take.
    `metrics_port` is where a Ray of this machine's own has its figures for Prometheus, None anywhere.
    """

    address: str | None = None
    engines: int | None = None
    gpu: bool = False
    seconds: float = 600.0
    metrics_port: int | None = None


@dataclass(slots=True, eq=False)
class _Actor:
    """An actor, and its calls: the block of each (None: its beginning) and since when it may be in work."""

    handle: Any
    calls: dict[Any, FileBlock | None] = field(default_factory=dict)
    since: float = 0.0
    ready: bool = False

    def blocks(self) -> list[FileBlock]:
        return [block for block in self.calls.values() if block is not None]


def on_ray(options: RayOptions, reporter: Reporter) -> Workers:
    """Workers that are actors of Ray, which is started or joined, and left in the end.

    Raises CappuncError where Ray is not installed, and WrongUsage for a port of figures that nobody would serve: now,
    and not when a million files have been listed.
    """
    _check(options)

    def work(order: WorkOrder, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        if notice := order.request.notice():
            reporter.info(notice)
        # Ray prints what happens to its workers, and to standard output; what became of their files is told here.
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stderr if reporter.verbose else nowhere):
            ray = _joined(options, reporter)
            try:
                figures = RayFigures()
                for result in _Pool(ray, options, order, reporter).results(blocks):
                    if not result.node:  # no worker has counted it
                        figures.count(result)
                    yield result
            finally:
                ray.shutdown()

    return work


def _check(options: RayOptions) -> None:
    # Before Ray is loaded: it tells nobody that it runs, and leaves the processors' names alone.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if find_spec("ray") is None:
        raise CappuncError(f"--ray needs the package ray: {install_extra('cluster')}")
    if (port := options.metrics_port) is None:
        return
    if _address(options) is not None:
        raise WrongUsage(f"--metrics-port is for a Ray of this machine's own; ray start --metrics-export-port={port}")
    if not _has_exporter():
        raise WrongUsage(f"--metrics-port needs Ray's exporter: {install_extra('cluster')}")


def _address(options: RayOptions) -> str | None:
    """The cluster's; None for a Ray of this machine's own."""
    address = options.address or os.environ.get("RAY_ADDRESS")
    return None if address in ("", "local") else address


def _joined(options: RayOptions, reporter: Reporter) -> Any:
    """Ray, connected. Raises CappuncError."""
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    address = _address(options)
    known: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address is None:
        # What passes through the object store are names and counts.
        known |= {"include_dashboard": False, "object_store_memory": 128 << 20, "address": "local"}
        known |= {"num_cpus": options.engines} if options.engines is not None else {}
        known |= {"_metrics_export_port": options.metrics_port} if options.metrics_port is not None else {}
    else:
        known["address"] = address
    try:
        ray.init(**known)
    except Exception as error:
        # Ray tells itself of its token where it has found the cluster, and not where it was told of it.
        tokens = (
            "" if address in (None, "auto") or _AUTH in os.environ else f"; one that asks for a token: {_AUTH}=token"
        )
        reason = " ".join(str(error).split())[:200]
        raise CappuncError(f"no Ray at {address or 'this machine'}: {reason}{tokens}") from error
    reporter.detail(f"Ray {ray.__version__}: {address or 'local'}")
    return ray


def _has_exporter() -> bool:
    """Whether Ray has what its extra `default` brings; without it, it serves no figures."""
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
        self._kind = ray.remote(max_concurrency=_TOGETHER, max_restarts=0, max_task_retries=0, **resources)(RayWorker)
        self._actors: list[_Actor] = []
        self._false_starts = 0
        self._grown = 0.0
        #: Blocks that were with an actor when it died.
        self._again: deque[FileBlock] = deque()
        #: What is known without another process.
        self._told: deque[BlockResult] = deque()

    def results(self, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        """The results as they come."""
        following: FileBlock | None = next(blocks, None)
        while True:
            self._grow()
            for actor in self._actors:
                while (block := self._again[0] if self._again else following) and _has_room(actor, block):
                    if self._again:
                        self._again.popleft()
                    else:
                        following = next(blocks, None)
                    self._submit(actor, block)
            if following is None and not self._again and not any(actor.blocks() for actor in self._actors):
                yield from self._drained()
                if not self._again:
                    return
            yield from self._heard()
            self._look_at_time()
            yield from self._drained()

    def _drained(self) -> Iterator[BlockResult]:
        while self._told:
            yield self._told.popleft()

    def _grow(self) -> None:
        """As many actors as are asked for, or as there are cores or GPUs, now."""
        if self._actors and time.monotonic() - self._grown < _GROW_S:
            return
        self._grown = time.monotonic()
        if not any(node["Alive"] for node in self._ray.nodes()):
            raise CappuncError("all nodes of Ray have died; the same command goes on with what is missing")
        wanted = self._options.engines
        if wanted is None:
            there = self._ray.cluster_resources().get("GPU" if self._options.gpu else "CPU", 0)
            wanted = max(int(there), 1)
        while len(self._actors) < wanted:
            self._begin()

    def _begin(self) -> None:
        actor = _Actor(self._kind.remote(self._order))
        actor.calls[actor.handle.begin.remote()] = None
        self._actors.append(actor)

    def _submit(self, actor: _Actor, block: FileBlock) -> None:
        if not actor.blocks():
            actor.since = time.monotonic()
        actor.calls[actor.handle.run.remote(block)] = block

    def _heard(self) -> Iterator[BlockResult]:
        calls = {call: actor for actor in self._actors for call in actor.calls}
        ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=_LOOK_S)
        if ready:
            ready, _ = self._ray.wait(list(calls), num_returns=len(calls), timeout=0)
        for call in ready:
            actor = calls[call]
            if call not in actor.calls:
                continue  # it died with another call
            result = self._answer(actor, call)
            if result is not None:
                yield result
                # Each alone: which of them took the memory is not known.
                self._again += [FileBlock(result.number, (file,), alone=True) for file in result.again]

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
            self._lost(actor, f"its process died ({type(error).__name__}): does it take too much memory?")
            return None
        del actor.calls[call]
        actor.since = time.monotonic()
        if block is None:
            actor.ready = True
            self._false_starts = 0
            return None
        assert isinstance(answer, BlockResult)
        return answer

    def _lost(self, actor: _Actor, reason: str, oldest: bool = False) -> None:
        """An actor has died, with `oldest` for its oldest block: its blocks go to others."""
        blocks = actor.blocks()
        actor.calls.clear()
        self._actors.remove(actor)
        self._grown = 0.0
        if not actor.ready:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise CappuncError("no worker of Ray begins its work; its logs say why")
        for i, block in enumerate(blocks):
            self._retry(block, reason, culprit=len(blocks) == 1 or (oldest and i == 0), died=not oldest)
        if not self._actors:
            self._begin()

    def _retry(self, block: FileBlock, reason: str, culprit: bool, died: bool = False) -> None:
        """Do a block again: alone; file by file where it, and none beside it, took an actor's life; or refuse it."""
        if not culprit:
            self._again.append(replace(block, alone=True))
        elif len(block.files) > 1:
            self._again += [FileBlock(block.number, (file,), alone=True) for file in block.files]
        elif not block.alone or (died and not block.tried):
            # Once may be the node's fault.
            self._again.append(replace(block, alone=True, tried=block.alone))
        else:
            (file,) = block.files
            self._told.append(_refused(block, file, reason))

    def _look_at_time(self) -> None:
        now = time.monotonic()
        for actor in list(self._actors):
            if actor.blocks() and now - actor.since > self._options.seconds:
                self._ray.kill(actor.handle, no_restart=True)
                self._lost(actor, f"takes longer than the {self._options.seconds:g} s of --file-timeout", oldest=True)


def _has_room(actor: _Actor, block: FileBlock) -> bool:
    if not actor.ready:
        return False
    there = actor.blocks()
    if any(other.alone or other.size > _LARGE for other in there):
        return False
    return not there if block.alone or block.size > _LARGE else len(there) < _TOGETHER


def _refused(block: FileBlock, file: BlockFile, reason: str) -> BlockResult:
    refusal = Refusal(file.source, reason)
    return BlockResult(block.number, "", refusals=[refusal])


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines else type(error).__name__
    return text.removeprefix("cappunc_cli.errors.CappuncError: ")


class RayFigures:
    """What Ray's exporter tells Prometheus of this process."""

    def __init__(self) -> None:
        from ray.util.metrics import Counter

        self._counts = {
            name: Counter(f"cappunc_{name}", description=about)
            for name, about in (
                ("files", "Files that have their result."),
                ("words", "Words of these files."),
                ("refused", "Files that were refused."),
            )
        }

    def count(self, result: BlockResult) -> None:
        """Add a block."""
        for name, more in figures_of(result).items():
            self._counts[name].inc(more)


def figures_of(result: BlockResult) -> dict[str, int]:
    """What a block adds to the figures."""
    refused = sum(not refusal.passed for refusal in result.refusals)
    told = {"files": result.fixed, "words": result.words.total(), "refused": refused}
    return {name: count for name, count in told.items() if count}


class RayWorker:
    """What runs in an actor: a worker, the figures that Ray exports, a limit of memory."""

    def __init__(self, order: WorkOrder) -> None:
        self._worker = BlockWorker(order)
        self._figures = RayFigures()
        if order.memory is not None:
            _limit_memory(order.memory)

    def begin(self) -> str:
        """The node; that there is an answer says that the actor is there."""
        return self._worker.node

    def run(self, block: FileBlock) -> BlockResult:
        """As `BlockWorker.run`."""
        result = self._worker.run(block)
        self._figures.count(result)
        return result


def _limit_memory(more: int) -> None:
    """Let the process take so many bytes more than it has now: then allocations fail, and the machine lives on."""
    if sys.platform != "linux":
        return
    import resource

    status = Path("/proc/self/status").read_text("ascii", "replace")
    kilobytes = next((line.split()[1] for line in status.splitlines() if line.startswith("VmData:")), "0")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = (int(kilobytes) << 10) + more
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))
