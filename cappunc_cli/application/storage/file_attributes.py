"""Copy the attributes of a file to the new file that replaces it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from cappunc_cli.errors import CappuncError

#: Attributes that depend on the content, which the kernel sets itself.
_CONTENT_HASHES = frozenset(["security.ima", "security.evm"])


def copy_attributes(old: Path, found: os.stat_result, new: Path) -> None:
    """Give a new file the owner, extended attributes, access control list and mode of the `old` one.

    `found` is the status of `old`. Raises CappuncError if an attribute cannot be set, and OSError.
    """
    made = new.stat()
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.chown(new, found.st_uid, found.st_gid)
        except OSError as error:
            raise CappuncError("belongs to another user or group, which could not be kept", str(old)) from error
    if sys.platform == "linux":
        _copy_extended(old, new)
    new.chmod(stat.S_IMODE(found.st_mode))


def _copy_extended(old: Path, new: Path) -> None:
    """Copy extended attributes, including ACLs, and remove those that the new file inherited from its directory."""
    wanted, existing = _extended(old), _extended(new)
    try:
        for name in existing.keys() - wanted.keys():
            os.removexattr(new, name)
        for name, value in wanted.items():
            if existing.get(name) != value:
                os.setxattr(new, name, value)
    except OSError as error:
        raise CappuncError(f"attribute {name} could not be kept", str(old)) from error


def _extended(path: Path) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name not in _CONTENT_HASHES}
    except OSError:
        return {}  # not supported by the file system
