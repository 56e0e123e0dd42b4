"""Live captions with a network that carries a state: the same little work for every word."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cappunc_cli.restoration.decoding.one_word import chance_of_end, fits, next_label, restricted
from cappunc_cli.restoration.decoding.word_properties import WordProperty, word_properties
from cappunc_cli.restoration.gru.gru_engine import GruEngine, GruReading, GruWindow
from cappunc_cli.restoration.live import LOOK_AHEAD, LiveRequest, LiveRestorer
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Model, rewrite
from cappunc_cli.transcript.labels import Label, cached_strip, dress
from cappunc_cli.transcript.pauses import pause_between, pauses
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    import numpy.typing as npt

    from cappunc_cli.restoration.gru.gru_engine import Kept

#: Words given out whose probabilities are remembered: what waits is decided with them.
_DECIDED = 8
_BARE = Label()
_THOUSAND = "000"
#: Where one word in so many has a pause after it, the ends of words say where pauses are (`pauses.pauses`).
_SILENT = 10


@dataclass(slots=True)
class _Heard:
    """A word: bare, whether it came so, and what it can carry."""

    bare: str
    plain: bool
    properties: int


class LiveGruRestorer(LiveRestorer):
    """A stream of a model of `restoration.gru`."""

    def __init__(
        self, model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
    ) -> None:
        """As a `LiveRestorer`; raises WrongUsage."""
        super().__init__(model, options, look_ahead, every)
        assert isinstance(model.engine, GruEngine)
        self._engine = model.engine
        self._fits = fits(model.config, self._options)
        self._language = self._options.conventions(model.config)
        #: For each of the words that are remembered what is known of it, and the pause after it (ms), None until known.
        self._heard: list[_Heard] = []
        self._pauses: list[int | None] = []
        #: What is kept of the last word given out and of those that wait and were read, None where a text begins; the
        #: probabilities of the last words given out.
        self._kept: Kept | None = None
        self._rows: deque[npt.NDArray[np.float32]] = deque(maxlen=_DECIDED)
        #: Of the last word given out: its mark, whether its period is spelling, the probability of a sentence end.
        self._before: tuple[str, bool, float] | None = None

    def add(self, word: Word) -> None:
        super().add(word)
        bare, label = cached_strip(word.text)
        (properties,) = word_properties([bare], self._language, self._model.lexicon).tolist()
        if self._heard and self._options.pauses and word.start is not None:
            self._pauses[-1] = self._pause()
        self._pauses.append(None)
        self._heard.append(_Heard(bare, label == _BARE and not word.followed, properties))

    def read(self, requests: Sequence[LiveRequest]) -> list[Any]:
        return self._engine.read([request.window for request in requests])

    def take(self, request: LiveRequest, found: GruReading) -> list[str]:
        first, count = len(self._given), request.count
        heard = self._heard[first : first + len(found.rows)]
        if count == 1 and request.goes_on and self._is_plain():
            label = next_label(
                heard[0].bare,
                found.rows.tolist(),
                [one.properties for one in heard],
                request.window.turns[0],
                self._before,
                self._model.config,
                self._options,
                self._model.lexicon,
                self._language,
            )
            dressed = dress(heard[0].bare, label)
            texts = [dressed if cached_strip(dressed)[0] == heard[0].bare else heard[0].bare]
        else:
            earlier = len(self._rows)
            words = self._words[first - earlier : first + len(found.rows)]
            rows = np.array([*self._rows, *found.rows])
            new = rewrite(words, rows, self._model, self._options, self._given[first - earlier :], request.goes_on)
            texts = new[earlier : earlier + count]
        last = heard[count - 1].properties
        end = chance_of_end(restricted(found.rows[count - 1].tolist(), last)[1], last)
        self._before = cached_strip(texts[-1])[1].mark, bool(last & WordProperty.ABBREVIATION), end
        self._rows.extend(found.rows[:count])
        # The last word is read again: what comes after it will be known.
        self._kept = found.kept[count : max(len(request.window.words), count + 1)].copy()
        self._give(texts)
        forgotten = len(self._heard) - len(self._words)
        del self._heard[:forgotten], self._pauses[:forgotten]
        return texts

    def forget(self) -> None:
        super().forget()
        self._heard, self._pauses, self._kept, self._before = [], [], None, None
        self._rows.clear()

    def _window(self, count: int, silence: int | None) -> GruWindow:
        first = len(self._given)
        heard, waiting = self._heard[first:], self._words[first:]
        gaps = [*self._pauses[first:-1], silence if self._options.pauses else None]
        turns = [word.turn != after.turn for word, after in pairwise(waiting)]
        # A mark and the case of the word after it are decided together.
        wanted = min(count + 1, len(waiting))
        return GruWindow([one.bare for one in heard], gaps, [*turns, False], wanted, self._kept)

    def _pause(self) -> int | None:
        """The pause after the last word but one (ms)."""
        silent = len(self._pauses) - self._pauses.count(None) - self._pauses.count(0)
        # The same as of all words that are remembered, as long as some ends of theirs say something.
        if silent * _SILENT >= len(self._pauses):
            return pause_between(*self._words[-2:])
        return pauses(self._words)[-2]

    def _is_plain(self) -> bool:
        """Whether the next word, as it came and as those beside it, is one for `one_word`."""
        place = len(self._given)
        own, beside = self._heard[place], self._heard[max(place - 1, 0) : place] + self._heard[place + 1 : place + 2]
        return (
            self._fits
            and own.plain
            and all(one.plain for one in beside)
            # Letters that are spelled and numbers in groups are of several words.
            and not (len(own.bare) == 1 and any(len(one.bare) == 1 for one in beside))
            and all(one.bare != _THOUSAND for one in beside)
        )


def live_restorer(
    model: Model, options: Options | None = None, look_ahead: int = LOOK_AHEAD, every: int = 1
) -> LiveRestorer:
    """A stream of a model, whatever its engine; raises WrongUsage."""
    kind = LiveGruRestorer if isinstance(model.engine, GruEngine) else LiveRestorer
    return kind(model, options, look_ahead, every)
