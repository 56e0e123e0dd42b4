"""Serve the review page to this machine, for one editor, until the page is closed."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.storage import about
from cappunc_cli.pages.review_page import review_page
from cappunc_cli.serving.gate import Gate, until_gone
from cappunc_cli.serving.server import Server

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from cappunc_cli.features.review.review_session import ReviewSession

#: Seconds after which a page that has been left is not being reloaded but closed.
_RELOAD_S = 2.0
#: Largest request body; the decisions about a long film take some hundred kilobytes.
_MAX_BODY = 64_000_000
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class ReviewServer:
    """Serves a session on a free port of 127.0.0.1, under a random token that is good for one browser.

    The first browser that shows the token is given a cookie, and from then on it is asked for it: the token stands in
    the browser's command line, where other users of the machine can read it.
    """

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        self.token, self.cookie = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._server = Server("127.0.0.1", 0)
        self._admitted = False
        #: How many pages are shown, and how many have been left.
        self._pages = self._left = 0

    def __enter__(self) -> ReviewServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def server_port(self) -> int:
        return self._server.port

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def serve_forever(self) -> None:
        """Serve until the last page has been left, Ctrl-C or `shutdown`."""
        self._server.run(Gate(self._answer, most_bytes=_MAX_BODY, seconds=None))

    def shutdown(self) -> None:
        """Stop, from any thread."""
        self._server.stop()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            try:
                path = self._path(request)
                if (path, request.method) == ("alive", "GET"):
                    await self._stay(receive, send)
                    return
                response = await self._page() if request.method == "GET" else await self._write(request)
            except HTTPException as error:
                response = Response(f"{error.detail}\n", error.status_code, _HEADERS, "text/plain")
            except (CappuncError, OSError) as error:
                said = {"error": str(about(error, self.session.job.name))}
                response = JSONResponse(said, HTTPStatus.CONFLICT, _HEADERS)
            await response(scope, receive, send)

    async def _page(self) -> Response:
        report = await run_in_threadpool(self.session.report)
        page = Response(review_page(report, self.address), headers=_HEADERS, media_type="text/html")
        page.set_cookie("cappunc", self.cookie, path=f"/{self.token}/", httponly=True, samesite="strict")
        return page

    async def _write(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "JSON only")
        return JSONResponse(await run_in_threadpool(self.session.write, await request.body()), headers=_HEADERS)

    async def _stay(self, receive: Receive, send: Send) -> None:
        """Hold the connection of a page that is shown; it ends when the page is left or its browser ends.

        After the last page the server shuts down, unless that page is being reloaded.
        """
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
        await send({"type": "http.response.body", "body": b"\n", "more_body": True})
        self._pages += 1
        waiting = [asyncio.ensure_future(one) for one in (until_gone(receive), self._server.draining.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
            self._pages, self._left = self._pages - 1, self._left + 1
            asyncio.get_running_loop().call_later(_RELOAD_S, self._end, self._left)

    def _end(self, left: int) -> None:
        if not self._pages and self._left == left:
            self.shutdown()

    def _path(self, request: Request) -> str:
        """The path after the token. Raises HTTPException if it is none, or host, token, cookie or origin are wrong."""
        _, token, *rest = [*request.url.path.split("/", 2), ""]
        path, hosts = "/".join(rest[:-1]), [f"{host}:{self.server_port}" for host in ("127.0.0.1", "localhost")]
        cookie, origin = request.cookies.get("cappunc", ""), request.headers.get("origin")
        if request.headers.get("host") not in hosts:  # DNS rebinding
            raise HTTPException(HTTPStatus.FORBIDDEN, "wrong host")
        if not _same(token, self.token):
            raise HTTPException(HTTPStatus.NOT_FOUND, "not found")
        first, self._admitted = not self._admitted, True
        if not (first or _same(cookie, self.cookie)):  # without a cookie only the first request may go on
            said = "this address is open in another browser; start cappunc review again"
            raise HTTPException(HTTPStatus.FORBIDDEN, said)
        if origin is not None and origin.removeprefix("http://") not in hosts:
            raise HTTPException(HTTPStatus.FORBIDDEN, "wrong origin")
        if request.method not in ("GET", "POST"):
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, "not allowed")
        if path not in (("", "alive") if request.method == "GET" else ("write",)):
            raise HTTPException(HTTPStatus.NOT_FOUND, "not found")
        return path


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())
