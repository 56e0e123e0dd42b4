"""Spans, lines, times and speech: what is a word, where it is, and how it is changed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli import formats
from cappunc_cli.document.words import Document
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.cues import milliseconds
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import split_lines


def spoken(text: str) -> list[str]:
    return [word.text for word in scan(text, 0, len(text)).words]


def rewritten(text: str, new: list[str]) -> str:
    found = scan(text, 0, len(text)).words
    assert len(found) == len(new)
    return spans.splice(text, spans.changes(Document("srt", text, found), new))


def test_splice_takes_edits_in_any_order() -> None:
    assert spans.splice("abcdef", [(4, 5, "E"), (0, 1, ""), (2, 2, "-"), (2, 2, "+")]) == "b-+cdEf"
    assert spans.splice("abc", []) == "abc"


@pytest.mark.parametrize("edits", [[(0, 2, "x"), (1, 3, "y")], [(2, 1, "x")]])
def test_splice_refuses_edits_that_overlap(edits: list[spans.Edit]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        spans.splice("abc", edits)


@given(st.text(), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.text(max_size=3)), max_size=6))
def test_splice_keeps_all_that_no_edit_covers(source: str, drafts: list[tuple[int, int, str]]) -> None:
    edits, at, expected = [], 0, ""
    for gap, size, text in drafts:
        start, stop = min(at + gap, len(source)), min(at + gap + size, len(source))
        edits.append((start, stop, text))
        expected += source[at:start] + text
        at = stop
    assert spans.splice(source, edits) == expected + source[at:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello, there world", ["hello,", "there", "world"]),
        ("{\\an8}hello\\Nworld", ["hello", "world"]),
        ("2<3,5>1 and 1 <2", ["2<3,5>1", "and", "1", "<2"]),
        ("\u200ehi\u202c there", ["hi", "there"]),
        ("two\u2028words\x0bmore\x85yet", ["two", "words", "more", "yet"]),
        ("Bonjour ! oui — « non » .", ["Bonjour !", "oui —", "non » ."]),
        ("said\n, and", ["said", "and"]),  # a mark on another line belongs to no word
        ("said\n... and then\n… so", ["said", "... and", "then", "… so"]),  # but ellipses belong to the next word
        ("... [sighs] and", ["and"]),
        ("so [Music] we [ __ ] go [speaking\nFrench] on", ["so", "we", "go", "on"]),
        ("hi [laughs], there", ["hi,", "there"]),
        ("(laughs) ok (DOOR SLAMS TWICE) ok (soft music) ok", ["ok", "ok", "ok"]),
        ("(man and woman scolding loudly)", []),
        ("(a song begins with the four notes of that music)", []),
        (
            "hm (it ends with the four notes of the music) ok",
            ["hm", "(it", "ends", "with", "the", "four", "notes", "of", "the", "music)", "ok"],
        ),
        ("(man scolding\nsomewhere in background)\nstop it", ["stop", "it"]),
        ("stop it (man scolding in background)", ["stop", "it", "(man", "scolding", "in", "background)"]),
        ("♪ la la\nla la ♪\nhi", ["hi"]),
        ("♪ la la\nla\nla ♪", []),
        ("see https://a.org/b?c=d, www.a.de or a.b@c.org. ok @me", ["see,", "or.", "ok"]),
        ("go to amazon.com, please", ["go", "to,", "please"]),
    ],
)
def test_what_is_spoken(text: str, words: list[str]) -> None:
    assert spoken(text) == words


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("(laughs) hi (laughs)\nyou (door slams) [music]", [True, True, True]),
        ("JOHN: hi [MARY] hello", [False, True, False]),
        ("hello [applause]", [False, True]),
        ("(00:12) hello [00:00:15.5] you", [False, False, False]),
    ],
)
def test_where_sounds_are_heard(text: str, heard: list[bool]) -> None:
    speech = scan(text, 0, len(text))
    assert [*(word.sound for word in speech.words), speech.sound] == heard


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("Mary Ann: hello", [("hello", "Mary Ann")]),
        ("Dr. Smith: hello", [("hello", "Dr. Smith")]),
        ("Ludwig van Beethoven: hello", [("hello", "Ludwig van Beethoven")]),
        ("Ada Byron (Host): hello", [("hello", "Ada Byron (Host)")]),
        ("speaker 1: hello", [("hello", "speaker 1")]),
        ("MAN #2: hello", [("hello", "MAN #2")]),
        (">>hello", [("hello", "")]),
        (">> JOHN: hi >> yes", [("hi", "JOHN"), ("yes", "")]),
        ("-hi - yes", [("hi", ""), ("yes", "")]),
        ("<i>- hi</i>", [("hi", "")]),
        ("[laughs] JOHN: hi", [("hi", "JOHN")]),
        ("<v Ada>hi</v><v.loud Grace H>yes</v>", [("hi", "Ada"), ("yes", "Grace H")]),
        ("MAN ON RADIO: hi", [("hi", "MAN ON RADIO")]),
        ("JOHN OVER THE PHONE: hi", [("hi", "JOHN OVER THE PHONE")]),
        ("MAN IN CROWD: hi", [("hi", "MAN IN CROWD")]),
        ("SO ON TV: HI", [("SO", None), ("ON", None), ("TV:", None), ("HI", None)]),
        ("[Alba] hi", [("hi", "Alba")]),
        ("- [Dr. Jones]: hi", [("hi", "Dr. Jones")]),
        ("[SPEAKER_01] hi", [("hi", "SPEAKER_01")]),
        ("[Newsreel Narrator]\nhi", [("hi", "Newsreel Narrator")]),
        ("[music] hi", [("hi", None)]),
        ("[Música] hi", [("hi", None)]),
        ("[Dog Barking] hi", [("hi", None)]),
        ("[DOOR SLAMS] hi", [("hi", None)]),
        ("hi [Alba] there", [("hi", None), ("there", None)]),
        ("note: hello", [("note:", None), ("hello", None)]),
        ("Note: hello", [("Note:", None), ("hello", None)]),
        ("HERE'S WHY: IT", [("HERE'S", None), ("WHY:", None), ("IT", None)]),
        ("COMING UP: IT", [("COMING", None), ("UP:", None), ("IT", None)]),
        ("At 10:30 we", [("At", None), ("10:30", None), ("we", None)]),
        ("-- and so", [("and", None), ("so", None)]),
        ("well - i", [("well -", None), ("i", None)]),
    ],
)
def test_who_speaks(text: str, heard: list[tuple[str, str | None]]) -> None:
    speech = scan(text, 0, len(text))
    assert [(word.text, speech.speakers.get(n)) for n, word in enumerate(speech.words)] == heard


@pytest.mark.parametrize("sign", ["&", "&amp;", "=", "www.example.org"])
def test_a_sign_after_a_word_belongs_to_the_sentence(sign: str) -> None:
    text = f"johnson {sign} johnson"
    assert [word.followed for word in scan(text, 0, len(text)).words] == [True, False]


@pytest.mark.parametrize(
    ("text", "preceded"),
    [
        ("www.example.org is here", [True, False]),
        ("jane@example.org is here", [True, False]),
        ("[ __ ] is here", [True, False]),
        ("at www.example.org, we look", [False, True, False]),
        ("at www.example.org. we look", [False, False, False]),
        ("www.example.org\nJOHN: hi", [False]),
        ("www.example.org & jane", [False]),
        ("* is here", [False, False]),
        ("♪ is here ♪ and", [False]),
        ("- is here", [False, False]),
        ("{\\x} is here", [False, False]),
        ("5 € im jahr", [False, True, False]),
        ("jetzt\n* im jahr", [False, False, False]),
    ],
)
def test_a_sentence_may_begin_with_an_address_or_a_blank_or_go_on_after_a_sign(text: str, preceded: list[bool]) -> None:
    assert [word.preceded for word in scan(text, 0, len(text)).words] == preceded


def test_a_label_may_come_after_a_time() -> None:
    text = "(00:12) Speaker 1: hi you\n(0:15.3) JOHN: hello"
    speech = scan(text, 0, len(text))
    assert [word.text for word in speech.words] == ["hi", "you", "hello"]
    assert speech.speakers == {0: "Speaker 1", 2: "JOHN"}


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("hi **door Slams.** you", ["hi", "you"]),
        ("*music and applause*", []),
        ("*I laughed at it* then", ["*I", "laughed", "at", "it*", "then"]),
        ("2 * 3 is bang * 4", ["2", "3", "is", "bang", "4"]),
    ],
)
def test_a_sound_between_asterisks_is_not_spoken(text: str, spoken: list[str]) -> None:
    assert [word.text for word in scan(text, 0, len(text)).words] == spoken


@pytest.mark.parametrize(("text", "sound"), [("[Applause] hi", True), ("[Alba] hi", False), ("(Boom) hi", True)])
def test_a_name_in_brackets_is_not_a_sound(text: str, sound: bool) -> None:
    assert [word.sound for word in scan(text, 0, len(text)).words] == [sound]


@pytest.mark.parametrize(
    ("text", "new", "result"),
    [
        ("<i>hello</i>, you", ["Hello.", "You"], "<i>Hello</i>. You"),
        ("<i>hello,</i>” you", ["Hello.”", "you"], "<i>Hello.</i>” you"),
        ("<i>hello</i>,", ["hello"], "<i>hello</i>"),
        ("caf&eacute; &#233;t&#xe9;", ["CAFÉ", "ÉTÉ"], "CAF&Eacute; &#201;T&#xc9;"),
        ("&quot;yes&quot; you", ['"Yes,"', "you"], "&quot;Yes,&quot; you"),
        ("bonjour ! oui", ["Bonjour.", "oui"], "Bonjour. oui"),
        ("JOHN: [sighs] yes ♪ la ♪", ["Yes?"], "JOHN: [sighs] Yes? ♪ la ♪"),
        ("¿que tal", ["¿Que", "tal?"], "¿Que tal?"),
        ("que", ["¿que"], "¿que"),
    ],
)
def test_a_word_changes_where_it_stands(text: str, new: list[str], result: str) -> None:
    assert rewritten(text, new) == result
    assert spoken(result) == new


@pytest.mark.parametrize("signs", [")", "]", '"', "»", ")»", ").", "”)"])
def test_a_word_with_a_thousand_signs_gets_its_mark(signs: str) -> None:
    old, new = f"hello{signs * 1000}", f"Hello?{signs * 1000}"
    assert spans.splice(old, spans.word_edits(old, new)) == new


def test_a_bracket_after_a_tag_stays_there() -> None:
    assert spoken("three <i>, ], more") == ["three , ],", "more"]
    assert rewritten("three <i>, ], more", ["Three; ]", "more"]) == "Three;<i> ] more"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("00:00:02,05", 2050),
        ("01:39.250", 99_250),
        ("0:0:3.490", 3490),
        ("-00:00:01,000", -1000),
        ("soon", None),
    ],
)
def test_times_of_all_spellings(text: str, value: int | None) -> None:
    assert milliseconds(text) == value


SAID = ["so", "it's", "well-known", "Íñigo", "yes,", "no.", "3", "www.", "wait…"]
SPACES = [" ", "\n", "\r\n", "  ", "\xa0"]


@given(st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(SPACES)), min_size=1, max_size=8))
def test_words_alone_are_read_as_those_beside_a_tag(parts: list[tuple[str, str]]) -> None:
    text = "".join(said + space for said, space in parts)
    cues = (f"1\n00:00:01,000 --> 00:00:02,000\n{tag}{text}" for tag in ("", "<i></i>"))
    alone, tagged = ([replace(word, at=-1, length=0, copies=()) for word in formats.read(cue).words] for cue in cues)
    assert alone == tagged


@given(st.text(alphabet="a \r\n\u2028\x85\x0b"))
def test_lines_end_where_editors_end_them(text: str) -> None:
    lines = [text[a:b] for a, b in split_lines(text)]
    expected = re.split(r"\r\r\n|\r\n|\r|\n", text)
    assert lines == (expected[:-1] if expected[-1] == "" else expected)


def test_marks_without_end_belong_to_the_word() -> None:
    text = "word" + " ." * 50
    assert spoken(text + " next") == [text, "next"]
    assert rewritten(text, ["Word."]) == "Word."


def test_an_address_of_another_speaker_begins_no_sentence() -> None:
    text = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ann>see www.example.org <v Bob>is it here\n"
    assert [word.preceded for word in formats.read(text, "talk.vtt").words] == [False] * 4


def test_an_entity_between_two_marks_stays() -> None:
    # In a TextGrid, a plain quotation mark would end the text.
    assert rewritten("so he left.&quot;! now", ["so", "he", 'left"', "now"]) == "so he left&quot; now"
