"""A model for other languages starts from layers and heads of one that is trained, and pieces of its encoder."""

# ruff: noqa: E402 - without the extra [train] there is nothing to import

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from cappunc_cli.restoration.models.graph import NetworkShape
from cappunc_cli.restoration.models.network import tokenise
from models.lab.encoders import extend_vocabulary
from models.lab.encoders.pretrained_encoder import PretrainedEncoder
from models.lab.network import LabNetwork
from models.lab.readers import Source, paragraphs
from models.lab.recipe import LabRecipe
from models.lab.trainer import network_of

SHAPE = NetworkShape(
    vocabulary=7, positions=32, embedding=16, width=16, heads=2, layers=1, inner=32, pause_bins=3, around=1
)


def unigram(*pieces: str) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0 - number) for number, piece in enumerate(pieces)], unk_id=3))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def test_pieces_that_both_have_are_trained_and_the_others_the_encoders(
    recipe: LabRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = unigram("<s>", "<pad>", "</s>", "<unk>", "▁evet", "▁", "ı", "▁no")
    encoder = PretrainedEncoder(replace(SHAPE, vocabulary=8), {"words.weight": torch.randn(8, 16)}, pieces)
    monkeypatch.setattr(extend_vocabulary, "read", {"e5": encoder}.get)
    monkeypatch.setattr(extend_vocabulary, "CORPORA", {"text": Source("text.txt", "CC0", paragraphs)})
    (tmp_path / "text.txt").write_text("Evet ɨ.\n", "utf-8")

    trained = LabNetwork(SHAPE)
    torch.nn.init.normal_(trained.pauses.weight)
    torch.save({"network": trained.state_dict()}, tmp_path / "checkpoint.pt")
    unigram("[PAD]", "[CLS]", "[SEP]", "[UNK]", "▁no", "▁", "x").save(str(tmp_path / "old.json"))
    base = replace(
        recipe, around=("“",), network={"layers": 1}, tokenizer=tmp_path / "old.json", pause_bins_ms=(100, 1000)
    )
    sizes = {name: getattr(SHAPE, name) for name in ("positions", "embedding", "width", "heads", "layers", "inner")}
    old = replace(base, network=sizes)
    new = replace(base, tokenizer=tmp_path / "new.json", start=tmp_path / "runs" / "start.safetensors")
    extend_vocabulary.extend(new, old, tmp_path / "checkpoint.pt")

    network = network_of(new)
    tokenizer = Tokenizer.from_file(str(new.tokenizer))
    assert tokenizer.token_to_id("[PAD]") == 0
    own = {piece: network.words.weight[number] for piece, number in tokenizer.get_vocab().items()}
    assert torch.equal(own["▁no"], trained.words.weight[4])
    assert torch.equal(own["[CLS]"], trained.words.weight[1])
    assert torch.equal(own["▁evet"], encoder.state["words.weight"][4])
    for name, value in trained.state_dict().items():
        if name != "words.weight":
            assert torch.equal(network.state_dict()[name], value), name
    # The letter that stands for the dotless i in labels is that letter in pieces.
    assert tokenise(tokenizer, ["ɨ"]) == [[tokenizer.token_to_id("▁"), tokenizer.token_to_id("ı")]]
