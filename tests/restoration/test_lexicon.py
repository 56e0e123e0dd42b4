"""What lexicon.txt says: forms with counts in a section for each language, or forms alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.lexicon import FormCounts, Lexicons

TEXT = (
    "Facebook\niPad\n[en]\t900\t80\t15\t5\nbmw\t1\t0\t60\nlebron\t0\t2\t0\t40\tLeBron\nais\t2\t0\t6\t118\tAIs\ntheta\t17\t48\n"
    "[pl]\t900\t80\t15\t5\npis\t0\t1\t2\t50\tPiS\n"
)


def test_a_word_has_its_counts_and_the_form_of_most() -> None:
    english = Lexicons(TEXT)["en"]
    assert english.counts("bmw") == FormCounts(1, 0, 60)
    assert english.counts("bmw's") == english.counts("bmw’s") == FormCounts(1, 0, 60)
    assert english.counts("lebron") == FormCounts(0, 2, 0, 40, "LeBron")
    assert english.counts("unlisted") is None
    assert {word: english.get(word) for word in ("bmw", "ais", "theta", "ipad", "pis")} == {
        "bmw": "BMW", "ais": "AIs", "theta": None, "ipad": "iPad", "pis": None,
    }  # fmt: skip
    assert sum(english.shares) == pytest.approx(1)
    assert {("bmw", "BMW"), ("ais", "AIs"), ("ipad", "iPad")} <= set(english.forms())


def test_each_language_has_its_own_words() -> None:
    lexicons = Lexicons(TEXT)
    assert lexicons["pl"].counts("pis") == FormCounts(0, 1, 2, 50, "PiS")
    assert lexicons["pl"].counts("bmw") is None
    assert lexicons["es"].counts("bmw") is None
    assert lexicons["es"].get("ipad") == "iPad"
    assert lexicons["es"].shares == ()


@pytest.mark.parametrize(("word", "numeral"), [("xxvii", True), ("xviii", True), ("mix", False), ("vi", False)])
def test_a_roman_numeral_that_is_not_listed_is_upper_case(word: str, numeral: bool) -> None:
    found = Lexicons(TEXT)["en"].counts(word)
    assert (found is not None and found.upper > 0 and not found.lower) == numeral


def test_without_the_file_nothing_is_known(tmp_path: Path) -> None:
    assert not list(Lexicons.read(tmp_path)["en"].forms())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x80", b"[en]\nword\t3\n", b"[en]\t1\tx\nword\t3\n"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lexicon.txt").write_bytes(content)
    with pytest.raises(BadModel) as caught:
        Lexicons.read(tmp_path)
    assert caught.value.path == str(tmp_path / "lexicon.txt")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ["word\t99999999999999999999", "word\t3\t4\t5\t6", "word\t-3", "\t", "word\t1\t2\t3\t4\t"]
)
def test_a_line_of_other_things_is_no_count(line: str) -> None:
    lexicon = Lexicons(TEXT + line + "\n")["pl"]
    assert lexicon.counts("word") is None
