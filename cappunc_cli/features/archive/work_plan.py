"""The files of an archive that need processing, in blocks; kept in a temporary database to bound memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from os import fsdecode, fsencode

from cappunc_cli.errors import BadOption
from cappunc_cli.features.archive.ledger import Line
from cappunc_cli.features.archive.target_store import TargetStore
from cappunc_cli.files.processing import BYTES_TOGETHER, FILES_TOGETHER
from cappunc_cli.files.storage import file_identity, is_pipe, is_url
from cappunc_cli.files.urls import Entry, Target, Url

# Names are stored as bytes: file names need not be valid text.
_TABLES = """
create table input (relative blob primary key, source blob, size int, tag text, found int) without rowid;
create table there (relative blob primary key, size int) without rowid;
create table line (relative blob, input text, size int, md5 text, signature text);
create table identity (id text primary key, source blob) without rowid;
"""
_TWICE = """
select a.source, b.source, a.relative from new a join input b using (relative) where a.source <> b.source limit 1
"""
_TWICE_NEW = """
select min(source), max(source), relative from new group by relative having min(source) <> max(source) limit 1
"""
_PENDING = """
create table todo (n integer primary key, source blob, relative blob, size int, tag text, found int, ours text)
"""
#: An existing result of the size in the ledger counts as an earlier run's; its hash is checked before overwriting.
_STATE = """
select i.source, i.relative, i.size, i.tag, i.found, t.size is not null,
       exists (select 1 from line l where l.relative = i.relative and l.size = t.size
               and l.input = i.tag and l.signature = ?),
       (select group_concat(distinct l.md5) from line l where l.relative = i.relative and l.size = t.size)
from input i left join there t on t.relative = i.relative
order by i.size desc, i.relative
"""


@dataclass(frozen=True, slots=True)
class BlockFile:
    """An input file: its name, its path relative to source and target, its size in bytes and its tag.

    `found` means that it comes from a listing rather than from the user. `ours` are the possible MD5 hashes of an
    existing result if an earlier run wrote it, empty if none did; None if there is no result. `target_is` is as in
    `Job`.
    """

    source: str
    relative: str
    size: int
    tag: str
    found: bool = True
    ours: tuple[str, ...] | None = None
    target_is: str = ""


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Files that a worker processes together.

    `alone` blocks run without other blocks in the same worker, because one has died of them or of a neighbour; `tried`
    means that this has been done once.
    """

    number: int
    files: tuple[BlockFile, ...]
    alone: bool = False
    tried: bool = False

    @property
    def size(self) -> int:
        """Bytes of the inputs."""
        return sum(file.size for file in self.files)


class WorkPlan:
    """A join of inputs, existing results and ledger, from which it follows what is to be done."""

    def __init__(self, also_read: Iterable[str] = ()) -> None:
        """`also_read` are files that no result may overwrite either."""
        # The name "" stands for a temporary database on disk.
        self._data = sqlite3.connect("", check_same_thread=False)
        self._data.executescript(_TABLES)
        #: Number of inputs, and of those that are up to date.
        self.inputs = self.known = 0
        self._also_read = also_read
        #: Whether the URLs (True) or the local files (False) among the inputs have been looked up.
        self._identified: set[bool] = set()

    def add_inputs(self, entries: Iterable[Entry], found: bool = True) -> None:
        """Add inputs; `found` means that they come from a listing. Raises BadOption if two have the same result."""
        rows = ((fsencode(e.relative), fsencode(e.source), e.size, e.tag, found) for e in entries)
        self._data.execute("create temp table if not exists new as select * from input where 0")
        self._data.executemany("insert into new values (?, ?, ?, ?, ?)", rows)
        twice = self._data.execute(_TWICE).fetchone() or self._data.execute(_TWICE_NEW).fetchone()
        if twice is not None:
            one, other, result = map(fsdecode, twice)
            raise BadOption(f"{one} and {other} would both become {result}", option="-o")
        self._data.execute("insert or ignore into input select * from new")
        self._data.execute("delete from new")
        (self.inputs,) = self._data.execute("select count(*) from input").fetchone()

    def add_results(self, entries: Iterable[Entry]) -> None:
        """Add the files that exist at the target."""
        self._data.executemany(
            "insert or replace into there values (?, ?)", ((fsencode(e.relative), e.size) for e in entries)
        )

    def add_lines(self, lines: Iterable[Line]) -> None:
        """Add the lines of the ledger."""
        rows = ((fsencode(line.file), line.input, line.size, line.md5, line.signature) for line in lines)
        self._data.executemany("insert into line values (?, ?, ?, ?, ?)", rows)
        self._data.execute("create index if not exists lines on line (relative)")

    def todo(self, signature: str, force: bool = False) -> tuple[int, int]:
        """Determine what is to be done, and return the number of files and bytes.

        Results that an earlier run made from the same input with the same model and options count as `known`, unless
        `force` is set.
        """
        self._data.execute("drop table if exists todo")
        self._data.execute(_PENDING)
        rows = self._data.execute(_STATE, (signature,))
        # Existing files that no run wrote have no hashes, so that the worker refuses to overwrite them.
        kept = (
            (source, relative, size, tag, found, (md5s or "") if there and not force else None)
            for source, relative, size, tag, found, there, done, md5s in rows
            if force or not done
        )
        self._data.executemany(
            "insert into todo (source, relative, size, tag, found, ours) values (?, ?, ?, ?, ?, ?)", kept
        )
        files, size = self._data.execute("select count(*), coalesce(sum(size), 0) from todo").fetchone()
        self.known = self.inputs - files
        return files, size

    def input_at(self, target: Target) -> str:
        """The name of the input that a target is, under whatever name; "" if it is none."""
        own = file_identity(target)
        if own is None:
            return ""
        remote = isinstance(target, Url)
        if remote not in self._identified:  # a new archive on disk has no results yet, so that nothing is looked up
            self._identified.add(remote)
            inputs = self._data.execute("select source from input")
            sources = chain((fsdecode(source) for (source,) in inputs), self._also_read)
            self._data.executemany(
                "insert or ignore into identity values (?, ?)",
                (
                    (repr(found), fsencode(source))
                    for source in sources
                    if is_url(source) == remote and (found := file_identity(source))
                ),
            )
        row = self._data.execute("select source from identity where id = ?", (repr(own),)).fetchone()
        return "" if row is None else fsdecode(row[0])

    def source_of(self, relative: str) -> str:
        """The input whose result has this path in the target; "" if there is none."""
        row = self._data.execute("select source from input where relative = ?", (fsencode(relative),)).fetchone()
        return "" if row is None else fsdecode(row[0])

    def _target_is(self, store: TargetStore, name: str) -> str:
        """As in `Job`, for the result with this path in the target."""
        target = store.at(name)
        if other := self.input_at(target):
            return f"also the input {other}"
        place = store.relative(target)
        first = self.source_of(place) if place != name else ""
        if first:
            return f"also the result of {first}"
        return "a pipe" if is_pipe(str(target)) else ""

    def blocks(self, store: TargetStore) -> Iterator[FileBlock]:
        """The blocks to process, largest files first, so that the run does not end on a large one."""
        files: list[BlockFile] = []
        size = number = 0
        rows = self._data.execute("select source, relative, size, tag, found, ours from todo order by n")
        for source, relative, length, tag, found, ours in rows:
            if files and (len(files) >= FILES_TOGETHER or size + length > BYTES_TOGETHER):
                yield FileBlock(number, tuple(files))
                files, size, number = [], 0, number + 1
            hashes = None if ours is None else tuple(filter(None, ours.split(",")))
            name = fsdecode(relative)
            other = self._target_is(store, name)
            files.append(BlockFile(fsdecode(source), name, length, tag, bool(found), hashes, other))
            size += length
        if files:
            yield FileBlock(number, tuple(files))

    def close(self) -> None:
        self._data.close()
