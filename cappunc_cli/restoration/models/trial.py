"""Whether a model reads a few words, tried in a process of its own: a graph may never end, a tokenizer may abort."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.models.network import split
from cappunc_cli.restoration.models.registry import model_folders
from cappunc_cli.restoration.models.session import first_line

#: Seconds of a processor after which it will not end, and how much longer a busy machine may take.
_LONGEST_S, _BUSY = 60, 20
#: The exit code of the process if it says what is wrong.
_FAILED = 3
_TOO_LONG = getattr(signal, "SIGXCPU", 0)
_WORDS = ("good", "evening", "ladies", "and", "gentlemen")


@cache
def try_model(directory: Path, engine: str) -> None:
    """Raises BadModel unless a model works; those that come with the package do, and are not tried."""
    package = Path(__file__).parents[2]
    if directory.resolve().parent in {folder.resolve() for folder in model_folders(package)}:
        return
    # -P: a folder that happens to be the current one has no modules for us.
    command = [sys.executable, "-P", "-m", __name__, str(directory.resolve()), engine, str(_LONGEST_S)]
    endless = f"the model cannot be used: it does not read five words in {_LONGEST_S} seconds"
    paths = os.pathsep.join(filter(None, sys.path))
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
            timeout=_LONGEST_S * _BUSY,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadModel(endless, str(directory)) from None
    said = run.stdout.decode("utf-8", "replace").strip() if run.returncode == _FAILED else ""
    if run.returncode:
        ended = endless if run.returncode == -_TOO_LONG else "the model cannot be used: it ends the process"
        raise BadModel(said or ended, str(directory))


def read_some_words(engine: Any) -> None:
    """Raises ValueError, or whatever else, if an engine's outputs are no probabilities of its labels."""
    config, count = engine.config, len(_WORDS)
    chunks = split(count, *config.windows(config))
    parts = list(engine.predict(_WORDS, [300] * count, [False] * count, chunks))
    wanted = (count, len(CASE_CLASSES) + len(MARK_CLASSES) + len(config.around))
    rows = np.concatenate(parts)
    if rows.shape != wanted:
        raise ValueError(f"its outputs have the shape {list(rows.shape)} for {count} words, not {list(wanted)}")
    cases, marks = rows[:, : len(CASE_CLASSES)], rows[:, len(CASE_CLASSES) :][:, : len(MARK_CLASSES)]
    if not all(np.allclose(one.sum(1), 1, atol=0.01) for one in (cases, marks)):
        raise ValueError("its outputs are no probabilities of its labels")


def main(directory: str, engine: str, seconds: str) -> int:
    """The process: says in a line what is wrong."""
    from cappunc_cli.restoration.models.model import open_model

    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        try:
            opened = open_model(Path(directory), "cpu", engine)
        except CappuncError:
            return 0  # it is told where the model is opened
        for model in (opened, *(member for member, _ in opened.ensemble)):
            read_some_words(model.engine)
    except BaseException as error:  # a panic of the tokenizer is no Exception
        print(f"the model cannot be used: {first_line(error)}")
        return _FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
