"""Decide whether blank lines between short paragraphs separate the turns of a dialogue.

They may also separate verses, captions or double-spaced lines. The model is asked twice for sentence ends, first
without the blank lines and then as if each of them ended a turn. Nearly all turns end a sentence, but only every second
or third caption does, and a double-spaced line does so no more often than any word. And where a line breaks off within
a sentence (`went to the`), the model sees no sentence end even if it is told that a turn ends there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cappunc_cli.restoration.decoding.passage import Probabilities

#: The share of blank lines that come after a sentence end, between turns and between captions.
_TURNS, _CAPTIONS = 0.97, 0.6
#: The share of turns, and of captions, after which a model that is told of a turn still sees no sentence end.
_TURNS_WITHOUT_END, _CAPTIONS_WITHOUT_END = 0.05, 0.35
#: The log-likelihood ratio (nats) required for turns. All of 130 dialogues of 200 words in ten languages (held-out ends
#: of training corpora) pass, and 123 with their first three breaks alone; of 168 texts cut into captions 2 and 9.
_MIN_NATS = 1.0
#: The mean probability of a sentence end required before breaks, without the blank lines; the least of the dialogues
#: have 0.24, verse has less.
_MIN_MEAN = 0.2
#: Probabilities are clipped to this distance from 0 and 1, so that no single break decides.
_CLIP = 0.02


def part_turns(ends: Probabilities, ends_with_turns: Probabilities, blank_before: Sequence[int]) -> bool:
    """Whether the blank lines before the words `blank_before` separate turns.

    `ends` [n] are the probabilities of sentence ends without the blank lines, `ends_with_turns` [n] those if each of
    them ends a turn.
    """
    if not blank_before:
        return False
    last = np.array(blank_before) - 1
    ends = np.clip(ends, _CLIP, 1 - _CLIP)
    mean, found = ends.mean(), ends[last]
    turns, captions = (share * found / mean + (1 - share) * (1 - found) / (1 - mean) for share in (_TURNS, _CAPTIONS))
    broken_off = np.where(
        ends_with_turns[last] < 0.5,
        np.log(_TURNS_WITHOUT_END / _CAPTIONS_WITHOUT_END),
        np.log((1 - _TURNS_WITHOUT_END) / (1 - _CAPTIONS_WITHOUT_END)),
    )
    return bool(found.mean() >= _MIN_MEAN and (np.log(turns / captions) + broken_off).sum() >= _MIN_NATS)
