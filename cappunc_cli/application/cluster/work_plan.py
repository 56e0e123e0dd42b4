"""Which files of an archive are to be done, in blocks; kept in a temporary database, so that memory does not grow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import fsdecode, fsencode

from cappunc_cli.application.cluster.ledger import Line
from cappunc_cli.application.storage.urls import Entry
from cappunc_cli.errors import BadOption

#: Files that are read, restored and written together: enough words for full batches, few enough for a steady memory.
_FILES_TOGETHER = 256
_BYTES_TOGETHER = 1 << 20

# Names are bytes here: a disk may have some that are no text.
_TABLES = """
create table input (relative blob primary key, source blob, size int, tag text, found int) without rowid;
create table there (relative blob primary key, size int) without rowid;
create table line (relative blob, input text, size int, md5 text, signature text);
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
#: A result counts as a former run's where it is as long as a line says; before it is overwritten its hash is looked at.
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
    """A file to do: its name, its path below source and target, size and tag.

    `found`: not the user, but a listing names it. `ours`: hashes that a former run's result, which lies there, may
    have; None where nothing lies there.
    """

    source: str
    relative: str
    size: int
    tag: str
    found: bool = True
    ours: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Files that one worker does together.

    `alone`: with nothing beside it, since a worker has died of it or of what was beside it; `tried`: so it was once.
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
    """Inputs, what lies at the target, and what the ledger knows, joined."""

    def __init__(self) -> None:
        # A name "" is a database on disk that goes with the connection, and of which a part is cached in memory.
        self._data = sqlite3.connect("", check_same_thread=False)
        self._data.executescript(_TABLES)
        #: How many inputs there are, how many were done before.
        self.inputs = self.known = 0

    def add_inputs(self, entries: Iterable[Entry], found: bool = True) -> None:
        """Inputs of a listing, or that were named. Raises BadOption where two would have one result."""
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
        """What lies at the target."""
        self._data.executemany(
            "insert or replace into there values (?, ?)", ((fsencode(e.relative), e.size) for e in entries)
        )

    def add_lines(self, lines: Iterable[Line]) -> None:
        """What former runs have done."""
        rows = ((fsencode(line.file), line.input, line.size, line.md5, line.signature) for line in lines)
        self._data.executemany("insert into line values (?, ?, ?, ?, ?)", rows)
        self._data.execute("create index if not exists lines on line (relative)")

    def todo(self, signature: str, force: bool = False) -> tuple[int, int]:
        """Fix what is to be done; how many files and bytes that is.

        Known is what a former run has made of the same input by the same model and options; `force` does all.
        """
        self._data.execute("drop table if exists todo")
        self._data.execute(_PENDING)
        rows = self._data.execute(_STATE, (signature,))
        # What lies there and is no former run's has no hashes: it is refused by whoever would overwrite it.
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

    def blocks(self) -> Iterator[FileBlock]:
        """What is to be done, the largest files first, so that none is begun last."""
        files: list[BlockFile] = []
        size = number = 0
        rows = self._data.execute("select source, relative, size, tag, found, ours from todo order by n")
        for source, relative, length, tag, found, ours in rows:
            if files and (len(files) >= _FILES_TOGETHER or size + length > _BYTES_TOGETHER):
                yield FileBlock(number, tuple(files))
                files, size, number = [], 0, number + 1
            hashes = None if ours is None else tuple(filter(None, ours.split(",")))
            files.append(BlockFile(fsdecode(source), fsdecode(relative), length, tag, bool(found), hashes))
            size += length
        if files:
            yield FileBlock(number, tuple(files))

    def close(self) -> None:
        self._data.close()
