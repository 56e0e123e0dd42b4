"""Tables of results in Markdown, with the machine, the models and the command that made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table with numbers aligned to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def note(report: dict[str, Any], file: str) -> str:
    machine, model = report["hardware"], report.get("model") or report["bench"]["model"]
    if isinstance(model, str):
        name, _, digest = model.partition("@")
    else:
        name, digest = model["name"], (model["sha256"] or "no hash")[:12]
    where = f"{machine['gpu'] or machine['cpu']}, {machine['cores']} cores"
    return f"\n{where}; model {model_of(name, digest)}; {source(report, file)}"


def source(report: dict[str, Any], file: str) -> str:
    return f"from [{file}](../tests/benchmarks/results/{file}), `{report['command']}`.\n"


def model_of(name: str, digest: str) -> str:
    """The model that was measured, by its current name: names are given to better models, hashes are not.

    The notes of a model name the hashes of its earlier weights.
    """
    shipped = {
        file[:12]: path.parent.name
        for path in sorted((ROOT / "models").glob("*/config.json"))
        for file in json.loads(path.read_text("utf-8"))["files"].values()
    }
    if shipped.get(digest, name) != name:
        return f"`{shipped[digest]}` ({digest}), then called `{name}`"
    notes = (path for path in sorted((ROOT / "models").glob("*/NOTES.md")) if digest in path.read_text("utf-8"))
    earlier = next((path.parent.name for path in notes), name)
    if earlier in shipped.values() and digest not in shipped:
        return f"`{earlier}` of an earlier version ({digest})"
    return f"`{name}` ({digest})"


def hashes(report: dict[str, Any]) -> str:
    return ", ".join(f"`{name}` ({digest})" for name, digest in report["models"].items())
