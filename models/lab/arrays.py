"""The prepared arrays of a recipe, as files below its `runs` folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np

from cappunc_cli.features.train.dataset import Arrays, TokenStream, Vocabulary
from models.lab.recipe import LabRecipe
from models.lab.spectral import Ints, pieces_of

_Columns = TypeVar("_Columns", TokenStream, Vocabulary)


def save(columns: TokenStream | Vocabulary, path: Path) -> None:
    """Write the arrays of a stream or a vocabulary as an .npz file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{field.name: getattr(columns, field.name) for field in fields(columns)})


def load(kind: type[_Columns], path: Path) -> _Columns:
    """Read what `save` wrote."""
    with np.load(path) as arrays:
        return kind(**{field.name: arrays[field.name] for field in fields(kind)})


def save_all(arrays: Arrays, recipe: LabRecipe) -> None:
    """Write all arrays of a recipe, and lexicon.txt."""
    folder = recipe.arrays()
    for name, stream in arrays.streams.items():
        save(stream, folder / f"{name}.npz")
    save(arrays.vocabulary, folder / "vocabulary.npz")
    (folder / "lexicon.txt").write_text("\n".join(arrays.lexicon) + "\n", "utf-8")


def load_stream(recipe: LabRecipe, name: str) -> TokenStream:
    """A corpus of a recipe."""
    return load(TokenStream, recipe.arrays() / f"{name}.npz")


def load_vocabulary(recipe: LabRecipe) -> Vocabulary:
    """The words of a recipe."""
    return load(Vocabulary, recipe.arrays() / "vocabulary.npz")


def load_lexicon(recipe: LabRecipe) -> list[str]:
    """The lines of lexicon.txt: of a model that goes on from its own weights those that it has, with their counts."""
    own = recipe.start is not None and recipe.start.parent == recipe.tokenizer.parent
    folder = recipe.tokenizer.parent if own else recipe.arrays()
    return (folder / "lexicon.txt").read_text("utf-8").splitlines()


def running_pieces(recipe: LabRecipe, names: Iterable[str]) -> Ints:
    """The pieces of running text of some of a recipe's corpora, in proportion to their shares of its windows."""
    shares = {name: recipe.corpora[name] for name in names}
    return pieces_of({name: load_stream(recipe, name) for name in shares}, shares, load_vocabulary(recipe))
