from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.chunks import Chunk, check, halved, kept, merge, split


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int, int]:
    window = draw(st.integers(1, 60))
    overlap = draw(st.integers(0, window - 1))
    return window, overlap, draw(st.integers(0, overlap // 2))


def numbered(chunks: list[Chunk]) -> Iterator[tuple[Chunk, np.ndarray]]:
    """Each row says which word it is for."""
    for chunk in chunks:
        column = np.arange(chunk.start, chunk.stop, dtype=np.float32)
        yield chunk, np.stack([column, -column], axis=1)


@given(st.integers(0, 400), windows(), st.booleans())
def test_merging_what_was_split_covers_each_word_once(count: int, sizes: tuple[int, int, int], blend: bool) -> None:
    window, overlap, cut = sizes
    chunks = split(count, window, overlap)
    merged = merge(chunks, numbered(chunks), cut, count, blend=blend)
    if count:
        np.testing.assert_allclose(merged[:, 0], np.arange(count), rtol=1e-6)
        np.testing.assert_allclose(merged[:, 1], -np.arange(count), rtol=1e-6)
        assert merged.dtype == np.float32
    else:
        assert len(merged) == 0


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


def test_the_words_next_to_an_inner_edge_come_from_the_other_chunk() -> None:
    chunks = split(14, 8, 4)
    assert chunks == [Chunk(0, 8), Chunk(4, 12), Chunk(6, 14)]
    rows = [(chunk, np.full((8, 1), i, np.float32)) for i, chunk in enumerate(chunks)]
    # 0..8 and 4..12 share 4..8, cut at 6; 4..12 and 6..14 share 6..12, cut at 9.
    assert merge(chunks, rows, 2, 14)[:, 0].tolist() == [0] * 6 + [1] * 3 + [2] * 5
    assert [(k.start, k.stop) for k in kept(chunks, 2)] == [(0, 6), (6, 10), (8, 14)]


def test_blending_averages_only_what_is_left_after_the_cut() -> None:
    chunks = split(12, 8, 4)
    rows = [(chunk, np.full((8, 1), i, np.float32)) for i, chunk in enumerate(chunks)]
    assert merge(chunks, rows, 1, 12, blend=True)[:, 0].tolist() == [0] * 5 + [0.5] * 2 + [1] * 5


@given(st.integers(1, 400), windows(), st.booleans())
def test_rows_that_are_called_final_stay_as_they_are(count: int, sizes: tuple[int, int, int], blend: bool) -> None:
    window, overlap, cut = sizes
    chunks = split(count, window, overlap)
    heard: list[tuple[np.ndarray, int]] = []
    # Neighbours that disagree, so that a word's row tells whether all were asked.
    rows = ((chunk, np.full((len(chunk), 1), i, np.float32)) for i, chunk in enumerate(chunks))
    merged = merge(
        chunks, rows, cut, count, blend=blend, settled=lambda so_far, n: heard.append((so_far[:n].copy(), n))
    )
    assert [n for _, n in heard] == sorted(n for _, n in heard)
    assert heard[-1][1] == count
    for so_far, n in heard:
        np.testing.assert_array_equal(so_far, merged[:n])


def test_rows_are_taken_one_by_one() -> None:
    chunks = split(1000, 10, 4)
    alive = 0

    def rows() -> Iterator[tuple[Chunk, np.ndarray]]:
        nonlocal alive
        for chunk in chunks:
            alive += 1
            yield chunk, np.zeros((len(chunk), 3), np.float32)

    merge(chunks, rows(), 2, 1000)
    assert alive == len(chunks)


def test_a_missing_chunk_is_no_silent_gap() -> None:
    chunks = split(30, 10, 4)
    with pytest.raises(ValueError, match="shorter"):
        merge(chunks, list(numbered(chunks))[:-1], 2, 30)
    with pytest.raises(CappuncError, match="cover"):
        merge(chunks, numbered(chunks), 2, 31)


@pytest.mark.parametrize(
    ("window", "overlap", "cut", "message"),
    [
        (0, 0, 0, "at least 1 word"),
        (10, 10, 0, "less than the window"),
        (10, -1, 0, "less than the window"),
        (10, 4, 3, "at most the overlap"),
        (10, 4, -1, "at most the overlap"),
    ],
)
def test_impossible_windows_are_refused(window: int, overlap: int, cut: int, message: str) -> None:
    with pytest.raises(CappuncError, match=message):
        check(window, overlap, cut)


def test_a_cut_that_leaves_a_gap_is_refused() -> None:
    with pytest.raises(CappuncError, match="gap"):
        merge(chunks := split(30, 10, 2), numbered(chunks), 2, 30)


@pytest.mark.parametrize(("count", "window", "overlap"), [(1, 9, 4), (50, 9, 4), (50, 9, 8), (61, 12, 6), (60, 12, 0)])
def test_halves_cover_each_word_once_and_are_what_merging_takes(count: int, window: int, overlap: int) -> None:
    chunks = split(count, window, overlap)
    halves = halved(chunks)
    assert [word for half in halves for word in range(half.start, half.stop)] == list(range(count))
    # Rows of 1 where a chunk's own half is, of 0 elsewhere: merging finds the 1 for every word.
    rows = [
        np.isin(np.arange(c.start, c.stop), np.arange(h.start, h.stop)) for c, h in zip(chunks, halves, strict=True)
    ]
    own = [(chunk, row[:, None].astype(np.float32)) for chunk, row in zip(chunks, rows, strict=True)]
    for cut in range(overlap // 2 + 1):
        assert merge(chunks, own, cut, count).all()
