"""An editor's decisions about words, and their application to the file; only marks and case can change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import fixed_parts, strip
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer, Opened
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import write_stdout
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import content_hash, read_bytes
from cappunc_cli.formats.splice import same_word
from cappunc_cli.pages.review_page import KIND


@dataclass(frozen=True, slots=True)
class Decision:
    """Word number `word` (from 0), written `was`, becomes `text`."""

    word: int
    was: str
    text: str


def sha256(data: bytes) -> str:
    """The hash by which decisions identify their file."""
    return hashlib.sha256(data).hexdigest()


#: The SHA-256 of a file, and decisions about its words.
Decisions = tuple[str, tuple[Decision, ...]]
#: A file with decisions applied: its bytes, the number of changed words, and the decisions that were refused because
#: their word is read back from the result in another way, given with each.
DecidedFile = tuple[bytes, int, list[tuple[Decision, str]]]


def parse_decisions(text: str | bytes) -> Decisions:
    """Parse decisions in JSON, as the page writes them; raises BadInput if malformed."""
    try:
        found = json.loads(text)
        own = tuple(Decision(one["word"] - 1, one["was"], one["text"]) for one in found["decisions"])
        right = found["kind"] == KIND and type(found["sha256"]) is str
        if not right or any((type(d.word), type(d.was), type(d.text)) != (int, str, str) for d in own):
            raise ValueError
        return found["sha256"], own
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput("not a decision file of cappunc review") from None


def decided_texts(texts: Sequence[str], decisions: Sequence[Decision]) -> list[str]:
    """The texts of a file's words with decisions applied.

    Raises BadInput if a word does not exist or is not written `was`, or if more than its marks and case would change.
    """
    new = list(texts)
    for decision in decisions:
        number = f"word {decision.word + 1}"
        if not 0 <= decision.word < len(texts) or texts[decision.word] != decision.was:
            raise BadInput(f"{number} is not “{decision.was}”; are these decisions of another file?")
        labels = (strip(text)[1] for text in (decision.was, decision.text))
        same_parts = same_word(decision.was, decision.text) and len({*map(fixed_parts, labels)}) == 1
        new_space, space = (sum(map(str.isspace, side)) for side in (decision.text, decision.was))
        if not same_parts or new_space > space:
            raise BadInput(
                f"{number}: “{decision.was}” cannot become “{decision.text}”: more than marks and case would change"
            )
        new[decision.word] = decision.text
    return new


def apply_decisions(asked: Decisions, job: Job, worker: Worker) -> DecidedFile:
    """Apply decisions to the job's input, and write the result, as `fix` would, to its target or standard output.

    Needs no model. Raises CappuncError, if the file has changed since the review or more than marks and case would
    change, and OSError; then nothing is written.
    """
    data, (digest, decisions), request = read_bytes(job.source), asked, worker.request
    job = replace(job, digest=content_hash(data))
    if sha256(data) != digest:
        raise CappuncError("was changed since it was reviewed; nothing written", job.name)
    text, encoding = decode(data, request.encoding)
    document = request.read(text, job.source)
    old = document.texts
    opened = Opened(document, Fixer(request, lambda _: None), "", encoding=encoding)
    fixed = opened.write(decided_texts(old, decisions))
    found = request.read(fixed.text, job.source).texts if fixed.text != text else old
    refused = [(d, found[d.word]) for d in decisions if found[d.word] != d.text]
    if job.target is None:
        write_stdout(fixed.data)
    else:
        worker.write(job, fixed.data)
    return fixed.data, sum(a != b for a, b in zip(old, found, strict=True)), refused
