"""Find all copies of each word, by aligning the tracks of a file when it is read."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.document.words import Word
from cappunc_cli.formats.json.occurrences import NO_WORD, Occurrence, Occurrences
from cappunc_cli.formats.json.styles import Style, differing, features, styles_of
from cappunc_cli.formats.json.tokens import Tokens, slice_parts, split_letters, tokenize
from cappunc_cli.formats.json.tracks import Fields, Track
from cappunc_cli.formats.json.word_alignment import aligned_blocks
from cappunc_cli.formats.json.word_table import WordTable

# Up to so many words of a copy can be another spelling of the track's own words; more are words that only it has.
_LONGEST_SPELLING = 3


class SyncedTracks:
    """The tracks of a file, with all copies of their words.

    A stream is a run of fields that show words: the word list of a track or one of its copies. `styles` has the style
    of each stream and `track_of` its track. `counts` are the numbers of words of the tracks. `differing` are the words
    that have a capital in one stream and none in another, though both streams show case.
    """

    __slots__ = ("_table", "counts", "differing", "fields", "places", "styles", "tokens", "track_of", "tracks")

    def __init__(self, source: str) -> None:
        self.fields, self.tokens, self.places = Fields(source), Tokens(), Occurrences()
        self.tracks: list[Track] = []
        self.counts: list[int] = []
        self.differing: list[int] = []
        self.track_of: list[Track] = []
        self.styles: list[Style] = []
        self._table = WordTable(self.fields, self.tokens, self.places, self.styles)

    @property
    def words(self) -> list[Word]:
        """The words of all tracks."""
        return self._table.words

    @property
    def names(self) -> dict[int, str]:
        """The speakers of turns, where the file names them."""
        return self._table.names

    def add(self, track: Track) -> None:
        """Add a track: align its copies, decide the style of each stream, and append its words."""
        first_place, first = len(self.places), len(self.track_of)
        streams = (track.words, *track.copies, *(copy for _, copy in track.twins))
        runs = [self.fields.extend(stream) for stream in streams]
        unmarked = [not all(field.marks for field in stream) for stream in streams]
        own = tokenize(self.fields, runs[0], self.tokens)
        self.places.add_all(first, own, own, own)
        drafts: Sequence[int] = own
        for number in range(1, 1 + len(track.copies)):
            tokens = tokenize(self.fields, runs[number], self.tokens)
            drafts = self._align_copy(first + number, drafts, tokens, not unmarked[number])
        by_field: dict[int, list[int]] = {}
        if track.twins:
            for d in own:
                for f in {f for f, _, _ in self.tokens.parts(d)}:
                    by_field.setdefault(f, []).append(d)
        for number, (f, _) in enumerate(track.twins, 1 + len(track.copies)):
            tokens = tokenize(self.fields, runs[number], self.tokens)
            self._align_copy(first + number, by_field.get(runs[0].start + f, []), tokens, False)
        self._renumber(drafts, own, first_place)
        self._add_styles(first_place, unmarked, len(drafts))
        self._table.add(track.clock, drafts, own, first_place)
        bare = replace(track, words=(), copies=(), twins=(), clock=())
        self.tracks.append(bare)
        self.track_of += [bare] * len(streams)
        self.counts.append(len(drafts))

    def _align_copy(self, stream: int, drafts: Sequence[int], tokens: Sequence[int], marks: bool) -> Sequence[int]:
        """Align the tokens of a copy with the words so far, which are tokens, too.

        Returns the words together with those that only this copy has. A copy that never shows `marks` adds no words,
        because a mark on one of them would be lost.
        """
        words = array("I")
        keys = self.tokens.keys
        for same, i, i_stop, j, j_stop in aligned_blocks([keys[d] for d in drafts], [keys[t] for t in tokens]):
            ours, theirs = drafts[i:i_stop], tokens[j:j_stop]
            words.extend(ours)
            if same or len(ours) == len(theirs):
                self.places.add_all(stream, theirs, ours, ours)
            elif marks and (not ours or len(theirs) > max(len(ours), _LONGEST_SPELLING)):
                self.places.add_all(stream, theirs, theirs, theirs)
                words.extend(theirs)
            elif ours and theirs:
                self._add_respelled(stream, ours, theirs)
        return words

    def _add_respelled(self, stream: int, ours: Sequence[int], theirs: Sequence[int]) -> None:
        """Add places of tokens that are another spelling of words, or the same letters split differently."""
        keys = self.tokens.keys
        same_letters = "".join([keys[d] for d in ours]) == "".join([keys[t] for t in theirs])
        if same_letters and len(theirs) == 1:
            text, parts = self.tokens.texts[theirs[0]], self.tokens.parts(theirs[0])
            pieces = split_letters(text, [len(keys[d]) for d in ours])
            for d, (a, b) in zip(ours, pieces, strict=False):
                self.places.add(Occurrence(stream, self.tokens.add(text[a:b], slice_parts(parts, a, b)), d, d))
            if pieces:
                return
        at = 0
        for k, token in enumerate(theirs):
            mark_of = ours[-1] if k + 1 == len(theirs) else None
            if same_letters:
                self.places.add(Occurrence(stream, token, None, mark_of, (ours[0], ours[-1] + 1, at)))
            else:
                self.places.add(Occurrence(stream, token, ours[0] if k == 0 else None, mark_of))
            at += len(keys[token])

    def _renumber(self, drafts: Sequence[int], own: range, first_place: int) -> None:
        """Replace tokens by the numbers of their words, in the places from `first_place` on."""
        if len(drafts) == len(own) and own.start == len(self.words):
            return  # so far, tokens and words have the same numbers
        numbers = array("q", [NO_WORD]) * (len(self.tokens) - own.start)
        for n, d in enumerate(drafts, len(self.words)):
            numbers[d - own.start] = n
        self.places.renumber(first_place, numbers, own.start)

    def _add_styles(self, first_place: int, unmarked: Sequence[bool], count: int) -> None:
        """Determine the styles of the streams whose places start at `first_place`, and which show `count` new words."""
        first, base = len(self.styles), len(self.words)
        texts = self.tokens.texts
        # For each stream, the features of each word in it; 0 for words that it does not show.
        seen = [bytearray(count) for _ in unmarked]
        for stream, tokens, words in self.places.single_words(first_place):
            here, found = seen[stream - first], map(features, map(texts.__getitem__, tokens))
            if len(words) == count:
                here[:] = bytearray(found)
            else:
                for word, bits in zip(words, found, strict=True):
                    here[word - base] |= bits
        self.styles += styles_of(seen, unmarked)
        self.differing += [base + i for i in differing(seen, self.styles[first:])]
