"""Words to subword pieces: the tokenizer with a cache of words, and the pieces of each word of a text.

The only run-time module that uses the package tokenizers, which it imports when a model is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import BadModel
from cappunc_cli.languages.language import TYPEWRITER
from cappunc_cli.restoration.chunks import Chunk, split
from cappunc_cli.restoration.model.registry import ModelConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Integers = npt.NDArray[np.int64]

#: A word of more pieces (a URL, a scream, a decimal expansion) is cut to its first ones and its last.
PIECES_PER_WORD = 16
#: The pieces that open and close a window, as named by BERT and RoBERTa.
OPENING, CLOSING = ("[CLS]", "<s>"), ("[SEP]", "</s>")
#: Distinct words in the cache before it is cleared.
_MOST_CACHED = 200_000


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as pieces.

    `ids` [pieces] are all pieces; those of word i are ids[ends[i]:ends[i + 1]]. `pauses` (bins of the config's
    `pause_bins_ms`, from 1; 0 is unknown) and `turns` have one value a word.
    """

    ids: Integers
    ends: Integers
    pauses: Integers
    turns: Integers

    def length(self, chunk: Chunk) -> int:
        return int(self.ends[chunk.stop] - self.ends[chunk.start])

    def fitting(self, chunk: Chunk, most: int) -> list[Chunk]:
        """The chunk itself or, where it has more than `most` pieces, overlapping windows over it that fit."""
        if self.length(chunk) <= most:
            return [chunk]
        window = max(len(chunk) * 5 // 8, 1)
        while True:
            parts = [part.moved(chunk.start) for part in split(len(chunk), window, window * 2 // 5)]
            if max(map(self.length, parts)) <= most:
                return parts
            window = max(window * 5 // 8, 1)


def joined(texts: Sequence[Pieces]) -> tuple[Pieces, list[int]]:
    """Several texts concatenated, and the index of the first word of each."""
    if len(texts) == 1:
        return texts[0], [0]
    words = np.cumsum([0, *(len(text.turns) for text in texts)]).tolist()
    pieces = np.cumsum([0, *(len(text.ids) for text in texts)]).tolist()
    ends = [text.ends[1:] + offset for text, offset in zip(texts, pieces[:-1], strict=True)]
    whole = Pieces(
        np.concatenate([text.ids for text in texts]),
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([text.pauses for text in texts]),
        np.concatenate([text.turns for text in texts]),
    )
    return whole, words[:-1]


class Encoder:
    """The tokenizer of a model directory, with a cache of words."""

    def __init__(self, directory: Path, config: ModelConfig) -> None:
        """Load tokenizer.json; raises BadModel if it is missing or lacks a special piece."""
        from tokenizers import Tokenizer

        self._bins = np.asarray(config.pause_bins_ms, np.int64)
        path = directory / "tokenizer.json"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            reason = str(error).strip() or "unknown error"
            raise BadModel(f"the tokenizer cannot be loaded: {reason}", str(path)) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.opening = special_piece(self._tokenizer, OPENING, path)
        self.closing = special_piece(self._tokenizer, CLOSING, path)
        self.unknown = special_piece(self._tokenizer, ("[UNK]", "<unk>"), path)
        self.padding = special_piece(self._tokenizer, ("[PAD]", "<pad>"), path)
        #: Guards the cache: one thread encodes the next files while another decodes.
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[str, int] = {}
        #: The pieces of all cached words, concatenated, and the boundaries between words.
        self._table = np.zeros(0, np.int64)
        self._places = np.zeros(1, np.int64)

    def encode(self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool]) -> Pieces:
        """Encode bare words, the milliseconds after each (None: unknown) and whether the speaker changes after it."""
        with self._lock:
            number = self._numbered(words)
            table, begins = self._table, self._places
        starts = begins[number]
        lengths = begins[number + 1] - starts
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        # The index of every piece in the table: where its word begins there, plus its place in the word.
        places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        silence = np.fromiter((-1 if pause is None else pause for pause in pauses), np.int64, len(words))
        bins = np.searchsorted(self._bins, silence, side="right") + 1
        return Pieces(table[places], ends, np.where(silence < 0, 0, bins), np.asarray(turns, np.int64))

    def _numbered(self, words: Sequence[str]) -> Integers:
        """The index of each word in the cache; words that it lacks are tokenised and added."""
        if len(self._numbers) > _MOST_CACHED:
            self._clear()
        known = self._numbers
        unseen = [word for word in dict.fromkeys(words) if word not in known]
        for start in range(0, len(unseen), 10_000):
            batch = unseen[start : start + 10_000]
            encoded = self._tokenizer.encode_batch_fast(list(map(spoken, batch)), add_special_tokens=False)
            found = [capped(e.ids) or [self.unknown] for e in encoded]
            known.update(zip(batch, range(len(known), len(known) + len(batch)), strict=True))
            self._table = np.append(self._table, np.fromiter(chain.from_iterable(found), np.int64))
            ends = self._places[-1] + np.cumsum(np.fromiter(map(len, found), np.int64, len(found)))
            self._places = np.append(self._places, ends)
        return np.fromiter(map(known.__getitem__, words), np.int64, len(words))


def spoken(word: str) -> str:
    """Normalise a bare word for the tokenizer, in training as at run time; the text itself keeps its spelling.

    Vocabularies have the ASCII apostrophe and hyphen, and lack the lone surrogates that stand for invalid bytes. The
    hyphen of a word that is cut off (`I- I think`) is removed: recognisers do not write it, and it would give away a
    pause.
    """
    typed = word.translate(TYPEWRITER)
    return (typed.rstrip("-") or typed).encode("utf-8", "replace").decode()


def capped(ids: list[int]) -> list[int]:
    """The pieces of a word cut to PIECES_PER_WORD, its first ones and its last, in training as at run time."""
    return ids if len(ids) <= PIECES_PER_WORD else [*ids[: PIECES_PER_WORD - 1], ids[-1]]


def special_piece(tokenizer: Tokenizer, names: Sequence[str], path: Path | None = None) -> int:
    """The id of a special piece, by the first of its `names` that the tokenizer has.

    Raises BadModel, for the tokenizer's `path` if given, when it has none of them.
    """
    for name in names:
        number = tokenizer.token_to_id(name)
        if number is not None:
            return number
    raise BadModel(f"the tokenizer has no {names[0]}", str(path) if path else None)
