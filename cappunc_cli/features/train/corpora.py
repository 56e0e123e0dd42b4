"""What training reads: corpora of documents, each a list of turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.document.pauses import pauses, turn_ends
from cappunc_cli.document.words import Word


@dataclass(frozen=True, slots=True)
class Turn:
    """A paragraph or speaker turn: written text, and the pause (ms) after each token if timed."""

    text: str
    pauses: list[int | None] | None = None


Reader = Callable[[Path], Iterator[list[Turn]]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus: its path below the data root, its licence, and how to read it.

    `dialogue`: the end of a turn is a change of speaker. `ellipsis`: whether `…` is an ellipsis, or, if False, only
    the transcribers' mark for a pause. `tidy` normalises a text to the conventions of its language.
    """

    path: str
    licence: str
    read: Reader
    dialogue: bool = False
    ellipsis: bool = True
    tidy: Callable[[str], str] = str


def composed(text: str) -> str:
    """One code point per letter (NFC)."""
    return normalize("NFC", text)


def documents_of(lines: Iterable[str]) -> Iterator[list[Turn]]:
    """Group lines into documents, separated by blank lines."""
    document: list[Turn] = []
    for line in lines:
        if text := line.strip():
            document.append(Turn(text))
        elif document:
            yield document
            document = []
    if document:
        yield document


def turns_of(words: Sequence[Word]) -> list[Turn]:
    """Group timed words into turns, with the pause after each token."""
    turns: list[Turn] = []
    start = 0
    silences = pauses(words)
    ends = turn_ends(words)
    for i in range(len(words)):
        if ends[i] or i == len(words) - 1:
            # A word may contain a space or be empty; the pause belongs to its last part.
            tokens: list[str] = []
            gaps: list[int | None] = []
            for word, gap in zip(words[start : i + 1], silences[start : i + 1], strict=True):
                pieces = word.text.split()
                tokens += pieces
                gaps += [0] * (len(pieces) - 1) + [gap] if pieces else []
            turns.append(Turn(" ".join(tokens), gaps))
            start = i + 1
    return turns
