"""A stand-in for a model: simple rules that a reader can check by eye.

A sentence ends at the end of a turn or of the text and at a long silence; there is a comma
on both sides of a hesitation; names are capitalised. So the expected results of fixtures show what
this project does around a model, not what a model decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import Chunk, Rows

#: Silence (ms) that ends a sentence.
LONG = 700
NAMES = frozenset(("mary", "london", "dr", "mr", "smith", "jones", "anna", "john", "monday"))
INITIALS = frozenset(("u.s.", "u.s.a.", "u.k."))
HESITATIONS = frozenset(("uh", "um", "er", "hmm"))
_HIGH, _LOW = 0.96, 0.01


class Rules:
    """An engine with fixed rules; `config` names the columns."""

    warning = ""
    reads_lines = False

    def __init__(self, model: Model) -> None:
        self._config = model.config
        self.config = model.config

    def predict(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turn_ends: Sequence[bool],
        chunks: Sequence[Chunk],
        lines: Sequence[bool] | None = None,  # noqa: ARG002
    ) -> Iterator[Rows]:
        """Yield the probabilities of each chunk's words, [n, cases + marks]."""
        cases, marks = CASE_CLASSES, MARK_CLASSES
        names = [str(case) for case in cases]
        rows = np.full((len(words), len(cases) + len(marks)), _LOW, np.float32)
        start = True
        for i, word in enumerate(words):
            stem = word.split("'")[0].rstrip("-")
            case = "upper" if word in INITIALS else "capital" if start or stem in NAMES else "lower"
            rows[i, names.index(case)] = _HIGH
            end = turn_ends[i] or (pauses[i] or 0) >= LONG or i + 1 == len(words)
            comma = word in HESITATIONS or (i + 1 < len(words) and words[i + 1] in HESITATIONS)
            rows[i, len(cases) + marks.index("." if end else "," if comma else "")] = _HIGH
            start = end
        rows[:, : len(cases)] /= rows[:, : len(cases)].sum(1, keepdims=True)
        rows[:, len(cases) :] /= rows[:, len(cases) :].sum(1, keepdims=True)
        for chunk in chunks:
            yield chunk.kept(rows[chunk.start : chunk.stop])


def rules() -> Model:
    """A model for `restore` that applies these rules."""
    tiny = load_model(str(Path(__file__).parent / "tiny_model"), "cpu")
    return Model(tiny.config, Rules(tiny), tiny.lexicons)  # type: ignore[arg-type]
