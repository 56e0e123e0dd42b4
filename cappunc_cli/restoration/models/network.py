"""The ONNX engine: a text in chunks, words to pieces, pieces through the graph, logits to probabilities.

Every engine reads a text in chunks. After Nguyen et al. 2019, section 3.2: words near the edge of a window lack
context, so neighbouring windows overlap, and each keeps some of the words that two of them share. Everything goes by
word index; words are never compared.

The only run-time module that uses the package tokenizers. It imports it when a model is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.languages import TYPEWRITER
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.registry import AROUND, INPUTS, LINES, MASK, OUTPUTS, WANTED, ModelConfig
from cappunc_cli.restoration.models.session import Opened, first_line, open_session

if TYPE_CHECKING:
    from tokenizers import Tokenizer


Integers = npt.NDArray[np.int64]
#: Rows of probabilities, [words, labels].
Rows = npt.NDArray[np.float32]

#: A word of more pieces (a URL, a scream, a decimal expansion) is cut to its first ones and its last.
PIECES_PER_WORD = 16
#: The pieces that open and close a window, as named by BERT and RoBERTa.
OPENING, CLOSING = ("[CLS]", "<s>"), ("[SEP]", "</s>")

#: Distinct words whose pieces are kept: a stream reads the same ones again and again.
_MOST_CACHED = 1 << 17
#: Pieces in one run of the graph. A core is fastest while the tensors of a layer fit its cache (a window or two); a GPU
#: needs large batches.
_PIECES_PER_BATCH = {"cpu": 256, "cuda": 65536}


@dataclass(frozen=True, slots=True)
class Chunk:
    """The words `start` to `stop` (exclusive), of which the first `before` and the last `after` are only context."""

    start: int
    stop: int
    before: int = 0
    after: int = 0

    def __len__(self) -> int:
        return self.stop - self.start

    def kept(self, rows: Rows) -> Rows:
        """The rows, of [len(chunk), labels], of words that are not only context."""
        return rows[self.before : len(rows) - self.after]


def split(count: int, window: int, overlap: int, min_words_cut: int | None = None, first: int = 0) -> list[Chunk]:
    """Split `count` words from the `first` on into windows of `window` words; neighbours share `overlap` words.

    Of the words that two windows share, the first one drops the last `min_words_cut` (by default half of them), the
    second one the rest. The last window is moved left until it is full, so that its words have as much context as all
    others; the words that it then shares are cut in the same proportion, or in the middle if the overlap is 0. The
    sizes must be valid for `ModelConfig.windows`.
    """
    numerator, denominator = (min_words_cut, overlap) if min_words_cut is not None and overlap else (1, 2)
    if count < 1:
        return []
    last = max(count - window, 0)
    starts = [*range(0, last, window - overlap), last]
    shared = [max(left + window - right, 0) for left, right in pairwise(starts)]
    dropped = [-(-words * numerator // denominator) for words in shared]
    befores = [0, *(words - cut for words, cut in zip(shared, dropped, strict=True))]
    return [
        Chunk(first + start, first + min(start + window, count), before, after)
        for start, before, after in zip(starts, befores, [*dropped, 0], strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as pieces.

    `ids` [pieces] are all pieces; those of word i are ids[ends[i]:ends[i + 1]]. `pauses` (bins of the config's
    `pause_bins_ms`, from 1; 0 is unknown), `turns` and `lines` have one value a word.
    """

    ids: Integers
    ends: Integers
    pauses: Integers
    turns: Integers
    lines: Integers


class Encoder:
    """The tokenizer of a model directory."""

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
        #: The ids of a bare word's pieces; at least one.
        self.pieces_of: Callable[[str], list[int]] = lru_cache(maxsize=_MOST_CACHED)(
            lambda word: tokenise(self._tokenizer, [word])[0] or [self.unknown]
        )

    def are_rare(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which bare words [n] are read in several pieces."""
        return np.array([len(self.pieces_of(word)) > 1 for word in words], np.bool_)

    def encode(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turns: Sequence[bool],
        lines: Sequence[bool] | None = None,
    ) -> Pieces:
        """Encode bare words and what comes after each, as in `OnnxEngine.predict`."""
        pieces = list(map(self.pieces_of, words))
        ends = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(words)), out=ends[1:])
        ids = np.fromiter(chain.from_iterable(pieces), np.int64, ends[-1])
        silence = np.fromiter((-1 if pause is None else pause for pause in pauses), np.int64, len(words))
        bins = np.searchsorted(self._bins, silence, side="right") + 1
        broken = np.zeros(len(words), np.int64) if lines is None else np.asarray(lines, np.int64)
        return Pieces(ids, ends, np.where(silence < 0, 0, bins), np.asarray(turns, np.int64), broken)


def tokenise(tokenizer: Tokenizer, words: Sequence[str]) -> list[list[int]]:
    """The ids of each bare word's pieces, in training as at run time; none for a word without any that are known.

    Vocabularies have the ASCII apostrophe and hyphen, and lack the lone surrogates that stand for invalid bytes; the
    text itself keeps its spelling. The hyphen of a word that is cut off (`I- I think`) is removed: recognisers do not
    write it, and it would give away a pause.
    """
    typed = [word.translate(TYPEWRITER) for word in words]
    spoken = [(word.rstrip("-") or word).encode("utf-8", "replace").decode() for word in typed]
    pieces = [tokenizer.encode(word, add_special_tokens=False).ids for word in spoken]
    return [ids if len(ids) <= PIECES_PER_WORD else [*ids[: PIECES_PER_WORD - 1], ids[-1]] for ids in pieces]


def special_piece(tokenizer: Tokenizer, names: Sequence[str], path: Path | None = None) -> int:
    """The id of a special piece, by the first of its `names` that the tokenizer has.

    Raises BadModel, for the tokenizer's `path` if given, when it has none of them.
    """
    for name in names:
        number = tokenizer.token_to_id(name)
        if number is not None:
            return number
    raise BadModel(f"the tokenizer has no {names[0]}", str(path) if path else None)


class OnnxEngine:
    """An open ONNX model.

    `device` is where it runs; `warning` is None or says why that is not the device one would expect.
    """

    def __init__(
        self,
        directory: Path,
        device: str = "auto",
        *,
        opened: Opened | None = None,
        pieces_per_batch: int | None = None,
        lanes: int | None = None,
    ) -> None:
        """Open the model for `device` (auto, cpu, cuda[:N]), or with a session that is `opened` already.

        `auto` uses CUDA if it works, otherwise the CPU. `lanes` is the number of batches that run concurrently, by
        default one a core, or one on a GPU. Raises BadModel if the files are missing or do not match each other, and
        CappuncError if an explicitly named device cannot be used.
        """
        self.config = ModelConfig.load(directory)
        self.lexicons = Lexicons.read(directory)
        self.encoder = Encoder(directory, self.config)
        self.are_rare = self.encoder.are_rare
        #: The session runs the graph; tests replace it to inspect the inputs.
        self.session, self.device, self.warning, most = opened or open_session(directory / "model.onnx", device)
        #: Each core runs whole batches, so that none waits for another and its cache stays warm; onnxruntime releases
        #: the GIL meanwhile.
        self._threads = ThreadPoolExecutor(lanes or most)
        self._outputs = (*OUTPUTS, AROUND) if self.config.around else OUTPUTS
        inputs, outputs = ({one.name for one in put()} for put in (self.session.get_inputs, self.session.get_outputs))
        if self.config.around and AROUND not in outputs:
            raise BadModel(f"config.json names paired marks (around), but the graph lacks {AROUND}", str(directory))
        #: Without an attention mask all chunks of a batch must have the same length.
        self._inputs = tuple(name for name in INPUTS if name in inputs)
        self._selects_pieces = WANTED in inputs
        #: Whether it sees where the lines of a cue end.
        self.reads_lines = LINES in inputs
        self._pieces_per_batch = pieces_per_batch or _PIECES_PER_BATCH[self.device.split(":")[0]]

    def predict(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turns: Sequence[bool],
        chunks: Sequence[Chunk],
        lines: Sequence[bool] | None = None,
    ) -> Iterator[Rows]:
        """Yield the probabilities [words, cases + marks + around] of the words that each chunk keeps, in order.

        `words` are bare words, `pauses` the milliseconds after each word (None: unknown), `turns` whether the speaker
        changes after it, and `lines` whether a line of a cue ends there. Chunks of similar length run in one batch.
        """
        text = self.encoder.encode(words, pauses, turns, lines)
        # Overlapping windows over a chunk of too many pieces.
        parts, most = [], self.config.max_pieces - 2
        for chunk in chunks:
            own, window = [chunk], chunk.stop - chunk.start
            while max(text.ends[part.stop] - text.ends[part.start] for part in own) > most:
                window = max(window * 5 // 8, 1)
                own = split(chunk.stop - chunk.start, window, window * 2 // 5, first=chunk.start)
            parts.append(own)
        # By identity: parts of one chunk may equal another. Results are let go as they are read.
        submitted: dict[int, tuple[Future[list[Rows]], int]] = {}
        for batch, width in self._batches(text, chain.from_iterable(parts)):
            future = self._threads.submit(self._run, text, batch, width)
            submitted.update((id(chunk), (future, i)) for i, chunk in enumerate(batch))
        try:
            for chunk, pieces in zip(chunks, parts, strict=True):
                rows = [future.result()[i] for future, i in map(submitted.pop, map(id, pieces))]
                yield rows[0] if len(pieces) == 1 else chunk.kept(np.concatenate(rows))
        finally:
            for future, _ in submitted.values():
                future.cancel()

    def _batches(self, text: Pieces, chunks: Iterable[Chunk]) -> list[tuple[list[Chunk], int]]:
        """Batches of chunks of similar lengths, each with its width in pieces.

        Without a padding mask all chunks of a batch have the same length.
        """
        step = 8 if MASK in self._inputs else 1
        batches: list[tuple[list[Chunk], int]] = []
        lengths = ((int(text.ends[chunk.stop] - text.ends[chunk.start]), chunk) for chunk in chunks)
        for length, chunk in sorted(lengths, key=itemgetter(0)):
            width = min(-(-(length + 2) // step) * step, self.config.max_pieces)
            if not batches or batches[-1][1] != width or (len(batches[-1][0]) + 1) * width > self._pieces_per_batch:
                batches.append(([], width))
            batches[-1][0].append(chunk)
        # In the order of the text, whose beginning can then be decoded while its end is still being read.
        return sorted(batches, key=lambda batch: min(chunk.start for chunk in batch[0]))

    def _run(self, text: Pieces, batch: Sequence[Chunk], width: int) -> list[Rows]:
        shape = len(batch), width
        ids = np.full(shape, self.encoder.padding, np.int64)
        mask, pauses, turns, lines = (np.zeros(shape, np.int64) for _ in range(4))
        lasts = []
        for row, chunk in enumerate(batch):
            start, stop = text.ends[chunk.start], text.ends[chunk.stop]
            length = int(stop - start)
            ids[row, 0] = self.encoder.opening
            ids[row, 1 : length + 1] = text.ids[start:stop]
            ids[row, length + 1] = self.encoder.closing
            mask[row, : length + 2] = 1
            last = text.ends[chunk.start + 1 : chunk.stop + 1] - start  # of each word, its last piece: [CLS] adds one
            pauses[row, last] = text.pauses[chunk.start : chunk.stop]
            turns[row, last] = text.turns[chunk.start : chunk.stop]
            lines[row, last] = text.lines[chunk.start : chunk.stop]
            lasts.append(last[chunk.before : len(last) - chunk.after])
        named = dict(zip(INPUTS, (ids, mask, pauses, turns, lines), strict=True))
        feeds = {name: named[name] for name in self._inputs}
        counts = list(map(len, lasts))
        rows, places = np.repeat(np.arange(len(batch)), counts), np.concatenate(lasts)
        if self._selects_pieces:
            # As indices into the flattened batch; shorter rows are padded with index 0, whose outputs are ignored.
            wanted, places = rows * width + places, np.concatenate([np.arange(count) for count in counts])
            feeds[WANTED] = np.zeros((len(batch), max(counts)), np.int64)
            feeds[WANTED][rows, places] = wanted
        try:
            logits = self.session.run(self._outputs, feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed on {self.device}: {first_line(error)}") from error
        case, marks, *around = (values[rows, places] for values in logits)
        # Paired marks are independent; written with tanh, a logistic function is safe for any finite logit.
        paired = [0.5 * (1 + np.tanh(0.5 * values)) for values in around]
        table = np.concatenate([softmax(case), softmax(marks), *paired], axis=1, dtype=np.float32)
        return np.split(table, np.cumsum(counts)[:-1])


def softmax(logits: Rows) -> Rows:
    """Probabilities along the last axis, safe for any finite logits."""
    exponents: Rows = np.exp(logits - logits.max(-1, keepdims=True))
    exponents /= exponents.sum(-1, keepdims=True)
    return exponents
