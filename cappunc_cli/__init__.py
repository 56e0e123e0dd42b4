"""Give punctuation and case back to timed transcripts, and touch nothing else.

import cappunc_cli as cappunc
document = cappunc.read(text, "talk.srt")
texts = cappunc.restore(document.words, cappunc.load_model("en"))
print(cappunc.write(document, texts))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cappunc_cli.errors import CappuncError
    from cappunc_cli.formats import read, write
    from cappunc_cli.restoration.pipeline import load_model, restore

__version__ = "0.1.0"
__all__ = ["CappuncError", "load_model", "read", "restore", "write"]

_HOMES = {
    "CappuncError": "cappunc_cli.errors",
    "load_model": "cappunc_cli.restoration.pipeline",
    "read": "cappunc_cli.formats",
    "restore": "cappunc_cli.restoration.pipeline",
    "write": "cappunc_cli.formats",
}


def __getattr__(name: str) -> object:
    # On demand, because the command line imports this package even to print its help.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
