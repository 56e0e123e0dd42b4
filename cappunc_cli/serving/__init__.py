"""What servers and plug-ins share: uvicorn on our sockets, the gate before an app, options of requests, live words."""

from __future__ import annotations

from importlib.util import find_spec

from cappunc_cli.errors import CappuncError, install_extra


def require_server(what: str) -> None:
    """Raises CappuncError, with the name of the extra, if a package is missing that `what` needs."""
    missing = [name for name in ("starlette", "uvicorn", "websockets", "python_multipart") if find_spec(name) is None]
    if missing:
        raise CappuncError(f"{what} needs the extra serve ({', '.join(missing)} missing): {install_extra('serve')}")
