"""Reader of encoders in Hugging Face's layout: config.json, model.safetensors and tokenizer.json.

Families differ in the names of the same layers, in their first position, and in what they add to attention. Encoders
with parts that our network does not have (DeBERTa's relative positions, a projection after a narrow embedding) are
refused: they would load and give wrong results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.graph import NetworkShape
from models.lab.encoders.pretrained_encoder import PretrainedEncoder

#: The longest windows, in training and on held-out text.
_FEWEST_PLACES = 256
_GELU = ("gelu", "gelu_python")


@dataclass(frozen=True, slots=True)
class EncoderFamily:
    """A family's names of the parts of a layer, in the order query, key, value, out, norm1, up, down, norm2.

    `first_place` is the row of the first position embedding; the rows before it are padding. `sizes` maps
    fields of `NetworkShape` to the keys of its config.
    """

    layer: str = "encoder.layer.{}."
    parts: tuple[str, ...] = (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    )
    first_place: int = 0
    sizes: dict[str, str] = field(
        default_factory=lambda: {
            "width": "hidden_size",
            "heads": "num_attention_heads",
            "layers": "num_hidden_layers",
            "inner": "intermediate_size",
            "eps": "layer_norm_eps",
        }
    )
    activation: str = "hidden_act"


_BERT = EncoderFamily()
_ROBERTA = EncoderFamily(first_place=2)
FAMILIES: dict[str, EncoderFamily] = {
    "bert": _BERT,
    "electra": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "mpnet": EncoderFamily(
        parts=(
            *("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm"),
            *("intermediate.dense", "output.dense", "output.LayerNorm"),
        ),
        first_place=2,
    ),
    "distilbert": EncoderFamily(
        layer="transformer.layer.{}.",
        parts=(
            *("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm"),
            *("ffn.lin1", "ffn.lin2", "output_layer_norm"),
        ),
        sizes={"width": "dim", "heads": "n_heads", "layers": "n_layers", "inner": "hidden_dim"},
        activation="activation",
    ),
}


def read(folder: Path) -> PretrainedEncoder:
    """Read a folder; raises BadModel if it is incomplete or has parts that our network does not have."""
    config = _config(folder / "config.json")
    kind = str(config.get("model_type"))
    if kind not in FAMILIES:
        raise BadModel(f"unknown encoder type {kind}; known: {', '.join(FAMILIES)}", str(folder / "config.json"))
    family = FAMILIES[kind]
    _check(config, family, folder)
    source = _weights(folder)
    try:
        state = _state(source, family, int(config[family.sizes["layers"]]))
        shape = _shape(config, family, state)
    except KeyError as error:
        raise BadModel(f"the encoder lacks {error.args[0]}", str(folder)) from None
    if shape.positions < _FEWEST_PLACES:
        raise BadModel(
            f"only {shape.positions} positions; training needs {_FEWEST_PLACES}", str(folder / "config.json")
        )
    tokenizer = _tokenizer(folder / "tokenizer.json")
    pieces = tokenizer.get_vocab_size()
    if pieces > shape.vocabulary or max(tokenizer.get_vocab().values()) >= pieces:
        raise BadModel(f"{pieces} pieces do not fit {shape.vocabulary} vectors", str(folder / "tokenizer.json"))
    # Tables are often padded to a round number of rows.
    state["words.weight"] = state["words.weight"][:pieces].clone()
    return PretrainedEncoder(replace(shape, vocabulary=pieces), state, tokenizer)


def _config(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadModel("not an encoder in Hugging Face's layout: config.json cannot be read", str(path)) from error
    return found if isinstance(found, dict) else {}


def _check(config: dict[str, Any], family: EncoderFamily, folder: Path) -> None:
    path = str(folder / "config.json")
    if (places := config.get("position_embedding_type", "absolute")) != "absolute":
        raise BadModel(f"unsupported position embeddings: {places}", path)
    if (activation := config.get(family.activation, "gelu")) not in _GELU:
        raise BadModel(f"unsupported activation: {activation} (only gelu is supported)", path)
    if config.get("embedding_size", config.get("hidden_size")) != config.get("hidden_size"):
        raise BadModel("unsupported: embeddings narrower than the layers, with a projection", path)
    if config.get("is_decoder") or config.get("sinusoidal_pos_embds"):
        raise BadModel("unsupported: a decoder, or sinusoidal positions", path)


def _weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder, from one file or several, without the prefix of the surrounding model."""
    if not (paths := sorted(folder.glob("model*.safetensors"))):
        raise BadModel("no model.safetensors", str(folder))
    try:
        found = {name: value for path in paths for name, value in load_file(path).items()}
    except Exception as error:  # the library raises an exception of its own that it does not export
        raise BadModel("model.safetensors cannot be read", str(folder)) from error
    prefix = next((name.partition("embeddings.")[0] for name in found if "embeddings.word_embeddings" in name), "")
    return {
        # The first BERT models call the weight and bias of a normalisation gamma and beta.
        name.removeprefix(prefix).replace(".gamma", ".weight").replace(".beta", ".bias"): value.float()
        for name, value in found.items()
    }


def _state(source: dict[str, Tensor], family: EncoderFamily, layers: int) -> dict[str, Tensor]:
    places = source["embeddings.position_embeddings.weight"][family.first_place :]
    if (segments := source.get("embeddings.token_type_embeddings.weight")) is not None:
        # Only segment 0 is ever used: add its vector to the position embeddings.
        places = places + segments[0]
    state = {
        "words.weight": source["embeddings.word_embeddings.weight"],
        "places.weight": places.clone(),
        **_named(source, "norm", "embeddings.LayerNorm"),
    }
    if (relative := source.get("encoder.relative_attention_bias.weight")) is not None:
        state["relative.weight"] = relative
    for number in range(layers):
        query, key, value, out, norm1, up, down, norm2 = (family.layer.format(number) + part for part in family.parts)
        ours = f"blocks.{number}"
        for kind in ("weight", "bias"):
            state[f"{ours}.qkv.{kind}"] = torch.cat([source[f"{part}.{kind}"] for part in (query, key, value)])
        for part, theirs in {"out": out, "norm1": norm1, "up": up, "down": down, "norm2": norm2}.items():
            state |= _named(source, f"{ours}.{part}", theirs)
    return state


def _named(source: dict[str, Tensor], ours: str, theirs: str) -> dict[str, Tensor]:
    return {f"{ours}.{kind}": source[f"{theirs}.{kind}"] for kind in ("weight", "bias")}


def _shape(config: dict[str, Any], family: EncoderFamily, state: dict[str, Tensor]) -> NetworkShape:
    sizes = {ours: config[theirs] for ours, theirs in family.sizes.items() if ours != "eps" or theirs in config}
    return NetworkShape(
        vocabulary=len(state["words.weight"]),
        positions=len(state["places.weight"]),
        embedding=sizes["width"],
        buckets=len(state["relative.weight"]) if "relative.weight" in state else 0,
        **sizes,
    )


def _tokenizer(path: Path) -> Tokenizer:
    """The folder's tokenizer, adapted to single words, which are split as they would be within a sentence."""
    try:
        table = json.loads(path.read_text("utf-8"))
        for part in _parts(table.get("pre_tokenizer")):
            if part.get("type") == "ByteLevel":
                part["add_prefix_space"] = True
        _hide_unused_frame(table["model"]["vocab"])
        # The special pieces around a window are added elsewhere.
        return Tokenizer.from_str(json.dumps(table | {"post_processor": None, "truncation": None, "padding": None}))
    except Exception as error:  # the library raises plain Exception
        raise BadModel("the tokenizer cannot be read (save the model with its fast tokenizer)", str(path)) from error


def _hide_unused_frame(vocabulary: Any) -> None:
    """Rename BERT's special pieces in a vocabulary that also has RoBERTa's: MPNet kept them but does not use them."""
    if isinstance(vocabulary, dict) and "<s>" in vocabulary:
        for name in ("[CLS]", "[SEP]", "[PAD]"):
            if name in vocabulary:
                vocabulary[f"{name}, unused"] = vocabulary.pop(name)


def _parts(pre_tokenizer: dict[str, Any] | None) -> list[dict[str, Any]]:
    if not pre_tokenizer:
        return []
    return list(pre_tokenizer.get("pretokenizers", [pre_tokenizer]))
