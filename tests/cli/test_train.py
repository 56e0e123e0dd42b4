"""cappunc train: what it refuses, and one small model from nothing to a restored file."""

from __future__ import annotations

import json
import lzma
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.labels import strip
from cappunc_cli.errors import CappuncError, install_extra
from cappunc_cli.features.train.command import processor
from cappunc_cli.features.train.corpora import read_texts
from cappunc_cli.features.train.options import TrainOptions, language_code
from cappunc_cli.features.train.recipe import custom_recipe
from cappunc_cli.restoration.models.registry import ModelConfig, find_model

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "onnx")), reason="needs the extra [train]"
)


def run(*arguments: str | Path) -> str:
    """The one line that the command fails with."""
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    assert isinstance(result.exception, CappuncError), result.output
    return str(result.exception)


def text_of(words: int) -> str:
    rng = random.Random(1)
    names, verbs, things = ["Anna", "Karl"], ["sees", "takes"], ["the door", "a cup", "the long road"]
    lines, count = [], 0
    while count < words:
        line = f"{rng.choice(names)} {rng.choice(verbs)} {rng.choice(things)}, and then {rng.choice(things)}."
        lines.append(line)
        count += len(line.split())
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lang", "xx", "-o", "m"), "name texts to train on"),
        *(
            (("--lang", "xx", "-o", "m", "--device", device), f"unknown device {said}; use auto, cpu or cuda[:N]")
            for device, said in (
                ("tensorrt", "'tensorrt'"),
                ("cuda:", "'cuda:' (did you mean cuda?)"),
                ("cuda:-1", "'cuda:-1'"),
                ("gpu", "'gpu' (did you mean cpu?)"),
                ("", "''"),
            )
        ),
        (("--lang", "auto", "a.txt", "-o", "m"), "is not a language code"),
        (("--lang", "Klingonese", "a.txt", "-o", "m"), "is not a language code"),
        (("--lang", "zh-Hans", "a.txt", "-o", "m"), "is written without spaces between words"),
        (("--lang", "fr", "", "-o", "m"), "the name is empty"),
        (("--lang", "fr", "a.txt", "-o", ""), "the name is empty"),
        (("--lang", "fr", "a.txt", "--timed", "", "-o", "m"), "the name is empty"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["train", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", "").split())
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["fr", "FR", "fr-FR", "fr_CA.UTF-8"])
def test_a_model_is_for_the_code_that_fix_looks_for(name: str) -> None:
    assert language_code(name) == "fr"


@needs_torch
@pytest.mark.parametrize(
    ("device", "cards", "expected"),
    [
        ("auto", 0, "cpu"),
        ("auto", 2, "cuda:0"),
        ("cpu", 2, "cpu"),
        ("cuda", 1, "cuda:0"),
        ("cuda:1", 2, "cuda:1"),
        ("cuda", 0, None),
        ("cuda:1", 1, None),
    ],
)
def test_devices_are_named_as_in_fix(
    device: str, cards: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: cards > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cards)
    if expected is None:
        with pytest.raises(CappuncError, match="is not available"):
            processor(device)
    else:
        assert processor(device) == expected


def test_without_torch_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = lambda name: None if name == "torch" else object()  # noqa: E731
    monkeypatch.setattr("cappunc_cli.features.train.command.find_spec", find)
    (tmp_path / "a.txt").write_text("A b.\n", encoding="utf-8")
    assert run("--lang", "xx", tmp_path / "a.txt", "-o", tmp_path / "m") == (
        f"training needs torch: {install_extra('train')}"
    )


@needs_torch
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("few.txt -o m", "are too few to learn from"),
        ("bare.txt -o m", "hardly any marks"),
        ("loud.txt -o m", "most of the text is in capitals"),
        ("few.txt -o made", "already contains a model"),
        ("own/training/good.txt -o own", "is not empty"),
        ("none.txt -o m", "no such file"),
        ("own -o m", "is a directory"),
        ("few.txt --timed own/../few.txt -o m", "is named twice"),
        ("--timed good.txt -o m", "good.txt: has no times"),
        ("picture.txt -o m", "picture.txt:"),
        ("few.txt.xz -o m", "few.txt.xz:"),
        ("cut.json -o m", "cut.json:"),
    ],
)
def test_texts_and_folders_that_do_not_serve_are_refused(
    call: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"few.txt": text_of(10), "bare.txt": "and so it went on " * 2000, "good.txt": text_of(4000)}
    files |= {"loud.txt": text_of(4000).upper(), "own/training/good.txt": text_of(4000), "made/config.json": "{}"}
    files |= {"picture.txt": "\x89PNG\r\n\0\0\0\xff", "few.txt.xz": "hello", "cut.json": '{"a": '}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content.encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    assert said in run("--lang", "xx", *call.split())
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == files.keys()
    assert not (tmp_path / "m").exists()


@needs_torch
@pytest.mark.parametrize(
    ("recorded", "other"),
    [
        ({"language": "yy", "from": None, "text": ""}, "language"),
        ({"language": "xx", "from": "en-fast", "text": ""}, "from"),
        ({"language": "xx", "from": None, "text": "0"}, "text"),
    ],
)
def test_a_run_is_not_resumed_with_another_order(recorded: dict[str, str | None], other: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text_of(4000), encoding="utf-8")
    order = tmp_path / "m" / "training" / "order.json"
    order.parent.mkdir(parents=True)
    order.write_text(json.dumps(recorded), "utf-8")
    assert f"unfinished run with another {other}" in run("--lang", "xx", tmp_path / "a.txt", "-o", tmp_path / "m")


def test_an_adapted_model_decodes_as_the_one_it_comes_from(tmp_path: Path) -> None:
    order = TrainOptions("en", str(tmp_path / "board"), start="en-fast", licence="CC0-1.0")
    decoding = custom_recipe(order, tmp_path, 20_000, ["text"]).decoding
    whole = json.loads((find_model("en-fast") / "config.json").read_text("utf-8"))
    for name in ("window", "overlap", "min_words_cut", "end_share", "bias", "consistency"):
        assert decoding[name] == whole[name]
    assert (decoding["name"], decoding["languages"]) == ("board", ["en"])
    assert decoding["licence"] == f"{whole['licence']}; CC0-1.0"


def test_text_is_decoded_as_fix_does(tmp_path: Path) -> None:

    said = "«Où est-il allé ?» dit Anaïs à l’aîné. Elle préfère déjà l’été."
    (tmp_path / "a.txt").write_bytes(f"{said}\r\n\r\nEt après\u2028cela ?\r\n".encode("utf-16"))
    (tmp_path / "b.srt").write_bytes(f"1\r\n00:00:01,000 --> 00:00:02,000\r\n{said}\r\n".encode("cp1252"))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(said.encode() + b" \xe9\n"))
    files = tuple(tmp_path / name for name in ("a.txt", "b.srt", "c.txt.xz"))
    found = read_texts(files, ())
    assert [turn.text for turn in found["text"]] == [said, "Et après\u2028cela ?", said, said]


def test_pauses_are_learnt_from_timed_files_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nYes.\n\n2\n00:00:02,700 --> 00:00:03,000\nNo.\n", "utf-8")
    found = read_texts([path], [path])
    for name, expected in (("timed", [700, None]), ("text", None)):
        (turn,) = found[name]
        assert (turn.text, turn.pauses) == ("Yes. No.", expected)


@needs_torch
def test_ctrl_c_says_how_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cappunc_cli.features.train.custom_model.build_custom_model", build)
    (tmp_path / "a.txt").write_text(text_of(10), encoding="utf-8")
    result = CliRunner().invoke(app, ["train", "--lang", "fr", str(tmp_path / "a.txt"), "-o", str(tmp_path / "m")])
    assert result.exit_code == 130
    assert result.output == "cappunc: stopped: nothing was trained yet; run the same command again to resume\n"


@needs_torch
@pytest.mark.slow
def test_ctrl_c_saves_progress(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text_of(4000), encoding="utf-8")
    model = tmp_path / "m"
    # Each step is saved, so that it is known when there is something to keep.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "; from cappunc_cli.cli.main import main"
    code += "; from cappunc_cli.features.train import trainer; trainer.SAVE_EVERY = 0.0"
    asked = ["train", "--lang", "fr", str(tmp_path / "a.txt"), "-o", str(model), "--pieces", "90000000"]

    def saved() -> set[int]:
        return {path.stat().st_mtime_ns for path in model.rglob("checkpoint.pt")}

    for begun in (False, True):
        before = saved()
        command = [sys.executable, "-c", f"{code}; main()", *asked]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and saved() == before:
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1].splitlines()
        assert process.returncode == 130, said
        assert said[-1] == "cappunc: stopped: progress is saved; run the same command again to resume"
        assert any("going on" in line for line in said) == begun


@needs_torch
@pytest.mark.slow
def test_from_text_to_a_model_that_fix_takes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text_of(4000), encoding="utf-8")
    model = tmp_path / "m"
    result = CliRunner().invoke(
        app, ["train", "--lang", "xx", str(tmp_path / "a.txt"), "-o", str(model), "--pieces", "8192"]
    )
    assert result.exit_code == 0, result.output
    assert {path.name for path in model.iterdir()} >= {"model.onnx", "tokenizer.json", "config.json", "eval.json"}
    assert not (model / "training").exists()
    assert ModelConfig.load(model).languages == ("xx",)
    scores = json.loads((model / "eval.json").read_text("utf-8"))["scores"]
    assert f"held-out end: marks , . ? {100 * scores['micro']['f1']:.1f}" in result.output
    again = CliRunner().invoke(app, ["eval", "--model", str(model), "--ref", str(model / "heldout.txt"), "--json"])
    assert json.loads(again.stdout)["scores"] == scores
    assert CliRunner().invoke(app, ["models", "check", str(model)]).exit_code == 0
    (tmp_path / "b.txt").write_text("anna takes a cup and then the door\n", encoding="utf-8")
    fixed = CliRunner().invoke(app, ["fix", "--model", str(model), str(tmp_path / "b.txt"), "-o", "-"])
    words = [strip(word)[0] for word in fixed.stdout.split()]
    assert words == ["anna", "takes", "a", "cup", "and", "then", "the", "door"]
