"""The ledger of an archive: which result was made from which input, with which model and options.

For each block, just before its results, a worker writes one part of the ledger to TARGET/.cappunc/done, with a line
for each result: its path, the input's tag, the result's size and MD5, and a hash of model and options. A killed worker
may leave lines without their results, but never a result without its line. Workers never append to a common file,
which object stores do not support.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from cappunc_cli.features.archive.target_store import PRIVATE, TargetStore

FOLDER = "done"
#: Threads that read parts.
_READERS = 16


@dataclass(frozen=True, slots=True)
class Line:
    """A result: its path relative to the target, its input's tag, its size and MD5, the hash of model and options.

    `respelled` lists (number of the first word, number of old words, old text, new text).
    """

    file: str
    input: str
    size: int
    md5: str
    signature: str
    respelled: tuple[tuple[int, int, str, str], ...] = ()


def md5_of(data: bytes) -> str:
    """The MD5 of some content, which many object stores use, too."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def write_part(store: TargetStore, name: str, lines: Iterable[Line]) -> None:
    """Write the lines of a block under a name that no other block has. Raises OSError and CappuncError."""
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
    """All lines of all parts; malformed lines are ignored."""
    names = (f"{PRIVATE}/{FOLDER}/{entry.relative}" for entry in store.below(FOLDER))
    with ThreadPoolExecutor(_READERS) as readers:
        while batch := list(islice(names, 256)):
            for data in readers.map(store.read, batch):
                yield from _lines(data)


def _lines(data: bytes) -> Iterator[Line]:
    for line in data.splitlines():
        try:
            entry = json.loads(line)
            size, md5 = entry["output"]
            yield Line(str(entry["file"]), str(entry["input"]), int(size), str(md5), str(entry["with"]))
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
            continue
