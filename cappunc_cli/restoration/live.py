"""Live captions: restore words while they keep coming.

After Webex's live captions (Cisco, Post-processing in automatic speech recognition systems,
https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems): a bidirectional recurrent
network whose backward direction is limited to a few words of look-ahead, so that the work for a word does not depend
on the length of a meeting (`live_gru.py`). With any other engine, the model reads a bounded window again for each word,
or for a few words at a time, as in Poláček et al. (2025, Speech Communication 173:103269: ELECTRA twice, 4 words of
look-ahead). The window holds the last committed words, which have been output and never change, and the pending ones.
Pending words are decided together, given the committed ones (`rewrite` in pipeline.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cappunc_cli.document.labels import QUOTE_PAIR
from cappunc_cli.document.words import Word
from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, probabilities_of_each, rewrite

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: Default look-ahead in words. On the development sets 0, 2, 4, 8 and 16 give an F1 of 36.8, 64.5, 67.9, 68.3 and 68.3
#: on the marks with the recurrent network (tests/benchmarks/stream.py).
LOOK_AHEAD = 8
#: Committed words that are read again as context. On 2,500 words of each set 32, 48 and 64 give an F1 of 75.0, 76.4 and
#: 75.2, a whole file 74.9; 16 is 5 points worse than 32.
_CONTEXT = 48


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """A request for the model's reading that a stream needs to commit its first `count` pending words.

    `window` is what the model reads. If the text `continues`, it does not end with the last word; `silence` is then the
    time since that word (ms), if known.
    """

    count: int
    continues: bool
    silence: int | None
    window: Any


class LiveRestorer:
    """Takes words as they are spoken and returns the new text of each, once, in order, and for good.

    The work and memory for a word depend only on `look_ahead`.
    """

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """Commit a word once `look_ahead` words have come after it, at least `every` words at a time.

        `existing` auto means replace here, since what a text lacks is known only at its end. Raises WrongUsage if the
        options ask for quotation marks, which could be opened and never closed.
        """
        options = options or Options()
        if look_ahead < 0:
            raise WrongUsage(f"the look-ahead must be at least 0 words, not {look_ahead}")
        if every < 1:
            raise WrongUsage(f"at least 1 word must be output at a time, not {every}")
        if options.paired_marks(model.config) & QUOTE_PAIR:
            raise WrongUsage("quotation marks cannot be restored live: the end of a quotation is not known in time")
        self._model, self._look_ahead, self._every = model, look_ahead, every
        self._options = replace(options, existing="replace") if options.existing == "auto" else options
        #: The last committed words followed by the pending ones, and the texts of the former.
        self._words: list[Word] = []
        self._committed: list[str] = []

    @property
    def pending(self) -> int:
        """The number of words that are not committed yet."""
        return len(self._words) - len(self._committed)

    def feed(self, word: Word) -> list[str]:
        """Add the next word, and return the texts of the words that are due; raises CappuncError."""
        self.add(word)
        return self._answer(self.due())

    def flush(self, count: int | None = None, silence: int | None = None) -> list[str]:
        """Commit the first `count` pending words (None: all) without waiting for more, and return their texts.

        `silence` is the time since the last word (ms), if known. Raises CappuncError.
        """
        return self._answer(self.request(self.pending if count is None else min(count, self.pending), True, silence))

    def end(self) -> list[str]:
        """End the text with the last word, and return the texts of all pending words; raises CappuncError.

        The next word begins a new text.
        """
        texts = self._answer(self.request(self.pending, False))
        self.reset()
        return texts

    def add(self, word: Word) -> None:
        """Add the next word."""
        self._words.append(word)

    def follow(self) -> None:
        """Note that part of the sentence that is not a word comes right after the last word (see `Word.followed`)."""
        if self.pending:
            self._words[-1] = replace(self._words[-1], followed=True)

    def due(self) -> LiveRequest | None:
        """The request for the words that have enough look-ahead; None if there are too few."""
        count = self.pending - self._look_ahead
        return self.request(count if count >= self._every else 0, True)

    def request(self, count: int, continues: bool, silence: int | None = None) -> LiveRequest | None:
        """The request for the first `count` pending words; None if `count` is 0."""
        return LiveRequest(count, continues, silence, self._window(count, silence)) if count > 0 else None

    def _answer(self, request: LiveRequest | None) -> list[str]:
        if request is None:
            return []
        (reading,) = self.read([request])
        return self.take(request, reading)

    def read(self, requests: Sequence[LiveRequest]) -> list[Any]:
        """Run the model for requests of several streams with this model and these options; raises CappuncError.

        Between its request and `take`, a stream must neither get nor commit any words.
        """
        found: dict[int, Rows] = {}
        without_silence = [i for i, request in enumerate(requests) if request.silence is None]
        # `after` applies to the last text only, so requests with a silence are read one by one.
        for group in [without_silence, *([i] for i in range(len(requests)) if i not in without_silence)]:
            texts, silence = [requests[i].window for i in group], requests[group[0]].silence if group else None
            if texts:
                found.update(
                    zip(
                        group,
                        probabilities_of_each(texts, self._model, self._options, after=silence, together=False),
                        strict=True,
                    )
                )
        return [found[i] for i in range(len(requests))]

    def take(self, request: LiveRequest, reading: Any) -> list[str]:
        """Commit the words of a request, given the model's reading of it, and return their texts."""
        new = rewrite(self._words, reading, self._model, self._options, self._committed, request.continues)
        texts = new[len(self._committed) : len(self._committed) + request.count]
        self._commit(texts)
        return texts

    def reset(self) -> None:
        """Begin a new text; pending words are discarded."""
        self._words, self._committed = [], []

    def _window(self, _count: int, _silence: int | None) -> Any:
        return list(self._words)

    def _commit(self, texts: Sequence[str]) -> None:
        self._committed += texts
        dropped = max(len(self._committed) - _CONTEXT, 0)
        del self._committed[:dropped], self._words[:dropped]
