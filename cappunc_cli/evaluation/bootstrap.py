"""Bootstrap confidence intervals, and the significance of differences between hypotheses of one reference.

The unit of resampling is a block of reference words with the hypothesis words aligned to them. Blocks of a fixed length
keep neighbouring marks together and are the same for every hypothesis, so that the test is paired: each draw scores all
hypotheses on the same blocks (Koehn 2004; p as in Moses and sacreBLEU's `--paired-bs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.metrics import figure

#: The quantiles of a 95 % interval.
_TAILS = [0.025, 0.975]


#: Figures by metric and name.
Figures = Mapping[str, Mapping[str, float]]


def resample(evaluations: Sequence[Evaluation], draws: int, seed: int = 0) -> Sequence[tuple[Figures, Figures]]:
    """Resample hypotheses of one reference `draws` times; raises BadInput if their references differ.

    Returns for each the 95 % percentile interval of every metric (`low`, `high`), and its difference to the first one:
    the `difference` of the figures, its interval and its p-value `p`; the first one itself has none.
    """
    first = evaluations[0]
    for other in evaluations[1:]:
        if [list(s.reference) for s in first.samples] != [list(s.reference) for s in other.samples]:
            raise BadInput("the hypotheses must have the same reference")
    drawn, results = [], []
    for evaluation in evaluations:
        pairs, rng = evaluation.pairs, np.random.default_rng(seed)  # the same blocks for every hypothesis
        weights = rng.multinomial(pairs.size, np.full(pairs.size, 1 / pairs.size), draws).astype(np.float64)
        found = evaluation.scores_of(replace(pairs, weights=weights))
        drawn.append({name: figure(value) for name, value in found.items()})
    for evaluation, own in zip(evaluations, drawn, strict=True):
        differences = {}
        for name, value in evaluation.scores.items() if evaluation is not first else ():
            observed, change = figure(value) - figure(first.scores[name]), own[name] - drawn[0][name]
            # p is the share of draws whose difference is farther from the mean than the observed one is from none.
            # Floats summed in another order may differ in the last bit.
            farther = int(np.sum(np.abs(change) - np.abs(change).mean() >= abs(observed) - 1e-12))
            p = (1 + farther) / (1 + draws)
            differences[name] = {"difference": float(observed), **_interval(change), "p": p}
        intervals = {name: _interval(values) for name, values in own.items()}
        results.append((intervals, differences))
    return results


def _interval(values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(("low", "high"), np.quantile(values, _TAILS).tolist(), strict=True))
