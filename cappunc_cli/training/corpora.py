"""Where the training text comes from: one function per kind of source, one table line per corpus.

To add a corpus: add a line to CORPORA. To add a kind of source: a generator that yields
documents, each a list of `Turn`s.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cappunc_cli.words import Word, pauses, turn_ends


@dataclass(frozen=True, slots=True)
class Turn:
    """A paragraph or speaker turn: written text, and the pause (ms) after each token if timed."""

    text: str
    pauses: list[int | None] | None = None


Reader = Callable[[Path], Iterator[list[Turn]]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One source: a path below the data root, how to read it, its licence.

    `dialogue`: a turn's end is a change of speaker. `ellipsis`: what `…` means there: kept as
    it is, or the house's pause mark (changelog), which is no ellipsis.
    """

    path: str
    licence: str
    read: Reader
    dialogue: bool = False
    ellipsis: bool = True


def paragraphs(path: Path) -> Iterator[list[Turn]]:
    """Text files: one paragraph or turn a line, documents separated by a blank line."""
    document: list[Turn] = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if text := line.strip():
                document.append(Turn(text))
            elif document:
                yield document
                document = []
    if document:
        yield document


def _heldout_calls(path: Path) -> frozenset[str]:
    """Ids of the calls of the evaluation set, which also stand in the timed corpus."""
    table = path.parents[1] / "en" / "eval" / "earnings.ids.tsv"
    return frozenset(Path(row.split("\t")[1]).stem for row in table.read_text("utf-8").splitlines() if row)


def timed(path: Path) -> Iterator[list[Turn]]:
    """Word-timed documents (JSON lines): turns cut where the speaker changes."""
    heldout = _heldout_calls(path) if path.name.startswith("earnings") else frozenset()
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if Path(entry["id"].split("#")[0]).name in heldout:
                continue
            speakers = entry.get("spk") or [""] * len(entry["words"])
            numbers = {name: i for i, name in enumerate(dict.fromkeys(speakers))}
            words = [
                Word(text, _milliseconds(start), _milliseconds(end), turn=numbers[speaker])
                for (text, start, end), speaker in zip(entry["words"], speakers, strict=True)
            ]
            yield list(_turns(words))


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _turns(words: list[Word]) -> Iterator[Turn]:
    start = 0
    silence = pauses(words)
    ends = turn_ends(words)
    for i in range(len(words)):
        if ends[i] or i == len(words) - 1:
            # A token may hold a space or nothing at all; the pause belongs to its last piece.
            tokens: list[str] = []
            gaps: list[int | None] = []
            for word, gap in zip(words[start : i + 1], silence[start : i + 1], strict=True):
                pieces = word.text.split()
                tokens += pieces
                gaps += [0] * (len(pieces) - 1) + [gap] if pieces else []
            yield Turn(" ".join(tokens), gaps)
            start = i + 1


CORPORA: dict[str, Corpus] = {
    "changelog": Corpus("en/changelog.txt.xz", "CC BY-SA 4.0", paragraphs, dialogue=True, ellipsis=False),
    "crd3": Corpus("en/crd3.txt.xz", "CC BY-SA 4.0", paragraphs, dialogue=True),
    "bitcoin": Corpus("en/bitcoin.txt.xz", "MIT", paragraphs),
    "earnings": Corpus("en/earnings.txt.xz", "CC BY-SA 4.0", paragraphs, dialogue=True),
    "ami": Corpus("en/ami.txt.xz", "CC BY 4.0", paragraphs, dialogue=True),
    "icsi": Corpus("en/icsi.txt.xz", "CC BY 4.0", paragraphs, dialogue=True),
    "sgd": Corpus("en/sgd.txt.xz", "CC BY-SA 4.0", paragraphs, dialogue=True),
    "sotu": Corpus("en/sotu.txt.xz", "public domain", paragraphs),
    "inaugural": Corpus("en/inaugural.txt.xz", "public domain", paragraphs),
    "irancontra": Corpus("en/irancontra.txt.xz", "public domain", paragraphs),
    "wikipedia": Corpus("en/wikipedia.txt.xz", "CC BY-SA", paragraphs),
    "onestop": Corpus("en/onestop.txt.xz", "CC BY-SA 4.0", paragraphs),
    "fiction": Corpus("en/fiction.txt.xz", "public domain", paragraphs),
    "whpress": Corpus("en/whpress.txt.xz", "public domain", paragraphs),
    "whremarks": Corpus("en/whremarks.txt.xz", "public domain", paragraphs),
    "fedspeech": Corpus("en/fedspeech.txt.xz", "public domain", paragraphs),
    "fomcpc": Corpus("en/fomcpc.txt.xz", "public domain", paragraphs),
    "earnings22": Corpus("timed/earnings22.jsonl.xz", "CC BY-SA 4.0", timed, dialogue=True),
    "strato": Corpus("timed/strato.jsonl.xz", "GPL-3.0", timed, dialogue=True),
    "btc_deepgram": Corpus("timed/btc_deepgram.jsonl.xz", "MIT", timed, dialogue=True),
    "ljspeech": Corpus("timed/ljspeech.jsonl.xz", "public domain", timed),
}
