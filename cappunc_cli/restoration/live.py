"""Live captions: restore words while they keep coming.

After Webex's live captions (Cisco, Post-processing in automatic speech recognition systems,
https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems): a bidirectional recurrent
network whose backward direction is limited to a few words of look-ahead, so that the work for a word does not depend
on the length of a meeting (the engine `gru`). With any other engine, the model reads a bounded window again for each
word, or for a few words at a time, as in Poláček et al. (2025, Speech Communication 173:103269: ELECTRA twice, 4 words
of look-ahead). The window holds the last committed words, which have been output and never change, and the pending
ones. Pending words are decided as in a file, given the committed ones.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice

import numpy as np

from cappunc_cli.document.labels import QUOTE_PAIR, dress, strip
from cappunc_cli.document.words import Word, pauses, turn_ends
from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.decoding.decoder import decode
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.network import Rows
from cappunc_cli.restoration.models.recurrent import GruEngine, Kept
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Parted, as_read, probabilities, read_passage
from cappunc_cli.restoration.tuned import CONTEXT, LOOK_AHEAD

#: Committed words whose probabilities the recurrent network keeps, to decide pending words together with them.
_ROWS = 8


class LiveRestorer:
    """Takes words as they are spoken and returns the new text of each, once, in order, and for good.

    The work and memory for a word depend only on `look_ahead`.
    """

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """Commit a word once `look_ahead` words have come after it, at least `every` words at a time.

        `existing` auto means replace here, since what a text lacks is known only at its end. Raises WrongUsage if the
        options ask for quotation marks: they might be opened and never closed.
        """
        options = options or Options()
        if options.paired_marks(model.config) & QUOTE_PAIR:
            raise WrongUsage("quotation marks cannot be restored live: the end of a quotation is not known in time")
        self._model, self._look_ahead, self._every = model, look_ahead, every
        self._options = replace(options, existing="replace") if options.existing == "auto" else options
        self.reset()

    def reset(self) -> None:
        """Begin a new text; pending words are discarded."""
        #: The last committed words followed by the pending ones, and the texts of the former. Words that are glued
        #: together (`home--I`) are several here.
        self._words: list[Word] = []
        self._committed: list[str] = []
        #: The words, as they were added, whose texts have not been returned, and the texts of the first one's parts.
        self._added: deque[Parted] = deque()
        self._parts: list[str] = []
        #: Of a recurrent model, the engine's states of the last committed word and of the pending words that were read
        #: (None at the start), and the probabilities of the last committed words.
        self._kept: Kept | None = None
        self._rows: list[Rows] = []

    @property
    def pending(self) -> int:
        """The number of words whose texts have not been returned yet."""
        return len(self._added)

    def feed(self, word: Word) -> list[str]:
        """Add the next word, and return the texts of the words that are due; raises CappuncError."""
        parted = as_read([replace(word, blank_before=False)], self._model, self._options)
        self._added.append(parted)
        self._words += parted.parts
        count = len(self._words) - len(self._committed) - self._look_ahead
        return self._commit(count) if count >= self._every else []

    def follow(self) -> None:
        """Note that part of the sentence that is not a word comes right after the last word (see `Word.followed`)."""
        if self.pending:
            self._words[-1] = replace(self._words[-1], followed=True)

    def flush(self, count: int | None = None, silence: int | None = None) -> list[str]:
        """Commit the first `count` pending words (None: all) without waiting for more, and return their texts.

        `silence` is the time since the last word (ms), if known. Raises CappuncError.
        """
        return self._commit(sum(len(one.parts) for one in islice(self._added, count)) - len(self._parts), silence)

    def end(self) -> list[str]:
        """End the text with the last word, and return the texts of all pending words; raises CappuncError.

        The next word begins a new text.
        """
        texts = self._commit(len(self._words) - len(self._committed), continues=False)
        self.reset()
        return texts

    def _commit(self, count: int, silence: int | None = None, *, continues: bool = True) -> list[str]:
        """Commit `count` pending words, and return the texts of those that are whole.

        If the text `continues`, it does not end with the last word.
        """
        if count < 1:
            return []
        first, rows = self._read(count, silence)
        words, committed = self._words[first : first + len(rows)], self._committed[first:]
        passage = read_passage(words, rows, self._model, self._options, live=bool(committed) or continues)
        passage.continues = continues
        labels = decode(passage, [strip(text)[1] for text in committed])
        new = slice(len(committed), len(committed) + count)
        texts = list(map(dress, passage.bare[new], labels[new]))
        self._committed += texts
        dropped = max(len(self._committed) - CONTEXT, 0)
        del self._committed[:dropped], self._words[:dropped]
        self._parts += texts
        whole = []
        while self._added and len(self._parts) >= (parts := len(self._added[0].parts)):
            whole += self._added.popleft().joined(self._parts[:parts])
            del self._parts[:parts]
        return whole

    def _read(self, count: int, silence: int | None) -> tuple[int, Rows]:
        """The place of the first word of a passage with the next `count` pending words, and its probabilities."""
        first, engine = len(self._committed), self._model.engine
        if not isinstance(engine, GruEngine):
            return 0, probabilities(self._words, self._model, self._options, silence=silence)
        pending = self._words[first:]
        bare = [strip(word.text)[0] for word in pending]
        gaps: list[int | None] = [None] * len(pending)
        if self._options.pauses:
            gaps = [*pauses(self._words)[first:-1], silence]
        # One word more: a mark is decided together with the case of the next word.
        wanted = min(count + 1, len(pending))
        new, kept = engine.read(bare, gaps, turn_ends(pending), wanted, self._kept)
        # The state of the last word is not kept: the pause after it may not have been known.
        self._kept = kept[count : max(len(pending), count + 1)].copy()
        rows = [*self._rows, *new]
        first -= len(self._rows)
        self._rows = rows[: len(self._rows) + count][-_ROWS:]
        return first, np.array(rows)
