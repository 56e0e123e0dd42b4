from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.labels import PairedMark
from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import (
    ENGINES,
    ModelConfig,
    find_model,
    find_model_for,
    installed,
    model_folders,
    verify_model,
)

TINY = Path(__file__).parents[2] / "tiny_model"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "copy"))


def change(directory: Path, **values: object) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_tiny_model_is_what_its_script_makes(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make_tiny_model = pytest.importorskip("make_tiny_model")
    make_tiny_model.make(tmp_path)
    assert onnx.load(tmp_path / "model.onnx").graph == onnx.load(TINY / "model.onnx").graph
    for name in ("tokenizer.json", "lexicon.txt"):
        assert (tmp_path / name).read_text() == (TINY / name).read_text()


def test_config_is_read(model: Path) -> None:
    config = ModelConfig.load(TINY)
    assert (config.window, config.overlap, config.min_words_cut) == (24, 8, 2)
    assert config.around == ()
    change(model, around=["–", "¿"], bias={"¿": 0.5})
    config = ModelConfig.load(model)
    assert config.around == (PairedMark.OPEN_DASH, PairedMark.OPEN_QUESTION)
    assert config.bias == {"¿": 0.5}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cases": ["lower"]}, r'cases: must be \["lower", "capital", "upper", "mixed"\]'),
        ({"marks": [",", "."]}, r'marks: must be \["", ",", '),
        ({"marks": "none"}, "marks: must be a list"),
        ({"overlap": 24}, "overlap must be"),
        ({"min_words_cut": 9}, "at most the overlap"),
        ({"window": "24"}, "window: must be a whole number"),
        ({"window": True}, "window: must be a whole number"),
        ({"max_pieces": 8}, "max_pieces: must be at least"),
        ({"pause_bins_ms": [300, 100]}, "must be in ascending order"),
        ({"languages": []}, "languages: must name"),
        ({"bias": {"#": 1}}, "bias: '#' is no mark"),
        ({"bias": {",": float("nan")}}, "bias: must be below"),
        ({"bias": {",": 10**400}}, "bias: must be below"),
        ({"pause_bins_ms": [10**30]}, "pause_bins_ms: must be below"),
        ({"files": ["a"]}, "files: must be an object"),
        ({"around": {"¿": 1}}, "around: must be a list"),
        ({"consistency": 2}, "consistency: must be between 0 and 1"),
        ({"around": ["«"]}, "around: unknown '«'"),
        ({"around": ["¿", "¿"]}, "around: a label is listed twice"),
        ({"around": ["“"]}, "around: must name both quotation marks"),
        ({"ensemble": {"../../x": 0.5}}, "ensemble: names no folders"),
        ({"ensemble": {"/tmp": 0.5}}, "ensemble: names no folders"),
        ({"ensemble": {"..": 0.5}}, "ensemble: names no folders"),
        ({"ensemble": {"": 0.5}}, "ensemble: names no folders"),
    ],
)
def test_a_bad_config_is_refused(model: Path, values: dict[str, object], message: str) -> None:
    change(model, **values)
    with pytest.raises(BadModel, match=message) as caught:
        ModelConfig.load(model)
    assert caught.value.path == str(model / "config.json")


def test_a_missing_field_or_file_is_named(model: Path) -> None:
    (model / "config.json").write_text('{"cases": ["lower", "capital"]}')
    with pytest.raises(BadModel, match="marks is missing"):
        ModelConfig.load(model)
    (model / "config.json").unlink()
    with pytest.raises(BadModel, match=r"no readable config\.json"):
        ModelConfig.load(model)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("config.json", text) for text in (b"{", b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe{}", b"\x80")),
        *((name, b"\xff\xfe\x00garbage\x80") for name in ("lexicon.txt", "tokenizer.json", "model.onnx")),
    ],
    # The name of the test is in the environment of every process that it starts, which has room for 128 KB.
    ids=lambda value: value[:8].hex() if isinstance(value, bytes) else value,
)
def test_a_file_of_other_bytes_gives_one_line(model: Path, name: str, content: bytes) -> None:
    (model / name).write_bytes(content)
    with pytest.raises(BadModel, match="not JSON" if name == "config.json" else None) as caught:
        load_model(model, "cpu")
    assert str(model / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_find_by_name_and_by_path(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPPUNC_MODELS", str(model.parent))
    assert model in installed()
    assert find_model("copy") == model
    assert find_model(str(TINY)) == TINY
    with pytest.raises(BadModel, match=r"no model 'nonesuch' \(installed: .*copy"):
        find_model("nonesuch")
    # The first of two models with one name wins.
    first = shutil.copytree(model, model.parent / "other" / "copy")
    monkeypatch.setenv("CAPPUNC_MODELS", f"{first.parent}:{model.parent}")
    assert find_model("copy") == first
    assert [path for path in installed() if path.name == "copy"] == [first]


def test_verify_compares_every_file(model: Path) -> None:
    verify_model(model)
    (model / "lexicon.txt").write_text("iPod\n")
    with pytest.raises(BadModel, match="not the file"):
        verify_model(model)
    (model / "lexicon.txt").unlink()
    with pytest.raises(BadModel, match=r"not in the folder: 'lexicon\.txt'"):
        verify_model(model)
    change(model, files={"/dev/zero": "0"})
    with pytest.raises(BadModel, match="not in the folder: '/dev/zero'"):
        verify_model(model)
    change(model, files={})
    with pytest.raises(BadModel, match="lists no files"):
        verify_model(model)


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_what_its_entry_says(name: str) -> None:
    kind = ENGINES[name]
    directory = next((path for path in installed(name) if (path / kind.weights).is_file()), None)
    if directory is None:
        pytest.skip(f"no model for {name} is trained yet")
    opened = load_model(str(directory), "cpu", engine=name).engine
    assert kind.weights in opened.config.files
    assert any(opened.lexicons[opened.config.languages[0]].forms())


def test_an_unknown_engine_is_refused() -> None:
    result = CliRunner().invoke(app, ["fix", "--engine", "abacus", "a.txt"])
    assert result.exit_code == 2
    assert f"must be one of {', '.join(ENGINES)}, not 'abacus'" in " ".join(result.output.split())


@pytest.mark.parametrize("directory", installed(), ids=lambda path: path.name)
def test_every_installed_model_is_complete(directory: Path) -> None:
    if not (directory / "model.onnx").is_file():
        pytest.skip(f"{directory.name} is not trained yet")
    verify_model(directory)
    assert {"model.onnx", "tokenizer.json", "lexicon.txt"} <= set(ModelConfig.load(directory).files)
    assert (directory / "CARD.md").is_file()


def test_a_language_with_two_models_has_a_best_and_a_fast_one() -> None:
    names = {path.name for path in installed()}
    if not {"en", "en-fast", "multi", "multi-fast"} <= names:
        pytest.skip("the shipped models are not here")
    assert find_model_for("en").name == "en"
    assert find_model_for("en", fast=True).name == "en-fast"
    assert find_model_for("es").name == "multi"
    assert find_model_for("es", fast=True).name == "multi-fast"
    assert find_model_for("fr", fast=True).name == "multi", "a language without a fast model has its only one"
    named = ("en", "en-fast", "multi", "multi-fast")
    sizes = {name: (find_model(name) / "model.onnx").stat().st_size for name in named}
    assert sizes["en-fast"] * 3 < sizes["en"] < 95_000_000
    assert sizes["multi-fast"] * 2 < sizes["multi"] < 45_000_000


def test_model_wheels_are_found_where_the_package_has_no_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (info := site / "cappunc_model_xx-1.dist-info").mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cappunc-model-xx\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[cappunc.models]\nxx = cappunc_model_xx\n")
    (site / "cappunc_model_xx").mkdir()
    (site / "cappunc_model_xx/__init__.py").touch()
    monkeypatch.syspath_prepend(site)
    assert model_folders(tmp_path / "cappunc_cli") == [site / "cappunc_model_xx"]
    (tmp_path / "cappunc_cli/_models").mkdir(parents=True)
    assert model_folders(tmp_path / "cappunc_cli") == [tmp_path / "cappunc_cli/_models"]
