"""Cut a long text into overlapping windows, and join their rows again: two inverses side by side.

After Nguyen et al. 2019, section 3.2: a word near the edge of a window lacks context, so
neighbours overlap and each drops the words nearest its inner edge. Everything goes by word
index; words are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cappunc_cli.errors import CappuncError, WrongUsage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    #: Rows of probabilities, [words, labels].
    Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The words `start` up to, not including, `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def check(window: int, overlap: int, min_words_cut: int) -> None:
    """Raise WrongUsage unless such windows, cut so, cover every word."""
    if window < 1:
        raise WrongUsage(f"the window must be at least 1 word, not {window}")
    if not 0 <= overlap < window:
        raise WrongUsage(f"the overlap must be from 0 to {window - 1} words (less than the window), not {overlap}")
    if min_words_cut < 0 or 2 * min_words_cut > overlap:
        raise WrongUsage(
            f"{min_words_cut} words cut at each inner edge: twice that must be at most the overlap ({overlap} words)"
        )


def split(count: int, window: int, overlap: int) -> list[Chunk]:
    """Windows of `window` words over `count` words, each neighbour pair sharing `overlap`.

    The last window is moved left until it is full, so that its words have as much context
    as all others; it then shares more with its neighbour.
    """
    check(window, overlap, 0)
    if count < 1:
        return []
    last = max(count - window, 0)
    starts = [*range(0, last, window - overlap), last]
    return [Chunk(start, min(start + window, count)) for start in starts]


def kept(chunks: Sequence[Chunk], min_words_cut: int) -> list[Chunk]:
    """What each chunk keeps when the words of its inner edges are dropped.

    Neighbours may still share words then. Raises CappuncError where they would leave a gap.
    """
    result: list[Chunk] = []
    for i, chunk in enumerate(chunks):
        start = chunk.start + min_words_cut if i else chunk.start
        stop = chunk.stop - min_words_cut if i + 1 < len(chunks) else chunk.stop
        if i and start > result[-1].stop:
            raise CappuncError(f"{min_words_cut} words cut at each inner edge leave a gap before word {start}")
        result.append(Chunk(start, stop))
    return result


def halved(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Each word to one chunk: what neighbours share is cut in its middle.

    Whatever words `kept` drops at the edges of both, the middle is the same.
    """
    starts, stops = [chunk.start for chunk in chunks], [chunk.stop for chunk in chunks]
    for i, (left, right) in enumerate(pairwise(chunks)):
        if left.start <= right.start < left.stop:
            stops[i] = starts[i + 1] = (left.stop + right.start) // 2
    return [Chunk(start, stop) for start, stop in zip(starts, stops, strict=True)]


def merge(
    chunks: Sequence[Chunk],
    rows: Iterable[tuple[Chunk, Rows]],
    min_words_cut: int,
    count: int,
    *,
    blend: bool = False,
    settled: Callable[[Rows, int], None] | None = None,
) -> Rows:
    """Join the rows of `chunks` into one array [count, labels], each word covered exactly once.

    `rows` yields each chunk with its array [len(chunk), labels], in the order of `chunks`,
    and may be a generator: only the result is held. Words that neighbours still share after
    the cut are divided in the middle or, with `blend`, averaged. `settled` hears, after each
    chunk, the array and how many of its rows, from the first, are final. Raises CappuncError
    if the chunks leave a gap.
    """
    import numpy as np  # here: a listing of models reads their configs, which need no numpy

    if not chunks:
        return np.zeros((0, 0), np.float32)
    ranges = kept(chunks, min_words_cut)
    if not blend:
        ranges = halved(ranges)
    if ranges[0].start != 0 or ranges[-1].stop != count:
        raise CappuncError(f"the chunks do not cover the {count} words")
    merged: Rows | None = None
    votes = np.zeros((count, 1), np.float32)
    finals = [*(part.start for part in ranges[1:]), count]
    final = 0
    for part, after, (chunk, values) in zip(ranges, finals, rows, strict=True):
        if merged is None:
            merged = np.zeros((count, values.shape[1]), np.float32)
        merged[part.start : part.stop] += values[part.start - chunk.start : part.stop - chunk.start]
        votes[part.start : part.stop] += 1
        if blend:
            merged[final:after] /= votes[final:after]
        final = after
        if settled is not None:
            settled(merged, final)
    assert merged is not None  # chunks is not empty and zip is strict
    return merged
