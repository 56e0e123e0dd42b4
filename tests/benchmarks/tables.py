"""Write the README's part on speed from tests/benchmarks/results/*.json.

python tests/benchmarks/tables.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
_MARKERS = re.compile(r"(<!-- begin:speed -->\n).*?(<!-- end:speed -->)", re.DOTALL)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def note(report: dict[str, Any], file: str) -> str:
    machine, model = report["hardware"], report.get("model") or report["bench"]["model"]
    digest = (model["sha256"] or "no hash")[:12]
    return (
        f"\n{machine['gpu'] or machine['cpu']}, {machine['cores']} cores; model `{model['name']}` ({digest}); "
        f"from [{file}](tests/benchmarks/results/{file}), `{report['command']}`.\n"
    )


def by_stage(bench: dict[str, Any]) -> str:
    stages = list(next(iter(bench["inputs"].values()))["shares"])
    rows = [
        [name, f"{found['words_per_second']:,.0f}", *(f"{100 * found['shares'][stage]:.0f} %" for stage in stages)]
        for name, found in bench["inputs"].items()
    ]
    return table(["file", "words/s", *stages], rows)


def cpu(report: dict[str, Any]) -> str:
    """Stages, cold start, files, memory, ceiling."""
    bench, ceiling, files = report["bench"], report["ceiling"], report["files"]
    start = bench["start"]["seconds"]
    parts = ", ".join(f"{part} {1000 * seconds:.0f} ms" for part, seconds in start.items())
    kinds = {
        "one_file": "one file",
        "many_files": f"{files['files']:,} files",
        "many_files_jobs": f"{files['files']:,} files, --jobs {files['jobs']}",
    }
    rows = [
        [title, f"{files[kind]['words_per_second']:,.0f}", f"{files[kind]['peak_memory_mb']:,.0f} MB"]
        for kind, title in kinds.items()
    ]
    operators = ", ".join(f"{name} {100 * share:.0f} %" for name, share in report["profile"].items())
    return (
        by_stage(bench)
        + f"\nA cold start with {bench['start']['words']:,} words takes {sum(start.values()):.2f} s: {parts}. "
        + f"The cores multiply 8-bit matrices of the model's shapes at {ceiling['int8_gops']:,.0f} billion operations "
        + f"a second, which would be {ceiling['int8_words_per_second']:,.0f} words/s; from file to file "
        + f"{100 * report['share_of_int8_rate']:.0f} % of that is reached. Of the graph's time: {operators}.\n\n"
        + table([f"{files['words']:,} words in", "words/s", "memory"], rows)
        + note(report, "cpu.json")
    )


def peers(report: dict[str, Any]) -> str:
    """Words per second of every system, and how many times as fast cappunc is."""
    ours = report["systems"][0]["words_per_second"]
    rows = [
        [
            row["system"],
            f"{row['weights'] / 1e6:,.1f} M" if row["weights"] else "–",
            f"{row['words_per_second']:,.0f}",
            f"{ours / row['words_per_second']:,.1f}",
        ]
        for row in report["systems"]
    ]
    return (
        "Peers run at their true size with random weights, so this compares speed alone; they get plain words.\n\n"
        + table(["system", "weights", "words/s", "cappunc is faster, times"], rows)
        + note(report, "peers.json")
    )


def gpu(report: dict[str, Any]) -> str:
    """Stages, and the tree by worker processes."""
    rows = [
        [str(row["jobs"]), f"{row['words_per_second']:,}", f"{row.get('gpu_percent', 0):.0f} %"]
        for row in report["tree"]
    ]
    return by_stage(report["bench"]) + "\n" + table(["--jobs", "words/s", "GPU busy"], rows) + note(report, "gpu.json")


PARTS = {"cpu.json": cpu, "peers.json": peers, "gpu.json": gpu}


def page(results: Path = RESULTS) -> str:
    """All parts whose results are there."""
    found = [
        make(json.loads((results / name).read_text("utf-8")))
        for name, make in PARTS.items()
        if (results / name).exists()
    ]
    return "\n".join(found)


def main() -> None:
    readme = ROOT / "README.md"
    readme.write_text(_MARKERS.sub(lambda match: match[1] + page() + match[2], readme.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
