"""Cut a long text into overlapping windows, and join their rows again: two inverses side by side.

After Nguyen et al. 2019, section 3.2: a word near the edge of a window lacks context, so
neighbours overlap, and of the words that two share `min_words_cut` at the end of the first and
the others at the beginning of the second are dropped. Everything goes by word index; words are
never compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
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
    """The words `start` up to, not including, `stop`; its first `before` and last `after` words are context alone."""

    start: int
    stop: int
    before: int = 0
    after: int = 0

    def __len__(self) -> int:
        return self.stop - self.start

    def moved(self, by: int) -> Chunk:
        """The same chunk of a text that begins `by` words earlier."""
        return replace(self, start=self.start + by, stop=self.stop + by)

    @property
    def kept(self) -> range:
        """The words whose rows come from this chunk."""
        return range(self.start + self.before, self.stop - self.after)

    @property
    def own(self) -> slice:
        """Where the rows of `kept` lie in those of the chunk."""
        return slice(self.before, len(self) - self.after)


def check(window: int, overlap: int, min_words_cut: int) -> None:
    """Raise WrongUsage unless such windows, cut so, cover every word."""
    if window < 1:
        raise WrongUsage(f"the window must be at least 1 word, not {window}")
    if not 0 <= overlap < window:
        raise WrongUsage(f"the overlap must be from 0 to {window - 1} words (less than the window), not {overlap}")
    if not 0 <= min_words_cut <= overlap:
        raise WrongUsage(f"the words cut must be from 0 to {overlap} (at most the overlap), not {min_words_cut}")


def split(count: int, window: int, overlap: int, min_words_cut: int | None = None) -> list[Chunk]:
    """Windows of `window` words over `count` words, each neighbour pair sharing `overlap`.

    Of the words that a pair shares the first drops `min_words_cut` (without it half of them), the
    second the others. The last window is moved left until it is full, so that its words have as
    much context as all others; what it shares beyond the overlap is cut in the same proportion,
    without an overlap in the middle. The three numbers are such as `check` lets through.
    """
    part, whole = (min_words_cut, overlap) if min_words_cut is not None and overlap else (1, 2)
    if count < 1:
        return []
    last = max(count - window, 0)
    starts = [*range(0, last, window - overlap), last]
    shared = [max(left + window - right, 0) for left, right in pairwise(starts)]
    dropped = [-(-words * part // whole) for words in shared]
    befores = [0, *(words - cut for words, cut in zip(shared, dropped, strict=True))]
    return [
        Chunk(start, min(start + window, count), before, after)
        for start, before, after in zip(starts, befores, [*dropped, 0], strict=True)
    ]


def merge(
    chunks: Sequence[Chunk],
    rows: Iterable[tuple[Chunk, Rows]],
    count: int,
    *,
    settled: Callable[[Rows, int], None] | None = None,
) -> Rows:
    """Join the rows of `chunks` into one array [count, labels], each word covered exactly once.

    `rows` yields each chunk with its array [len(chunk), labels], in the order of `chunks`,
    and may be a generator: only the result is held. `settled` hears, after each chunk, the array
    and how many of its rows, from the first, are final. Raises CappuncError unless the words
    that the chunks keep follow one another from the first of `count` to the last.
    """
    import numpy as np  # here: a listing of models reads their configs, which need no numpy

    if not chunks:
        return np.zeros((0, 0), np.float32)
    stops = [0, *(chunk.kept.stop for chunk in chunks)]
    if [chunk.kept.start for chunk in chunks] != stops[:-1] or stops[-1] != count:
        raise CappuncError(f"the chunks do not cover the {count} words")
    merged: Rows | None = None
    for chunk, (_, values) in zip(chunks, rows, strict=True):
        if merged is None:
            merged = np.zeros((count, values.shape[1]), np.float32)
        merged[chunk.kept.start : chunk.kept.stop] = values[chunk.own]
        if settled is not None:
            settled(merged, chunk.kept.stop)
    assert merged is not None  # chunks is not empty and zip is strict
    return merged
