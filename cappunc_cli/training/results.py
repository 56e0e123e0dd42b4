"""Json files beside a model: how they are written, and what a result file says of its making."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from cappunc_cli import __version__
from cappunc_cli.benchmark.hardware import hardware, in_short


def write(path: Path, value: object) -> None:
    """One line an entry, so that a change shows what changed."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


def head(model: str) -> dict[str, Any]:
    """The head of a result file: the model (the hash of its model.onnx), the date, the machine."""
    return {
        "version": __version__,
        "date": date.today().isoformat(),
        "model": model,
        "hardware": in_short(hardware()),
    }


def kept(path: Path, model: str, part: str) -> dict[str, Any]:
    """The `part` of a result file, if it is of this very model; otherwise nothing."""
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    found: dict[str, Any] = known[part] if known.get("model") == model else {}
    return found
