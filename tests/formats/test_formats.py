"""Every format: what it reads and refuses, and that writing changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pysrt
import pytest
from opened import FIXTURES, GOOD, fixture, ids, load, relabelled
from rules import rules

from cappunc_cli import formats
from cappunc_cli.document.words import pauses
from cappunc_cli.errors import BadInput, CappuncError, UnknownFormat
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.pipeline import restore

TEXT = [path for path in GOOD if path.parent.name in formats.TEXT_FORMATS]
FIXED = {path: fixed for path in TEXT if (fixed := path.with_stem(path.stem + ".fixed")).exists()}
BAD = sorted(path for path in (FIXTURES / "bad").glob("*.expected") if path.with_suffix("").suffix == "")


def test_every_text_format_has_fixtures() -> None:
    assert {path.parent.name for path in TEXT} == set(formats.TEXT_FORMATS)
    assert {path.parent.name for path in FIXED} == set(formats.TEXT_FORMATS)


@pytest.fixture(scope="module")
def model() -> Model:
    return rules()


@pytest.mark.parametrize("path", FIXED, ids=ids)
def test_fixtures_give_the_expected_results(path: Path, model: Model) -> None:
    for source in (path, FIXED[path]):
        document = formats.read(load(source), path.name)
        assert formats.write(document, restore(document.words, model)) == load(FIXED[path])


@pytest.mark.parametrize("path", GOOD, ids=ids)
def test_writing_unchanged_words_changes_nothing(path: Path) -> None:
    text = load(path)
    document = formats.read(text, path.name)
    assert formats.write(document, document.texts) == text


# SCC has no room for so many marks; test_new_formats.py has its own.
@pytest.mark.parametrize("path", [path for path in TEXT if path.suffix != ".scc"], ids=ids)
def test_any_marks_and_case(path: Path) -> None:
    document = formats.read(load(path), path.name)
    for seed in range(3):
        texts = relabelled(document.words, seed)
        output = formats.write(document, texts)
        formats.verify(document, output)
        assert formats.write(formats.read(output, path.name, document.format), texts) == output


@pytest.mark.parametrize("path", TEXT, ids=ids)
def test_content_tells_the_format(path: Path) -> None:
    if path.name != "unsigned.vtt":  # only its name distinguishes it from SRT
        assert formats.read(load(path)).format == path.parent.name
    assert formats.read(load(path), path.name).format == path.parent.name


@pytest.mark.parametrize("expected", BAD, ids=ids)
def test_bad_input_is_refused_in_one_line(expected: Path) -> None:
    (path,) = [p for p in expected.parent.glob(expected.stem + ".*") if p.suffix != ".expected"]
    with pytest.raises(CappuncError) as refusal:
        formats.read(load(path), path.name)
    assert str(refusal.value) == expected.read_text(encoding="utf-8").rstrip("\n")


def test_srt_times_of_all_spellings() -> None:
    document = fixture("srt/quirky-times.srt")
    starts = [word.start for word in document.words if word.start is not None]
    assert starts == [1500, 4000, 6500, 9560, 360_000_000]
    assert [pause for pause in pauses(document.words) if pause is not None] == [750, 500, 1560, 10_000]


def test_malformed_srt_is_kept_and_named() -> None:
    document = fixture("srt/broken-cues.srt")
    assert [(notice.line, notice.message) for notice in document.notices] == [
        (1, "text before the first cue, which is never shown"),
        (6, "no blank line before this cue"),
        (9, "blank line inside a cue"),
        (13, "empty cue"),
        (15, "unreadable timing line"),
        (18, "a cue without a timing line"),
    ]
    texts = [word.text for word in document.words]
    assert " ".join(texts) == (
        "the next cue has no blank line and this one has a blank line inside its end was mistyped all is well again"
    )


def test_regions_in_the_syntax_of_the_first_webvtt_are_no_text() -> None:
    head = "WEBVTT\n\nRegion: id=fred width=40% lines=3\nRegion: id=bill scroll=up\n\n"
    document = formats.read(f"{head}00:01.000 --> 00:02.000 region:bill\nhello\n")
    assert (list(document.notices), document.texts) == ([], ["hello"])


@pytest.mark.parametrize("data", ["a.jpg#xywh=0,0,160,90", '{"title": "so we went"}', '[\n {"title": "so"}\n]', "{}"])
def test_the_data_of_metadata_tracks_are_no_text(data: str) -> None:
    source = f"WEBVTT\n\n00:01.000 --> 00:02.000\n{data}\n\n00:02.000 --> 00:03.000\nhome\n"
    assert formats.read(source).texts == ["home"]


def test_a_speaker_in_parentheses_makes_no_sound() -> None:
    words = formats.read("00:01.000 --> 00:02.000\n(speaker 0) so\n\n00:02.000 --> 00:03.000\n(speaker 0) we\n").words
    assert pauses(words) == [0, None]


def test_an_empty_cue_does_not_swallow_the_next_index() -> None:
    last = formats.read("1\n00:00:01,000 --> 00:00:02,000\n2.\n00:00:03,000 --> 00:00:04,000\nhi\n")
    assert [word.text for word in last.words] == ["hi"]


def test_digits_elsewhere_are_words() -> None:
    assert [word.text for word in fixture("srt/no-indices.srt").words][-1] == "42"


def test_malformed_vtt_is_kept_and_named() -> None:
    document = fixture("vtt/malformed.vtt")
    assert [(notice.line, notice.message) for notice in document.notices] == [
        (5, "no blank line before this cue"),
        (9, "text without a timing line"),
        (11, "unreadable timing line"),
        (14, "empty cue"),
    ]
    assert (document.words[-3].start, document.words[-1].end) == (99_000, 101_000)


def test_rolling_captions_have_one_word_for_each_that_was_spoken() -> None:
    document = fixture("vtt/youtube.vtt")
    assert (
        " ".join(word.text for word in document.words)
        == "so have you ever wondered why bread rises i did and then i asked marie"
    )
    assert [len(word.places) for word in document.words] == [3] * 10 + [2] * 5
    starts = [word.start for word in document.words]
    assert starts[:6] == [0, 400, 640, 800, 1120, 2560]
    silence = pauses(document.words)
    assert silence[7] == 980  # after `rises`, which cannot take the 1680 ms until the next word
    assert silence[:4] == [0, 0, 0, 0]


def test_rolling_captions_in_srt() -> None:
    document = fixture("srt/rolling.srt")
    assert " ".join(word.text for word in document.words) == (
        "the first thing to remember is that each line is shown again but nobody said it twice"
    )
    assert [word.start for word in document.words if word.start is not None] == [240, 2879, 5559]
    assert all(word.end is None for word in document.words)  # the ends of cues are those of the next line


def test_a_caption_that_is_shown_again_for_each_highlighted_word_is_spoken_once() -> None:
    sentences, cues = ["so she ran home", "and then", "they slept well"], []
    for sentence in sentences:
        for word in sentence.split():
            times = f"00:00:{len(cues):02d},000 --> 00:00:{len(cues) + 1:02d},000"
            cues.append(f"{times}\n{sentence.replace(word, f'<u>{word}</u>')}\n")
    document = formats.read("\n".join(cues))
    assert [word.text for word in document.words] == " ".join(sentences).split()
    assert [word.start for word in document.words if word.start is not None] == [0, 4000, 6000]
    output = formats.write(document, ["So", "she", "ran", "home,", "and", "then", "they", "slept", "well."])
    assert [output.count(new) for new in ("So", "home,", "well.")] == [4, 4, 3]
    # Somebody who says the same words again takes a breath.
    apart = "\n".join(cue.replace(",000\n", ",900\n") for cue in cues)
    assert len(formats.read(apart).words) == 4 * 4 + 2 * 2 + 3 * 3


def test_a_speaker_who_repeats_words_is_not_rolling() -> None:
    cues = [f"{i}\n00:00:{i:02},000 --> 00:00:{i:02},900\nthank you\n" for i in range(1, 9)]
    assert len(formats.read("\n".join(cues)).words) == 16


@pytest.mark.parametrize(
    ("texts", "turns"),
    [
        (["MAN: perhaps", "the wire", "what", "MAN: faraday"], [1, 1, 1, 1, 2]),  # somebody else has spoken in between
        (["MAN: perhaps", "MAN: faraday"], [1, 1]),
        (["Dora: perhaps", "the wire", "Dora: faraday"], [1, 1, 1, 1]),  # Zoom repeats the name of the speaker
        (["MAN: perhaps", "WOMAN: what", "MAN: faraday"], [1, 2, 3]),
        (["- perhaps\n- <i>the wire</i>", "faraday", "again"], [1, 2, 2, 3, 3]),
        (["perhaps\n- what", "faraday"], [0, 1, 1]),
        (["-5 volts\n-3 volts", "faraday"], [0] * 5),
        (["**Ann:** perhaps", "**Bo Ek**: faraday", "**Bo Ek** (00:12): the wire"], [1, 2, 2, 2]),
        (["__[0:01] Ann:__ perhaps", "**note:** what"], [1, 1, 1]),
        (["Q: perhaps", "A: what", "a: so"], [1, 2, 2, 2]),
        (["(speaker 0) perhaps", "(speaker 1) what", "(speaker ?) so"], [1, 2, 2]),  # whisper.cpp
        (["Ann: perhaps", "Bo:", "what"], [1, 2]),
        (["<c.yellow>perhaps</c>", "<c.cyan>what</c>"], [0, 0]),
        (["[john] perhaps", "[mary] what"], [0, 0]),
        ([">> perhaps\n>> what", "faraday"], [1, 2, 2]),  # the speaker continues until the next chevrons
    ],
)
def test_when_a_turn_starts(texts: list[str], turns: list[int]) -> None:
    cues = [f"{i}\n00:00:0{i},000 --> 00:00:0{i},900\n{text}\n" for i, text in enumerate(texts, 1)]
    assert [word.turn for word in formats.read("\n".join(cues), "talk.srt").words] == turns


def test_turns_follow_the_speakers() -> None:
    assert [word.turn for word in fixture("vtt/voices.vtt").words] == [1] * 5 + [2] * 7 + [3, 4]
    zoom = fixture("vtt/zoom.vtt")
    assert [word.turn for word in zoom.words] == [1] * 5 + [2] * 9 + [3]  # a cue without a name continues the turn
    assert {word.turn for word in fixture("srt/talk.srt").words} == {0}
    assert [word.turn for word in fixture("txt/otter.txt").words] == [1] * 10 + [2] * 5 + [3] * 3
    assert [word.turn for word in fixture("txt/paragraphs.txt").words] == [0] * 37 + [1] * 27 + [2] * 32
    for name, text in (
        ("a.sbv", "0:00:01.000,0:00:02.000\n- so we\n\n0:00:02.000,0:00:03.000\n- hi\n"),
        ("a.tsv", "start\tend\ttext\n0\t1000\t>> so we\n1000\t2000\t>> hi\n"),
        ("a.txt", ">> so we\n>> hi\n"),
    ):
        assert [word.turn for word in formats.read(text, name).words] == [1, 1, 2]


PARAGRAPH = "so perhaps we heard what mister faraday said of the wire\nand of all that he had found in it that year"


@pytest.mark.parametrize(
    ("parts", "turns"),
    [
        ([PARAGRAPH] * 3, [0, 1, 2]),
        ([PARAGRAPH, "chapter two", PARAGRAPH], [0, 0, 0]),  # fifteen words each
        (
            [PARAGRAPH, "chapter two", PARAGRAPH, PARAGRAPH, PARAGRAPH * 2],
            [0, 1, 1, 2, 3],
        ),  # a heading does not end a turn
        (PARAGRAPH.split("\n") * 3, [0] * 6),  # double-spaced lines
        ([PARAGRAPH], [0]),
        ([PARAGRAPH + ".", "“" + PARAGRAPH.upper() + "…"], [0, 1]),
        (["Mary: " + PARAGRAPH, "Mary: " + PARAGRAPH, "Paul: " + PARAGRAPH], [1, 1, 2]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_paragraph_of_plain_text_ends_like_a_turn(parts: list[str], turns: list[int], end: str) -> None:
    text = "\n \n".join(parts).replace("\n", end) + end
    document = formats.read(text, "talk.txt")
    found = [len(part.removeprefix("Mary: ").removeprefix("Paul: ").split()) for part in parts]
    assert [word.turn for word in document.words] == [t for t, n in zip(turns, found, strict=True) for _ in range(n)]
    assert formats.write(document, [word.text for word in document.words]) == text


def test_ctm_marks_with_rows_of_their_own() -> None:
    document = fixture("ctm/mark-rows.ctm")
    texts = [word.text for word in document.words]
    assert texts == ["good", "morning,", "dr", "Jones.", "is", "it", "raining"]
    texts[0], texts[1], texts[3], texts[6] = "Good", "Morning.", "Jones", "raining?"
    rows = formats.write(document, texts).split("\n")
    assert rows[0] == "call.wav 1 1 1 Good"
    assert rows[1:3] == ["call.wav 1 2 1 Morning", "call.wav 1 2 1 ."]
    assert rows[4:6] == ["call.wav 1 5 1 Jones", "call.wav 1 7 1 <unk>"]  # the row was removed with its mark
    assert rows[-2:] == ["call.wav 1 11 1 raining", "call.wav 1 11 1 ?"]
    formats.verify(document, "\n".join(rows))


def test_ctm_marks_are_attached_to_their_words() -> None:
    document = fixture("ctm/mark-rows.ctm")
    texts = [word.text for word in document.words]
    output = formats.write(document, [*texts[:-1], "raining?"], attach=True)
    assert [row.split()[4] for row in output.splitlines()] == [
        "good", "morning,", "dr", "Jones.", "<unk>", ".", "is", "it", "raining?"
    ]  # fmt: skip
    formats.verify(document, output)
    # Without rows of marks there is nothing to attach.
    plain = fixture("ctm/plain.ctm")
    assert formats.write(plain, [word.text for word in plain.words], attach=True) == load(FIXTURES / "ctm/plain.ctm")


def test_ctm_leaves_what_scoring_tools_read() -> None:
    document = fixture("ctm/scoring.ctm")
    assert [(w.text, w.start, w.end, w.turn) for w in document.words] == [
        ("OKAY", 250, 680, 1),
        ("WHAT", 1270, 1420, 1),
        ("YOU", 1660, 1720, 1),
        ("THINK", 2100, 2330, 1),
        ("YEAH", 3100, None, 2),
        ("RIGHT", None, None, 2),
    ]
    output = formats.write(document, ["Okay,", "what", "you", "think?", "Yeah —", "Right."])
    assert "YOU;tag1" not in output
    assert "you;tag1" in output
    assert "Yeah—\n" in output  # a column has no spaces
    formats.verify(document, output)


def test_ctm_speakers_in_the_eighth_column() -> None:
    document = fixture("ctm/speakers.ctm")
    assert [(word.text, word.turn) for word in document.words] == [
        ("shall", 1), ("we", 1), ("begin", 1), ("uh", 2), ("sure", 2)
    ]  # fmt: skip


def test_odd_ctm_rows_are_kept_and_named() -> None:
    assert [notice.line for notice in fixture("ctm/odd-rows.ctm").notices] == [2, 4]


SRT_CUE = "1\n00:00:01,000 --> 00:00:02,000\n"


@pytest.mark.parametrize("head", ["", "WEBVTT\r\r\n\r\r\n"])
def test_a_carriage_return_too_many_makes_no_blank_lines(head: str) -> None:
    cues = "1\r\r\n00:01.000 --> 00:02.000\r\r\nso\r\r\n\r\r\n2\r\r\n00:02.000 --> 00:03.000\r\r\nyes\r\r\n"
    document = formats.read(head + cues)
    assert [(word.text, word.start, word.end) for word in document.words] == [("so", 1000, 2000), ("yes", 2000, 3000)]
    assert not document.notices
    assert formats.write(document, ["So,", "yes."]) == head + cues.replace("so", "So,").replace("yes", "yes.")


def test_a_blank_line_after_every_line_separates_no_index_from_its_cue() -> None:
    lines = ["1", "00:01.000 --> 00:02.000", "so we", "went", "", "2", "00:02.000 --> 00:03.000", "home", ""]
    document = formats.read("\n\n".join(lines))
    assert document.texts == ["so", "we", "went", "home"]
    assert not any(notice.unread for notice in document.notices)
    # A number in the text has text before it or its timing line.
    numbers = formats.read(
        "00:01.000 --> 00:02.000\n\n1\n\n00:02.000 --> 00:03.000\nso\n2\n\n00:03.000 --> 00:04.000\n3\n"
    )
    assert numbers.texts == ["so", "2", "3"]


def test_a_name_before_the_times_of_a_cue_is_no_speech() -> None:
    source = "00:01.000 --> 00:02.000\nso we\n\nscene-2\n00:02.000 --> 00:03.000\nwent\n\nhome\n"
    document = formats.read(source, "talk.srt")
    assert document.texts == ["so", "we", "went", "home"]
    # Without a blank line before it, or as the only text of a cue, it is speech.
    for speech in (source.replace("\n\nscene-2", "\nscene-2"), source.replace("so we", "")):
        assert "scene-2" in formats.read(speech, "talk.srt").texts


def test_tags_with_spaces_are_tags() -> None:
    line = '< i >so we</ i > < / b ><font color = "# ff0000" >went< /font > 2 < 3 if a < x > y'
    document = formats.read(SRT_CUE + line + "\n")
    texts = document.texts
    assert texts == ["so", "we", "went", "2", "3", "if", "a", "x", "y"]
    new = ["So", "we", "went.", *texts[3:-1], "y."]
    expected = '< i >So we</ i > < / b ><font color = "# ff0000" >went.< /font > 2 < 3 if a < x > y.'
    assert formats.write(document, new) == SRT_CUE + expected + "\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<?xml version="1.0"?>\n<DCSubtitle></DCSubtitle>', "digital cinema.*not supported"),
        ('<?xml version="1.0"?>\n<MPD></MPD>', "XML.*not supported"),
        ("TITLE: film\nFCM: NON-DROP FRAME\n", "cuts and markers.*not supported"),
        ('"Praat chronological TextGrid text file"\n', "TextGrid.*not supported"),
        ("SPEAKER file 1 0.0 3.5 <NA> <NA> bob <NA> <NA>\n", "RTTM.*it has no words; give it with --speakers-from"),
        ("{\\rtf1 hello}", "RTF.*not supported"),
    ],
)
def test_known_kinds_that_are_not_supported_are_named(text: str, kind: str) -> None:
    with pytest.raises(UnknownFormat, match=kind):
        formats.read(text, "transcript.txt")


def test_a_name_is_refused_unless_the_content_shows_another_format() -> None:
    with pytest.raises(BadInput, match=r"no line such as \{25\}"):
        formats.read("hello there", "talk.sub")
    with pytest.raises(BadInput, match="Events"):
        formats.read("hello there", "talk.ass")
    with pytest.raises(UnknownFormat, match="no format is called docx"):
        formats.read("hello", format="docx")


@pytest.mark.parametrize(
    "name",
    ["x.py", "X.PY", "main.c", "app.js", "run.sh", "site.css", "paper.tex", "set.toml", "Makefile", "CMakeLists.txt"],
)
def test_program_code_is_read_as_text_only_on_request(name: str) -> None:
    with pytest.raises(UnknownFormat, match=r"program code.*; --format txt reads it as text"):
        formats.read("if it is so then\n", name)
    assert formats.read("if it is so then\n", name, "txt").format == "txt"
    assert formats.read(SRT_CUE + "hi", name).format == "srt"


def test_a_script_is_recognised_by_its_first_line() -> None:
    for first in ("#!/bin/sh", "#! /usr/bin/env python3"):
        with pytest.raises(UnknownFormat, match="program code"):
            formats.read(f"{first}\necho hello\n")
    assert formats.read("#!hello there\n").format == "txt"


@pytest.mark.parametrize("name", ["talk.txt", "talk.md", "talk.text", "talk", "talk.2024", "makefile-talk.txt"])
def test_text_stays_text(name: str) -> None:
    assert formats.read("if it is so then\n", name).format == "txt"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("hello there", "hello their", "another"),
        ("hello there", "hello", "1 words in place of 2"),
        ("hello  there", "hello there", "more than words"),
        ("00:00:01,000", "00:00:01,001", "moved in time"),
        ("X1:5", "X1:6", "more than words"),
    ],
)
def test_verify_finds_every_other_change(old: str, new: str, what: str) -> None:
    source = "1\n00:00:01,000 --> 00:00:02,000 X1:5\n" + (old if old.startswith("hello") else "hello you") + "\n"
    document = formats.read(source)
    formats.verify(document, source)
    with pytest.raises(BadInput, match=what):
        formats.verify(document, source.replace(old, new))


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("so « we »", "so « we"),
        ("so «\xa0we\xa0»", "so « we\xa0»"),
        ("so *we*", "so *we"),
        ("so we\u2009”", "so we”"),
    ],
)
def test_verify_compares_brackets_and_spaces_around_words(text: str, output: str) -> None:
    document = formats.read(text, "talk.txt")
    formats.verify(document, text.upper().replace("WE", "WE."))
    with pytest.raises(BadInput):
        formats.verify(document, output)


def test_verify_compares_every_place_that_shows_a_word() -> None:
    head = "[Events]\nFormat: Layer, Start, End, Text\n"
    source = head + "".join(f"Dialogue: {i},0:00:01.00,0:00:02.00,so\n" for i in range(2))
    document = formats.read(source, "talk.ass")
    formats.verify(document, source.replace("so", "So,"))
    with pytest.raises(BadInput):
        formats.verify(document, source[:-3] + "no\n")


# What other libraries read in our results.


def test_pysrt_sees_the_same_talk() -> None:
    document = fixture("srt/talk.srt")
    cues = pysrt.from_string(load(FIXTURES / "srt/talk.srt"))
    assert [word.text for word in document.words] == [token for cue in cues for token in cue.text.split()]
    assert [word.start for word in document.words if word.start is not None] == [cue.start.ordinal for cue in cues]
    assert [word.end for word in document.words if word.end is not None] == [cue.end.ordinal for cue in cues]
