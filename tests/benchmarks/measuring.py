"""What the measurements of this folder share: their options, the head of a report, one run of the model alone."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from cappunc_cli.benchmark.hardware import hardware, versions
from cappunc_cli.restoration.chunks import split
from cappunc_cli.restoration.engine import OnnxEngine


def options(description: str | None) -> argparse.ArgumentParser:
    """Which model, and whether a fraction of the words will do."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", default="en")
    parser.add_argument("--quick", action="store_true")
    return parser


def head(command: str = "") -> dict[str, Any]:
    """What was run, and on what; `command` for one whose arguments are places on this machine."""
    return {"command": command or " ".join(["python", *sys.argv]), "hardware": hardware(), "versions": versions()}


def seconds(engine: OnnxEngine, words: Sequence[str]) -> float:
    """How long tokenizer and model take for some words."""
    chunks = split(len(words), engine.config.window, engine.config.overlap)
    begun = time.perf_counter()
    for _ in engine.predict(words, [None] * len(words), [False] * len(words), chunks):
        pass
    return time.perf_counter() - begun
