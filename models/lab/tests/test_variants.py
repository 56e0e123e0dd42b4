"""What `models.lab.variants` takes away from a model, and that its scores show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cappunc_cli.document.words import Word, pauses
from cappunc_cli.errors import BadInput
from cappunc_cli.features.evaluate.inputs import Source
from models.lab.datasets import RecognisedSource
from models.lab.variants import gold_windows, lowered, main, novel, shuffled_pauses

FIXTURES = Path(__file__).parents[3] / "fixtures" / "eval"


def report(capfd: pytest.CaptureFixture[str], *arguments: object) -> dict[str, dict[str, dict[str, float]]]:
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    assert not left.value.code
    found: dict[str, dict[str, dict[str, float]]] = json.loads(capfd.readouterr().out)
    return found


def test_shuffled_pauses_are_the_same_pauses_elsewhere() -> None:
    gaps = [0, 700, None, 30, 40, 50, 60, 70]
    words, clock = [], 0
    for gap in gaps:
        words.append(Word("a", clock, None if gap is None else clock + 5))
        clock += 5 + (gap or 0)
    words.append(Word("b", clock, clock + 5))
    before, after = pauses(words), pauses(shuffled_pauses(words, 1))
    assert before[:-1] == gaps
    assert after[2] is None
    assert after != before
    assert sorted(x for x in after if x is not None) == sorted(x for x in before if x is not None)


def test_given_marks_are_kept_and_only_case_is_restored(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ("--ref", FIXTURES / "gold.txt", "--model", tiny_model)
    own, given = report(capfd, *asked), report(capfd, *asked, "--marks-given")
    assert own["scores"]["all.micro"]["f1"] < given["scores"]["all.micro"]["f1"] == 1
    assert own["scores"]["case.initial"]["f1"] < given["scores"]["case.initial"]["f1"]
    assert "marks:given" in str(given["signature"])
    with pytest.raises(BadInput, match="have no marks to keep"):
        list(lowered(RecognisedSource("a", [Word("One.")], [Word("one")])))


@pytest.mark.parametrize("variant", ["--shuffle-pauses", "--starts-alone"])
def test_other_times_give_other_probabilities(
    variant: str, tiny_model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ("--ref", FIXTURES / "timed.jsonl", "--model", tiny_model, "--only", "talk/1")
    own, other = report(capfd, *asked), report(capfd, *asked, variant)
    assert own["calibration"] != other["calibration"]
    assert own["signature"] != other["signature"]


def test_gold_windows_end_with_sentences_and_drop_long_ones() -> None:
    text = "A b. C d? E f g h i. J k l. M n o"
    cut = [
        " ".join(word.text for word in part.words) for part in gold_windows(Source("x", [*map(Word, text.split())]), 4)
    ]
    assert cut == ["A b. C d?", "J k l."]


def test_gold_windows_are_in_the_signature(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = report(capfd, "--ref", FIXTURES / "gold.txt", "--model", tiny_model, "--gold-windows", 9)
    assert "|windows:gold@9|" in str(found["signature"])
    assert len(found["files"]) > 1


def test_a_hyphen_before_a_word_of_a_novel_is_the_dash_of_direct_speech(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(
        "Oyó.\n-Pero hombre -replicó el escudero-, ¿qué dices?\n- Nada. Eran\nMarie-Anne y -3 grados.\n", "utf-8"
    )
    whole = "Oyó. —Pero hombre —replicó el escudero, ¿qué dices? —Nada. Eran Marie-Anne y -3 grados."
    assert [word.text for word in novel(path).words] == whole.split()


@pytest.mark.parametrize("name", ["xashru", "nemo", "sepp", "edge", "jointcappunc", "nguyen", "caranica", "autopunct"])
def test_other_definitions_are_shown_and_signed(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = report(capfd, "--ref", FIXTURES / "gold.txt", FIXTURES / "heard.txt", "--metric", name)
    assert found["preset"]["name"] == name
    assert f"metric:{name}" in str(found["signature"])


def test_pauses_reach_the_model_unless_hidden(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ("--ref", FIXTURES / "timed.jsonl", "--model", tiny_model, "--only", "talk/1")
    shown, hidden = report(capfd, *asked), report(capfd, *asked, "--no-pauses")
    assert shown["calibration"] != hidden["calibration"]
    assert "pauses:no" in str(hidden["signature"])


def test_every_engine_of_a_recording_is_a_document(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = report(capfd, "--ref", FIXTURES / "timed.jsonl", "--model", tiny_model, "--only", "talk/2*")
    assert [line["name"] for line in found["files"]] == ["talk/2 one", "talk/2 two"]  # type: ignore[index]
    assert found["words"]["substituted"] == 1
