"""Scores for punctuation and case: one alignment per document, one table of counts, all metrics computed from it.

Nothing here reads files or loads models: that is done by `features.evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import FOLD, Case
from cappunc_cli.evaluation.align import Alignment, align, tokens
from cappunc_cli.evaluation.contingency import ContingencyTable, tabulate
from cappunc_cli.evaluation.metrics import CASED, METRICS, Value

__all__ = ["FOLD", "METRICS", "Evaluation", "Sample", "evaluate"]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One document: its name, and the written words of the reference and the hypothesis.

    `starts` are the start times of the hypothesis words in milliseconds (None: unknown), so that
    mistakes can be found in the recording; empty if there are no times at all.
    `probabilities` [hypothesis words, 4] are those of no mark, comma, period and question
    mark, as `calibration.fold_columns` returns them; None if unknown.
    """

    name: str
    reference: Sequence[str]
    hypothesis: Sequence[str]
    starts: Sequence[int | None] = ()
    probabilities: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Evaluation:
    """Samples, their alignments, and the table that all scores are computed from."""

    samples: tuple[Sample, ...]
    alignments: tuple[Alignment, ...]
    fold: Mapping[str, str]

    @cached_property
    def table(self) -> ContingencyTable:
        """All documents counted together."""
        return tabulate(self.alignments, self.fold)

    @cached_property
    def cased(self) -> bool:
        """Whether the reference has capitals at all; if not, scores of case are meaningless."""
        return any(kind.reference is not None and kind.reference.case is not Case.LOWER for kind in self.table.kinds)

    @cached_property
    def scores(self) -> dict[str, Value]:
        """The value of every metric by name; without those of case if the reference has no capitals."""
        return scores(self.table, self.cased)


def scores(table: ContingencyTable, cased: bool = True) -> dict[str, Value]:
    """The value of every metric by name; those of case only if the reference is `cased`."""
    return {name: metric(table) for name, metric in METRICS.items() if cased or name not in CASED}


def evaluate(samples: Sequence[Sample], fold: Mapping[str, str] = FOLD) -> Evaluation:
    """Align every sample; `fold` maps the other marks to the three of the `, . ?` scores."""
    alignments = tuple(align(tokens(sample.reference), tokens(sample.hypothesis)) for sample in samples)
    return Evaluation(tuple(samples), alignments, fold)
