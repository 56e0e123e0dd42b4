"""The process in which `try_model` opens a model and reads some words with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.models.model import open_model
from cappunc_cli.restoration.models.network import split
from cappunc_cli.restoration.models.session import first_line
from cappunc_cli.restoration.models.trial import FAILED

WORDS = ("good", "evening", "ladies", "and", "gentlemen")


def read_some_words(engine: Any) -> None:
    """Raises ValueError, or whatever else, if an engine's outputs are no probabilities of its labels."""
    config, count = engine.config, len(WORDS)
    chunks = split(count, *config.windows(config))
    parts = list(engine.predict(WORDS, [300] * count, [False] * count, chunks))
    wanted = (count, len(CASE_CLASSES) + len(MARK_CLASSES) + len(config.around))
    rows = np.concatenate(parts)
    if rows.shape != wanted:
        raise ValueError(f"its outputs have the shape {list(rows.shape)} for {count} words, not {list(wanted)}")
    cases, marks = rows[:, : len(CASE_CLASSES)], rows[:, len(CASE_CLASSES) :][:, : len(MARK_CLASSES)]
    if not all(np.allclose(one.sum(1), 1, atol=0.01) for one in (cases, marks)):
        raise ValueError("its outputs are no probabilities of its labels")


def main(directory: str, engine: str, seconds: str) -> int:
    """The process: says in a line what is wrong."""
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
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
