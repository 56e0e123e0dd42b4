"""Turn the corpora that a train.toml names into arrays under its `runs` folder.

python -m models.lab.prepare models/en/train.toml
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from cappunc_cli.features.train import dataset
from cappunc_cli.features.train.dataset import split
from models.lab import arrays
from models.lab.corpora import CORPORA
from models.lab.readers import Source
from models.lab.recipe import LabRecipe
from models.lab.teacher import TEACHERS_WORDS

logger = logging.getLogger(__name__)


def prepare(recipe: LabRecipe, corpora: Mapping[str, Source] = CORPORA) -> None:
    """Write the arrays of `cappunc train`, and the words in the pieces of a teacher that has other ones."""
    made = dataset.prepare(recipe, {name: corpora[name].corpus(recipe.data) for name in recipe.texts()})
    arrays.save_all(made, recipe)
    for name, stream in made.streams.items():
        logger.info("%s: %s words", name, f"{len(stream.types):,}")
    pieces_of = recipe.teacher / "tokenizer.json" if recipe.teacher is not None else recipe.tokenizer
    if pieces_of.read_bytes() != recipe.tokenizer.read_bytes():
        starts, pieces, frame = split(made.bares, Tokenizer.from_file(str(pieces_of)))
        theirs = replace(made.vocabulary, starts=starts, pieces=pieces, frame=frame)
        arrays.save(theirs, recipe.arrays() / TEACHERS_WORDS)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    prepare(LabRecipe.load(Path(sys.argv[1])))
