"""Worker processes that parse, decode and write, sharing the model of the parent process.

The Python part of the work runs in parallel, and windows of several workers share a batch. Each worker has one end of
a pipe. It sends ("infer", engine, pieces, chunks, shares) and receives probabilities, or sends ("done", outcomes) and
receives the next group of jobs, or None to end. The engine is that of the model (0) or of a model in its ensemble. The
shares, of the group's words that have been read before and after these chunks, are for the progress bar.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.processing import JobOutcome, collect_rarely, process_jobs
from cappunc_cli.files.progress import ProgressCallback, Steps
from cappunc_cli.files.result_writer import ResultWriter

if TYPE_CHECKING:
    from cappunc_cli.restore.chunks import Chunk, Rows
    from cappunc_cli.restore.models.network import OnnxEngine, Pieces
    from cappunc_cli.restore.pipeline import Model


@dataclass(frozen=True, slots=True)
class Request:
    """A worker's windows for an engine, and the shares of its group's words read before and after them."""

    connection: Connection
    engine: int
    pieces: Pieces
    chunks: list[Chunk]
    shares: tuple[float, float]


def process_all(
    groups: Sequence[Sequence[Job]],
    fixer: Fixer,
    writer: ResultWriter,
    workers: int,
    steps: Steps | None,
) -> Iterator[JobOutcome]:
    """Run `processing.process_jobs` over all groups in up to `workers` processes; yields outcomes as they are ready.

    The `steps` show progress, if there are any. Raises CappuncError if a worker dies.
    """
    # Not forked: threads of ONNX Runtime and of the progress bar do not survive a fork.
    context = multiprocessing.get_context("spawn")
    processes = []
    busy: dict[Connection, ProgressCallback | None] = {}
    todo = iter(groups)
    try:
        for _, group in zip(range(workers), todo, strict=False):
            ours, theirs = context.Pipe()
            worker = context.Process(target=_work, args=(theirs, fixer.settings, writer), daemon=True)
            with _without_interrupts():
                worker.start()
            processes.append(worker)
            theirs.close()
            ours.send(group)
            busy[ours] = None if steps is None else steps.group_progress(len(group))
        yield from _serve(busy, todo, fixer, steps)
    except (EOFError, ConnectionError) as error:
        raise CappuncError("a worker process ended unexpectedly") from error
    finally:
        for connection in busy:
            connection.close()
        for worker in processes:
            worker.terminate()
            worker.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Put off Ctrl-C until the block ends, and block it in processes that are started in the block.

    Ctrl-C at a terminal goes to all processes of a command: in one that is only just starting it would be an error.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    from multiprocessing import resource_tracker

    came = threading.Event()
    resource_tracker.ensure_running()  # it unblocks signals when it is started
    # Another thread may receive what this one blocks, and then Python interrupts this one all the same.
    handler = signal.signal(signal.SIGINT, lambda *_: came.set())
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, handler)
        if came.is_set():
            signal.raise_signal(signal.SIGINT)


def _serve(
    busy: dict[Connection, ProgressCallback | None],
    todo: Iterator[Sequence[Job]],
    fixer: Fixer,
    steps: Steps | None,
) -> Iterator[JobOutcome]:
    requests: list[Request] = []
    while busy:
        # Receive all pending requests before the model runs, so that their windows share batches.
        ready = cast("list[Connection]", wait(list(busy), 0 if requests else None))
        for connection in ready:
            kind, *content = connection.recv()
            if kind == "infer":
                requests.append(Request(connection, *content))
                continue
            yield from content[0]
            group = next(todo, None)
            connection.send(group)
            if group is None:
                del busy[connection]
                connection.close()
            else:
                busy[connection] = None if steps is None else steps.group_progress(len(group))
        if requests and not ready:
            _answer(requests, fixer, busy)
            requests = []


def _answer(requests: Sequence[Request], fixer: Fixer, busy: Mapping[Connection, ProgressCallback | None]) -> None:
    """Run each engine over the windows of several workers at once, and send each worker its probabilities."""
    for number in sorted({request.engine for request in requests}):
        asked = [request for request in requests if request.engine == number]

        def on_progress(i: int, share: float, asked: Sequence[Request] = asked) -> None:
            before, after = asked[i].shares
            if (progress := busy[asked[i].connection]) is not None:
                progress(before + share * (after - before))

        answers: Sequence[Rows | CappuncError]
        try:
            engines = [fixer.model.engine, *(member.engine for member, _ in fixer.model.ensemble)]
            engine = cast("OnnxEngine", engines[number])
            answers = engine.infer_all([(request.pieces, request.chunks) for request in asked], on_progress)
        except CappuncError as error:
            answers = [error] * len(asked)
        for request, answer in zip(asked, answers, strict=True):
            request.connection.send(answer)


class _RemoteEngine:
    """A worker's proxy for an engine of the parent process, by its number in a request."""

    warning = None
    device = "the parent's"

    def __init__(self, directory: Path, connection: Connection, number: int) -> None:
        from cappunc_cli.restore.models.network import Encoder
        from cappunc_cli.restore.models.registry import ModelConfig, read_lexicon

        self.config = ModelConfig.load(directory)
        self.lexicon = read_lexicon(directory)
        self.encoder = Encoder(directory, self.config)
        self._connection, self._number = connection, number

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """As `OnnxEngine.predict`."""
        from cappunc_cli.restore.models.network import chunk_groups, rows_per_chunk

        for group in chunk_groups(chunks, 1 << 16):
            first, last = group[0].start, group[-1].stop
            pieces = self.encoder.encode(words[first:last], pauses[first:last], turns[first:last])
            own = [chunk.moved(-first) for chunk in group]
            total = chunks[-1].stop
            self._connection.send(("infer", self._number, pieces, own, (first / total, last / total)))
            answer = self._connection.recv()
            if isinstance(answer, Exception):
                raise answer
            yield from zip(group, rows_per_chunk(answer, group), strict=True)


def _remote_model(settings: Settings, connection: Connection) -> Model:
    """A model that runs in the parent process, with its ensemble. Raises BadModel."""
    from cappunc_cli.restore.models.registry import find_member, find_model
    from cappunc_cli.restore.pipeline import Model

    def model(directory: Path, number: int) -> Model:
        engine = _RemoteEngine(directory, connection, number)
        return Model(engine.config, engine, engine.lexicon)

    try:
        directory = find_model(settings.model)
        own = model(directory, 0)
        # Numbered in the order in which `load_model` has opened them.
        members = enumerate(own.config.ensemble.items(), 1)
        ensemble = [(model(find_member(directory, name), number), part) for number, (name, part) in members]
        return replace(own, ensemble=ensemble)
    except CappuncError as error:
        raise BadModel(error.message, error.path, error.line) from error


def _work(connection: Connection, settings: Settings, writer: ResultWriter) -> None:
    """Main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    collect_rarely()
    fixer = Fixer(settings, lambda _: None, opened=partial(_remote_model, connection=connection))
    try:
        while (jobs := connection.recv()) is not None:
            connection.send(("done", list(process_jobs(jobs, fixer, writer))))
    except (EOFError, ConnectionError):
        return  # the parent has gone


def _end_with(parent: BaseProcess) -> None:
    """End this process when its parent ends, so that it does not write while the next run does."""
    parent.join()
    os._exit(1)
