"""Serve the review page to this machine, for one editor, until the page is closed; write the decisions."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cappunc_cli.errors import CappuncError
from cappunc_cli.features.review.decisions import apply_decisions, parse_decisions, sha256
from cappunc_cli.features.review.doubts import page_data
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.jobs import Job, fixed_name, sibling
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import about, is_pipe, read_bytes
from cappunc_cli.pages.review_page import compared, review_page

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.inspection import Examined, Report

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


class ReviewSession:
    """A file under review: the data of its page, and the writing of its decisions.

    Decisions are written beside the file, or with `in_place` into it. The page shows the words of `other`, a document
    and its name, beside the file's.
    """

    def __init__(
        self, job: Job, fixer: Fixer, below: float, other: tuple[Document, str] | None = None, in_place: bool = False
    ) -> None:
        self.job, self.fixer, self.below, self.other, self.in_place = job, fixer, below, other, in_place
        #: The content of a pipe, which cannot be read again.
        self._piped = read_bytes(job.source) if is_pipe(job.source) else None
        #: What there is to say of the file's languages, once it was read.
        self.note = ""
        self._known: Examined | None = None
        self._written = ""
        self._lock = threading.Lock()

    def report(self) -> Report:
        """The data of the page for the file as it is now. Raises CappuncError and OSError."""
        data = read_bytes(self.job.source) if self._piped is None else self._piped
        text, encoding = decode(data, self.fixer.request.encoding)
        document = self.fixer.request.read(text, self.job.name)
        opened = self.fixer.open(document, self.job.name, encoding)
        self.note = opened.note
        found, self._known = page_data(opened, data, self.job.name, self.below, self._known)
        found |= {"encoding": self.fixer.request.encoding, "in_place": self.in_place, "writable": self._piped is None}
        if self.other is None:
            return found
        other, name = self.other
        return compared(found, other.texts, name)

    def write(self, body: bytes) -> Report:
        """Write decisions, and report what was done. Raises CappuncError and OSError."""
        with self._lock:
            decisions = parse_decisions(body)
            if self._piped is not None:
                raise CappuncError("is a pipe and cannot be written", self.job.name)
            source = self.job.source
            target = source if self.in_place else str(sibling(source, fixed_name(Path(source))))
            ours = False
            with suppress(FileNotFoundError):  # what this session has written it may write again
                ours = sha256(read_bytes(target)) == self._written
            worker = Worker(self.fixer.request, "in-place" if self.in_place else "force" if ours else "new")
            data, changed, refused = apply_decisions(decisions, replace(self.job, target=target), worker)
            self._written = sha256(data)
            return {
                "written": target,
                "changed": changed,
                "refused": [[d.word + 1, written, d.text] for d, written in refused],
                "in_place": self.in_place,
                "sha256": self._written,
            }


class ReviewServer(ThreadingHTTPServer):
    """Serves a session on a free port of 127.0.0.1, under a random token that is good for one browser.

    The first browser that shows the token is given a cookie, and from then on it is asked for it: the token stands in
    the browser's command line, where other users of the machine can read it.
    """

    daemon_threads = True

    def __init__(self, session: ReviewSession) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.session = session
        self.token, self.cookie = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._admitted = False
        #: How many pages are shown, and how many have been left.
        self._pages = self._left = 0
        self._lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that the browser breaks off; other errors are printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def admits(self, cookie: str) -> bool:
        """Whether a request with the right token may go on; without a cookie only the first one may."""
        with self._lock:
            first, self._admitted = not self._admitted, True
        return first or hmac.compare_digest(cookie.encode("utf-8", "replace"), self.cookie.encode())

    @contextmanager
    def shown(self) -> Iterator[None]:
        """While a page is shown. After the last one the server shuts down, unless that page is being reloaded."""
        with self._lock:
            self._pages += 1
        try:
            yield
        finally:
            with self._lock:
                self._pages, self._left = self._pages - 1, self._left + 1
                left = self._left
            time.sleep(_RELOAD_S)
            if not self._pages and self._left == left:
                self.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    server_version, sys_version = "cappunc", ""
    timeout = 60

    def do_GET(self) -> None:
        match self._path():
            case "":
                self._page()
            case "alive":
                self._stay()
            case str():
                self._answer(HTTPStatus.NOT_FOUND, b"not found\n")

    def _page(self) -> None:
        try:
            page = review_page(self.server.session.report(), self.server.address)
        except (CappuncError, OSError) as error:
            self._refused(error)
        else:
            self._answer(HTTPStatus.OK, page, "text/html; charset=utf-8")

    def _stay(self) -> None:
        """Hold the connection of a page that is shown; it ends when the page is left or its browser ends."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.connection.settimeout(None)
        with self.server.shown(), suppress(ConnectionError):
            self.connection.recv(1)

    def do_POST(self) -> None:
        path, origin, length = self._path(), self.headers.get("Origin"), self.headers.get("Content-Length", "")
        if path is None:
            return
        if origin is not None and origin.removeprefix("http://") not in self._hosts():
            self._answer(HTTPStatus.FORBIDDEN, b"wrong origin\n")
        elif not (re.fullmatch("[0-9]{1,9}", length) and int(length) <= _MAX_BODY):
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"too long\n")
        elif path != "write":
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n")
        elif self.headers.get_content_type() != "application/json":
            self._answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, b"JSON only\n")
        else:
            try:
                self._json(HTTPStatus.OK, self.server.session.write(self.rfile.read(int(length))))
            except (CappuncError, OSError) as error:
                self._refused(error)

    def _path(self) -> str | None:
        """The path after the token; None, after sending an error, if the host, the token or the cookie is wrong."""
        _, token, *rest = [*self.path.split("/", 2), ""]
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        cookie = cookies["cappunc"].value if "cappunc" in cookies else ""
        if self.headers.get("Host") not in self._hosts():  # DNS rebinding
            self._answer(HTTPStatus.FORBIDDEN, b"wrong host\n")
        elif not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n")
        elif not self.server.admits(cookie):
            self._answer(HTTPStatus.FORBIDDEN, b"this address is open in another browser; start cappunc review again\n")
        else:
            return "/".join(rest[:-1])
        return None

    def _hosts(self) -> list[str]:
        return [f"{host}:{self.server.server_port}" for host in ("127.0.0.1", "localhost")]

    def _refused(self, error: CappuncError | OSError) -> None:
        self._json(HTTPStatus.CONFLICT, {"error": str(about(error, self.server.session.job.name))})

    def _json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        self._answer(status, json.dumps(content).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        headers = {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}
        if kind.startswith("text/html"):
            path = f"/{self.server.token}/"
            headers["Set-Cookie"] = f"cappunc={self.server.cookie}; HttpOnly; SameSite=Strict; Path={path}"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: standard error is for errors."""
