"""Live words as WebVTT: a cue is written once its sentence ends, it is full, another speaks, or nobody does."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cappunc_cli.languages import Language
from cappunc_cli.layout import Limits, LineBreaker
from cappunc_cli.transcript.labels import TERMINAL, cached_strip
from cappunc_cli.transcript.pauses import speaking_time
from cappunc_cli.transcript.words import Word, timestamp

#: A shorter sentence (characters) waits for the next one; a silence (ms) that no cue bridges.
_SHORT, _SILENCE = 15, 2_000


class LiveCues:
    """Words with new texts to cues, each once; a word without times has those at which it came."""

    def __init__(self, language: Language, limits: Limits | None = None) -> None:
        self._language, self._limits = language, limits or Limits()
        self._texts: list[str] = []
        self._start = self._end = self._free = self._turn = 0
        self._begun = False

    def add(self, words: Sequence[Word], texts: Sequence[str], came: Sequence[int]) -> str:
        """The cues that these words complete; `came` is when each did (ms)."""
        done = []
        for word, text, now in zip(words, texts, came, strict=True):
            start = now if word.start is None else word.start
            end = start + speaking_time(word.text) if word.end is None else max(word.end, start)
            if self._texts and (word.turn != self._turn or not self._holds(text, start, end)):
                done.append(self.flush())
            if not self._texts:
                self._start = start
            self._texts.append(" ".join(text.split()))
            self._end, self._turn = end, word.turn
            if cached_strip(text)[1].mark in TERMINAL and cached_strip(text)[1].mark and self._length() >= _SHORT:
                done.append(self.flush())
        return "".join(done)

    def flush(self) -> str:
        """The cue that is there, full or not; the head of the file before the first one."""
        if not self._texts:
            return ""
        breaker = LineBreaker(self._texts, self._language, self._limits.width)
        lines = breaker.shown(breaker.best(0, len(self._texts))[1], len(self._texts))
        start = max(self._start, self._free)
        self._free = max(self._end, start + 1)
        head = "" if self._begun else "WEBVTT\n\n"
        self._begun = True
        self._texts = []
        shown = "\n".join(escape(line, quote=False) for line in lines)
        return f"{head}{timestamp(start)} --> {timestamp(self._free)}\n{shown}\n\n"

    def _length(self) -> int:
        return sum(map(len, self._texts)) + len(self._texts) - 1

    def _holds(self, text: str, start: int, end: int) -> bool:
        """Whether another word has room in the cue, on the screen and in time."""
        if start - self._end >= _SILENCE or end - self._start > self._limits.longest:
            return False
        words = [*self._texts, " ".join(text.split())]
        return LineBreaker(words, self._language, self._limits.width).fit(0, len(words), self._limits.lines)
