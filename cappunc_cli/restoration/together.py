"""Many texts at once: their windows share batches, so that it does not matter how words are cut into files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from cappunc_cli.restoration.chunks import Chunk, merge, split
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, rewrite, stripped
from cappunc_cli.words import Word, pauses, turn_ends

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
    window, overlap, cut = options.windows(model.config)
    bare = [stripped(word.text)[0] for words in texts for word in words]
    silence: list[int | None] = list(chain.from_iterable(map(pauses, texts)))
    if not options.pauses:
        silence = [None] * len(bare)
    turns = list(chain.from_iterable(map(turn_ends, texts)))
    chunks = [split(len(words), window, overlap) for words in texts]
    rows = model.engine.predict(bare, silence, turns, _placed(chunks, texts))
    offset = 0
    for words, own in zip(texts, chunks, strict=True):
        found = _own(islice(rows, len(own)), offset, progress)
        yield rewritten(words, merge(own, found, cut, len(words), blend=model.config.blend), model, options)
        offset += len(words)


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


def _placed(chunks: Sequence[Sequence[Chunk]], texts: Sequence[Sequence[Word]]) -> list[Chunk]:
    """The chunks of all texts as one row of words has them."""
    placed = []
    offset = 0
    for own, words in zip(chunks, texts, strict=True):
        placed += [Chunk(chunk.start + offset, chunk.stop + offset) for chunk in own]
        offset += len(words)
    return placed


def _own(
    rows: Iterator[tuple[Chunk, Rows]], offset: int, progress: Callable[[int], None] | None
) -> Iterator[tuple[Chunk, Rows]]:
    for chunk, values in rows:
        yield Chunk(chunk.start - offset, chunk.stop - offset), values
        if progress is not None:
            progress(chunk.stop)
