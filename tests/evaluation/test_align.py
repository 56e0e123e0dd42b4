from __future__ import annotations

import random
import tracemalloc

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.evaluation.align import Alignment, align, tokens


def aligned(reference: str, hypothesis: str) -> Alignment:
    return align(tokens(reference.split()), tokens(hypothesis.split()))


def table(alignment: Alignment) -> list[tuple[str, str]]:
    """Bare words side by side, `-` for none."""

    def word(side: object, i: int | None) -> str:
        return "-" if i is None else side[i].bare  # type: ignore[index]

    return [(word(alignment.reference, i), word(alignment.hypothesis, j)) for i, j in alignment.pairs()]


def test_case_and_marks_do_not_count() -> None:
    result = aligned("Hello, World! How?", "hello world. HOW")
    assert table(result) == [("hello", "hello"), ("world", "world"), ("how", "how")]
    assert [run.equal for run in result.runs] == [True]


def test_substituted_deleted_and_inserted_words() -> None:
    assert table(aligned("one two three four five", "one too three five six")) == [
        ("one", "one"), ("two", "too"), ("three", "three"), ("four", "-"), ("five", "five"), ("-", "six"),
    ]  # fmt: skip


@pytest.mark.parametrize(("reference", "hypothesis"), [("", ""), ("a", ""), ("", "a"), ("a b", "c")])
def test_nothing_on_a_side(reference: str, hypothesis: str) -> None:
    pairs = list(aligned(reference, hypothesis).pairs())
    assert len(pairs) == max(len(reference.split()), len(hypothesis.split()))


words = st.lists(st.sampled_from(["a", "b", "c", "d", "the", "The.", "a,"]), max_size=40)


@given(words, words)
def test_every_word_stands_once_and_in_order(reference: list[str], hypothesis: list[str]) -> None:
    result = align(tokens(reference), tokens(hypothesis))
    pairs = list(result.pairs())
    assert [i for i, _ in pairs if i is not None] == list(range(len(reference)))
    assert [j for _, j in pairs if j is not None] == list(range(len(hypothesis)))
    for run in result.runs:
        beside = zip(
            result.reference[run.start : run.stop], result.hypothesis[run.other_start : run.other_stop], strict=False
        )
        assert not run.equal or all(a.bare == b.bare for a, b in beside)


@given(words.filter(bool), words)
def test_as_few_word_errors_as_jiwer_finds(reference: list[str], hypothesis: list[str]) -> None:
    result = align(tokens(reference), tokens(hypothesis))
    errors = sum(
        i is None or j is None or result.reference[i].bare != result.hypothesis[j].bare for i, j in result.pairs()
    )
    ours, theirs = (" ".join(t.bare for t in side) for side in (result.reference, result.hypothesis))
    expected = jiwer.process_words(ours, theirs)
    assert errors == expected.substitutions + expected.deletions + expected.insertions


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
    spoken = [f"w{min(int(rng.paretovariate(0.7)), 20_000)}" for _ in range(100_000)]
    reference, hypothesis = tokens(spoken), tokens(heard(spoken, rng))
    tracemalloc.start()
    result = align(reference, hypothesis)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 10_000 < sum(not run.equal for run in result.runs) < 20_000
    assert peak < 50e6  # a table of both lengths would have 10 GB
