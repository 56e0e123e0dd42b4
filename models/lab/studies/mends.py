"""Corrections that an editor has to make in evaluation sets of spoken language, before and after, per 1,000 words.

    python -m models.lab.studies.mends --data ../shared/data

`before` is the program at an earlier commit, checked out from git, with the English model of that time; `en-fast`
is the same model with today's decoding; `after` is today's `en`. Each gets the first words of each set as a
recogniser would write them, one turn per line, and runs `cappunc fix`; corrections are counted as by
`cappunc eval` (`evaluation/mistakes.py`). tables.py puts the rates into docs/benchmarks.md.
Seven minutes on one busy core.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.mistakes import corrections
from tests.benchmarks.measuring import RESULTS, head, options_with_data

ROOT = Path(__file__).resolve().parents[3]
RESULT = RESULTS / "mends.json"
SETS = ("podcast", "interviews", "meetings", "phone")
#: The last commit whose English model was a MiniLM, before any work on this metric.
BEFORE = "6e1865b"
_WORDS = 15_000


def beginning(path: Path, most: int) -> Iterator[list[str]]:
    """The words of each turn, `most` in all; tokens that are not words are dropped."""
    count = 0
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            words = [word.text for word in formats.read(line, format="txt").words]
            if count >= most:
                return
            count += len(words)
            if words:
                yield words


def bare(turns: Sequence[Sequence[str]]) -> str:
    """Turns as a recogniser would write them, a line each."""
    return "".join(" ".join(strip(word)[0] for word in words) + "\n" for words in turns)


def program_of(commit: str, folder: Path) -> Path:
    """The package and the English model of a commit, written into a folder."""
    packed = subprocess.run(
        ["git", "archive", "--format=zip", commit, "cappunc_cli", "models/en"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    return folder


def fixed(text: str, program: Path, model: str) -> list[str]:
    """The words that the program in a folder writes for a bare text, as anyone would call it."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "out.txt")
        source.write_text(text, "utf-8")
        command = [sys.executable, "-m", "cappunc_cli", "fix", str(source), "-o", str(target), "--quiet"]
        subprocess.run(
            [*command, "--model", str(program / "models" / model), "--lang", "en"],
            env=os.environ | {"PYTHONPATH": str(program)},
            cwd=program,  # `python -m` looks there first
            check=True,
        )
        return [word.text for word in formats.read(target.read_text("utf-8"), format="txt").words]


def counted(gold: Sequence[str], found: Sequence[str]) -> dict[str, int]:
    """The words, and what is to mend in them by kind of mend."""
    if [strip(word)[0] for word in gold] != [strip(word)[0] for word in found]:
        raise SystemExit("the words are others than were given")
    return {"words": len(gold), **corrections(Evaluation([Sample("", gold, found)]))}


def digest(model: Path) -> str:
    found: str = json.loads((model / "config.json").read_text("utf-8"))["files"]["model.onnx"]
    return found[:12]


def main() -> None:
    """Write results/mends.json."""
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=_WORDS, help="of each set")
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT")
    options = parser.parse_args()
    sets = {name: list(beginning(options.data / "en" / "eval" / f"{name}.txt.xz", options.words)) for name in SETS}
    runs: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        then = program_of(options.before, Path(folder))
        for run, program, model in (("before", then, "en"), ("en-fast", ROOT, "en-fast"), ("after", ROOT, "en")):
            found = {}
            for name, turns in sets.items():
                found[name] = counted([word for words in turns for word in words], fixed(bare(turns), program, model))
                print(run, name, found[name], file=sys.stderr, flush=True)
            runs[run] = {"model": f"{model}@{digest(program / 'models' / model)}", "sets": found}
    runs["before"]["commit"] = options.before
    RESULT.write_text(json.dumps({**head(options.data), "runs": runs}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
