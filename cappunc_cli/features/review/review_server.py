"""Serve the review page to this machine, for one editor, until the page is closed; write the decisions."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cappunc_cli.errors import CappuncError
from cappunc_cli.features.review.decisions import parse_decisions, sha256, with_decisions, write_decided
from cappunc_cli.features.review.page import page_bytes
from cappunc_cli.features.review.page_data import compared, page_data, with_file
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.input_files import Job, fixed_name
from cappunc_cli.files.plan import sibling
from cappunc_cli.files.result_writer import ResultWriter, read_version
from cappunc_cli.files.storage import about, is_pipe, read_bytes, target_named
from cappunc_cli.files.urls import Target

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.inspection import Report
    from cappunc_cli.restore.chunks import Rows

#: Seconds after which a page that has been left is not being reloaded but closed.
_RELOAD_S = 2.0
#: Seconds that a page which has been sent may take to open; one that the browser has fetched in advance never does.
_LOAD_S = 60.0
#: Largest request body; the decisions about a long film take some hundred kilobytes.
_MAX_BODY = 64_000_000


class ReviewSession:
    """A file under review: the data of its page, and the writing of its decisions."""

    def __init__(self, job: Job, fixer: Fixer, below: float, other: tuple[Document, str] | None = None) -> None:
        self.job, self.fixer, self.below, self.other = job, fixer, below, other
        self._rows: Rows | None = None
        self._ours: dict[Target, str] = {}
        self._lock = threading.Lock()

    def report(self, alone: bool = False) -> Report:
        """The data of the page for the file as it is now; `alone` if the page has no server and writes the file itself.

        Raises CappuncError and OSError.
        """
        data = read_bytes(self.job.source)
        text, _ = decode(data, self.job.encoding)
        document = self.fixer.read(text, self.job.source)
        if self._rows is not None and len(self._rows) != len(document.words):
            self._rows = None  # the text of the file has changed
        found, self._rows = page_data(document, data, self.job.name, self.fixer, self.below, self._rows)
        found["encoding"] = self.job.encoding
        if alone:
            found |= with_file(document, text, data)
        found["writable"] = not is_pipe(self.job.source)
        if self.other is None:
            return found
        other, name = self.other
        return compared(found, other.texts, name)

    def write(self, body: bytes) -> Report:
        """Write decisions into the file or a copy next to it, and report what was done.

        Raises CappuncError and OSError.
        """
        with self._lock:
            decisions = parse_decisions(body)
            if is_pipe(self.job.source):
                raise CappuncError("is a pipe and cannot be written", self.job.name)
            source = self.job.source
            in_place = json.loads(body).get("where") == "in-place"
            target = target_named(source if in_place else str(sibling(source, fixed_name(Path(source)))))
            writer = ResultWriter("in-place" if in_place else "new")
            if not in_place and target in self._ours:
                with suppress(FileNotFoundError):
                    if sha256(read_bytes(str(target))) == self._ours[target]:
                        writer = ResultWriter("force")  # written by this session itself
            job = replace(self.job, target=target)
            data, version = read_version(job.source)
            decided = with_decisions(data, decisions, self.fixer, job)
            write_decided(job, decided, version, writer)
            self._ours[target] = sha256(decided.data)
            return {
                "written": str(target),
                "changed": decided.changed,
                "refused": [[d.word + 1, written, d.text] for d, written in decided.refused],
                "in_place": in_place,
                "sha256": self._ours[target],
            }


class ReviewServer(ThreadingHTTPServer):
    """Serves a session on a free port of 127.0.0.1, under a random token."""

    daemon_threads = True

    def __init__(self, session: ReviewSession) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)
        #: Pages that are shown, and whether any has been.
        self._pages, self._was_open = 0, False
        self._closing: threading.Timer | None = None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that the browser breaks off; other errors are printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def stay(self) -> None:
        """A page is being made, or was opened: do not shut down yet."""
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None

    def sent(self) -> None:
        """A page was sent, or could not be made: if it is never opened, the pages before it were the last."""
        if self._was_open and self._pages <= 0:
            self._close_in(_LOAD_S)

    def opened(self) -> None:
        """A page says that it is shown."""
        self._was_open = True
        self._pages += 1
        self.stay()

    def closed(self) -> None:
        """A page was left: shut down if it was the last one, unless it is reloaded."""
        self._pages -= 1
        if self._pages <= 0:
            self._close_in(_RELOAD_S)

    def _close_in(self, seconds: float) -> None:
        self.stay()
        self._closing = threading.Timer(seconds, self.shutdown)
        self._closing.daemon = True
        self._closing.start()


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    server_version, sys_version = "cappunc", ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return
        if path != "":
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n")
            return
        self.server.stay()
        try:
            page = page_bytes(self.server.session.report(), self.server.address)
        except (CappuncError, OSError) as error:
            self._refused(error)
        else:
            self._answer(HTTPStatus.OK, page, "text/html; charset=utf-8")
        finally:
            self.server.sent()

    def do_POST(self) -> None:
        path = self._path()
        if path is None:
            return
        origin = self.headers.get("Origin")
        length = self.headers.get("Content-Length", "")
        if origin is not None and origin not in self._origins():
            self._answer(HTTPStatus.FORBIDDEN, b"wrong origin\n")
        elif not (re.fullmatch("[0-9]{1,9}", length) and int(length) <= _MAX_BODY):
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"too long\n")
        elif path in ("opened", "closed"):
            self.rfile.read(int(length))
            # Counted before the answer, so that a browser's messages count in their order.
            if path == "opened":
                self.server.opened()
            else:
                self.server.closed()
            self._answer(HTTPStatus.OK, b"")
        elif path != "write":
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n")
        elif self.headers.get_content_type() != "application/json":
            self._answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, b"JSON only\n")
        else:
            try:
                done = self.server.session.write(self.rfile.read(int(length)))
            except (CappuncError, OSError) as error:
                self._refused(error)
            else:
                self._json(HTTPStatus.OK, done)

    def _path(self) -> str | None:
        """The path after the token; None, after sending an error, if the token or the host is wrong."""
        hosts = [origin.removeprefix("http://") for origin in self._origins()]
        _, token, *rest = [*self.path.split("/", 2), ""]
        if self.headers.get("Host") not in hosts:  # DNS rebinding
            self._answer(HTTPStatus.FORBIDDEN, b"wrong host\n")
            return None
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n")
            return None
        return "/".join(rest[:-1])

    def _origins(self) -> list[str]:
        return [f"http://{host}:{self.server.server_port}" for host in ("127.0.0.1", "localhost")]

    def _refused(self, error: CappuncError | OSError) -> None:
        self._json(HTTPStatus.CONFLICT, {"error": str(about(error, self.server.session.job.name))})

    def _json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        self._answer(status, json.dumps(content).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        if status >= HTTPStatus.BAD_REQUEST:
            self.close_connection = True  # the request body may be unread
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Connection", "close" if self.close_connection else "keep-alive"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: standard error is for errors."""
