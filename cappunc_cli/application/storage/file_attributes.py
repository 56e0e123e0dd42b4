"""Attributes of a file besides its content, copied to a new file that takes its place."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from cappunc_cli.errors import CappuncError

#: Hashes of the content, which the kernel makes itself.
_OF_THE_CONTENT = frozenset(["security.ima", "security.evm"])


def keep(old: Path, found: os.stat_result, new: Path) -> None:
    """Give a new file the owner, extended attributes, access list and mode of the `old` one, of which `found` tells.

    Raises CappuncError where that cannot be, and OSError.
    """
    made = new.stat()
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.chown(new, found.st_uid, found.st_gid)
        except OSError as error:
            raise CappuncError("belongs to another user or group and could not stay theirs", str(old)) from error
    if sys.platform == "linux":
        _keep_extended(old, new)
    new.chmod(stat.S_IMODE(found.st_mode))


def _keep_extended(old: Path, new: Path) -> None:
    """Extended attributes, access lists among them; a directory may have given the new file some that the old lacks."""
    wanted, there = _extended(old), _extended(new)
    try:
        for name in there.keys() - wanted.keys():
            os.removexattr(new, name)
        for name, value in wanted.items():
            if there.get(name) != value:
                os.setxattr(new, name, value)
    except OSError as error:
        raise CappuncError(f"its attribute {name} could not be kept", str(old)) from error


def _extended(path: Path) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name not in _OF_THE_CONTENT}
    except OSError:
        return {}  # a file system without
