from __future__ import annotations

import random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.evaluation.pairs import Alignment, align


def aligned(reference: str, hypothesis: str) -> Alignment:
    return align(reference.split(), hypothesis.split())


def table(alignment: Alignment) -> list[tuple[str, str]]:
    """Bare words side by side, `-` for none."""

    def word(side: object, i: int | None) -> str:
        return "-" if i is None else side[i][0]  # type: ignore[index]

    return [(word(alignment.reference, i), word(alignment.hypothesis, j)) for i, j in alignment.pairs]


def test_case_and_marks_do_not_count() -> None:
    result = aligned("Hello, World! How?", "hello world. HOW")
    assert table(result) == [("hello", "hello"), ("world", "world"), ("how", "how")]


def test_substituted_deleted_and_inserted_words() -> None:
    assert table(aligned("one two three four five", "one too three five six")) == [
        ("one", "one"), ("two", "too"), ("three", "three"), ("four", "-"), ("five", "five"), ("-", "six"),
    ]  # fmt: skip


words = st.lists(st.sampled_from(["a", "b", "c", "d", "the", "The.", "a,"]), max_size=40)


@given(words, words)
def test_every_word_stands_once_and_in_order(reference: list[str], hypothesis: list[str]) -> None:
    result = align(reference, hypothesis)
    pairs = list(result.pairs)
    assert [i for i, _ in pairs if i is not None] == list(range(len(reference)))
    assert [j for _, j in pairs if j is not None] == list(range(len(hypothesis)))


def heard(spoken: list[str], rng: random.Random) -> list[str]:
    """What a recogniser makes of it: 15 words in 100 wrong."""
    result = []
    for word in spoken:
        luck = rng.random()
        if luck < 0.05:
            continue
        result.append(f"w{rng.randrange(20_000)}" if luck < 0.12 else word)
        if luck > 0.97:
            result.append("uh")
    return result


def test_hours_of_speech_take_little_memory() -> None:
    rng = random.Random(1)
    spoken = [f"w{min(int(rng.paretovariate(0.7)), 20_000)}" for _ in range(20_000)]
    hypothesis = heard(spoken, rng)
    tracemalloc.start()
    result = align(spoken, hypothesis)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 2_000 < sum(one != other for one, other in table(result)) < 4_000
    assert peak < 10e6  # a table of both lengths would have 400 MB
