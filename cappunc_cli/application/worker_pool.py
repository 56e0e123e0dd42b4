"""Worker processes that read, decode and write, around the one model of the parent process.

Python's share of the work (parsing, decoding, writing) runs in parallel; windows of several workers share a
batch. Each worker has one end of a pipe. It sends ("infer", pieces, chunks, shares) and gets probabilities, or
("done", outcomes) and gets the next group of jobs, or None to end. The shares of the group's words that have been read
before these chunks and with them are for the progress.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, cast

from cappunc_cli.application.fixer import Fixer, Settings
from cappunc_cli.application.plan import Job
from cappunc_cli.application.processing import Heard, JobOutcome, Mode, collect_rarely, process_jobs
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.application.manifest import Manifest
    from cappunc_cli.restoration.chunks import Chunk, Rows
    from cappunc_cli.restoration.model.onnx_engine import OnnxEngine
    from cappunc_cli.restoration.model.pieces import Pieces
    from cappunc_cli.restoration.pipeline import Model

#: A worker's windows, and the shares of its group's words up to them and with them.
Request = tuple[Connection, "Pieces", "list[Chunk]", tuple[float, float]]


def process_all(
    groups: Sequence[Sequence[Job]],
    fixer: Fixer,
    mode: Mode,
    workers: int,
    reading: Callable[[int], Heard | None],
    manifest: Manifest | None = None,
) -> Iterator[JobOutcome]:
    """`processing.process_jobs` over all groups in up to `workers` processes; outcomes come as they are ready.

    `reading` gives, for a group of so many files, what hears its progress, if anything does. Raises CappuncError where
    a worker dies.
    """
    # Not forked: threads of the run-time and of a progress bar do not survive that.
    context = multiprocessing.get_context("spawn")
    processes = []
    busy: dict[Connection, Heard | None] = {}
    todo = iter(groups)
    try:
        for _, group in zip(range(workers), todo, strict=False):
            here, there = context.Pipe()
            worker = context.Process(target=_work, args=(there, fixer.settings, mode, manifest), daemon=True)
            worker.start()
            processes.append(worker)
            there.close()
            here.send(group)
            busy[here] = reading(len(group))
        yield from _serve(busy, todo, fixer, reading)
    except (EOFError, ConnectionError) as error:
        raise CappuncError("a worker process has ended unexpectedly") from error
    finally:
        for connection in busy:
            connection.close()
        for worker in processes:
            worker.terminate()
            worker.join()


def _serve(
    busy: dict[Connection, Heard | None],
    todo: Iterator[Sequence[Job]],
    fixer: Fixer,
    reading: Callable[[int], Heard | None],
) -> Iterator[JobOutcome]:
    asked: list[Request] = []
    while busy:
        # Whoever has something to say is heard before the model runs again: its windows share the batches.
        ready = cast("list[Connection]", wait(list(busy), 0 if asked else None))
        for connection in ready:
            kind, *content = connection.recv()
            if kind == "infer":
                asked.append((connection, *content))
                continue
            yield from content[0]
            group = next(todo, None)
            connection.send(group)
            if group is None:
                del busy[connection]
                connection.close()
            else:
                busy[connection] = reading(len(group))
        if asked and not ready:
            _answer(asked, fixer, busy)
            asked = []


def _answer(asked: Sequence[Request], fixer: Fixer, busy: Mapping[Connection, Heard | None]) -> None:
    """Run the model over the windows of several workers at once."""

    def heard(i: int, share: float) -> None:
        connection, _, _, (before, after) = asked[i]
        if (progress := busy[connection]) is not None:
            progress(before + share * (after - before))

    try:
        engine = cast("OnnxEngine", fixer.model.engine)
        rows = engine.infer_all([(pieces, chunks) for _, pieces, chunks, _ in asked], heard)
        for (connection, *_), own in zip(asked, rows, strict=True):
            connection.send(own)
    except CappuncError as error:
        for connection, *_ in asked:
            connection.send(error)


class _Remote:
    """In a worker: the engine of the parent process."""

    warning = None
    device = "the parent's"

    def __init__(self, name: str, connection: Connection) -> None:
        from cappunc_cli.restoration.model.config import ModelConfig
        from cappunc_cli.restoration.model.pieces import Encoder
        from cappunc_cli.restoration.model.registry import find_model

        directory = find_model(name)
        self.config = ModelConfig.load(directory)
        self.encoder = Encoder(directory, self.config)
        self._connection = connection

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """As `OnnxEngine.predict`."""
        from cappunc_cli.restoration.model.onnx_engine import chunk_groups, rows_per_chunk

        for shelf in chunk_groups(chunks, 1 << 16):
            first, last = shelf[0].start, shelf[-1].stop
            pieces = self.encoder.encode(words[first:last], pauses[first:last], turns[first:last])
            own = [chunk.moved(-first) for chunk in shelf]
            total = chunks[-1].stop
            self._connection.send(("infer", pieces, own, (first / total, last / total)))
            answer = self._connection.recv()
            if isinstance(answer, Exception):
                raise answer
            yield from zip(shelf, rows_per_chunk(answer, shelf), strict=True)


class _RemoteFixer(Fixer):
    """A Fixer whose model runs elsewhere."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        super().__init__(settings, lambda _: None)
        self._connection = connection

    @cached_property
    def model(self) -> Model:
        from cappunc_cli.restoration.model.registry import find_model, read_lexicon
        from cappunc_cli.restoration.pipeline import Model

        try:
            engine = _Remote(self.settings.model, self._connection)
            lexicon = read_lexicon(find_model(self.settings.model))
        except CappuncError as error:
            raise BadModel(error.message, error.path, error.line) from error
        return Model(engine.config, cast("OnnxEngine", engine), lexicon)


def _work(connection: Connection, settings: Settings, mode: Mode, manifest: Manifest | None = None) -> None:
    """A worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    collect_rarely()
    fixer: Any = _RemoteFixer(settings, connection)
    try:
        while (jobs := connection.recv()) is not None:
            connection.send(("done", list(process_jobs(jobs, fixer, mode, manifest=manifest))))
    except (EOFError, ConnectionError):
        return  # the parent has gone


def _end_with(parent: BaseProcess) -> None:
    """End this process when its parent does: the next run is not to meet one that still writes."""
    parent.join()
    os._exit(1)
