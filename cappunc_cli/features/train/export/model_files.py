"""What every exported network has beside its weights: a tokenizer, a lexicon, and a config with hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from cappunc_cli.document.labels import MARKS, Case
from cappunc_cli.features.train.data.corpora import CORPORA
from cappunc_cli.features.train.recipe import Recipe


def must_not_ship(recipe: Recipe) -> list[str]:
    """The corpora of a recipe whose licence forbids distributing weights that were trained on them."""
    return [name for name in recipe.corpora if name in CORPORA and not CORPORA[name].ships]


def write_beside(
    recipe: Recipe, directory: Path, weights: Sequence[str], positions: int, around: Sequence[str] = ()
) -> dict[str, Any]:
    """Write tokenizer.json and lexicon.txt beside the files `weights`, and return the config of them all."""
    (directory / "lexicon.txt").write_bytes((recipe.arrays() / "lexicon.txt").read_bytes())
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(directory / "tokenizer.json"))
    names = (*weights, "tokenizer.json", "lexicon.txt")
    return {
        "name": recipe.name,
        **recipe.decoding,
        "cases": [case.value for case in Case],
        "marks": ["", *MARKS],
        **({"around": list(around)} if around else {}),
        "max_pieces": positions,
        "pause_bins_ms": list(recipe.pause_bins_ms),
        "version": "1",
        "files": {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in names},
    }
