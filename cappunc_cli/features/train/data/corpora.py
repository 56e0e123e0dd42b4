"""The training corpora: one reader per kind of source, one line of CORPORA per corpus.

To add a corpus, add a line to CORPORA. To add a kind of source, write a generator that yields
documents, each a list of `Turn`s.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.document.pauses import pauses, turn_ends
from cappunc_cli.document.speech_dashes import speech_dashes
from cappunc_cli.document.words import Word
from cappunc_cli.features.train.data.direct_speech import direct_speech


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
    the transcribers' mark for a pause (changelog). `tidy` normalises a text to the conventions of its language.
    `ships` is False if the licence forbids distributing weights that were trained on it.
    """

    path: str
    licence: str
    read: Reader
    dialogue: bool = False
    ellipsis: bool = True
    tidy: Callable[[str], str] = str
    ships: bool = True


def spell_out_and(text: str) -> str:
    """English: ` & ` is spoken `and`."""
    return text.replace(" & ", " and ")


def composed(text: str) -> str:
    """One code point per letter (NFC)."""
    return normalize("NFC", text)


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


def paragraphs(path: Path) -> Iterator[list[Turn]]:
    """Text files: one paragraph or turn per line, documents separated by a blank line."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from apart(lines)


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


def apart(lines: Iterable[str]) -> Iterator[list[Turn]]:
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
            yield turns_of(words)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def turns_of(words: Sequence[Word]) -> list[Turn]:
    """Group timed words into turns, with the pause after each token."""
    found: list[Turn] = []
    start = 0
    silence = pauses(words)
    ends = turn_ends(words)
    for i in range(len(words)):
        if ends[i] or i == len(words) - 1:
            # A word may contain a space or be empty; the pause belongs to its last part.
            tokens: list[str] = []
            gaps: list[int | None] = []
            for word, gap in zip(words[start : i + 1], silence[start : i + 1], strict=True):
                pieces = word.text.split()
                tokens += pieces
                gaps += [0] * (len(pieces) - 1) + [gap] if pieces else []
            found.append(Turn(" ".join(tokens), gaps))
            start = i + 1
    return found


_ENGLISH: dict[str, Corpus] = {
    "changelog": Corpus(
        "en/changelog.txt.xz", "CC BY-SA 4.0", paragraphs, tidy=spell_out_and, dialogue=True, ellipsis=False
    ),
    "crd3": Corpus("en/crd3.txt.xz", "CC BY-SA 4.0", paragraphs, tidy=spell_out_and, dialogue=True),
    "bitcoin": Corpus("en/bitcoin.txt.xz", "MIT", paragraphs, tidy=spell_out_and),
    "earnings": Corpus("en/earnings.txt.xz", "CC BY-SA 4.0", paragraphs, tidy=spell_out_and, dialogue=True),
    "ami": Corpus("en/ami.txt.xz", "CC BY 4.0", paragraphs, tidy=spell_out_and, dialogue=True),
    "icsi": Corpus("en/icsi.txt.xz", "CC BY 4.0", paragraphs, tidy=spell_out_and, dialogue=True),
    "sgd": Corpus("en/sgd.txt.xz", "CC BY-SA 4.0", paragraphs, tidy=spell_out_and, dialogue=True),
    "sotu": Corpus("en/sotu.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "inaugural": Corpus("en/inaugural.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "irancontra": Corpus("en/irancontra.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "wikipedia": Corpus("en/wikipedia.txt.xz", "CC BY-SA", paragraphs, tidy=spell_out_and),
    "onestop": Corpus("en/onestop.txt.xz", "CC BY-SA 4.0", paragraphs, tidy=spell_out_and),
    "fiction": Corpus("en/fiction.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "whpress": Corpus("en/whpress.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "whremarks": Corpus("en/whremarks.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "fedspeech": Corpus("en/fedspeech.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "fomcpc": Corpus("en/fomcpc.txt.xz", "public domain", paragraphs, tidy=spell_out_and),
    "earnings22": Corpus("timed/earnings22.jsonl.xz", "CC BY-SA 4.0", timed, tidy=spell_out_and, dialogue=True),
    "strato": Corpus("timed/strato.jsonl.xz", "GPL-3.0", timed, tidy=spell_out_and, dialogue=True),
    "btc_deepgram": Corpus("timed/btc_deepgram.jsonl.xz", "MIT", timed, tidy=spell_out_and, dialogue=True),
    "ted": Corpus("en/ted.txt.xz", "CC BY-NC-ND", paragraphs, tidy=spell_out_and, ships=False),
    "ljspeech": Corpus("timed/ljspeech.jsonl.xz", "public domain", timed, tidy=spell_out_and),
}

#: "not stated": the source names no licence, and the card says so.
_OTHERS: dict[str, Corpus] = {
    f"{language}/{name}": Corpus(f"{language}/{name}.txt.xz", licence, paragraphs, tidy=tidy)
    for language, name, licence, tidy in (
        ("es", "mananeras", "not stated", composed),
        ("es", "jornada_zacatecas", "not stated", composed),
        ("es", "congreso_parlamint", "CC BY 4.0", composed),
        ("es", "eltec_spa", "public domain / CC BY 4.0", speech_dashes),
        ("es", "discursos_cfk", "not stated", composed),
        ("es", "captions_3b1b", "not stated", composed),
        ("es", "chile_mensajes", "not stated", composed),
        ("es", "ud_ancora_dev", "CC BY 4.0", composed),
        ("es", "ud_gsd_dev", "CC BY-SA 4.0", composed),
        ("eu", "argia_bhtc", "BasqueGLUE terms", composed),
        ("eu", "msdocs", "CC BY 4.0", composed),
        ("eu", "egunkaria_nerc", "BasqueGLUE terms", composed),
        ("eu", "eus_exams_trivia", "MIT", composed),
        ("eu", "basqueglue_sent", "BasqueGLUE terms", composed),
        ("eu", "game_dialogues", "GPL-3 / MIT", composed),
        ("eu", "ted", "not stated", composed),
        ("eu", "gnome_help", "CC BY 3.0", composed),
        ("eu", "truthfulqa", "Apache-2.0", composed),
        ("ro", "eltec_rom", "public domain / CC BY 4.0", romanian),
        ("ro", "ronec", "MIT", romanian),
        ("ro", "blog_titus", "MIT", romanian),
        ("ro", "rosts", "CC BY-SA 4.0", romanian),
        ("ro", "msdocs_ht", "CC BY 4.0", romanian),
        ("ro", "carte_uso", "CC BY-SA 4.0", romanian),
        ("ro", "ud_rrt_dev", "CC BY-SA 4.0", romanian),
        ("ro", "ud_simonero_dev", "CC BY-SA 4.0", romanian),
        ("ro", "ud_rrt_oldtrain", "CC BY-SA 4.0", romanian),
        ("ro", "captions_3b1b", "not stated", romanian),
        ("vi", "vietnews", "not stated", composed),
        ("vi", "vietnews_q", "not stated", composed),
        ("vi", "novel_obsidian", "Unlicense", composed),
        ("vi", "captions_3b1b", "not stated", composed),
        ("vi", "vietnamese_mds", "not stated", composed),
        ("vi", "ud_vtb_dev", "CC BY-SA 4.0", composed),
        ("vi", "ud_vtb_train", "CC BY-SA 4.0", composed),
        ("fr", "europarl", "European Parliament, reuse with source named", french),
        ("fr", "pfwb_debats", "not stated", french),
        ("fr", "an_exposes", "not stated", french),
        ("fr", "captions_3b1b", "not stated", french),
        ("fr", "ud_gsd_dev", "CC BY-SA 4.0", french),
        ("fr", "ud_sequoia", "LGPL-LR", french),
        ("fr", "ud_fqb", "LGPL-LR", french),
        ("fr", "eltec_fra", "CC BY 4.0", french),
        ("de", "bundestag", "official record", parliament),
        ("de", "eltec_deu", "public domain / CC BY 4.0", speech_dashes),
        ("de", "captions_3b1b", "not stated", composed),
        ("de", "xquad", "CC BY-SA 4.0", composed),
        ("de", "ud_gsd_dev", "CC BY-SA 4.0", composed),
        ("it", "europarl", "European Parliament, reuse with source named", composed),
        ("it", "eltec_ita", "public domain / CC BY 4.0", speech_dashes),
        ("it", "discorsi_fine_anno", "not stated", composed),
        ("it", "blog_musica", "not stated", composed),
        ("it", "captions_3b1b", "not stated", composed),
        ("pt", "discursos_dilma", "MIT", composed),
        ("pt", "ud_bosque", "CC BY-SA 4.0", composed),
        ("pt", "eltec_por", "public domain / CC BY 4.0", speech_dashes),
        ("pt", "captions_3b1b", "not stated", composed),
        ("pt", "museu_pessoa", "not stated", composed),
        ("nl", "europarl", "European Parliament, reuse with source named", composed),
        ("nl", "blog_tiamo", "not stated", composed),
        ("nl", "alpino_krant", "LGPL", composed),
        ("nl", "tweede_kamer", "official record", composed),
        ("nl", "ud_dev", "CC BY-SA 4.0", composed),
        ("nl", "captions_3b1b", "not stated", composed),
        ("pl", "eltec_pol", "public domain / CC BY 4.0", speech_dashes),
        ("pl", "komisja_konst", "not stated", parliament),
        ("pl", "blog_dziennikarz", "not stated", composed),
        ("pl", "captions_3b1b", "not stated", composed),
        ("pl", "ud_lfg", "GPL-3.0", composed),
        ("ca", "parlament", "CC BY 4.0", composed),
        ("ca", "cess_cat", "CC BY 4.0 (AnCora-CA)", composed),
        ("ca", "captions_3b1b", "not stated", composed),
    )
}

#: The dialogue of novels and tales without the narration.
_DIALOGUE: dict[str, Corpus] = {
    f"{name}_speech": replace(_OTHERS[name], read=dialogue, dialogue=True)
    for name in (
        "es/eltec_spa",
        "ro/eltec_rom",
        "vi/novel_obsidian",
        "fr/eltec_fra",
        "de/eltec_deu",
        "it/eltec_ita",
        "pt/eltec_por",
        "pl/eltec_pol",
    )
}

#: Where few turns ask anything, those that do, once more.
_QUESTIONS: dict[str, Corpus] = {
    f"{name}_questions": replace(_OTHERS[name], read=questions)
    for name in (
        "es/mananeras",
        "es/congreso_parlamint",
        "es/discursos_cfk",
    )
}

CORPORA: dict[str, Corpus] = _ENGLISH | _OTHERS | _DIALOGUE | _QUESTIONS
