"""The model itself: words to pieces, pieces through the ONNX graph, logits to probabilities.

The only file that knows onnxruntime and tokenizers, and it loads them when a model is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.chunks import Chunk, merge, split
from cappunc_cli.restoration.config import ModelConfig
from cappunc_cli.restoration.providers import Device, choose, physical_cores

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from cappunc_cli.restoration.chunks import Rows

Integers = npt.NDArray[np.int64]

#: A word of more pieces (a URL, a scream, a decimal expansion) is cut to its first and its last.
PIECES_PER_WORD = 16
#: Padded pieces in one run of the graph: enough to keep the cores busy, small enough for the cache.
_PIECES_PER_BATCH = {"cpu": 4096, "cuda": 65536}
#: Batches' worth of chunks that are sorted by length together; bounds what waits for its turn.
_BATCHES_PER_SHELF = 8
_SHAPE_STEP = 8
#: Distinct words remembered between calls; a dictionary's worth, not a library's.
_MOST_CACHED = 200_000
_INPUTS = ("input_ids", "attention_mask", "pauses", "turns")
_OUTPUTS = ("case", "marks")
#: The third output of a model whose config names marks around the word.
_AROUND = "around"


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A text as pieces: `ids` [pieces]; word i has ids[ends[i]:ends[i + 1]]; the rest per word."""

    ids: Integers
    ends: Integers
    pauses: Integers
    turns: Integers

    def length(self, chunk: Chunk) -> int:
        return int(self.ends[chunk.stop] - self.ends[chunk.start])


class OnnxEngine:
    """A model directory, opened. `device` is what runs it; `warning` says why, if unexpected."""

    def __init__(self, directory: Path, device: str = "auto", *, pieces_per_batch: int | None = None) -> None:
        """Open the model for `device` (auto, cpu, cuda, cuda:N).

        Raises BadModel if its files do not fit each other, CappuncError if an explicitly
        named device cannot be used. `auto` takes CUDA where it works and else the CPU.
        """
        self.config = ModelConfig.load(directory)
        self._tokenizer = _open_tokenizer(directory / "tokenizer.json")
        self._opening = _special(self._tokenizer, directory, "[CLS]", "<s>")
        self._closing = _special(self._tokenizer, directory, "[SEP]", "</s>")
        self._unknown = _special(self._tokenizer, directory, "[UNK]", "<unk>")
        self._padding = _special(self._tokenizer, directory, "[PAD]", "<pad>")
        self._numbers: dict[str, int] = {}
        self._pieces: list[tuple[int, ...]] = []
        self._session, self.device, self.warning = _open_session(directory / "model.onnx", device)
        self._outputs = (*_OUTPUTS, _AROUND) if self.config.around else _OUTPUTS
        if self.config.around and _AROUND not in {output.name for output in self._session.get_outputs()}:
            raise BadModel(f"config.json names marks around the word, but the graph lacks {_AROUND}", str(directory))
        self._pieces_per_batch = pieces_per_batch or _PIECES_PER_BATCH[self.device.split(":")[0]]

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Each chunk, in order, with its probabilities [len(chunk), cases + marks + around].

        `words` are bare words; `pauses` are the milliseconds after each word (None: unknown)
        and `turns` whether the speaker changes after it. Chunks are worked off in batches of
        like length, a bounded number at a time.
        """
        if not words:
            return
        text = self._encode(words, pauses, turns)
        shelf: list[Chunk] = []
        size = 0
        for chunk in chunks:
            shelf.append(chunk)
            size += text.length(chunk)
            if size >= _BATCHES_PER_SHELF * self._pieces_per_batch:
                yield from self._work_off(text, shelf)
                shelf, size = [], 0
        yield from self._work_off(text, shelf)

    def _work_off(self, text: _Pieces, shelf: Sequence[Chunk]) -> Iterator[tuple[Chunk, Rows]]:
        parts = [self._fitting(text, chunk) for chunk in shelf]
        todo = sorted(chain.from_iterable(parts), key=text.length)
        done: dict[Chunk, Rows] = {}
        while todo:
            # The longest first: it decides how many fit.
            width = min(_padded(text.length(todo[-1]) + 2), self.config.max_pieces)
            rows = max(self._pieces_per_batch // width, 1)
            batch, todo = todo[-rows:], todo[:-rows]
            done.update(zip(batch, self._run(text, batch, width), strict=True))
        for chunk, pieces in zip(shelf, parts, strict=True):
            if len(pieces) == 1:
                yield chunk, done[pieces[0]]
            else:
                shifted = [Chunk(part.start - chunk.start, part.stop - chunk.start) for part in pieces]
                rows_of = zip(shifted, (done[part] for part in pieces), strict=True)
                yield chunk, merge(shifted, rows_of, 0, len(chunk))

    def _fitting(self, text: _Pieces, chunk: Chunk) -> list[Chunk]:
        """The chunk itself or, where it has too many pieces, overlapping windows over it that fit."""
        if text.length(chunk) + 2 <= self.config.max_pieces:
            return [chunk]
        window = max(len(chunk) * 5 // 8, 1)
        while True:
            parts = [
                Chunk(chunk.start + p.start, chunk.start + p.stop) for p in split(len(chunk), window, window * 2 // 5)
            ]
            if max(map(text.length, parts)) + 2 <= self.config.max_pieces:
                return parts
            window = max(window * 5 // 8, 1)

    def _run(self, text: _Pieces, batch: Sequence[Chunk], width: int) -> list[Rows]:
        ids = np.full((len(batch), width), self._padding, np.int64)
        mask, pauses, turns = (np.zeros((len(batch), width), np.int64) for _ in range(3))
        lasts = []
        for row, chunk in enumerate(batch):
            start, stop = text.ends[chunk.start], text.ends[chunk.stop]
            length = int(stop - start)
            ids[row, 0] = self._opening
            ids[row, 1 : length + 1] = text.ids[start:stop]
            ids[row, length + 1] = self._closing
            mask[row, : length + 2] = 1
            last = text.ends[chunk.start + 1 : chunk.stop + 1] - start  # one [CLS] further, one piece back
            pauses[row, last] = text.pauses[chunk.start : chunk.stop]
            turns[row, last] = text.turns[chunk.start : chunk.stop]
            lasts.append(last)
        try:
            case, marks, *around = self._session.run(
                self._outputs, dict(zip(_INPUTS, (ids, mask, pauses, turns), strict=True))
            )
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed on {self.device}: {_first_line(error)}") from error
        counts = list(map(len, batch))
        rows, places = np.repeat(np.arange(len(batch)), counts), np.concatenate(lasts)
        parts = [softmax(case[rows, places]), softmax(marks[rows, places])]
        table = np.concatenate([*parts, *(sigmoid(logits[rows, places]) for logits in around)], axis=1)
        return np.split(table, np.cumsum(counts)[:-1])

    def _encode(self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool]) -> _Pieces:
        number = self._numbered(words)
        lengths = np.fromiter(map(len, self._pieces), np.int64, len(self._pieces))
        table = np.fromiter(chain.from_iterable(self._pieces), np.int64, int(lengths.sum()))
        starts = np.cumsum(lengths) - lengths
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[number])])
        # Place in the table of every piece: where its word's pieces begin, plus its place in the word.
        places = np.repeat(starts[number] - ends[:-1], lengths[number]) + np.arange(ends[-1])
        silence = np.fromiter((-1 if pause is None else pause for pause in pauses), np.int64, len(words))
        bins = np.searchsorted(np.asarray(self.config.pause_bins_ms, np.int64), silence, side="right") + 1
        return _Pieces(table[places], ends, np.where(silence < 0, 0, bins), np.asarray(turns, np.int64))

    def _numbered(self, words: Sequence[str]) -> Integers:
        """The number of each word in the cache; unseen words are tokenised, each once."""
        if len(self._numbers) > _MOST_CACHED:
            self._numbers, self._pieces = {}, []
        known = self._numbers
        unseen = [word for word in dict.fromkeys(words) if word not in known]
        for start in range(0, len(unseen), 10_000):
            some = unseen[start : start + 10_000]
            # Vocabularies know the typewriter's apostrophe (the text keeps its own),
            # and none knows the lone surrogates that stand for bytes of a broken file.
            spelled = [word.replace("’", "'").encode("utf-8", "replace").decode() for word in some]
            for word, encoding in zip(some, self._encode_words(spelled), strict=True):
                known[word] = len(self._pieces)
                self._pieces.append(self._capped(encoding))
        return np.fromiter(map(known.__getitem__, words), np.int64, len(words))

    def _encode_words(self, words: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(words, add_special_tokens=False)]

    def _capped(self, ids: list[int]) -> tuple[int, ...]:
        if not ids:
            return (self._unknown,)
        if len(ids) > PIECES_PER_WORD:
            return (*ids[: PIECES_PER_WORD - 1], ids[-1])
        return tuple(ids)


def softmax(logits: Rows) -> Rows:
    """Probabilities along the last axis, safe for any finite logits."""
    exponents: Rows = np.exp(logits - logits.max(-1, keepdims=True)).astype(np.float32, copy=False)
    exponents /= exponents.sum(-1, keepdims=True)
    return exponents


def sigmoid(logits: Rows) -> Rows:
    """Probabilities of independent labels, safe for any finite logits."""
    chances: Rows = (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32, copy=False)
    return chances


def _padded(width: int) -> int:
    return -(-width // _SHAPE_STEP) * _SHAPE_STEP


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise BadModel(f"the tokenizer cannot be loaded: {_first_line(error)}", str(path)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _special(tokenizer: Tokenizer, directory: Path, *names: str) -> int:
    for name in names:
        number = tokenizer.token_to_id(name)
        if number is not None:
            return number
    raise BadModel(f"the tokenizer has no {names[0]}", str(directory / "tokenizer.json"))


def _open_session(path: Path, device: str) -> tuple[Any, str, str | None]:
    """(session, the device that it runs on, a warning or None)."""
    import onnxruntime

    # Failures come as exceptions; the pages that the library logs beside them help nobody.
    onnxruntime.set_default_logger_severity(4)
    if not path.is_file():
        raise BadModel("the model file is missing", str(path))
    wanted = choose(device, onnxruntime.get_available_providers())
    if wanted.kind == "cuda":
        session = _cuda_session(path, wanted)
        if session is not None:
            return session, f"cuda:{wanted.index}", None
        message = "CUDA cannot be used: its libraries are missing or do not fit; pip install 'cappunc[cuda]'"
        if wanted.required:
            raise CappuncError(message)
        return _session(path, ["CPUExecutionProvider"]), "cpu", f"{message}. Running on the CPU."
    return _session(path, ["CPUExecutionProvider"]), "cpu", None


def _cuda_session(path: Path, device: Device) -> Any:
    """A session that really runs on the GPU, or None."""
    import onnxruntime

    if hasattr(onnxruntime, "preload_dlls"):
        # Finds the libraries of the nvidia-* wheels, which are on no search path.
        onnxruntime.preload_dlls(directory="")
    options = {"device_id": str(device.index)}
    try:
        session = _session(path, [("CUDAExecutionProvider", options), "CPUExecutionProvider"])
    except BadModel:
        return None
    # The library falls back to the CPU without an error when a CUDA library is missing.
    return session if "CUDAExecutionProvider" in session.get_providers() else None


def _session(path: Path, providers: Sequence[object]) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = physical_cores()
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_mem_pattern = True
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=list(providers))
    except Exception as error:  # onnxruntime has no base class of its own
        raise BadModel(f"the model cannot be loaded: {_first_line(error)}", str(path)) from error
    missing = set(_INPUTS) - {i.name for i in session.get_inputs()} | set(_OUTPUTS) - {
        o.name for o in session.get_outputs()
    }
    if missing:
        raise BadModel(f"the graph lacks {', '.join(sorted(missing))}", str(path))
    return session
