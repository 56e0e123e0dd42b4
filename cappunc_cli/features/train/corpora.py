"""What training reads: corpora of documents, each a list of turns; and the text of users, which is checked first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unicodedata import normalize

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, capital, strip
from cappunc_cli.document.words import Word, pauses, turn_ends
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.files.storage import errors_about, read_unpacked


@dataclass(frozen=True, slots=True)
class Turn:
    """A paragraph or speaker turn: written text, and the pause (ms) after each token if timed."""

    text: str
    pauses: list[int | None] | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of a corpus; in a `dialogue` the end of a turn is a change of speaker."""

    documents: Iterable[list[Turn]]
    dialogue: bool = False


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


def split_turns(words: Sequence[Word]) -> list[Turn]:
    """Group timed words into turns, with the pause after each token."""
    turns: list[Turn] = []
    start = 0
    silences = pauses(words)
    ends = turn_ends(words)
    for i in range(len(words)):
        if ends[i] or i == len(words) - 1:
            # A word may contain a space or be empty; the pause belongs to its last part.
            tokens: list[str] = []
            gaps: list[int | None] = []
            for word, gap in zip(words[start : i + 1], silences[start : i + 1], strict=True):
                pieces = word.text.split()
                tokens += pieces
                gaps += [0] * (len(pieces) - 1) + [gap] if pieces else []
            turns.append(Turn(" ".join(tokens), gaps))
            start = i + 1
    return turns


#: With fewer words than this, a network learns nothing that simple rules would not do.
FEWEST_WORDS = 3000
#: In a usable text at least one word in this many has a mark.
_RARE = 50
#: Saved in the model's directory, so that anyone can score the model again.
HELDOUT = "heldout.txt"

#: Name of the corpus -> its documents.
Documents = dict[str, list[list[Turn]]]


def read_texts(texts: Sequence[Path], timed: Sequence[Path]) -> Documents:
    """Read files without and with times, as the corpora `text` and `timed`; raises CappuncError."""
    found = {"text": list(_documents(texts)), "timed": list(_documents(timed, with_times=True))}
    return {name: documents for name, documents in found.items() if documents}


def _documents(paths: Sequence[Path], *, with_times: bool = False) -> Iterator[list[Turn]]:
    for path in paths:
        with errors_about(str(path)):
            # One code point for each letter; undecodable bytes, which `fix` would keep, are dropped.
            text = normalize("NFC", read_unpacked(str(path)).encode("utf-8", "ignore").decode())
            if path.name.endswith((".txt", ".txt.xz")):
                found = list(split_documents(StringIO(text, newline=None)))
            else:
                found = [split_turns(formats.read(text, path.name).words)]
            silences = (pause for document in found for turn in document for pause in turn.pauses or ())
            if with_times and all(pause is None for pause in silences):
                raise BadInput("has no times")
        yield from found if with_times else ([Turn(turn.text) for turn in document] for document in found)


def check_text(documents: Documents) -> int:
    """The number of words; raises CappuncError for unsuitable text."""
    turns = (turn for own in documents.values() for document in own for turn in document)
    tokens = Counter(token for turn in turns for token in turn.text.split())
    words = tokens.total()
    if words < FEWEST_WORDS:
        raise CappuncError(f"{words:,} words are too few to learn from; at least {FEWEST_WORDS:,} are needed")
    marked = cased = shouted = 0
    for token, count in tokens.items():
        bare, label = strip(token)
        marked += count * bool(label.mark)
        cased += count * (capital(bare) != bare)
        shouted += count * (capital(bare) != bare and label.case is Case.UPPER)
    if marked * _RARE < words:
        raise CappuncError("the text has hardly any marks: only punctuated text teaches punctuation")
    if shouted * 2 > cased:
        raise CappuncError("most of the text is in capitals: only text in mixed case teaches capitals")
    return words


def heldout_ends(documents: Documents, share: float) -> str:
    """The held-out end of each corpus as text, a line each."""
    parts: list[str] = []
    for own in documents.values():
        tokens = [token for document in own for turn in document for token in turn.text.split()]
        words = sum(bool(strip(token)[0]) for token in tokens)
        parts.append(" ".join(tokens[len(tokens) - int(share * words) :]) + "\n")
    return "".join(parts)
