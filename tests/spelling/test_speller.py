"""Respelling: which words it changes, which it leaves, and the verification that nothing else has changed."""

from __future__ import annotations

import dataclasses

import pytest

from cappunc_cli import formats
from cappunc_cli.errors import BadInput
from cappunc_cli.languages import language
from cappunc_cli.spelling.speller import Respelled, respell, verify_respelling

ENGLISH = language("en")


def respelled(text: str, *, kind: str = "txt") -> str:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    document = formats.read(text, format=kind)
    return respell(document, ENGLISH, numbers=True, apostrophes=True)[0]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("He is twenty five.", "He is 25."),
        ("Twenty-five people came.", "25 people came."),
        ("She said “ninety nine,” twice.", "She said “99,” twice."),
        ("Five hundred and twelve of them", "512 of them"),
        ("It was two thousand and one.", "It was 2001."),
        ("sixty two thousand people", "62,000 people"),
        ("ninety nine point nine percent", "99.9 percent"),
        ("twenty five million people and two point five billion more", "25 million people and 2.5 billion more"),
        ("the twenty first century", "the 21st century"),
        ("ten to fifteen people", "10 to 15 people"),
        ("We meet at three thirty.", "We meet at 3:30."),
        ("Come at ten fifteen or later.", "Come at 10:15 or later."),
        ("It opens at three oh five p.m. today.", "It opens at 3:05 p.m. today."),
        ("It was three thirty in the morning.", "It was 3:30 in the morning."),
        ("in nineteen eighty four, and since twenty ten", "in 1984, and since 2010"),
        ("by twenty twenty one", "by 2021"),
    ],
)
def test_an_unambiguous_number_is_written_in_digits(text: str, new: str) -> None:
    assert respelled(text) == new
    assert respelled(new) == new


@pytest.mark.parametrize(
    "text",
    [
        "One of the two, no one else, and the first one.",  # below ten words stay words
        "Twenty, five, and the rest; five, ten, fifteen; maybe thirty. One of them",  # marks; the same way in a list
        "one two three four, nine one one, nineteen eighty four",  # could be counting, a phone number or a year
        "It costs three thirty, or three fifty.",
        "after three thirty minute meetings",  # three of thirty minutes
        "in twenty thirty minute sessions",
        "a twenty second clip and the twenty second of May",
        "a hundred times, hundreds of thousands, a hundred and twenty",
        "two thirds, one tenth, five hundredths, the twenties",
        "ten to three, twenty past four, half past twelve, five or ten",  # both sides the same way
        "twenty something, twenty odd, ten and a half",
        "They heard Twenty One Pilots and read Catch Twenty Two.",  # names
        "at some point five came, and oh ten more; s point sixty one",
        "two million people, a million",
        "At 25 hundred, 5 hundred thousand",
        "a mid-thirties twenty-five-year-old",
    ],
)
def test_an_ambiguous_number_stays(text: str) -> None:
    assert respelled(text) == text


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("I dont think youre right.", "I don't think you're right."),
        ("Dont go. IT DOESNT WORK", "Don't go. IT DOESN'T WORK"),
        ("and im sure thats what theyve said", "and I'm sure that's what they've said"),
        ("at ten oclock, maam", "at 10 o'clock, ma'am"),
        ("I cant say. He wont.", "I can't say. He won't."),
        ("He doesn’t, she dont", "He doesn’t, she don’t"),  # with the apostrophe that the file uses
    ],
)
def test_an_unambiguous_apostrophe_is_added(text: str, new: str) -> None:
    assert respelled(text) == new
    assert respelled(new) == new


@pytest.mark.parametrize(
    "text",
    [
        "Its tail, its fur: they were well, ill, and in a shell. We wed in hell; id est, the shed.",
        "She lets him. Whos car is it?",
        "as was his wont, thieves cant, they were wont to laugh, we cant the deck",
        "the hes and the shes, the whys and the hows",
        "They met Jony Ive and the singer Dont there.",
        "send an IM to our new ITD",
    ],
)
def test_an_ambiguous_apostrophe_is_not_added(text: str) -> None:
    assert respelled(text) == text


SRT = """\
1
00:00:01,000 --> 00:00:02,000
I dont know, <i>thirty</i> five of
twenty

2
00:00:03,000 --> 00:00:04,000
five, or {\\an8}thirty
one, or forty  two.
"""


def test_numbers_split_by_a_cue_a_line_or_a_tag_stay() -> None:
    assert respelled(SRT, kind="srt") == SRT.replace("dont", "don't").replace("forty  two", "42")


def test_the_changes_are_listed() -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    document = formats.read(SRT, format="srt")
    output, changes = respell(document, ENGLISH, numbers=True, apostrophes=True)
    assert changes == (Respelled(2, 1, "dont", "don't"), Respelled(13, 2, "forty two.", "42."))
    assert verify_respelling(document, output, changes) is None
    assert respell(document, ENGLISH, numbers=False, apostrophes=True)[1] == changes[:1]
    assert respell(document, ENGLISH, numbers=True, apostrophes=False)[1] == changes[1:]


@pytest.mark.parametrize(
    ("of", "into"),
    [
        ("know", "no"),
        ("know", "Know"),
        ("02,000", "02,001"),
        ("<i>", "<b>"),
        ("42", "43"),
        ("don't", "dont"),
    ],
)
def test_whatever_else_differs_is_refused(of: str, into: str) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    document = formats.read(SRT, format="srt")
    output, changes = respell(document, ENGLISH, numbers=True, apostrophes=True)
    assert of in output
    with pytest.raises(BadInput):
        verify_respelling(document, output.replace(of, into, 1), changes)
    with pytest.raises(BadInput):
        verify_respelling(document, output, changes[:-1])
    wrong = dataclasses.replace(changes[0], new="do")
    with pytest.raises(BadInput):
        verify_respelling(document, output, (wrong, *changes[1:]))


def test_every_copy_of_a_word_is_respelled() -> None:
    rolling = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nwell i<00:01.500><c> dont</c>\n\n"
        "00:02.000 --> 00:02.010\nwell i dont\n\n00:02.010 --> 00:04.000\nwell i dont\nthink<00:03.000><c> twenty</c>"
        "<00:03.500><c> five</c>\n"
    )
    assert respelled(rolling, kind="vtt") == rolling.replace("dont", "don't")


def test_a_change_that_would_be_read_as_something_else_is_left_out() -> None:
    # At the start of a line of plain text a time is a time stamp, and the word would vanish.
    assert respelled("We leave at\nten fifteen tomorrow. I dont mind, really, at ten fifteen.") == (
        "We leave at\nten fifteen tomorrow. I don't mind, really, at 10:15."
    )


@pytest.mark.parametrize("kind", ["ctm", "tsv", "textgrid", "generic"])
def test_words_with_entries_of_their_own_are_refused(kind: str) -> None:
    sources = {
        "ctm": "talk 1 0.0 0.4 i\ntalk 1 0.5 0.4 dont\n",
        "tsv": "start\tend\ttext\n0\t400\ti dont\n",
        "textgrid": 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n0\n',
        "generic": '{"words": [{"word": "i", "start": 0, "end": 1}, {"word": "dont", "start": 1, "end": 2}]}',
    }
    document = formats.read(sources[kind], format=kind)
    with pytest.raises(BadInput, match="running text only"):
        respell(document, ENGLISH, numbers=False, apostrophes=True)
