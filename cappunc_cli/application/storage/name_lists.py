"""Read lists of file names for `--files-from`: one a line, or each ended by NUL (`find -print0`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cappunc_cli.application.storage.files import PIPE, read_bytes
from cappunc_cli.application.storage.urls import is_url, read_url
from cappunc_cli.errors import CappuncError


def names_in(place: str, nul: bool = False) -> Iterator[str]:
    """The names in a file, a URL or standard input (`-`), in order, without empty lines.

    Names are decoded as command line arguments are. Raises CappuncError for a line with a NUL, and OSError.
    """
    if is_url(place):
        data = read_url(place)
    elif place == PIPE:
        data = read_bytes(PIPE)
    else:
        data = Path(place).read_bytes()
    for number, line in enumerate(data.split(b"\0" if nul else b"\n"), 1):
        name = line if nul else line.removesuffix(b"\r")
        if not name:
            continue
        if b"\0" in name:
            raise CappuncError("contains a NUL; use -0 for lists of names that end with NUL", place, number)
        yield os.fsdecode(name)
