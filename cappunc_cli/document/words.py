"""Words and documents: a document is a source text plus the words found in it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, islice, repeat
from operator import sub
from sys import intern
from typing import ClassVar, overload

#: How a RunLengthList stores None, and where it clips values.
_NONE = -(1 << 63)
_LEAST, _LARGEST = -(1 << 62), 1 << 62
_DECODED = {_NONE: None}

#: (start, stop) of a piece of the source, in characters.
Span = tuple[int, int]
#: The fragments that show a word once: `hel<i>lo</i>` has two.
Copy = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word as the file writes it, marks included.

    `text` includes the marks around the word (`Hello,`, `“yes`, `Bonjour !`), but no tags, speaker names or sounds.
    `start` and `end` are milliseconds, None where unknown: in an SRT cue only the first word has a start and only the
    last one an end. `cue` and `turn` number the cues and the speakers' turns. `where` holds the word's copies in the
    source, if its format keeps them. `sound`: a sound, such as laughter or a door, comes right before the word.
    `followed`: right after it comes a part of the sentence that is not a word, such as an address or a formula;
    `preceded`: right before it comes an address or a blank, with which the sentence may have begun.

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
    preceded: bool = False


@dataclass(slots=True, repr=False)
class RunLengthList(Sequence[int | None]):
    """A list of integers and None that stores each run of equal values once, for columns of words, cues and tokens.

    Values beyond ±2**62 are clipped.
    """

    #: The first index of each run, and its value.
    _starts: array[int] = field(default_factory=partial(array, "I"))
    _values: array[int] = field(default_factory=partial(array, "q"))
    _length: int = 0

    def add(self, value: int | None, count: int = 1) -> None:
        """Append a value `count` times, at least once."""
        if value is None:
            value = _NONE
        elif not _LEAST <= value <= _LARGEST:
            value = _LARGEST if value > 0 else _LEAST
        if not self._length or value != self._values[-1]:
            self._starts.append(self._length)
            self._values.append(value)
        self._length += count

    def extend(self, values: Iterable[int | None]) -> None:
        """Append values."""
        for value, run in groupby(values):
            self.add(value, len(list(run)))

    def extend_from(self, values: Sequence[int | None], indices: Sequence[int]) -> None:
        """Append the value at each of these indices."""
        self.extend(map(list(values).__getitem__, indices))

    def stretches(self) -> Iterator[tuple[int | None, int, int]]:
        """(value, start, stop) of each run of equal values."""
        stops = chain(islice(self._starts, 1, None), (self._length,))
        return zip(map(_DECODED.get, self._values, self._values), self._starts, stops, strict=False)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int | None]:
        values = map(_DECODED.get, self._values, self._values)
        if len(self._values) == self._length:
            return values
        stops = chain(islice(self._starts, 1, None), (self._length,))
        return chain.from_iterable(map(repeat, values, map(sub, stops, self._starts)))

    @overload
    def __getitem__(self, at: int) -> int | None: ...

    @overload
    def __getitem__(self, at: slice) -> RunLengthList: ...

    def __getitem__(self, at: int | slice) -> int | RunLengthList | None:
        if not isinstance(at, slice):
            if not -self._length <= at < self._length:
                raise IndexError(at)
            value = self._values[bisect_right(self._starts, at if at >= 0 else at + self._length) - 1]
            return None if value == _NONE else value
        start, stop, step = at.indices(self._length)
        if step != 1:
            raise ValueError("slices with a step are not supported")
        part = RunLengthList()
        if start < stop:
            first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop)
            starts = self._starts[first + 1 : last]
            part._starts.append(0)
            part._starts.extend(map((-start).__add__, starts) if start else starts)
            part._values = self._values[first:last]
            part._length = stop - start
        return part


@dataclass(slots=True, eq=False, repr=False)
class Words(Sequence[Word]):
    """A sequence of words stored in columns, about fifteen bytes a word; readers append to it.

    A Word is created on access; reading `texts` and the other columns directly is faster. `blank_before` holds the
    indices of words, other than the first, that come after a blank line, which may or may not separate speakers.
    `in_order`: the words appear in the source in this order. `single`: no word has more than one copy.
    """

    texts: list[str] = field(default_factory=list)
    starts: RunLengthList = field(default_factory=RunLengthList)
    ends: RunLengthList = field(default_factory=RunLengthList)
    cues: RunLengthList = field(default_factory=RunLengthList)
    turns: RunLengthList = field(default_factory=RunLengthList)
    sounds: RunLengthList = field(default_factory=RunLengthList)
    followed: RunLengthList = field(default_factory=RunLengthList)
    preceded: RunLengthList = field(default_factory=RunLengthList)
    in_order: bool = True
    single: bool = True
    blank_before: array[int] = field(default_factory=partial(array, "I"))
    #: Where each word begins in the source, if it has one copy of one fragment that is as long as the word. Otherwise
    #: an index into `_more`, where it has: the number of its copies and, for each, the number of its fragments and
    #: their starts and stops.
    _at: array[int] = field(default_factory=partial(array, "I"))
    _more: array[int] = field(default_factory=partial(array, "I"))
    _end: int = 0

    #: In `_at`: bit 31 is set if the rest is an index into `_more`; all bits are set if the word has no place.
    _ELSEWHERE: ClassVar[int] = 1 << 31
    _NOWHERE: ClassVar[int] = (1 << 32) - 1

    @classmethod
    def of(cls, words: Iterable[Word]) -> Words:
        """These words as Words; the same object if they are."""
        if isinstance(words, Words):
            return words
        result = cls()
        for word in words:
            result.add(word)
        return result

    def add(self, word: Word) -> None:
        """Append a word."""
        self.texts.append(intern(word.text))  # a text has few distinct words
        self.starts.add(word.start)
        self.ends.add(word.end)
        self.cues.add(word.cue)
        self.turns.add(word.turn)
        self.sounds.add(word.sound)
        self.followed.add(word.followed)
        self.preceded.add(word.preceded)
        self._place(word.where, len(word.text))

    def extend(
        self,
        texts: Iterable[str],
        starts: Iterable[int | None],
        ends: Iterable[int | None],
        cues: Iterable[int | None],
        turns: Iterable[int | None],
        followed: Sequence[bool] = (),
    ) -> None:
        """Append words that have neither places in the source nor sounds.

        After a word that is `followed`, the sentence may begin with what follows it.
        """
        first = len(self.texts)
        self.texts.extend(map(intern, texts))
        self.starts.extend(starts)
        self.ends.extend(ends)
        self.cues.extend(cues)
        self.turns.extend(turns)
        if count := len(self.texts) - first:
            self.sounds.add(False, count)
            self.followed.extend(followed or repeat(False, count))
            self.preceded.extend((False, *followed[:-1]) if followed else repeat(False, count))
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
        """Append the words of a cue, each in one fragment: the first one gets the start, the last one the end.

        `places` are the offsets at which they begin; `sound` applies to the first one.
        """
        further = len(texts) - 1
        self.texts.extend(map(intern, texts))
        self.starts.add(start)
        self.sounds.add(sound)
        if further:
            self.starts.add(None, further)
            self.ends.add(None, further)
            self.sounds.add(False, further)
        self.ends.add(end)
        self.cues.add(cue, len(texts))
        self.turns.add(turn, len(texts))
        self.followed.add(False, len(texts))
        self.preceded.add(False, len(texts))
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
        """The copies of word `i`; () where its format keeps none."""
        at = self._at[i]
        if at < self._ELSEWHERE:
            return (((at, at + len(self.texts[i])),),)
        return tuple([self.copy(i, spot) for spot in self.spots(i)])

    def spots(self, i: int) -> Iterator[int]:
        """The spots at which `copy` finds the copies of word `i`; lazily, as a file may repeat a cue 1,000 times."""
        at, spot = self._at[i], 0
        if at < self._ELSEWHERE:
            yield spot
        elif at != self._NOWHERE:
            first = at - self._ELSEWHERE + 1
            for _ in range(self._more[first - 1]):
                yield spot
                spot += 1 + 2 * self._more[first + spot]

    def copy(self, i: int, spot: int = 0) -> Copy:
        """The copy of word `i` at one of its `spots`; the first one is at 0."""
        at = self._at[i]
        if at < self._ELSEWHERE:
            return ((at, at + len(self.texts[i])),)
        more, at = self._more, at - self._ELSEWHERE + 1 + spot
        stop = at + 1 + 2 * more[at]
        return tuple(zip(more[at + 1 : stop : 2], more[at + 2 : stop : 2], strict=True))

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Word]:
        where = map(self.copies, range(len(self)))
        flags = zip(map(bool, self.sounds), map(bool, self.followed), map(bool, self.preceded), strict=True)
        columns = zip(self.texts, self.starts, self.ends, self.cues, self.turns, where, flags, strict=True)
        for text, start, end, cue, turn, copies, own in columns:
            yield Word(text, start, end, cue or 0, turn or 0, copies, *own)

    @overload
    def __getitem__(self, at: int) -> Word: ...

    @overload
    def __getitem__(self, at: slice) -> Words: ...

    def __getitem__(self, at: int | slice) -> Word | Words:
        if isinstance(at, int):
            i = range(len(self))[at]
            cue, turn = self.cues[i] or 0, self.turns[i] or 0
            flags = bool(self.sounds[i]), bool(self.followed[i]), bool(self.preceded[i])
            return Word(self.texts[i], self.starts[i], self.ends[i], cue, turn, self.copies(i), *flags)
        part = Words(
            self.texts[at],
            self.starts[at],
            self.ends[at],
            self.cues[at],
            self.turns[at],
            self.sounds[at],
            self.followed[at],
            self.preceded[at],
            self.in_order,
            self.single,
        )
        part._at, part._more = self._at[at], self._more
        if self.blank_before:
            numbers = range(len(self))[at]
            part.blank_before = array("I", (numbers.index(i) for i in self.blank_before if i in numbers[1:]))
        return part

    def with_turns(self, turns: Iterable[int]) -> Words:
        """The same words with these turn numbers, one for each word."""
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
    r"""Something odd in a file that is kept as it is: its 1-based `line`, and what is odd.

    `unread` text there belongs to no word, so that a new file made of the words would lack it.

    >>> (notice,) = cappunc.read("1\n00:00:01,000 --> 00:00:02,000\nhello there\n\nno cue\n").notices
    >>> notice.line, notice.message
    (4, 'blank line inside a cue')
    """

    line: int
    message: str
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A source and its words in spoken order.

    `origin` is private to `format`; `speakers` maps turn numbers to names.

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
    """`00:04:10.200`, and `-00:00:01.500` for a time before zero."""
    seconds, rest = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
