"""`cappunc stream --listen`: each WebSocket a stream of its own, all of them through one model.

A message holds what the pipe would read, whole words or whole lines; an empty one ends the text: what waits is given
out, and the connection is closed. Whoever does not read what comes back is not read from either.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cappunc_cli.application.glossary_file import StreamTermCheck, TermCheck
from cappunc_cli.application.live.live_text import LiveInput, LiveOutput
from cappunc_cli.application.progress import Reporter
from cappunc_cli.errors import CappuncError, WrongUsage, install_extra

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

    from cappunc_cli.restoration.live import LiveRequest, LiveRestorer

_ADDRESS = re.compile(r"(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})")
#: Messages of a stream that are read ahead of what has been restored of it.
_AHEAD = 4
#: WebSocket's own codes for the end of a connection.
_DONE, _GOING, _FAILED = 1000, 1001, 1011


def serve(
    address: str, begin: Callable[[], LiveRestorer], max_delay: float | None, terms: TermCheck, reporter: Reporter
) -> None:
    """Listen at HOST:PORT until Ctrl-C or SIGTERM; `begin` makes a stream for each connection. Raises CappuncError.

    `terms` hears the words of all.
    """
    try:
        import websockets.asyncio.server  # noqa: F401
    except ImportError as error:
        raise CappuncError(f"--listen needs the package websockets: {install_extra('live')}") from error
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[3]) > 0xFFFF:
        raise WrongUsage(f"--listen takes HOST:PORT, not {address!r}")
    asyncio.run(_serve(found[1] or found[2] or "", int(found[3]), begin, max_delay, terms, reporter))


class SharedModel:
    """Reads for many streams at once: what is asked while the model is at work waits for its next run."""

    def __init__(self, read: Callable[[Sequence[LiveRequest]], list[Any]]) -> None:
        self._read = read
        self._asked: list[tuple[LiveRequest, asyncio.Future[Any]]] = []
        self._thread = ThreadPoolExecutor(1)
        self._work: asyncio.Task[None] | None = None

    async def read(self, request: LiveRequest) -> Any:
        """The answer to a request; raises CappuncError."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked.append((request, answer))
        if self._work is None:
            self._work = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._asked:
            # One that was asked for by somebody who has gone is nobody's.
            asked = [(request, answer) for request, answer in self._asked if not answer.done()]
            self._asked = []
            for some in [asked] if await self._told(asked) else [[one] for one in asked]:
                await self._told(some, last=True)
        self._work = None

    async def _told(self, asked: Sequence[tuple[LiveRequest, asyncio.Future[Any]]], last: bool = False) -> bool:
        """Whether all have their answers; where one fails the others are asked again, each on its own."""
        asked = [(request, answer) for request, answer in asked if not answer.done()]
        if not asked:
            return True
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._thread, self._read, [request for request, _ in asked])
        except Exception as error:
            if last:
                asked[0][1].set_exception(error)
            return False
        for (_, answer), one in zip(asked, found, strict=True):
            if not answer.done():
                answer.set_result(one)
        return True


async def _serve(
    host: str,
    port: int,
    begin: Callable[[], LiveRestorer],
    max_delay: float | None,
    terms: TermCheck,
    reporter: Reporter,
) -> None:
    from websockets.asyncio.server import serve as listening

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(name, stopped.set)
    together = SharedModel(begin().read)

    async def handle(connection: ServerConnection) -> None:
        await _Connection(connection, begin(), max_delay, terms, together, stopped).run()

    try:
        # What is read ahead, and what waits to be sent, is bounded for each connection.
        async with listening(handle, host or None, port, max_queue=_AHEAD, compression=None) as server:
            for socket in server.sockets:
                name, number, *_ = socket.getsockname()
                reporter.info(f"listening on ws://{f'[{name}]' if ':' in name else name}:{number}")
            await stopped.wait()
            server.close(close_connections=False)
            with suppress(TimeoutError):
                async with asyncio.timeout(10):
                    await server.wait_closed()
    except OSError as error:
        raise CappuncError(f"cannot listen on {host}:{port} ({error.strerror or error})") from error


class _Connection:
    """A connection, and the stream behind it."""

    def __init__(
        self,
        connection: ServerConnection,
        stream: LiveRestorer,
        max_delay: float | None,
        terms: TermCheck,
        together: SharedModel,
        stopped: asyncio.Event,
    ) -> None:
        self._connection, self._stream, self._together, self._stopped = connection, stream, together, stopped
        self._written: list[str] = []
        self._terms = StreamTermCheck(terms)
        self._captions = LiveOutput(stream, max_delay, self._written.append, terms=self._terms)
        self._source = LiveInput(self._refuse)

    def _refuse(self, error: object) -> None:
        self._written.append(json.dumps({"error": str(error)}, ensure_ascii=False) + "\n")

    async def run(self) -> None:
        """Answer message after message; whatever happens, it happens to this connection alone."""
        from websockets.exceptions import ConnectionClosed

        code, reason = _DONE, ""
        try:
            while (message := await self._message()) is not None:
                await self._answer(message)
            await self._give(self._stream.request(self._stream.pending, False))
            self._written.append(self._source.ending)
            await self._send()
            code = _GOING if self._stopped.is_set() else _DONE
        except ConnectionClosed:
            return
        except CappuncError as error:
            code, reason = _FAILED, error.message
        finally:
            self._terms.end()
        # A reason has 123 bytes at most.
        await self._connection.close(code, reason.encode()[:120].decode("utf-8", "ignore"))

    async def _message(self) -> str | None:
        """The next message; None when the text is over. Words whose time is up meanwhile are given out."""
        receiving = asyncio.ensure_future(self._connection.recv())
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            while True:
                waiting = (receiving, stopping)
                await asyncio.wait(waiting, timeout=self._captions.patience(), return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    message = receiving.result()
                    text = message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")
                    return text or None
                if stopping.done():
                    return None
                count, silence = self._captions.overdue()
                await self._give(self._stream.request(min(count, self._stream.pending), True, silence))
                await self._send()
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _answer(self, text: str) -> None:
        """Restore the words of a message; they go out as soon as they may."""
        # A message ends a word, or a line.
        if self._source.has_lines or text.lstrip()[:1] == "{":
            text += "\n"
        elif not text[-1].isspace():
            text += " "
        for piece in self._source.pieces(text.encode("utf-8", "surrogateescape")):
            self._captions.begin(piece)
            for word in piece.words:
                self._captions.said(word)
                self._stream.add(word)
                await self._give(self._stream.due())
            await self._send()
        await self._send()

    async def _give(self, request: LiveRequest | None) -> None:
        if request is not None:
            self._captions.give(self._stream.take(request, await self._together.read(request)))

    async def _send(self) -> None:
        if self._written:
            text = "".join(self._written)
            self._written.clear()
            await self._connection.send(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
