"""The ONNX engine: words to pieces, pieces through the graph, logits to probabilities."""

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
from cappunc_cli.restoration.model.onnx_session import Session, first_line, open_session
from cappunc_cli.restoration.model.pieces import Encoder, Integers, Pieces, joined
from cappunc_cli.restoration.model.registry import ModelConfig, read_lexicon
from cappunc_cli.restoration.model.tensor_names import AROUND, INPUTS, MASK, OUTPUTS, WANTED

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: The future of a batch, and the index of a chunk in it.
Part = tuple[Future["list[Rows]"], int]


#: Pieces in one run of the graph. A core is fastest while the tensors of a layer fit its cache (a window or two); a GPU
#: needs large batches.
_PIECES_PER_BATCH = {"cpu": 256, "cuda": 65536, "tensorrt": 65536}
#: Words that are tokenised and sorted into batches together; bounds the memory for queued batches.
_WORDS_PER_GROUP = {"cpu": 1 << 14, "cuda": 1 << 18, "tensorrt": 1 << 18}
#: On a GPU the width of a batch is rounded up to one of these, so that there are few distinct shapes.
_WIDTHS = (16, 32, 64, 96, 128, 160, 192, 256, 384, 512)


class OnnxEngine:
    """An open ONNX model.

    `device` is where it runs; `warning` is None or says why that is not the device one would expect.
    """

    def __init__(
        self, directory: Path, device: str = "auto", *, pieces_per_batch: int | None = None, lanes: int | None = None
    ) -> None:
        """Open the model for `device` (auto, cpu, cuda[:N], tensorrt[:N]).

        `auto` uses CUDA if it works, otherwise the CPU. `lanes` is the number of batches that run concurrently, by
        default one a core, or one on a GPU. Raises BadModel if the files are missing or do not match each other, and
        CappuncError if an explicitly named device cannot be used.
        """
        self.config = ModelConfig.load(directory)
        self.lexicon = read_lexicon(directory)
        self.encoder = Encoder(directory, self.config)
        #: Seconds spent on tokenising and on waiting for the graph, for `cappunc bench`.
        self.tokenise_s = self.infer_s = 0.0
        opened = open_session(directory / "model.onnx", device)
        #: Runs the graph; tests replace it to inspect the inputs.
        self.session: Session = opened.session
        self.device, self.warning = opened.device, opened.warning
        #: Each core runs whole batches, so that none waits for another and its cache stays warm; onnxruntime releases
        #: the GIL meanwhile.
        self._threads = ThreadPoolExecutor(lanes or opened.lanes)
        self._outputs = (*OUTPUTS, AROUND) if self.config.around else OUTPUTS
        if self.config.around and AROUND not in opened.outputs:
            raise BadModel(f"config.json names paired marks (around), but the graph lacks {AROUND}", str(directory))
        #: Without an attention mask all chunks of a batch must have the same length.
        self._inputs = tuple(name for name in INPUTS if name in opened.inputs)
        self._selects_pieces = WANTED in opened.inputs
        kind = self.device.split(":")[0]
        self._buckets = kind != "cpu"
        self._pieces_per_batch = pieces_per_batch or _PIECES_PER_BATCH[kind]
        self.words_per_group = _WORDS_PER_GROUP[kind]

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Yield each chunk, in order, with its probabilities [len(chunk), cases + marks + around].

        `words` are bare words, `pauses` the milliseconds after each word (None: unknown), and `turns` whether the
        speaker changes after it. Chunks are run in batches of similar length, a bounded number at a time; while one
        group of chunks is being yielded the next one is running. Rows that a chunk does not keep may be 0.
        """
        previous: Iterator[tuple[Chunk, Rows]] = iter(())
        running: Sequence[Future[list[Rows]]] = ()
        try:
            for group in chunk_groups(chunks, self.words_per_group):
                first, last = min(chunk.start for chunk in group), max(chunk.stop for chunk in group)
                started = time.perf_counter()
                text = self.encoder.encode(words[first:last], pauses[first:last], turns[first:last])
                self.tokenise_s += time.perf_counter() - started
                local = [chunk.moved(-first) for chunk in group]
                rows, running = self._submit(text, local)
                yield from previous
                previous = zip(group, rows, strict=True)
            yield from previous
        finally:
            for batch in running:
                batch.cancel()

    def infer(self, text: Pieces, chunks: Sequence[Chunk]) -> Iterator[Rows]:
        """The probabilities of each chunk, in order."""
        return self._submit(text, chunks)[0]

    def _submit(self, text: Pieces, chunks: Sequence[Chunk]) -> tuple[Iterator[Rows], Sequence[Future[list[Rows]]]]:
        """Submit the chunks in batches: an iterator that waits for the rows of each, and the futures of the batches."""
        parts = [text.fitting(chunk, self.config.max_pieces - 2) for chunk in chunks]
        batches = list(self._batches(text, chain.from_iterable(parts)))
        if not self._buckets:
            # In the order of the text, whose beginning can then be decoded while its end is still being read.
            batches.sort(key=lambda item: min(chunk.start for chunk in item[0]))
        submitted: dict[Chunk, Part] = {}
        for batch, width in batches:
            rows = self._threads.submit(self._run, text, batch, width)
            submitted.update((chunk, (rows, i)) for i, chunk in enumerate(batch))
        return self._results(chunks, parts, submitted), [rows for rows, _ in submitted.values()]

    def _results(
        self, chunks: Sequence[Chunk], parts: Sequence[Sequence[Chunk]], submitted: Mapping[Chunk, Part]
    ) -> Iterator[Rows]:
        """The rows of each chunk, merged from those of its parts if it was too long for the encoder."""
        try:
            for chunk, pieces in zip(chunks, parts, strict=True):
                started = time.perf_counter()
                found = [rows.result()[i] for rows, i in (submitted[piece] for piece in pieces)]
                self.infer_s += time.perf_counter() - started
                if len(pieces) == 1:
                    yield found[0]
                else:
                    shifted = [part.moved(-chunk.start) for part in pieces]
                    yield merge(shifted, zip(shifted, found, strict=True), len(chunk))
        finally:
            for rows, _ in submitted.values():
                rows.cancel()

    def _batches(self, text: Pieces, chunks: Iterable[Chunk]) -> Iterator[tuple[Sequence[Chunk], int]]:
        """Batches of chunks of similar length (the same length without a padding mask), and their widths in pieces."""
        # The longest chunk decides how many fit a batch.
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
        """The rows of the chunks of several texts, concatenated for each text; the texts share batches.

        `progress` is called with the index of a text and the share of its chunks that is done.
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
        mask[len(batch) :, 0] = 1  # the softmax of a fully masked row is undefined
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
            lasts.append(last[chunk.own] if self._selects_pieces else last)
        named = dict(zip(INPUTS, (ids, mask, pauses, turns), strict=True))
        feeds = {name: named[name] for name in self._inputs}
        counts = list(map(len, lasts))
        rows, places = np.repeat(np.arange(len(batch)), counts), np.concatenate(lasts)
        if self._selects_pieces:
            feeds[WANTED], places = wanted_pieces(counts, rows * width + places)
        try:
            logits = self.session.run(self._outputs, feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed on {self.device}: {first_line(error)}") from error
        case, marks, *around = (values[rows, places] for values in logits)
        table = np.concatenate([softmax(case), softmax(marks), *map(sigmoid, around)], axis=1)
        found = np.split(table, np.cumsum(counts)[:-1])
        return [_pad_rows(chunk, own) for chunk, own in zip(batch, found, strict=True)]


def wanted_pieces(counts: Sequence[int], pieces: Integers) -> tuple[Integers, Integers]:
    """The graph's input for the wanted pieces, [rows, most pieces of a row], and the output column of each piece.

    `pieces` are indices into the flattened batch, row by row, and `counts` are the number of each row. Shorter rows are
    padded with index 0, whose outputs are ignored.
    """
    columns = np.concatenate([np.arange(count) for count in counts])
    wanted = np.zeros((len(counts), max(counts)), np.int64)
    wanted[np.repeat(np.arange(len(counts)), counts), columns] = pieces
    return wanted, columns


def _pad_rows(chunk: Chunk, rows: Rows) -> Rows:
    """The rows of a chunk [len(chunk), labels], given all of them or only those that it keeps."""
    if len(rows) == len(chunk):
        return rows
    padded = np.zeros((len(chunk), rows.shape[1]), np.float32)
    padded[chunk.own] = rows
    return padded


def rows_per_chunk(rows: Rows, chunks: Sequence[Chunk]) -> list[Rows]:
    """Split concatenated rows into those of each chunk."""
    return np.split(rows, np.cumsum([len(chunk) for chunk in chunks])[:-1])


def chunk_groups(chunks: Sequence[Chunk], words: int) -> Iterator[list[Chunk]]:
    """Consecutive chunks in groups of at least `words` words each, but for the last."""
    group: list[Chunk] = []
    size = 0
    for chunk in chunks:
        group.append(chunk)
        size += len(chunk)
        if size >= words:
            yield group
            group, size = [], 0
    if group:
        yield group


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
