"""`cappunc stream --listen`: a WebSocket server in which each connection is a stream, all sharing one model.

A message holds complete words or lines, as standard input would. An empty message ends the stream: the remaining words
are sent and the connection is closed. Reading from a client pauses while it does not read the answers.

A browser lets any page connect to this machine and says which page it is (Origin); a name that a stranger points at
this machine (DNS rebinding) is in Host. Both are refused unless they are allowed.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.features.stream.live_text import LiveInput, LiveOutput
from cappunc_cli.files.progress import Reporter
from cappunc_cli.restoration.live import LiveRequest

try:
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Request, Response
except ImportError:  # the extra is missing, which `serve` says
    listen = None  # type: ignore[assignment]

#: Makes the output of a new stream from a function that writes its texts.
NewOutput = Callable[[Callable[[str], None]], LiveOutput]

_ADDRESS = re.compile(r"(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})")
_HOST = re.compile(r"(?:\[([^\]]*)\]|([^:]*))(?::\d+)?")
#: Most messages of a connection that are queued before they are processed.
_MAX_QUEUE = 4
#: WebSocket close codes: normal closure, going away, internal error.
_NORMAL, _GOING_AWAY, _INTERNAL_ERROR = 1000, 1001, 1011


@dataclass(frozen=True, slots=True)
class Allowed:
    """Who may connect: pages by their origin, and names of this machine, besides its addresses and `localhost`."""

    origins: Sequence[str] = ()
    hosts: Sequence[str] = ()

    def refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        """A refusal for a foreign page or name, None for others; programs that are no browsers send no Origin."""
        origin = request.headers.get("Origin")
        if origin is not None and origin not in self.origins:
            return connection.respond(HTTPStatus.FORBIDDEN, f"origin {origin} is not allowed (--allow-origin)\n")
        host = _host_of(request.headers.get("Host", ""))
        if not _is_own(host) and host not in self.hosts:
            return connection.respond(HTTPStatus.FORBIDDEN, f"host {host} is not allowed (--allow-host)\n")
        return None


def _host_of(header: str) -> str:
    """The name in a Host header, without its port and without the brackets of an IPv6 address."""
    found = _HOST.fullmatch(header.strip().lower())
    return (found[1] or found[2]) if found else ""


def _is_own(host: str) -> bool:
    with suppress(ValueError):
        return host == "localhost" or ip_address(host) is not None  # an address is no name to be rebound
    return False


def serve(address: str, allowed: Allowed, new_output: NewOutput, reporter: Reporter) -> None:
    """Listen at HOST:PORT until Ctrl-C or SIGTERM; each connection has an output of its own. Raises CappuncError."""
    if listen is None:
        raise CappuncError(f"--listen needs the package websockets: {install_extra('live')}")
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found[3]) > 0xFFFF:
        raise WrongUsage(f"--listen takes HOST:PORT, not {address!r}")
    asyncio.run(_serve((found[1] or found[2] or "", int(found[3])), allowed, new_output, reporter))


class SharedModel:
    """Batches requests of many streams: those that arrive while the model runs wait for its next run."""

    def __init__(self, read: Callable[[Sequence[LiveRequest]], list[Any]]) -> None:
        self._read = read
        self._requests: list[tuple[LiveRequest, asyncio.Future[Any]]] = []
        self._thread = ThreadPoolExecutor(1)
        self._work: asyncio.Task[None] | None = None

    async def read(self, request: LiveRequest) -> Any:
        """The answer to a request; raises CappuncError."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._requests.append((request, answer))
        if self._work is None:
            self._work = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._requests:
            batch, self._requests = self._requests, []
            try:
                await self._answer(batch)
            except Exception:  # only the stream whose request it was fails
                for request, answer in batch:
                    try:
                        await self._answer([(request, answer)])
                    except Exception as error:
                        if not answer.done():
                            answer.set_exception(error)
        self._work = None

    async def _answer(self, batch: Sequence[tuple[LiveRequest, asyncio.Future[Any]]]) -> None:
        # Requests of connections that have been closed are cancelled.
        batch = [(request, answer) for request, answer in batch if not answer.done()]
        requests = [request for request, _ in batch]
        found = await asyncio.get_running_loop().run_in_executor(self._thread, self._read, requests) if batch else []
        for (_, answer), one in zip(batch, found, strict=True):
            if not answer.done():
                answer.set_result(one)


async def _serve(address: tuple[str, int], allowed: Allowed, new_output: NewOutput, reporter: Reporter) -> None:
    host, port = address
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(name, stopped.set)
    model = SharedModel(new_output(lambda _: None).stream.read)

    async def handle(connection: ServerConnection) -> None:
        await _Connection(connection, new_output, model, stopped).run()

    try:
        # Received messages and answers waiting to be sent are bounded for each connection.
        async with listen(
            handle, host or None, port, max_queue=_MAX_QUEUE, compression=None, process_request=allowed.refuse
        ) as server:
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
    """A connection and its stream."""

    def __init__(
        self, connection: ServerConnection, new_output: NewOutput, model: SharedModel, stopped: asyncio.Event
    ) -> None:
        self._connection, self._model, self._stopped = connection, model, stopped
        self._written: list[str] = []
        self._output = new_output(self._written.append)
        self._stream = self._output.stream
        self._input = LiveInput(self._write_error)

    def _write_error(self, error: object) -> None:
        self._written.append(json.dumps({"error": str(error)}, ensure_ascii=False) + "\n")

    async def run(self) -> None:
        """Process messages until the stream ends; errors close only this connection."""
        code, reason = _NORMAL, ""
        try:
            while (message := await self._message()) is not None:
                await self._process(message)
            await self._restore(self._stream.request(None, False))
            self._written.append(self._input.ending)
            await self._send()
            code = _GOING_AWAY if self._stopped.is_set() else _NORMAL
        except ConnectionClosed:
            return
        except CappuncError as error:
            code, reason = _INTERNAL_ERROR, error.message
        finally:
            self._output.end_terms()
        # A close reason has at most 123 bytes.
        await self._connection.close(code, reason.encode()[:120].decode("utf-8", "ignore"))

    async def _message(self) -> str | None:
        """The next message; None at the end of the stream. Sends words that become overdue in the meantime."""
        receiving = asyncio.ensure_future(self._connection.recv())
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            while True:
                waiting = (receiving, stopping)
                await asyncio.wait(waiting, timeout=self._output.timeout(), return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    message = receiving.result()
                    text = message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")
                    return text or None
                if stopping.done():
                    return None
                count, silence = self._output.overdue()
                await self._restore(self._stream.request(count, True, silence))
                await self._send()
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _process(self, text: str) -> None:
        """Restore the words of a message and send what is ready."""
        # A message holds complete words or lines.
        if self._input.has_lines or text.lstrip()[:1] == "{":
            text += "\n"
        elif not text[-1].isspace():
            text += " "
        for piece in self._input.pieces(text.encode("utf-8", "surrogateescape")):
            self._output.add_piece(piece)
            for word in piece.words:
                self._output.add_word(word)
                self._stream.add(word)
                await self._restore(self._stream.due())
            await self._send()
        await self._send()

    async def _restore(self, request: LiveRequest | None) -> None:
        if request is not None:
            self._output.write_texts(self._stream.take(request, await self._model.read(request)))

    async def _send(self) -> None:
        if self._written:
            text = "".join(self._written)
            self._written.clear()
            await self._connection.send(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
