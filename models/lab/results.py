"""The JSON result files in a model's directory."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from cappunc_cli.features.bench.hardware import hardware, in_short
from cappunc_cli.version import __version__


def write(path: Path, value: object) -> None:
    """Write JSON with one entry per line, for readable diffs."""
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
    """The `part` of an existing result file if it is of the same model (by hash), otherwise {}."""
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    found: dict[str, Any] = known[part] if known.get("model") == model else {}
    return found
