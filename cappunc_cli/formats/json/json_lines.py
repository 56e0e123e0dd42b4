"""Read live results, one JSON object per line: single words, or lists of words as recognisers send them.

`{"word": …}` or `{"text": …}` with optional `start`, `end` (seconds) and `speaker`; Vosk's `result` lists;
Deepgram's `channel.alternatives`. Interim results are skipped, as their final versions follow.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json.scan import Literal, Node, literal_edits, load
from cappunc_cli.formats.json.tracks import node, nodes
from cappunc_cli.formats.splice import splice, word_edits

#: The keys of an object's text, in order of preference; Deepgram's `word` is raw beside a `punctuated_word`.
_KEYS = ("punctuated_word", "word", "text")
_PARTIAL = ("partial", "partial_result")
_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class LivePiece(ABC):
    """A unit of live input that is written as a whole, and its tokens, of which there is usually one.

    `spoken` tells which of them are words; the others (`@nasa`, `[Applause]`) are written as they are. If it
    `continues` the sentence of the word before it, no mark may come between them.
    """

    tokens: tuple[Word, ...]
    spoken: tuple[bool, ...]
    continues: bool

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(compress(self.tokens, self.spoken))

    def shown(self, texts: Sequence[str]) -> list[str]:
        """The texts of the tokens, with new ones for the words."""
        new = iter(texts)
        return [next(new) if spoken else token.text for token, spoken in zip(self.tokens, self.spoken, strict=True)]

    @abstractmethod
    def written(self, texts: Sequence[str]) -> str:
        """The piece with new texts of its words; everything else stays as it is."""


@dataclass(frozen=True, slots=True)
class ResultEntry(LivePiece):
    """An object in a line; it becomes a line of its own."""

    line: str
    node: Node
    literal: Literal

    def written(self, texts: Sequence[str]) -> str:
        """The object with new texts of its words, as a line of its own."""
        edits = [
            (old.start() + start, old.start() + stop, text)
            for old, new in zip(_TOKEN.finditer(self.literal), self.shown(texts), strict=True)
            for start, stop, text in word_edits(old.group(), new)
        ]
        placed = literal_edits(self.literal, edits)
        return splice(self.line, placed, self.node.start, self.node.stop) + "\n"


class JsonLines:
    """Reads the lines of one conversation, counting its turns."""

    def __init__(self) -> None:
        self._turn = 0
        self._speaker: object = None

    def read(self, line: str) -> list[ResultEntry]:
        """The entries of a line; none for interim results and messages without words. Raises BadInput otherwise."""
        value = load(line)
        if not isinstance(value, Node):
            raise BadInput("a line of live results must be one JSON object")
        if value.get("is_final") is False or any(key in value for key in _PARTIAL):
            return []
        found = value.get("result", node(value, "channel.alternatives[0]").get("words"))
        if found is None:
            if _text(value) is None and isinstance(value.get("type"), Literal):
                return []  # Deepgram's `Metadata`, `SpeechStarted`
            found = [value]
        if not isinstance(found, list) or len(nodes(found, "[]")) != len(found):
            raise BadInput("a list of words has something other than objects in it")
        return [self._entry(line, one, value) for one in found]

    def _entry(self, line: str, found: Node, value: Node) -> ResultEntry:
        literal = _text(found)
        if literal is None:
            raise BadInput(
                f"no word in an object with the keys {', '.join(list(found)[:5])}" if found else "no word in {}"
            )
        speaker = found.get("speaker", value.get("speaker"))
        if speaker is not None and speaker != self._speaker:
            self._turn += self._speaker is not None
            self._speaker = speaker
        texts = _TOKEN.findall(literal)
        last = len(texts) - 1
        start, end = seconds(found.get("start")), seconds(found.get("end"))
        words = [
            Word(text, None if i else start, None if i < last else end, turn=self._turn) for i, text in enumerate(texts)
        ]
        return ResultEntry(tuple(words), (True,) * len(words), False, line, found, literal)


def _text(found: Node) -> Literal | None:
    values = (found.get(key) for key in _KEYS)
    return next((value for value in values if isinstance(value, Literal)), None)
