"""The user's training text: reading punctuated files, checking them, and holding out their ends."""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, capital, strip
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.features.train.corpora import Turn, documents_of, turns_of

#: With fewer words than this, a network learns nothing that simple rules would not do.
FEWEST_WORDS = 3000
#: In a usable text at least one word in this many has a mark, and a capital.
_RARE = 50
#: Saved in the model's directory, so that anyone can score the model again.
HELDOUT = "heldout.txt"

#: Name of the corpus -> its documents.
Documents = dict[str, list[list[Turn]]]


def read(texts: Sequence[Path], timed: Sequence[Path], decode: Callable[[bytes], str]) -> Documents:
    """Read files without and with times, as the corpora `text` and `timed`; raises CappuncError."""
    found = {
        "text": list(_documents(texts, decode)),
        "timed": list(_documents(timed, decode, with_times=True)),
    }
    return {name: documents for name, documents in found.items() if documents}


def _documents(
    paths: Sequence[Path], decode: Callable[[bytes], str], *, with_times: bool = False
) -> Iterator[list[Turn]]:
    for path in paths:
        try:
            text = _text(path, decode)
            plain = path.name.endswith((".txt", ".txt.xz"))
            found = list(documents_of(StringIO(text, newline=None))) if plain else [_transcript(text, path.name)]
            if with_times and not any(_is_timed(turn) for document in found for turn in document):
                raise BadInput("has no times")
            yield from found if with_times else ([Turn(turn.text) for turn in document] for document in found)
        except CappuncError as error:
            raise BadInput(error.message, error.path or str(path), error.line) from error


def _text(path: Path, decode: Callable[[bytes], str]) -> str:
    try:
        data = path.read_bytes()
        data = lzma.decompress(data) if path.suffix == ".xz" else data
    except OSError as error:
        raise BadInput(error.strerror or str(error)) from error
    except lzma.LZMAError as error:
        raise BadInput(f"cannot be decompressed: {error}") from error
    # Drop undecodable bytes, which `fix` would preserve.
    return decode(data).encode("utf-8", "ignore").decode()


def _transcript(text: str, name: str) -> list[Turn]:
    return turns_of(formats.read(text, name).words)


def _is_timed(turn: Turn) -> bool:
    return turn.pauses is not None and any(pause is not None for pause in turn.pauses)


def check_text(documents: Documents) -> tuple[int, str]:
    """The number of words, and a warning for the user or ''; raises CappuncError for unsuitable text."""
    turns = (turn for own in documents.values() for document in own for turn in document)
    tokens = Counter(token for turn in turns for token in turn.text.split())
    words = tokens.total()
    if words < FEWEST_WORDS:
        raise CappuncError(f"{words:,} words are too few to learn from; at least {FEWEST_WORDS:,} are needed")
    marked = cased = small = shouted = 0
    for token, count in tokens.items():
        bare, label = strip(token)
        marked += count * bool(label.mark)
        if capital(bare) != bare:
            cased += count
            small += count * (label.case is Case.LOWER)
            shouted += count * (label.case is Case.UPPER)
    if marked * _RARE < words:
        raise CappuncError("the text has hardly any marks: only punctuated text teaches punctuation")
    if shouted * 2 > cased:
        raise CappuncError("most of the text is in capitals: only text in mixed case teaches capitals")
    # Not for Georgian, Arabic, Hindi and other scripts without capitals.
    lacks = cased * 2 > words and (cased - small) * _RARE < words
    return words, "the text has hardly any capitals: the model will restore few" if lacks else ""


def heldout_ends(documents: Documents, share: float) -> str:
    """The held-out end of each corpus as text with its paragraphs."""
    parts = []
    for own in documents.values():
        turns = [turn.text for document in own for turn in document]
        total = sum(sum(bool(strip(token)[0]) for token in text.split()) for text in turns)
        left, kept = int(total * share), []
        for text in reversed(turns):
            left -= len(text.split())
            if left < 0:
                break
            kept.append(text)
        # If the last paragraph is longer than the share, take its end.
        parts += kept[::-1] or [" ".join(turns[-1].split()[-int(total * share) :])]
    return "\n".join(parts) + "\n"
