"""Readers of the benchmarks' token and label files, which return written words.

One word and its label per line: IWSLT and xashru (`word TAB COMMA`), JointCapPunc (case 0, 1, 2
between them), SEPP-NLG (`word TAB sentence end TAB mark`). NeMo keeps text and labels (`,O UU`)
in two files. Contractions that a tokeniser split are joined again, because transcripts do not
split them; the mark of the last piece counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cappunc_cli.document.labels import Case, Label, dress, strip
from cappunc_cli.errors import BadInput

#: The benchmarks' names of the marks.
_MARKS = {
    "O": "", "0": "", "COMMA": ",", "PERIOD": ".", "FULLSTOP": ".", "QUESTION": "?", "QMARK": "?", "QUESTIONMARK": "?",
    "EXCLAMATION": "!", "EXCLAMATIONMARK": "!", "EXCLAM": "!", "COLON": ":", "SEMICOLON": ";", "DASH": "—",
    "ELLIPSIS": "…", ",": ",", ".": ".", "?": "?", "!": "!", ":": ":", ";": ";", "-": "—", "—": "—", "…": "…",
}  # fmt: skip
_CASES = {"0": Case.LOWER, "1": Case.CAPITAL, "2": Case.UPPER}
_PIECE = re.compile(r"(?:n['’]t|['’](?:s|re|m|ll|ve|d|t))", re.IGNORECASE)
_NEMO = re.compile(r"[O.,?!:;\-—…][OU](?: [O.,?!:;\-—…][OU])*")


def sniff(text: str) -> bool:
    """Whether the text is a table of words and labels."""
    lines = [line for line in _lines(text)[:50] if line.strip()]
    return bool(lines) and all(_row(line) is not None for line in lines)


def sniff_nemo(text: str) -> bool:
    """Whether the text is the label half of a NeMo pair."""
    lines = [line.strip() for line in _lines(text)[:50] if line.strip()]
    return bool(lines) and all(_NEMO.fullmatch(line) for line in lines)


def _lines(text: str) -> list[str]:
    # Not splitlines(): dev2012 has U+0085 inside a word.
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _row(line: str) -> tuple[str, str, Case | None] | None:
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


def read(text: str) -> list[str]:
    """The written words of a table; raises BadInput with the number of a line that is not a row."""
    return list(_words(_rows(text)))


def _rows(text: str) -> Iterator[tuple[str, str, Case | None]]:
    for number, line in enumerate(_lines(text), 1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            raise BadInput("expected a word and its label", line=number)
        yield row


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


def _words(rows: Iterable[tuple[str, str, Case | None]]) -> Iterator[str]:
    """Join pieces of contractions to the word before, drop tokens without letters or digits, and write the words."""
    held: tuple[str, str, Case | None] | None = None
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
    if case is None:
        case = label.case
    # Marks that the tokeniser left on the word (`states,'`) are dropped: the label has its mark.
    return dress(bare, Label(case, form=label.form)) + mark
