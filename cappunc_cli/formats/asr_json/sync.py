"""Every copy of a word: found by alignment when a file is read, changed together when it is written."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress, repeat, takewhile
from typing import NamedTuple

from cappunc_cli.column import Column
from cappunc_cli.labels import Label, dress, stripped
from cappunc_cli.words import Words

from .alignment import blocks
from .tokens import Tokens, cut, sliced, tokenize
from .tracks import Field, Fields, Track

# Below this share of marked words a list that has none is simply unpunctuated.
_RARE = 1 / 50
# A text that has this many words more than the list says something of its own.
_SPELLED = 3
_NOBODY = -1
#: What a stream shows of a word: the word itself, a mark, a capital.
_SHOWN, _MARKED, _CAPITAL = 1, 2, 4


class Place(NamedTuple):
    """A token of a stream, and the words whose case and mark it shows, all by their numbers.

    None: another word's spelling has no such end (`25` for "twenty five" has both, the
    "and" in "one hundred and five" against `105` neither). Where the same letters are cut
    into other words (`well-known` for "well known"), `letters` are the words from, to, and
    the number of their letters before this token's own.
    """

    stream: int
    token: int
    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


class Style(NamedTuple):
    """What a stream writes: a word list may keep case and leave the marks to the text."""

    case: bool = True
    marks: bool = True


_WHOLE = Style()


class Places:
    """Places in columns, stream by stream."""

    __slots__ = ("_case_of", "_letters", "_mark_of", "_streams", "_tokens")

    def __init__(self) -> None:
        self._streams, self._tokens = Column(), array("I")
        self._case_of, self._mark_of = array("q"), array("q")
        self._letters: dict[int, tuple[int, int, int]] = {}

    def add(self, place: Place) -> None:
        """Append a place."""
        if place.letters is not None:
            self._letters[len(self)] = place.letters
        self.add_all(
            place.stream,
            [place.token],
            [_NOBODY if place.case_of is None else place.case_of],
            [_NOBODY if place.mark_of is None else place.mark_of],
        )

    def add_all(self, stream: int, tokens: Iterable[int], case_of: Iterable[int], mark_of: Iterable[int]) -> None:
        """Append places without letters."""
        self._tokens.extend(tokens)
        self._case_of.extend(iter(case_of))
        self._mark_of.extend(iter(mark_of))
        if len(self._streams) < len(self._tokens):
            self._streams.add(stream, len(self._tokens) - len(self._streams))

    def renumber(self, start: int, numbers: Sequence[int], first: int) -> None:
        """From `start` on, the words have other numbers: `numbers`, which begin with that of word `first`."""
        for column in (self._case_of, self._mark_of):
            column[start:] = array("q", [n if n == _NOBODY else numbers[n - first] for n in column[start:]])
        for i in list(takewhile(lambda i: i >= start, reversed(self._letters))):
            a, b, at = self._letters[i]
            self._letters[i] = numbers[a - first], numbers[b - 1 - first] + 1, at

    def whole(self, start: int) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
        """Of the places from `start` on that show one word and all of it: tokens and words, stream by stream."""
        for stream, a, b in self._streams[start:].stretches():
            some = slice(start + a, start + b)
            tokens, words, marks = self._tokens[some], self._case_of[some], self._mark_of[some]
            if words != marks or _NOBODY in words:
                good = [word == mark != _NOBODY for word, mark in zip(words, marks, strict=True)]
                tokens, words = array("I", compress(tokens, good)), array("q", compress(words, good))
            yield stream or 0, tokens, words

    def changed(self, words: Sequence[int]) -> Iterator[Place]:
        """The places that show a word that is true in `words`, which ends with a false one for nobody."""
        columns = zip(self._streams, self._tokens, self._case_of, self._mark_of, strict=True)
        letters = self._letters
        for i, (stream, token, case_of, mark_of) in enumerate(columns):
            if words[case_of] or words[mark_of] or i in letters:
                whose = None if case_of == _NOBODY else case_of, None if mark_of == _NOBODY else mark_of
                yield Place(stream or 0, token, *whose, letters.get(i))

    def tokens(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The tokens of all places, stream by stream."""
        for stream, a, b in self._streams.stretches():
            yield stream or 0, self._tokens[a:b]

    def __len__(self) -> int:
        return len(self._tokens)


class Synced:
    """A file's tracks, one after the other, with their words settled.

    `streams` are the runs of fields that show words, each with the number of its track; `counts` the words of each.
    `differing` are words that have a capital in one stream and none in another, though both keep case.
    """

    __slots__ = (
        "_cue", "_speaker", "_turn", "counts", "differing", "fields", "places", "streams", "styles", "tokens", "tracks",
        "words",
    )  # fmt: skip

    def __init__(self, source: str) -> None:
        self.fields, self.tokens, self.places, self.words = Fields(source), Tokens(), Places(), Words()
        self.tracks: list[Track] = []
        self.counts: list[int] = []
        self.differing: list[int] = []
        self.streams: list[tuple[range, int]] = []
        self.styles: list[Style] = []
        self._cue = self._turn = 0
        self._speaker: object = None

    def add(self, track: Track) -> None:
        """Find the copies of each word of one more track."""
        begun, first = len(self.places), len(self.streams)
        runs = [
            self.fields.extend(stream) for stream in (track.words, *track.copies, *(copy for _, copy in track.twins))
        ]
        silent = [not all(f.marks for f in s) for s in (track.words, *track.copies, *(copy for _, copy in track.twins))]
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
        self.streams += [(run, len(self.tracks)) for run in runs]
        self._settle(track, drafts, own, begun, first, silent)
        self.tracks.append(replace(track, words=(), copies=(), twins=(), clock=()))
        self.counts.append(len(drafts))

    def _copy(self, number: int, drafts: Sequence[int], tokens: Sequence[int], marks: bool) -> Sequence[int]:
        """Place the tokens of a copy; returns the words, which are tokens too, with the copy's own ones among them.

        What never shows marks adds no words: a mark that one of them gets would be lost.
        """
        grown = array("I")
        keys = self.tokens.keys
        for same, i, i_stop, j, j_stop in blocks([keys[d] for d in drafts], [keys[t] for t in tokens]):
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
                self.places.add(Place(number, self.tokens.add(text[a:b], sliced(parts, a, b)), d, d))
            if pieces:
                return
        at = 0
        for k, token in enumerate(theirs):
            mark_of = ours[-1] if k + 1 == len(theirs) else None
            if same:
                self.places.add(Place(number, token, None, mark_of, (ours[0], ours[-1] + 1, at)))
            else:
                self.places.add(Place(number, token, ours[0] if k == 0 else None, mark_of))
            at += len(keys[token])

    def _number(self, drafts: Sequence[int], own: range, begun: int) -> None:
        """Let the places from `begun` on know their words by the order of all words."""
        if len(drafts) == len(own) and own.start == len(self.words):
            return  # the words are the track's own tokens, and these are all there are
        numbers = array("q", [_NOBODY]) * (len(self.tokens) - own.start)
        for n, d in enumerate(drafts, len(self.words)):
            numbers[d - own.start] = n
        self.places.renumber(begun, numbers, own.start)

    def _settle(
        self, track: Track, drafts: Sequence[int], own: range, begun: int, first: int, silent: Sequence[bool]
    ) -> None:
        """Decide what the streams write, and what the words of a track are."""
        count, base, tokens, names = len(drafts), len(self.words), self.tokens, self.fields.names
        # Of each stream, what it shows of each word: _shows, and 0 of a word that it lacks.
        seen = [bytearray(count) for _ in silent]
        every = array("q", range(base, base + count))
        speakers: list[object] = [None] * count
        said_by = tokens.speakers[own.start :]
        named = any(name is not None and names[name] is not None for name, _, _ in said_by.stretches())
        if named:
            told = [None if name is None else names[name] for name in said_by]
            speakers = [told[d - own.start] for d in drafts]
        for stream, shows, of in self.places.whole(begun):
            here, found = seen[stream - first], map(_shows, map(tokens.texts.__getitem__, shows))
            if of == every:
                here[:] = bytearray(found)
            else:
                for word, what in zip(of, found, strict=True):
                    here[word - base] |= what
            for token, word in zip(shows, of, strict=True) if named else ():
                if speakers[word - base] is None:
                    speakers[word - base] = told[token - own.start]
        for s, mute in enumerate(silent):
            raw = _lacks(s, seen, _MARKED)
            # Lower case alone, or beside marks, is no style, but what is to be restored.
            self.styles.append(Style(not (raw and _lacks(s, seen, _CAPITAL)), not mute and not raw))
        self.differing += [base + i for i in _differing(list(compress(seen, [s.case for s in self.styles[first:]])))]
        shown = array("q", [_NOBODY]) * count
        plain = [style == _WHOLE for style in self.styles[first:]]
        for stream, shows, of in self.places.whole(begun):
            if not plain[stream - first] or _NOBODY not in shown:
                continue
            if of == every and shown.count(_NOBODY) == count:
                shown = array("q", shows)
            else:
                for token, word in zip(shows, of, strict=True):
                    if shown[word - base] == _NOBODY:
                        shown[word - base] = token
        starts: Sequence[int | None] = tokens.starts[own.start : own.stop]
        ends: Sequence[int | None] = tokens.ends[own.start : own.stop]
        if len(drafts) > len(own):  # what only a copy has has no time
            places = [d - own.start if d < own.stop else -1 for d in drafts]
            starts, ends = ([*map([*known, None].__getitem__, places)] for known in (starts, ends))
        if track.clock:
            starts, ends = list(starts), list(ends)
            _timed(self.fields.source, track.clock, [tokens.keys[d] for d in drafts], starts, ends, speakers)
        written = [d if t == _NOBODY else t for d, t in zip(drafts, shown, strict=True)]
        begins = self._cue + bool(self.tracks)
        said_in = Column()
        said_in.extend_from(tokens.cues[own.start :], [t - own.start for t in written])
        cues = Column()
        for cue, start, stop in said_in.stretches():
            self._cue = max(self._cue, begins + (cue or 0))
            cues.add(self._cue, stop - start)
        own_turns = list(tokens.turns[own.start :])
        turns = array("q")
        if named or any(own_turns):
            for t, speaker in zip(written, speakers, strict=True):
                changed = speaker is not None and speaker != self._speaker and self._speaker is not None
                self._turn += bool(own_turns[t - own.start]) or changed
                self._speaker = speaker if speaker is not None else self._speaker
                turns.append(self._turn)
        else:
            turns.extend(repeat(self._turn, len(written)))
        self.words.extend([tokens.texts[t] for t in written], starts, ends, cues, turns)


@lru_cache(maxsize=1 << 15)
def _shows(text: str) -> int:
    """_SHOWN, and whether the word has a mark or a capital."""
    label = stripped(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | _MARKED * marked | _CAPITAL * capital


def _lacks(stream: int, seen: Sequence[bytearray], what: int) -> bool:
    """Streams without a mark, or without a capital, beside others that have them keep to that."""
    own = _bits(seen[stream], _SHOWN)
    count = own.bit_count()
    if not count or _bits(seen[stream], what):
        return False
    return any((_bits(theirs, what) & own).bit_count() > _RARE * count for s, theirs in enumerate(seen) if s != stream)


def _differing(seen: Sequence[bytearray]) -> Iterator[int]:
    """The words that some streams show with a capital and others without."""
    high = low = 0
    for stream in seen:
        capitals = _bits(stream, _CAPITAL)
        high, low = high | capitals, low | _bits(stream, _SHOWN) & ~capitals
    if both := high & low:
        yield from compress(range(len(seen[0])), both.to_bytes(len(seen[0])))


def _bits(seen: bytearray, what: int) -> int:
    """A number with one bit for each word of which a stream shows that."""
    return (int.from_bytes(seen) & int.from_bytes(bytes([what]) * len(seen))) >> what.bit_length() - 1


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
    for same, i, i_stop, j, j_stop in blocks(keys, raw.keys):
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


def target(
    own: str, place: Place, style: Style, before: Sequence[str], after: Sequence[str], led: Container[int] = ()
) -> str:
    """What the place, which shows `own`, shows when its words turn from `before` into `after`.

    It takes the case of words that are `led`, whether or not these change theirs.
    """
    case_of = place.case_of
    if case_of is not None and case_of not in led and before[case_of] == after[case_of]:
        case_of = None
    mark_of = place.mark_of if place.mark_of is not None and before[place.mark_of] != after[place.mark_of] else None
    if case_of == mark_of and case_of is not None and style == _WHOLE and own == before[case_of]:
        return after[case_of]
    if place.letters is not None and style.case:
        own = _with_letters(own, place.letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = stripped(own)
    if case_of is not None and bare == stripped(before[case_of])[0]:
        bare = stripped(after[case_of])[0]  # it may have got its diacritics
    if case_of is not None and style.case:
        same = case_of in led and bare == stripped(after[case_of])[0]
        label = _with_case(label, None if same else before[case_of], after[case_of])
    if mark_of is not None and style.marks:
        label = label.with_mark(stripped(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str | None, after: str) -> Label:
    """The label with the case of `after`, unless it was that `before`."""
    new = stripped(after)[1]
    if before is not None and ((old := stripped(before)[1]).case, old.form) == (new.case, new.form):
        return label
    return replace(label, case=new.case, form=new.form)


def _with_letters(own: str, letters: tuple[int, int, int], before: Sequence[str], after: Sequence[str]) -> str:
    """The token with each letter changed as the same letter of the words was."""
    first, stop, at = letters
    old = "".join([c for text in before[first:stop] for c in text if c.isalnum()])
    new = "".join([c for text in after[first:stop] for c in text if c.isalnum()])
    shown = list(own)
    for i, c in enumerate(own):
        if c.isalnum():
            if at < len(new) == len(old) and old[at] != new[at]:
                shown[i] = new[at]
            at += 1
    return "".join(shown)
