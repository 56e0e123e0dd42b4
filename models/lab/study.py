"""Studies of a trained model: the same sets, scored with one option changed per row.

    python -m models.lab.study models/en-fast/study.toml               every row
    python -m models.lab.study models/en-fast/study.toml "no overlap"  one of them

Rows are options of `cappunc eval`, or of models.lab.variants. The figures and their commands go to a .json file with
the name of the table; rows of the same model that it already has are kept. The card shows those of every `*study.toml`.
"""

from __future__ import annotations

import json
import logging
import sys
import tomllib
from pathlib import Path
from typing import Any

from cappunc_cli.restoration.models.registry import ModelConfig
from models.lab import results
from models.lab.recipe import LabRecipe, model_of
from models.lab.score import evaluate

logger = logging.getLogger(__name__)

#: The figure of the table, micro-F1 over , . ?, unless the study lists `figures` for its sets.
_FIGURE = "micro"


def study(path: Path, only: list[str]) -> None:
    """Run the rows of a study.toml (all, or those named) and write its .json after each."""
    directory = model_of(path)
    table = tomllib.loads(path.read_text("utf-8"))
    recipe = LabRecipe.load(directory / "train.toml")
    model = ModelConfig.load(directory).files["model.onnx"]
    written = path.with_suffix(".json")
    rows = results.kept(written, model, "rows")
    for row, options in table["rows"].items():
        if (only and row not in only) or (row in rows and not only):
            continue
        rows[row] = {
            name: evaluate(directory, recipe.data, reference, [*more, *options])
            for name, (reference, *more) in table["sets"].items()
        }
        logger.info("%s: %s", row, ", ".join(f"{name} {found[_FIGURE]:.4f}" for name, found in rows[row].items()))
        report = {
            "command": f"python -m models.lab.study models/lab/{directory.name}/{path.name}",
            **results.head(model),
            "rows": {name: rows[name] for name in table["rows"] if name in rows},
        }
        results.write(written, report)


def pages(directory: Path) -> str:
    """The sections of the model card on its studies (each `*study.toml` that was run)."""
    return "\n".join(page(toml) for toml in sorted(directory.glob("*study.toml")) if toml.with_suffix(".json").exists())


def page(toml: Path) -> str:
    """The section of one study: a line per row with the difference to the first, or a line per set."""
    table = tomllib.loads(toml.read_text("utf-8"))
    written = toml.with_suffix(".json")
    report = json.loads(written.read_text("utf-8"))
    rows, figures = report["rows"], table.get("figures", [_FIGURE])
    first = next(iter(rows.values()))
    lines, shown = (
        (_by_set(rows, figures), "F1 in per cent (precision/recall); micro over `, . ?`, case over all capitals")
        if len(first) > len(rows)
        else (by_row(rows, _FIGURE), "Micro-F1 over `, . ?` in per cent with one thing changed a row")
    )
    title = table.get("title", "What each part is worth")
    about = table.get("about", "")
    return f"\n## {title}\n\n{about}{shown}; {written.name} has the commands. `{report['command']}`\n\n{drawn(lines)}\n"


def by_row(rows: dict[str, Any], figure: str) -> list[list[str]]:
    """A line per row: the figure on every set that has it, in per cent, and its difference to the first row."""
    first = next(iter(rows.values()))
    shown = [name for name, found in first.items() if figure in found]
    lines = [["", *shown]]
    for row, sets in rows.items():
        cells = []
        for name in shown:
            own, base = 100 * sets[name][figure], 100 * first[name][figure]
            cells.append(f"{own:.1f}" if sets is first else f"{own:.1f} ({own - base:+.1f})")
        lines.append([row, *cells])
    return lines


def drawn(lines: list[list[str]]) -> str:
    """A Markdown table of lines of cells; the first line is the head."""
    ruled = [lines[0], ["---"] + ["---:"] * (len(lines[0]) - 1), *lines[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def _by_set(rows: dict[str, Any], figures: list[str]) -> list[list[str]]:
    lines = [["", *(f"{row}: {figure}" for row in rows for figure in figures)]]
    for name in next(iter(rows.values())):
        lines.append([name, *(_cell(sets[name], figure) for sets in rows.values() for figure in figures)])
    return lines


def _cell(found: dict[str, Any], figure: str) -> str:
    """F1, and precision/recall where they are kept."""
    if figure not in found:
        return "–"
    parts = [found[part] for part in (f"{figure} precision", f"{figure} recall") if part in found]
    shown = f" ({'/'.join(f'{100 * part:.0f}' for part in parts)})" if parts else ""
    return f"{100 * found[figure]:.1f}{shown}"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    study(Path(sys.argv[1]), sys.argv[2:])
