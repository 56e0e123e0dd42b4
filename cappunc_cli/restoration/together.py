"""Many texts at once, and long ones in a memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, each_probabilities, rewrite
from cappunc_cli.words import Word

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: Words whose marks are decided at a time (five hours of speech), and words to each side that are looked at.
_STRETCH, _SURROUNDINGS = 1 << 15, 512


def restore_all(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[str]]:
    """For each text the new texts of its words, as `pipeline.restore` gives them.

    `progress` hears how many words of all texts the model has read. Raises CappuncError.
    """
    for words, rows in zip(texts, each_probabilities(texts, model, options, progress), strict=True):
        yield rewritten(words, rows, model, options)


def rewritten(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[str]:
    """`pipeline.rewrite` in memory that does not grow with the text: a long one in stretches.

    A stretch is decided together with its surroundings, farther than any sentence or quotation
    should reach.
    """
    new: list[str] = []
    for start in range(0, len(words), _STRETCH):
        stop = min(start + _STRETCH, len(words))
        if len(words) - stop < _SURROUNDINGS:
            stop = len(words)
        first, last = max(start - _SURROUNDINGS, 0), min(stop + _SURROUNDINGS, len(words))
        new += rewrite(words[first:last], rows[first:last], model, options)[start - first : stop - first]
        if stop == len(words):
            break
    return new
