"""Evaluation documents, in the files that benchmarks have.

JSON lines have one document each: `{"id", "words": [[text, start, end], …]}` in seconds with null for unknown,
optionally `spk` per word; or `{"id", "ref": [text, …], "hyp": {engine: [[text, start, end], …]}}`, a reference and the
output of several recognisers.

Label files have a word and its label per line: IWSLT and xashru (`word TAB COMMA`), JointCapPunc (case 0, 1, 2 between
them), SEPP-NLG (`word TAB sentence end TAB mark`). NeMo keeps text and labels (`,O UU`) in two files. Contractions that
a tokeniser split are joined again, because transcripts do not split them; the mark of the last piece counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cappunc_cli.document.labels import Case, Label, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput
from cappunc_cli.features.evaluate.inputs import Source, bare, read_transcript, sources
from cappunc_cli.files.storage import errors_about, read_unpacked
from cappunc_cli.languages import Language

#: The benchmarks' names of the marks.
_MARKS = {
    "O": "", "0": "", "COMMA": ",", "PERIOD": ".", "FULLSTOP": ".", "QUESTION": "?", "QMARK": "?", "QUESTIONMARK": "?",
    "EXCLAMATION": "!", "EXCLAMATIONMARK": "!", "EXCLAM": "!", "COLON": ":", "SEMICOLON": ";", "DASH": "—",
    "ELLIPSIS": "…", ",": ",", ".": ".", "?": "?", "!": "!", ":": ":", ";": ";", "-": "—", "—": "—", "…": "…",
}  # fmt: skip
#: A word, its mark, and its case if the file tells it.
_Row = tuple[str, str, Case | None]
_CASES = {"0": Case.LOWER, "1": Case.CAPITAL, "2": Case.UPPER}
_PIECE = re.compile(r"(?:n['’]t|['’](?:s|re|m|ll|ve|d|t))", re.IGNORECASE)
_NEMO = re.compile(r"[O.,?!:;\-—…][OU](?: [O.,?!:;\-—…][OU])*")


@dataclass(frozen=True, slots=True)
class RecognisedSource(Source):
    """A document of which a recogniser has heard other words."""

    recognised: Sequence[Word] = ()

    def stripped(self, language: Language | None = None) -> list[Word]:
        return bare(self.recognised, language)


def read_benchmark(path: Path, format: str | None = None) -> Iterator[Source]:
    """The documents of a transcript, a label file, NeMo's pair of files or JSON lines."""
    with errors_about(str(path)):
        text, name = read_unpacked(str(path)), path.name.removesuffix(".xz")
        if format is None and is_label_file(text):
            yield Source(name, [Word(word) for word in read_label_file(text)])
        elif format is None and is_nemo_labels(text):
            words = read_nemo(read_unpacked(str(_nemo_text(path))), text)
            yield Source(name, [Word(word) for word in words])
        elif format is None and is_json_lines(text):
            yield from read_json_lines(text)
        else:
            yield from read_transcript(path, format)


def benchmark(path: Path) -> Iterator[Source]:
    """The documents of a data set that have words."""
    return sources([path], read_benchmark)


def _nemo_text(path: Path) -> Path:
    """The text file of a NeMo label file: `text_test.txt` for `labels_test.txt`."""
    other = path.with_name(path.name.replace("labels", "text"))
    if other == path or not other.exists():
        raise BadInput(f"NeMo labels without their text file {other.name.replace('labels', 'text')}")
    return other


def is_json_lines(text: str) -> bool:
    """Whether the first line is a document of a data set."""
    try:
        value = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or "id" not in value:
        return False
    rows = value.get("words")
    timed = isinstance(rows, list) and all(isinstance(row, list) and len(row) == 3 for row in rows)
    return timed or ("ref" in value and "hyp" in value)


def read_json_lines(text: str) -> Iterator[Source]:
    """Yield the documents; raises BadInput with the number of a line that is not one."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield from _documents(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not a document ({error})", line=number) from error


def _documents(value: dict[str, Any]) -> Iterator[Source]:
    name = str(value["id"])
    if "ref" not in value:
        yield Source(name, _timed(value["words"], value.get("spk")))
        return
    reference = _timed([[text, None, None] for text in _list(value["ref"])], value.get("ref_spk"))
    for engine, rows in value["hyp"].items():
        yield RecognisedSource(f"{name} {engine}", reference, _timed(rows, None))


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("expected a list")
    return value


def _timed(rows: Any, speakers: Any) -> list[Word]:
    words: list[Word] = []
    turn, last = 0, None
    for i, row in enumerate(_list(rows)):
        text, start, end = _list(row)
        speaker = speakers[i] if isinstance(speakers, list) else None
        turn += bool(words) and speaker != last
        last = speaker
        if any(c.isalnum() for c in str(text)):  # a lone `*` or dash is not a word
            begin, until = (round(time * 1000) if isinstance(time, int | float) else None for time in (start, end))
            words.append(Word(str(text), begin, until, turn=turn))
    return words


def is_label_file(text: str) -> bool:
    """Whether the text is a table of words and labels."""
    lines = [line for line in _lines(text)[:50] if line.strip()]
    return bool(lines) and all(_row(line) is not None for line in lines)


def is_nemo_labels(text: str) -> bool:
    """Whether the text is the label half of a NeMo pair."""
    lines = [line.strip() for line in _lines(text)[:50] if line.strip()]
    return bool(lines) and all(_NEMO.fullmatch(line) for line in lines)


def _lines(text: str) -> list[str]:
    # Not splitlines(): dev2012 has U+0085 inside a word.
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _row(line: str) -> _Row | None:
    """The word, mark and case of a line, or None if the line is not such a row."""
    fields = [field.strip() for field in line.lstrip("\ufeff").split("\t")]
    if len(fields) not in (2, 3):
        return None
    mark = _MARKS.get(fields[-1])
    if mark is None:
        return None
    if len(fields) == 2:
        return fields[0], mark, None
    if fields[1] not in _CASES:
        return None
    # SEPP writes the mark itself, JointCapPunc its name: only with a name the middle field is a case.
    return fields[0], mark, _CASES[fields[1]] if fields[-1].isalpha() else None


def read_label_file(text: str) -> list[str]:
    """The written words of a table; raises BadInput with the number of a line that is not a row."""
    rows = []
    for number, line in enumerate(_lines(text), 1):
        if line.strip():
            rows.append(row := _row(line))
            if row is None:
                raise BadInput("expected a word and its label", line=number)
    return list(_words(filter(None, rows)))


def read_nemo(text: str, labels: str) -> list[str]:
    """The written words of a NeMo pair of files; raises BadInput where they do not match."""
    lines, marks = _lines(text), _lines(labels)
    if len(lines) != len(marks):
        raise BadInput(f"{len(lines)} lines of text and {len(marks)} of labels")
    rows = []
    for number, (line, row) in enumerate(zip(lines, marks, strict=True), 1):
        words, codes = line.split(), row.split()
        if len(words) != len(codes) or not all(_NEMO.fullmatch(code) for code in codes):
            raise BadInput("text and labels do not match", line=number)
        for word, code in zip(words, codes, strict=True):
            rows.append((word, _MARKS[code[0]], Case.CAPITAL if code[1] == "U" else None))
    return list(_words(rows))


def _words(rows: Iterable[_Row]) -> Iterator[str]:
    """Join pieces of contractions to the word before, drop tokens without letters or digits, and write the words."""
    held: _Row | None = None
    for word, mark, case in rows:
        if not any(c.isalnum() for c in word):
            # A lone quotation mark, a symbol, or an empty token (dev2012): its mark belongs to the word before.
            if held is not None and not held[1]:
                held = held[0], mark, held[2]
        elif held is not None and not held[1] and _PIECE.fullmatch(word):
            held = held[0] + word, mark, held[2]
        else:
            if held is not None:
                yield _written(*held)
            held = word, mark, case
    if held is not None:
        yield _written(*held)


def _written(word: str, mark: str, case: Case | None) -> str:
    bare, label = strip(word)
    # Marks that the tokeniser left on the word (`states,'`) are dropped: the label has its mark.
    return dress(bare, Label(case or label.case, form=label.form)) + mark
