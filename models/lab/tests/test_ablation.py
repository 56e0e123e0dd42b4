"""Rows of an ablation: what they change, that they train and are scored, and their tables on the card."""

from __future__ import annotations

import json
import lzma
import random
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx")

import torch

from models.lab import ablation, card, prepare, results
from models.lab.corpora import CORPORA
from models.lab.readers import Source, paragraphs, timed
from models.lab.recipe import LabRecipe

RECIPE = """
name = "t"
data = "data"
runs = "runs/t"
tokenizer = "runs/t/tokenizer.json"
start = ""
pieces = [32]
batch = 128
tokens = 12_800
encoder_rate = 1e-3
head_rate = 1e-3
warmup = 0.1
decay = 0.9
case_weight = 0.5
noise = 0.3
noise_rate = 0.1
pauses = 0.0
turns = 0.0
edge = 2
edge_weight = 0.5
heldout = 0.2
pause_bins_ms = [100, 1000]
seed = 1
vocabulary = 60
network = { embedding = 16, width = 32, heads = 2, layers = 1, inner = 32, positions = 128, pause_bins = 3 }
[corpora]
t = 1
[decoding]
languages = ["xx"]
licence = ""
window = 20
overlap = 4
min_words_cut = 1
bias = { "." = 2.0 }
[evaluation]
"""
ABLATION = """
about = "It is a small one."
[base]
start = ""
tokens = 384
decoding = { bias = {} }
[sets]
"text" = ["t.txt"]
[heldout]
corpora = ["t"]
words = 50
[rows]
"all parts" = {}
"heads side by side" = { soft_case = false }
[decodings]
"with a chain" = { chain = ["t"] }
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ablation.toml in a project whose one corpus is prepared."""
    text = "Anna sees the door, and then a cup. Karl takes it! Does he?\n" * 60
    for folder in ("data", "models/t"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data" / "t.txt.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "data" / "t.txt").write_text(text[:600], "utf-8")
    (tmp_path / "models" / "t" / "train.toml").write_text(RECIPE, "utf-8")
    path = tmp_path / "models" / "t" / "ablation.toml"
    path.write_text(ABLATION, "utf-8")
    monkeypatch.delenv("CAPPUNC_DATA", raising=False)
    monkeypatch.setitem(CORPORA, "t", Source("t.txt.xz", "", paragraphs))
    prepare.prepare(LabRecipe.load(path.parent / "train.toml"))
    return path


def test_rows_train_are_scored_and_stay(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ablation.ablate(table, [])
    written = table.with_suffix(".json")
    report = json.loads(written.read_text("utf-8"))
    assert list(report["rows"]) == ["all parts", "heads side by side", "with a chain"]
    whole, apart, chained = report["rows"].values()
    assert whole["pieces"] == apart["pieces"] == 384
    assert 0 < whole["minutes"] + 0.1 < 1
    assert len({row["model"] for row in (whole, apart)}) == 2
    assert chained["model"] == whole["model"]
    assert whole["sets"]["text"]["words"]["reference"] == chained["sets"]["text"]["words"]["reference"] > 100
    assert (
        whole["sets"]["text"]["command"] == "python -m models.lab.variants --model all-parts --ref $DATA/t.txt --json"
    )

    ends = [row["sets"][ablation.HELDOUT] for row in (whole, chained)]
    assert ends[0]["words"]["reference"] == ends[1]["words"]["reference"] == 50
    assert ends[0]["command"] == "python -m models.lab.variants --model all-parts --ref HELDOUT --json"

    runs = table.parents[2] / "runs" / "ablation"
    assert {path.name.rpartition("-")[0] for path in runs.iterdir()} == {"all-parts", "heads-side-by-side"}
    weights = {
        path.name.rpartition("-")[0]: torch.load(path / "checkpoint.pt")["network"]["soft_case.weight"]
        for path in runs.iterdir()
    }
    assert weights["all-parts"].abs().sum() > 0
    assert weights["heads-side-by-side"].abs().sum() == 0

    page = ablation.page(table)
    assert "384 pieces from\nnothing, 0 to 0 minutes on " in page
    assert "It is a small one.\nThe last 1 are the network of the first row" in page
    assert page.count("| heads side by side |") == 3, "marks, all marks, capitals"

    monkeypatch.setattr(ablation, "train", lambda *_: pytest.fail("it stands there already"))
    ablation.ablate(table, [])
    with pytest.raises(SystemExit, match="unknown row 'no such'; choose from all parts, heads"):
        ablation.ablate(table, ["no such"])

    # Another seed for all: nothing that stood there is comparable any more.
    table.write_text(ABLATION.replace("tokens = 384", "tokens = 384\nseed = 2"), "utf-8")
    trained: list[str] = []
    monkeypatch.setattr(ablation, "_measured", lambda row, *_: trained.append(row.recipe.name) or whole)
    ablation.ablate(table, ["heads side by side"])
    assert trained == ["heads-side-by-side"]
    assert list(json.loads(written.read_text("utf-8"))["rows"]) == ["heads side by side"]


def test_a_row_changes_what_it_names_and_nothing_else(table: Path) -> None:
    recipe = LabRecipe.load(table.parent / "train.toml")
    rows = ablation.rows_of(table)
    whole, apart = rows["all parts"].recipe, rows["heads side by side"].recipe
    assert (whole.tokens, whole.seed, whole.soft_case, apart.soft_case) == (384, recipe.seed, True, False)
    assert whole.decoding == {**recipe.decoding, "bias": {}}
    assert whole.arrays() == apart.arrays() == recipe.arrays()
    assert whole.runs != apart.runs
    assert rows["with a chain"].recipe == whole
    assert ablation.training_of(whole) == ablation.training_of(
        LabRecipe.load(table.parent / "train.toml", {"tokens": 384})
    )


def test_arrays_that_only_a_row_names_are_prepared(table: Path) -> None:
    folder = table.parents[2] / "runs" / "other"
    own = '"other pieces" = { tokenizer = "runs/other/tokenizer.json", prepared = "runs/other/data", vocabulary = 50 }'
    table.write_text(ABLATION.replace('"heads side by side" = { soft_case = false }', own), "utf-8")
    ablation.ablate(table, ["other pieces"])
    row = json.loads(table.with_suffix(".json").read_text("utf-8"))["rows"]["other pieces"]
    assert row["sets"]["text"]["words"]["reference"] > 100
    made = {path.name for path in (folder / "data").iterdir()}
    assert made >= {"t.npz", "vocabulary.npz"}
    assert len(json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]) <= 50


def test_fresh_parts_do_not_begin_as_in_the_start(table: Path, tmp_path: Path) -> None:
    from cappunc_cli.restoration.models.graph import build
    from models.lab.trainer import network_of

    recipe = LabRecipe.load(table.parent / "train.toml")
    torch.manual_seed(1)
    old = network_of(recipe)
    torch.nn.init.ones_(old.pauses.weight)
    state = {name: value.numpy() for name, value in old.state_dict().items()}
    (tmp_path / "old.onnx").write_bytes(build(state, old.shape, "float32", {}).SerializeToString())
    on = {"start": str(tmp_path / "old.onnx"), "network": {}, "vocabulary": 0}
    same = network_of(LabRecipe.load(table.parent / "train.toml", on))
    new = network_of(LabRecipe.load(table.parent / "train.toml", on, {"fresh": ["pauses", "case"]}))
    assert torch.equal(same.pauses.weight, old.pauses.weight)
    assert torch.equal(same.case.weight, old.case.weight)
    assert not new.pauses.weight.any()
    assert not torch.equal(new.case.weight, old.case.weight)
    assert torch.equal(new.mark_in.weight, old.mark_in.weight)
    assert torch.equal(new.blocks[0].up.weight, old.blocks[0].up.weight)


def test_held_out_ends_are_scored_with_their_pauses_and_without(table: Path) -> None:
    # Whatever the words, a long pause says that a sentence ends: a network that hears it finds all ends.
    words, speakers, clock = [], [], 0.0
    chance = random.Random(0)
    for _ in range(2000):
        ends = chance.random() < 0.3
        words.append(["door." if ends else "door", clock, clock + 0.2])
        speakers.append("x")
        clock += 1.7 if ends else 0.2
    document = json.dumps({"id": "a", "words": words, "spk": speakers})
    (table.parents[2] / "data" / "t.jsonl.xz").write_bytes(lzma.compress(document.encode()))
    CORPORA["t"] = Source("t.jsonl.xz", "", timed)  # which the fixture puts back
    named = """
[heldout."with pauses"]
corpora = ["t"]
words = 300
timed = true
[heldout."pauses hidden"]
corpora = ["t"]
words = 300
timed = true
options = ["--no-pauses"]
[heldout."as text"]
corpora = ["t"]
words = 300
[rows]
"hears" = { pauses = 1.0, tokens = 25_600, head_rate = 1e-2 }
"""
    table.write_text(ABLATION[: ABLATION.index("[sets]")] + named, "utf-8")
    prepare.prepare(LabRecipe.load(table.parent / "train.toml"))
    ablation.ablate(table, [])
    sets = json.loads(table.with_suffix(".json").read_text("utf-8"))["rows"]["hears"]["sets"]
    assert list(sets) == ["with pauses", "pauses hidden", "as text"]
    assert {found["words"]["reference"] for found in sets.values()} == {300}
    assert sets["with pauses"]["period"] > 0.95
    assert sets["pauses hidden"]["period"] < 0.7
    assert "pauses:yes" in sets["with pauses"]["signature"]
    assert (
        sets["pauses hidden"]["command"]
        == "python -m models.lab.variants --model hears --ref HELDOUT --no-pauses --json"
    )


def test_the_card_has_the_tables(tmp_path: Path) -> None:
    def row(micro: float, case: float, minutes: float) -> dict[str, Any]:
        sets = {"talks": {"micro": micro}, "calls": {"micro": micro + 0.1, "case": case}}
        return {"pieces": 1_200_960, "minutes": minutes, "hardware": "a machine", "sets": sets}

    folder = tmp_path / "lab" / "t"
    folder.mkdir(parents=True)
    (folder / "ablation.toml").write_text('[base]\nstart = "x/warm.safetensors"\n', "utf-8")
    rows = {"all parts": row(0.6, 0.8, 6.2), "no errors": row(0.59, 0.805, 7.4)}
    results.write(folder / "ablation.json", {"command": "python -m it", "rows": rows})
    page = ablation.page(folder / "ablation.toml")
    assert "1,200,960 pieces from\nwarm.safetensors, 6 to 7 minutes on a machine." in page
    assert "The last" not in page, "nothing is decoded otherwise"
    assert page.splitlines()[-13:] == [
        "Micro-F1 over `, . ?`:",
        "",
        "|  | talks | calls |",
        "| --- | ---: | ---: |",
        "| all parts | 60.0 | 70.0 |",
        "| no errors | 59.0 (-1.0) | 69.0 (-1.0) |",
        "",
        "F1 of capitals:",
        "",
        "|  | calls |",
        "| --- | ---: |",
        "| all parts | 80.0 |",
        "| no errors | 80.5 (+0.5) |",
    ]
    assert card.studies(tmp_path / "t") == page


@pytest.mark.parametrize("name", ["ablation", "crf-ablation", "encoders-ablation", "pauses-ablation"])
def test_the_english_rows_are_fields_of_the_recipe(name: str) -> None:
    toml = Path(ablation.__file__).parent / "en-fast" / f"{name}.toml"
    table = tomllib.loads(toml.read_text("utf-8"))
    known = {field.name for field in fields(LabRecipe)}
    for name, changed in {"base": table["base"], **table["rows"]}.items():
        assert changed.keys() <= known, name
    rows = ablation.rows_of(toml)
    assert len({row.recipe.runs for row in rows.values()}) == len(table["rows"]), "no two rows train alike"
    for ends in ablation.heldout_sets(table).values():
        assert set(ends.corpora) <= next(iter(rows.values())).recipe.corpora.keys()
    for name in table.get("decodings", {}):
        assert set(rows[name].chain) <= rows[name].recipe.corpora.keys()
        assert bool(rows[name].chain) != bool(rows[name].options)


def test_transitions_learnt_with_the_network_are_those_that_decode(table: Path, tmp_path: Path) -> None:
    from cappunc_cli.features.train.trainer import CHECKPOINT
    from models.lab.export import export
    from models.lab.trainer import train

    recipe = LabRecipe.load(table.with_name("train.toml"), {"tokens": 1280, "crf": 0.5})
    train(recipe, torch.device("cpu"))
    learnt = torch.load(recipe.runs / CHECKPOINT)["network"]["crf"]
    assert learnt.abs().max() > 1e-3
    (directory := tmp_path / "exported").mkdir()
    export(recipe, directory, "float32")
    crf = json.loads((directory / "config.json").read_text("utf-8"))["crf"]
    assert torch.allclose(torch.tensor(crf, dtype=torch.float32), learnt, atol=1e-6)
