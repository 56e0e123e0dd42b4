"""Scores for punctuation and case: one alignment per document, arrays of word pairs, all metrics computed from these.

Nothing here reads files or loads models: that is done by `features.evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cappunc_cli.document.labels import FOLD
from cappunc_cli.evaluation.metrics import CASED, METRICS, Value
from cappunc_cli.evaluation.pairs import Alignment, Pairs, align, pairs_of

__all__ = ["FOLD", "METRICS", "Evaluation", "Sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """One document: its name, and the written words of the reference and the hypothesis.

    `starts` are the start times of the hypothesis words in milliseconds (None: unknown), so that
    mistakes can be found in the recording; empty if there are no times at all.
    """

    name: str
    reference: Sequence[str]
    hypothesis: Sequence[str]
    starts: Sequence[int | None] = ()

    @cached_property
    def alignment(self) -> Alignment:
        """The words of both sides in pairs."""
        return align(self.reference, self.hypothesis)


@dataclass(frozen=True)
class Evaluation:
    """Samples and their scores; `fold` maps the other marks to the three of the `, . ?` scores."""

    samples: Sequence[Sample]
    fold: Mapping[str, str] = field(default_factory=lambda: FOLD)

    def pairs_of(self, *samples: Sample) -> Pairs:
        """The pairs of words of some documents."""
        return pairs_of([sample.alignment for sample in samples], self.fold)

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of words of all documents."""
        return self.pairs_of(*self.samples)

    @cached_property
    def cased(self) -> bool:
        """Whether the reference has capitals at all; if not, scores of case are meaningless."""
        return bool(set(self.pairs.reference.cases.tolist()) - {"", "lower"})

    @cached_property
    def scores(self) -> dict[str, Value]:
        """The value of every metric by name; no metrics of case if the reference has no capitals."""
        return self.scores_of(self.pairs)

    def scores_of(self, pairs: Pairs) -> dict[str, Value]:
        """As `scores`, of other pairs."""
        return {name: metric(pairs) for name, metric in METRICS.items() if self.cased or name not in CASED}
