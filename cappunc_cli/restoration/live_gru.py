"""Live captions with the recurrent network, whose state is carried from word to word: constant work per word."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cappunc_cli.document.labels import Label, cached_strip, dress
from cappunc_cli.document.pauses import pause_between, pauses
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.decoding.evidence import THOUSAND
from cappunc_cli.restoration.decoding.forms import weigh_forms
from cappunc_cli.restoration.decoding.one_word import LastWord, WordDecider, end_probability, is_supported, restrict
from cappunc_cli.restoration.decoding.word_properties import WordProperty, word_properties
from cappunc_cli.restoration.live import LOOK_AHEAD, LiveRequest, LiveRestorer
from cappunc_cli.restoration.models.recurrent import GruEngine, GruReading, GruWindow
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, rewrite

if TYPE_CHECKING:
    import numpy.typing as npt

    from cappunc_cli.restoration.models.recurrent import Kept

#: Committed words whose probabilities are kept, to decide pending words together with them.
_CONTEXT = 8
_BARE = Label()
#: If at least one word in this many has a pause after it, end times say where pauses are (see `pauses.pauses`).
_WORDS_PER_PAUSE = 10


@dataclass(slots=True)
class _WordInfo:
    """A bare word, whether it came without marks and capitals, and its properties."""

    bare: str
    is_bare: bool
    properties: int


class LiveGruRestorer(LiveRestorer):
    """A live stream for a model of `restoration.gru`."""

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """See `LiveRestorer`; raises WrongUsage."""
        super().__init__(model, options, look_ahead, every)
        assert isinstance(model.engine, GruEngine)
        self._engine = model.engine
        self._language = self._options.conventions(model.config)
        self._lexicon = model.lexicons[self._language.code]
        supported = is_supported(model.config, self._options)
        self._decider = WordDecider(model.config, self._options, self._lexicon) if supported else None
        #: For each of `_words` its properties, and the pause after it (ms), None while unknown.
        self._info: list[_WordInfo] = []
        self._pauses: list[int | None] = []
        #: The engine's states of the last committed word and of the pending words that were read; None at the start.
        self._kept: Kept | None = None
        #: The probabilities of the last committed words.
        self._rows: deque[npt.NDArray[np.float32]] = deque(maxlen=_CONTEXT)
        #: The last committed word.
        self._last: LastWord | None = None

    def add(self, word: Word) -> None:
        super().add(word)
        bare, label = cached_strip(word.text)
        (properties,) = word_properties([bare], self._language, self._lexicon).tolist()
        if self._info and self._options.pauses and word.start is not None:
            self._pauses[-1] = self._pause()
        self._pauses.append(None)
        self._info.append(_WordInfo(bare, label == _BARE and not (word.followed or word.preceded), properties))

    def follow(self) -> None:
        super().follow()
        if self.pending:
            self._info[-1].is_bare = False

    def read(self, requests: Sequence[LiveRequest]) -> list[Any]:
        return self._engine.read([request.window for request in requests])

    def take(self, request: LiveRequest, reading: GruReading) -> list[str]:
        first, count = len(self._committed), request.count
        words_read = self._info[first : first + len(reading.rows)]
        earlier = len(self._rows)
        bare = [info.bare for info in self._info[first - earlier : first + len(reading.rows)]]
        rows = np.array([*self._rows, *reading.rows])
        if self._lexicon.shares:
            rows = weigh_forms(rows, bare, self._lexicon, self._model.config)
        if self._decider is not None and count == 1 and request.continues and self._is_simple():
            word = words_read[0].bare
            properties = [info.properties for info in words_read]
            label = self._decider.label(word, rows[earlier:].tolist(), properties, request.window.turns[0], self._last)
            text = dress(word, label)
            texts = [text if cached_strip(text)[0] == word else word]
        else:
            words = self._words[first - earlier : first + len(reading.rows)]
            committed = self._committed[first - earlier :]
            new = rewrite(words, rows, self._model, self._options, committed, request.continues)
            texts = new[earlier : earlier + count]
        own = words_read[count - 1].properties
        end = end_probability(restrict(reading.rows[count - 1].tolist(), own)[1], own)
        self._last = LastWord(cached_strip(texts[-1])[1].mark, bool(own & WordProperty.ABBREVIATION), end)
        self._rows.extend(reading.rows[:count])
        # The state of the last word is not kept: the pause after it may not have been known.
        self._kept = reading.kept[count : max(len(request.window.words), count + 1)].copy()
        self._commit(texts)
        dropped = len(self._info) - len(self._words)
        del self._info[:dropped], self._pauses[:dropped]
        return texts

    def reset(self) -> None:
        super().reset()
        self._info, self._pauses, self._kept, self._last = [], [], None, None
        self._rows.clear()

    def _window(self, count: int, silence: int | None) -> GruWindow:
        first = len(self._committed)
        pending = self._words[first:]
        bare = [info.bare for info in self._info[first:]]
        gaps = [*self._pauses[first:-1], silence if self._options.pauses else None]
        turns = [word.turn != after.turn for word, after in pairwise(pending)]
        # One word more: a mark is decided together with the case of the next word.
        wanted = min(count + 1, len(pending))
        return GruWindow(bare, gaps, [*turns, False], wanted, self._kept)

    def _pause(self) -> int | None:
        """The pause before the last word (ms)."""
        silent = len(self._pauses) - self._pauses.count(None) - self._pauses.count(0)
        # A shortcut: with so many pauses `pauses` would use end times as well.
        if silent * _WORDS_PER_PAUSE >= len(self._pauses):
            return pause_between(*self._words[-2:])
        return pauses(self._words)[-2]

    def _is_simple(self) -> bool:
        """Whether the next word can be decided by `one_word`, given how it and its neighbours are written."""
        place = len(self._committed)
        own = self._info[place]
        neighbours = self._info[max(place - 1, 0) : place] + self._info[place + 1 : place + 2]
        return (
            own.is_bare
            and all(info.is_bare for info in neighbours)
            # Spelled-out letters and numbers in groups are decided by rules for several words.
            and not (len(own.bare) == 1 and any(len(info.bare) == 1 for info in neighbours))
            and all(info.bare != THOUSAND for info in neighbours)
        )


def live_restorer(
    model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
) -> LiveRestorer:
    """A live stream for a model of any engine; raises WrongUsage."""
    kind = LiveGruRestorer if isinstance(model.engine, GruEngine) else LiveRestorer
    return kind(model, options, look_ahead, every)
