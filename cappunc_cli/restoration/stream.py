"""The same steps on words that keep coming: live captions.

After Webex's live captions (Cisco, Post-processing in automatic speech recognition systems,
https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems): a recurrent network whose
way back is cut to a few words of look-ahead, so that each word costs the same however long a meeting is. Here a
transformer reads a bounded window anew for each word, as that of Poláček et al. does (2025, Speech Communication
173:103269: ELECTRA twice, 4 words of look-ahead): what was given out, as far as it is remembered, and what waits.
That marks and capitals contradict each other, Webex penalises in training; here what was given out binds what
follows, and what waits is decided together (decode.py).
"""

from __future__ import annotations

from dataclasses import replace

from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.options import QUOTES, Options
from cappunc_cli.restoration.pipeline import Model, probabilities, rewrite
from cappunc_cli.words import Word

#: Words that a word waits for unless told otherwise. On 700 words each of talks, podcasts and calls 0, 4 and 8 give
#: 40, 75 and 76 on the marks, the whole file 75 (tests/benchmarks/stream.py).
LOOK_AHEAD = 8
#: Words given out that are read again with those to come. On 2,500 words of each, 32, 48 and 64 give 75.0, 76.4 and
#: 75.2, the whole file 74.9; 16 loses 5 points to 32.
_CONTEXT = 48


class Stream:
    """Takes words as they are said; gives the new text of each once, in their order, and takes none back.

    Its work and memory for a word depend on `look_ahead` alone.
    """

    def __init__(self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD) -> None:
        """A word is given out when `look_ahead` words after it are there.

        What a stretch of text lacks is known only when it is over: `existing` auto is replace here. Raises
        WrongUsage where quotation marks are asked for: one that is opened could stay open.
        """
        options = options or Options()
        if look_ahead < 0:
            raise WrongUsage(f"the look-ahead must be at least 0 words, not {look_ahead}")
        if options.around(model.config) & QUOTES:
            raise WrongUsage("quotation marks cannot be restored live: nobody knows yet where a quotation ends")
        self._model, self._look_ahead = model, look_ahead
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
        self._words.append(word)
        return self._give(self.pending - self._look_ahead, goes_on=True)

    def settle(self, count: int | None = None, silence: int | None = None) -> list[str]:
        """The texts of the first `count` words that wait (None: all), whose time is up. Raises CappuncError.

        `silence`: for so long nothing has been said after the last word (ms), if that is known.
        """
        return self._give(self.pending if count is None else min(count, self.pending), goes_on=True, silence=silence)

    def end(self) -> list[str]:
        """The texts of all words that wait: the last one closes the text, and the next begins another.

        Raises CappuncError.
        """
        texts = self._give(self.pending, goes_on=False)
        self._words, self._given = [], []
        return texts

    def _give(self, count: int, *, goes_on: bool, silence: int | None = None) -> list[str]:
        if count < 1:
            return []
        rows = probabilities(self._words, self._model, self._options, after=silence)
        new = rewrite(self._words, rows, self._model, self._options, self._given, goes_on)
        known = len(self._given) + count
        texts = new[len(self._given) : known]
        forgotten = max(known - _CONTEXT, 0)
        self._given = new[forgotten:known]
        del self._words[:forgotten]
        return texts
