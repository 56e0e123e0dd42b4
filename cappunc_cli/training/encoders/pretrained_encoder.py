"""What every reader of encoders returns: the start of a network that has no heads yet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.training.network import SHAPE, NetworkShape

#: A vocabulary of a hundred languages has more pieces than this; one language's text uses a tenth of them.
_LARGE = 60_000
#: The name of a saved encoder's file.
ENCODER = "encoder.safetensors"


@dataclass(frozen=True, slots=True)
class PretrainedEncoder:
    """`state` has words, places, norm, blocks and, with `shape.buckets`, relative, by the names of `JointNetwork`.

    Row i of `state["words.weight"]` is the vector of piece i of the `tokenizer`, which splits a single word.
    """

    shape: NetworkShape
    state: dict[str, Tensor]
    tokenizer: Tokenizer

    def fitted(self, words: Iterable[str]) -> PretrainedEncoder:
        """The encoder with the pieces that these words use, where its vocabulary is large and may be cut.

        Pieces of one character stay, so that any word of these scripts can be spelled. Only a unigram vocabulary
        (SentencePiece) can lose pieces and split the rest as before; others are returned whole.
        """
        table: dict[str, Any] = json.loads(self.tokenizer.to_str())
        pieces = table["model"].get("vocab")
        if table["model"]["type"] != "Unigram" or len(pieces) <= _LARGE:
            return self
        used = {number for encoding in self.tokenizer.encode_batch(list(words)) for number in encoding.ids}
        special = {added["id"] for added in table["added_tokens"]} | {table["model"]["unk_id"]}
        kept = [
            number
            for number, (piece, _) in enumerate(pieces)
            if number in used or number in special or len(piece.removeprefix("▁")) <= 1
        ]
        places = {old: new for new, old in enumerate(kept)}
        table["model"]["vocab"] = [pieces[number] for number in kept]
        table["model"]["unk_id"] = places[table["model"]["unk_id"]]
        # What was added behind the pieces (<mask>) is no piece of a word.
        table["added_tokens"] = [
            added | {"id": places[added["id"]]} for added in table["added_tokens"] if added["id"] in places
        ]
        state = self.state | {"words.weight": self.state["words.weight"][kept].clone()}
        return PretrainedEncoder(
            replace(self.shape, vocabulary=len(kept)), state, Tokenizer.from_str(json.dumps(table, ensure_ascii=False))
        )

    def save(self, folder: Path) -> Path:
        """Write tokenizer.json and ENCODER, which holds its sizes too; the path of the latter."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ENCODER
        self.tokenizer.save(str(folder / "tokenizer.json"))
        state = {name: value.contiguous() for name, value in self.state.items()}
        save_file(state, path, {SHAPE: json.dumps(asdict(self.shape))})
        return path
