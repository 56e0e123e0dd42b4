"""A lock that lets only one driver write to a target, and that does not outlive its driver for long.

On disk it is a file lock; the system releases it with the process. Object stores have no locks: there the driver
writes a lease with its name and renews it; a lease that has not been renewed for a while, by the clock of the store or,
where that does not tell, by ours and the time in the lease, has expired.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.record import PRIVATE, Record
from cappunc_cli.files.storage import is_url, joined, open_own, read_bytes
from cappunc_cli.files.urls import age_of_url, create_url, remove_url, write_url

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: Seconds between renewals of a lease, and after which it expires.
RENEWED_S, DEAD_S = 20.0, 90.0


class TargetLock:
    """Context manager that holds the lock of a target. Raises CappuncError if another driver has it."""

    def __init__(self, record: Record) -> None:
        self._root, self._run = record.root, record.run
        self._place = joined(record.root, f"{PRIVATE}/lock")
        self._file: IO[bytes] | None = None
        self._ended = threading.Event()
        self._renewer = threading.Thread(target=self._renew, daemon=True)
        self._lost: CappuncError | None = None

    def __enter__(self) -> TargetLock:
        if is_url(self._place):
            self._lease(self._place)
        else:
            self._lock(Path(self._place))
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._file is not None:
            self._file.close()
            return
        self._renewer.join()
        if self._lost is None:
            remove_url(self._place)

    def check(self) -> None:
        """Raises CappuncError if another driver has taken over an expired lease."""
        if self._lost is not None:
            raise self._lost

    def _lock(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        # The file is never removed: a lock on a deleted file would keep nobody out.
        self._file = open_own(place, "a+b")
        try:
            if sys.platform == "win32":
                self._file.seek(1 << 20)  # locked bytes cannot be read
                msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise self._refusal(self._holder()) from None
        self._file.truncate(0)
        self._file.write(self._content())
        self._file.flush()

    def _lease(self, url: str) -> None:
        if not create_url(url, self._content()):
            holder = self._holder()
            if self._is_alive(holder):
                raise self._refusal(holder)
            write_url(url, self._content())
        # In stores where creation is not atomic, the last writer wins.
        if self._holder().get("run") != self._run:
            raise self._refusal(self._holder())
        self._renewer.start()

    def _is_alive(self, holder: dict[str, Any]) -> bool:
        """Whether a lease has not expired, by the clock of the store: the clocks of two drivers may differ."""
        with suppress(FileNotFoundError):  # it has ended meanwhile
            age = age_of_url(self._place)
            if age is None and isinstance(written := holder.get("time"), int | float):
                age = abs(time.time() - written)  # no lease is from the future
            return age is not None and age <= DEAD_S
        return False

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED_S):
            with suppress(CappuncError, OSError):  # it is tried again until the lease expires
                holder = self._holder()
                if holder.get("run") not in (self._run, None):
                    self._lost = self._refusal(holder)
                    return
                write_url(self._place, self._content())

    def _content(self) -> bytes:
        holder = {"run": self._run, "host": platform.node(), "pid": os.getpid(), "time": time.time()}
        return f"{json.dumps(holder)}\n".encode()

    def _holder(self) -> dict[str, Any]:
        """What the holder has written; {} if there is none, or it is malformed."""
        try:
            found = json.loads(read_bytes(self._place))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _refusal(self, holder: dict[str, Any]) -> CappuncError:
        who = f"process {holder['pid']} on {holder['host']}" if {"pid", "host"} <= holder.keys() else "another run"
        hint = ""
        if is_url(self._place):
            hint = f"; if it has died, try again {DEAD_S:.0f} seconds after its end"
        return CappuncError(f"{who} is writing to it{hint}", self._root)
