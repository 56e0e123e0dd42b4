"""uvicorn for an app of ours: on sockets that we open, with limits on connections, and stopped without a cut answer."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cappunc_cli.errors import CappuncError, error_entry

if TYPE_CHECKING:
    from starlette.types import ASGIApp

#: Largest message of a WebSocket, in bytes.
_MESSAGE = 1 << 20
#: Seconds for the head of a request, after which its connection is closed, and for the answers that a stop waits for.
_HEAD_S, _DRAIN_S = 15, 10
#: Open connections, by default; with 64 MB of bodies between them (`gate`) this bounds what strangers can take.
CONNECTIONS = 256


class _Protocol(H11Protocol):
    """Refuses connections beyond the limit, and those whose head does not come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.config.most_connections:  # type: ignore[attr-defined]
            self._refuse(503, "too many connections", b"Retry-After: 5\r\n")
        else:
            self.loop.call_later(_HEAD_S, self._look)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's)
        """Answer what is no HTTP, such as a request with two hosts."""
        self._refuse(400, "not a valid HTTP request")

    def _look(self) -> None:
        if self.transport.get_protocol() is self and self.conn.their_state is h11.IDLE and self.cycle is None:
            self._refuse(408, "no request came")

    def _refuse(self, status: int, message: str, header: bytes = b"") -> None:
        body = refusal(CappuncError(message))
        head = f"HTTP/1.1 {status} Refused\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + header + b"Connection: close\r\n\r\n" + body)
        self.transport.close()


def refusal(error: object) -> bytes:
    """An error as a line of JSON: what, where, and the code with which the command line would exit."""
    import json

    return json.dumps(error_entry(error), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `Server`: uvicorn would raise them again after it has stopped: no clean exit."""
        yield


class Server:
    """Serves an app at `host` and `port` (0: any) until Ctrl-C, SIGTERM or `stop`.

    `draining` is set when it is being stopped: what waits for clients must end then. Raises CappuncError if it cannot
    listen.
    """

    def __init__(self, host: str, port: int, connections: int = CONNECTIONS) -> None:
        self._connections = connections
        self.draining = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = threading.Event()
        self.sockets: list[socket.socket] = []
        failed: Exception | None = None
        try:
            found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, *_, address in found:
                try:
                    self.sockets.append(socket.create_server(address[:2], family=family, backlog=connections))
                except OSError as error:  # `localhost` may have an address of IPv6 on a machine without
                    if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                        raise
                    failed = error
        except (OSError, OverflowError, UnicodeError) as error:
            self.close()
            failed, self.sockets = error, []
        if not self.sockets:
            said = getattr(failed, "strerror", None) or failed
            raise CappuncError(f"cannot listen on {host}:{port} ({said})") from failed

    @property
    def addresses(self) -> list[str]:
        """HOST:PORT of each socket."""
        names = [(one.getsockname(), one.family == socket.AF_INET6) for one in self.sockets]
        return [f"[{name[0]}]:{name[1]}" if is_v6 else f"{name[0]}:{name[1]}" for name, is_v6 in names]

    @property
    def port(self) -> int:
        """The port of the first socket."""
        return int(self.sockets[0].getsockname()[1])

    def run(self, app: ASGIApp) -> None:
        """Serve until it is stopped."""
        # `main` hardly looks for cycles, of which every connection leaves some.
        gc.set_threshold(20_000, 10, 10)
        asyncio.run(self._run(app))

    def stop(self) -> None:
        """Stop it from any thread: answers that have begun are finished."""
        self._stopped.set()
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self.draining.set)

    def close(self) -> None:
        """Close the sockets."""
        for one in self.sockets:
            one.close()

    async def _run(self, app: ASGIApp) -> None:
        self._loop = asyncio.get_running_loop()
        if self._stopped.is_set():
            return
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGINT, signal.SIGTERM):
                with suppress(NotImplementedError):  # Windows
                    self._loop.add_signal_handler(name, self.draining.set)
        server = _Uvicorn(self._config(app))
        serving = asyncio.create_task(server.serve(self.sockets))
        stopping = asyncio.create_task(self.draining.wait())
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        # uvicorn cuts WebSockets off: those that end by themselves have sent their last words by then.
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                while server.server_state.tasks and not serving.done():
                    await asyncio.sleep(0.02)
        server.should_exit = True
        await serving

    def _config(self, app: ASGIApp) -> uvicorn.Config:
        known: dict[str, Any] = {"lifespan": "off", "log_config": None, "access_log": False, "proxy_headers": False}
        config = uvicorn.Config(
            app,
            http=_Protocol,
            ws="websockets-sansio",
            ws_max_size=_MESSAGE,
            ws_per_message_deflate=False,
            log_level="critical",
            server_header=False,
            timeout_graceful_shutdown=_DRAIN_S,
            **known,
        )
        config.most_connections = self._connections  # type: ignore[attr-defined]
        return config
