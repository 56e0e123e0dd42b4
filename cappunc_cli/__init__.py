"""Restore punctuation and case in timed transcripts, and change nothing else.

    import cappunc_cli as cappunc

    cappunc.fix(Path("talk.srt")).save("talk.fixed.srt")

`fix`, `check`, `review`, `captions`, `convert` and `evaluate` do what the commands of these names do; `read`, `restore`
and `write` are the three steps of `fix`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from cappunc_cli.version import __version__ as __version__

# Without this onnxruntime sends telemetry and writes files to the user's home. It must be set before onnxruntime is
# imported, and every import of it here comes after this package's.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

if TYPE_CHECKING:
    from cappunc_cli.api import Unrestored, check, fix, read, restore_words, write
    from cappunc_cli.document.words import Document, Notice, Word
    from cappunc_cli.errors import BadInput, BadModel, CappuncError, UnknownFormat, UnknownModel, WrongUsage
    from cappunc_cli.features.convert.makers import captions, convert
    from cappunc_cli.features.evaluate.run import evaluate
    from cappunc_cli.features.review.doubts import review
    from cappunc_cli.files.fixer import Fixed
    from cappunc_cli.restoration.models.model import Model, load_model
    from cappunc_cli.restoration.options import Options
    from cappunc_cli.restoration.pipeline import restore
    from cappunc_cli.restoration.terms import Glossary

__all__ = [
    "BadInput", "BadModel", "CappuncError", "Document", "Fixed", "Glossary", "Model", "Notice", "Options",
    "UnknownFormat", "UnknownModel", "Unrestored", "Word", "WrongUsage", "captions", "check", "convert", "evaluate",
    "fix", "load_model", "read", "restore", "restore_words", "review", "write",
]  # fmt: skip

_MODULES = {
    "cappunc_cli.api": ("Unrestored", "check", "fix", "read", "restore_words", "write"),
    "cappunc_cli.features.convert.makers": ("captions", "convert"),
    "cappunc_cli.features.evaluate.run": ("evaluate",),
    "cappunc_cli.features.review.doubts": ("review",),
    "cappunc_cli.files.fixer": ("Fixed",),
    "cappunc_cli.errors": ("BadInput", "BadModel", "CappuncError", "UnknownFormat", "UnknownModel", "WrongUsage"),
    "cappunc_cli.restoration.options": ("Options",),
    "cappunc_cli.restoration.models.model": ("Model", "load_model"),
    "cappunc_cli.restoration.pipeline": ("restore",),
    "cappunc_cli.restoration.terms": ("Glossary",),
    "cappunc_cli.document.words": ("Document", "Notice", "Word"),
}


def __getattr__(name: str) -> object:
    # Imported lazily: the command line imports this package even to print its help.
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
