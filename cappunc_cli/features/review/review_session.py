"""A file under review: the data of its page, and the writing of its decisions."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli.errors import CappuncError
from cappunc_cli.features.review.decisions import apply_decisions, parse_decisions, sha256
from cappunc_cli.features.review.doubts import page_data
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.jobs import Job, fixed_name, sibling
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import is_pipe, read_bytes
from cappunc_cli.pages.review_page import compared

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.inspection import Examined, Report


class ReviewSession:
    """A file under review: the data of its page, and the writing of its decisions.

    Decisions are written beside the file, or with `in_place` into it. The page shows the words of `other`, a document
    and its name, beside the file's.
    """

    def __init__(
        self, job: Job, fixer: Fixer, below: float, other: tuple[Document, str] | None = None, in_place: bool = False
    ) -> None:
        self.job, self.fixer, self.below, self.other, self.in_place = job, fixer, below, other, in_place
        #: The content of a pipe: it cannot be read again.
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
