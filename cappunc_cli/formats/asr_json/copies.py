"""Every copy of a word, found by alignment when a file is read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.formats.asr_json.occurrences import NOBODY, Occurrence, Occurrences
from cappunc_cli.formats.asr_json.styles import Style, differing, shows, styles_of
from cappunc_cli.formats.asr_json.tokens import Tokens, cut, sliced, tokenize
from cappunc_cli.formats.asr_json.tracks import Fields, Track
from cappunc_cli.formats.asr_json.word_alignment import aligned_blocks
from cappunc_cli.formats.asr_json.word_table import WordTable
from cappunc_cli.transcript.words import Words

# A text that has this many words more than the list says something of its own.
_SPELLED = 3


class Synced:
    """A file's tracks, one after the other, with their words settled.

    A stream is a run of fields that show words: `styles` says what each writes, `track_of` whose it is. `counts` are
    the words of each track. `differing` are words that have a capital in one stream and none in another, though both
    keep case.
    """

    __slots__ = ("_spoken", "counts", "differing", "fields", "places", "styles", "tokens", "track_of", "tracks")

    def __init__(self, source: str) -> None:
        self.fields, self.tokens, self.places = Fields(source), Tokens(), Occurrences()
        self.tracks: list[Track] = []
        self.counts: list[int] = []
        self.differing: list[int] = []
        self.track_of: list[Track] = []
        self.styles: list[Style] = []
        self._spoken = WordTable(self.fields, self.tokens, self.places, self.styles)

    @property
    def words(self) -> Words:
        """The words of all tracks."""
        return self._spoken.words

    @property
    def names(self) -> dict[int, str]:
        """Who speaks in the turns, where that is said."""
        return self._spoken.names

    def add(self, track: Track) -> None:
        """Find the copies of each word of one more track, and settle what its words are."""
        begun, first = len(self.places), len(self.track_of)
        streams = (track.words, *track.copies, *(copy for _, copy in track.twins))
        runs = [self.fields.extend(stream) for stream in streams]
        silent = [not all(field.marks for field in stream) for stream in streams]
        own = tokenize(self.fields, runs[0], self.tokens)
        self.places.add_all(first, own, own, own)
        drafts: Sequence[int] = own
        for number in range(1, 1 + len(track.copies)):
            tokens = tokenize(self.fields, runs[number], self.tokens)
            drafts = self._copy(first + number, drafts, tokens, not silent[number])
        by_field: dict[int, list[int]] = {}
        if track.twins:
            for d in own:
                for f in {f for f, _, _ in self.tokens.parts(d)}:
                    by_field.setdefault(f, []).append(d)
        for number, (f, _) in enumerate(track.twins, 1 + len(track.copies)):
            tokens = tokenize(self.fields, runs[number], self.tokens)
            self._copy(first + number, by_field.get(runs[0].start + f, []), tokens, False)
        self._number(drafts, own, begun)
        self._settle(begun, silent, len(drafts))
        self._spoken.add(track.clock, drafts, own, begun)
        bare = replace(track, words=(), copies=(), twins=(), clock=())
        self.tracks.append(bare)
        self.track_of += [bare] * len(streams)
        self.counts.append(len(drafts))

    def _copy(self, number: int, drafts: Sequence[int], tokens: Sequence[int], marks: bool) -> Sequence[int]:
        """Place the tokens of a copy; returns the words, which are tokens too, with the copy's own ones among them.

        What never shows marks adds no words: a mark that one of them gets would be lost.
        """
        grown = array("I")
        keys = self.tokens.keys
        for same, i, i_stop, j, j_stop in aligned_blocks([keys[d] for d in drafts], [keys[t] for t in tokens]):
            ours, theirs = drafts[i:i_stop], tokens[j:j_stop]
            grown.extend(ours)
            if same or len(ours) == len(theirs):
                self.places.add_all(number, theirs, ours, ours)
            elif marks and (not ours or len(theirs) > max(len(ours), _SPELLED)):
                self.places.add_all(number, theirs, theirs, theirs)
                grown.extend(theirs)
            elif ours and theirs:
                self._respelled(number, ours, theirs)
        return grown

    def _respelled(self, number: int, ours: Sequence[int], theirs: Sequence[int]) -> None:
        """Place words that are other words, or the same letters cut otherwise."""
        keys = self.tokens.keys
        same = "".join([keys[d] for d in ours]) == "".join([keys[t] for t in theirs])
        if same and len(theirs) == 1:
            text, parts = self.tokens.texts[theirs[0]], self.tokens.parts(theirs[0])
            pieces = cut(text, [len(keys[d]) for d in ours])
            for d, (a, b) in zip(ours, pieces, strict=False):
                self.places.add(Occurrence(number, self.tokens.add(text[a:b], sliced(parts, a, b)), d, d))
            if pieces:
                return
        at = 0
        for k, token in enumerate(theirs):
            mark_of = ours[-1] if k + 1 == len(theirs) else None
            if same:
                self.places.add(Occurrence(number, token, None, mark_of, (ours[0], ours[-1] + 1, at)))
            else:
                self.places.add(Occurrence(number, token, ours[0] if k == 0 else None, mark_of))
            at += len(keys[token])

    def _number(self, drafts: Sequence[int], own: range, begun: int) -> None:
        """Let the places from `begun` on know their words by the order of all words."""
        if len(drafts) == len(own) and own.start == len(self.words):
            return  # the words are the track's own tokens, and these are all there are
        numbers = array("q", [NOBODY]) * (len(self.tokens) - own.start)
        for n, d in enumerate(drafts, len(self.words)):
            numbers[d - own.start] = n
        self.places.renumber(begun, numbers, own.start)

    def _settle(self, begun: int, silent: Sequence[bool], count: int) -> None:
        """Tell what the streams from the place `begun` on, which show so many new words, write."""
        first, base = len(self.styles), len(self.words)
        texts = self.tokens.texts
        # Of each stream, what it shows of each word; 0 of a word that it lacks.
        seen = [bytearray(count) for _ in silent]
        for stream, tokens, words in self.places.whole(begun):
            here, found = seen[stream - first], map(shows, map(texts.__getitem__, tokens))
            if len(words) == count:
                here[:] = bytearray(found)
            else:
                for word, what in zip(words, found, strict=True):
                    here[word - base] |= what
        self.styles += styles_of(seen, silent)
        self.differing += [base + i for i in differing(seen, self.styles[first:])]
