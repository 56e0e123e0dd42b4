"""Whether a model reads a few words, tried in a process of its own: a graph may never end, a tokenizer may abort."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.registry import model_folders

#: Seconds of a processor after which it will not end, and how much longer a busy machine may take.
_LONGEST_S, _BUSY = 60, 20
#: The exit code of the process if it says what is wrong.
FAILED = 3
#: The module of the process.
_PROCESS = f"{__name__}_process"
_TOO_LONG = getattr(signal, "SIGXCPU", 0)


@cache
def try_model(directory: Path, engine: str) -> None:
    """Raises BadModel unless a model works; those that come with the package do, and are not tried."""
    package = Path(__file__).parents[2]
    if directory.resolve().parent in {folder.resolve() for folder in model_folders(package)}:
        return
    # -P: a folder that happens to be the current one has no modules for us.
    command = [sys.executable, "-P", "-m", _PROCESS, str(directory.resolve()), engine, str(_LONGEST_S)]
    endless = f"the model cannot be used: it does not read a few words in {_LONGEST_S} seconds"
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
    said = run.stdout.decode("utf-8", "replace").strip() if run.returncode == FAILED else ""
    if "start new thread" in said:
        raise RuntimeError(said)  # as the model itself would for this file
    if run.returncode:
        ended = endless if run.returncode == -_TOO_LONG else "the model cannot be used: it ends the process"
        raise BadModel(said or ended, str(directory))
