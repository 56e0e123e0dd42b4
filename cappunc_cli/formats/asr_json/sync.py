"""Every copy of a word: found by alignment when a file is read, changed together when it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.labels import Label, dress, stripped

from .alignment import blocks
from .tokens import Token, cut, tokenize
from .tracks import Field, Track

# Below this share of marked words a list that has none is simply unpunctuated.
_RARE = 1 / 50
# A text that has this many words more than the list says something of its own.
_SPELLED = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A token of a stream, and the words (entries) whose case and mark it shows.

    None: another word's spelling has no such end (`25` for "twenty five" has both, the
    "and" in "one hundred and five" against `105` neither). Where the same letters are cut
    into other words (`well-known` for "well known"), `letters` are the words from, to, and
    the number of their letters before this token's own.
    """

    stream: int
    token: Token
    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One spoken word: the token that says what is written now, and its clock."""

    token: Token
    start: int | None
    end: int | None
    speaker: object


@dataclass(frozen=True, slots=True)
class Style:
    """What a stream writes: a word list may keep case and leave the marks to the text."""

    case: bool = True
    marks: bool = True


@dataclass(frozen=True, slots=True)
class Synced:
    """A track with its words settled; places[i] belong to entries by their numbers."""

    track: Track
    entries: tuple[Entry, ...]
    places: tuple[Place, ...]
    styles: tuple[Style, ...]


@dataclass(slots=True)
class _Draft:
    """An entry while copies may still put words before it."""

    key: str
    token: Token


@dataclass(slots=True)
class _Pending:
    stream: int
    token: Token
    case_of: _Draft | None
    mark_of: _Draft | None
    letters: tuple[_Draft, _Draft, int] | None = None


def sync(track: Track) -> Synced:
    """Find the copies of each word of the track."""
    drafts: list[_Draft] = []
    words: list[_Draft] = []
    pending: list[_Pending] = []
    for number, stream in enumerate([track.words, *track.copies]):
        tokens = tokenize(stream)
        if number == 0:
            drafts = words = [_Draft(token.key, token) for token in tokens]
            pending = [_Pending(0, d.token, d, d) for d in drafts]
        else:
            drafts = _add(number, drafts, tokens, pending, all(field.marks for field in stream))
    for number, (f, twin) in enumerate(track.twins, 1 + len(track.copies)):
        own = [draft for draft in words if any(part[0] == f for part in draft.token.parts)]
        _add(number, own, tokenize(twin), pending, marks=False)
    numbers = {id(draft): i for i, draft in enumerate(drafts)}
    places = tuple(_settled(p, numbers) for p in pending)
    styles = _styles(places, track.streams)
    return Synced(track, tuple(_entries(track, drafts, places, styles)), places, styles)


def _add(number: int, drafts: list[_Draft], tokens: list[Token], pending: list[_Pending], marks: bool) -> list[_Draft]:
    """Place the tokens of a copy; returns the entries with the copy's own words among them.

    What never shows marks adds no words: a mark that one of them gets would be lost.
    """
    grown: list[_Draft] = []
    for same, i, i_stop, j, j_stop in blocks([d.key for d in drafts], [t.key for t in tokens]):
        ours, theirs = drafts[i:i_stop], tokens[j:j_stop]
        grown += ours
        if same or len(ours) == len(theirs):
            pending += [_Pending(number, t, d, d) for d, t in zip(ours, theirs, strict=True)]
        elif marks and (not ours or len(theirs) > max(len(ours), _SPELLED)):
            own = [_Draft(t.key, replace(t, start=None, end=None)) for t in theirs]
            pending += [_Pending(number, d.token, d, d) for d in own]
            grown += own
        elif ours and theirs:
            pending += _respelled(number, ours, theirs)
    return grown


def _respelled(number: int, ours: list[_Draft], theirs: list[Token]) -> Iterator[_Pending]:
    """The places of words that are other words, or the same letters cut otherwise."""
    same = "".join([d.key for d in ours]) == "".join([t.key for t in theirs])
    if same and len(theirs) == 1 and (pieces := cut(theirs[0], [len(d.key) for d in ours])):
        yield from (_Pending(number, token, d, d) for d, token in zip(ours, pieces, strict=True))
        return
    at = 0
    for k, token in enumerate(theirs):
        mark_of = ours[-1] if k + 1 == len(theirs) else None
        if same:
            yield _Pending(number, token, None, mark_of, (ours[0], ours[-1], at))
        else:
            yield _Pending(number, token, ours[0] if k == 0 else None, mark_of)
        at += len(token.key)


def _settled(p: _Pending, numbers: dict[int, int]) -> Place:
    case_of = None if p.case_of is None else numbers[id(p.case_of)]
    mark_of = None if p.mark_of is None else numbers[id(p.mark_of)]
    letters = (numbers[id(p.letters[0])], numbers[id(p.letters[1])] + 1, p.letters[2]) if p.letters else None
    return Place(p.stream, p.token, case_of, mark_of, letters)


def _styles(places: Sequence[Place], streams: Sequence[Sequence[Field]]) -> tuple[Style, ...]:
    """Streams without a mark, or without a capital, beside others that have them keep to that."""
    words: dict[int, set[int]] = {s: set() for s in range(len(streams))}
    marked: dict[int, set[int]] = {s: set() for s in range(len(streams))}
    capital: dict[int, set[int]] = {s: set() for s in range(len(streams))}
    for place in places:
        if place.case_of is None or place.case_of != place.mark_of:
            continue
        words[place.stream].add(place.case_of)
        if stripped(place.token.text)[1].mark:
            marked[place.stream].add(place.case_of)
        if any(c.isupper() for c in place.token.text):
            capital[place.stream].add(place.case_of)
    return tuple(
        Style(not _lacks(s, words, capital), all(f.marks for f in stream) and not _lacks(s, words, marked))
        for s, stream in enumerate(streams)
    )


def _lacks(stream: int, words: dict[int, set[int]], having: dict[int, set[int]]) -> bool:
    own = words[stream]
    return (
        bool(own)
        and not having[stream]
        and any(len(theirs & own) > _RARE * len(own) for s, theirs in having.items() if s != stream)
    )


def _entries(track: Track, drafts: list[_Draft], places: Sequence[Place], styles: Sequence[Style]) -> list[Entry]:
    shown: list[Token | None] = [None] * len(drafts)
    speakers: list[object] = [draft.token.speaker for draft in drafts]
    for place in places:
        if (n := place.case_of) is None or n != place.mark_of:
            continue
        if speakers[n] is None:
            speakers[n] = place.token.speaker
        if shown[n] is None and styles[place.stream] == Style():
            shown[n] = place.token
    entries = [
        Entry(token or draft.token, draft.token.start, draft.token.end, speaker)
        for draft, token, speaker in zip(drafts, shown, speakers, strict=True)
    ]
    return _timed(entries, drafts, track) if track.clock else entries


def _timed(entries: list[Entry], drafts: list[_Draft], track: Track) -> list[Entry]:
    """Give the entries the times and speakers of the raw words."""
    timed = list(entries)
    raw = tokenize(track.clock)
    for same, i, i_stop, j, j_stop in blocks([d.key for d in drafts], [t.key for t in raw]):
        if i == i_stop or j == j_stop:
            continue
        pairs = zip(range(i, i_stop), range(j, j_stop), strict=True) if i_stop - i == j_stop - j else ()
        if same or pairs:
            for n, r in pairs:
                timed[n] = replace(timed[n], start=raw[r].start, end=raw[r].end, speaker=raw[r].speaker)
            continue
        timed[i] = replace(timed[i], start=raw[j].start, speaker=raw[j].speaker)
        timed[i_stop - 1] = replace(timed[i_stop - 1], end=raw[j_stop - 1].end, speaker=raw[j_stop - 1].speaker)
    return timed


def target(place: Place, style: Style, before: Sequence[str], after: Sequence[str]) -> str:
    """What the place shows when its words turn from `before` into `after`."""
    own = place.token.text
    case_of = place.case_of if place.case_of is not None and before[place.case_of] != after[place.case_of] else None
    mark_of = place.mark_of if place.mark_of is not None and before[place.mark_of] != after[place.mark_of] else None
    if case_of == mark_of and case_of is not None and style == Style() and own == before[case_of]:
        return after[case_of]
    if place.letters is not None and style.case:
        own = _with_letters(own, place.letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = stripped(own)
    if case_of is not None and bare == stripped(before[case_of])[0]:
        bare = stripped(after[case_of])[0]  # it may have got its diacritics
    if case_of is not None and style.case:
        label = _with_case(label, before[case_of], after[case_of])
    if mark_of is not None and style.marks:
        label = label.with_mark(stripped(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str, after: str) -> Label:
    old, new = stripped(before)[1], stripped(after)[1]
    if (old.case, old.form) == (new.case, new.form):
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
