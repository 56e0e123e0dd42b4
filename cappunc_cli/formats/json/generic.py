"""JSON of no known dialect: the first list of objects with a text and a start is the transcript, wherever it is.

Segments may have lists of words. Whatever else shows the same words, under whatever name, is kept in sync.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from statistics import median

from cappunc_cli.document.labels import strip
from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Entries, Field, Track, lines, nodes, texts

#: The dialects by their names, and what programs call the keys of other JSON.
TABLES = tomllib.loads(Path(__file__).with_name("dialects.toml").read_text("utf-8"))
GENERIC: dict[str, list[str]] = TABLES["generic"]

_MILLIS = ("ms", "Ms")
_DEPTH = 6
#: The fewest words that are repeated by no chance: a title may be `hello`.
_FEWEST = 3


#: A list of timed texts, or of segments with lists of them, and before it the object that contains it.
Found = tuple[Node, Sequence[Node]]


def find_timed(value: object, depth: int = 0, holder: Node | None = None) -> Found | None:
    """The first list of timed texts, or of segments with such, in a value; None if there is none."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        found = nodes(value, "[]")
        listed = _timed(found) or (found if _words_key(found) else [])
        if listed:
            return holder or Node(), listed
        for child in value[:50]:
            if isinstance(child, (dict, list)) and (below := find_timed(child, depth + 1, holder)):
                return below
    if isinstance(value, Node):
        # Lists first; `segments` before a flat list of the same words, as they have more information.
        children = sorted(value.items(), key=lambda item: (not isinstance(item[1], list), item[0] != "segments"))
        for _, child in children:
            if isinstance(child, (dict, list)) and (below := find_timed(child, depth + 1, value)):
                return below
    return None


def generic_tracks(value: object) -> Iterator[Track]:
    """The track of the list that `find_timed` finds."""
    found = find_timed(value)
    if found is None:
        return
    holder, listed = found
    words_key, whole = _words_key(listed), _entries(listed)
    if words_key is None:
        streams = [whole.fields(listed)]
    else:
        spoken = [_timed(nodes(entry, f"{words_key}[]")) for entry in listed]
        words = replace(_entries(list(chain.from_iterable(spoken))), join=None)
        streams = [*lines(listed, spoken, words, whole)]
    known = {id(field.literal) for stream in streams for field in stream}
    copies = [texts(holder, key) for key in ("text", "transcript", "full_text", "full_transcript")]
    known |= {id(field.literal) for copy in copies for field in copy}
    yield Track([*streams, *copies, *_copies(value, _bare(streams[0]), known)])


def _copies(value: object, words: Sequence[str], known: Set[int]) -> Iterator[list[Field]]:
    """What shows all the `words` once more, of whatever name: a text, or those in the entries of a list."""
    found: dict[str, list[Field]] = {}
    rest: list[tuple[object, str]] = [(value, "")] if len(words) >= _FEWEST else []
    while rest:
        one, path = rest.pop()
        if isinstance(one, Literal) and id(one) not in known:
            found.setdefault(path, []).append(Field(one, join="\n" if " " in one else " "))
        elif isinstance(one, list):
            rest += [(child, f"{path}[]") for child in reversed(one)]
        elif isinstance(one, Node):
            rest += [(child, f"{path}.{key}") for key, child in reversed(one.items())]
    yield from (copy for copy in found.values() if len(copy) <= len(words) and _bare(copy) == words)


def _bare(fields: Sequence[Field]) -> list[str]:
    """The words of fields without marks and case."""
    joined = "".join(field.join + field.literal for field in fields)
    return [bare for bare in (strip(word)[0] for word in joined.split()) if bare]


def is_timed(value: object) -> bool:
    """Whether a value is a list of timed texts."""
    return bool(_timed(nodes(value, "[]")))


def _words_key(listed: Sequence[Node]) -> str | None:
    """The key of the words of segments, any key if these have no text or no time of their own."""
    others = [] if _timed(listed) else [key for entry in listed for key in entry if isinstance(entry[key], list)]
    keys = dict.fromkeys([*GENERIC["words"], *others])
    inner = ((key, [words for entry in listed if isinstance(words := entry.get(key), list)]) for key in keys)
    return next((key for key, lists in inner if _timed(nodes(lists, "[].[]"))), None)


def _timed(listed: Sequence[Node]) -> list[Node]:
    """The entries with a text, if most entries have a text and a time."""
    text, start = _key(listed, GENERIC["texts"]), _key(listed, GENERIC["starts"])
    if not listed or text is None or start is None:
        return []
    good = [entry for entry in listed if isinstance(entry.get(text), Literal)]
    timed = [entry for entry in good if seconds(entry.get(start)) is not None]
    spoken = any(any(c.isalpha() for c in entry[text]) for entry in good)
    return good if spoken and 2 * len(timed) > len(listed) else []


def _key(listed: Sequence[Node], keys: Sequence[str]) -> str | None:
    """The first of the keys that at least half of the entries have."""
    return next((key for key in keys if 2 * sum(key in entry for entry in listed) >= len(listed)), None)


def _entries(listed: Sequence[Node]) -> Entries:
    """How the list writes its texts and times."""
    text, start = _key(listed, GENERIC["texts"]) or "", _key(listed, GENERIC["starts"]) or ""
    end, length, who = (_key(listed, keys) or "" for keys in (GENERIC["ends"], GENERIC["lengths"], GENERIC["speakers"]))
    unit = _unit(start, [entry[key] for entry in listed for key in (start, end) if key in entry])
    return Entries(text, start, end, "" if end else length, unit, who, join="line")


def _unit(key: str, values: Sequence[object]) -> float:
    """The milliseconds in a unit of the times: told by the key, else guessed from the steps between integers."""
    if key.endswith(_MILLIS):
        return 1.0
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) < len(values) or len(numbers) < 2:
        return 1000.0
    # A word may begin where the one before ends.
    steps = [b - a for a, b in pairwise(numbers) if a != b]
    return 1.0 if steps and median(steps) >= 40 else 1000.0
