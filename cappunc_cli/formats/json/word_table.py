"""The words of a file, merged from all copies: spelling, times, cue and turn of each."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import repeat

from cappunc_cli.document.words import Word
from cappunc_cli.formats.json.columns import RunLengthList
from cappunc_cli.formats.json.occurrences import NO_WORD, Occurrences
from cappunc_cli.formats.json.styles import FULL_STYLE, Style
from cappunc_cli.formats.json.tokens import Tokens, tokenize
from cappunc_cli.formats.json.tracks import Field, Fields
from cappunc_cli.formats.json.word_alignment import aligned_blocks


class WordTable:
    """Builds the words, track by track; spellings come from streams that show both case and marks."""

    __slots__ = ("_cue", "_fields", "_places", "_speaker", "_styles", "_tokens", "_turn", "names", "words")

    def __init__(self, fields: Fields, tokens: Tokens, places: Occurrences, styles: Sequence[Style]) -> None:
        self._fields, self._tokens, self._places, self._styles = fields, tokens, places, styles
        self.words: list[Word] = []
        self._cue = self._turn = 0
        self._speaker: object = None
        #: The speakers of turns, where the file names them.
        self.names: dict[int, str] = {}

    def add(self, clock: Sequence[Field], drafts: Sequence[int], own: range, first_place: int) -> None:
        """Append the words of a track, whose occurrences start at `first_place`.

        `drafts` has a token for each word. `own` are the tokens of the track's word list; the other drafts are words
        that only a copy has.
        """
        tokens = self._tokens
        starts: Sequence[int | None] = tokens.starts[own.start : own.stop]
        ends: Sequence[int | None] = tokens.ends[own.start : own.stop]
        if len(drafts) > len(own):  # words that only a copy has are not timed
            places = [d - own.start if d < own.stop else -1 for d in drafts]
            starts, ends = ([*map([*known, None].__getitem__, places)] for known in (starts, ends))
        speakers = self._speakers(drafts, own, first_place)
        if clock:
            starts, ends = list(starts), list(ends)
            speakers = speakers or [None] * len(drafts)
            _apply_clock(self._fields.source, clock, [tokens.keys[d] for d in drafts], starts, ends, speakers)
        spellings = self._spellings(drafts, first_place)
        cues = self._cues(spellings, own)
        turns = self._turns(spellings, own, speakers)
        followed = [d in tokens.followed for d in drafts] if not tokens.followed.isdisjoint(drafts) else []
        texts = [tokens.texts[t] for t in spellings]
        preceded = [False, *followed[:-1]] if followed else []
        columns = zip(texts, starts, ends, cues, turns, strict=True)
        self.words += [Word(text, start, end, cue or 0, turn) for text, start, end, cue, turn in columns]
        if followed:
            for word, after, before in zip(self.words[-len(texts) :], followed, preceded, strict=True):
                word.followed, word.preceded = after, before

    def _speakers(self, drafts: Sequence[int], own: range, first_place: int) -> list[object]:
        """The speaker of each word, from the first copy that has one; [] if none has any."""
        names, base = self._fields.names, len(self.words)
        of_tokens = self._tokens.speakers[own.start :]
        if all(name is None or names[name] is None for name, _, _ in of_tokens.stretches()):
            return []
        named = [None if name is None else names[name] for name in of_tokens]
        speakers = [named[d - own.start] for d in drafts]
        for _, tokens, words in self._places.single_words(first_place):
            for token, word in zip(tokens, words, strict=True):
                if speakers[word - base] is None:
                    speakers[word - base] = named[token - own.start]
        return speakers

    def _spellings(self, drafts: Sequence[int], first_place: int) -> Sequence[int]:
        """The token that spells each word: the first one in a stream that shows both case and marks."""
        base = len(self.words)
        found = array("q", [NO_WORD]) * len(drafts)
        for stream, tokens, words in self._places.single_words(first_place):
            if self._styles[stream] != FULL_STYLE or NO_WORD not in found:
                continue
            if len(words) == len(found) == found.count(NO_WORD):
                return array("q", tokens)
            for token, word in zip(tokens, words, strict=True):
                if found[word - base] == NO_WORD:
                    found[word - base] = token
        return [d if t == NO_WORD else t for d, t in zip(drafts, found, strict=True)]

    def _cues(self, spellings: Sequence[int], own: range) -> RunLengthList:
        """The cue of each word; the numbers never go back."""
        first = self._cue + bool(self.words)
        of_words, cues = RunLengthList(), RunLengthList()
        of_words.extend_from(self._tokens.cues[own.start :], [t - own.start for t in spellings])
        for cue, start, stop in of_words.stretches():
            self._cue = max(self._cue, first + (cue or 0))
            cues.add(self._cue, stop - start)
        return cues

    def _turns(self, spellings: Sequence[int], own: range, speakers: Sequence[object]) -> array[int]:
        """The turn of each word: a new one starts with another speaker, or with a dash or chevrons before a word."""
        starts_turn = self._tokens.turns[own.start :]
        if not speakers and not any(starts_turn):
            return array("q", repeat(self._turn, len(spellings)))
        marked, turns = list(starts_turn), array("q")
        for t, speaker in zip(spellings, speakers or repeat(None), strict=False):
            changed = speaker is not None and speaker != self._speaker and self._speaker is not None
            self._turn += bool(marked[t - own.start]) or changed
            self._speaker = speaker if speaker is not None else self._speaker
            if isinstance(speaker, str | int):
                self.names.setdefault(self._turn, str(speaker))
            turns.append(self._turn)
        return turns


def _apply_clock(
    source: str,
    clock: Sequence[Field],
    keys: Sequence[str],
    starts: list[int | None],
    ends: list[int | None],
    speakers: list[object],
) -> None:
    """Set the times and speakers of words from those of the raw words in `clock`, aligned by keys."""
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
