"""An editor's decisions about words, and their application to the file; only marks and case can change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cappunc_cli.document.labels import cached_strip, fixed_parts
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.output import write_stdout
from cappunc_cli.files.results import InputVersion, ResultWriter, read_version
from cappunc_cli.files.storage import read_bytes
from cappunc_cli.pages.review_page import KIND


@dataclass(frozen=True, slots=True)
class Decision:
    """Word number `word` (from 0), written `was`, becomes `text`."""

    word: int
    was: str
    text: str


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """Decisions about the words of the file with this SHA-256, as read in a format and an encoding."""

    sha256: str
    words: tuple[Decision, ...]
    format: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class DecidedFile:
    """A file with decisions applied: its bytes, the number of changed words, and refused decisions.

    A decision is `refused` if its word is read back from the result in another way, which is given with it.
    """

    data: bytes
    changed: int
    refused: tuple[tuple[Decision, str], ...]


def sha256(data: bytes) -> str:
    """The hash by which decisions identify their file."""
    return hashlib.sha256(data).hexdigest()


def parse_decisions(text: str | bytes) -> DecisionFile:
    """Parse decisions in JSON, as the page writes them; raises BadInput if malformed."""
    try:
        found = json.loads(text)
        if found["kind"] != KIND:
            raise KeyError
        own = tuple(Decision(_number(d["word"]) - 1, _text(d["was"]), _text(d["text"])) for d in found["decisions"])
        names = [None if found.get(key) is None else _text(found[key]) for key in ("format", "encoding")]
        return DecisionFile(_text(found["sha256"]), own, *names)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput("not a decision file of cappunc review") from None


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def decided_texts(texts: Sequence[str], decisions: Sequence[Decision]) -> list[str]:
    """The texts of a file's words with decisions applied.

    Raises BadInput if a word does not exist or is not written `was`, or if more than its marks and case would change.
    """
    new = list(texts)
    for decision in decisions:
        number = f"word {decision.word + 1}"
        if not 0 <= decision.word < len(texts) or texts[decision.word] != decision.was:
            raise BadInput(f"{number} is not “{decision.was}”; are these decisions of another file?")
        (bare, label), (new_bare, new_label) = cached_strip(decision.was), cached_strip(decision.text)
        same_parts = bare == new_bare and fixed_parts(label) == fixed_parts(new_label)
        if not same_parts or _spaces(decision.text) > _spaces(decision.was):
            raise BadInput(
                f"{number}: “{decision.was}” cannot become “{decision.text}”: more than marks and case would change"
            )
        new[decision.word] = decision.text
    return new


def _spaces(text: str) -> int:
    return sum(map(str.isspace, text))


def with_decisions(data: bytes, decisions: DecisionFile, fixer: Fixer, job: Job) -> DecidedFile:
    """The bytes of a file with decisions applied, as `fix` would write them; needs no model.

    Raises CappuncError if the file has changed since the review, or more than marks and case would change.
    """
    if sha256(data) != decisions.sha256:
        raise CappuncError("was changed since it was reviewed; nothing written", job.name)
    text, encoding = decode(data, job.encoding)
    document = fixer.request.read(text, job.source)
    old = document.texts
    fixed = fixer.write(document, text, decided_texts(old, decisions.words), encoding)
    found = fixer.request.read(fixed.text, job.source).texts if fixed.text != text else old
    refused = tuple((d, found[d.word]) for d in decisions.words if found[d.word] != d.text)
    return DecidedFile(fixed.data, sum(a != b for a, b in zip(old, found, strict=True)), refused)


def write_decided(job: Job, decided: DecidedFile, read: InputVersion, writer: ResultWriter) -> None:
    """Write a decided file to the job's target or standard output; `read` is the input that it was made from.

    Raises CappuncError and OSError; then nothing is written.
    """
    if job.target is None:
        write_stdout(decided.data)
        return
    writer.check(job)
    writer.write(job, decided.data, read)


def apply_decisions(file: str, job: Job, fixer: Fixer, writer: ResultWriter) -> DecidedFile:
    """Apply the decisions of a file to the job's input, and write the result. Raises CappuncError and OSError."""
    try:
        decisions = parse_decisions(read_bytes(file))
    except BadInput as error:
        raise BadInput(error.message, file) from None
    data, version = read_version(job.source)
    decided = with_decisions(data, decisions, fixer, job)
    write_decided(job, decided, version, writer)
    return decided
