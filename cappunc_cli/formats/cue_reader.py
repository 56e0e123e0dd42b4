"""Read the words of cues, and tell rolling captions and pieces of words from others.

Rolling captions show a line again above the next one: up to three times, but it is spoken only once. YouTube's
automatic captions show the finished line above the one in progress, and between two such pairs a cue of 10 ms with only
the finished line. Conversion to SRT drops the inline stamps, but keeps the repetition. Whisper with `--highlight_words`
shows a caption again for each of its words, which it underlines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from sys import intern

from cappunc_cli.document.labels import fold, strip
from cappunc_cli.document.words import Document, Word
from cappunc_cli.formats.cues import Cue, StampReader
from cappunc_cli.formats.markup import joined, units
from cappunc_cli.formats.speech import WORDS_ALONE, SpokenWord, speech_in
from cappunc_cli.formats.splice import BREAKS

_TOKEN = re.compile(r"\S+")
#: Two lines with a dash are two speakers, and the turn ends with the cue: a sentence did in 197 of 206 such cues.
_SPEAKERS = re.compile(r"^[ \t]*[-‐‑–—](?![-‐‑–—0-9])", re.MULTILINE)
# A cue this short (ms) cannot be read; it only holds a line.
_HOLD = 60
_MARKS = re.compile(r"(?:[^\w\s]|_)+")
_SHOWN = re.compile(r"[^\W_]")


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
    clock: StampReader
    rolling: bool = False
    words: list[Word] = field(default_factory=list)
    turns: TurnCounter = field(default_factory=TurnCounter)
    chances: int = 0
    evidence: int = 0
    #: The lines of the cue before, and its end.
    _before: list[tuple[int, str]] = field(default_factory=list)
    _end: int | None = None
    #: The words in these lines, which may still get copies.
    _held: list[list[Word]] = field(default_factory=list)
    #: The indices of words that have inline stamps.
    _stamped: set[int] = field(default_factory=set)
    _sound_before: bool = False

    def read(self, cues: Iterable[Cue]) -> None:
        """Read all cues."""
        source = self.source
        for number, cue in enumerate(cues):
            start, stop = cue.text
            if self.rolling or cue.shown is not None or not WORDS_ALONE.fullmatch(source, start, stop):
                self._read_speech(cue, number)
                continue
            lines = BREAKS.split(source[start:stop])
            self._repeated([(count, line) for line in lines if (count := len(line.split()))], cue)
            turn, first = self.turns.next(cue.speaker, number), len(self.words)
            for found in _TOKEN.finditer(source, start, stop):
                self.words.append(Word(intern(found[0]), None, None, number, turn, ((found.span(),),)))
            self.words[first].start, self.words[-1].end = cue.start, cue.end
            self.words[first].sound = bool(first) and self._sound_before
            self._sound_before = False
        # A word with an inline stamp, or before one, ends where the next word starts, or earlier.
        for i in sorted({n for stamped in self._stamped for n in (stamped - 1, stamped) if n >= 0}):
            if self.words[i].end is None:
                end_early(self.words, i)

    def _repeated(self, shown: Sequence[tuple[int, str]], cue: Cue) -> int:
        """How many of the first lines of the next cue repeat the last ones of the cue before, but for case and marks.

        `shown` are the numbers of their words and their texts. A repeated `yes` alone does not show that captions roll.
        """
        if not shown:
            return 0
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

    def _read_speech(self, cue: Cue, number: int) -> None:
        """Read a cue that may show more than words, or repeat lines."""
        speech = speech_in(cue.visible(self.source, self.hidden))
        texts = BREAKS.split(speech.visible.text)
        spoken: list[list[SpokenWord]] = [[] for _ in texts]
        for said in speech.words:
            spoken[said.line].append(said)
        lines = [(text, words) for text, words in zip(texts, spoken, strict=True) if words or _SHOWN.search(text)]
        repeated = self._repeated([(len(words), text) for text, words in lines], cue)
        if not self.rolling:
            repeated = 0
        elif not lines:
            self._sound_before |= speech.sound
            return
        self.turns.announce(cue.speaker)
        self._held = self._held[len(self._held) - repeated :]
        for (_, copies), words in zip(lines, self._held, strict=False):
            for said, word in zip(copies, words, strict=True):
                word.places += (said.copy,)
        first = len(self.words)
        self._held += [[self._add(said, number) for said in words] for _, words in lines[repeated:]]
        if len(self.words) > first:
            begin, end = self.words[first], self.words[-1]
            begin.sound |= bool(first) and self._sound_before
            begin.start = cue.start if begin.start is None else begin.start
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
        speech = speech_in(joined([cue.visible(self.source, self.hidden) for cue in cues]))
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


# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


def set_inline_times(document: Document, spans: Sequence[Cue]) -> None:
    """Give the words of a document the times of `spans`, which are in order and do not overlap.

    The first word of a span gets its start, the last one its end. Where a span of one word has no end,
    the word ends with the start of the next one, or earlier if that takes too long.
    """
    if not spans:
        return
    words, starts = document.words, [span.text[0] for span in spans]
    # The letters of a word decide, as a mark between two spans may come and go.
    within: list[tuple[Cue | None, Cue | None]] = []
    for word in words:
        places = [at for at, _, c in units(document.source, word.places[0]) if c.isalnum()]
        within.append((_at(spans, starts, places[0]), _at(spans, starts, places[-1])))
    open_ended: list[int] = []
    for i, (word, (first, last)) in enumerate(zip(words, within, strict=True)):
        begins = i == 0 or within[i - 1][1] is not first
        ends = i + 1 == len(words) or within[i + 1][0] is not last
        if first is not None:
            word.start = first.start if begins else None
        if last is not None:
            word.end = last.end if ends else None
            if first is last and last.end is None and ends:
                open_ended.append(i)
    for i in open_ended:
        end_early(words, i)


def end_early(words: Sequence[Word], number: int) -> None:
    """End a word that has a start where the next one starts, or when the longest time that it can take is over."""
    word = words[number]
    if word.start is not None:
        longest = word.start + _LONGEST_BASE + _LONGEST_LETTER * len(strip(word.text)[0])
        following = words[number + 1].start if number + 1 < len(words) else None
        word.end = longest if following is None else max(word.start, min(following, longest))


def merge_copies(word: Word, other: Word) -> Word:
    """One word from two that are shown at the same time in different places, with the copies and the finer times."""
    finer = other if other.start is not None and other.end is not None else word
    return replace(word, start=finer.start, end=finer.end, places=(*word.places, *other.places))


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
