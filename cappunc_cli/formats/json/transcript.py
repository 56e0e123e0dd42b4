"""Find the words of a transcript, and all copies of each, by aligning everything in the file that shows them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from cappunc_cli.document.words import Copy, Span, Word
from cappunc_cli.formats.json.scan import characters, decoded
from cappunc_cli.formats.json.tokens import CAPITAL, MARKED, Stream, Token, features, split_letters, tokenize
from cappunc_cli.formats.json.tracks import Anchor, Field, Track, speaker_name
from cappunc_cli.formats.splice import aligned_blocks, fragments

# Up to so many words of a copy can be another spelling of the track's own words; more are words that only it has.
_LONGEST_SPELLING = 3
# A copy without marks or capitals has that style only if more than this share of its words have them elsewhere.
_RARE = 1 / 50
#: A word of a track: its tokens, one for each copy that shows it.
Spoken = list[Token]


class OtherSpelling(NamedTuple):
    """A copy of another spelling: the numbers of the words whose case and whose mark it shows.

    Both are None for a token that is not the first or the last one: `25` for "twenty five" has both, but the "and" in
    "one hundred and five" for `105` has neither. Where the same letters are split into other words (`well-known` for
    "well known"), `letters` are the first word, the last one, and the number of their letters before this token.
    """

    copy: Copy
    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


class Transcript:
    """The words of a file and their copies."""

    def __init__(self, source: str, tracks: Iterable[Track]) -> None:
        self.source = source
        self.words: list[Word] = []
        #: The channel of each track, and how many words it has.
        self.channels: list[tuple[object, int]] = []
        #: Copies in the track being read that are another spelling of words, or part of one.
        self.respelled: list[OtherSpelling] = []
        self._respelled: list[tuple[Copy, Spoken | None, Spoken | None, tuple[Spoken, Spoken, int] | None]] = []
        self.anchors: list[Anchor] = []
        #: The words that have a capital in one copy and none in another, though both show case.
        self.differing: list[int] = []
        #: Where the literals with words start, in order; and the field and the stream of each.
        self._literals: dict[int, tuple[Field, Stream]] = {}
        self._cue = self._turn = 0
        #: The channel and the name of the last speaker, and of the speaker of each turn.
        self._speaker: tuple[object, str | None] | None = None
        self._speakers: dict[int, tuple[object, str | None]] = {}

        for track in tracks:
            self._add(track)
        self._starts = sorted(self._literals)
        self.speakers = self._names() if self._speakers else {}
        #: Whether marks are entries of their own somewhere.
        self.has_entries = any(field.item and stream.new_mark for field, stream in self._literals.values())

    def _add(self, track: Track) -> None:
        """Align the copies of a track and append its words."""
        spoken: list[Spoken] = []
        streams: list[Stream] = []
        for number, fields in enumerate(filter(None, track.streams)):
            streams.append(self._stream(fields, track))
            tokens = tokenize(streams[-1])
            spoken = self._align(spoken, tokens) if number else [[token] for token in tokens]
        places = sorted((start, n) for n, word in enumerate(spoken if track.bare else ()) for start, _ in word[0].copy)
        for of, fields in track.bare:
            own = spoken
            if of is not None:  # the words of which a part is inside a literal
                literal = track.streams[0][of].literal
                inside = (bisect_left(places, (at, 0)) for at in (literal.start, literal.stop))
                own = [spoken[n] for n in sorted({n for _, n in places[slice(*inside)]})]
            streams.append(self._stream(fields, track, marks=False))
            self._align(own, tokenize(streams[-1]), marks=False)
        if len(streams) > 1:
            _set_styles(spoken, streams)
            # Some streams show case and have a capital, and others not: a word that is written in two ways.
            capital = any(stream.features & CAPITAL for stream in streams)
            several = [n for n, word in enumerate(spoken if capital else ()) if len({token.text for token in word}) > 1]
            capitals = ({features(token.text) & CAPITAL for token in spoken[n] if token.stream.case} for n in several)
            self.differing += [len(self.words) + n for n, case in zip(several, capitals, strict=True) if len(case) > 1]
        numbers = {id(word): n for n, word in enumerate(spoken, len(self.words))} if self._respelled else {}
        for copy, case_of, mark_of, letters in self._respelled:
            at = (numbers[id(letters[0])], numbers[id(letters[1])], letters[2]) if letters else None
            self.respelled.append(OtherSpelling(copy, numbers.get(id(case_of)), numbers.get(id(mark_of)), at))
        self._respelled.clear()
        self.anchors += track.anchors
        self.channels.append((track.channel, len(spoken)))
        self._add_words(track, spoken)

    def literal_at(self, offset: int) -> tuple[Field, Stream]:
        """The field whose literal contains an offset of the source, and its stream."""
        return self._literals[self._starts[bisect_right(self._starts, offset) - 1]]

    def mark_entries(self, copy: Copy) -> dict[Span, Field]:
        """The fragments of a copy that are all of the text of a mark's entry, in lists whose marks are entries."""
        fields = {part: field for part in copy[1:] for field, stream in [self.literal_at(part[0])] if stream.new_mark}
        return {
            part: field
            for part, field in fields.items()
            if field.item is not None
            and not any(map(str.isalnum, field.literal))
            and decoded(self.source[slice(*part)]).strip() == field.literal.strip()
        }

    def _stream(self, fields: Iterable[Field], track: Track, marks: bool = True) -> Stream:
        """A new stream; each string counts once, as a copy may turn out to be the words themselves."""
        own: list[Field] = []
        stream = Stream(own, track.new_mark, marks=marks)
        for field in fields:
            if field.literal.start not in self._literals:
                self._literals[field.literal.start] = field, stream
                own.append(field)
        return stream

    def _align(self, spoken: list[Spoken], tokens: Sequence[Token], marks: bool = True) -> list[Spoken]:
        """Align the tokens of a copy with the words so far; returns these with the words that only the copy has.

        A copy that never shows `marks` adds no words, because a mark on one of them would be lost.
        """
        merged: list[Spoken] = []
        ours_keys, their_keys = [word[0].key for word in spoken], [token.key for token in tokens]
        for same, i, i_stop, j, j_stop in aligned_blocks(ours_keys, their_keys):
            ours, theirs = spoken[i:i_stop], tokens[j:j_stop]
            merged += ours
            if same or len(ours) == len(theirs):
                for word, token in zip(ours, theirs, strict=True):
                    word.append(token)
            elif marks and (not ours or len(theirs) > max(len(ours), _LONGEST_SPELLING)):
                merged += [[token] for token in theirs]
            elif ours and theirs:
                self._respell(ours, theirs)
        return merged

    def _respell(self, ours: Sequence[Spoken], theirs: Sequence[Token]) -> None:
        """Note tokens that are another spelling of words, or the same letters split differently."""
        same_letters = "".join([word[0].key for word in ours]) == "".join([token.key for token in theirs])
        if same_letters and len(theirs) == 1:
            (token,) = theirs
            places = characters(self.source, token.copy)
            pieces = split_letters(token.text, [len(word[0].key) for word in ours])
            for word, (a, b) in zip(ours, pieces, strict=False):
                word.append(replace(token, text=token.text[a:b], copy=tuple(fragments(places[a:b]))))
            if pieces:
                return
        before = 0
        for token in theirs:
            case_of = ours[0] if token is theirs[0] and not same_letters else None
            mark_of = ours[-1] if token is theirs[-1] else None
            self._respelled.append(
                (token.copy, case_of, mark_of, (ours[0], ours[-1], before) if same_letters else None)
            )
            before += len(token.key)

    def _add_words(self, track: Track, spoken: Sequence[Spoken]) -> None:
        first_cue = self._cue + bool(self.words)
        timing = self._timing(track, spoken) if track.timing else {}
        if track.begins_turn and self.words:
            self._turn += 1
            self._speaker = None
        preceded = False
        before: tuple[object, object] = self._speaker or (None, None)
        for n, tokens in enumerate(spoken):
            own = spelled = tokens[0]
            if not own.stream.case or not own.stream.marks:
                spelled = next((token for token in tokens if token.stream.case and token.stream.marks), own)
            start, end, speaker = timing.get(n) or (own.start, own.end, own.speaker)
            for token in tokens if speaker is None else ():
                speaker = token.speaker if speaker is None else speaker
            self._cue = max(self._cue, first_cue + spelled.cue)
            who = track.channel, speaker
            if spelled.begins_turn or who != before:
                self._begin(*who, spelled.begins_turn)
            before = who
            made = Word(spelled.text, start, end, self._cue, self._turn, preceded=preceded, signs=own.signs)
            made.places = tuple([token.copy for token in tokens])
            made.followed = preceded = own.signs != ""
            self.words.append(made)

    def _begin(self, channel: object, speaker: object, new_turn: bool) -> None:
        """Count turns: a new one starts with another speaker, or with a dash or chevrons before a word."""
        name = speaker_name(speaker)
        if name is None and self._speaker is not None and self._speaker[0] == channel:
            name = self._speaker[1]
        who = (channel, name)
        self._turn += new_turn or (self._speaker is not None and who != self._speaker)
        if who != (None, None):
            self._speaker = who
        if self._speaker is not None:
            self._speakers.setdefault(self._turn, self._speaker)

    def _timing(self, track: Track, spoken: Sequence[Spoken]) -> dict[int, tuple[int | None, int | None, object]]:
        """The start, end and speaker of words, from the raw words of a track that has such; aligned by keys."""
        raw = tokenize(Stream(track.timing))
        own = [word[0] for word in spoken]
        found = {n: (token.start, token.end, token.speaker) for n, token in enumerate(own)}
        blocks = aligned_blocks([token.key for token in own], [token.key for token in raw])
        for same, i, i_stop, j, j_stop in blocks:
            if same or i_stop - i == j_stop - j:
                found |= {n: (t.start, t.end, t.speaker) for n, t in enumerate(raw[j:j_stop], i)}
            elif i < i_stop and j < j_stop:
                found[i] = raw[j].start, found[i][1], raw[j].speaker
                found[i_stop - 1] = found[i_stop - 1][0], raw[j_stop - 1].end, found[i_stop - 1][2]
        return found

    def _names(self) -> dict[int, str]:
        """The names of speakers by turn, where the file has any; each of several channels is a speaker."""
        known = set(self._speakers.values())
        several = len({channel for channel, _ in known}) > 1
        named = Counter(name for _, name in known)  # in how many channels there is one of this name
        names = (
            (turn, name if name and named[name] == 1 else f"{channel}-{name}" if name else str(channel))
            for turn, (channel, name) in self._speakers.items()
        )
        return {turn: name for turn, name in names if several or self._speakers[turn][1] is not None}


def _set_styles(spoken: Sequence[Spoken], streams: Sequence[Stream]) -> None:
    """Find out whether streams show case and marks, from the tokens of each word."""
    for stream in streams:
        lacking = []
        for bit in (MARKED, CAPITAL):
            if stream.features and not stream.features & bit and any(other.features & bit for other in streams):
                own = [word for word in spoken if any(token.stream is stream for token in word)]
                # How many of its words have the feature in another stream.
                other = Counter(token.stream for word in own for token in word if features(token.text) & bit)
                lacking += [bit] if max(other.values(), default=0) > _RARE * len(own) else []
        # Lower case in all streams, or together with marks, is not a style but what is to be restored.
        stream.case = len(lacking) < 2
        stream.marks &= MARKED not in lacking
