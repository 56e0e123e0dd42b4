"""The nouns that everyone shares: a document is a source text plus the words found in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, repeat
from sys import intern
from typing import ClassVar, overload

from cappunc_cli.transcript.run_lengths import RunLengthList

#: Captions have a time of its own inside them for less than one word in so many.
_STAMPED = 10

#: So many words are put into columns at a time.
_BLOCK = 1 << 8

#: source[start:stop], in characters.
Span = tuple[int, int]
#: What shows a word once: `hel<i>lo</i>` does so in two fragments.
Copy = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word as the file writes it, marks included.

    `text` has the marks that belong to the word (`Hello,`, `“yes`, `Bonjour !`), never
    tags, labels or sounds. `start` and `end` are milliseconds, None where the file does not
    say: inside an SRT cue only the first word has a start and only the last one an end.
    `cue` and `turn` are running numbers of the caption and of the speaker's turn.
    `where` are its copies in the source, if the format that read it keeps them.
    `sound` says that a sound is heard right before it: laughter, a door. `followed` says that
    right behind it stands what belongs to the sentence but is no word: an address, a formula.

    >>> word = cappunc.Word("London,", start=720, end=1300)
    >>> word.text, word.end - word.start, word.cue
    ('London,', 580, 0)
    """

    text: str
    start: int | None = None
    end: int | None = None
    cue: int = 0
    turn: int = 0
    where: tuple[Copy, ...] = ()
    sound: bool = False
    followed: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Words(Sequence[Word]):
    """Words in columns, which readers fill from top to bottom: some fifteen bytes each.

    A Word is made when it is asked for; `texts` and the other columns say the same in less time.
    `blank_before` are the words, not the first, before which a blank line stands that may part speakers or nothing.
    `in_order` says that the words stand in the source one behind the other, `single` that none has two copies.
    """

    texts: list[str] = field(default_factory=list)
    starts: RunLengthList = field(default_factory=RunLengthList)
    ends: RunLengthList = field(default_factory=RunLengthList)
    cues: RunLengthList = field(default_factory=RunLengthList)
    turns: RunLengthList = field(default_factory=RunLengthList)
    sounds: RunLengthList = field(default_factory=RunLengthList)
    followed: RunLengthList = field(default_factory=RunLengthList)
    in_order: bool = True
    single: bool = True
    blank_before: array[int] = field(default_factory=partial(array, "I"))
    #: Where a word begins that has its length in one fragment; of others, in `_more`: the number of copies and, for
    #: each, that of its fragments and where these begin and end.
    _at: array[int] = field(default_factory=partial(array, "I"))
    _more: array[int] = field(default_factory=partial(array, "I"))
    _end: int = 0

    #: In `_at`: bit 31 sends to a place in `_more`; nowhere at all.
    _ELSEWHERE: ClassVar[int] = 1 << 31
    _NOWHERE: ClassVar[int] = (1 << 32) - 1

    @classmethod
    def of(cls, words: Iterable[Word]) -> Words:
        """The words in columns, which they may be already."""
        if isinstance(words, Words):
            return words
        result = cls()
        result.add_all((w.text, w.start, w.end, w.cue, w.turn, w.where, w.sound, w.followed) for w in words)
        return result

    def add(
        self,
        text: str,
        start: int | None = None,
        end: int | None = None,
        cue: int = 0,
        turn: int = 0,
        where: tuple[Copy, ...] = (),
        sound: bool = False,
        followed: bool = False,
    ) -> None:
        """Append a word."""
        self.texts.append(intern(text))  # few words make up a text
        self.starts.add(start)
        self.ends.add(end)
        self.cues.add(cue)
        self.turns.add(turn)
        self.sounds.add(sound)
        self.followed.add(followed)
        self._place(where, len(text))

    def add_all(
        self, words: Iterable[tuple[str, int | None, int | None, int, int, tuple[Copy, ...], bool, bool]]
    ) -> None:
        """Append words, each told as in `add`; that takes a third of the time."""
        some = iter(words)
        while block := list(islice(some, _BLOCK)):
            texts, starts, ends, cues, turns, places, sounds, followed = zip(*block, strict=True)
            self.texts.extend(map(intern, texts))
            for column, values in (
                (self.starts, starts),
                (self.ends, ends),
                (self.cues, cues),
                (self.turns, turns),
                (self.sounds, sounds),
                (self.followed, followed),
            ):
                column.extend(values)
            for text, where in zip(texts, places, strict=True):
                self._place(where, len(text))

    def extend(
        self,
        texts: Iterable[str],
        starts: Iterable[int | None],
        ends: Iterable[int | None],
        cues: Iterable[int | None],
        turns: Iterable[int | None],
    ) -> None:
        """Append words whose format keeps no places, without sounds."""
        begun = len(self.texts)
        self.texts.extend(map(intern, texts))
        self.starts.extend(starts)
        self.ends.extend(ends)
        self.cues.extend(cues)
        self.turns.extend(turns)
        if count := len(self.texts) - begun:
            self.sounds.add(False, count)
            self.followed.add(False, count)
            self._at.extend(repeat(self._NOWHERE, count))

    def add_run(
        self,
        texts: Sequence[str],
        places: Sequence[int],
        start: int | None,
        end: int | None,
        cue: int,
        turn: int,
        sound: bool,
    ) -> None:
        """Append words that stand in one fragment each, of which the first one has the start and the last one the end.

        `places` are where they begin; `sound` is before the first one.
        """
        more = len(texts) - 1
        self.texts.extend(map(intern, texts))
        self.starts.add(start)
        self.sounds.add(sound)
        if more:
            self.starts.add(None, more)
            self.ends.add(None, more)
            self.sounds.add(False, more)
        self.ends.add(end)
        self.cues.add(cue, more + 1)
        self.turns.add(turn, more + 1)
        self.followed.add(False, more + 1)
        self._at.extend(places)
        self.in_order &= places[0] >= self._end
        self._end = places[-1] + len(texts[-1])

    def _place(self, where: tuple[Copy, ...], length: int) -> None:
        if not where:
            self._at.append(self._NOWHERE)
            return
        if len(where) == 1 and len(where[0]) == 1 and where[0][0][1] - where[0][0][0] == length:
            self._at.append(where[0][0][0])
        else:
            self._at.append(self._ELSEWHERE | len(self._more))
            self._more.append(len(where))
            for copy in where:
                self._more.append(len(copy))
                self._more.extend(chain.from_iterable(copy))
        self.single &= len(where) == 1
        self.in_order &= self.single and where[0][0][0] >= self._end
        self._end = where[-1][-1][1]

    def copies(self, i: int) -> tuple[Copy, ...]:
        """The copies of a word; () where its format keeps none."""
        at = self._at[i]
        if at < self._ELSEWHERE:
            return (((at, at + len(self.texts[i])),),)
        return tuple([self.copy(i, spot) for spot in self.spots(i)])

    def spots(self, i: int) -> Iterator[int]:
        """Where `copy` finds each copy of a word: a cue's text may stand there a thousand times."""
        at, spot = self._at[i], 0
        if at < self._ELSEWHERE:
            yield spot
        elif at != self._NOWHERE:
            first = at - self._ELSEWHERE + 1
            for _ in range(self._more[first - 1]):
                yield spot
                spot += 1 + 2 * self._more[first + spot]

    def copy(self, i: int, spot: int = 0) -> Copy:
        """The copy of a word at one of its `spots`, the first at 0."""
        at = self._at[i]
        if at < self._ELSEWHERE:
            return ((at, at + len(self.texts[i])),)
        more, at = self._more, at - self._ELSEWHERE + 1 + spot
        stop = at + 1 + 2 * more[at]
        return tuple(zip(more[at + 1 : stop : 2], more[at + 2 : stop : 2], strict=True))

    def plain_places(self) -> Sequence[int] | None:
        """Where each word begins, if each stands once, in its length, one behind the other; else None."""
        plain = self.in_order and max(self._at, default=0) < self._ELSEWHERE
        return self._at if plain else None

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Word]:
        where = map(self.copies, range(len(self)))
        sounds, followed = map(bool, self.sounds), map(bool, self.followed)
        columns = zip(self.texts, self.starts, self.ends, self.cues, self.turns, where, sounds, followed, strict=True)
        for text, start, end, cue, turn, copies, sound, follows in columns:
            yield Word(text, start, end, cue or 0, turn or 0, copies, sound, follows)

    @overload
    def __getitem__(self, at: int) -> Word: ...

    @overload
    def __getitem__(self, at: slice) -> Words: ...

    def __getitem__(self, at: int | slice) -> Word | Words:
        if isinstance(at, int):
            i = range(len(self))[at]
            cue, turn = self.cues[i] or 0, self.turns[i] or 0
            sound, followed = bool(self.sounds[i]), bool(self.followed[i])
            return Word(self.texts[i], self.starts[i], self.ends[i], cue, turn, self.copies(i), sound, followed)
        part = Words(
            self.texts[at],
            self.starts[at],
            self.ends[at],
            self.cues[at],
            self.turns[at],
            self.sounds[at],
            self.followed[at],
            self.in_order,
            self.single,
        )
        part._at, part._more = self._at[at], self._more
        if self.blank_before:
            numbers = range(len(self))[at]
            part.blank_before = array("I", (numbers.index(i) for i in self.blank_before if i in numbers[1:]))
        return part

    def with_turns(self, turns: Iterable[int]) -> Words:
        """The same words in other turns, told for each."""
        result = self[:]
        result.turns = RunLengthList()
        result.turns.extend(turns)
        result.blank_before = array("I")
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Notice:
    r"""Something odd that was kept as it is: the 1-based `line` and what is odd there.

    >>> (notice,) = cappunc.read("1\n00:00:01,000 --> 00:00:02,000\nhello there\n\nno cue\n").notices
    >>> notice.line, notice.message
    (4, 'blank line inside a cue')
    """

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """A source and its words in spoken order; `origin` is private to `format`, `speakers` are the names of turns.

    >>> document = cappunc.read(Path("talk.srt"))
    >>> document.format, len(document.words), [word.text for word in document.words[:3]]
    ('srt', 341, ['good', 'evening', 'london'])
    """

    format: str
    words: Words
    origin: object
    notices: tuple[Notice, ...] = ()
    speakers: Mapping[int, str] = field(default_factory=dict)


def timestamp(milliseconds: int) -> str:
    """`00:04:10.200`"""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"


def turn_ends(words: Sequence[Word]) -> list[bool]:
    """Whether the speaker changes after each word; as long as `words`, the last one False."""
    return Words.of(words).turns.stretch_ends()


def cue_ends(words: Sequence[Word]) -> list[bool]:
    """Whether a caption ends after each word, the last one False; as long as `words`.

    All False unless captions have times and the words in them none: what recognisers call a segment or a line
    of plain text is no caption.
    """
    known = Words.of(words)
    heads = [start for _, start, _ in known.cues.stretches()]
    timed = [False] * len(known)
    for value, start, stop in known.starts.stretches():
        if value is not None:
            timed[start:stop] = [True] * (stop - start)
    cued = sum(map(timed.__getitem__, heads))
    if 2 * cued < len(heads) or _STAMPED * (sum(timed) - cued) > len(known) - len(heads):
        return [False] * len(known)
    return known.cues.stretch_ends()
