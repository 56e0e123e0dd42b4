"""Documents to score: reference words, and the words that a model gets to see.

JSON lines hold one document each: `{"id", "words": [[text, start, end], …]}` in seconds with
null for unknown, optionally `spk` per word; or `{"id", "ref": [text, …], "hyp": {engine:
[[text, start, end], …]}}`, a reference beside what several recognisers heard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation.accepted import Accepted
from cappunc_cli.evaluation.align import align, tokens
from cappunc_cli.evaluation.mends import count_mends
from cappunc_cli.transcript.labels import TERMINAL, Case, Label, dress, strip
from cappunc_cli.transcript.words import Word


@dataclass(frozen=True, slots=True)
class Source:
    """One document: the words as a person wrote them, and, where they differ, as they were heard.

    `accepted` is everything that an editor would accept as the words' marks and case, where the file says so.
    """

    name: str
    words: Sequence[Word]
    heard: Sequence[Word] | None = None
    accepted: Accepted | None = None

    def nearest(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """The reference's words: what is accepted that comes nearest to `texts`, and how much in it is tolerated."""
        words = [word.text for word in self.words]
        if self.accepted is None:
            return words, 0
        found: list[Label | None] = [None] * len(words)
        for i, j in align(tokens(words), tokens(texts)).pairs():
            if i is not None and j is not None:
                found[i] = strip(texts[j])[1]
        return self.accepted.nearest(found, count_mends)

    def stripped(self) -> list[Word]:
        """The words as a recogniser writes them: lower case, no marks; times and turns stay."""
        return [replace(word, text=strip(word.text)[0]) for word in (self.words if self.heard is None else self.heard)]

    def lowered(self) -> list[Word]:
        """The words in lower case with the marks that the person wrote. Raises BadInput where others were heard."""
        if self.heard is not None:
            raise BadInput(f"{self.name}: what a recogniser heard has no marks to leave")
        return [replace(word, text=_lower(word.text)) for word in self.words]


def _lower(text: str) -> str:
    bare, label = strip(text)
    return dress(bare, replace(label, case=Case.LOWER, form=""))


def gold_windows(source: Source, most: int) -> Iterator[Source]:
    """A document in pieces of at most `most` words that end where a sentence ends; longer sentences are dropped.

    JointCapPunc (utils/data_loader.py) scores so. It tells the model where sentences end: these figures
    compare with that system and with nothing else.
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
    """Whether the first line is a document of the kinds above."""
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
    """The documents, one at a time; raises BadInput with the line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield from _documents(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"no document here ({error})", line=number) from error


def _documents(value: dict[str, object]) -> Iterator[Source]:
    name = str(value["id"])
    if "ref" not in value:
        yield Source(name, _timed(value["words"], value.get("spk")))
        return
    reference = _timed([[text, None, None] for text in _list(value["ref"])], value.get("ref_spk"))
    heard = value["hyp"]
    if not isinstance(heard, dict):
        raise ValueError("hyp is no object")
    for engine, rows in heard.items():
        yield Source(f"{name} {engine}", reference, _timed(rows, None))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
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
        if any(c.isalnum() for c in str(text)):  # a lone `*` or dash is no word
            words.append(Word(str(text), _milliseconds(start), _milliseconds(end), turn=turn))
    return words


def _milliseconds(value: object) -> int | None:
    return round(float(value) * 1000) if isinstance(value, int | float) else None
