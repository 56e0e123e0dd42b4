"""What a model's lexicon takes from the training text."""

from __future__ import annotations

import numpy as np

from cappunc_cli.features.train.dataset import Types, case_lexicon


def test_a_lexicon_has_the_usual_forms_of_mixed_case_words_and_of_acronyms() -> None:
    counts = {
        "iPhone,": 3,
        "IPhone": 1,
        "eBay": 2,
        "BBC.": 9,
        "bbc": 1,
        "US": 60,
        "us": 40,
        "U.S.": 9,
        "London": 9,
        "I": 9,
    }
    types = Types()
    for word in counts:
        types[word]
    assert case_lexicon(types, np.array(list(counts.values()))) == ["BBC", "iPhone"]


def test_a_mixed_form_that_is_rarer_than_the_capital_one_is_not_in_the_lexicon() -> None:
    counts = {"T-Shirt": 3, "T-shirt": 9, "t-shirt": 50, "X-Men": 9, "X-men": 3, "DeMarcus": 3, "Demarcus": 4}
    types = Types()
    for word in counts:
        types[word]
    assert case_lexicon(types, np.array(list(counts.values()))) == ["T-shirt", "X-Men"]
