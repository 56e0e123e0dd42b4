"""Save a pretrained encoder as the start of a recipe, and print the lines of the recipe."""

from __future__ import annotations

import sys
from pathlib import Path

from cappunc_cli.training.encoders import read


def main(name: str, folder: Path) -> None:
    """Read an encoder by name or folder, and save its weights and tokenizer in `folder`."""
    path = read(name).save(folder)
    print(f'tokenizer = "{folder / "tokenizer.json"}"\nstart = "{path}"')


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
