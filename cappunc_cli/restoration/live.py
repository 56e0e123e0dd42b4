"""Live captions: restore words while they keep coming.

After Webex's live captions (Cisco, Post-processing in automatic speech recognition systems,
https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems): a bidirectional recurrent
network whose backward direction is limited to a few words of look-ahead, so that the work for a word does not depend
on the length of a meeting (`LiveGruRestorer`). With any other engine, the model reads a bounded window again for each
word, or for a few words at a time, as in Poláček et al. (2025, Speech Communication 173:103269: ELECTRA twice, 4 words
of look-ahead). The window holds the last committed words, which have been output and never change, and the pending
ones. Pending words are decided as in a file, given the committed ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from cappunc_cli.document.labels import QUOTE_PAIR, cached_strip
from cappunc_cli.document.pauses import pauses, turn_ends
from cappunc_cli.document.words import Word
from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.decoding.decoder import decode
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.recurrent import GruEngine, GruReading, GruWindow, Kept
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Parted, probabilities_of_each, read_passage, written
from cappunc_cli.restoration.tuned import CONTEXT, LOOK_AHEAD

#: Committed words whose probabilities the recurrent network keeps, to decide pending words together with them.
_ROWS = 8


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
        self._lexicon = model.lexicons[self._options.conventions(model.config).code]
        #: The last committed words followed by the pending ones, and the texts of the former. Words that are glued
        #: together (`home--I`) are several here.
        self._words: list[Word] = []
        self._committed: list[str] = []
        #: The words, as they were added, whose texts have not been returned, and the texts of the first one's parts.
        self._added: deque[Parted] = deque()
        self._parts: list[str] = []

    @property
    def pending(self) -> int:
        """The number of words whose texts have not been returned yet."""
        return len(self._added)

    def feed(self, word: Word) -> list[str]:
        """Add the next word, and return the texts of the words that are due; raises CappuncError."""
        self.add(word)
        return self._answer(self.due())

    def flush(self, count: int | None = None, silence: int | None = None) -> list[str]:
        """Commit the first `count` pending words (None: all) without waiting for more, and return their texts.

        `silence` is the time since the last word (ms), if known. Raises CappuncError.
        """
        return self._answer(self.request(count, True, silence))

    def end(self) -> list[str]:
        """End the text with the last word, and return the texts of all pending words; raises CappuncError.

        The next word begins a new text.
        """
        texts = self._answer(self.request(None, False))
        self.reset()
        return texts

    def add(self, word: Word) -> None:
        """Add the next word."""
        parted = Parted.of([word], self._lexicon)
        self._added.append(parted)
        for part in parted.parts:
            self._add(part)

    def _add(self, word: Word) -> None:
        self._words.append(word)

    def follow(self) -> None:
        """Note that part of the sentence that is not a word comes right after the last word (see `Word.followed`)."""
        if self.pending:
            self._words[-1] = replace(self._words[-1], followed=True)

    def due(self) -> LiveRequest | None:
        """The request for the words that have enough look-ahead; None if there are too few."""
        count = len(self._words) - len(self._committed) - self._look_ahead
        return self._request(count if count >= self._every else 0, True)

    def request(self, count: int | None, continues: bool, silence: int | None = None) -> LiveRequest | None:
        """The request for the first `count` pending words (None: all); None if there are none."""
        parts = sum(len(one.parts) for one in islice(self._added, count)) - len(self._parts)
        return self._request(parts, continues, silence)

    def _request(self, count: int, continues: bool, silence: int | None = None) -> LiveRequest | None:
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
        windows, silences = [request.window for request in requests], [request.silence for request in requests]
        return list(probabilities_of_each(windows, self._model, self._options, live=silences))

    def take(self, request: LiveRequest, reading: Any) -> list[str]:
        """Commit the words of a request, given the model's reading of it, and return their texts."""
        texts = self._decided(self._words, reading, self._committed, request)
        return self._commit(texts)

    def _decided(self, words: Sequence[Word], rows: Rows, committed: Sequence[str], request: LiveRequest) -> list[str]:
        """The texts of the words of a request, of which there are `rows`, as of the `committed` ones before them."""
        passage = read_passage(words, rows, self._model, self._options, live=bool(committed) or request.continues)
        passage.continues = request.continues
        labels = decode(passage, [cached_strip(text)[1] for text in committed])
        return written(words, passage, labels)[len(committed) : len(committed) + request.count]

    def reset(self) -> None:
        """Begin a new text; pending words are discarded."""
        self._words, self._committed, self._parts = [], [], []
        self._added.clear()

    def _window(self, _count: int, _silence: int | None) -> Any:
        return list(self._words)

    def _commit(self, texts: Sequence[str]) -> list[str]:
        """Commit words, and return the texts of those that are whole."""
        self._committed += texts
        dropped = max(len(self._committed) - CONTEXT, 0)
        del self._committed[:dropped], self._words[:dropped]
        self._parts += texts
        whole = []
        while self._added and len(self._parts) >= (count := len(self._added[0].parts)):
            whole += self._added.popleft().joined(self._parts[:count])
            del self._parts[:count]
        return whole


class LiveGruRestorer(LiveRestorer):
    """A live stream for a recurrent model, whose state is carried from word to word: constant work per word."""

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """See `LiveRestorer`; raises WrongUsage."""
        super().__init__(model, options, look_ahead, every)
        assert isinstance(model.engine, GruEngine)
        self._engine = model.engine
        #: The pause after each of `_words` (ms), None while unknown.
        self._pauses: list[int | None] = []
        #: The engine's states of the last committed word and of the pending words that were read; None at the start.
        self._kept: Kept | None = None
        #: The probabilities of the last committed words.
        self._rows: deque[Rows] = deque(maxlen=_ROWS)

    def _add(self, word: Word) -> None:
        super()._add(word)
        if self._pauses and self._options.pauses:
            # Without a start, it does not depend on the pace of the words before.
            known = self._words if word.start is not None else self._words[-2:]
            self._pauses[-1] = pauses(known)[-2]
        self._pauses.append(None)

    def read(self, requests: Sequence[LiveRequest]) -> list[Any]:
        return self._engine.read([request.window for request in requests])

    def take(self, request: LiveRequest, reading: GruReading) -> list[str]:
        rows, start = [*self._rows, *reading.rows], len(self._committed) - len(self._rows)
        words, committed = self._words[start:][: len(rows)], self._committed[start:]
        texts = self._decided(words, np.array(rows), committed, request)
        self._rows.extend(reading.rows[: request.count])
        # The state of the last word is not kept: the pause after it may not have been known.
        self._kept = reading.kept[request.count : max(len(request.window.words), request.count + 1)].copy()
        whole = self._commit(texts)
        del self._pauses[: len(self._pauses) - len(self._words)]
        return whole

    def reset(self) -> None:
        super().reset()
        self._pauses, self._kept = [], None
        self._rows.clear()

    def _window(self, count: int, silence: int | None) -> GruWindow:
        first = len(self._committed)
        pending = self._words[first:]
        bare = [cached_strip(word.text)[0] for word in pending]
        gaps = [*self._pauses[first:-1], silence if self._options.pauses else None]
        # One word more: a mark is decided together with the case of the next word.
        return GruWindow(bare, gaps, turn_ends(pending), min(count + 1, len(pending)), self._kept)


def live_restorer(
    model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
) -> LiveRestorer:
    """A live stream for a model of any engine; raises WrongUsage."""
    kind = LiveGruRestorer if isinstance(model.engine, GruEngine) else LiveRestorer
    return kind(model, options, look_ahead, every)
