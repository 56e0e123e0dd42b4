"""The data and the weights of the shipped models."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.dataset import Types, read_stream
from cappunc_cli.restoration.models.registry import find_model
from models.lab import results
from models.lab.corpora import CORPORA
from models.lab.readers import Source, timed
from models.lab.recipe import LabRecipe

TIMED = {
    "id": "a/1",
    "words": [["Hello,", 0.0, 0.4], ["Anna.", 0.5, 0.9], ["So", None, None], ["we", 2.5, 2.6], ["went.", 2.6, 3.0]],
    "spk": ["x", "x", "y", "y", "y"],
}


def test_timed_words_keep_their_pauses_and_turns(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl.xz").write_bytes(lzma.compress(json.dumps(TIMED).encode()))
    corpus = Source("t.jsonl.xz", "", timed, dialogue=True)
    stream = read_stream(corpus.corpus(tmp_path), Types())
    assert stream.pauses.tolist() == [100, -1, -1, 0, -1]
    assert np.flatnonzero(stream.turn_ends).tolist() == [1, 4]


def test_results_of_another_model_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "eval.json"
    assert results.kept(path, "one", "sets") == {}
    results.write(path, {**results.head("one"), "sets": {"é": 1}})
    assert results.kept(path, "one", "sets") == {"é": 1}
    assert results.kept(path, "two", "sets") == {}
    assert path.read_text("utf-8").splitlines()[-3:] == ['  "é": 1', " }", "}"]


def test_a_network_with_other_words_takes_all_else_from_another() -> None:
    torch = pytest.importorskip("torch")
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab.network import LabNetwork
    from models.lab.trainer import transplant

    torch.manual_seed(0)
    shape = NetworkShape(vocabulary=50, positions=32, embedding=64, width=64, heads=4, layers=3, inner=96, pause_bins=5)
    old = LabNetwork(shape)
    new = LabNetwork(replace(shape, vocabulary=90, embedding=16, positions=24, layers=2, around=2))
    torch.nn.init.normal_(old.pauses.weight)
    transplant(new, shape, old.state_dict())
    assert torch.equal(new.blocks[1].down.weight, old.blocks[1].down.weight)
    assert torch.equal(new.pauses.weight, old.pauses.weight)
    assert torch.equal(new.mark_out.weight, old.mark_out.weight)
    assert torch.equal(new.places.weight, old.places.weight[:24])
    assert not torch.equal(new.words.weight[1:51], old.words.weight[:, :16])
    same = LabNetwork(shape)
    transplant(same, shape, old.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(same.state_dict().values(), old.state_dict().values(), strict=True))


def test_weights_that_must_not_be_handed_on_do_not_get_among_the_models(recipe: LabRecipe) -> None:
    pytest.importorskip("torch")
    from models.lab.export import export

    models = find_model("en-fast").parent
    of_talks = replace(recipe, corpora={"changelog": 50, "ted": 50}, tokenizer=find_model("en-fast") / "tokenizer.json")
    with pytest.raises(BadModel, match="trained on ted must not be shipped"):
        export(of_talks, models / "en-ted")


def test_shipped_models_learnt_only_from_what_may_be_handed_on() -> None:
    for config in find_model("en-fast").parent.glob("*/config.json"):
        shipped = LabRecipe.load(config.with_name("train.toml"))
        assert [name for name in shipped.texts() if name not in CORPORA or not CORPORA[name].ships] == []


def test_a_model_that_goes_on_from_its_own_weights_keeps_the_counts_of_its_words(recipe: LabRecipe) -> None:
    from models.lab.arrays import load_lexicon

    folders = {"counted": "[en]\t5\t3\t1\t1\nnato\t0\t0\t3", "arrays": "NATO"}
    for name, text in folders.items():
        (recipe.data / name).mkdir()
        (recipe.data / name / "lexicon.txt").write_text(text, "utf-8")
    fresh = replace(recipe, prepared=recipe.data / "arrays", tokenizer=recipe.data / "counted" / "tokenizer.json")
    assert load_lexicon(fresh) == ["NATO"]
    assert load_lexicon(replace(fresh, start=recipe.data / "other" / "model.onnx")) == ["NATO"]
    own = replace(fresh, start=recipe.data / "counted" / "model.onnx")
    assert load_lexicon(own) == ["[en]\t5\t3\t1\t1", "nato\t0\t0\t3"]


def test_averaging_goes_half_way() -> None:
    torch = pytest.importorskip("torch")
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab.export import average
    from models.lab.network import LabNetwork

    shape = NetworkShape(vocabulary=50, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24, pause_bins=5)
    one, other = LabNetwork(shape), LabNetwork(shape)
    before = one.blocks[0].up.weight.clone()
    average(one, other.state_dict(), 0.5)
    assert torch.allclose(one.blocks[0].up.weight, (before + other.blocks[0].up.weight) / 2)
    assert torch.equal(other.blocks[0].up.weight, other.state_dict()["blocks.0.up.weight"])
