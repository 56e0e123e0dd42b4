"""Read the words of cues and write them back, for all formats with timed lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from cappunc_cli.formats.source import spans
from cappunc_cli.formats.source.spans import Spans
from cappunc_cli.formats.source.visible import HIDDEN
from cappunc_cli.formats.timed_text import guard
from cappunc_cli.formats.timed_text.lines import milliseconds
from cappunc_cli.formats.timed_text.speech import (
    RollDetector,
    SpokenWord,
    StampReader,
    caption_lines,
    plain_caption_lines,
    plain_words,
    scan,
)
from cappunc_cli.transcript.labels import cached_strip
from cappunc_cli.transcript.words import Copy, Document, Notice, RunLengthList, Span, Words

# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90
#: How many cues usually suffice to tell whether a file rolls.
_FIRST = 40
#: How many words are put into columns at a time.
_TOGETHER = 256
#: Two lines with a dash are two speakers, and the turn ends with the cue: a sentence did in 197 of 206 such cues.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is the name in a field beside the text, if there is one.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None


_LETTERS = re.compile(r"""["“„«‘'¿¡]*(?=[^\W\d_])[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…—"”’»]*""")


@dataclass(frozen=True, slots=True)
class CueOrigin:
    """The source and the regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` matches the markup in the regions. Where the regions are the cues of a file, `starts` and `ends` are their
    times (ms) and `speakers` the names in fields beside the text, by number of the cue. These are columns because a
    file of a million words has 100,000 cues.
    """

    source: str
    regions: Spans
    hidden: re.Pattern[str] = HIDDEN
    starts: RunLengthList = field(default_factory=RunLengthList)
    ends: RunLengthList = field(default_factory=RunLengthList)
    speakers: Mapping[int, str] = field(default_factory=dict)


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


class _PlainCue(NamedTuple):
    """The words of a cue that shows nothing else, and where each starts, in a file that does not roll.

    The first word has the `start`, the last one the `end`; `sound` tells whether a sound is heard before them.
    """

    texts: list[str]
    places: list[int]
    start: int | None
    end: int | None
    cue: int
    turn: int
    sound: bool


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


def read_cues(
    name: str,
    source: str,
    cues: Sequence[Cue],
    notices: Sequence[Notice],
    hidden: re.Pattern[str] = HIDDEN,
    clock: StampReader = milliseconds,
) -> Document:
    """Read the words of all cues, in the order of the file, into a document of the format `name`.

    In rolling captions a repeated line gives further copies of its words. `hidden` matches the markup, and `clock`
    reads inline time stamps.
    """
    # Whether a file rolls is certain only at its end; most do not, and those that do show it early.
    reader = _CueReader(source, hidden, clock)
    words, rolls = _words(reader, cues)
    if rolls:
        reader = _CueReader(source, hidden, clock, rolling=True)
        words, rolls = _words(reader, cues)
        if not rolls:  # the first cues were misleading
            reader = _CueReader(source, hidden, clock)
            words, _ = _words(reader, cues, early=len(cues))
    speakers = {i: cue.speaker for i, cue in enumerate(cues) if cue.speaker is not None}
    origin = CueOrigin(source, Spans.of([cue.text for cue in cues]), hidden, speakers=speakers)
    origin.starts.extend([cue.start for cue in cues])
    origin.ends.extend([cue.end for cue in cues])
    return Document(name, words, origin, tuple(notices), reader.turns.names)


def _words(reader: _CueReader, cues: Iterable[Cue], early: int = _FIRST) -> tuple[Words, bool]:
    """The words as the reader finds them, and whether the file rolls; `early` as in `_CueReader.drafts`."""
    words = Words()
    block: list[_Draft] = []
    for found, following in pairwise(chain(reader.drafts(cues, early), (None,))):
        if isinstance(found, _PlainCue):
            words.add_run(found.texts, found.places, found.start, found.end, found.cue, found.turn, found.sound)
        elif found is not None:
            _set_end(found, following)
            block.append(found)
        if block and (not isinstance(following, _Draft) or len(block) == _TOGETHER):
            words.add_all(
                (d.spoken.text, d.start, d.end, d.cue, d.turn, tuple(d.copies), d.sound, d.spoken.followed)
                for d in block
            )
            block.clear()
    return words, reader.roll.rolls


@dataclass(slots=True)
class _CueReader:
    """Reads cues into drafts of words; if `rolling`, lines that a cue repeats are copies of the words before."""

    source: str
    hidden: re.Pattern[str]
    clock: StampReader
    rolling: bool = False
    roll: RollDetector = field(default_factory=RollDetector)
    turns: TurnCounter = field(default_factory=TurnCounter)

    def drafts(self, cues: Iterable[Cue], early: int) -> Iterator[_Draft | _PlainCue]:
        """Yield the words, each when it cannot get further copies.

        A reader that is not `rolling` stops after `early` cues if these roll.
        """
        held: list[list[_Draft]] = []  # the lines of the cue before
        any_words = sound_before = False
        for number, cue in enumerate(cues):
            if number == early and self.roll.rolls and not self.rolling:
                break
            # Without an end of the cue, the end of its last word may depend on the next word.
            simple = not self.rolling and cue.end is not None
            if simple and (places := plain_words(self.source, *cue.text)):
                yield from chain.from_iterable(held)
                held = []
                text = self.source[slice(*cue.text)]
                self.roll.repeated(plain_caption_lines(text), cue.start, cue.end)
                turn = self.turns.next(cue.speaker, number)
                sound = any_words and sound_before
                yield _PlainCue(text.split(), places, cue.start, cue.end, number, turn, sound)
                any_words, sound_before = True, False
                continue
            speech = scan(self.source, *cue.text, self.hidden, self.clock)
            lines = caption_lines(speech)
            repeated = self.roll.repeated(lines, cue.start, cue.end)
            if not self.rolling:
                repeated = 0
            if self.rolling and not lines:
                sound_before |= speech.sound
                continue
            self.turns.announce(cue.speaker)
            yield from chain.from_iterable(held[: len(held) - repeated])
            held = held[len(held) - repeated :]
            for line, drafts in zip(lines, held, strict=False):
                for word, draft in zip(line.words, drafts, strict=True):
                    draft.copies.append(word.copy)
            new = [[self._draft(word, number) for word in line.words] for line in lines[repeated:]]
            own = [draft for line in new for draft in line]
            if own:
                own[0].sound |= any_words and sound_before
                self._set_times(cue, own)
                sound_before = False
            sound_before |= speech.sound
            any_words |= bool(own)
            if not self.rolling and len(_SPEAKERS.findall(speech.visible.text)) > 1:
                self.turns.announce("")
            if new or not self.rolling:
                self.turns.announce(speech.trailing)
            held += new
        yield from chain.from_iterable(held)

    def _draft(self, word: SpokenWord, cue: int) -> _Draft:
        return _Draft(word, cue, self.turns.next(word.speaker, cue), word.stamp, None, [word.copy], word.sound)

    def _set_times(self, cue: Cue, drafts: Sequence[_Draft]) -> None:
        if drafts[0].start is None:
            drafts[0].start = cue.start
        # A rolling line stays until the next one is complete, so the end of its cue tells nothing.
        drafts[-1].end = None if self.rolling else cue.end


def _set_end(draft: _Draft, following: _Draft | _PlainCue | None) -> None:
    """Let a word with an inline stamp end where the next word starts, or earlier if that takes too long."""
    if draft.start is None or draft.end is not None:
        return
    if any(isinstance(word, _Draft) and word.spoken.stamp is not None for word in (draft, following)):
        draft.end = latest_end(draft.start, draft.spoken.text, following.start if following else None)


def latest_end(start: int, text: str, following: int | None) -> int:
    """The latest end (ms) of a word that starts at `start`; `following` is the start of the next word."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(cached_strip(text)[0])
    return longest if following is None else max(start, min(following, longest))


def write(document: Document, texts: Sequence[str]) -> str:
    """Splice new texts of the words into the source, in all their copies.

    Changes that would be read back as something other than words are left out (guard.py). Raises ValueError if there
    are not as many texts as words, BadInput if a text is another word.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    # White space around a word would be read back as part of the line.
    clean = [text.strip() for text in texts]
    safe = guard.revert_ambiguous(origin.source, origin.regions, document.words, clean, origin.hidden)
    return spans.write(origin.source, document.words, safe)


def plain_places(document: Document) -> list[int | None]:
    """The offset of each word that can simply be replaced in the source, without `write`; None for other words.

    Such a word has one copy in one fragment and consists of letters. Replacing it with other marks (but a colon or a
    dash before it) or case gives the same source as `write`. Other words are not safe: a number without its mark might
    be read as the index of a cue, `S>` in another case as a tag.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    words, unguarded = document.words, guard.unguarded(origin.source, origin.regions, document.words)
    found: list[int | None] = []
    for i, text in enumerate(words.texts):
        copies = words.copies(i)
        plain = unguarded[i] and len(copies) == 1 and len(copies[0]) == 1 and _LETTERS.fullmatch(text) is not None
        start, stop = copies[0][0] if plain else (0, 0)
        found.append(start if plain and origin.source[start:stop] == text else None)
    return found


def skeleton(document: Document) -> str:
    """The source with placeholders for the words."""
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    return spans.skeleton(origin.source, document.words)
