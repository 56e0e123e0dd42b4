"""Read the times and words of cues and write the words back, for all formats with timed lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from cappunc_cli.document.words import Copy, Document, Notice, RunLengthList, Span, Word, Words
from cappunc_cli.formats.text import guard
from cappunc_cli.formats.text import splice as spans
from cappunc_cli.formats.text.inline_times import latest_end
from cappunc_cli.formats.text.rolling import CaptionLine, RollDetector, caption_lines
from cappunc_cli.formats.text.speech import WORDS_ALONE, SpokenWord, scan
from cappunc_cli.formats.text.splice import BREAKS, Spans
from cappunc_cli.formats.text.visible import HIDDEN

#: How many cues usually suffice to tell whether a file rolls.
_FIRST = 40
#: How many words are put into columns at a time.
_TOGETHER = 256
_TOKEN = re.compile(r"\S+")
#: Two lines with a dash are two speakers, and the turn ends with the cue: a sentence did in 197 of 206 such cues.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)

_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
#: At most 15 digits: more are no time, and exceed what `int` and `float` convert.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
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


def timing(line: str) -> Timing | None:
    """The times of a line with an arrow; None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return Timing(milliseconds(odd.group(1)), milliseconds(odd.group(2))) if odd else None
    start, end = _START.match(left), _END.match(right)
    return Timing(milliseconds(start.group(1)) if start else None, milliseconds(end.group(1)) if end else None)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is the name in a field beside the text, if there is one.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class CueOrigin:
    """The source and the regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` matches the markup in the regions. Where the regions are the cues of a file, `starts` and `ends` are their
    times (ms) and `speakers` the names in fields beside the text, by number of the cue. These are columns because a
    file of a million words has 100,000 cues. If `lasting`, a cue without an end is shown until the next one begins;
    `repeated` are the numbers of cues that are shown several times.
    """

    source: str
    regions: Spans
    hidden: re.Pattern[str] = HIDDEN
    starts: RunLengthList = field(default_factory=RunLengthList)
    ends: RunLengthList = field(default_factory=RunLengthList)
    speakers: Mapping[int, str] = field(default_factory=dict)
    lasting: bool = False
    repeated: frozenset[int] = frozenset()


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


@dataclass(slots=True)
class _Draft:
    """A word that may still get more copies."""

    spoken: SpokenWord
    cue: int
    turn: int
    start: int | None
    end: int | None
    copies: list[Copy]
    sound: bool
    stamped: bool


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
    reads inline time stamps; `lasting` and `repeated` are those of CueOrigin.
    """
    # Whether a file rolls is certain only at its end; most do not, and those that do show it early.
    reader = _CueReader(source, hidden, clock)
    reader.read(cues)
    if reader.roll.rolls:
        reader = _CueReader(source, hidden, clock, rolling=True)
        reader.read(cues)
        if not reader.roll.rolls:  # the first cues were misleading
            reader = _CueReader(source, hidden, clock)
            reader.read(cues, early=len(cues))
    speakers: dict[int, str] = {}
    origin = CueOrigin(source, Spans(), hidden, speakers=speakers, lasting=lasting, repeated=repeated)
    for i, (start, end, (first, stop), speaker) in enumerate(cues):
        origin.starts.add(start)
        origin.ends.add(end)
        origin.regions.starts.append(first)
        origin.regions.stops.append(stop)
        if speaker is not None:
            speakers[i] = speaker
    return Document(name, reader.words, origin, tuple(notices), reader.turns.names)


@dataclass(slots=True)
class _CueReader:
    """Reads cues into `words`; if `rolling`, lines that a cue repeats are copies of the words before."""

    source: str
    hidden: re.Pattern[str]
    clock: StampReader
    rolling: bool = False
    words: Words = field(default_factory=Words)
    roll: RollDetector = field(default_factory=RollDetector)
    turns: TurnCounter = field(default_factory=TurnCounter)
    #: The lines of the cue before, whose words may still get copies, and words that cannot and wait for the next one.
    _held: list[list[_Draft]] = field(default_factory=list)
    _done: list[_Draft] = field(default_factory=list)
    _any_words: bool = False
    _sound_before: bool = False

    def read(self, cues: Iterable[Cue], early: int = _FIRST) -> None:
        """Read all cues; a reader that is not `rolling` stops after `early` cues if these roll."""
        for number, cue in enumerate(cues):
            if number == early and self.roll.rolls and not self.rolling:
                break
            start, stop = cue.text
            # Without an end of the cue, the end of its last word may depend on the next word.
            if self.rolling or cue.end is None or not WORDS_ALONE.fullmatch(self.source, start, stop):
                self._read_speech(cue, number)
                continue
            if self._held or self._done:
                self._finish(cue.start)
            text = self.source[start:stop]
            lines = [CaptionLine(line, count=count) for line in BREAKS.split(text) if (count := len(line.split()))]
            self.roll.repeated(lines, cue.start, cue.end)
            places = [found.start() for found in _TOKEN.finditer(self.source, start, stop)]
            sound = self._any_words and self._sound_before
            self._any_words, self._sound_before = True, False
            turn = self.turns.next(cue.speaker, number)
            self.words.add_run(text.split(), places, cue.start, cue.end, number, turn, sound)
        if self._held or self._done:
            self._finish(None)

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
        first = len(self._held) - repeated
        self._done += chain.from_iterable(self._held[:first])
        self._held = self._held[first:]
        if len(self._done) > _TOGETHER:
            *full, last = self._done
            self._append(full, last.start, last.stamped)
            self._done = [last]
        for line, drafts in zip(lines, self._held, strict=False):
            for word, draft in zip(line.words, drafts, strict=True):
                draft.copies.append(word.copy)
        new = [[self._draft(word, number) for word in line.words] for line in lines[repeated:]]
        if own := list(chain.from_iterable(new)):
            own[0].sound |= self._any_words and self._sound_before
            if own[0].start is None:
                own[0].start = cue.start
            # A rolling line stays until the next one is complete, so the end of its cue tells nothing.
            own[-1].end = None if self.rolling else cue.end
            self._any_words, self._sound_before = True, False
        self._sound_before |= speech.sound
        if not self.rolling and len(_SPEAKERS.findall(speech.visible.text)) > 1:
            self.turns.announce("")
        if new or not self.rolling:
            self.turns.announce(speech.trailing)
        self._held += new

    def _draft(self, word: SpokenWord, cue: int) -> _Draft:
        start = None if word.stamp is None else self.clock(word.stamp)
        turn = self.turns.next(word.speaker, cue)
        return _Draft(word, cue, turn, start, None, [word.copy], word.sound, start is not None)

    def _finish(self, start: int | None) -> None:
        """Append all words so far; the next one starts at `start` (ms), without an inline stamp."""
        self._append([*self._done, *chain.from_iterable(self._held)], start)
        self._held, self._done = [], []

    def _append(self, drafts: Sequence[_Draft], start: int | None, stamped: bool = False) -> None:
        """Append words; the next one starts at `start` (ms), which is an inline stamp if `stamped`.

        A word with an inline stamp, or before one, ends where the next word starts, or earlier if that takes too long.
        """
        for draft in reversed(drafts):
            before, stamped = stamped, draft.stamped
            if (stamped or before) and draft.start is not None and draft.end is None:
                draft.end = latest_end(draft.start, draft.spoken.text, start)
            start = draft.start
        for draft in drafts:
            spoken = draft.spoken
            flags = draft.sound, spoken.followed, spoken.preceded
            self.words.add(
                Word(spoken.text, draft.start, draft.end, draft.cue, draft.turn, tuple(draft.copies), *flags)
            )


def write(document: Document, texts: Sequence[str]) -> str:
    """Splice new texts of the words into the source, in all their copies.

    Changes that would be read back as something other than words are left out (guard.py). Raises ValueError if there
    are not as many texts as words, BadInput if a text is another word.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    # White space around a word would be read back as part of the line.
    new = [text.strip() for text in texts]
    new = guard.revert_ambiguous(origin.source, origin.regions, document.words, new, origin.hidden)
    changes = spans.changes(origin.source, document.words, new)
    return spans.splice(origin.source, changes, in_order=document.words.in_order)


def skeleton(document: Document) -> str:
    """The source with placeholders for the words: everything that writing must leave as it is."""
    origin, words = document.origin, document.words
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    return spans.splice(origin.source, spans.placeholders(origin.source, words), in_order=words.in_order)
