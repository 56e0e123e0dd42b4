"""What stands before an app: who may ask, how long and how large a request may be, and refusals of one line.

A browser lets any page ask this machine and says which page it is (Origin); a name that a stranger points at this
machine (DNS rebinding) is in Host. Both are refused unless they are allowed.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.serving.server import refusal

#: Bytes of bodies that are held at a time.
_HELD = 64 << 20
#: Seconds to wait for more of a body.
_IDLE_S = 20
#: On every answer.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Refused(CappuncError):
    """A request that is refused with an HTTP status, perhaps to be tried again after some seconds."""

    def __init__(self, status: int, message: str, retry: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry = status, retry


def host_and_port(address: str) -> tuple[str, int | None]:
    """The host in lower case, without the brackets of an IPv6 address, and the port, None without a valid one."""
    try:
        found = urlsplit(f"//{address.strip()}")
        return found.hostname or "", found.port
    except ValueError:
        return "", None


async def until_gone(receive: Receive) -> None:
    """Wait until a client, whose request was read, has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def answer(error: Exception) -> Response:
    """The answer to a request that failed: 4xx if its sender can mend that."""
    headers = dict(_HEADERS)
    match error:
        case Refused():
            status = error.status
            headers |= {"Retry-After": str(error.retry)} if error.retry is not None else {}
        case WrongUsage():
            status = 400
        case CappuncError():
            status = 422
        case HTTPException():
            status, headers = error.status_code, {**headers, **(error.headers or {})}
            error = CappuncError(error.detail.lower())
        case _:
            status, error = 500, CappuncError(f"this is a bug: {type(error).__name__}: {error}")
    return Response(refusal(error), status, headers, "application/json")


@dataclass(eq=False)
class Gate:
    """Lets requests through to the `app` that come from here, or have the token, one body of `most_bytes` each.

    Pages with these `origins` may ask, and clients that reach this machine by its addresses, as `localhost` or by one
    of these names of `hosts`. A request may take `seconds` in all. Statuses are counted in `statuses`.
    """

    app: ASGIApp
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    token: str = ""
    #: Paths that need no token: they tell nothing, or look for it elsewhere.
    public: Sequence[str] = ()
    most_bytes: int = 1 << 20
    seconds: float | None = 60
    is_draining: Callable[[], bool] = lambda: False
    statuses: Counter[int] = field(default_factory=Counter)
    _held: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"].endswith("response.start"):
                begun = True
                self.statuses[message["status"]] += 1
            await send(message)

        try:
            self._check(scope)
            if scope["type"] != "http":
                await self.app(scope, receive, sent)
                return
            async with asyncio.timeout(self.seconds):
                await self._with_body(scope, receive, sent)
        except ClientDisconnect:
            return
        except TimeoutError:
            if begun:
                raise
            await answer(Refused(503, f"took longer than {self.seconds:g} s", 30))(scope, receive, sent)
        except CappuncError as error:
            if begun:
                raise
            await answer(error)(scope, receive, sent)

    def _check(self, scope: Scope) -> None:
        """Raises Refused for a request that may not be answered."""
        headers = Headers(scope=scope)
        host, _ = host_and_port(headers.get("host", ""))
        address = False
        with suppress(ValueError):
            address = bool(ip_address(host))  # an address is no name to be rebound
        if not address and host not in ("localhost", *self.hosts):
            raise Refused(403, f"host {host} is not allowed (--allow-host)")
        if foreign := [one for one in headers.getlist("origin") if one not in self.origins]:
            raise Refused(403, f"origin {foreign[0]} is not allowed (--allow-origin)")
        if self.token and scope["path"] not in self.public:
            self.admit(headers.get("authorization", "").removeprefix("Bearer "))
        if self.is_draining() and scope["path"] != "/v1/health":
            raise Refused(503, "is being stopped", 5)

    def admit(self, token: str) -> None:
        """Raises Refused for a wrong token; the time that takes tells nothing of the right one."""
        if self.token and not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            raise Refused(401, "needs the header Authorization: Bearer TOKEN")

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app read a body that is neither too large nor too slow."""
        length, held, complete = Headers(scope=scope).get("content-length", "0"), 0, False
        too_large = Refused(413, f"the body is larger than {self.most_bytes:,} bytes")
        if not length.isdecimal() or len(length) > 12 or int(length) > self.most_bytes:
            raise too_large

        async def received() -> Message:
            nonlocal held, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout(_IDLE_S):
                    message = await receive()
            except TimeoutError:
                raise Refused(408, f"no more of the body came for {_IDLE_S} s") from None
            size = len(message.get("body", b""))
            held, self._held = held + size, self._held + size
            if held > self.most_bytes:
                raise too_large
            if self._held > _HELD:
                raise Refused(503, "holds too many bodies", 5)
            complete = not message.get("more_body", False)
            return message

        try:
            await self.app(scope, received, send)
        finally:
            self._held -= held


def app_errors() -> dict[Any, Any]:
    """What an app of Starlette does with errors: `answer` them."""

    async def answered(_: object, error: Exception) -> Response:
        return answer(error)

    return dict.fromkeys((CappuncError, HTTPException, Exception), answered)
