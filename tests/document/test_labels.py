"""Splitting words into bare word and label, and writing them again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cappunc_cli.document.labels import MARKS, Case, Label, dress, fold, mark_of, strip

TOKENS = st.text(alphabet="aBcÉ19.,?!:;-–—…\"“”'’() %$İßσΣ«»¿", max_size=9) | st.text(max_size=6)


@given(TOKENS)
def test_dress_undoes_strip(text: str) -> None:
    assert dress(*strip(text)) == text


@given(TOKENS, st.sampled_from(["", *MARKS]))
def test_a_new_mark_leaves_the_word_and_the_quotes(text: str, mark: str) -> None:
    bare, label = strip(text)
    changed = label.with_mark(mark)
    kept = [c for c in label.after if not mark_of(c) and not c.isspace()]
    assert [c for c in changed.after if not mark_of(c) and not c.isspace()] == kept
    assert changed.mark == mark or changed is label
    assert (changed.case, changed.before, changed.form) == (label.case, label.before, label.form)
    assert fold(dress(bare, changed)).startswith(fold(label.before) + bare)


@pytest.mark.parametrize(
    ("text", "bare", "label"),
    [
        ("“Hello.”", "hello", Label(Case.CAPITAL, "“", ".”")),
        ("U.S.", "u.s.", Label(Case.UPPER)),  # the last period is part of an initialism
        ("a.m.,", "a.m.", Label(Case.LOWER, "", ",")),
        ("Dr.", "dr", Label(Case.CAPITAL, "", ".")),
        ("O'Brien?!", "o'brien", Label(Case.MIXED, "", "?!", "O'Brien")),
        ("NATO's", "nato's", Label(Case.UPPER)),
        ("IT'S", "it's", Label(Case.MIXED, "", "", "IT'S")),
        ("hello,'", "hello", Label(Case.LOWER, "", ",'")),
        ("dogs'", "dogs'", Label()),
        ("'tis", "'tis", Label()),
        ("'¿Qué?'", "qué", Label(Case.CAPITAL, "'¿", "?'")),
        ("she-", "she-", Label()),
        ("word --", "word", Label(Case.LOWER, "", " --")),
        ("Bonjour !", "bonjour", Label(Case.CAPITAL, "", " !")),
        ("...and", "and", Label(Case.LOWER, "...", "")),
        ("...¿y", "y", Label(Case.LOWER, "...¿", "")),
        ("3.14,", "3.14", Label(Case.LOWER, "", ",")),
        ("1st", "1st", Label()),
        ("—", "—", Label()),
        ("", "", Label()),
    ],
)
def test_words_found_in_files(text: str, bare: str, label: Label) -> None:
    assert strip(text) == (bare, label)


@pytest.mark.parametrize(
    ("text", "mark", "expected"),
    [
        ("hello”", ".", "hello.”"),  # inside a closing quote
        ("(yes)", ".", "(yes)."),  # but outside a bracket
        ("what?”)", ",", "what,”)"),
        ("Bonjour !", "", "Bonjour"),
        ("word —", ",", "word,"),
        ("so...", "…", "so..."),  # the same mark in the file's own spelling
        ("hello,'", "", "hello,'"),  # without the comma the quote would become part of the word
    ],
)
def test_marks_are_replaced_in_place(text: str, mark: str, expected: str) -> None:
    bare, label = strip(text)
    assert dress(bare, label.with_mark(mark)) == expected


@pytest.mark.parametrize(
    ("after", "mark"),
    [("...”", "…"), ("?!", "?"), ("?..", "?"), ("!…", "!"), ("--", "—"), (",”", ","), ("”)", ""), ("。", ".")],
)
def test_spellings_of_marks(after: str, mark: str) -> None:
    assert mark_of(after) == mark


@pytest.mark.parametrize(
    ("text", "signs"),
    [("¿Qué?”,", "¿?”,"), ("«¡¿Qué?!»", "“¡¿?!”"), ("—no…?", "–…?"), ("él —.", "—."), ("so...", "…"), ("U.S.", "")],
)
def test_every_mark_of_a_word(text: str, signs: str) -> None:
    assert strip(text)[1].signs == set(signs)


@pytest.mark.parametrize(
    ("after", "mark", "expected"),
    [("»", ".", "»."), ('")', ",", '"),'), (".»", ",", ",»"), ("", "?", "?"), (")", ".", ").")],
)
def test_a_new_mark_outside_of_a_quotation(after: str, mark: str, expected: str) -> None:
    assert Label(after=after).with_mark(mark, quoted=False).after == expected


@pytest.mark.parametrize("bare", ["გამარჯობა", "سلام", "नमस्ते"])
def test_a_script_without_initial_capitals_gets_none(bare: str) -> None:
    assert dress(bare, Label(Case.CAPITAL)) == bare


@given(st.text(min_size=1), st.sampled_from((Case.CAPITAL, Case.UPPER)))
@example("µm", Case.CAPITAL)  # the capital of the micro sign is that of the Greek mu
@example("ısı", Case.UPPER)
def test_capitals_lower_case_to_the_same_word(text: str, case: Case) -> None:
    bare, _ = strip(text)
    assert strip(dress(bare, Label(case)))[0] == bare


@pytest.mark.parametrize("sign", ["\u212a", "\u2126", "\u212b", "\u03f4"])
def test_signs_that_look_like_capitals_stay(sign: str) -> None:
    # Their lower case is k, ω, å and θ, which have other capitals: the sign would be lost.
    assert sign.lower() != sign
    assert [dress(strip(sign)[0], Label(case)) for case in (Case.LOWER, Case.CAPITAL, Case.UPPER)] == [sign] * 3


def test_a_form_of_another_word_is_not_written() -> None:
    assert dress("anna", Label(Case.MIXED, form="McDonald")) == "Anna"


@given(st.text())
def test_folding_is_letter_by_letter(text: str) -> None:
    assert fold(text) == "".join(map(fold, text))
    assert len(fold(text)) == len(text)


@given(st.text(st.characters(categories=["L", "N"]), min_size=1), st.text(st.sampled_from(".,!?…-—'’\"”)»")))
def test_letters_and_digits_always_belong_to_the_bare_word(word: str, after: str) -> None:
    bare, label = strip(word)
    assert bare == fold(word)
    assert (label.before, label.after) == ("", "")
    assert dress(*strip(word + after)) == word + after
