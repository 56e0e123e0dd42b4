"""Blank lines between a few words each: the turns of a dialogue, or the lines of verse, of captions, in double spacing.

What the model expects without them tells which. Where speakers take turns nearly all of them end sentences; captions
end one in every second or third, lines in double spacing no more often than any word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cappunc_cli.restoration.decoding.passage import Probabilities

#: The share of breaks that end a sentence where they part turns, and where they part captions.
_TURNS, _CAPTIONS = 0.97, 0.6
#: Nats in all, and for each break, that must speak for turns; 0.48 a break is the most there can be. Of 30 dialogues of
#: 200 words (held-out ends of five corpora) 28 have them; of the captions of 16 SRT files none, of wrapped lines none.
_ENOUGH, _ENOUGH_EACH = 1.0, 0.15
#: The least probability of a sentence end that turns have on average: 0.28 where the model knows a language least.
_LEAST = 0.25
#: No model is so sure that a turn could not prove it wrong.
_DOUBT = 0.02


def part_turns(ends: Probabilities, blank_before: Sequence[int]) -> bool:
    """Whether blank lines before some words part turns, where sentences end so probably behind the words, [n]."""
    if not blank_before:
        return False
    ends = np.clip(ends, _DOUBT, 1 - _DOUBT)
    usual, found = ends.mean(), ends[np.array(blank_before) - 1]
    turns, captions = (
        np.log(share * found / usual + (1 - share) * (1 - found) / (1 - usual)).sum() for share in (_TURNS, _CAPTIONS)
    )
    return bool(found.mean() >= _LEAST and turns - captions >= max(_ENOUGH, _ENOUGH_EACH * len(found)))
