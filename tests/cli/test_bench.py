"""`cappunc bench`: its input, its stages, its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli import formats
from cappunc_cli.cli.main import app
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.command import STAGES, best_of, measure

TINY = Path(__file__).parents[1] / "tiny_model"


def test_the_input_is_the_same_at_every_call_and_both_files_have_its_words() -> None:
    words = sample_text.sample_words(TINY, 500)
    assert words == sample_text.sample_words(TINY, 500)
    assert len(words) == 500
    srt = formats.read(sample_text.srt(words), "talk.srt")
    timed = formats.read(sample_text.whisper_json(words), "talk.json")
    assert [w.text for w in srt.words] == [w.text for w in timed.words] == words
    assert srt.notices == ()
    assert all(word.start is not None and word.end is not None for word in timed.words)
    starts = [word.start for word in srt.words if word.start is not None]
    assert starts == sorted(set(starts))


def test_a_model_without_a_vocabulary_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {"vocab": {"##x": 0}}}')
    with pytest.raises(BadModel, match="has no vocabulary"):
        sample_text.sample_words(tmp_path, 5)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"text":', "talk.srt:1: broken JSON: "),
        (b"\0\xff\xfe\x80\0\0", "talk.srt: is not a text file"),
        (b"PK\x03\x04 a zip file", "talk.srt: "),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(data)
    run = CliRunner().invoke(app, ["bench", str(path), "--model", str(TINY), "--device", "cpu"])
    assert isinstance(run.exception, CappuncError)
    assert str(run.exception).startswith(f"{tmp_path}/{said}")


def test_a_file_in_another_encoding_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes("1\n00:00:01,000 --> 00:00:03,000\nçà et là\n".encode("utf-16"))
    assert measure(str(path), str(TINY), "cpu", 1, 1)["inputs"]["talk.srt"]["words"] == 3


def test_the_fastest_run_counts() -> None:
    runs = iter([(1, {"a": 2.0}), (1, {"a": 1.0}), (1, {"a": 3.0})])
    assert best_of(3, lambda: next(runs)) == (1, {"a": 1.0})


def test_the_report_as_json_and_as_a_table() -> None:
    arguments = ["bench", "--model", str(TINY), "--repeat", "1", "--device", "cpu"]
    run = CliRunner().invoke(app, [*arguments, "--words", "200", "--json"])
    assert run.exit_code == 0, run.output
    report = json.loads(run.stdout)
    assert set(report["inputs"]) == {"talk.srt", "talk.json"}
    assert report["device"] == "cpu"
    for found in report["inputs"].values():
        assert found["words_per_second"] == pytest.approx(200 / found["seconds"], rel=0.1)
        assert tuple(found["shares"]) == STAGES
        assert sum(found["shares"].values()) == pytest.approx(1, abs=0.001)
        assert min(found["shares"].values()) > 0
    assert report["start"]["seconds"]["fix"] > 0
    assert report["hardware"]["cores"] >= 1
    own = CliRunner().invoke(
        app, ["bench", str(TINY.parents[1] / "fixtures/srt/talk.srt"), *arguments[1:]], catch_exceptions=False
    )
    assert own.exit_code == 0
    assert "talk.srt" in own.stdout
    assert "cold start" in own.stdout
