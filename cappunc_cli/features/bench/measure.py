"""Measure the time of each stage of `fix`, and of a cold start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cappunc_cli import formats
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities_of_each, rewrite_long

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.network import OnnxEngine

STAGES = ("read", "tokenise", "infer", "merge", "decode", "write")
#: Parts of a cold start, in order.
PARTS = ("interpreter", "imports", "model", "fix", "end")

#: Run in a new interpreter; prints the times at which its parts ended.
_START = """
import time
first = time.time()
import sys, json
import onnxruntime, tokenizers
imported = time.time()
model = load_model(sys.argv[1], sys.argv[2])
opened = time.time()
document = formats.read(open(sys.argv[3], encoding="utf-8").read(), sys.argv[3])
output = formats.write(document, restore(document.words, model))
formats.verify(document, output)
fixed = time.time()
print(json.dumps([first, imported, opened, fixed]), flush=True)
"""


class _StageTimer:
    """`with clock("decode"): …` adds to `clock.seconds["decode"]`."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - begun


def stages(data: bytes, name: str, model: Model, options: Options) -> tuple[int, dict[str, float]]:
    """The number of words in a file, and the seconds of each stage from input bytes to output bytes.

    `infer` is the time spent waiting for the model.
    `merge` is the overhead around the model: batching, and merging of windows.
    """
    clock = _StageTimer()
    code = options.conventions(model.config).code
    engines: list[OnnxEngine] = [model.engine, *(member.engine for member, _ in model.members(code))]  # type: ignore[list-item]
    spent = _spent(engines)
    with clock("read"):
        document = formats.read(data.decode(), name)
        words = document.words
    begun = time.perf_counter()
    (rows,) = probabilities_of_each([words], model, options)
    model_seconds = time.perf_counter() - begun
    with clock("decode"):
        texts = rewrite_long(words, rows, model, options)
    with clock("write"):
        output = formats.write(document, texts)
        formats.verify(document, output)
        output.encode()
    found = {stage: seconds - spent[stage] for stage, seconds in _spent(engines).items()}
    found["merge"] = model_seconds - sum(found.values())
    return len(words), {stage: {**clock.seconds, **found}[stage] for stage in STAGES}


def _spent(engines: Sequence[OnnxEngine]) -> dict[str, float]:
    """The seconds so far of each stage of the engines, together."""
    return {
        "tokenise": sum(engine.tokenise_s for engine in engines),
        "infer": sum(engine.infer_s for engine in engines),
    }


def figures(words: int, seconds: dict[str, float]) -> dict[str, Any]:
    """Words per second over all stages, and each stage's share of the time."""
    total = sum(seconds.values())
    return {
        "words": words,
        "seconds": round(total, 4),
        "words_per_second": round(words / total, 1),
        "shares": {stage: round(spent / total, 4) for stage, spent in seconds.items()},
    }


def best_of(repeats: int, run: Callable[[], tuple[int, dict[str, float]]]) -> tuple[int, dict[str, float]]:
    """The fastest of several runs: noise can only make a run slower."""
    return min((run() for _ in range(repeats)), key=lambda found: sum(found[1].values()))


def start(directory: Path, device: str, text: str, repeats: int = 3) -> dict[str, float]:
    """Seconds of the PARTS of a cold start, from launching a process to its end, in the fastest of several runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "talk.srt")
        path.write_text(text, encoding="utf-8")
        return min((_start(directory, device, path) for _ in range(repeats)), key=lambda found: sum(found.values()))


def _start(directory: Path, device: str, path: Path) -> dict[str, float]:
    launched = time.time()
    command = [sys.executable, "-c", _START, str(directory), device, str(path)]
    # With compiled modules, as when installed: the first run writes them for the others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    ended = time.time()
    times = [launched, *json.loads(done.stdout), ended]
    return {part: after - before for part, (before, after) in zip(PARTS, pairwise(times), strict=True)}
