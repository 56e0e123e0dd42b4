"""Split a long text into overlapping windows, and merge their rows again.

After Nguyen et al. 2019, section 3.2: words near the edge of a window lack context, so neighbouring windows overlap.
Of the words that two of them share, the first window drops the last `min_words_cut`, the second one the rest.
Everything goes by word index; words are never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

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


def split(count: int, window: int, overlap: int, min_words_cut: int | None = None, first: int = 0) -> list[Chunk]:
    """Split `count` words from the `first` on into windows of `window` words; neighbours share `overlap` words.

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
        Chunk(first + start, first + min(start + window, count), before, after)
        for start, before, after in zip(starts, befores, [*dropped, 0], strict=True)
    ]


def merge(read: Iterable[tuple[Chunk, Rows]], progress: Callable[[int], None] | None = None) -> Rows:
    """Merge the rows [len(chunk), labels] of all chunks of a text, in order, into one array [words, labels].

    `read` may be a generator; `progress` is called with the `stop` of each chunk.
    """
    kept = [np.zeros((0, 0), np.float32)]
    for chunk, rows in read:
        # Copies: views would keep the rows of every chunk.
        kept.append(rows[chunk.before : len(rows) - chunk.after].copy())
        if progress is not None:
            progress(chunk.stop)
    return np.concatenate(kept[1:] or kept)
