"""Read the times and words of cues and write the words back, for all formats with timed lines of text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from sys import intern
from typing import NamedTuple

from cappunc_cli.document.words import Document, Notice, Span, Word
from cappunc_cli.formats import guard
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.cue_words import CaptionLine, RollDetector, caption_lines, cues_are_pieces, latest_end
from cappunc_cli.formats.markup import HIDDEN, joined, visible
from cappunc_cli.formats.speech import WORDS_ALONE, SpokenWord, scan, speech_in
from cappunc_cli.formats.splice import BREAKS, nonempty_lines

#: How often words that are read back otherwise are reverted before nothing is written.
_ATTEMPTS = 3
#: How many cues usually suffice to tell whether a file rolls.
_FIRST = 40
#: In captions, at least one line in so many begins a cue; and how many lines are looked at.
_LONGEST_CUE, _SEEN = 20, 2000
_TOKEN = re.compile(r"\S+")
_LETTERS = re.compile(r"""["“„«‘'¿¡]*(?=[^\W\d_])[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…—"”’»]*""")
#: Two lines with a dash are two speakers, and the turn ends with the cue: a sentence did in 197 of 206 such cues.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)

_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
#: At most 15 digits: more are no time, and exceed what `int` and `float` convert.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
_TIME_CODE = re.compile(r"([0-9]{1,3})[:;]([0-9]{2})[:;]([0-9]{2})[:;]([0-9]{2})")
#: Frames a second of time codes whose rate nobody tells.
USUAL_RATE = 25.0
_START = re.compile(rf"\s*({_TIME})\s*\Z")
_END = re.compile(rf"\s*({_TIME})(?=\s|\Z)")
# `->`, `—>` and the like are arrows only between two times.
_ODD_ARROW = re.compile(rf"\s*({_TIME})\s*(?:-{{1,3}}\s?>|[–—=]>|→)\s*({_TIME})(?=\s|\Z)")
#: Whether a line can be the index of a cue: digits with at most some marks. `2.` has to count as one, or removing the
#: mark from such a text line would turn it into an index.
is_index = re.compile(r"[\s\ufeff]*[0-9]+[.,:;?!…—]*\s*\Z").match

#: Parses an inline time stamp of a format into milliseconds; None if it is not a time.
StampReader = Callable[[str], int | None]


class Timing(NamedTuple):
    """The times of a timing line (ms), None where unreadable."""

    start: int | None
    end: int | None


def milliseconds(text: str) -> int | None:
    """Parse a time into milliseconds, or None: `00:00:02,5` is 2500. Hours and fractions are optional."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    value = whole * 1000 + int((fraction or "")[:3].ljust(3, "0"))
    return -value if sign else value


def time_code(text: str, fps: float | None = None) -> int | None:
    """Parse `01:00:02:12`, a time with frames (25 a second by default), into milliseconds; else as `milliseconds`."""
    found = _TIME_CODE.fullmatch(text.strip())
    if found is None:
        return milliseconds(text)
    hours, minutes, seconds, frames = map(int, found.groups())
    return round((((hours * 60 + minutes) * 60 + seconds) + frames / (fps or USUAL_RATE)) * 1000)


def timing(line: str) -> Timing | None:
    """The times of a line with an arrow; None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return Timing(milliseconds(odd.group(1)), milliseconds(odd.group(2))) if odd else None
    start, end = _START.match(left), _END.match(right)
    return Timing(milliseconds(start.group(1)) if start else None, milliseconds(end.group(1)) if end else None)


def are_cues(text: str, is_head: Callable[[str], bool]) -> bool:
    """Whether lines that begin cues are as frequent near the beginning as in captions: prose may quote some."""
    lines = [line.group() for line in islice(nonempty_lines(text), _SEEN) if not line.group().isspace()]
    return _LONGEST_CUE * sum(map(is_head, lines)) >= max(len(lines), 1)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is the name in a field beside the text, if there is one.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class CueDetail:
    """The cues or other regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` matches the markup in them. If `timed`, they are what a viewer sees. If `lasting`, a cue without an end is
    shown until the next one begins; `repeated` are the numbers of cues that are shown several times. If `in_pieces`,
    a word may begin in one cue and go on in the next.
    """

    cues: Sequence[Cue]
    hidden: re.Pattern[str] = HIDDEN
    timed: bool = True
    lasting: bool = False
    repeated: frozenset[int] = frozenset()
    in_pieces: bool = False
    #: What each cue shows, where the source has it in another encoding.
    shown: Sequence[str] | None = None

    @property
    def regions(self) -> list[Span]:
        """The span of each cue's text."""
        return [cue.text for cue in self.cues]


def is_rolling(document: Document) -> bool:
    """Whether some cues repeat words of those before."""
    return any(len(word.places) > 1 for word in document.words)


def cue_detail(document: Document) -> CueDetail:
    """The cues of a document of a `CueFormat`."""
    assert isinstance(document.detail, CueDetail), document.format
    return document.detail


@dataclass(slots=True)
class TurnCounter:
    """Numbers turns; a speaker's name that is repeated starts no new turn.

    A name in capitals, such as `MAN:`, does so after cues without a name: captions repeat it when somebody else has
    spoken in between.
    """

    number: int = 0
    speaker: str = ""
    #: The speaker of each turn, where named.
    names: dict[int, str] = field(default_factory=dict)
    _pending: str | None = field(default=None)
    _named: int = 0  # the last cue with a name

    def announce(self, speaker: str | None) -> None:
        """A speaker starts with the next word: a name, "" for an unnamed new speaker, None for no change."""
        if speaker is not None:
            self._pending = speaker

    def next(self, speaker: str | None, cue: int = 0) -> int:
        """The turn of the next word, with which `speaker` starts as in `announce`; `cue` is the number of its cue."""
        starts = self._pending if speaker is None else speaker
        if starts is not None:
            same = starts == self.speaker and not (starts.isupper() and cue > self._named + 1)
            if not starts or not same:
                self.number += 1
                self.speaker = starts
                if starts:
                    self.names[self.number] = starts
            self._named = cue
        self._pending = None
        return self.number


def read_cues(
    name: str,
    source: str,
    cues: Sequence[Cue],
    notices: Sequence[Notice],
    hidden: re.Pattern[str] = HIDDEN,
    clock: StampReader = milliseconds,
    *,
    lasting: bool = False,
    repeated: frozenset[int] = frozenset(),
) -> Document:
    """Read the words of all cues, in the order of the file, into a document of the format `name`.

    In rolling captions a repeated line gives further copies of its words. `hidden` matches the markup, and `clock`
    reads inline time stamps; `lasting` and `repeated` are those of CueDetail.
    """
    if cues_are_pieces([source[slice(*cue.text)] for cue in cues]):
        reader = _CueReader(source, hidden, clock)
        reader.read_pieces(cues)
        detail = CueDetail(cues, hidden, timed=False, in_pieces=True)
        return Document(name, source, reader.words, tuple(notices), reader.turns.names, detail)
    # Whether a file rolls is certain only at its end; most do not, and those that do show it early.
    reader = _CueReader(source, hidden, clock)
    reader.read(cues)
    if reader.roll.rolls:
        reader = _CueReader(source, hidden, clock, rolling=True)
        reader.read(cues)
        if not reader.roll.rolls:  # the first cues were misleading
            reader = _CueReader(source, hidden, clock)
            reader.read(cues, early=len(cues))
    detail = CueDetail(cues, hidden, lasting=lasting, repeated=repeated)
    return Document(name, source, reader.words, tuple(notices), reader.turns.names, detail)


@dataclass(slots=True)
class _CueReader:
    """Reads cues into `words`; if `rolling`, lines that a cue repeats are copies of the words before."""

    source: str
    hidden: re.Pattern[str]
    clock: StampReader
    rolling: bool = False
    words: list[Word] = field(default_factory=list)
    roll: RollDetector = field(default_factory=RollDetector)
    turns: TurnCounter = field(default_factory=TurnCounter)
    #: The lines of the cue before, whose words may still get copies.
    _held: list[list[Word]] = field(default_factory=list)
    #: The indices of words that have inline stamps.
    _stamped: set[int] = field(default_factory=set)
    _sound_before: bool = False

    def read(self, cues: Iterable[Cue], early: int = _FIRST) -> None:
        """Read all cues; a reader that is not `rolling` stops after `early` cues if these roll."""
        for number, cue in enumerate(cues):
            if number == early and self.roll.rolls and not self.rolling:
                break
            if self.rolling or not WORDS_ALONE.fullmatch(self.source, *cue.text):
                self._read_speech(cue, number)
            else:
                self._read_words(cue, number)
        if self._stamped:
            self._end_stamped()

    def _read_words(self, cue: Cue, number: int) -> None:
        """Read a cue of words and nothing else."""
        start, stop = cue.text
        split = BREAKS.split(self.source[start:stop])
        lines = [CaptionLine(line, count=count) for line in split if (count := len(line.split()))]
        self.roll.repeated(lines, cue.start, cue.end)
        turn, first = self.turns.next(cue.speaker, number), len(self.words)
        for found in _TOKEN.finditer(self.source, start, stop):
            self.words.append(Word(intern(found[0]), None, None, number, turn, ((found.span(),),)))
        self.words[first].start, self.words[-1].end = cue.start, cue.end
        self.words[first].sound = bool(first) and self._sound_before
        self._sound_before = False

    def _read_speech(self, cue: Cue, number: int) -> None:
        """Read a cue that may show more than words, or repeat lines."""
        speech = scan(self.source, *cue.text, self.hidden)
        lines = caption_lines(speech)
        repeated = self.roll.repeated(lines, cue.start, cue.end)
        if not self.rolling:
            repeated = 0
        elif not lines:
            self._sound_before |= speech.sound
            return
        self.turns.announce(cue.speaker)
        self._held = self._held[len(self._held) - repeated :]
        for line, words in zip(lines, self._held, strict=False):
            for spoken, word in zip(line.words, words, strict=True):
                word.places += (spoken.copy,)
        first = len(self.words)
        for line in lines[repeated:]:
            self._held.append([self._add(spoken, number) for spoken in line.words])
        if len(self.words) > first:
            begin, end = self.words[first], self.words[-1]
            begin.sound |= bool(first) and self._sound_before
            if begin.start is None:
                begin.start = cue.start
            # A rolling line stays until the next one is complete, so the end of its cue tells nothing.
            end.end = None if self.rolling else cue.end
            self._sound_before = False
        self._sound_before |= speech.sound
        if not self.rolling and len(_SPEAKERS.findall(speech.visible.text)) > 1:
            self.turns.announce("")
        if len(lines) > repeated or not self.rolling:
            self.turns.announce(speech.trailing)

    def read_pieces(self, cues: Sequence[Cue]) -> None:
        """Read cues of pieces of words as one text; a word may have letters and marks in several cues."""
        starts = [cue.text[0] for cue in cues]
        speech = speech_in(joined([visible(self.source, *cue.text, self.hidden) for cue in cues]))
        last = -1  # the cue in which the word before ends
        for spoken in speech.words:
            # The time of a mark in a cue of its own is not that of the word, which must not depend on the mark.
            lettered = [a for a, b in spoken.copy if any(map(str.isalnum, self.source[a:b]))]
            first, stop = (bisect_right(starts, at) - 1 for at in (lettered[0], lettered[-1]))
            self.turns.announce(cues[first].speaker if first != last else None)
            word = self._add(spoken, first)
            word.start = None if first == last else cues[first].start
            word.end = cues[stop].end
            if first == last and len(self.words) > 1:
                self.words[-2].end = None
            last = stop

    def _add(self, spoken: SpokenWord, cue: int) -> Word:
        start = None if spoken.stamp is None else self.clock(spoken.stamp)
        if start is not None:
            self._stamped.add(len(self.words))
        flags = spoken.sound, spoken.followed, spoken.preceded
        turn = self.turns.next(spoken.speaker, cue)
        self.words.append(Word(intern(spoken.text), start, None, cue, turn, (spoken.copy,), *flags))
        return self.words[-1]

    def _end_stamped(self) -> None:
        """End each word with an inline stamp, or before one, where the next word starts, or earlier."""
        for i, word in enumerate(self.words):
            if word.start is not None and word.end is None and not self._stamped.isdisjoint((i, i + 1)):
                following = self.words[i + 1].start if i + 1 < len(self.words) else None
                word.end = latest_end(word.start, word.text, following)


class CueFormat(Format):
    """A format of cues, or of other regions with words in them; `read` gives a document with a `CueDetail`."""

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all their copies.

        Changes that would be read back as something other than words are left out (guard.py).
        """
        detail = cue_detail(document)
        if not detail.in_pieces:
            safe = guard.revert_ambiguous(document.source, detail.regions, document.words, texts, detail.hidden)
            return self.spliced(document, safe)
        safe = list(texts)
        for _ in range(_ATTEMPTS):
            output = self.spliced(document, safe)
            again = self.read(output).texts
            if again == safe:
                return output
            if len(again) == len(safe):
                columns = zip(safe, again, document.words, strict=True)
                safe = [new if new == read else word.text for new, read, word in columns]
        return document.source

    def spliced(self, document: Document, texts: Sequence[str]) -> str:
        """The source with texts that are safe."""
        return spans.splice(document.source, spans.changes(document, texts))

    def skeleton(self, document: Document) -> str:
        """The source with placeholders for the words."""
        return spans.splice(document.source, spans.placeholders(document))

    def plain_places(self, document: Document) -> list[int | None] | None:
        """The offset of each word of letters in one fragment: others might be read as an index or a tag if changed.

        Replacing such a word with other marks (but a colon or a dash before it) or case does what `write` does.
        """
        words = document.words
        unguarded = guard.unguarded(document.source, cue_detail(document).regions, words)
        found: list[int | None] = []
        for word, is_safe in zip(words, unguarded, strict=True):
            plain = is_safe and len(word.places) == len(word.places[0]) == 1 and _LETTERS.fullmatch(word.text)
            start, stop = word.places[0][0]
            found.append(start if plain and document.source[start:stop] == word.text else None)
        return found
