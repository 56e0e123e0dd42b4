"""The words that a file's copies show: spelling, time, speaker, cue and turn of each."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import repeat

from cappunc_cli.formats.asr_json.occurrences import NOBODY, Occurrences
from cappunc_cli.formats.asr_json.styles import WHOLE, Style
from cappunc_cli.formats.asr_json.tokens import Tokens, tokenize
from cappunc_cli.formats.asr_json.tracks import Field, Fields
from cappunc_cli.formats.asr_json.word_alignment import aligned_blocks
from cappunc_cli.transcript.run_lengths import RunLengthList
from cappunc_cli.transcript.words import Words


class WordTable:
    """The words, track by track; `styles` says which streams spell them."""

    __slots__ = ("_cue", "_fields", "_places", "_speaker", "_styles", "_tokens", "_turn", "names", "words")

    def __init__(self, fields: Fields, tokens: Tokens, places: Occurrences, styles: Sequence[Style]) -> None:
        self._fields, self._tokens, self._places, self._styles = fields, tokens, places, styles
        self.words = Words()
        self._cue = self._turn = 0
        self._speaker: object = None
        #: Who speaks in a turn, where that is said.
        self.names: dict[int, str] = {}

    def add(self, clock: Sequence[Field], drafts: Sequence[int], own: range, begun: int) -> None:
        """Append the words of a track, whose places begin at `begun`.

        `drafts` are a token of each, `own` the tokens of its word list; the others are the copies' own words.
        """
        tokens = self._tokens
        starts: Sequence[int | None] = tokens.starts[own.start : own.stop]
        ends: Sequence[int | None] = tokens.ends[own.start : own.stop]
        if len(drafts) > len(own):  # what only a copy has has no time
            places = [d - own.start if d < own.stop else -1 for d in drafts]
            starts, ends = ([*map([*known, None].__getitem__, places)] for known in (starts, ends))
        speakers = self._speakers(drafts, own, begun)
        if clock:
            starts, ends = list(starts), list(ends)
            speakers = speakers or [None] * len(drafts)
            _timed(self._fields.source, clock, [tokens.keys[d] for d in drafts], starts, ends, speakers)
        written = self._written(drafts, begun)
        cues = self._cues(written, own)
        turns = self._turns(written, own, speakers)
        self.words.extend([tokens.texts[t] for t in written], starts, ends, cues, turns)

    def _speakers(self, drafts: Sequence[int], own: range, begun: int) -> list[object]:
        """Who says each word, by the first copy that tells; [] where none does."""
        names, base = self._fields.names, len(self.words)
        said_by = self._tokens.speakers[own.start :]
        if all(name is None or names[name] is None for name, _, _ in said_by.stretches()):
            return []
        told = [None if name is None else names[name] for name in said_by]
        speakers = [told[d - own.start] for d in drafts]
        for _, tokens, words in self._places.whole(begun):
            for token, word in zip(tokens, words, strict=True):
                if speakers[word - base] is None:
                    speakers[word - base] = told[token - own.start]
        return speakers

    def _written(self, drafts: Sequence[int], begun: int) -> Sequence[int]:
        """The tokens that spell the words: of each the first in a stream that writes both case and marks."""
        base = len(self.words)
        shown = array("q", [NOBODY]) * len(drafts)
        for stream, tokens, words in self._places.whole(begun):
            if self._styles[stream] != WHOLE or NOBODY not in shown:
                continue
            if len(words) == len(shown) == shown.count(NOBODY):
                return array("q", tokens)
            for token, word in zip(tokens, words, strict=True):
                if shown[word - base] == NOBODY:
                    shown[word - base] = token
        return [d if t == NOBODY else t for d, t in zip(drafts, shown, strict=True)]

    def _cues(self, written: Sequence[int], own: range) -> RunLengthList:
        """The numbers of the words' cues, which never go back."""
        begins = self._cue + bool(self.words)
        said_in, cues = RunLengthList(), RunLengthList()
        said_in.extend_from(self._tokens.cues[own.start :], [t - own.start for t in written])
        for cue, start, stop in said_in.stretches():
            self._cue = max(self._cue, begins + (cue or 0))
            cues.add(self._cue, stop - start)
        return cues

    def _turns(self, written: Sequence[int], own: range, speakers: Sequence[object]) -> array[int]:
        """The numbers of the words' turns: another speaker begins one, and so does a sign before a word."""
        begins = self._tokens.turns[own.start :]
        if not speakers and not any(begins):
            return array("q", repeat(self._turn, len(written)))
        said, turns = list(begins), array("q")
        for t, speaker in zip(written, speakers or repeat(None), strict=False):
            changed = speaker is not None and speaker != self._speaker and self._speaker is not None
            self._turn += bool(said[t - own.start]) or changed
            self._speaker = speaker if speaker is not None else self._speaker
            if isinstance(speaker, str | int):
                self.names.setdefault(self._turn, str(speaker))
            turns.append(self._turn)
        return turns


def _timed(
    source: str,
    clock: Sequence[Field],
    keys: Sequence[str],
    starts: list[int | None],
    ends: list[int | None],
    speakers: list[object],
) -> None:
    """Give the words of these keys the times and speakers of the raw ones."""
    fields, raw = Fields(source), Tokens()
    fields.extend(clock)
    tokenize(fields, range(len(fields)), raw)
    for same, i, i_stop, j, j_stop in aligned_blocks(keys, raw.keys):
        if i == i_stop or j == j_stop:
            continue
        if same or i_stop - i == j_stop - j:
            pairs = list(zip(range(i, i_stop), range(j, j_stop), strict=True))
            first, last = pairs, pairs
        else:
            first, last = [(i, j)], [(i_stop - 1, j_stop - 1)]
        for n, r in first:
            starts[n], speakers[n] = raw.starts[r], fields.names[raw.speakers[r] or 0]
        for n, r in last:
            ends[n] = raw.ends[r]
