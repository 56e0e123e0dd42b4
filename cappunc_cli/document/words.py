"""Words and documents: a document is a source text plus the words found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: (start, stop) of a piece of the source, in characters.
Span = tuple[int, int]
#: The fragments that show a word once: `hel<i>lo</i>` has two.
Copy = tuple[Span, ...]


@dataclass(slots=True)
class Word:
    """One spoken word as the file writes it, marks included.

    `text` includes the marks around the word (`Hello,`, `“yes`, `Bonjour !`), but no tags, speaker names or sounds.
    `start` and `end` are milliseconds, None where unknown: in an SRT cue only the first word has a start and only the
    last one an end. `cue` and `turn` number the cues and the speakers' turns. `places` are the copies of the word in
    the source, each a tuple of the (start, stop) of its fragments.

    `sound`: a sound, such as laughter or a door, comes right before the word. `followed`: right after it comes a part
    of the sentence that is not a word, such as an address or a formula; `preceded`: right before it comes an address or
    a blank, with which the sentence may have begun. `blank_before`: a blank line comes before the word, which may or
    may not separate speakers. `signs`: in formats without cues, the signs and addresses after the word (` %`).

    >>> word = cappunc.Word("London,", start=720, end=1300)
    >>> word.text, word.end - word.start, word.cue
    ('London,', 580, 0)
    """

    text: str
    start: int | None = None
    end: int | None = None
    cue: int = 0
    turn: int = 0
    places: tuple[Copy, ...] = ()
    sound: bool = False
    followed: bool = False
    preceded: bool = False
    blank_before: bool = False
    signs: str = ""


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

    `speakers` maps turn numbers to names, and `languages` the words that the file declares to be in a language of their
    own, by number, to its code; `detail` is private to the format; `fps` is the frame rate that was asked for, in
    formats of frames.

    >>> document = cappunc.read(Path("talk.srt"))
    >>> document.format, len(document.words), document.texts[:3]
    ('srt', 341, ['good', 'evening', 'london'])
    """

    format: str
    source: str
    words: list[Word]
    notices: tuple[Notice, ...] = ()
    speakers: Mapping[int, str] = field(default_factory=dict)
    detail: Any = None
    fps: float | None = None
    languages: Mapping[int, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The text of each word."""
        return [word.text for word in self.words]


def timestamp(milliseconds: int) -> str:
    """`00:04:10.200`, and `-00:00:01.500` for a time before zero."""
    seconds, rest = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
