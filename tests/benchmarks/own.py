"""A custom model from plain text to scores, as a new user would train it, timed.

    python tests/benchmarks/own.py --data ../shared/data > tests/benchmarks/results/own.json

French, the first words of old novels: trained from scratch, and starting from `multi`. About a quarter of an hour on
two cores; needs the extra [train].
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import head, options_with_data, print_report

TEXT, REFERENCE = "fr/eltec_fra.txt.xz", "fr/eval/eltec_fra.txt.xz"
SUBTITLES = """1
00:00:01,000 --> 00:00:04,000
monsieur dubois est arrivé hier à paris

2
00:00:05,200 --> 00:00:07,000
que voulez-vous dire
"""
ROWS: dict[str, list[str]] = {"from nothing": [], "--from multi": ["--from", "multi"]}


def run(*arguments: str, stdin: str | None = None) -> str:
    command = [sys.executable, "-m", "cappunc_cli", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, input=stdin).stdout


def first_words(path: Path, count: int) -> str:
    """The first lines of a text that have so many words."""
    lines = []
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            lines.append(line)
            count -= len(line.split())
            if count <= 0:
                break
    return "".join(lines)


def own(options: list[str], folder: Path, reference: Path) -> dict[str, Any]:
    """Train, score, fix: the three commands."""
    begun = time.perf_counter()
    run("train", "--lang", "fr", str(folder / "novels.txt"), *options, "-o", str(folder / "my-fr"))
    minutes = (time.perf_counter() - begun) / 60
    scores = json.loads(run("eval", "--ref", str(reference), "--model", str(folder / "my-fr"), "--json"))["scores"]
    return {
        "minutes": round(minutes, 1),
        "scores": {name: round(scores[name]["f1"], 4) for name in ("micro", "comma", "period", "question", "case")},
        "fixed": run("fix", "--model", str(folder / "my-fr"), "--format", "srt", stdin=SUBTITLES),
    }


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=250_000)
    parser.add_argument("--only", choices=ROWS, help="one row instead of all")
    arguments = parser.parse_args()
    text = first_words(arguments.data / TEXT, arguments.words)
    rows = {}
    for name, options in ROWS.items():
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "novels.txt").write_text(text, "utf-8")
                rows[name] = own(options, Path(folder), arguments.data / REFERENCE)
    report = {
        **head(arguments.data),
        "words": len(text.split()),
        "reference": REFERENCE,
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
