"""When Python looks for cycles of objects."""

from __future__ import annotations

import gc

#: More objects than this must have come and stayed. A tree of JSON has hundreds of thousands and no cycles, and by
#: default (700) they are walked again and again: an eighth of the time that reading and checking it take.
_OBJECTS = 100_000


def collect_rarely() -> None:
    """For processes of the command line; what has no cycles goes at once all the same."""
    gc.set_threshold(_OBJECTS)
