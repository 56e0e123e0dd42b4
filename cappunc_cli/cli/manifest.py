"""What a former run has made in an output directory, so that the next one can go on where it stopped.

`cappunc fix DIR -o OUT` appends one line to OUT/.cappunc.jsonl for each file that it has
written: its path, the state of input and output on disk, and a hash of model and options.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cappunc_cli import __version__

if TYPE_CHECKING:
    from cappunc_cli.cli.fixer import Settings

NAME = ".cappunc.jsonl"


def signature(settings: Settings) -> str:
    """A hash of what decides the results: version, model, options, format. Raises BadModel for an unknown model."""
    from cappunc_cli.restoration.engines import ENGINES
    from cappunc_cli.restoration.models import find

    # The model's config names the hashes of its files.
    kind = ENGINES[settings.engine]
    config = (find(settings.model, kind) / kind.config).read_text("utf-8")
    parts = [__version__, config, settings.format, settings.attach, settings.diacritics, asdict(settings.options)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class Manifest:
    """The record of one output directory."""

    def __init__(self, root: Path, signature: str) -> None:
        """Read what is there; a line that a killed run left torn counts for nothing."""
        self._path = root / NAME
        self._signature = signature
        self._known: dict[str, dict[str, object]] = {}
        self._stream: IO[str] | None = None
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = []
        for line in lines:
            try:
                entry = json.loads(line)
                self._known[entry["file"]] = entry
            except (ValueError, KeyError, TypeError):
                continue

    def is_ours(self, target: Path) -> bool:
        """Whether the file is as a former run has written it: nobody else's work is lost with it."""
        entry = self._known.get(self._key(target))
        return entry is not None and entry.get("output") == _state(target)

    def is_done(self, source: str, target: Path) -> bool:
        """Whether the file is ours, of this very input, by the same model and options."""
        entry = self._known.get(self._key(target), {})
        return (
            entry.get("with") == self._signature
            and entry.get("input") == _state(Path(source))
            and entry.get("output") == _state(target)
        )

    def add(self, source: str, target: Path) -> None:
        """Remember a file that has been written."""
        if self._stream is None:
            self._stream = self._path.open("a", encoding="utf-8", buffering=1)
        entry = {
            "file": self._key(target),
            "input": _state(Path(source)),
            "output": _state(target),
            "with": self._signature,
        }
        self._stream.write(json.dumps(entry) + "\n")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def _key(self, target: Path) -> str:
        return target.relative_to(self._path.parent).as_posix()


def _state(path: Path) -> list[int] | None:
    """Size and time of last change."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
