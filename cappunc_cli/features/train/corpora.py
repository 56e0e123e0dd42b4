"""What training reads: corpora of documents, each a list of turns; and the text of users, after a check."""

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


def split_turns(words: Sequence[Word]) -> list[Turn]:
    """Group timed words into turns, with the pause after each token."""
    turns: list[Turn] = []
    tokens: list[str] = []
    gaps: list[int | None] = []
    for word, gap, end in zip(words, pauses(words), turn_ends(words), strict=True):
        # A word may contain a space or be empty; the pause belongs to its last part.
        parts = word.text.split()
        tokens += parts
        gaps += [0] * (len(parts) - 1) + [gap] if parts else []
        if end:
            turns.append(Turn(" ".join(tokens), gaps))
            tokens, gaps = [], []
    return [*turns, Turn(" ".join(tokens), gaps)] if words else []


#: With fewer words than this, a network learns nothing that simple rules would not do.
FEWEST_WORDS = 3000
#: In a usable text at least one word in this many has a mark.
_RARE = 50
#: Saved in the model's directory, so that anyone can score the model again.
HELDOUT = "heldout.txt"

#: Name of the corpus -> its text.
Texts = dict[str, list[Turn]]


def read_texts(texts: Sequence[Path], timed: Sequence[Path]) -> Texts:
    """Read files without and with times, as the corpora `text` and `timed`; raises CappuncError."""
    found = {"text": [Turn(turn.text) for turn in _turns(texts)], "timed": list(_turns(timed, with_times=True))}
    return {name: turns for name, turns in found.items() if turns}


def _turns(paths: Sequence[Path], *, with_times: bool = False) -> Iterator[Turn]:
    for path in paths:
        with errors_about(str(path)):
            # One code point for each letter; undecodable bytes are dropped, though `fix` would keep them.
            text = normalize("NFC", read_unpacked(str(path)).encode("utf-8", "ignore").decode())
            if path.name.endswith((".txt", ".txt.xz")):
                found = [Turn(line.strip()) for line in StringIO(text, newline=None) if not line.isspace()]
            else:
                found = split_turns(formats.read(text, path.name).words)
            if with_times and all(pause is None for turn in found for pause in turn.pauses or ()):
                raise BadInput("has no times")
        yield from found


def check_text(texts: Texts) -> int:
    """The number of words; raises CappuncError for unsuitable text."""
    tokens = Counter(token for own in texts.values() for turn in own for token in turn.text.split())
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


def heldout_ends(texts: Texts, share: float) -> str:
    """The held-out end of each corpus as text, a line each."""
    parts: list[str] = []
    for own in texts.values():
        tokens = [token for turn in own for token in turn.text.split()]
        parts.append(" ".join(tokens[len(tokens) - int(share * len(tokens)) :]) + "\n")
    return "".join(parts)
