"""Evaluation documents: reference words, and the words that the model gets as input.

JSON lines have one document each: `{"id", "words": [[text, start, end], …]}` in seconds with
null for unknown, optionally `spk` per word; or `{"id", "ref": [text, …], "hyp": {engine:
[[text, start, end], …]}}`, a reference and the output of several recognisers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import TERMINAL, Case, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput


@dataclass(frozen=True, slots=True)
class Source:
    """One document: the reference words, and the words of a recogniser if they differ."""

    name: str
    words: Sequence[Word]
    recognised: Sequence[Word] | None = None

    def stripped(self) -> list[Word]:
        """The words as a recogniser writes them: lower case, no marks; times and turns are kept."""
        return [
            replace(word, text=strip(word.text)[0])
            for word in (self.words if self.recognised is None else self.recognised)
        ]

    def lowered(self) -> list[Word]:
        """The reference words in lower case with their marks. Raises BadInput if there are recognised words."""
        if self.recognised is not None:
            raise BadInput(f"{self.name}: recognised words have no marks to keep")
        return [replace(word, text=_lower(word.text)) for word in self.words]


def _lower(text: str) -> str:
    bare, label = strip(text)
    return dress(bare, replace(label, case=Case.LOWER, form=""))


def gold_windows(source: Source, most: int) -> Iterator[Source]:
    """Split a document into pieces of at most `most` words that end with a sentence; longer sentences are dropped.

    This is how JointCapPunc scores (utils/data_loader.py). It shows the model where sentences end, so the figures
    can be compared with that system only.
    """
    start = end = count = 0
    for i, word in enumerate(source.words, 1):
        if strip(word.text)[1].mark not in TERMINAL or not strip(word.text)[1].mark:
            continue
        if i - start > most and end > start:
            yield Source(f"{source.name}/{count}", source.words[start:end])
            start, count = end, count + 1
        if i - start > most:
            start = i
        end = i
    if end > start:
        yield Source(f"{source.name}/{count}", source.words[start:end])


def sniff(text: str) -> bool:
    """Whether the first line is a document in one of the forms above."""
    line = text[: text.find("\n")] if "\n" in text else text
    if not line.lstrip().startswith("{"):
        return False
    try:
        value = json.loads(line)
    except ValueError:
        return False
    if not isinstance(value, dict) or "id" not in value:
        return False
    return ("ref" in value and "hyp" in value) or _is_rows(value.get("words"))


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) and len(row) == 3 for row in value)


def read(text: str) -> Iterator[Source]:
    """Yield the documents; raises BadInput with the number of a line that is not one."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield from _documents(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not a document ({error})", line=number) from error


def _documents(value: dict[str, object]) -> Iterator[Source]:
    name = str(value["id"])
    if "ref" not in value:
        yield Source(name, _timed(value["words"], value.get("spk")))
        return
    reference = _timed([[text, None, None] for text in _list(value["ref"])], value.get("ref_spk"))
    engines = value["hyp"]
    if not isinstance(engines, dict):
        raise ValueError("hyp is not an object")
    for engine, rows in engines.items():
        yield Source(f"{name} {engine}", reference, _timed(rows, None))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("expected a list")
    return value


def _timed(rows: object, speakers: object) -> list[Word]:
    words: list[Word] = []
    turn, last = 0, None
    speaker_of = speakers if isinstance(speakers, list) else None
    for i, row in enumerate(_list(rows)):
        text, start, end = _list(row)
        speaker = speaker_of[i] if speaker_of is not None else None
        if words and speaker != last:
            turn += 1
        last = speaker
        if any(c.isalnum() for c in str(text)):  # a lone `*` or dash is not a word
            words.append(Word(str(text), _milliseconds(start), _milliseconds(end), turn=turn))
    return words


def _milliseconds(value: object) -> int | None:
    return round(float(value) * 1000) if isinstance(value, int | float) else None
