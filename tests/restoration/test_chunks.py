from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from commands import TINY
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.models.network import Chunk, split
from cappunc_cli.restoration.models.registry import ModelConfig

CONFIG = ModelConfig.load(TINY)


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int, int]:
    window = draw(st.integers(1, 60))
    overlap = draw(st.integers(0, window - 1))
    return window, overlap, draw(st.integers(0, overlap))


@given(st.integers(0, 400), windows())
def test_the_chunks_keep_each_word_once(count: int, sizes: tuple[int, int, int]) -> None:
    kept = [chunk.kept(np.arange(chunk.start, chunk.stop)[:, None]) for chunk in split(count, *sizes)]
    assert [word for rows in kept for word in rows[:, 0].tolist()] == list(range(count))


@given(st.integers(1, 400), windows())
def test_windows_are_full_and_share_the_overlap(count: int, sizes: tuple[int, int, int]) -> None:
    window, overlap, _ = sizes
    chunks = split(count, window, overlap)
    assert chunks[0].start == 0
    assert chunks[-1].stop == count
    assert all(len(chunk) == min(window, count) for chunk in chunks)
    shared = [left.stop - right.start for left, right in pairwise(chunks)]
    assert all(words == overlap for words in shared[:-1])
    assert all(overlap <= words < window for words in shared[-1:])


def owners(count: int, window: int, overlap: int, cut: int | None) -> list[int]:
    """For each word the number of the chunk that its row comes from."""
    chunks = split(count, window, overlap, cut)
    return [i for i, chunk in enumerate(chunks) for _ in chunk.kept(np.zeros((len(chunk), 1), np.float32))]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        # Chunks of the words 0-7, 4-11 and 6-13: the first pair shares four words, the last six.
        (0, [0] * 8 + [1] * 4 + [2] * 2),
        (1, [0] * 7 + [1] * 3 + [2] * 4),
        (2, [0] * 6 + [1] * 3 + [2] * 5),
        (3, [0] * 5 + [1] * 2 + [2] * 7),
        (4, [0] * 4 + [1] * 2 + [2] * 8),
        (None, [0] * 6 + [1] * 3 + [2] * 5),
    ],
)
def test_the_words_cut_at_the_end_of_a_chunk_come_from_the_next(cut: int | None, expected: list[int]) -> None:
    assert [(c.start, c.stop) for c in split(14, 8, 4, cut)] == [(0, 8), (4, 12), (6, 14)]
    assert owners(14, 8, 4, cut) == expected


@given(st.integers(1, 400), windows())
def test_each_chunk_but_the_last_two_loses_exactly_the_words_cut(count: int, sizes: tuple[int, int, int]) -> None:
    window, overlap, cut = sizes
    own = owners(count, window, overlap, cut)
    assert own == sorted(own)
    assert set(own) == set(range(len(split(count, window, overlap))))
    stops = [len(own) - own[::-1].index(i) for i in sorted(set(own))]
    lost = [min(i * (window - overlap) + window, count) - stop for i, stop in enumerate(stops)]
    # Only the last two chunks may share more than the overlap; they are cut in the same proportion.
    assert all(words == cut for words in lost[:-2])
    assert all(words >= cut for words in lost[-2:-1])
    assert lost[-1:] in ([0], [min((len(stops) - 1) * (window - overlap) + window, count) - count])


@given(st.integers(1, 400), windows())
def test_by_default_each_word_comes_from_the_chunk_with_the_most_context(
    count: int, sizes: tuple[int, int, int]
) -> None:
    window, overlap, _ = sizes
    chunks = split(count, window, overlap)
    for word, i in enumerate(owners(count, window, overlap, None)):
        left, right = chunks[max(i - 1, 0)], chunks[min(i + 1, len(chunks) - 1)]

        def context(chunk: Chunk, word: int = word) -> int:
            return min(
                word - chunk.start if chunk.start else count, chunk.stop - 1 - word if chunk.stop < count else count
            )

        assert context(chunks[i]) + 1 >= max((context(c) for c in (left, right) if c.start <= word < c.stop), default=0)


@pytest.mark.parametrize(
    ("window", "overlap", "cut", "message"),
    [
        (0, 0, 0, "at least 1 word"),
        (10, 10, 0, "less than the window"),
        (10, -1, 0, "less than the window"),
        (10, 4, 5, "at most the overlap"),
        (10, 4, -1, "at most the overlap"),
    ],
)
def test_invalid_window_sizes_are_refused(window: int, overlap: int, cut: int, message: str) -> None:
    with pytest.raises(CappuncError, match=message):
        CONFIG.windows(replace(CONFIG, window=window, overlap=overlap, min_words_cut=cut))
