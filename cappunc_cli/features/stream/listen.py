"""`cappunc stream --listen`: a WebSocket server in which each connection is a stream, all sharing one model."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.output import Reporter
from cappunc_cli.serving.gate import Gate, host_and_port
from cappunc_cli.serving.live_socket import LiveSocket, NewOutput
from cappunc_cli.serving.server import Server


def listen(
    address: str, origins: Sequence[str], hosts: Sequence[str], new_output: NewOutput, reporter: Reporter
) -> None:
    """Listen at HOST:PORT until Ctrl-C or SIGTERM; each connection has an output of its own. Raises CappuncError.

    Pages with these `origins` may connect, and clients that reach this machine by its addresses, as `localhost` or by
    one of these names of `hosts`.
    """
    host, port = host_and_port(address)
    if port is None:
        raise WrongUsage(f"--listen takes HOST:PORT, not {address!r}")
    server = Server(host, port)

    async def stream(connection: WebSocket) -> None:
        await LiveSocket(connection, new_output, server.draining).run()

    for place in server.addresses:
        reporter.info(f"listening on ws://{place}")
    app = Starlette(routes=[WebSocketRoute("/{path:path}", stream)])
    server.run(Gate(app, hosts, origins, is_draining=server.draining.is_set))
