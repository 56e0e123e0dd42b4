"""The model itself: words to pieces, pieces through the ONNX graph, logits to probabilities."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.chunks import Chunk, merge
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.onnx_session import Session, first_line, open_session
from cappunc_cli.restoration.model.pieces import Encoder, Integers, Pieces, joined
from cappunc_cli.restoration.model.registry import read_lexicon
from cappunc_cli.restoration.model.tensor_names import AROUND, INPUTS, MASK, OUTPUTS, WANTED

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: A batch that is in work, and which of its chunks.
Part = tuple[Future["list[Rows]"], int]


#: Pieces in one run of the graph. A core is fastest while the layers' tensors stay in its cache: a window or two;
#: a GPU needs enough to fill it.
_PIECES_PER_BATCH = {"cpu": 256, "cuda": 65536, "tensorrt": 65536}
#: Words that are tokenised and sorted by length together; bounds what waits for its turn.
_WORDS_PER_SHELF = {"cpu": 1 << 14, "cuda": 1 << 18, "tensorrt": 1 << 18}
#: Widths and rows of a GPU's batches are rounded up to these, so that it meets few shapes.
_WIDTHS = (16, 32, 64, 96, 128, 160, 192, 256, 384, 512)


class OnnxEngine:
    """A model directory, opened. `device` is what runs it; `warning` says why, if unexpected."""

    def __init__(
        self, directory: Path, device: str = "auto", *, pieces_per_batch: int | None = None, lanes: int | None = None
    ) -> None:
        """Open the model for `device` (auto, cpu, cuda[:N], tensorrt[:N]).

        `lanes` batches are in work at a time: one to a core, or one on a GPU.
        Raises BadModel if its files do not fit each other, CappuncError if an explicitly
        named device cannot be used. `auto` takes CUDA where it works and else the CPU.
        """
        self.config = ModelConfig.load(directory)
        self.lexicon = read_lexicon(directory)
        self.encoder = Encoder(directory, self.config)
        #: Seconds spent in tokenising, and in waiting for the graph: for `cappunc bench`.
        self.tokenise_s = self.infer_s = 0.0
        opened = open_session(directory / "model.onnx", device)
        #: Runs the graph; another may take its place, to watch what goes through.
        self.session: Session = opened.session
        self.device, self.warning = opened.device, opened.warning
        #: Whole batches, not parts of a product, are shared out among the cores: nobody waits for anybody, and a
        #: core keeps in its cache what it works on. The run-time holds no lock of Python meanwhile.
        self._threads = ThreadPoolExecutor(lanes or opened.lanes)
        self._outputs = (*OUTPUTS, AROUND) if self.config.around else OUTPUTS
        if self.config.around and AROUND not in opened.outputs:
            raise BadModel(f"config.json names marks around the word, but the graph lacks {AROUND}", str(directory))
        #: Without a mask all texts of a batch must have one length.
        self._inputs = tuple(name for name in INPUTS if name in opened.inputs)
        self._narrow = WANTED in opened.inputs
        kind = self.device.split(":")[0]
        self._buckets = kind != "cpu"
        self._pieces_per_batch = pieces_per_batch or _PIECES_PER_BATCH[kind]
        self.words_per_shelf = _WORDS_PER_SHELF[kind]

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Each chunk, in order, with its probabilities [len(chunk), cases + marks + around].

        `words` are bare words; `pauses` are the milliseconds after each word (None: unknown)
        and `turns` whether the speaker changes after it. Chunks are worked off in batches of
        like length, a bounded number at a time; while some are handed out the next are in work.
        Rows that a chunk does not keep may be 0.
        """
        handed_out: Iterator[tuple[Chunk, Rows]] = iter(())
        ahead: Sequence[Future[list[Rows]]] = ()
        try:
            for shelf in chunk_groups(chunks, self.words_per_shelf):
                first, last = min(chunk.start for chunk in shelf), max(chunk.stop for chunk in shelf)
                begun = time.perf_counter()
                text = self.encoder.encode(words[first:last], pauses[first:last], turns[first:last])
                self.tokenise_s += time.perf_counter() - begun
                local = [chunk.moved(-first) for chunk in shelf]
                rows, ahead = self._begin(text, local)
                yield from handed_out
                handed_out = zip(shelf, rows, strict=True)
            yield from handed_out
        finally:
            for batch in ahead:
                batch.cancel()

    def infer(self, text: Pieces, chunks: Sequence[Chunk]) -> Iterator[Rows]:
        """The probabilities of each chunk, in order."""
        return self._begin(text, chunks)[0]

    def _begin(self, text: Pieces, chunks: Sequence[Chunk]) -> tuple[Iterator[Rows], Sequence[Future[list[Rows]]]]:
        """The rows of each chunk, to be waited for, and the batches that are in work from now on."""
        parts = [text.fitting(chunk, self.config.max_pieces - 2) for chunk in chunks]
        batches = list(self._batches(text, chain.from_iterable(parts)))
        if not self._buckets:
            # In the order of the text: its beginning can be worked on while its end is still in work here.
            batches.sort(key=lambda found: min(chunk.start for chunk in found[0]))
        begun: dict[Chunk, Part] = {}
        for batch, width in batches:
            rows = self._threads.submit(self._run, text, batch, width)
            begun.update((chunk, (rows, i)) for i, chunk in enumerate(batch))
        return self._gathered(chunks, parts, begun), [rows for rows, _ in begun.values()]

    def _gathered(
        self, chunks: Sequence[Chunk], parts: Sequence[Sequence[Chunk]], begun: Mapping[Chunk, Part]
    ) -> Iterator[Rows]:
        """The rows of each chunk, put together from those of its parts."""
        try:
            for chunk, pieces in zip(chunks, parts, strict=True):
                waited = time.perf_counter()
                found = [rows.result()[i] for rows, i in (begun[piece] for piece in pieces)]
                self.infer_s += time.perf_counter() - waited
                if len(pieces) == 1:
                    yield found[0]
                else:
                    shifted = [part.moved(-chunk.start) for part in pieces]
                    yield merge(shifted, zip(shifted, found, strict=True), len(chunk))
        finally:
            for rows, _ in begun.values():
                rows.cancel()

    def _batches(self, text: Pieces, chunks: Iterable[Chunk]) -> Iterator[tuple[Sequence[Chunk], int]]:
        """The chunks in batches of like length (without a padding mask: of one), and the pieces of a batch's rows."""
        # The longest first: it decides how many fit.
        todo = sorted(chunks, key=text.length)
        while todo:
            width = text.length(todo[-1]) + 2
            if MASK in self._inputs:
                width = min(_padded(width, self._buckets), self.config.max_pieces)
                count = max(self._pieces_per_batch // width, 1)
            else:
                longest = len(todo) - bisect_left(todo, width - 2, key=text.length)
                count = min(max(self._pieces_per_batch // width, 1), longest)
            yield todo[-count:], width
            del todo[-count:]

    def infer_all(
        self, requests: Sequence[tuple[Pieces, Sequence[Chunk]]], progress: Callable[[int, float], None]
    ) -> list[Rows]:
        """For each of several texts the rows of its chunks, one after the other; their batches are shared.

        `progress` hears the number of a text and which share of its chunks is there.
        """
        whole, offsets = joined([text for text, _ in requests])
        chunks = [chunk.moved(offset) for (_, own), offset in zip(requests, offsets, strict=True) for chunk in own]
        rows = self.infer(whole, chunks)
        found: list[Rows] = []
        for i, (_, own) in enumerate(requests):
            parts = []
            for part in islice(rows, len(own)):
                parts.append(part)
                progress(i, len(parts) / len(own))
            found.append(np.concatenate(parts))
        return found

    def _run(self, text: Pieces, batch: Sequence[Chunk], width: int) -> list[Rows]:
        shape = (_power_of_two(len(batch)) if self._buckets else len(batch), width)
        ids = np.full(shape, self.encoder.padding, np.int64)
        mask, pauses, turns = (np.zeros(shape, np.int64) for _ in range(3))
        mask[len(batch) :, 0] = 1  # a row of nothing but padding has no softmax
        lasts = []
        for row, chunk in enumerate(batch):
            start, stop = text.ends[chunk.start], text.ends[chunk.stop]
            length = int(stop - start)
            ids[row, 0] = self.encoder.opening
            ids[row, 1 : length + 1] = text.ids[start:stop]
            ids[row, length + 1] = self.encoder.closing
            mask[row, : length + 2] = 1
            last = text.ends[chunk.start + 1 : chunk.stop + 1] - start  # one [CLS] further, one piece back
            pauses[row, last] = text.pauses[chunk.start : chunk.stop]
            turns[row, last] = text.turns[chunk.start : chunk.stop]
            lasts.append(last[chunk.own] if self._narrow else last)
        named = dict(zip(INPUTS, (ids, mask, pauses, turns), strict=True))
        feeds = {name: named[name] for name in self._inputs}
        counts = list(map(len, lasts))
        rows, places = np.repeat(np.arange(len(batch)), counts), np.concatenate(lasts)
        if self._narrow:
            feeds[WANTED], places = wanted_pieces(counts, rows * width + places)
        try:
            logits = self.session.run(self._outputs, feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed on {self.device}: {first_line(error)}") from error
        case, marks, *around = (values[rows, places] for values in logits)
        table = np.concatenate([softmax(case), softmax(marks), *map(sigmoid, around)], axis=1)
        found = np.split(table, np.cumsum(counts)[:-1])
        return [_within(chunk, own) for chunk, own in zip(batch, found, strict=True)]


def wanted_pieces(counts: Sequence[int], pieces: Integers) -> tuple[Integers, Integers]:
    """The graph's input for wanted pieces [rows, most of a row], and the column in which each piece's outputs come.

    `pieces` are counted through the batch, row by row, and `counts` says how many are of each row. Rows of fewer go on
    with the batch's first piece, whose outputs nobody reads.
    """
    columns = np.concatenate([np.arange(count) for count in counts])
    wanted = np.zeros((len(counts), max(counts)), np.int64)
    wanted[np.repeat(np.arange(len(counts)), counts), columns] = pieces
    return wanted, columns


def _within(chunk: Chunk, rows: Rows) -> Rows:
    """The rows of a chunk [len(chunk), labels], given all of them or those that it keeps."""
    if len(rows) == len(chunk):
        return rows
    whole = np.zeros((len(chunk), rows.shape[1]), np.float32)
    whole[chunk.own] = rows
    return whole


def rows_per_chunk(rows: Rows, chunks: Sequence[Chunk]) -> list[Rows]:
    """The rows of each chunk: the inverse of putting them one after the other."""
    return np.split(rows, np.cumsum([len(chunk) for chunk in chunks])[:-1])


def chunk_groups(chunks: Sequence[Chunk], words: int) -> Iterator[list[Chunk]]:
    """The chunks in runs of about so many words."""
    shelf: list[Chunk] = []
    size = 0
    for chunk in chunks:
        shelf.append(chunk)
        size += len(chunk)
        if size >= words:
            yield shelf
            shelf, size = [], 0
    if shelf:
        yield shelf


def softmax(logits: Rows) -> Rows:
    """Probabilities along the last axis, safe for any finite logits."""
    exponents: Rows = np.exp(logits - logits.max(-1, keepdims=True)).astype(np.float32, copy=False)
    exponents /= exponents.sum(-1, keepdims=True)
    return exponents


def sigmoid(logits: Rows) -> Rows:
    """Probabilities of independent labels, safe for any finite logits."""
    chances: Rows = (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32, copy=False)
    return chances


def _padded(width: int, buckets: bool) -> int:
    if buckets:
        return next((bucket for bucket in _WIDTHS if bucket >= width), width)
    return -(-width // 8) * 8


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()
