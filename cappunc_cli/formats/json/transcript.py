"""Find the words of a transcript, and all copies of each, by aligning everything in the file that shows them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cappunc_cli.document.words import Copy, Span, Word
from cappunc_cli.formats.json.dialect import Anchor, Field, Track, speaker_name
from cappunc_cli.formats.json.scan import characters
from cappunc_cli.formats.json.tokens import Showing, Stream, Token, differing, set_styles, split_letters, tokenize

# Up to so many words of a copy can be another spelling of the track's own words; more are words that only it has.
_LONGEST_SPELLING = 3
#: (same, start, stop, start, stop): a block of each sequence; `same` if the words are equal.
Block = tuple[bool, int, int, int, int]

#: How many words are aligned at a time, and how many are compared at a time.
_WINDOW, _STEP = 1500, 256

#: A word of a track: its tokens, one for each copy that shows it.
Spoken = list[Token]


class _Respelled(NamedTuple):
    """A token of another spelling of the words `ours`; `before` is the number of letters before it, if they agree."""

    token: Token
    ours: Sequence[Spoken]
    first: bool
    last: bool
    before: int | None


class Transcript:
    """The words of a file and their copies."""

    def __init__(self, source: str, tracks: Iterable[Track]) -> None:
        self.source = source
        self.words: list[Word] = []
        #: The channel of each track, and how many words it has.
        self.channels: list[tuple[object, int]] = []
        #: Copies that are another spelling of words, or part of one.
        self.respelled: list[tuple[Copy, Showing]] = []
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

    def _add(self, track: Track) -> None:
        """Align the copies of a track and append its words."""
        streams: list[Stream] = []

        def tokens(fields: Sequence[Field], marks: bool = True) -> list[Token]:
            streams.append(Stream(track.new_mark, marks=marks))
            return self._tokens(fields, streams[-1])

        spoken: list[Spoken] = [[token] for token in tokens(track.words)]
        respelled: list[_Respelled] = []
        for copy in track.copies:
            spoken = self._align(spoken, tokens(copy), respelled)
        places = sorted((start, n) for n, word in enumerate(spoken) for start, _ in word[0].copy) if track.bare else []
        for of, copy in track.bare:
            own = spoken
            if of is not None:  # the words of which a part is inside a literal
                inside = (bisect_left(places, (at, 0)) for at in track.words[of].literal.span)
                own = [spoken[n] for n in sorted({n for _, n in places[slice(*inside)]})]
            self._align(own, tokens(copy, marks=False), respelled, marks=False)
        set_styles(spoken, streams)
        self.differing += [len(self.words) + i for i in differing(spoken)]
        numbers = {id(word): number for number, word in enumerate(spoken, len(self.words))} if respelled else {}
        self.respelled += [_showing(token, numbers) for token in respelled]
        self.anchors += track.anchors
        self.channels.append((track.channel, len(spoken)))
        self._add_words(track, spoken)

    def literal_at(self, offset: int) -> tuple[Field, Stream]:
        """The field whose literal contains an offset of the source, and its stream."""
        return self._literals[self._starts[bisect_right(self._starts, offset) - 1]]

    def entry_at(self, offset: int) -> Field | None:
        """The field that contains an offset, if it is an entry of a list whose marks are entries."""
        field, stream = self.literal_at(offset)
        return None if field.item is None or stream.new_mark is None else field

    def closely_followed(self, entry: Field) -> bool:
        """Whether no join comes after an entry in its stream."""
        own = self._literals[entry.literal.start][1]
        later = range(bisect_right(self._starts, entry.literal.start), len(self._starts))
        found = (self._literals[self._starts[n]] for n in later)
        following = next((field for field, stream in found if stream is own), None)
        return following is not None and following.item is not None and not following.join

    def _tokens(self, fields: Sequence[Field], stream: Stream) -> list[Token]:
        """The tokens of a new stream; each string counts once, as a copy may turn out to be the words themselves."""
        own = []
        for field in fields:
            if field.literal.start not in self._literals:
                self._literals[field.literal.start] = field, stream
                own.append(field)
        return tokenize(self.source, own, stream)

    def _align(
        self, spoken: list[Spoken], tokens: Sequence[Token], respelled: list[_Respelled], marks: bool = True
    ) -> list[Spoken]:
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
                respelled += self._respelled(ours, theirs)
        return merged

    def _respelled(self, ours: Sequence[Spoken], theirs: Sequence[Token]) -> list[_Respelled]:
        """Tokens that are another spelling of words, or the same letters split differently."""
        same_letters = "".join([word[0].key for word in ours]) == "".join([token.key for token in theirs])
        if same_letters and len(theirs) == 1:
            (token,) = theirs
            places = characters(self.source, token.copy)
            pieces = split_letters(token.text, [len(word[0].key) for word in ours])
            for word, (a, b) in zip(ours, pieces, strict=False):
                word.append(replace(token, text=token.text[a:b], copy=tuple(fragments(places[a:b]))))
            if pieces:
                return []
        found, before = [], 0
        for k, token in enumerate(theirs):
            found.append(_Respelled(token, ours, k == 0, k + 1 == len(theirs), before if same_letters else None))
            before += len(token.key)
        return found

    def _add_words(self, track: Track, spoken: Sequence[Spoken]) -> None:
        first_cue = self._cue + bool(self.words)
        timing = self._timing(track, spoken) if track.timing else {}
        if track.begins_turn and self.words:
            self._turn += 1
            self._speaker = None
        for n, tokens in enumerate(spoken):
            own = tokens[0]
            spelled = next((token for token in tokens if token.stream.is_full), own)
            start, end, speaker = timing.get(n, (own.start, own.end, own.speaker))
            if speaker is None:
                speaker = next((token.speaker for token in tokens if token.speaker is not None), None)
            self._cue = max(self._cue, first_cue + spelled.cue)
            self._begin(track.channel, speaker, spelled.begins_turn)
            places = tuple([token.copy for token in tokens])
            preceded = n > 0 and spoken[n - 1][0].followed
            self.words.append(
                Word(spelled.text, start, end, self._cue, self._turn, places, False, own.followed, preceded)
            )

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
        raw = tokenize(self.source, track.timing, Stream())
        found = {n: (word[0].start, word[0].end, word[0].speaker) for n, word in enumerate(spoken)}
        blocks = aligned_blocks([word[0].key for word in spoken], [token.key for token in raw])
        for same, i, i_stop, j, j_stop in blocks:
            if same or i_stop - i == j_stop - j:
                found.update(
                    (n, (t.start, t.end, t.speaker)) for n, t in zip(range(i, i_stop), raw[j:j_stop], strict=True)
                )
            elif i < i_stop and j < j_stop:
                found[i] = raw[j].start, found[i][1], raw[j].speaker
                found[i_stop - 1] = found[i_stop - 1][0], raw[j_stop - 1].end, found[i_stop - 1][2]
        return found

    def speakers(self) -> dict[int, str]:
        """The names of speakers by turn, where the file has any; each of several channels is a speaker."""
        several = len({channel for channel, _ in self._speakers.values()}) > 1
        channels: dict[str, set[object]] = {}
        for channel, name in self._speakers.values():
            channels.setdefault(name or "", set()).add(channel)
        names: dict[int, str] = {}
        for turn, (channel, name) in self._speakers.items():
            if name is None:
                names |= {turn: str(channel)} if several else {}
            else:
                names[turn] = name if len(channels[name]) == 1 else f"{channel}-{name}"
        return names


def _showing(respelled: _Respelled, numbers: Mapping[int, int]) -> tuple[Copy, Showing]:
    first, last = (numbers[id(word)] for word in (respelled.ours[0], respelled.ours[-1]))
    mark_of = last if respelled.last else None
    if respelled.before is not None:
        return respelled.token.copy, Showing(None, mark_of, (first, last + 1, respelled.before))
    return respelled.token.copy, Showing(first if respelled.first else None, mark_of)


def fragments(places: Sequence[Span]) -> list[Span]:
    """Spans of characters as spans of what is together in the source."""
    found: list[Span] = []
    for start, stop in places:
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def aligned_blocks(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Block]:
    """Yield equal and differing blocks, in order, covering both sequences.

    Long sequences are aligned window by window, so that time and memory are linear in their length.
    """
    i = j = 0
    while i < len(ours) or j < len(theirs):
        run = 0
        while (step := ours[i + run : i + run + _STEP]) and step == theirs[j + run : j + run + _STEP]:
            run += len(step)
        while i + run < len(ours) and j + run < len(theirs) and ours[i + run] == theirs[j + run]:
            run += 1
        if run:
            yield True, i, i + run, j, j + run
            i, j = i + run, j + run
            continue
        found = _window(ours, theirs, i, j)
        yield from found
        i, j = found[-1][2], found[-1][4]


def _window(ours: Sequence[str], theirs: Sequence[str], i: int, j: int) -> list[Block]:
    from rapidfuzz.distance import Indel

    a, b = ours[i : i + _WINDOW], theirs[j : j + _WINDOW]
    result: list[Block] = []
    for op in Indel.opcodes(a, b):
        same = op.tag == "equal"
        span = (i + op.src_start, i + op.src_end, j + op.dest_start, j + op.dest_end)
        if result and not same and not result[-1][0]:
            result[-1] = (False, result[-1][1], span[1], result[-1][3], span[3])
        else:
            result.append((same, *span))
    # The alignment at the end of a window is unreliable: stop after the last long block of equal words.
    if i + len(a) < len(ours) or j + len(b) < len(theirs):
        solid = [k for k, x in enumerate(result) if x[0] and x[2] - x[1] >= 3]
        if solid:
            result = result[: solid[-1] + 1]
    return result
