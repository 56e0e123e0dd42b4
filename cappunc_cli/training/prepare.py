"""Turn the corpora that a train.toml names into arrays under its `runs` folder.

python -m cappunc_cli.training.prepare models/en/train.toml
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from cappunc_cli.training.corpora import CORPORA
from cappunc_cli.training.dataset import Stream, Types, build_vocabulary, mixed_case_lexicon, read_stream
from cappunc_cli.training.recipe import Recipe


def prepare(recipe: Recipe) -> None:
    """Write one stream per corpus, the vocabulary and the mixed-case lexicon."""
    folder = recipe.runs / "data"
    folder.mkdir(parents=True, exist_ok=True)
    types = Types()
    streams: dict[str, Stream] = {}
    for name in recipe.corpora:
        began = time.monotonic()
        streams[name] = read_stream(CORPORA[name], recipe.data, types)
        print(f"{name}: {len(streams[name].types):,} words in {time.monotonic() - began:.0f} s", flush=True)
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary, bares = build_vocabulary(types, tokenizer)
    is_word = np.array([bool(bare) for bare in bares])
    counts = np.zeros(len(types), np.int64)
    for name, stream in streams.items():
        keep = is_word[stream.types]
        kept = Stream(stream.types[keep], stream.pauses[keep], stream.turn_ends[keep], stream.document_ends[keep])
        kept.save(folder / f"{name}.npz")
        counts += np.bincount(kept.types, minlength=len(types))
    vocabulary.save(folder / "vocabulary.npz")
    (folder / "lexicon.txt").write_text("\n".join(mixed_case_lexicon(types, counts)) + "\n", "utf-8")
    print(f"{len(types):,} written words, {counts.sum():,} in all")


if __name__ == "__main__":
    prepare(Recipe.load(Path(sys.argv[1])))
