"""Read files into words and write the words back in place, changing nothing else.

base.py has the recipe for a new format, registry.py the table of formats.
"""

from cappunc_cli.formats.registry import (
    FORMATS,
    RUNNING_TEXT,
    TEXT_FORMATS,
    Recognised,
    read,
    read_again,
    recognise,
    verify,
    with_texts,
    write,
)
from cappunc_cli.formats.shown_cues import rewrap

__all__ = [
    "FORMATS",
    "RUNNING_TEXT",
    "TEXT_FORMATS",
    "Recognised",
    "read",
    "read_again",
    "recognise",
    "rewrap",
    "verify",
    "with_texts",
    "write",
]
