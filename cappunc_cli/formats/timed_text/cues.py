"""From cues to words and back, for SRT and WebVTT alike."""

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
from cappunc_cli.formats.timed_text.rolling import RollDetector, caption_lines, plain_caption_lines
from cappunc_cli.formats.timed_text.speech import SpokenWord, StampReader, plain_words, scan
from cappunc_cli.transcript.labels import cached_strip
from cappunc_cli.transcript.run_lengths import RunLengthList
from cappunc_cli.transcript.words import Copy, Document, Notice, Span, Words

# No word takes longer than this (ms) plus so much for each of its letters: what is left
# until the next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90
#: So many cues show, as a rule, whether a file rolls.
_FIRST = 40
#: So many words are put into columns at a time.
_TOGETHER = 256
#: Two lines with a dash are two speakers, and both have done when the cue ends: a sentence ended in 197 of 206 of them.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is who a field beside the text says speaks, None where nobody is named.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None


_LETTERS = re.compile(r"""["“„«‘'¿¡]*(?=[^\W\d_])[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…—"”’»]*""")


@dataclass(frozen=True, slots=True)
class CueOrigin:
    """The source and the regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` finds the markup in the regions. Where they are all of a file's cues, `starts` and `ends` are the times of
    these, and `speakers` those whom a field beside the text names: columns, for a file of a million words has 100,000.
    """

    source: str
    regions: Spans
    hidden: re.Pattern[str] = HIDDEN
    starts: RunLengthList = field(default_factory=RunLengthList)
    ends: RunLengthList = field(default_factory=RunLengthList)
    speakers: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class TurnCounter:
    """Counts speaker changes; a name that speaks again is no change.

    But `MAN:` is one, where cues without a name stand before it: captions name a speaker in capitals when another has
    spoken.
    """

    number: int = 0
    speaker: str = ""
    #: Who speaks in a turn, where that is said.
    names: dict[int, str] = field(default_factory=dict)
    _pending: str | None = field(default=None)
    _named: int = 0  # the last cue that names somebody

    def announce(self, speaker: str | None) -> None:
        """Somebody begins to speak with the next word."""
        if speaker is not None:
            self._pending = speaker

    def next(self, speaker: str | None, cue: int = 0) -> int:
        """The turn of the next word, before which `speaker` was announced; `cue` is the number of its cue."""
        self.announce(speaker)
        if self._pending is not None:
            again = self._pending == self.speaker and not (self._pending.isupper() and cue > self._named + 1)
            if not self._pending or not again:
                self.number += 1
                self.speaker = self._pending
                if self._pending:
                    self.names[self.number] = self._pending
            self._named = cue
        self._pending = None
        return self.number


class _PlainCue(NamedTuple):
    """The words of a cue that shows nothing else, and where each begins; in a file that does not roll.

    The first one has the `start`, the last one the `end`; a `sound` may be heard before them.
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
    """A word of which copies may still come."""

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
    """The words of all cues in the order of the file; a repeated line gives copies, not words."""
    # Whether a file rolls is known at its end; most do not, and those that do show it early.
    reader = _CueReader(source, hidden, clock)
    words, rolls = _words(reader, cues)
    if rolls:
        reader = _CueReader(source, hidden, clock, rolling=True)
        words, rolls = _words(reader, cues)
        if not rolls:  # its beginning was no guide
            reader = _CueReader(source, hidden, clock)
            words, _ = _words(reader, cues, early=len(cues))
    speakers = {i: cue.speaker for i, cue in enumerate(cues) if cue.speaker is not None}
    origin = CueOrigin(source, Spans.of([cue.text for cue in cues]), hidden, speakers=speakers)
    origin.starts.extend([cue.start for cue in cues])
    origin.ends.extend([cue.end for cue in cues])
    return Document(name, words, origin, tuple(notices), reader.turns.names)


def _words(reader: _CueReader, cues: Iterable[Cue], early: int = _FIRST) -> tuple[Words, bool]:
    """The words as the reader has them, and whether the file rolls; `early` as in `_CueReader.drafts`."""
    words = Words()
    loose: list[_Draft] = []
    for found, following in pairwise(chain(reader.drafts(cues, early), (None,))):
        if isinstance(found, _PlainCue):
            words.add_run(found.texts, found.places, found.start, found.end, found.cue, found.turn, found.sound)
        elif found is not None:
            _end(found, following)
            loose.append(found)
        if loose and (not isinstance(following, _Draft) or len(loose) == _TOGETHER):
            words.add_all(
                (d.spoken.text, d.start, d.end, d.cue, d.turn, tuple(d.copies), d.sound, d.spoken.followed)
                for d in loose
            )
            loose.clear()
    return words, reader.roll.rolls


@dataclass(slots=True)
class _CueReader:
    """Walks the cues; `rolling`: what a cue repeats of the one before are copies of its words."""

    source: str
    hidden: re.Pattern[str]
    clock: StampReader
    rolling: bool = False
    roll: RollDetector = field(default_factory=RollDetector)
    turns: TurnCounter = field(default_factory=TurnCounter)

    def drafts(self, cues: Iterable[Cue], early: int) -> Iterator[_Draft | _PlainCue]:
        """The words, each when no copy can come any more.

        A reader that takes the file for one that does not roll gives up after `early` cues that do.
        """
        held: list[list[_Draft]] = []  # the lines of the cue before
        spoken = heard = False
        for number, cue in enumerate(cues):
            if number == early and self.roll.rolls and not self.rolling:
                break
            # A word without an end may have to ask the next one for it.
            simple = not self.rolling and cue.end is not None
            if simple and (places := plain_words(self.source, *cue.text)):
                yield from chain.from_iterable(held)
                held = []
                text = self.source[slice(*cue.text)]
                self.roll.repeated(plain_caption_lines(text), cue.start, cue.end)
                turn = self.turns.next(cue.speaker, number)
                yield _PlainCue(text.split(), places, cue.start, cue.end, number, turn, spoken and heard)
                spoken, heard = True, False
                continue
            speech = scan(self.source, *cue.text, self.hidden, self.clock)
            shown = caption_lines(speech)
            repeats = self.roll.repeated(shown, cue.start, cue.end)
            again = repeats if self.rolling else 0
            if self.rolling and not shown:
                heard |= speech.sound
                continue
            self.turns.announce(cue.speaker)
            yield from chain.from_iterable(held[: len(held) - again])
            held = held[len(held) - again :]
            for line, before in zip(shown, held, strict=False):
                for word, draft in zip(line.words, before, strict=True):
                    draft.copies.append(word.copy)
            new = [[self._draft(word, number) for word in line.words] for line in shown[again:]]
            own = [draft for line in new for draft in line]
            if own:
                own[0].sound |= spoken and heard
                self._timed(cue, own)
                heard = False
            heard |= speech.sound
            spoken |= bool(own)
            if not self.rolling and len(_SPEAKERS.findall(speech.visible.text)) > 1:
                self.turns.announce("")
            if new or not self.rolling:
                self.turns.announce(speech.trailing)
            held += new
        yield from chain.from_iterable(held)

    def _draft(self, word: SpokenWord, cue: int) -> _Draft:
        return _Draft(word, cue, self.turns.next(word.speaker, cue), word.stamp, None, [word.copy], word.sound)

    def _timed(self, cue: Cue, drafts: Sequence[_Draft]) -> None:
        if drafts[0].start is None:
            drafts[0].start = cue.start
        # A rolling line stays until the next one is complete: its end says nothing.
        drafts[-1].end = None if self.rolling else cue.end


def _end(draft: _Draft, following: _Draft | _PlainCue | None) -> None:
    """Let a word with an inline stamp end with the next word, or earlier where that is too long."""
    if draft.start is None or draft.end is not None:
        return
    if any(isinstance(word, _Draft) and word.spoken.stamp is not None for word in (draft, following)):
        draft.end = latest_end(draft.start, draft.spoken.text, following.start if following else None)


def latest_end(start: int, text: str, following: int | None) -> int:
    """When a word that starts at `start` has ended at the latest; `following` is when the next one starts."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(cached_strip(text)[0])
    return longest if following is None else max(start, min(following, longest))


def write(document: Document, texts: Sequence[str]) -> str:
    """The source with the words' new texts in all their copies.

    Raises ValueError for another number of texts than words, BadInput for another word.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    # Space around a word is not the word's: it would be read back as the line's.
    clean = [text.strip() for text in texts]
    safe = guard.revert_ambiguous(origin.source, origin.regions, document.words, clean, origin.hidden)
    return spans.write(origin.source, document.words, safe)


def plain_places(document: Document) -> list[int | None]:
    """Where each word begins in the source that anyone may write anew there, in its length; None for the others.

    With other marks or another case in such places, but for a colon and for a dash before a word, the source is what
    `write` makes of it: the word stands there once, in one piece, and is spelled in letters. A number without its mark
    might be taken for a cue's, `S>` with another case for a tag.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    words, free = document.words, guard.unguarded(origin.source, origin.regions, document.words)
    found: list[int | None] = []
    for i, text in enumerate(words.texts):
        copies = words.copies(i)
        plain = free[i] and len(copies) == 1 and len(copies[0]) == 1 and _LETTERS.fullmatch(text) is not None
        start, stop = copies[0][0] if plain else (0, 0)
        found.append(start if plain and origin.source[start:stop] == text else None)
    return found


def skeleton(document: Document) -> str:
    """All that is no word."""
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        raise TypeError(f"not a document of {document.format}")
    return spans.skeleton(origin.source, document.words)
