"""Live words as WebVTT: a cue is complete when its sentence ends, it is full, the speaker changes, or at a pause."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.document.pauses import speaking_time
from cappunc_cli.document.words import Word
from cappunc_cli.languages import Language
from cappunc_cli.layout import Caption, Limits, LineBreaker
from cappunc_cli.layout.caption_files import vtt_cue
from cappunc_cli.layout.line_breaks import ends_sentence

#: Sentences of fewer characters are joined with the next one; pauses of at least this length (ms) end a cue.
_SHORT, _PAUSE = 15, 2_000


class LiveCues:
    """Collects words into cues, each of which is returned once; a word without times gets its time of arrival."""

    def __init__(self, language: Language) -> None:
        self._language, self._limits = language, Limits()
        self._texts: list[str] = []
        self._start = self._end = self._last_end = self._turn = 0
        #: What the file begins with, until it is written.
        self.head = "WEBVTT\n\n"
        #: Words with times before zero, which no player shows.
        self.early = 0

    def add(self, words: Sequence[Word], texts: Sequence[str], arrived: Sequence[int]) -> str:
        """The cues that these words complete; `arrived` is the arrival time of each (ms)."""
        done = []
        for word, text, arrival in zip(words, texts, arrived, strict=True):
            start = arrival if word.start is None else word.start
            self.early += start < 0
            end = start + speaking_time(word.text) if word.end is None else max(word.end, start)
            if self._texts and (word.turn != self._turn or not self._has_room(text, start, end)):
                done.append(self.flush())
            if not self._texts:
                self._start = self._end = start
            self._texts.append(" ".join(text.split()))
            # Recognisers also return words whose times go back.
            self._end, self._turn = max(self._end, end), word.turn
            if ends_sentence(text, self._language) and self._length() >= _SHORT:
                done.append(self.flush())
        return "".join(done)

    def flush(self) -> str:
        """The current cue, full or not, or ""; preceded by the head of the file if it is the first."""
        if not self._texts:
            return ""
        breaker = LineBreaker(self._texts, self._language, self._limits.width)
        lines = breaker.shown(breaker.best(0, len(self._texts))[1], len(self._texts))
        start = max(self._start, self._last_end)
        self._last_end = max(self._end, start + 1)
        head, self.head = self.head, ""
        self._texts = []
        return f"{head}{vtt_cue(Caption(0, 0, start, self._last_end, tuple(lines)))}\n"

    def _length(self) -> int:
        return sum(map(len, self._texts)) + len(self._texts) - 1

    def _has_room(self, text: str, start: int, end: int) -> bool:
        """Whether another word fits into the current cue, by its lines and its duration."""
        if start - self._end >= _PAUSE or end - self._start > self._limits.longest:
            return False
        words = [*self._texts, " ".join(text.split())]
        return LineBreaker(words, self._language, self._limits.width).fit(0, len(words), self._limits.lines)
