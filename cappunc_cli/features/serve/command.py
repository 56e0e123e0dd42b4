"""`cappunc serve`: listen, and say where, until Ctrl-C or SIGTERM."""

from __future__ import annotations

from ipaddress import ip_address

import typer

from cappunc_cli.cli.usage import make_reporter
from cappunc_cli.errors import BadOption
from cappunc_cli.features.serve.options import ServeOptions
from cappunc_cli.files.storage import read_text
from cappunc_cli.serving import require_server


def serve(context: typer.Context, options: ServeOptions) -> None:
    """Serve until Ctrl-C or SIGTERM; answers that have begun are finished. Raises CappuncError."""
    require_server("cappunc serve")
    from cappunc_cli.features.serve.app import Service  # needs the extra
    from cappunc_cli.serving.server import Server

    reporter = make_reporter(context, options.messages)
    token = ""
    if options.token_file is not None:
        token = read_text(options.token_file)[0].strip()
        if not token.isascii() or not token.isprintable() or len(token) < 16:
            raise BadOption("needs at least 16 printable ASCII characters", "--token-file")
    elif not _is_here(options.host):
        raise BadOption(
            "lets other machines in: name a file with a token that they need", "--host without --token-file"
        )
    server = Server(options.host, options.port)
    for place in server.addresses:
        reporter.info(f"listening on http://{place}")
    server.run(Service(options, token, server.draining).gated())


def _is_here(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
