"""What is not a word, and how the words around it change: every kind of fixtures/masking, and their table."""

from __future__ import annotations

import re

import masking
import pytest
from rules import rules

from cappunc_cli.formats import read, write

MODEL = rules()
DOUBLED = re.compile(r"[,;:?!]{2}|(?<!\.)\.{2}(?!\.)|[.,?!][;:,?!]")


@pytest.mark.parametrize("kind", masking.KINDS)
def test_expected_results(kind: str) -> None:
    before, after = ((masking.FOLDER / (kind + end)).read_text(encoding="utf-8") for end in (".srt", ".fixed.srt"))
    assert masking.fixed(before, MODEL) == after
    assert masking.fixed(after, MODEL) == after
    assert not DOUBLED.search(after)


@pytest.mark.parametrize(
    ("line", "spoken"),
    [
        ("John Smith (00:01:02): hello there", ["hello", "there"]),
        ("John Smith [0:12]: hello", ["hello"]),
        ("speaker two: i am fine", ["i", "am", "fine"]),
        ("SPEAKER ONE: hello", ["hello"]),
        ("a speaker two: rooms away", ["a", "speaker", "two:", "rooms", "away"]),
        ("we met (at 12:30) there: it rained", ["we", "met", "there:", "it", "rained"]),
    ],
)
def test_a_label_may_have_a_time(line: str, spoken: list[str]) -> None:
    assert [word.text for word in read(line + "\n", "a.txt").words] == spoken


@pytest.mark.parametrize(
    ("line", "spoken"),
    [
        ("he left (quickly). then", ["he", "left.", "then"]),
        ("he left [door slams] (laughs)! then", ["he", "left!", "then"]),
        ("«il est parti (rires) !»", ["«il", "est", "parti !»"]),
        ("it grew by 30 %, then 20 €.", ["it", "grew", "by", "30,", "then", "20."]),
        ("go to www.example.org. then", ["go", "to.", "then"]),
        ("so, [applause]. then", ["so,", "then"]),
        ("(laughs). then", ["then"]),
        ("he left [door slams] ... and so on", ["he", "left", "... and", "so", "on"]),
    ],
)
def test_marks_after_what_is_no_word_belong_to_the_word_before(line: str, spoken: list[str]) -> None:
    document = read(line + "\n", "a.txt")
    assert [word.text for word in document.words] == spoken
    assert write(document, spoken) == line + "\n"


def test_a_mark_after_a_bracket_is_changed_where_it_is() -> None:
    document = read("so he <i>left</i> (quickly)<i>.</i> then\n", "talk.txt")
    so, he, _, then = document.texts
    assert write(document, [so, he, "Left?", then]) == "so he <i>Left</i> (quickly)<i>?</i> then\n"
    assert write(document, [so, he, "left", then]) == "so he <i>left</i> (quickly)<i></i> then\n"


def test_a_quote_goes_to_the_mark_after_an_address() -> None:
    document = read("write to mary@example.org, then\n", "talk.txt")
    assert write(document, ["Write", "to”,", "then"]) == "Write to mary@example.org”, then\n"


def test_the_table_shows_these_files() -> None:
    assert (masking.FOLDER / "README.md").read_text(encoding="utf-8") == masking.page()


def test_a_mark_right_before_an_annotation_keeps_its_space() -> None:
    document = read("so ,[applause] then we went home\n", "talk.txt")
    first, *others = document.texts
    assert first == "so"
    assert write(document, ["So.", *others]).startswith("So. ,[applause] then")


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("a.json", '{{"result": [{words}], "text": "{text}"}}'),
        ("a.ctm", "{rows}"),
    ],
)
def test_handles_addresses_and_signs_where_each_word_is_an_entry(name: str, rows: str) -> None:
    text = "follow @nasa and #artemis at example.org or pay 30 % now"
    tokens = list(enumerate(text.split()))
    source = rows.format(
        words=", ".join(f'{{"word": "{word}", "start": {i}.0, "end": {i}.5}}' for i, word in tokens),
        rows="".join(f"talk A {i}.0 0.5 {word}\n" for i, word in tokens),
        text=text,
    )
    words = read(source, name).words
    assert [word.text for word in words] == ["follow", "and", "#artemis", "at", "or", "pay", "30", "now"]
    assert [word.text for word in words if word.followed] == ["follow", "at", "30"]
    assert [word.text for word in words if word.preceded] == ["and", "or", "now"]


def test_a_sound_or_another_segment_is_no_part_of_the_sentence() -> None:
    segments = ", ".join(
        f'{{"start": {i}.0, "end": {i}.9, "text": "{text}"}}'
        for i, text in enumerate(("he left [applause]", "@nasa is here", "see (x) example.org"))
    )
    assert not any(word.followed for word in read(f'{{"segments": [{segments}]}}', "a.json").words)
