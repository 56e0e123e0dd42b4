"""What `cappunc fix` costs in two checkouts, with the same weights and files: processor time and peak memory.

    git worktree add ../before COMMIT
    python tests/benchmarks/checkouts.py ../before . --models ../before/models > tests/benchmarks/results/checkouts.json

The checkouts run alternately on one core, and the result is the ratio of their processor times (user and system) pair
by pair, because other work on the machine slows both. Both use the same models.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from measuring import head, identity, print_report, watched

from cappunc_cli.features.bench import sample_text
from cappunc_cli.restoration.models.registry import ModelConfig

#: What is measured: the model, the words of the file, the turns.
CASES = {
    "default": ("en", 8_000, 3),
    "several languages": ("multi", 8_000, 3),
    "fast": ("en-fast", 60_000, 4),
    "cold start": ("en-fast", 2_500, 8),
    "memory": ("en-fast", 1_000_000, 1),
}


def compared(trees: list[Path], model: Path, count: int, turns: int) -> dict[str, Any]:
    """Seconds of processor time and peak MB of each turn of each checkout, and the ratios second to first."""
    with tempfile.TemporaryDirectory() as folder:
        source, results = Path(folder, "talk.srt"), [Path(folder, f"{i}.srt") for i in range(2)]
        source.write_text(sample_text.srt(sample_text.sample_words(model, count)), "utf-8")
        language = ModelConfig.load(model).languages[0]
        common = ("--force", "--quiet", "--device", "cpu", "--lang", language, "--model", str(model))
        seen: list[list[dict[str, float]]] = [[], []]
        for _ in range(turns):
            for tree, result, rows in zip(trees, results, seen, strict=True):
                rows.append(watched("fix", str(source), "-o", str(result), *common, tree=tree))
        same = results[0].read_bytes() == results[1].read_bytes()
    seconds, memory = ([[row[key] for row in rows] for rows in seen] for key in ("cpu_seconds", "peak_memory_mb"))
    return {
        "model": identity(ModelConfig.load(model)),
        "words": count,
        "cpu_seconds": seconds,
        "cpu_ratio": round(median(after / before for before, after in zip(*seconds, strict=True)), 3),
        "peak_memory_mb": memory,
        "memory_ratio": round(max(memory[1]) / max(memory[0]), 3),
        "same_result": same,
    }


def main() -> None:
    """Write the json to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--models", type=Path, required=True, help="where the models' directories lie")
    parser.add_argument("--case", choices=CASES, action="append", help="one alone; may be repeated")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # the threads of a checkout are as many as it finds cores
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    trees = [path.resolve() for path in (arguments.before, arguments.after)]
    asked = [["git", "-C", str(tree), "rev-parse", "--short=12", "HEAD"] for tree in trees]
    commits = [subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() for words in asked]
    told = "python tests/benchmarks/checkouts.py BEFORE AFTER --models BEFORE/models"
    report = head(command=told) | {"commits": commits, "cases": {}}
    try:
        for name in arguments.case or CASES:
            model, count, turns = CASES[name]
            report["cases"][name] = compared(trees, (arguments.models / model).resolve(), count, turns)
            print(name, json.dumps(report["cases"][name]), file=sys.stderr, flush=True)
    finally:  # Ctrl-C leaves what there is
        print_report(report)


if __name__ == "__main__":
    main()
