"""Write a trigram model, as `cappunc_cli.restoration.models.trigrams` reads it."""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.restoration.models.trigrams import (
    LEAST_WEIGHT,
    LOG_P_STEPS,
    WEIGHT_STEPS,
    Floats,
    NgramTable,
    Trigrams,
)


def save(model: Trigrams, path: Path) -> None:
    """Write a model as LZMA-compressed arrays, with probabilities rounded to 1/12 nat."""
    size = len(model.words)
    arrays = {
        "words": np.frombuffer("\n".join((*model.words, *model.members)).encode(), np.uint8),
        "size": np.array(size),
        "shares": _rounded(model.shares),
        "second": _packed(model.pairs, size, size),
        "third": _packed(model.triples, len(model.pairs.keys), size),
        "chances": np.concatenate([_rounded(p) for p in (model.log_p, model.pairs.log_p, model.triples.log_p)]),
        "weights": np.concatenate([_rounded_weight(w) for w in (model.weights, model.pairs.weights)]),
    }
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    path.write_bytes(lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _packed(counts: NgramTable, contexts: int, size: int) -> npt.NDArray[np.uint8]:
    """The number of tokens after each context, then the tokens; the high bytes, which hardly vary, are separate."""
    many = np.bincount(counts.keys // size, minlength=contexts).astype("<u2")
    tokens = (counts.keys % size).astype("<u2")
    return np.concatenate([part.view(np.uint8).reshape(-1, 2).T.ravel() for part in (many, tokens)])


def _rounded(log_p: Floats) -> npt.NDArray[np.uint8]:
    return np.clip(np.round(-log_p * LOG_P_STEPS), 0, 255).astype(np.uint8)


def _rounded_weight(weights: Floats) -> npt.NDArray[np.uint8]:
    return np.clip(np.round((weights - LEAST_WEIGHT) * WEIGHT_STEPS), 0, 255).astype(np.uint8)
