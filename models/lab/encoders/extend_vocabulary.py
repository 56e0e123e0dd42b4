"""The start of a model for other languages: layers and heads of one that is trained, piece vectors of its encoder.

    python -m models.lab.encoders.extend_vocabulary models/multi2/train.toml models/multi/train.toml
    python -m models.lab.encoders.extend_vocabulary models/multi2/train.toml models/multi/train.toml \\
        --checkpoint runs/multi/checkpoint.pt

Writes the `start` of the first recipe from the model of the second. Its piece vectors, too, were those of
multilingual-e5-small, from which training moves them so little that the vectors of other pieces still fit. If the
`tokenizer` of the first is missing, it is written as well: the pieces that its corpora use.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.document.labels import strip
from cappunc_cli.features.train.dataset import GLUE, Types, read_stream
from cappunc_cli.features.train.network import read_weights
from cappunc_cli.languages import TYPEWRITER
from cappunc_cli.restoration.models.graph import NetworkShape
from models.lab.corpora import CORPORA
from models.lab.encoders import read
from models.lab.encoders.pretrained_encoder import PretrainedEncoder
from models.lab.network import SHAPE
from models.lab.recipe import LabRecipe
from models.lab.trainer import network_of

#: How our vocabularies name the special pieces of multilingual-e5-small, in their order.
_SPECIAL = {"<pad>": "[PAD]", "<unk>": "[UNK]", "<s>": "[CLS]", "</s>": "[SEP]"}
#: A piece that is rarer in the corpora is spelt by others. Of twenty-one languages 90,000 occur, and 71,000
#: this often; a thousand are 0.3 MB.
_LEAST = 12
#: `readers.turkish`: the pieces have the letter itself.
_DOTLESS = {"type": "Replace", "pattern": {"String": "ɨ"}, "content": "ı"}


def words_of(recipe: LabRecipe) -> Counter[str]:
    """The bare words of the corpora of a recipe, as `network.tokenise` reads them, and how often each occurs."""
    types = Types()
    streams = [read_stream(CORPORA[name].corpus(recipe.data), types) for name in recipe.corpora]
    counts = np.asarray(sum(np.bincount(stream.types, minlength=len(types)) for stream in streams))
    words = Counter[str]()
    for written, count in zip(types, counts.tolist(), strict=True):
        words[strip(written.replace(GLUE, " "))[0].translate(TYPEWRITER)] += count
    return words


def tokenizer_for(encoder: PretrainedEncoder) -> Tokenizer:
    """The tokenizer of an encoder with our special pieces first."""
    table = json.loads(encoder.tokenizer.to_str())
    scores = dict(map(tuple, table["model"]["vocab"]))
    special = [[ours, scores.pop(theirs)] for theirs, ours in _SPECIAL.items()]
    table["model"] |= {"vocab": special + [[piece, score] for piece, score in scores.items()], "unk_id": 1}
    return Tokenizer.from_str(json.dumps(table, ensure_ascii=False))


def with_dotless_i(encoder: PretrainedEncoder) -> PretrainedEncoder:
    """The encoder with a tokenizer that knows the dotless i by the letter that stands for it."""
    table = json.loads(encoder.tokenizer.to_str())
    table["normalizer"]["normalizers"].append(_DOTLESS)
    return replace(encoder, tokenizer=Tokenizer.from_str(json.dumps(table, ensure_ascii=False)))


def vectors_for(
    tokenizer: Tokenizer, old: Tokenizer, vectors: Tensor, encoder: PretrainedEncoder
) -> tuple[Tensor, int]:
    """The vector of each piece [pieces, width], of the `old` tokenizer's `vectors` or the encoder's; how many are old.

    Raises KeyError for a piece that neither has.
    """
    ours, theirs = old.get_vocab(), encoder.tokenizer.get_vocab()
    theirs |= {own: theirs[name] for name, own in _SPECIAL.items()}
    pieces = tokenizer.get_vocab()
    found = torch.empty(len(pieces), vectors.shape[1])
    for piece, number in pieces.items():
        found[number] = vectors[ours[piece]] if piece in ours else encoder.state["words.weight"][theirs[piece]]
    return found, len(pieces.keys() & ours.keys())


def weights_of(recipe: LabRecipe, checkpoint: Path | None) -> tuple[NetworkShape, Mapping[str, Tensor]]:
    """Sizes and weights of the model beside a recipe's tokenizer, or of a checkpoint of its run."""
    if checkpoint is None:
        return read_weights(recipe.tokenizer.parent / "model.onnx")
    network = network_of(recipe, torch.load(checkpoint, map_location="cpu")["network"])
    return network.shape, network.state_dict()


def extend(recipe: LabRecipe, old: LabRecipe, checkpoint: Path | None = None) -> None:
    """Write the start of `recipe`, and its tokenizer if there is none."""
    assert recipe.start is not None
    encoder = with_dotless_i(read("e5"))
    if not recipe.tokenizer.exists():
        tokenizer_for(encoder.fitted(words_of(recipe), _LEAST)).save(str(recipe.tokenizer))
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    shape, state = weights_of(old, checkpoint)
    vectors, kept = vectors_for(tokenizer, Tokenizer.from_file(str(old.tokenizer)), state["words.weight"], encoder)
    recipe.start.parent.mkdir(parents=True, exist_ok=True)
    all_of_it = {name: value.contiguous() for name, value in state.items()} | {"words.weight": vectors}
    sizes = asdict(replace(shape, vocabulary=len(vectors)))
    save_file(all_of_it, recipe.start, {SHAPE: json.dumps(sizes)})
    print(f"{recipe.start}: {len(vectors):,} pieces, {kept:,} of them with the vectors of {old.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("recipe", type=Path)
    parser.add_argument("old", type=Path, help="the recipe of the model that has the layers and heads")
    parser.add_argument("--checkpoint", type=Path, help="instead of the model.onnx of that recipe")
    asked = parser.parse_args()
    extend(LabRecipe.load(asked.recipe), LabRecipe.load(asked.old), asked.checkpoint)
