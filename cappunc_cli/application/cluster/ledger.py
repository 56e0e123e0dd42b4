"""The record of an archive's results: which input became what, under which model and options.

A worker puts one part of it for each block of files, just before the results themselves, into TARGET/.cappunc/done:
a line a result with the path, the input's tag, the result's size and MD5, and a hash of model and options. A worker
that is killed in between leaves lines about results that are not there, never a result without its line. Several
workers never write to one file, which an object store could not do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cappunc_cli.application.cluster.target_store import PRIVATE, TargetStore

FOLDER = "done"
#: Parts that are read at a time.
_READERS = 16


@dataclass(frozen=True, slots=True)
class Line:
    """A result: its path below the target, the tag of its input, its size and MD5, the hash of model and options.

    `respelled` are the words that are others now: the number of the first, how many they were, old, new.
    """

    file: str
    input: str
    size: int
    md5: str
    signature: str
    respelled: tuple[tuple[int, int, str, str], ...] = ()


def md5_of(data: bytes) -> str:
    """The hash by which object stores, too, call a content."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def write_part(store: TargetStore, name: str, lines: Iterable[Line]) -> None:
    """Add the results of a block; the name is no other block's. Raises OSError and CappuncError."""
    text = "".join(json.dumps(_entry(line)) + "\n" for line in lines)
    store.write(f"{PRIVATE}/{FOLDER}/{name}.jsonl", text.encode())


def _entry(line: Line) -> dict[str, object]:
    entry: dict[str, object] = {
        "file": line.file,
        "input": line.input,
        "output": [line.size, line.md5],
        "with": line.signature,
    }
    return entry | ({"respelled": line.respelled} if line.respelled else {})


def read_all(store: TargetStore) -> Iterator[Line]:
    """All lines of all parts; what is no such line counts for nothing."""
    names = (f"{PRIVATE}/{FOLDER}/{entry.relative}" for entry in store.below(FOLDER))
    with ThreadPoolExecutor(_READERS) as readers:
        for some in _in_runs(names, 256):
            for data in readers.map(store.read, some):
                yield from _lines(data)


def _lines(data: bytes) -> Iterator[Line]:
    for line in data.splitlines():
        try:
            entry = json.loads(line)
            size, md5 = entry["output"]
            yield Line(str(entry["file"]), str(entry["input"]), int(size), str(md5), str(entry["with"]))
        except (ValueError, LookupError, TypeError):
            continue


def _in_runs(names: Iterable[str], length: int) -> Iterator[list[str]]:
    run: list[str] = []
    for name in names:
        run.append(name)
        if len(run) == length:
            yield run
            run = []
    if run:
        yield run
