"""Readers of the training corpora: generators of documents, each a list of `Turn`s, and the tidying of their texts."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.document.words import Word
from cappunc_cli.features.train.corpora import Corpus, Turn, split_turns
from models.lab.direct_speech import direct_speech


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus of the shipped models: its path below the data root, its licence, and how to read it.

    `dialogue`: the end of a turn is a change of speaker. `ellipsis`: whether `…` is an ellipsis, or, if False, only the
    transcribers' mark for a pause. `tidy` normalises a text to the conventions of its language. `ships` is False if the
    licence forbids distributing weights that were trained on it. `unordered`: neighbouring lines have nothing to do
    with each other, so that windows join lines drawn anew each time.
    """

    path: str
    licence: str
    read: Callable[[Path], Iterator[list[Turn]]]
    dialogue: bool = False
    ellipsis: bool = True
    tidy: Callable[[str], str] = str
    ships: bool = True
    unordered: bool = False

    def corpus(self, root: Path) -> Corpus:
        """The tidied documents below `root`, which are read as they are needed."""
        documents = ([replace(turn, text=self.tidy(turn.text)) for turn in own] for own in self.read(root / self.path))
        return Corpus(documents, self.dialogue)


_SPEECH_DASH = re.compile(r"^[^\S\n]*[-–—―][^\S\n]*(?=\S)|(?<=\s)[-–—―](?=[^\s\d-])", re.MULTILINE)
_CLOSING_DASH = re.compile(r"(?<=[^\W\d])[-–—―](?=[,.;:!?…]|$)", re.MULTILINE)


def speech_dashes(text: str) -> str:
    """Normalise the dashes of dialogue in a novel, and compose its letters (NFC).

    An opening hyphen or dash becomes an em dash, and one that closes before a mark is removed:
    `-Sí -dijo-, claro.` becomes `—Sí —dijo, claro.`
    """
    return _CLOSING_DASH.sub("", _SPEECH_DASH.sub("—", normalize("NFC", text)))


def composed(text: str) -> str:
    """One code point per letter (NFC)."""
    return normalize("NFC", text)


def spell_out_and(text: str) -> str:
    """English: ` & ` is spoken `and`."""
    return text.replace(" & ", " and ")


_DASH_BETWEEN_WORDS = re.compile(r"(?<=\S)—(?=\w)")


def part_at_dashes(text: str) -> str:
    """English: `spell_out_and`, and the words beside a dash are two: `my coat—will you`."""
    return _DASH_BETWEEN_WORDS.sub("— ", spell_out_and(text))


_COMMA_BELOW = str.maketrans("şţŞŢ", "șțȘȚ")


def romanian(text: str) -> str:
    """Romanian: comma below in place of cedilla, one kind of hyphen (Carânică et al., section 3)."""
    return speech_dashes(text.replace("‑", "-")).translate(_COMMA_BELOW)


_SALUTATION = re.compile(
    r"\b((?:Frau|Herr|Damen|Herren|Kolleginnen|Kollegen|Kolleg:innen|Präsident|Präsidentin|Präsidium|Marszałku|Izbo|Państwo)"
    r"\b[^.!?,;:]{0,60})!"
)


def parliament(text: str) -> str:
    """`Frau Präsidentin! Liebe Kolleginnen und Kollegen!`: the `!` after a form of address becomes a period."""
    return _SALUTATION.sub(r"\1.", composed(text))


_GUILLEMETS = re.compile(r"(?<=[«“])\s+|\s+(?=[»”])")


def french(text: str) -> str:
    """`« mot »`: the spaces within quotation marks are part of the marks."""
    return _GUILLEMETS.sub("", speech_dashes(text))


_DOTTED = re.compile(r"([?!])(?:\.{2,}|…)")
_COMBINING = re.compile("[\u0300-\u036f]")


def plain(text: str) -> str:
    """Letters composed (NFC), without the signs of stress that are left; `Что?..`, `Нет!..` with the mark alone.

    A word has one mark, which of `?..` is the dots, though the question is what a reader needs.
    """
    return _DOTTED.sub(r"\1", _COMBINING.sub("", normalize("NFC", text)))


def novel(text: str) -> str:
    """`plain`, with the dashes of dialogue as `speech_dashes` writes them."""
    return plain(speech_dashes(text))


_GREEK_MARKS = str.maketrans(";\u037e·", "??;")


def greek(text: str) -> str:
    """Greek: `;` asks and `·` is the semicolon; labels have the Latin marks."""
    return plain(text).translate(_GREEK_MARKS)


def galician(text: str) -> str:
    """Galician: without `¿` and `¡`, which only the records of parliament have."""
    return plain(text).translate({ord("¿"): None, ord("¡"): None})


_TURKISH_I = str.maketrans("İIı", "IƗɨ")


def turkish(text: str) -> str:
    """Turkish: `İ i` as `I i` and `I ı` as `Ɨ ɨ`, so that each capital has the small letter that others have, too."""
    return plain(text).translate(_TURKISH_I)


_SERBIAN = dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True))
_SERBIAN |= {"љ": "lj", "њ": "nj", "џ": "dž"}
_TO_LATIN = str.maketrans(_SERBIAN | {one.upper(): other.capitalize() for one, other in _SERBIAN.items()})
# `ЉУБАВ` is `LJUBAV`, `Љубав` `Ljubav`.
_SHOUTED_DIGRAPH = re.compile(r"(?:Lj|Nj|Dž)(?=[A-ZĐŽĆČŠ])|(?<=[A-ZĐŽĆČŠ])(?:Lj|Nj|Dž)(?![a-zđžćčš])")


def latin(text: str) -> str:
    """Serbian in Latin letters."""
    return _SHOUTED_DIGRAPH.sub(lambda found: found[0].upper(), novel(text).translate(_TO_LATIN))


def split_documents(lines: Iterable[str]) -> Iterator[list[Turn]]:
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


def paragraphs(path: Path) -> Iterator[list[Turn]]:
    """Text files: one paragraph or turn per line, documents separated by a blank line."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from split_documents(lines)


def dialogue(path: Path) -> Iterator[list[Turn]]:
    """The direct speech of a novel, one turn per paragraph."""
    for document in paragraphs(path):
        if turns := [Turn(said) for turn in document if (said := direct_speech(turn.text))]:
            yield turns


def questions(path: Path) -> Iterator[list[Turn]]:
    """The turns of a text file that ask something, each run of them with the turn before and the turn after."""
    for document in paragraphs(path):
        asks = ["?" in turn.text for turn in document]
        run: list[Turn] = []
        for i, turn in enumerate(document):
            if any(asks[max(i - 1, 0) : i + 2]):
                run.append(turn)
            elif run:
                yield run
                run = []
        if run:
            yield run


def _heldout_calls(path: Path) -> frozenset[str]:
    """Ids of the calls in the timed corpus that belong to the evaluation set."""
    table = path.parents[1] / "en" / "eval" / "earnings.ids.tsv"
    return frozenset(Path(row.split("\t")[1]).stem for row in table.read_text("utf-8").splitlines() if row)


def timed(path: Path) -> Iterator[list[Turn]]:
    """Word-timed documents (JSON lines), cut into turns where the speaker changes."""
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
            yield split_turns(words)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
