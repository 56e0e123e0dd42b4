"""Many texts at once, and long ones in a memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, probabilities_of_each, rewrite, with_paragraphs
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: Words whose marks are decided at a time (an hour of speech), and words to each side that are looked at.
_STRETCH, _SURROUNDINGS = 1 << 13, 512


def restore_all(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[str]]:
    """For each text the new texts of its words, as `pipeline.restore` gives them.

    A long text's beginning is decided while the model reads on. `progress` hears how many words of all texts the
    model has read. Raises CappuncError.
    """
    texts = [with_paragraphs(words, model, options) for words in texts]
    decisions = [Decisions(words, model, options) for words in texts]
    rows = probabilities_of_each(texts, model, options, progress, [decided.take for decided in decisions])
    for decided in decisions:
        next(rows)  # kept nowhere while the result is written: a text's rows are many times as large as the text
        yield decided.new


def rewrite_long(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[str]:
    """`pipeline.rewrite` in memory that does not grow with the text: a long one in stretches."""
    decisions = Decisions(words, model, options)
    decisions.take(rows, len(rows))
    return decisions.new


class Decisions:
    """The `new` texts of words from their beginning on, as far as the model's rows allow.

    A stretch is decided together with its surroundings, farther than any sentence or quotation
    should reach; how its captions break is learnt from these alone.
    """

    def __init__(self, words: Sequence[Word], model: Model, options: Options) -> None:
        self.new: list[str] = []
        self._words, self._model, self._options = words, model, options

    def take(self, rows: Rows, known: int) -> None:
        """Decide what can be decided now that the first `known` rows are final."""
        count = len(self._words)
        while (start := len(self.new)) < count:
            stop = min(start + _STRETCH, count)
            if count - stop < _SURROUNDINGS:
                stop = count
            first, last = max(start - _SURROUNDINGS, 0), min(stop + _SURROUNDINGS, count)
            if last > known:
                return
            new = rewrite(self._words[first:last], rows[first:last], self._model, self._options)
            self.new += new[start - first : stop - first]
