"""A pretrained encoder: the start of a network without heads. All readers of encoders return one."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.restoration.models.graph import NetworkShape
from cappunc_cli.restoration.models.network import CLOSING, OPENING
from models.lab.network import SHAPE

#: Larger vocabularies are multilingual, and the text of one language uses about a tenth of their pieces.
_LARGE = 60_000
#: Of the letters of a text, a script that it is written in has this share: of names and quotations less.
_WRITTEN = 0.001
#: The file name of a saved encoder.
ENCODER = "encoder.safetensors"


def _script(letter: str) -> str:
    """The first word of a character's name: LATIN, CYRILLIC, HANGUL, CJK …"""
    return unicodedata.name(letter, "").partition(" ")[0]


def _scripts_of(words: Iterable[str]) -> frozenset[str]:
    """The scripts that words are written in."""
    letters = Counter(letter for word in words for letter in word if letter.isalpha())
    scripts = Counter[str]()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    return frozenset(script for script, count in scripts.items() if count > _WRITTEN * letters.total())


def _can_spell(piece: str, scripts: frozenset[str]) -> bool:
    """Whether a piece is a small letter of these scripts, or the beginning of a word and nothing else."""
    return not piece or (len(piece) == 1 and piece.isalpha() and piece == piece.lower() and _script(piece) in scripts)


@dataclass(frozen=True, slots=True)
class PretrainedEncoder:
    """The weights of an encoder under the names of `JointNetwork`: words, places, norm, blocks, and relative if any.

    Row i of `state["words.weight"]` is the vector of piece i of the `tokenizer`, which splits single words.
    """

    shape: NetworkShape
    state: dict[str, Tensor]
    tokenizer: Tokenizer

    def fitted(self, words: Mapping[str, int], least: int = 1) -> PretrainedEncoder:
        """The encoder with a large vocabulary reduced to the pieces that `words` use, with their counts `least` times.

        Letters of the scripts of `words` are kept, so that any word of these can be spelled. Only a unigram
        vocabulary (SentencePiece) can lose pieces and still split the other words as before; others are returned
        unchanged.
        """
        table: dict[str, Any] = json.loads(self.tokenizer.to_str())
        pieces = table["model"].get("vocab")
        if table["model"]["type"] != "Unigram" or len(pieces) <= _LARGE:
            return self
        found = Counter[int]()
        for encoding, count in zip(self.tokenizer.encode_batch(list(words)), words.values(), strict=True):
            for number in encoding.ids:
                found[number] += count
        used = {number for number, count in found.items() if count >= least}
        scripts = _scripts_of(words)
        special = {added["id"] for added in table["added_tokens"]} | {table["model"]["unk_id"]}
        # No word uses the pieces that frame a text, and not every tokenizer has them among its added tokens.
        special |= {self.tokenizer.token_to_id(name) for name in (*OPENING, *CLOSING, "[PAD]", "<pad>")}
        kept = [
            number
            for number, (piece, _) in enumerate(pieces)
            if number in used or number in special or _can_spell(piece.removeprefix("▁"), scripts)
        ]
        places = {old: new for new, old in enumerate(kept)}
        table["model"]["vocab"] = [pieces[number] for number in kept]
        table["model"]["unk_id"] = places[table["model"]["unk_id"]]
        # Tokens that were added after the pieces (<mask>) are not part of words.
        table["added_tokens"] = [
            added | {"id": places[added["id"]]} for added in table["added_tokens"] if added["id"] in places
        ]
        state = self.state | {"words.weight": self.state["words.weight"][kept].clone()}
        return PretrainedEncoder(
            replace(self.shape, vocabulary=len(kept)), state, Tokenizer.from_str(json.dumps(table, ensure_ascii=False))
        )

    def save(self, folder: Path) -> Path:
        """Write tokenizer.json and ENCODER, which includes the sizes; returns the path of the latter."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ENCODER
        self.tokenizer.save(str(folder / "tokenizer.json"))
        state = {name: value.contiguous() for name, value in self.state.items()}
        save_file(state, path, {SHAPE: json.dumps(asdict(self.shape))})
        return path
