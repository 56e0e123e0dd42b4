"""Decide whether blank lines between short paragraphs separate the turns of a dialogue.

They may also separate verses, captions or double-spaced lines. The model's sentence ends, predicted without the blank
lines, tell which: nearly all turns end a sentence, but only every second or third caption does, and a double-spaced
line does so no more often than any word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cappunc_cli.restoration.decoding.passage import Probabilities

#: The share of blank lines that come after a sentence end, between turns and between captions.
_TURNS, _CAPTIONS = 0.97, 0.6
#: The log-likelihood ratio (nats) required for turns, in total and for each break, where at most 0.48 is possible. Of
#: 30 dialogues of 200 words (held-out ends of five corpora) 28 pass; of the captions of 16 SRT files and of wrapped
#: lines none.
_MIN_NATS, _MIN_NATS_PER_BREAK = 1.0, 0.15
#: The mean probability of a sentence end required before breaks; turns in the model's weakest language have 0.28.
_MIN_MEAN = 0.25
#: Probabilities are clipped to this distance from 0 and 1, so that no single break decides.
_CLIP = 0.02


def part_turns(ends: Probabilities, blank_before: Sequence[int]) -> bool:
    """Whether the blank lines before the words `blank_before` separate turns, given P(sentence end) `ends` [n]."""
    if not blank_before:
        return False
    ends = np.clip(ends, _CLIP, 1 - _CLIP)
    mean, found = ends.mean(), ends[np.array(blank_before) - 1]
    turns, captions = (
        np.log(share * found / mean + (1 - share) * (1 - found) / (1 - mean)).sum() for share in (_TURNS, _CAPTIONS)
    )
    required = max(_MIN_NATS, _MIN_NATS_PER_BREAK * len(found))
    return bool(found.mean() >= _MIN_MEAN and turns - captions >= required)
