"""`cappunc stream --listen`: a WebSocket server in which each connection is a stream, all sharing one model.

A message holds complete words or lines, as standard input would. An empty message ends the stream: the remaining words
are sent and the connection is closed. Reading from a client pauses while it does not read the answers.

A browser lets any page connect to this machine and says which page it is (Origin); a name that a stranger points at
this machine (DNS rebinding) is in Host. Both are refused unless they are allowed.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.features.stream.live_text import LiveInput, LiveOutput
from cappunc_cli.files.output import Reporter

try:
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Request, Response
    from websockets.typing import Origin
except ImportError:  # the extra is missing, which `serve` says
    listen = None  # type: ignore[assignment]

#: Makes the output of a new stream from a function that writes its texts.
NewOutput = Callable[[Callable[[str], None]], LiveOutput]

#: Most messages of a connection that are queued before they are processed.
_MAX_QUEUE = 4
#: WebSocket close codes: normal closure, going away, internal error.
_NORMAL, _GOING_AWAY, _INTERNAL_ERROR = 1000, 1001, 1011


def _host_and_port(address: str) -> tuple[str, int | None]:
    """The host in lower case, without the brackets of an IPv6 address, and the port, None without a valid one."""
    try:
        found = urlsplit(f"//{address.strip()}")
        return found.hostname or "", found.port
    except ValueError:
        return "", None


def serve(
    address: str, origins: Sequence[str], hosts: Sequence[str], new_output: NewOutput, reporter: Reporter
) -> None:
    """Listen at HOST:PORT until Ctrl-C or SIGTERM; each connection has an output of its own. Raises CappuncError.

    Pages with these `origins` may connect, and clients that reach this machine by its addresses, as `localhost` or by
    one of these names of `hosts`.
    """
    if listen is None:
        raise CappuncError(f"--listen needs the package websockets: {install_extra('live')}")
    host, port = _host_and_port(address)
    if port is None:
        raise WrongUsage(f"--listen takes HOST:PORT, not {address!r}")
    try:
        asyncio.run(_serve((host, port), origins, hosts, new_output, reporter))
    except OSError as error:
        raise CappuncError(f"cannot listen on {host}:{port} ({error.strerror or error})") from error


async def _serve(
    address: tuple[str, int], origins: Sequence[str], hosts: Sequence[str], new_output: NewOutput, reporter: Reporter
) -> None:
    stopped = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(name, stopped.set)

    def refuse(connection: ServerConnection, request: Request) -> Response | None:
        host, _ = _host_and_port(request.headers.get("Host", ""))
        with suppress(ValueError):
            if host in ("localhost", *hosts) or ip_address(host):  # an address is no name to be rebound
                return None
        return connection.respond(HTTPStatus.FORBIDDEN, f"host {host} is not allowed (--allow-host)\n")

    async def handle(connection: ServerConnection) -> None:
        await _Connection(connection, new_output, stopped).run()

    # Received messages and answers waiting to be sent are bounded for each connection.
    async with listen(
        handle,
        address[0] or None,
        address[1],
        max_queue=_MAX_QUEUE,
        compression=None,
        origins=[None, *map(Origin, origins)],  # programs that are no browsers send none
        process_request=refuse,
    ) as server:
        for socket in server.sockets:
            name, number, *_ = socket.getsockname()
            reporter.info(f"listening on ws://{f'[{name}]' if ':' in name else name}:{number}")
        await stopped.wait()
        server.close(close_connections=False)
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await server.wait_closed()


class _Connection:
    """A connection and its stream. The model runs in the event loop: a word takes it a few milliseconds."""

    def __init__(self, connection: ServerConnection, new_output: NewOutput, stopped: asyncio.Event) -> None:
        self._connection, self._stopped = connection, stopped
        self._written: list[str] = []
        self._output = new_output(self._written.append)
        self._input = LiveInput(self._write_error)

    def _write_error(self, error: object) -> None:
        self._written.append(json.dumps({"error": str(error)}, ensure_ascii=False) + "\n")

    async def run(self) -> None:
        """Process messages until the stream ends; errors close only this connection."""
        code, reason = _NORMAL, ""
        try:
            while message := await self._message():
                for piece in self._input.message(message):
                    self._output.take(piece)
                    await self._send()
                await self._send()
            self._output.end()
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

    async def _message(self) -> bytes:
        """The next message; b"" at the end of the stream. Sends words that become overdue in the meantime."""
        receiving = asyncio.ensure_future(self._connection.recv())
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            while not stopping.done():
                waiting = (receiving, stopping)
                await asyncio.wait(waiting, timeout=self._output.timeout(), return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    message = receiving.result()
                    return message.encode() if isinstance(message, str) else message
                self._output.write_overdue()
                await self._send()
            return b""
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _send(self) -> None:
        """Send what has been written, if anything, and let the other streams go on."""
        text = "".join(self._written)
        self._written.clear()
        if text:
            await self._connection.send(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        await asyncio.sleep(0)
