"""Live words as WebVTT cues."""

from __future__ import annotations

from html import unescape
from itertools import pairwise

import webvtt
from commands import TINY, Run, cappunc
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.words import Word
from cappunc_cli.languages import language
from cappunc_cli.serving.live_text import LiveCues

ENGLISH = language("en")
SAID = ["Yes.", "no", "R&D,", "caterpillar", "London!"]


@given(
    st.lists(
        st.tuples(st.sampled_from(SAID), st.integers(0, 2500), st.booleans()),
        min_size=1,
        max_size=60,
    )
)
def test_cues_have_each_word_once_and_do_not_overlap(said: list[tuple[str, int, bool]]) -> None:
    cues, at, output = LiveCues(ENGLISH), 0, "WEBVTT\n\n"
    for n, (text, wait, timed) in enumerate(said):
        at += wait
        word = Word(text, at if timed else None, at + 300 if timed else None, turn=n // 20)
        output += cues.add([word], [text], at + 50)
    output += cues.flush()
    found = webvtt.from_string(output).captions
    assert [word for cue in found for word in unescape(cue.text).split()] == [text for text, _, _ in said]
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(cue.start < cue.end and len(cue.lines) <= 2 for cue in found)
    assert max(len(unescape(line)) for cue in found for line in cue.lines) <= 42


def test_a_sentence_is_written_as_soon_as_it_ends() -> None:
    cues = LiveCues(ENGLISH)
    texts = ["We", "went", "home", "again."]
    words = [Word(text, 300 * i, 300 * i + 250) for i, text in enumerate(texts)]
    assert cues.add(words[:3], texts[:3], 0) == ""
    assert cues.add(words[3:], texts[3:], 0) == "00:00:00.000 --> 00:00:01.150\nWe went home again.\n\n"
    assert cues.flush() == ""


def test_an_abbreviation_ends_no_cue() -> None:
    for name in ("Dr. Smith.", "George W. Bush."):
        cues, texts = LiveCues(ENGLISH), ["Tomorrow", "we", "meet", *name.split()]
        output = cues.add([Word(text) for text in texts], texts, 0)
        assert output.endswith(f"\nTomorrow we meet {name}\n\n")


def test_a_cue_lasts_until_its_latest_word_ends() -> None:
    cues = LiveCues(ENGLISH)
    texts = ["We", "went", "home", "again."]
    times = [(100, 300), (900, 1400), (600, 800), (200, 350)]
    words = [Word(text, *time) for text, time in zip(texts, times, strict=True)]
    assert cues.add(words, texts, 0) == "00:00:00.100 --> 00:00:01.400\nWe went home again.\n\n"


def cues_of(lines: bytes) -> Run:
    return cappunc("stream", "--to", "vtt", "--model", TINY, data=lines)


def test_half_a_character_of_json_is_replaced() -> None:
    lines = b'{"word": "hello\\ud83d", "start": 1.0, "end": 1.4}\n{"word": "anna\\udc80", "start": 1.5, "end": 1.9}\n'
    run = cues_of(lines)
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode("utf-8").lower().count("\ufffd") == 2


def test_the_command_writes_cues() -> None:
    lines = b'{"word": "hello", "start": 1.0, "end": 1.4}\n{"word": "anna", "start": 1.5, "end": 1.9}\n'
    found = cues_of(lines).stdout.decode()
    assert found.lower().startswith("webvtt\n\n00:00:01.000 --> 00:00:01.900\nhello")
    found = cues_of(b"hello anna then\n").stdout.decode()
    assert [word.strip(",.?!").lower() for word in found.split("\n")[3].split()] == ["hello", "anna", "then"]


def test_a_stream_without_words_is_a_file_without_cues() -> None:
    for lines in (b"", b"\n \n"):
        assert webvtt.from_string(cues_of(lines).stdout.decode()).captions == []  # raises without the head


def test_words_before_zero_are_shown_from_zero() -> None:
    run = cues_of(b'{"word": "hello", "start": -0.5, "end": -0.1}\n{"word": "anna", "start": 0.2, "end": 0.9}\n')
    assert run.stdout.startswith(b"WEBVTT\n\n00:00:00.000 --> 00:00:00.900\n")
