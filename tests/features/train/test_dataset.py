"""What a model's lexicon takes from the training text."""

from __future__ import annotations

import numpy as np
import pytest

from cappunc_cli.features.train.dataset import case_lexicon


@pytest.mark.parametrize(
    ("counts", "lexicon"),
    [
        # Words of mixed case in their usual form, and acronyms.
        (
            {"iPhone,": 3, "IPhone": 1, "eBay": 2, "BBC.": 9, "bbc": 1, "U.S.": 9, "London": 9, "I": 9},
            ["BBC", "iPhone"],
        ),
        ({"US": 60, "us": 40}, []),
        # A mixed form that is rarer than the one with a capital is not in it.
        ({"T-Shirt": 3, "T-shirt": 9, "t-shirt": 50, "X-Men": 9, "X-men": 3}, ["T-shirt", "X-Men"]),
        ({"DeMarcus": 3, "Demarcus": 4}, []),
    ],
)
def test_a_lexicon_has_the_usual_forms(counts: dict[str, int], lexicon: list[str]) -> None:
    types = {word: number for number, word in enumerate(counts)}
    assert case_lexicon(types, np.array(list(counts.values()))) == lexicon
