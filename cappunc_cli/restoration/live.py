"""The same steps on words that keep coming: live captions.

After Webex's live captions (Cisco, Post-processing in automatic speech recognition systems,
https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems): a recurrent network whose
way back is cut to a few words of look-ahead, so that each word costs the same however long a meeting is
(`live_gru.py`). Or a transformer reads a bounded window anew, for each word or for a few at a time, as that of
Poláček et al. does (2025, Speech Communication 173:103269: ELECTRA twice, 4 words of look-ahead): what was given out,
as far as it is remembered, and what waits. What was given out binds what follows, and what waits is decided together
(decode.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, probabilities_of_each, rewrite
from cappunc_cli.transcript.labels import QUOTE_PAIR
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: Words that a word waits for unless told otherwise. On the sets for development 0, 2, 4, 8 and 16 give 36.8, 64.5,
#: 67.9, 68.3 and 68.3 on the marks with the recurrent network (tests/benchmarks/stream.py).
LOOK_AHEAD = 8
#: Words given out that are read again with those to come. On 2,500 words of each, 32, 48 and 64 give 75.0, 76.4 and
#: 75.2, the whole file 74.9; 16 loses 5 points to 32.
_CONTEXT = 48


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """What a stream has to be told of its words before it can give out the first `count` of those that wait.

    `window` is what its model reads; a text that `goes_on` does not end with the last word. `silence`: for so long
    nothing has been said after it (ms), if that is known.
    """

    count: int
    goes_on: bool
    silence: int | None
    window: Any


class LiveRestorer:
    """Takes words as they are said; gives the new text of each once, in their order, and takes none back.

    Its work and memory for a word depend on `look_ahead` alone.
    """

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """A word is given out when `look_ahead` words after it are there, and so many come out `every` time.

        What a stretch of text lacks is known only when it is over: `existing` auto is replace here. Raises
        WrongUsage where quotation marks are asked for: one that is opened could stay open.
        """
        options = options or Options()
        if look_ahead < 0:
            raise WrongUsage(f"the look-ahead must be at least 0 words, not {look_ahead}")
        if every < 1:
            raise WrongUsage(f"at least 1 word is given out at a time, not {every}")
        if options.paired_marks(model.config) & QUOTE_PAIR:
            raise WrongUsage("quotation marks cannot be restored live: nobody knows yet where a quotation ends")
        self._model, self._look_ahead, self._every = model, look_ahead, every
        self._options = replace(options, existing="replace") if options.existing == "auto" else options
        #: The last words given out, with their texts, and behind them those that wait.
        self._words: list[Word] = []
        self._given: list[str] = []

    @property
    def pending(self) -> int:
        """How many words wait."""
        return len(self._words) - len(self._given)

    def feed(self, word: Word) -> list[str]:
        """Take the next word; the texts of those that have waited long enough. Raises CappuncError."""
        self.add(word)
        return self._told(self.due())

    def settle(self, count: int | None = None, silence: int | None = None) -> list[str]:
        """The texts of the first `count` words that wait (None: all), whose time is up. Raises CappuncError.

        `silence`: for so long nothing has been said after the last word (ms), if that is known.
        """
        return self._told(self.request(self.pending if count is None else min(count, self.pending), True, silence))

    def end(self) -> list[str]:
        """The texts of all words that wait: the last one closes the text, and the next begins another.

        Raises CappuncError.
        """
        texts = self._told(self.request(self.pending, False))
        self.forget()
        return texts

    def add(self, word: Word) -> None:
        """Take the next word."""
        self._words.append(word)

    def due(self) -> LiveRequest | None:
        """What must be read for the words that have waited long enough; None if there are none."""
        count = self.pending - self._look_ahead
        return self.request(count if count >= self._every else 0, True)

    def request(self, count: int, goes_on: bool, silence: int | None = None) -> LiveRequest | None:
        """What must be read to give out the first `count` words that wait; None for none."""
        return LiveRequest(count, goes_on, silence, self._window(count, silence)) if count > 0 else None

    def _told(self, request: LiveRequest | None) -> list[str]:
        if request is None:
            return []
        (found,) = self.read([request])
        return self.take(request, found)

    def read(self, requests: Sequence[LiveRequest]) -> list[Any]:
        """Answers to the requests of any streams with this model and these options; raises CappuncError.

        No words may come to a stream, nor be given out by it, between its request and `take`.
        """
        found: dict[int, Rows] = {}
        unheard = [i for i, request in enumerate(requests) if request.silence is None]
        for some in [unheard, *([i] for i in range(len(requests)) if i not in unheard)]:
            texts, silence = [requests[i].window for i in some], requests[some[0]].silence if some else None
            if texts:
                found.update(
                    zip(some, probabilities_of_each(texts, self._model, self._options, after=silence), strict=True)
                )
        return [found[i] for i in range(len(requests))]

    def take(self, request: LiveRequest, found: Any) -> list[str]:
        """The texts of the words that a request was for, by the answer to it."""
        new = rewrite(self._words, found, self._model, self._options, self._given, request.goes_on)
        known = len(self._given) + request.count
        texts = new[len(self._given) : known]
        self._give(texts)
        return texts

    def forget(self) -> None:
        """Begin another text; what waits is lost."""
        self._words, self._given = [], []

    def _window(self, _count: int, _silence: int | None) -> Any:
        return list(self._words)

    def _give(self, texts: Sequence[str]) -> None:
        """Remember words as given out, and no more of them than needed."""
        self._given += texts
        forgotten = max(len(self._given) - _CONTEXT, 0)
        del self._given[:forgotten], self._words[:forgotten]
