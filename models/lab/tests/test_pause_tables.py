"""How pauses are heard: each way makes rows of a table, which is all that a model's file has of it."""

from __future__ import annotations

import json
import lzma
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.registry import find_model
from models.lab.readers import Source, timed
from models.lab.recipe import LabRecipe

if TYPE_CHECKING:
    from torch import Tensor

    from models.lab.network import LabNetwork

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")

EDGES = (10, 20, 40, 400)
AVERAGED, EVERY = ("uniform", "gaussian"), ("bins", "uniform", "gaussian", "continuous")


def made(recipe: LabRecipe, **changes: Any) -> LabNetwork:
    """A small network that reads pauses as a recipe says, with something learnt for every bucket."""
    from cappunc_cli.features.train.network import initialise
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab import pause_tables
    from models.lab.network import Extras, LabNetwork

    torch.manual_seed(0)
    recipe = replace(recipe, pause_bins_ms=EDGES, **changes)
    shape = NetworkShape(vocabulary=50, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24)
    late = recipe.pause_fusion != "early"
    network = LabNetwork(replace(shape, pause_bins=len(EDGES) + 1), extras=Extras(late_pauses=late)).eval()
    initialise(network)
    pause_tables.encode(network, recipe)
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name.startswith("pauses") and name.endswith(("original", "weight")) and "hidden" not in name:
                value.normal_()
        for table in (network.pauses, network.pauses_late):
            if recipe.pause_encoding == "bins" and table is not None:
                table.weight[0] = 0
    return network


def states(network: LabNetwork, pauses: Tensor) -> Tensor:
    ids = torch.arange(3, 11)[None]
    with torch.no_grad():
        return network.encode(ids, torch.ones_like(ids), pauses, torch.zeros_like(ids))


@pytest.mark.parametrize("kind", AVERAGED)
def test_an_averaged_row_is_the_mean_of_those_around_it(recipe: LabRecipe, kind: str) -> None:
    network = made(recipe, pause_encoding=kind, pause_span=40)
    learnt = network.state_dict()["pauses.parametrizations.weight.original"]
    begins = [0, *EDGES]
    assert learnt.shape == network.pauses.weight.shape == (6, 16)
    for i, here in enumerate(begins):
        weights = [
            float(abs(there - here) <= 20) if kind == "uniform" else math.exp(-(((there - here) / 10) ** 2) / 2)
            for there in begins
        ]
        mean = sum(w * row for w, row in zip(weights, learnt[1:], strict=True)) / sum(weights)
        assert torch.allclose(network.pauses.weight[1 + i], mean, atol=1e-6), here
    assert not network.pauses.weight[0].any(), "an unknown pause adds nothing"


def test_neighbours_by_hand(recipe: LabRecipe) -> None:
    """Buckets at 0, 10, 20, 40 and 400 ms, all within 20 ms of each other count alike."""
    network = made(recipe, pause_encoding="uniform", pause_span=40)
    own = network.state_dict()["pauses.parametrizations.weight.original"][1:]
    rows = network.pauses.weight[1:]
    assert torch.allclose(rows[0], (own[0] + own[1] + own[2]) / 3, atol=1e-6)
    assert torch.allclose(rows[3], (own[2] + own[3]) / 2, atol=1e-6)
    assert torch.allclose(rows[4], own[4], atol=1e-6)


def test_a_continuous_row_is_a_function_of_the_logarithm(recipe: LabRecipe) -> None:
    network = made(recipe, pause_encoding="continuous")
    state, name = network.state_dict(), "pauses.parametrizations.weight"
    last, weight, bias = (state[f"{name}.{key}"] for key in ("original", "0.hidden.weight", "0.hidden.bias"))
    shares = [math.log(1 + ms) / math.log(401) for ms in (0, *EDGES)]
    read = network.pauses.parametrizations["weight"][0].pauses[:, 0].tolist()
    assert read == pytest.approx(shares)
    assert all(shorter < longer for shorter, longer in pairwise(read))
    for share, row in zip(shares, network.pauses.weight[1:], strict=True):
        units = (weight[:, 0] * share + bias).tolist()
        hidden = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in units]
        expected = sum(h * to for h, to in zip(hidden, last, strict=True))
        assert torch.allclose(row, expected, atol=1e-5)
    assert not network.pauses.weight[0].any(), "an unknown pause adds nothing"


@pytest.mark.parametrize("kind", EVERY)
def test_pauses_begin_without_a_say_and_learn(recipe: LabRecipe, kind: str) -> None:
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab import pause_tables
    from models.lab.network import LabNetwork

    shape = NetworkShape(vocabulary=50, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24, pause_bins=5)
    network = LabNetwork(shape)
    pause_tables.encode(network, replace(recipe, pause_bins_ms=EDGES, pause_encoding=kind))
    assert not network.pauses.weight.any()
    optimiser = torch.optim.SGD(network.pauses.parameters(), 1.0)
    ids = torch.arange(3, 11)[None]
    pauses = torch.arange(8)[None] % 6
    network(ids, torch.ones_like(ids), pauses, torch.zeros_like(ids))[1].square().sum().backward()
    optimiser.step()
    assert network.pauses.weight[1:].any(1).all()
    assert not network.pauses.weight[0].any()


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("fusion", ["early", "both"])
def test_a_settled_network_is_the_same_with_plain_rows(recipe: LabRecipe, kind: str, fusion: str) -> None:
    from models.lab import pause_tables
    from models.lab.network import Extras, LabNetwork

    network = made(recipe, pause_encoding=kind, pause_fusion=fusion)
    pauses = torch.tensor([[0, 1, 2, 3, 4, 5, 1, 0]])
    before = states(network, pauses)
    pause_tables.settle(network)
    plain = LabNetwork(network.shape, extras=Extras(late_pauses=fusion == "both")).eval()
    plain.load_state_dict(network.state_dict())
    assert torch.allclose(states(plain, pauses), before, atol=1e-6)
    assert not torch.allclose(states(plain, torch.zeros_like(pauses)), before, atol=0.1), "they are heard"


def test_late_pauses_say_nothing_of_other_words(recipe: LabRecipe) -> None:
    none, one = torch.zeros(1, 8, dtype=torch.int64), torch.tensor([[0, 0, 0, 4, 0, 0, 0, 0]])
    network = made(recipe, pause_fusion="late")
    with torch.no_grad():
        network.pauses.weight.zero_()  # as `network_of` has it
    assert network.pauses_late is not None
    apart = states(network, one) - states(network, none)
    assert torch.allclose(apart[0, 3], network.pauses_late.weight[4], atol=1e-5)
    assert not apart[0, [0, 1, 2, 4, 5, 6, 7]].any()
    early = made(recipe)
    apart = states(early, one) - states(early, none)
    assert (apart.abs().amax(-1) > 1e-3).all(), "attention carries it to every word"


@pytest.mark.parametrize("change", [{"pause_encoding": "buckets"}, {"pause_fusion": "middle"}])
def test_what_is_not_known_is_refused(recipe: LabRecipe, change: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"pause_encoding: one of bins, .* pause_fusion: one of early, late, both"):
        made(recipe, **change)


def test_edges_may_be_told_by_their_distance() -> None:
    toml = find_model("en-fast") / "train.toml"
    assert LabRecipe.load(toml, {"pause_bins_ms": {"every": 10, "until": 40}}).pause_bins_ms == (10, 20, 30, 40)
    assert LabRecipe.load(toml, {"pause_bins_ms": [150, 600]}).pause_bins_ms == (150, 600)


@pytest.fixture
def trained(recipe: LabRecipe, tiny_model: Path) -> LabRecipe:
    """A recipe of a small network, prepared on a timed text of which it can learn something."""
    from models.lab.prepare import prepare

    said = ["well", "we", "went", "home", "and", "then", "she", "came", "back", "to", "see"]
    words, clock = [], 0.0
    for i in range(1500):
        word, gap = said[i * 7 % len(said)], (0, 0.05, 0.3, 0)[i % 4]
        words.append([f"{word}." if gap > 0.1 else word, round(clock, 3), round(clock + 0.2, 3)])
        clock += 0.2 + gap
    text = json.dumps({"id": "a", "words": words})
    (recipe.data / "text.jsonl.xz").write_bytes(lzma.compress(text.encode()))
    corpora = {"text": Source("text.jsonl.xz", "", timed)}
    recipe = replace(
        recipe, tokenizer=tiny_model / "tokenizer.json", pieces=(32,), batch=256, tokens=4096, heldout=0.1,
        pause_bins_ms=tuple(range(10, 501, 10)), head_rate=1e-2, decoding={"languages": ["xx"]},
        network={"embedding": 16, "width": 32, "heads": 2, "layers": 1, "inner": 32, "positions": 128},
    )  # fmt: skip
    prepare(recipe, corpora)
    return recipe


def fed(recipe: LabRecipe) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    ids = rng.integers(5, 40, (3, 20))
    pauses = rng.integers(0, len(recipe.pause_bins_ms) + 2, ids.shape)
    return {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "pauses": pauses,
        "turns": np.zeros_like(ids),
        "lines": np.zeros_like(ids),
    }


def exported(recipe: LabRecipe, directory: Path, kind: Any) -> tuple[Any, list[np.ndarray]]:
    """The graph that training and `export` make of a recipe, and what the checkpoint's network says of `fed`."""
    import onnx

    from cappunc_cli.features.train.trainer import CHECKPOINT
    from models.lab.export import export
    from models.lab.trainer import network_of, train

    corpora = {"text": Source("text.jsonl.xz", "", timed)}
    train(recipe, torch.device("cpu"), corpora)
    directory.mkdir(exist_ok=True)
    export(recipe, directory, kind, corpora)
    network = network_of(recipe, torch.load(recipe.runs / CHECKPOINT)["network"]).eval()
    with torch.no_grad():
        said = network(*map(torch.from_numpy, fed(recipe).values()))
    return onnx.load(directory / "model.onnx"), [logits.numpy() for logits in said]


@pytest.mark.parametrize("kind", EVERY)
def test_the_file_says_what_the_network_says_and_has_plain_rows(trained: LabRecipe, tmp_path: Path, kind: str) -> None:
    import onnx
    import onnxruntime

    trained = replace(trained, pause_encoding=kind, pause_span=60)
    model, said = exported(trained, tmp_path / "out", "float32")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, theirs in zip(session.run(["case", "marks"], fed(trained)), said, strict=True):
        assert np.abs(ours - theirs).max() < 1e-4
    silent = fed(trained) | {"pauses": np.zeros((3, 20), np.int64)}
    assert np.abs(session.run(["marks"], silent)[0] - said[1]).max() > 0.05, "it has learnt to hear them"
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    assert stored["pauses.table"].shape == (len(trained.pause_bins_ms) + 2, 32)
    assert [name for name in stored if "pauses" in name] == ["pauses.table"]
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["pause_bins_ms"] == list(trained.pause_bins_ms)


@pytest.mark.parametrize("fusion", ["late", "both"])
def test_late_pauses_are_in_a_float32_file_and_refused_in_any_other(
    trained: LabRecipe, tmp_path: Path, fusion: str
) -> None:
    import onnx
    import onnxruntime

    from models.lab.export import export
    from models.lab.quantise import quantise

    trained = replace(trained, pause_fusion=fusion)
    model, said = exported(trained, tmp_path / "out", "float32")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, theirs in zip(session.run(["case", "marks"], fed(trained)), said, strict=True):
        assert np.abs(ours - theirs).max() < 1e-4
    tables = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    assert tables["pauses_late.table"].any(1)[1:].sum() > 5
    assert bool(tables["pauses.table"].any()) == (fusion == "both")

    (tmp_path / "shipped").mkdir()
    with pytest.raises(BadModel, match="only be exported in float32"):
        export(trained, tmp_path / "shipped", "blocks", {"text": Source("text.jsonl.xz", "", timed)})
    assert not list((tmp_path / "shipped").iterdir())
    with pytest.raises(BadModel, match="no products in 8 bits"):
        quantise(model, {})


def test_other_pauses_than_those_of_the_start_are_to_be_fresh(trained: LabRecipe, tmp_path: Path) -> None:
    from cappunc_cli.restoration.models.graph import build
    from models.lab.trainer import network_of

    torch.manual_seed(0)
    old = network_of(trained)
    torch.nn.init.ones_(old.pauses.weight)
    state = {name: value.numpy() for name, value in old.state_dict().items()}
    start = tmp_path / "old.onnx"
    start.write_bytes(build(state, old.shape, "float32", {}).SerializeToString())
    on = replace(trained, start=start, network={})
    assert torch.equal(network_of(on).pauses.weight, old.pauses.weight)
    late = network_of(replace(on, pause_fusion="both"))
    assert torch.equal(late.pauses.weight, old.pauses.weight)
    for changed in ({"pause_bins_ms": (100, 200)}, {"pause_encoding": "gaussian"}):
        with pytest.raises((BadModel, RuntimeError), match=r"pauses\.weight"):
            network_of(replace(on, **changed))
        fresh = network_of(replace(on, fresh=("pauses",), **changed))
        assert not fresh.pauses.weight.any()
        assert torch.equal(fresh.words.weight, old.words.weight)
        assert torch.equal(fresh.mark_in.weight, old.mark_in.weight)


def test_other_bins_begin_from_the_bare_encoder_all_the_same(
    recipe: LabRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    from models.lab import trainer

    bare = SimpleNamespace(state={"words.weight": torch.full((30522, 384), 2.0)})
    monkeypatch.setattr(trainer.encoders, "read", {"minilm": bare}.__getitem__)
    network = trainer.network_of(replace(recipe, pause_bins_ms=EDGES))
    assert (network.words.weight == 2).all()
    assert network.pauses.weight.shape == (len(EDGES) + 2, 384)
