"""Split a long text into overlapping windows, and merge their rows again.

After Nguyen et al. 2019, section 3.2: words near the edge of a window lack context, so neighbouring windows overlap.
Of the words that two of them share, the first window drops the last `min_words_cut`, the second one the rest.
Everything goes by word index; words are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import CappuncError

#: Rows of probabilities, [words, labels].
Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The words `start` to `stop` (exclusive), of which the first `before` and the last `after` are only context."""

    start: int
    stop: int
    before: int = 0
    after: int = 0

    def __len__(self) -> int:
        return self.stop - self.start

    def moved(self, by: int) -> Chunk:
        """This chunk with all its indices moved by `by` words."""
        return replace(self, start=self.start + by, stop=self.stop + by)


def split(count: int, window: int, overlap: int, min_words_cut: int | None = None) -> list[Chunk]:
    """Split `count` words into windows of `window` words that share `overlap` words with their neighbours.

    Of the words that two windows share, the first one drops `min_words_cut` (by default half of them), the second one
    the rest. The last window is moved left until it is full, so that its words have as much context as all others; the
    words that it then shares are cut in the same proportion, or in the middle if the overlap is 0. The sizes must be
    valid for `registry.check_windows`.
    """
    numerator, denominator = (min_words_cut, overlap) if min_words_cut is not None and overlap else (1, 2)
    if count < 1:
        return []
    last = max(count - window, 0)
    starts = [*range(0, last, window - overlap), last]
    shared = [max(left + window - right, 0) for left, right in pairwise(starts)]
    dropped = [-(-words * numerator // denominator) for words in shared]
    befores = [0, *(words - cut for words, cut in zip(shared, dropped, strict=True))]
    return [
        Chunk(start, min(start + window, count), before, after)
        for start, before, after in zip(starts, befores, [*dropped, 0], strict=True)
    ]


def merge(chunks: Sequence[Chunk], rows: Iterable[tuple[Chunk, Rows]], count: int) -> Rows:
    """Merge the rows of `chunks` into one array [count, labels].

    `rows` yields each chunk with its array [len(chunk), labels], in the order of `chunks`; it may be a generator.
    Raises CappuncError unless the chunks keep each of the `count` words exactly once.
    """
    if not chunks:
        return np.zeros((0, 0), np.float32)
    # Each chunk's own words begin where those of the one before it end.
    ends = [0, *(chunk.stop - chunk.after for chunk in chunks)]
    if [chunk.start + chunk.before for chunk in chunks] != ends[:-1] or ends[-1] != count:
        raise CappuncError(f"the chunks do not cover the {count} words")
    # Copies: views would keep the rows of every chunk.
    read = zip(chunks, pairwise(ends), rows, strict=True)
    return np.concatenate([rows[a - chunk.start : b - chunk.start].copy() for chunk, (a, b), (_, rows) in read])
