"""Live words, as plain text or JSON Lines, from bytes through a live restorer to words, or to WebVTT cues."""

from __future__ import annotations

import codecs
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.words import LONGEST_PAUSE, Word, speaking_time
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.glossary_file import StreamTermCheck
from cappunc_cli.formats.json.json_lines import JsonLines, LivePiece, ResultEntry
from cappunc_cli.formats.speech import scan
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_files import vtt_cue
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import LineBreaker, ends_sentence
from cappunc_cli.layout.segmentation import Caption
from cappunc_cli.restoration.live import LiveRestorer

_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r"\S+|\n")
#: Stands for the word before a token when the token is read: only at the start of a line can `Note:` name a speaker.
_WORD_BEFORE = "a "
#: Most tokens of a sound in square brackets, or of lyrics between notes: one that is never closed must not stop the
#: restoration.
_LONGEST_SOUND = 16
_NOTES = "♪♫♬"
#: Sentences of fewer characters are joined with the next one; pauses of at least this length (ms) end a cue.
_SHORT, _PAUSE = 15, 2_000


class LiveCues:
    """Collects words into WebVTT cues, each of which is returned once.

    A cue is complete when its sentence ends, it is full, the speaker changes, or at a pause. A word without times gets
    its time of arrival.
    """

    def __init__(self, language: Language) -> None:
        self._language, self._limits = language, Limits()
        self._texts: list[str] = []
        self._start = self._end = self._last_end = self._turn = 0

    def add(self, words: Sequence[Word], texts: Sequence[str], arrived: int) -> str:
        """The cues that these words complete, which `arrived` at the same time (ms)."""
        done = []
        for word, text in zip(words, texts, strict=True):
            start = arrived if word.start is None else word.start
            end = start + speaking_time(word.text) if word.end is None else max(word.end, start)
            if self._texts and (word.turn != self._turn or not self._has_room(text, start, end)):
                done.append(self.flush())
            if not self._texts:
                self._start = self._end = start
            self._texts.append(" ".join(text.split()))
            # Recognisers also return words whose times go back.
            self._end, self._turn = max(self._end, end), word.turn
            if ends_sentence(text, self._language) and len(" ".join(self._texts)) >= _SHORT:
                done.append(self.flush())
        return "".join(done)

    def flush(self) -> str:
        """The current cue, full or not, or ""."""
        if not self._texts:
            return ""
        breaker = LineBreaker(self._texts, self._language, self._limits.width)
        lines = breaker.shown(breaker.best(0, len(self._texts))[1], len(self._texts))
        start = max(self._start, self._last_end)
        self._last_end = max(self._end, start + 1)
        self._texts = []
        return f"{vtt_cue(Caption(0, 0, start, self._last_end, tuple(lines)))}\n"

    def _has_room(self, text: str, start: int, end: int) -> bool:
        """Whether another word fits into the current cue, by its lines and its duration."""
        if start - self._end >= _PAUSE or end - self._start > self._limits.longest:
            return False
        words = [*self._texts, " ".join(text.split())]
        return LineBreaker(words, self._language, self._limits.width).fit(0, len(words), self._limits.lines)


class LiveOutput:
    """Feeds pieces of input to a live restorer and writes them when all their words have texts."""

    def __init__(
        self,
        stream: LiveRestorer,
        language: Language,
        max_delay: float | None,
        write: Callable[[str], None],
        cues: LiveCues | None = None,
        terms: StreamTermCheck | None = None,
    ) -> None:
        """`max_delay` limits the seconds that a word waits; with `cues`, the output is cues instead of words.

        Words are added to the `terms`.
        """
        self._cues = cues
        self._terms = terms
        self._started = time.monotonic()
        self._stream = stream
        self._language = language
        self._write = write
        self._max_delay = max_delay
        #: Waiting pieces with their times of arrival (ms), the texts of their first words, the deadlines of the others.
        self._waiting: deque[tuple[int, LivePiece]] = deque()
        self._texts: list[str] = []
        self._due: deque[float] = deque()
        #: End of the last word by the recogniser's clock (ms), and the largest offset of ours from that clock (ms).
        self._last_end: int | None = None
        self._lag = float("-inf")
        #: Whether the last word written ends a sentence: in plain text, each sentence is on a line of its own.
        self._sentence_ended = False

    def take(self, piece: LivePiece) -> None:
        """Feed the words of a piece to the restorer, and write what is ready."""
        now = time.monotonic()
        if piece.continues:
            self._stream.follow()
        self._waiting.append((round(1000 * (now - self._started)), piece))
        self._write_texts([])
        for word in piece.words:
            if self._terms is not None:
                self._terms.take(word.text)
            self._due.append(now + (self._max_delay or 0))
            self._last_end = word.end
            if word.start is not None:
                self._lag = max(self._lag, 1000 * now - word.start)
            self._write_texts(self._stream.feed(word))
        self.write_overdue()

    def timeout(self) -> float | None:
        """Seconds until a word is overdue; None if no word has a deadline."""
        return max(self._due[0] - time.monotonic(), 0) if self._due and self._max_delay is not None else None

    def write_overdue(self) -> None:
        """Write the words that are overdue.

        They come after a pause of at least the silence since the last word. A recogniser that returns words in blocks
        is late with the first word of a block. A word that had been spoken would have arrived after the longest of
        these delays, so only the time beyond it counts as a pause.
        """
        if self._max_delay is None:
            return
        now = time.monotonic()
        silence = -1.0 if self._last_end is None else 1000 * now - self._last_end - self._lag
        known = round(min(silence, LONGEST_PAUSE)) if silence > 0 else None
        self._write_texts(self._stream.flush(sum(due <= now for due in self._due), known))

    def end(self) -> None:
        """Write all words that are still waiting."""
        self._write_texts(self._stream.end())
        if self._cues is not None:
            self._write(self._cues.flush())
        self.end_terms()

    def end_terms(self) -> None:
        """Check the last words for terms, also of a stream that breaks off."""
        if self._terms is not None:
            self._terms.end()

    def _write_texts(self, texts: Sequence[str]) -> None:
        """Accept the texts of the next words, and write the pieces that they complete."""
        for text in texts:
            self._due.popleft()
            self._texts.append(text)
        while self._waiting and len(self._texts) >= (count := len(self._waiting[0][1].words)):
            (arrived, piece), own = self._waiting.popleft(), self._texts[:count]
            if self._cues is None:
                if isinstance(piece, PlainToken):
                    if self._sentence_ended and piece.before == " ":
                        piece = replace(piece, before="\n")
                    self._sentence_ended = ends_sentence(piece.shown(own)[0], self._language)
                self._write(piece.written(own))
            else:
                # JSON can write halves of characters as escapes (`\ud83d`); they are replaced.
                shown = [_SURROGATE.sub("\ufffd", text) for text in piece.shown(own)]
                if done := self._cues.add(piece.tokens, shown, arrived):
                    self._write(done)
            del self._texts[:count]


@dataclass(frozen=True, slots=True)
class PlainToken(LivePiece):
    """A token of plain text, with the white space before it."""

    before: str

    def written(self, texts: Sequence[str]) -> str:
        """The token after its white space."""
        return self.before + self.shown(texts)[0]


class LiveInput:
    """Parses bytes of plain text or JSON Lines into pieces; the first character decides which it is."""

    def __init__(self, report: Callable[[CappuncError], None]) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        #: The incomplete word or line at the end of the input so far.
        self._rest = ""
        self._lines: JsonLines | None = None
        self._number = self._words = self._breaks = self._turn = 0
        #: How many of the next tokens may belong to the sound in brackets, or the lyrics after a note, that has begun.
        self._in_sound = self._in_lyrics = 0

    @property
    def ending(self) -> str:
        """The text after the last word."""
        return "\n" if self._words else ""

    def message(self, data: bytes) -> Iterator[LivePiece]:
        """The pieces of a message of complete words or lines."""
        if self._lines is None and data.lstrip()[:1] != b"{":
            return self.pieces(data + b" ")
        return self.pieces(data.removesuffix(b"\n") + b"\n")  # so that the number of a line is that of the message

    def pieces(self, data: bytes) -> Iterator[LivePiece]:
        """The pieces that these bytes complete."""
        text = self._rest + self._decoder.decode(data)
        if not self._words and self._lines is None and text.lstrip()[:1] == "{":
            self._lines, self._number = JsonLines(), self._breaks
        if self._lines is not None:
            complete, self._rest = text[: text.rfind("\n") + 1], text[text.rfind("\n") + 1 :]
            return self._entries(complete, self._lines)
        self._rest = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
        return self._tokens(text[: len(text) - len(self._rest)])

    def rest(self, is_stopped: bool) -> Iterator[LivePiece]:
        """The pieces left at the end of the input; a line that Ctrl-C cut off is dropped."""
        return iter(()) if is_stopped and self._lines is not None else self.pieces(b"\n")

    def _entries(self, text: str, lines: JsonLines) -> Iterator[LivePiece]:
        for line in text.split("\n")[:-1]:
            self._number += 1
            try:
                yield from map(self._with_words, lines.read(line) if line.strip() else ())
            except CappuncError as error:
                self._report(CappuncError(error.message, line=self._number))

    def _with_words(self, entry: ResultEntry) -> ResultEntry:
        """The entry, with its tokens divided into words and others."""
        tokens = list(entry.tokens)
        if tokens and tokens[0].turn != self._turn:
            self._in_sound, self._in_lyrics, self._turn = 0, 0, tokens[0].turn
        found = [self._is_word(token.text) for token in tokens]
        for i, (_, continues, _) in enumerate(found[1:]):
            tokens[i] = replace(tokens[i], followed=continues)
        continues = bool(found) and found[0][1]
        return replace(entry, tokens=tuple(tokens), spoken=tuple(spoken for spoken, *_ in found), continues=continues)

    def _tokens(self, text: str) -> Iterator[LivePiece]:
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._breaks += 1
                self._in_lyrics = 0
                continue
            new_turn = self._breaks > 1 and self._words > 0
            before = "\n\n" if new_turn else " " if self._words else ""
            self._turn += new_turn
            self._words, self._breaks = self._words + 1, 0
            if new_turn:
                self._in_sound = 0
            is_word, continues, is_turn = self._is_word(token)
            self._turn += is_turn
            yield PlainToken((Word(token, turn=self._turn),), (is_word,), continues and not new_turn, before)

    def _is_sung(self, token: str) -> bool:
        """Whether a token belongs to lyrics. They last from a note to the next one or to the end of a line of text."""
        sung, notes = self._in_lyrics > 0, sum(map(token.count, _NOTES))
        if notes % 2:
            self._in_lyrics = 0 if sung else _LONGEST_SOUND
        else:
            self._in_lyrics = max(self._in_lyrics - 1, 0)
        return sung or notes > 0

    def _is_word(self, token: str) -> tuple[bool, bool, bool]:
        """Whether the reader of plain text finds a word in a token, whether it belongs to the sentence otherwise, and
        whether a turn begins after it.
        """
        if self._is_sung(token):
            return False, False, False
        if token[0] == "[" and "]" not in token:
            self._in_sound = _LONGEST_SOUND
        if self._in_sound:
            self._in_sound = 0 if "]" in token else self._in_sound - 1
            return False, False, False
        line = _WORD_BEFORE + token
        speech = scan(line, 0, len(line))
        words = tuple(speech.words)
        is_word = any(word.text != _WORD_BEFORE.strip() for word in words)
        return is_word, bool(words) and words[0].followed, speech.trailing is not None
