"""Shared by the benchmarks: their options, the head of a report, measured runs."""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.words import Word
from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.hardware import hardware, versions
from cappunc_cli.restoration.models.network import OnnxEngine, split
from cappunc_cli.restoration.models.registry import ModelConfig

RESULTS = Path(__file__).resolve().parent / "results"
#: Runs `cappunc` and prints the peak memory (KB) and the seconds of that process and its children.
_WATCHED = """
import resource, subprocess, sys, time
begun = time.perf_counter()
done = subprocess.run([sys.executable, "-m", "cappunc_cli", *sys.argv[1:]], stderr=subprocess.PIPE)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss, time.perf_counter() - begun, usage.ru_utime + usage.ru_stime)
sys.stderr.buffer.write(done.stderr[-2000:])
sys.exit(done.returncode)
"""


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options --model and --quick (fewer words)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", default="en")
    parser.add_argument("--quick", action="store_true")
    return parser


def options_with_data(description: str | None) -> argparse.ArgumentParser:
    """A parser with the option --data."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the training and evaluation data")
    return parser


def digest(config: ModelConfig) -> str:
    """The beginning of the hash of a model's weights, which its config names first."""
    return next(iter(config.files.values()))[:12]


def identity(config: ModelConfig) -> str:
    """The name of a model and the hash of its weights."""
    return f"{config.name}@{digest(config)}"


def print_report(report: Mapping[str, Any]) -> None:
    """Write a report to standard output."""
    print(json.dumps(report, ensure_ascii=False, indent=1))


def head(data: Path | None = None, command: str = "") -> dict[str, Any]:
    """The command (with $DATA for `data`), the date and the machine; give `command` if arguments are local paths."""
    words = ["$DATA" if data is not None and Path(word) == data else shlex.quote(word) for word in sys.argv]
    if (module := sys.modules["__main__"].__spec__) is not None:  # called as `python -m`
        words[:1] = ["-m", module.name]
    return {
        "command": command or " ".join(["python", *words]),
        "date": date.today().isoformat(),
        "hardware": hardware(),
        "versions": versions(),
    }


def watched(*arguments: str, tree: Path | None = None) -> dict[str, float]:
    """Peak MB, wall-clock seconds and CPU seconds of one call of cappunc, or of the cappunc in the checkout `tree`."""
    # With -m the current directory takes precedence over installed packages.
    done = subprocess.run([sys.executable, "-c", _WATCHED, *arguments], stdout=subprocess.PIPE, check=True, cwd=tree)
    peak, wall, cpu = map(float, done.stdout.split())
    return {"peak_memory_mb": round(peak / 1000, 1), "seconds": round(wall, 2), "cpu_seconds": round(cpu, 2)}


def resident(process: int) -> float:
    """Resident memory of a process in MB; 0 if it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def write_files(folder: Path, words: Sequence[str], count: int) -> None:
    """The words as `count` files of SRT, a hundred folders of them."""
    size = -(-len(words) // count)
    for i in range(count):
        path = folder / f"{i % 100:02}" / f"{i}.srt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sample_text.srt(list(words[i * size : (i + 1) * size])), "utf-8")


def documents(data: Path, name: str, count: int, last: bool = False) -> Iterator[list[Word]]:
    """Documents of a set from its start, or its end, `count` words in all; none has more than half of them."""
    with lzma.open(data / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
        texts = [text for text in lines.read().split("\n\n") if text.strip()]
    total = 0
    for text in reversed(texts) if last else texts:
        words = list(formats.read(text + "\n", "talk.txt").words)
        words = words[-(count // 2) :] if last else words[: count // 2]
        yield words
        total += len(words)
        if total >= count:
            return


def batches(directory: Path, device: str, words: Sequence[str], sizes: Sequence[int]) -> dict[str, float]:
    """Words per second of tokenizer and model for several sizes of a batch (pieces): the better of two runs."""
    found = {}
    for pieces in sizes:
        engine = OnnxEngine(directory, device, pieces_per_batch=pieces)
        found[str(pieces)] = round(len(words) / min(seconds(engine, words) for _ in range(2)), 1)
    return found


def seconds(engine: OnnxEngine, words: Sequence[str]) -> float:
    """The time that tokenizer and model take for some words."""
    chunks = split(len(words), engine.config.window, engine.config.overlap)
    begun = time.perf_counter()
    for _ in engine.predict(words, [None] * len(words), [False] * len(words), chunks):
        pass
    return time.perf_counter() - begun
