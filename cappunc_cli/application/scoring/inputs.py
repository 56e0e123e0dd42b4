"""Inputs of `cappunc eval`: any format of `fix`, label files, JSON lines, `.xz`; files and directories in pairs."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli.application.storage.encodings import decode
from cappunc_cli.application.storage.files import about, read_bytes
from cappunc_cli.errors import BadInput, CappuncError, WrongUsage

if TYPE_CHECKING:
    from cappunc_cli.evaluation.datasets import Source

_BLANK_LINES = re.compile(r"(?<=[\r\n])(?:[^\S\r\n]*[\r\n])+")


def load_documents(
    path: Path,
    format_name: str | None = None,
    only: str | None = None,
    notation: bool = False,
    *,
    speech_dashes: bool = False,
) -> Iterator[Source]:
    """The documents of one file, one at a time; `only` keeps names that match a glob.

    `notation`: plain text with braces says what an editor accepts (`evaluation/accepted.py`).
    `speech_dashes`: the hyphens that it has for the dashes of direct speech are read as these.
    Raises CappuncError with the path.
    """
    try:
        for source in _load(path, format_name, notation, speech_dashes):
            if only is None or fnmatch(source.name, only):
                yield source
    except CappuncError as error:
        error.path = error.path or str(path)
        raise


def _load(path: Path, format_name: str | None, notation: bool, speech_dashes: bool) -> Iterator[Source]:
    from cappunc_cli import formats
    from cappunc_cli.evaluation import datasets, label_files
    from cappunc_cli.evaluation.accepted import parse
    from cappunc_cli.evaluation.datasets import Source
    from cappunc_cli.transcript.speech_dashes import speech_dashes as with_speech_dashes
    from cappunc_cli.transcript.words import Word

    text, name = read_text(path), path.name.removesuffix(".xz")
    if format_name is None:
        if label_files.sniff(text):
            yield Source(name, [Word(word) for word in label_files.read(text)])
            return
        if label_files.sniff_nemo(text):
            words = label_files.read_nemo(read_text(_nemo_text(path)), text)
            yield Source(name, [Word(word) for word in words])
            return
        if datasets.sniff(text):
            yield from datasets.read(text)
            return
    accepted = parse(text) if notation and "{" in text and name.endswith(".txt") else None
    source = text if accepted is None else accepted.text
    found = formats.recognise(source, name, format_name)
    if found.format == "txt":
        # Whoever scores what is made of speech must not tell it where paragraphs, or documents, end.
        plain = _BLANK_LINES.sub("", source)
        if speech_dashes:
            # At the head of a line a dash would be a change of speakers, and no part of the text.
            plain = with_speech_dashes(plain).replace("\n—", " —")
        spoken = formats.read(plain, name, "txt").words
    else:
        spoken = found.read().words
    if accepted is not None and spoken.texts != accepted.words:
        raise BadInput("not all of this text is words, so it cannot be compared with what is accepted")
    yield Source(name, spoken, accepted=accepted)


def _nemo_text(path: Path) -> Path:
    """NeMo keeps `labels_test.txt` beside `text_test.txt`."""
    other = path.with_name(path.name.replace("labels", "text"))
    if other == path or not other.exists():
        raise BadInput(f"NeMo labels; their text should lie beside them as {other.name.replace('labels', 'text')}")
    return other


def read_text(path: Path) -> str:
    """The decoded text of a file (`-`: standard input), unpacked if its name ends in .xz."""
    try:
        data = read_bytes(str(path))
        if path.suffix == ".xz":
            data = lzma.decompress(data)
    except OSError as error:
        raise BadInput(error.strerror or str(error), path=str(path)) from error
    except lzma.LZMAError as error:
        raise BadInput(f"not unpackable: {error}", path=str(path)) from error
    try:
        return decode(data)[0]
    except CappuncError as error:
        raise about(error, str(path)) from error


def listing(paths: Sequence[Path]) -> list[Path]:
    """Files as they are, directories as the files in them, sorted; hidden files and NeMo's texts are left out."""
    result: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
            labels = {p for p in inside if "labels" in p.name}
            result += [p for p in inside if p.with_name(p.name.replace("text", "labels")) not in labels or p in labels]
        else:
            result.append(path)
    return result


def pair_files(references: Sequence[Path], hypotheses: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Reference and hypothesis files side by side.

    One file each, or equally many, pair in order; directories pair by name without its
    suffixes and `.fixed`. Raises BadInput where a reference has no partner: a score over
    the rest would pass for the whole.
    """
    if not any(path.is_dir() for path in (*references, *hypotheses)):
        if len(references) != len(hypotheses):
            raise WrongUsage(f"{len(references)} reference files and {len(hypotheses)} hypotheses do not pair")
        return list(zip(references, hypotheses, strict=True))
    partners = {_stem(path): path for path in listing(hypotheses)}
    pairs = []
    for reference in listing(references):
        if _stem(reference) not in partners:
            raise BadInput(f"no hypothesis is named like {reference.name}", path=str(reference))
        pairs.append((reference, partners[_stem(reference)]))
    if not pairs:
        raise BadInput("no files to score")
    return pairs


def _stem(path: Path) -> str:
    return path.name.removesuffix(".xz").rsplit(".", 1)[0].removesuffix(".fixed")
