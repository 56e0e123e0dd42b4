"""Small files with the models that come with the package: what the audits of short files found."""

from __future__ import annotations

import pytest

import cappunc_cli as cappunc


def captions(*texts: str) -> str:
    """SubRip with a caption of two and a half seconds for each text."""
    cues = (f"{i}\n00:00:{3 * i:02},000 --> 00:00:{3 * i + 2:02},500\n{text}\n" for i, text in enumerate(texts, 1))
    return "\n".join(cues)


def fixed(lines: str, language: str = "en") -> str:
    """What becomes of captions, which are parted by ` / `."""
    made = cappunc.fix(captions(*lines.split(" / ")), language=language).text
    return " / ".join(cue.split("\n", 2)[2].strip() for cue in made.strip().split("\n\n"))


@pytest.mark.parametrize(
    ("language", "lines", "last"),
    [
        ("en", "i was born in 1987 / my mother was a nurse / he did not come", "He did not come."),
        ("en", "we were in the kitchen / they moved to chicago when i was four", "when I was four."),
        ("de", "ich bin in berlin geboren / er ist nicht gekommen", "Er ist nicht gekommen."),
        ("es", "nací en madrid / mi madre era enfermera / él no vino", "Él no vino."),
        ("pt", "nasci em lisboa / a minha mãe era enfermeira / ele não veio", "Ele não veio."),
        ("it", "sono nato a roma / lui non è venuto", "Lui non è venuto."),
        ("vi", "tôi sinh ra ở hà nội / anh ấy không đến", "Anh ấy không đến."),
        # What breaks off does not end.
        ("en", "we were at home / and then we went to the", " we went to the"),
        ("en", "my name is", "My name is"),
        ("de", "wir waren zu hause / und dann sind wir in das", "in das"),
    ],
)
def test_the_last_sentence_ends_unless_it_breaks_off(language: str, lines: str, last: str) -> None:
    assert fixed(lines, language).endswith(last)


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        (
            "we have to leave tonight / CENTRAL LIBRARY OF DENVER / where did you find this book",
            "We have to leave tonight. / CENTRAL LIBRARY OF DENVER / Where did you find this book?",
        ),
        (
            "we have to leave tonight / EXIT / NO SMOKING / where did you find this book",
            "We have to leave tonight. / EXIT / NO SMOKING / Where did you find this book?",
        ),
        # Within a sentence it is no sign.
        (
            "i think that / THE BIG HOUSE / is where we live now",
            "I think that / the Big House / is where we live now.",
        ),
        ("i work for / NASA / in houston", "I work for / NASA / in Houston."),
    ],
)
def test_signs_stay_and_say_nothing_of_the_text_around_them(lines: str, whole: str) -> None:
    assert fixed(lines) == whole
    assert fixed(whole) == whole


@pytest.mark.parametrize(
    ("language", "lines", "whole"),
    [
        (
            "en",
            "my mother was born in Boston. / she met my father in London. / they moved to Chicago when i was four.",
            "My mother was born in Boston. / She met my father in London. / They moved to Chicago when I was four.",
        ),
        (
            "es",
            "mi madre nació en Madrid. / conoció a mi padre en Londres. / se mudaron a Chicago.",
            "Mi madre nació en Madrid. / Conoció a mi padre en Londres. / Se mudaron a Chicago.",
        ),
        (
            "de",
            "meine Mutter kam aus Berlin. / sie traf meinen Vater in Hamburg. / das war ein schöner Tag.",
            "Meine Mutter kam aus Berlin. / Sie traf meinen Vater in Hamburg. / Das war ein schöner Tag.",
        ),
    ],
)
def test_sentences_begin_in_capitals_where_only_names_have_them(language: str, lines: str, whole: str) -> None:
    assert fixed(lines, language) == whole


def test_one_beginning_in_lower_case_amid_good_text_stays() -> None:
    text = "She met him in London. and then they went home. We were happy."
    assert cappunc.fix(text, language="en").text == text
