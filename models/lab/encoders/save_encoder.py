"""Save a pretrained encoder as the start of a recipe, and print the lines of the recipe.

python -m models.lab.encoders.save_encoder e5 runs/encoders/e5 models/en/train.toml

With a recipe, a large vocabulary is reduced to the pieces that the words of its corpora use.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cappunc_cli.document.labels import strip
from cappunc_cli.features.train.dataset import GLUE, Types, read_stream
from models.lab.corpora import CORPORA
from models.lab.encoders import read
from models.lab.recipe import LabRecipe


def main(name: str, folder: Path, recipe: LabRecipe | None = None) -> None:
    """Read an encoder by name or folder, and save its weights and tokenizer in `folder`."""
    encoder = read(name)
    if recipe is not None:
        types = Types()
        for corpus in recipe.corpora:
            read_stream(CORPORA[corpus].corpus(recipe.data), types)
        encoder = encoder.fitted({strip(written.replace(GLUE, " "))[0]: 1 for written in types})
    path = encoder.save(folder)
    print(f'tokenizer = "{folder / "tokenizer.json"}"\nstart = "{path}"')


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), LabRecipe.load(Path(sys.argv[3])) if len(sys.argv) > 3 else None)
