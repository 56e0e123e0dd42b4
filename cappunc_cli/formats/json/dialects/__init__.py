"""The dialects of JSON, by family, and which of them a file is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cappunc_cli.errors import UnknownFormat
from cappunc_cli.formats.json.dialect import Dialect, Track, keys_of
from cappunc_cli.formats.json.dialects import cloud, editors, generic, services, toolkits, whisper
from cappunc_cli.formats.json.scan import Node

#: Most specific first: the first dialect with all its keys in a file reads it.
_DIALECTS: tuple[Dialect, ...] = (
    *services.DIALECTS, *cloud.DIALECTS, *toolkits.DIALECTS, *editors.DIALECTS, *whisper.DIALECTS,
)  # fmt: skip
#: Every dialect by name. What none of them claims may still be a transcript: see generic.py.
DIALECTS = {dialect.name: dialect for dialect in (*_DIALECTS, Dialect("generic", generic.tracks, []))}
#: So many entries of a list that look alike and are no transcript are enough to take the others for the same.
_ALIKE = 50
#: How many lists of lists may hold transcripts.
_LEVELS = 1


def dialect_of(value: Any, level: int = 0) -> str:
    """The name of the dialect of a parsed file. Raises UnknownFormat where there is none."""
    keys = keys_of(value)
    if found := next((dialect.name for dialect in _DIALECTS if dialect.claims(keys)), None):
        return found
    # Whether each is one that a list of its own dialect may have.
    names = {name: DIALECTS[name].listed and isinstance(entry, Node) for name, entry in _transcripts(value, level)}
    if len(names) == 1 and all(names.values()):
        return next(iter(names))
    if names or generic.find(value) is not None:
        return "generic"
    raise UnknownFormat(f"JSON, but no transcript: {_outline(value)}{_nearest(keys)}")


def tracks_of(name: str, value: Any, level: int = 0) -> Iterator[Track]:
    """The tracks of a parsed file in the dialect of this name.

    As generic JSON, that may be several transcripts, in a list or one after the other: each in its own dialect, which
    starts a new turn.
    """
    several = list(_transcripts(value, level)) if name == "generic" else []
    for dialect, transcript in several:
        for number, track in enumerate(tracks_of(dialect, transcript, level + 1)):
            yield replace(track, begins_turn=number == 0 or track.begins_turn)
    if not several:
        yield from DIALECTS[name].tracks(value)


def _transcripts(value: Any, level: int) -> Iterator[tuple[str, Any]]:
    """(dialect, value) of each transcript in a list of transcripts, which may have other entries, too."""
    if not isinstance(value, list) or level > _LEVELS or generic.is_timed(value):
        return
    known: dict[tuple[str, ...], str] = {}
    others: dict[tuple[str, ...], int] = {}
    for entry in value:
        shape = tuple(entry) if isinstance(entry, Node) else ()
        if shape not in known and others.get(shape, 0) < _ALIKE:
            try:
                known[shape] = dialect_of(entry, level + 1)
            except UnknownFormat:
                others[shape] = others.get(shape, 0) + 1
        if shape in known:
            yield known[shape], entry


def _outline(value: Any) -> str:
    if isinstance(value, dict):
        if "$schema" in value:
            return "a JSON schema"
        keys = ", ".join(str(key) for key in list(value)[:5])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, list):
        first = f", the first of them {_outline(value[0])}" if value and isinstance(value[0], dict) else ""
        return f"a list of {len(value)}{first}"
    return f"only {str(value)[:20]!r}"


def _nearest(keys: frozenset[str]) -> str:
    """What the dialect that is nearest to a file with these keys would have besides."""
    found = [
        (len(lacking) / len(paths), dialect.name, [path.partition(":")[0] for path in lacking])
        for dialect in _DIALECTS
        for paths in dialect.alternatives()
        if any("." in path for path in keys.intersection(paths))
        and (lacking := [path for path in paths if path[0] != "!" and path not in keys])
    ]
    _, name, lacking = min(found, default=(0, "", []))
    return f"; {name}, the nearest kind, has {' and '.join(lacking)}, too" if name else ""
