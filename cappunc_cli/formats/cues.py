"""Cues: their times, and how their words are read.

Rolling captions show a line again above the next one: up to three times, but it is spoken only once. YouTube's
automatic captions show the finished line above the one in progress, and between two such pairs a cue of 10 ms with only
the finished line. Conversion to SRT drops the inline stamps, but keeps the repetition. Whisper with `--highlight_words`
shows a caption again for each of its words, and underlines the word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice, pairwise
from operator import itemgetter
from sys import intern
from typing import NamedTuple

from cappunc_cli.document.labels import fold, strip
from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.formats.markup import HIDDEN, Visible, joined, units, visible
from cappunc_cli.formats.speech import TOKEN, WORDS_ALONE, Speech, speech_in
from cappunc_cli.formats.splice import BREAKS

#: At most 15 digits: more are no time, and exceed what `int` and `float` convert.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
_SECONDS = re.compile(r"(-?)(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)s?")
_TIME_CODE = re.compile(r"([0-9]{1,3})[:;]([0-9]{2})[:;]([0-9]{2})[:;]([0-9]{2})")
#: Frames a second of time codes whose rate nobody tells.
USUAL_RATE = 25.0
#: An inline time stamp of WebVTT or LRC.
STAMP = re.compile(r"<([0-9]+:[0-9:.,]*)>")
#: Two lines with a dash are two speakers, and the turn ends with the cue: a sentence did in 197 of 206 such cues.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)
# A cue this short (ms) cannot be read; it only holds a line.
_HOLD = 60
_MARKS = re.compile(r"(?:[^\w\s]|_)+")
_SHOWN = re.compile(r"[^\W_]")


def milliseconds(text: str) -> int | None:
    """Parse a time into milliseconds, or None: `00:00:02,5` is 2500. Hours and fractions are optional."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    value = whole * 1000 + int((fraction or "")[:3].ljust(3, "0"))
    return -value if sign else value


def seconds(value: object, unit: float = 1000.0) -> int | None:
    """Convert a number of seconds, or "1.5", "1.500s" or "00:00:01,500", to milliseconds; None for other values.

    Google's `{"seconds": "1", "nanos": 200000000}` lacks what is zero. `unit` is the number of milliseconds in a unit:
    1 for milliseconds, 1e-4 for ticks of 100 ns.
    """
    if isinstance(value, str):
        if (stamp := _SECONDS.fullmatch(value.strip())) is None:
            return None
        sign, first, second, last = stamp.groups()
        hours, minutes = (first, second) if second is not None else (None, first)
        value = (float(hours or 0) * 60 + float(minutes or 0)) * 60 + float(last.replace(",", "."))
        value = -value if sign else value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
        return round(value * unit)
    if isinstance(value, dict):
        whole, rest = seconds(value.get("seconds", 0)), seconds(value.get("nanos", 0), 1e-6)
        return None if whole is None or rest is None else whole + rest
    return None


def time_code(text: str, fps: float | None = None) -> int | None:
    """Parse `01:00:02:12`, a time with frames (25 a second by default), into milliseconds; else as `milliseconds`."""
    found = _TIME_CODE.fullmatch(text.strip())
    if found is None:
        return milliseconds(text)
    hours, minutes, seconds, frames = map(int, found.groups())
    return round((((hours * 60 + minutes) * 60 + seconds) + frames / (fps or USUAL_RATE)) * 1000)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is the name in a field beside the text, if there is one. A `repeated` cue is shown several times. `shown`
    is what the cue shows, where the source has it in codes. `parts` are its pieces with times of their own, in order.
    Cues of several tracks, such as languages, are spoken at the same time, and read track by track.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None
    repeated: bool = False
    shown: Visible | None = None
    parts: Sequence[Cue] = ()
    track: str = ""

    def visible(self, source: str, hidden: re.Pattern[str]) -> Visible:
        """What the cue shows; `hidden` matches the markup in it."""
        return visible(source, *self.text, hidden) if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class CueDetail:
    """The cues or other regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` matches the markup in them. If `timed`, they are what a viewer sees. If `lasting`, a cue without an end is
    shown until the next one begins. If `in_pieces`, a word may begin in one cue and go on in the next.
    """

    cues: Sequence[Cue]
    hidden: re.Pattern[str] = HIDDEN
    timed: bool = True
    lasting: bool = False
    in_pieces: bool = False

    @property
    def shown(self) -> list[str] | None:
        """The text that each cue shows, where the source has it in codes; else None."""
        return [cue.shown.text for cue in self.cues if cue.shown is not None] or None


def in_time(cues: Sequence[Cue]) -> list[Cue]:
    """Cues in the order of their times; one without a time stays after the one before it in the file."""
    starts = accumulate((cue.start for cue in cues), lambda last, start: last if start is None else start, initial=0)
    return [cue for _, cue in sorted(zip(islice(starts, 1, None), cues, strict=True), key=itemgetter(0))]


def is_rolling(document: Document) -> bool:
    """Whether some cues repeat words of those before."""
    return any(len(word.copies) > 1 for word in document.words)


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
class CueReader:
    """Reads cues into `words`; if `rolling`, lines that a cue repeats are copies of the words before.

    Of the cues with another one before them, which are `chances` to see that captions roll, some are `evidence`.
    """

    source: str
    hidden: re.Pattern[str]
    rolling: bool = False
    words: list[Word] = field(default_factory=list)
    turns: TurnCounter = field(default_factory=TurnCounter)
    chances: int = 0
    evidence: int = 0
    #: The lines of the cue before, and its end.
    _before: list[tuple[int, str]] = field(default_factory=list)
    _end: int | None = None
    #: The words in these lines; they may still get copies.
    _held: list[list[Word]] = field(default_factory=list)
    _sound_before: bool = False

    def read(self, cue: Cue, number: int) -> None:
        """Read the next cue."""
        if cue.shown is None and WORDS_ALONE.fullmatch(self.source, *cue.text):
            text = self.source[slice(*cue.text)]
            tokens = TOKEN.finditer(self.source, *cue.text)
            said = [Word(intern(found[0]), at=found.start(), length=len(found[0])) for found in tokens]
            speech = Speech(said, [n for n, line in enumerate(BREAKS.split(text)) for _ in line.split()], {})
        else:
            seen = cue.visible(self.source, self.hidden)
            text, speech = seen.text, speech_in(seen)
        every: list[tuple[str, list[Word]]] = [(line, []) for line in BREAKS.split(text)]
        for at, word in zip(speech.lines, speech.words, strict=True):
            every[at][1].append(word)
        lines = [(line, words) for line, words in every if words or _SHOWN.search(line)]
        repeated = self._repeated([(len(words), line) for line, words in lines], cue) if lines else 0
        if cue.speaker is not None and (lines or not self.rolling):
            self.turns.announce(cue.speaker)
        own = self._new(lines, repeated) if self.rolling and lines else speech.words
        for n, word in enumerate(own, len(speech.words) - len(own)):
            word.cue, word.turn = number, self.turns.next(speech.speakers.get(n), number)
            word.line = speech.lines[n]
        if own:
            own[0].start, own[0].sound = cue.start, own[0].sound or (self._sound_before and bool(self.words))
            # A rolling line stays until the next one is complete, so the end of its cue tells nothing.
            own[-1].end = None if self.rolling else cue.end
            self.words += own
            self._sound_before = False
        self._sound_before |= speech.sound
        if not self.rolling and len(_SPEAKERS.findall(text)) > 1:
            self.turns.announce("")
        if speech.trailing is not None and (len(lines) > repeated or not self.rolling):
            self.turns.announce(speech.trailing)

    def _repeated(self, shown: Sequence[tuple[int, str]], cue: Cue) -> int:
        """How many of the first lines of the next cue repeat the last ones of the cue before, but for case and marks.

        `shown` are the numbers of their words and their texts. A repeated `yes` alone does not show that captions roll.
        """
        lines = [(count, " ".join(_MARKS.sub("", fold(text)).split())) for count, text in shown]
        before, ended = self._before, self._end
        self._before, self._end = lines, cue.end
        if not before:
            return 0
        sizes = range(min(len(before), len(lines), 4), 0, -1)
        count = next((n for n in sizes if before[-n:] == lines[:n]), 0)
        hold = cue.start is not None and cue.end is not None and 0 <= cue.end - cue.start <= _HOLD
        again = cue.start is not None and cue.start == ended and count == len(before)
        several = sum(words for words, _ in lines) > 1
        self.chances += 1
        self.evidence += count > 0 and (hold or len(lines) > count or (again and several))
        return count

    def _new(self, lines: Sequence[tuple[str, list[Word]]], repeated: int) -> list[Word]:
        """The words of the new lines of a rolling cue; words of its other lines are copies of earlier words."""
        self._held = self._held[len(self._held) - repeated :]
        for (_, copies), words in zip(lines, self._held, strict=False):
            for copy, word in zip(copies, words, strict=True):
                word.places += copy.places
        new = [words for _, words in lines[repeated:]]
        self._held += new
        return list(chain(*new))

    def read_pieces(self, cues: Sequence[Cue]) -> None:
        """Read cues of pieces of words as one text; a word may have letters and marks in several cues."""
        starts = [cue.text[0] for cue in cues]
        speech = speech_in(joined([cue.visible(self.source, self.hidden) for cue in cues]))
        last = -1  # the cue in which the word before ends
        for n, word in enumerate(speech.words):
            # The time of a mark in a cue of its own is not the word's: that must not depend on the mark.
            lettered = [a for a, b in word.places[0] if any(map(str.isalnum, self.source[a:b]))]
            first, stop = (bisect_right(starts, at) - 1 for at in (lettered[0], lettered[-1]))
            if first != last:
                self.turns.announce(cues[first].speaker)
                word.start = cues[first].start
            elif n:
                speech.words[n - 1].end = None
            word.cue, word.turn, word.end = first, self.turns.next(speech.speakers.get(n), first), cues[stop].end
            last = stop
        self.words += speech.words


# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


def set_stamped_times(
    source: str, words: Sequence[Word], cues: Sequence[Cue], clock: Callable[[str], int | None]
) -> None:
    """Give words the times of the inline stamps in their cues, as `clock` reads them (ms); a known end stays."""
    parts, ends = list[Cue](), [word.end for word in words]
    for cue in cues:
        found = ((clock(stamp[1]), *stamp.span()) for stamp in STAMP.finditer(source, *cue.text))
        stamps = [(time, start, stop) for time, start, stop in found if time is not None]
        edges = [(cue.start, 0, cue.text[0]), *stamps, (None, cue.text[1], 0)]
        pieces = (Cue(start, None, (at, stop)) for (start, _, at), (_, stop, _) in pairwise(edges) if stamps)
        parts += (piece for piece in pieces if source[slice(*piece.text)].strip())
    set_inline_times(source, words, parts)
    for word, end in zip(words, ends, strict=True):
        word.end = word.end if end is None else end


def set_inline_times(source: str, words: Sequence[Word], spans: Sequence[Cue]) -> None:
    """Give words the times of `spans` (in order, without overlaps).

    The first word of a span gets its start, the last one its end. Where a span has no end, its first word ends with the
    start of the next word, or earlier if that takes too long.
    """
    starts = [span.text[0] for span in spans]
    # The letters of a word decide, as a mark between two spans may come and go.
    within: list[tuple[Cue | None, Cue | None]] = []
    for word in words:
        places = [at for at, _, c in units(source, word.places[0]) if c.isalnum()]
        within.append((_at(spans, starts, places[0]), _at(spans, starts, places[-1])))
    open_ended: list[int] = []
    for i, (word, (first, last)) in enumerate(zip(words, within, strict=True)):
        begins = i == 0 or within[i - 1][1] is not first
        ends = i + 1 == len(words) or within[i + 1][0] is not last
        if first is not None:
            word.start = first.start if begins else None
        if last is not None:
            word.end = last.end if ends else None
            if last.end is None:
                open_ended.append(i)
    for i in open_ended:
        word, following = words[i], words[i + 1].start if i + 1 < len(words) else None
        if word.start is not None:
            longest = word.start + _LONGEST_BASE + _LONGEST_LETTER * len(strip(word.text)[0])
            word.end = longest if following is None else max(word.start, min(following, longest))


def spoken_once(groups: Iterable[tuple[object, Sequence[Word]]]) -> list[Word]:
    """The words of groups; where one has the key and the words of another before it, they are copies of these.

    Such words are shown at the same time in different places. Of two times the finer one counts.
    """
    found: dict[object, Sequence[Word]] = {}
    for key, words in groups:
        first = found.setdefault((key, *(strip(word.text)[0] for word in words)), words)
        for word, other in zip(first, words, strict=True) if first is not words else ():
            if other.start is not None and other.end is not None:
                word.start, word.end = other.start, other.end
            word.places += other.places
    return list(chain(*found.values()))


def _at(spans: Sequence[Cue], starts: Sequence[int], offset: int) -> Cue | None:
    i = bisect_right(starts, offset) - 1
    return spans[i] if i >= 0 and offset < spans[i].text[1] else None


#: At least this share of the texts begin with a space: of those with one token each, and of longer ones.
_SHARE_OF_TOKENS, _SHARE_OF_TEXTS = 0.4, 0.8
#: Fewer texts prove nothing.
_FEWEST = 4


def cues_are_pieces(texts: Sequence[str]) -> bool:
    """Whether a leading space begins a word in these texts, and a text without one continues the word before.

    False where every text begins with a space, or none; or where a text ends with one, as then the spaces between
    words are written otherwise.
    """
    shown = [text for text in texts if text.strip()]
    spaced = sum(text[0] == " " for text in shown)
    if len(shown) < _FEWEST or spaced == len(shown) - (shown[0][0] != " "):
        return False
    if any(text[-1].isspace() or "\n" in text for text in shown):
        return False
    several = sum(len(text.split()) > 1 for text in shown)
    return spaced >= (_SHARE_OF_TEXTS if 4 * several > len(shown) else _SHARE_OF_TOKENS) * len(shown)
