"""What each part is worth: the same sets with one thing changed a row.

    python -m cappunc_cli.training.study models/en/study.toml            every row
    python -m cappunc_cli.training.study models/en/study.toml "no overlap"   one of them

Rows are options of `cappunc eval`; figures with their commands go to study.json beside the table, rows of the
same model that stand there already are kept. The card shows them.
"""

from __future__ import annotations

import json
import logging
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from cappunc_cli import __version__
from cappunc_cli.benchmark.hardware import hardware, in_short
from cappunc_cli.restoration.models import ModelConfig
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.training.score import evaluate

logger = logging.getLogger(__name__)

#: The figure of the table: micro-F1 over , . ?
_FIGURE = "micro"


def study(path: Path, only: list[str]) -> None:
    """Run the rows of a study.toml (all, or those named) and write study.json after each."""
    directory = path.parent
    table = tomllib.loads(path.read_text("utf-8"))
    recipe = Recipe.load(directory / "train.toml")
    model = ModelConfig.load(directory).files["model.onnx"]
    written = path.with_suffix(".json")
    known = json.loads(written.read_text("utf-8")) if written.exists() else {}
    rows: dict[str, Any] = known["rows"] if known.get("model") == model else {}
    for row, options in table["rows"].items():
        if (only and row not in only) or (row in rows and not only):
            continue
        rows[row] = {
            name: evaluate(directory, recipe.data, reference, [*more, *options])
            for name, (reference, *more) in table["sets"].items()
        }
        logger.info("%s: %s", row, ", ".join(f"{name} {found[_FIGURE]:.4f}" for name, found in rows[row].items()))
        report = {
            "command": f"python -m cappunc_cli.training.study models/{directory.name}/{path.name}",
            "version": __version__,
            "date": date.today().isoformat(),
            "model": model,
            "hardware": in_short(hardware()),
            "rows": {name: rows[name] for name in table["rows"] if name in rows},
        }
        written.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")


def markdown(report: dict[str, Any]) -> str:
    """The rows of a study.json as a table of micro-F1, with the difference to the first row."""
    rows = report["rows"]
    first = next(iter(rows.values()))
    lines = [["", *first], ["---"] + ["---:"] * len(first)]
    for row, sets in rows.items():
        cells = []
        for name, found in sets.items():
            own, base = 100 * found[_FIGURE], 100 * first[name][_FIGURE]
            cells.append(f"{own:.1f}" if found is first[name] else f"{own:.1f} ({own - base:+.1f})")
        lines.append([row, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    study(Path(sys.argv[1]), sys.argv[2:])
