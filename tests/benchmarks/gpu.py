"""The whole GPU measurement, unattended: one call on a machine with an NVIDIA GPU.

    pip install '.[cuda]'
    python tests/benchmarks/gpu.py > tests/benchmarks/results/gpu.json

Checks that the model really runs there and gives the same results as on the CPU; measures one file by stage, batch
sizes, and a tree of files with increasing numbers of worker processes; names the limiting stage. About eight minutes.
--quick for a tenth of the words. If a part fails, its error is reported, and the others still run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import batches, head, options, print_report, watched, write_files

from cappunc_cli.document.labels import CASE_CLASSES
from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.command import measure
from cappunc_cli.restoration.models.network import OnnxEngine, split
from cappunc_cli.restoration.models.registry import find_model


def parity(directory: Path, device: str, words: list[str]) -> dict[str, float]:
    """Largest and mean difference of any probability from the CPU's, and the share of equal marks."""
    rows = []
    for name in ("cpu", device):
        engine = OnnxEngine(directory, name)
        config = engine.config
        chunks = split(len(words), config.window, config.overlap, config.min_words_cut)
        found = engine.predict(words, [None] * len(words), [False] * len(words), chunks)
        rows.append(np.concatenate([*found]))
    cases = len(CASE_CLASSES)
    ours, theirs = rows
    same = (ours[:, cases:].argmax(1) == theirs[:, cases:].argmax(1)).mean()
    gap = np.abs(ours - theirs)
    return {"largest": float(gap.max()), "mean": float(gap.mean()), "same_marks": float(same)}


def tree(model: str, device: str, words: list[str], files: int) -> list[dict[str, Any]]:
    """End to end with 1, 2, 4, … worker processes, up to the number of cores."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder / "in", words, files)
        jobs = 1
        while jobs <= (os.cpu_count() or 1):
            how = ("--model", model, "--device", device, "--jobs", str(jobs), "--quiet")
            seen = watched("fix", str(folder / "in"), "-o", str(folder / f"out{jobs}"), *how)
            rows.append({"jobs": jobs, **seen, "words_per_second": round(len(words) / seen["seconds"])})
            jobs *= 2
    return rows


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    less = 10 if arguments.quick else 1
    directory = find_model(arguments.model)
    report = head()
    words = sample_text.sample_words(directory, 10_000_000 // less)

    def part(name: str, run: Callable[[], Any]) -> None:
        begun = time.perf_counter()
        try:
            report[name] = run()
        except Exception as error:
            report[name] = {"error": f"{type(error).__name__}: {error}"}
        print(
            f"{name} ({time.perf_counter() - begun:.0f} s): {json.dumps(report[name])[:400]}",
            file=sys.stderr,
            flush=True,
        )

    part("parity", lambda: parity(directory, arguments.device, words[:5_000]))
    part("bench", lambda: measure(None, arguments.model, arguments.device, 1_000_000 // less, 2))
    sizes = [8192 << i for i in range(5)]
    part("batch_sizes", lambda: batches(directory, arguments.device, words[: 1_000_000 // less], sizes))
    part("tree", lambda: tree(arguments.model, arguments.device, words, 2_000 // less))
    shares = report["bench"].get("inputs", {}).get("talk.srt", {}).get("shares", {})
    report["limited_by"] = max(shares, key=shares.get) if shares else None
    print_report(report)


if __name__ == "__main__":
    main()
