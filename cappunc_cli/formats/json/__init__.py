"""Read JSON transcripts and write them in place; `dialects` has one module for each kind.

To add a dialect: write a module in `dialects` with `sniff(value)` and `tracks(value)`, which get the parsed
value (tracks.py defines their terms); add its name to DIALECTS ahead of any dialect that would claim its
files too; and put two small files into fixtures/json/<dialect>/.
"""

from __future__ import annotations

import re
from typing import Any

from cappunc_cli.errors import UnknownFormat
from cappunc_cli.formats.json.document import JsonFormat
from cappunc_cli.formats.json.scan import load

#: Most specific first: the first dialect whose `sniff` is true reads the file.
DIALECTS: dict[str, JsonFormat] = {
    name: JsonFormat(name)
    for name in (
        "youtube",
        "azure",
        "azure-live",
        "azure-fast",
        "video-indexer",
        "aws",
        "aws-calls",
        "deepgram",
        "revai",
        "speechmatics",
        "speechmatics-v1",
        "ibm",
        "google",
        "whispercpp",
        "gladia",
        "bbc-kaldi",
        "kaldi",
        "aeneas",
        "gentle",
        "draftjs",
        "podcast",
        "elevenlabs",
        "assemblyai",
        "editors",
        "stable-ts",
        "whisperx",
        "whisper-timestamped",
        "openai-api",
        "huggingface",
        "whisper",
        "nemo",
        "recall",
        "sherpa-onnx",
        "vosk",
        "timings",
        "generic",
    )
}

# Not what other formats start with: `[00:12.34]` (LRC), `[Script Info]` (ASS), `{123}` (MicroDVD), `[Music]` (plain
# text).
_START = re.compile(r'\s*+(?:\{\s*["}]|\[\s*+(?:[{"\]]|\[\s*(?:["\[{]|-?\d)))')

__all__ = ["DIALECTS", "dialect_of", "load", "sniff"]


def sniff(text: str) -> bool:
    """Whether the text looks like JSON; it may still be broken, or not a transcript."""
    return _START.match(text) is not None


def dialect_of(value: Any) -> str:
    """The name of the dialect of a parsed value. Raises UnknownFormat where there is none."""
    for name, dialect in DIALECTS.items():
        if dialect.module.sniff(value):
            return name
    raise UnknownFormat(f"JSON, but no transcript: {_outline(value)}")


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
