"""`cappunc convert`, captions of files whose words have no times, and who speaks in both."""

from __future__ import annotations

import io
import json
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pysrt
import pysubs2
import pytest
import webvtt
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cappunc_cli import formats
from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Word, spread_times, untimed
from cappunc_cli.files.encodings import decode
from cappunc_cli.languages import language
from cappunc_cli.layout.transcripts import paragraphs

VTT = """WEBVTT

00:01.000 --> 00:03.000 line:10%
<v Anna Lee>So we <i>went</i> home & slept.

00:03.500 --> 00:06.000
<v Bob>[laughs] Where is the {cat}?
It was there.
"""


def cappunc(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def converted(path: Path, kind: str, *more: str) -> str:
    run = cappunc("convert", "--no-restore", path, "--to", kind, "-o", "-", *more)
    assert run.exit_code == 0, run.output
    return run.stdout


def refused(path: Path, kind: str, *more: str) -> str:
    """Why a file is not converted: nothing is written."""
    run = cappunc("convert", "--no-restore", "--lang", "en", path, "--to", kind, "-o", "-", *more)
    assert (run.exit_code, run.stdout_bytes) == (1, b"")
    return run.stderr


def recognised(path: Path, words: list[dict[str, object]]) -> Path:
    """Words as Whisper's JSON."""
    text = " ".join(str(word["word"]) for word in words)
    segments = [{"start": 0, "end": 6, "text": text, "words": words}]
    path.write_text(json.dumps({"segments": segments, "word_segments": words}), "utf-8")
    return path


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.vtt"
    path.write_text(VTT.replace("{cat}", "cat"), "utf-8")
    return path


def test_cues_stay_cues_with_their_sounds_and_signs(talk: Path) -> None:
    lines = [("So we went home & slept.",), ("[laughs] Where is the cat?", "It was there.")]
    srt = pysrt.from_string(converted(talk, "srt", "--no-speakers"))
    assert [(c.start.ordinal, c.end.ordinal, tuple(c.text.split("\n"))) for c in srt] == [
        (1000, 3000, (r"{\an8}So we <i>went</i> home & slept.",)),
        (3500, 6000, lines[1]),
    ]
    assert pysrt.from_string(converted(talk, "srt"))[1].text.startswith("Bob: [laughs] Where")
    vtt = webvtt.from_string(converted(talk, "vtt"))
    assert [(c.start, c.voice) for c in vtt] == [("00:00:01.000", "Anna Lee"), ("00:00:03.500", "Bob")]
    ass = [line for line in converted(talk, "ass").splitlines() if line.startswith("Dialogue:")]
    assert ass == [
        "Dialogue: 0,0:00:01.00,0:00:03.00,Default,Anna Lee,0,0,0,,{\\an8}So we {\\i1}went{\\i0} home & slept.",
        r"Dialogue: 0,0:00:03.50,0:00:06.00,Default,Bob,0,0,0,,[laughs] Where is the cat?\NIt was there.",
    ]
    tree = ElementTree.fromstring(converted(talk, "ttml"))
    cues = [e for e in tree.iter() if e.tag.endswith("}p")]
    assert [(e.get("begin"), " ".join("\n".join(e.itertext()).split())) for e in cues] == [
        ("00:00:01.000", lines[0][0]),
        ("00:00:03.500", " ".join(lines[1])),
    ]


def test_each_of_several_voices_in_a_cue_is_named(tmp_path: Path) -> None:
    path = tmp_path / "talk.vtt"
    cues = (
        "<v Ada>did you",
        "<v Ada>yes</v><v Bo Lee>no\nnever</v>",
        "<v Bo Lee>so it is",
        "<v Bo Lee>ah</v><v Ada>oh",
    )
    path.write_text(
        "WEBVTT\n\n" + "\n\n".join(f"00:0{i}.000 --> 00:0{i}.900\n{c}" for i, c in enumerate(cues)), "utf-8"
    )
    srt = [cue.text for cue in pysrt.from_string(converted(path, "srt", "--lang", "en"))]
    assert srt == ["Ada: did you", "yes\nBo Lee: no\nnever", "so it is", "ah\nAda: oh"]
    fields = [
        ("Ada", "did you"),
        (None, "Ada: yes\nBo Lee: no\nnever"),
        ("Bo Lee", "so it is"),
        (None, "Bo Lee: ah\nAda: oh"),
    ]
    assert [(c.voice, c.text) for c in webvtt.from_string(converted(path, "vtt", "--lang", "en"))] == fields
    ass = [row.split(",", 9) for row in converted(path, "ass", "--lang", "en").splitlines() if row.startswith("Dial")]
    assert [(row[4] or None, row[9].replace(r"\N", "\n")) for row in ass] == fields
    bare = [cue.text for cue in pysrt.from_string(converted(path, "srt", "--lang", "en", "--no-speakers"))]
    assert bare == ["did you", "yes\nno\nnever", "so it is", "ah\noh"]


def test_a_line_of_lrc_is_shown_until_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "song.lrc"
    path.write_text(
        "[ti:A]\n[00:04.20]the kettle sings\n[00:08.65]<00:08.65>not <00:09.10>awake <00:09.90>\n[00:10.00]", "utf-8"
    )
    times = [(c.start.ordinal, c.end.ordinal) for c in pysrt.from_string(converted(path, "srt", "--lang", "en"))]
    assert times == [(4200, 8650), (8650, 9900)]
    path.write_text("[00:04.20]the kettle\n[00:12.00]\n[00:13.00]who sang this", "utf-8")
    first, last = pysrt.from_string(converted(path, "srt", "--lang", "en"))
    assert (first.end.ordinal, last.start.ordinal) == (12_000, 13_000)
    assert 13_300 < last.end.ordinal < 16_000
    path.write_text("[00:04.20]the kettle\n[00:12.00] [00:20.00]who sang this\n[00:13.00]nobody", "utf-8")
    assert f"{path}:2: a line with several times: “who sang this”" in refused(path, "srt")


@pytest.mark.parametrize("command", ["captions --to srt", "convert --to txt", "convert --to md", "convert --to json"])
def test_times_of_lrc_that_are_left_out_are_told(tmp_path: Path, command: str) -> None:
    path = tmp_path / "song.lrc"
    once = "[ti:A]\n[00:04.20]the kettle\n[00:07.00]\n"
    path.write_text(f"{once}[00:12.00][00:20.00][00:30.00]who sang this\n[00:08.00] [00:28.00]\n", "utf-8")
    options = ("--no-restore", "--lang", "en", path, "-o", "-")
    assert "left out: all times but the first of 1 line\n" in cappunc(*command.split(), *options).stderr
    path.write_text(once, "utf-8")
    assert "left out" not in cappunc(*command.split(), *options).stderr


def test_readable_transcripts(talk: Path) -> None:
    assert converted(talk, "txt", "--times") == (
        "[00:00:01] Anna Lee: So we went home & slept.\n\n[00:00:03] Bob: [laughs] Where is the cat? It was there.\n"
    )
    text = "So we went home & slept.\n\n[laughs] Where is the cat? It was there.\n"
    assert converted(talk, "md", "--no-speakers") == text


def test_a_paragraph_of_one_number_is_no_list_in_markdown(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Anna: When was that?\nBo: 1984.\nAnna: Ah, 1984.\n", "utf-8")
    # CommonMark reads `1984.` alone as the number of an empty list item.
    text = converted(tmp_path / "talk.txt", "md", "--lang", "en", "--no-speakers")
    assert text == "When was that?\n\n1984\\.\n\nAh, 1984.\n"


def test_words_as_json(talk: Path) -> None:
    found = json.loads(converted(talk, "json"))
    assert [(s["start"], s["end"], s["speaker"]) for s in found["segments"]] == [(1, 3, "Anna Lee"), (3.5, 6, "Bob")]
    words = [word for segment in found["segments"] for word in segment["words"]]
    assert [w["word"] for w in words][:3] == ["So", "we", "went"]
    assert all(a["start"] <= a["end"] <= b["start"] for a, b in pairwise(words))


def test_times_that_words_of_json_share_are_reported(talk: Path, tmp_path: Path) -> None:
    run = cappunc("convert", "--no-restore", talk, "--to", "json", "-o", "-")
    assert "10 of 12 words have no times of their own: interpolated within their segments" in run.stderr
    plain = tmp_path / "plain.txt"
    plain.write_text("Where is the cat?\n", "utf-8")
    assert "interpolated" not in cappunc("convert", "--no-restore", plain, "--to", "json", "-o", "-").stderr


def test_words_beside_one_without_a_time_keep_their_times_in_json(tmp_path: Path) -> None:
    rows = [("2014", None), ("was", 1.6), ("late", 2), ("by", 4), ("30", None), ("days", 5), ("or", 7), ("so", None)]
    words = [{"word": w, **({} if t is None else {"start": t, "end": t + 0.25, "score": 1})} for w, t in rows]
    segments = [{"text": " ".join(w for w, _ in rows[a:b]), "words": words[a:b]} for a, b in ((0, 3), (3, 6), (6, 8))]
    (tmp_path / "talk.json").write_text(json.dumps({"segments": segments, "word_segments": words}), "utf-8")
    text = converted(tmp_path / "talk.json", "json")
    found = json.loads(text)["segments"]
    assert [(s["start"], s["end"]) for s in found] == [(1.6, 2.25), (4, 5.25), (7, 7.25)]
    assert [(w["word"], w.get("start"), w.get("end")) for s in found for w in s["words"]] == [
        (w, t, None if t is None else t + 0.25) for w, t in rows
    ]
    again = formats.read(text, "x.json").words
    assert [word.start for word in again] == [None if t is None else 1000 * t for _, t in rows]


def test_text_without_times_becomes_json_that_has_none(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("Anna: So we went.\n", "utf-8")
    text = converted(tmp_path / "talk.txt", "json")
    assert json.loads(text)["segments"] == [{"start": None, "end": None, "speaker": "Anna", "text": "So we went."}]
    assert formats.read(text, "x.json").texts == ["So", "we", "went."]


def test_words_that_would_become_markup_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nsets {x} of words\n", "utf-8")
    assert "“{” in “sets {x} of words” would be read as a code of ASS" in refused(path, "ass")


@pytest.mark.parametrize("names", [(), ("--no-speakers",)])
def test_srt_cannot_say_what_looks_like_a_tag(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = tmp_path / "talk.vtt"
    for tag, status in (("&lt;i&gt;", 1), ("&lt;font color=red&gt;", 1), ("&lt;", 0)):
        path.write_text(f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>use {tag} there, it said.\n", "utf-8")
        run = cappunc("convert", "--no-restore", path, "--to", "srt", "-o", "-", *names)
        assert run.exit_code == status, run.output
        assert ("would be shown as" in run.stderr) == bool(status)
        assert ("use < there, it said." in run.stdout) != bool(status)
        assert f"use {tag} there, it said." in converted(path, "vtt")


@pytest.mark.parametrize("kind", ["srt", "vtt", "ttml"])
def test_invisible_characters_are_kept(tmp_path: Path, kind: str) -> None:
    words = [{"word": word, "start": i, "end": i + 1} for i, word in enumerate(("So", "\u200fwe\u200f", "we\u200bnt."))]
    assert "So \u200fwe\u200f we\u200bnt." in converted(recognised(tmp_path / "talk.json", words), kind)


@pytest.mark.parametrize("kind", ["srt", "vtt", "ass", "ttml"])
def test_cues_before_zero_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "talk.srt"
    path.write_text("1\n-00:00:01,000 --> 00:00:02,000\nit was late\n", "utf-8")
    (line,) = refused(path, kind).splitlines()
    assert "“it was late” is shown from -00:00:01.000 to 00:00:02.000" in line


@pytest.mark.parametrize("command", ["convert", "captions"])
@pytest.mark.parametrize(("first", "note"), [(-0.2, "1 word before zero: shown from zero"), (0.2, "")])
def test_words_before_zero_are_reported(tmp_path: Path, command: str, first: float, note: str) -> None:
    words = [{"word": "It", "start": first, "end": first + 0.5}, {"word": "was.", "start": first + 1, "end": 2}]
    run = cappunc(command, "--no-restore", recognised(tmp_path / "talk.json", words), "--to", "srt", "-o", "-")
    assert run.exit_code == 0, run.output
    assert "It was." in run.stdout
    assert note in run.stderr
    assert ("before zero" in run.stderr) == bool(note)


@pytest.mark.parametrize(
    "command",
    ["captions --to srt", *(f"convert --to {kind}" for kind in ("srt", "vtt", "ass", "ttml", "txt", "md", "json"))],
)
def test_half_a_character_is_refused_in_one_line(tmp_path: Path, command: str) -> None:
    # Half of an emoji, as programs leave it that cut a text after so many UTF-16 units.
    (tmp_path / "a.json").write_text('{"segments": [{"text": " it was late\\ud83d now", "start": 0, "end": 3}]}')
    (tmp_path / "b.json").write_text('{"segments": [{"text": " it was late now", "start": 0, "end": 3}]}')
    run = cappunc(*command.split(), "--no-restore", tmp_path, "-o", tmp_path / "out")
    assert run.exit_code == 1
    (line,) = [line for line in run.stderr.splitlines() if "a.json" in line]
    assert "\\ud83d" in line
    assert [path.stem for path in (tmp_path / "out").glob("[!.]*")] == ["b"]


def test_where_the_result_goes(talk: Path) -> None:
    run = cappunc("convert", "--no-restore", talk, "-o", talk.with_name("new.srt"))
    assert run.exit_code == 0
    assert talk.with_name("new.srt").read_text("utf-8").startswith("1\n00:00:01,000")
    assert "already exists" in cappunc("convert", "--no-restore", talk, "-o", talk.with_name("new.srt")).stderr
    assert cappunc("convert", talk, "-o", "-").exit_code == 2
    assert cappunc("convert", talk, "--to", "srt", "-o", "x.vtt").exit_code == 2


@pytest.mark.parametrize(
    ("how", "first"), [("none", "So"), ("dash", "- So"), ("name", "Anna Lee: So"), ("voice", "<v Anna Lee>So")]
)
def test_captions_show_who_speaks(talk: Path, how: str, first: str) -> None:
    run = cappunc("captions", "--no-restore", talk, "--to", "vtt", "--speakers", how, "-o", "-")
    assert run.exit_code == 0, run.output
    assert run.stdout.split("\n")[3].startswith(first)
    if how == "voice":
        assert cappunc("captions", talk, "--to", "srt", "--speakers", how).exit_code == 2


# --- times that are shared out


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 5), st.booleans()), min_size=1, max_size=12),
)
def test_words_share_the_times_of_their_cue(cues: list[tuple[int, int, bool]]) -> None:
    words, at = [], 0
    for n, (length, count, ends) in enumerate(cues):
        for i in range(count):
            start, end = (at if i == 0 else None), (at + length if ends and i + 1 == count else None)
            words.append(Word("word" * (1 + i % 3), start, end, cue=n))
        at += length + 10
    spread = list(spread_times(words))
    assert untimed(spread) == 0
    for old, new in zip(words, spread, strict=True):
        assert old.start in (None, new.start)
        assert old.end in (None, new.end)
        assert new.start is not None
        assert new.end is not None
        assert new.start <= new.end
    assert all((a.end or 0) <= (b.start or 0) for a, b in pairwise(spread))


def test_longer_words_get_more_of_the_time() -> None:
    (one, other) = spread_times([Word("a", 0, None), Word("caterpillar", None, 1000)])
    assert (one.end or 0) < 300
    assert other.start == one.end


# --- paragraphs


def test_a_pause_after_an_abbreviation_or_an_initial_begins_no_paragraph() -> None:
    texts = ["We", "met", "Dr.", "Smith", "and", "George", "W.", "Bush.", "Then", "we", "left."]
    starts = [0, 500, 1000, 9000, 9500, 10000, 10500, 20000, 30000, 30500, 31000]
    words = [Word(text, start, start + 400) for text, start in zip(texts, starts, strict=True)]
    assert paragraphs(words, texts, language("en")) == [(0, 8), (8, 11)]


def test_a_paragraph_begins_where_the_subject_shifts() -> None:
    boats = "The harbour sailors mended their fishing boats before the stormy tide. " * 7
    bread = "Then bakers kneaded sourdough bread dough inside warm village ovens. " * 7
    texts = f"{boats}{bread}".split()
    found = paragraphs([Word(text) for text in texts], texts, language("en"))
    assert len(boats.split()) in [stop for _, stop in found]
    assert [a for a, _ in found[1:]] == [b for _, b in found[:-1]]


@given(st.lists(st.sampled_from(["yes.", "no", "maybe,", "then", "London!"]), max_size=400), st.integers(1, 50))
def test_paragraphs_have_each_word_once_and_no_two_speakers(texts: list[str], turn: int) -> None:
    words = [Word(text, turn=i // (4 * turn)) for i, text in enumerate(texts)]
    found = paragraphs(words, texts, language("en"))
    assert [i for start, stop in found for i in range(start, stop)] == list(range(len(texts)))
    assert all(words[start].turn == words[stop - 1].turn for start, stop in found)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nwe went\n\n2\n00:00:03,000 00:00:04,000\nhome\n", 5),
        ("a.srt", "1\nwe went\n\n2\n00:00:01,000 --> 00:00:02,000\nhome\n", 1),
        ("a.srt", "00:00:00,000 00:00:01,000\nwe went\n\n2\n00:00:01,000 --> 00:00:02,000\nhome\n", 1),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nwe went\n\n00:03.000 -> 00:04.000\nhome\n", 6),
        ("a.sbv", "we went\n\n0:00:01.000,0:00:02.000\nhome\n", 1),
        ("a.lrc", "[00:01.00]we went\nhome\n", 2),
        ("a.tsv", "start\tend\ttext\n0\t900\twe went\n900\thome\n", 3),
        ("a.ctm", "t 1 0.1 0.2 we\nt 1 0.3 0.2 went\nt 1 0.6 home\n", 3),
        ("a.stm", "t 1 anna 0.1 0.9 we went\nt 1 anna 0.9 home\n", 2),
    ],
)
@pytest.mark.parametrize("command", ["convert", "captions"])
def test_text_that_the_new_file_would_lack_is_refused(
    tmp_path: Path, command: str, name: str, text: str, line: int
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    run = cappunc(command, "--no-restore", path, "--to", "vtt", "-o", tmp_path / "new.vtt")
    assert run.exit_code == 1
    assert f"{name}:{line}: " in run.stderr.splitlines()[-1]
    assert "the new file would lack its text" in run.stderr
    assert not (tmp_path / "new.vtt").exists()


@pytest.mark.parametrize("command", ["convert", "captions"])
def test_a_file_in_an_unknown_encoding_is_refused(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.srt").write_bytes(b"1\n00:00:01,000 --> 00:00:02,000\nso \xb1\xdf\xa4W\xa6n it \x81 is\n")
    run = cappunc(command, "--no-restore", "--lang", "en", tmp_path / "a.srt", "-o", tmp_path / "b.vtt")
    assert run.exit_code == 1
    assert "its encoding is unknown; name it with --encoding" in run.stderr
    assert not (tmp_path / "b.vtt").exists()


def test_json_has_no_part_of_a_character(tmp_path: Path) -> None:
    cut = "1\n00:00:01,000 --> 00:00:02,000\nrenée and the café".encode()[:-1] + b" said so\n"
    (tmp_path / "a.srt").write_bytes(cut)
    run = cappunc("convert", "--no-restore", "--lang", "en", tmp_path / "a.srt", "-o", tmp_path / "a.json")
    assert (run.exit_code, (tmp_path / "a.json").exists()) == (1, False)
    assert "part of a character cannot be written in JSON" in run.stderr
    run = cappunc("convert", "--no-restore", "--lang", "en", tmp_path / "a.srt", "-o", tmp_path / "a.vtt")
    assert run.exit_code == 0
    assert b"the caf\xc3 said so" in (tmp_path / "a.vtt").read_bytes()


@pytest.mark.parametrize("command", ["convert", "captions"])
def test_credits_before_the_first_cue_are_left_out(tmp_path: Path, command: str) -> None:
    path = tmp_path / "a.srt"
    path.write_text("Subtitles by Anna\n\n1\n00:00:01,000 --> 00:00:02,000\nhome\n", "utf-8")
    run = cappunc(command, "--no-restore", path, "--to", "vtt", "-o", tmp_path / "new.vtt")
    assert run.exit_code == 0
    assert "a.srt:1: warning: text before the first cue, which is never shown" in run.stderr
    assert "Anna" not in (tmp_path / "new.vtt").read_text("utf-8")


# --- what was shown is in the result

SAMI = """<SAMI><BODY>
<SYNC Start=1000><P Class=ENCC>- so we went<br>- home (door slams)
<SYNC Start=1000><P Class=KRCC>안녕<br>하세요
<SYNC Start=3000><P Class=ENCC>&nbsp;<P Class=KRCC>&nbsp;
<SYNC Start=5000><P Class=ENCC>(door slams)
<SYNC Start=7000><P Class=ENCC>&nbsp;
</BODY></SAMI>
"""


def cues(text: str) -> list[tuple[int, int, str]]:
    return [(cue.start.ordinal, cue.end.ordinal, cue.text) for cue in pysrt.from_string(text)]


def test_sami_keeps_its_cues_lines_dashes_sounds_and_the_times_of_both_languages(tmp_path: Path) -> None:
    (tmp_path / "a.smi").write_text(SAMI, "utf-8")
    assert cues(converted(tmp_path / "a.smi", "srt", "--lang", "en")) == [
        (1000, 3000, "- so we went\n- home (door slams)"),
        (1000, 3000, "안녕\n하세요"),
        (5000, 7000, "(door slams)"),
    ]


#: Lines that roll up, as YouTube writes them, after a sound.
ROLLING = """00:00.000 --> 00:04.390
 \n[Music]

00:04.390 --> 00:04.400
[Music]
 \n
00:04.400 --> 00:06.869
[Music]
the<00:04.799><c> first</c><00:04.960><c> thing</c>

00:06.869 --> 00:06.879
the first thing
 \n
00:06.879 --> 00:08.549
the first thing
is<00:07.120><c> that</c><00:07.440><c> the</c><00:07.680><c> index</c><00:08.320><c> is</c><00:08.400><c> stale</c>

00:08.549 --> 00:08.559
is that the index is stale
 \n
00:08.559 --> 00:11.430
is that the index is stale
and<00:08.900><c> nobody</c><00:09.200><c> knew</c>
"""


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("a.sbv", "[SUBTITLE]\n00:00:01.00,00:00:02.50\nso we went[br]home\n", "so we went\nhome"),
        ("a.srt", "0:0:1,0 --> 0:0:2,5\nso\n0:0:3,0 --> 0:0:4,0\n42\n0:0:5,0 --> 0:0:6,0\nah", "so 42 ah"),
        ("a.vtt", "WEBVTT\n\nregion\nid:fred\n\n00:01.000 --> 00:02.500\nso we went", "so we went"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.500\n<ruby>tokyo<rt>tōkyō</rt></ruby> is far", "tokyo tōkyō is far"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.500\n1 &lt; 2 &amp; 3", "1 < 2 & 3"),
        ("a.vtt", f"WEBVTT\n\n{ROLLING}", "[Music] the first thing is that the index is stale and nobody knew"),
    ],
)  # fmt: skip
def test_lines_that_are_shown_stay(tmp_path: Path, name: str, text: str, shown: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    found = cues(converted(tmp_path / name, "srt", "--lang", "en"))
    assert " ".join(text for _, _, text in found).split() == shown.split()
    assert "\n" not in shown or found[0][2] == shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nfell 3 % today (x).\n"),
        ("a.txt", "HR & legal met, see www.example.org\n(door slams)\nfell 3 % today & 2 < 3\n♪ la la ♪\n"),
        ("a.ctm", "a 1 0.1 0.2 fell\na 1 0.3 0.2 3\na 1 0.5 0.1 %\na 1 0.7 0.1 today\na 1 0.9 0.1 again\n"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n[laughs]\n\n00:02.000 --> 00:03.000\nyes [sighs] no & more\n"),
    ],
)
def test_signs_sounds_and_addresses_stay_in_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    found = converted(tmp_path / name, "txt", "--lang", "en").split()
    skipped = {"WEBVTT", "-->", "a"}
    shown = [
        part for part in text.split() if part not in skipped and not re.fullmatch(r"[0-9:.,]*[:.,][0-9:.,]*|1", part)
    ]
    assert found == shown


def test_a_name_as_zoom_gives_it_starts_a_turn(tmp_path: Path) -> None:
    lines = ["Ada Byron: did you see it", "iPhone-12: i hope so", "Ada Byron: fine"]
    blocks = [f"{i}\n00:00:0{i}.000 --> 00:00:0{i}.900\n{line}\n" for i, line in enumerate(lines, 1)]
    (tmp_path / "a.vtt").write_text("WEBVTT\n\n" + "\n".join(blocks), "utf-8")
    text = converted(tmp_path / "a.vtt", "txt", "--lang", "en")
    assert text == "Ada Byron: did you see it\n\niPhone-12: i hope so\n\nAda Byron: fine\n"


# --- speakers


def diarised(path: Path, *names: str) -> Path:
    said = enumerate(["So", "what?", "Not", "much.", "Well", "then."])
    return recognised(path, [{"word": w, "start": i, "end": i + 0.5, "speaker": names[i // 2]} for i, w in said])


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("SPEAKER_00", "SPEAKER_01", "SPEAKER_00"), ("Speaker 1", "Speaker 2", "Speaker 1")),
        (("spk_1", "spk_2", "spk_1"), ("Speaker 1", "Speaker 2", "Speaker 1")),
        (("A", "B", "A"), ("Speaker A", "Speaker B", "Speaker A")),
        (("Ann Lee", "Bob", "Ann Lee"), ("Ann Lee", "Bob", "Ann Lee")),
    ],
)
def test_labels_of_recognisers_become_names(tmp_path: Path, labels: tuple[str, ...], names: tuple[str, ...]) -> None:
    path = diarised(tmp_path / "a.json", *labels)
    found = converted(path, "txt", "--lang", "en", "--times")
    assert re.findall(r"\] (.*?):", found) == list(names)
    assert re.findall(r"<v (.*?)>", converted(path, "vtt", "--lang", "en")) == list(names)


@pytest.mark.parametrize(("fps", "end"), [("25", "00:00:02,000"), ("50", "00:00:01,000"), (None, "00:00:02,085")])
def test_the_frame_rate_counts_for_files_that_do_not_tell_theirs(tmp_path: Path, fps: str | None, end: str) -> None:
    path = tmp_path / "film.sub"
    path.write_text("{25}{50}so we went\n", "utf-8")
    assert f"--> {end}\n" in converted(path, "srt", "--lang", "en", *(["--fps", fps] if fps else []))
    path.write_text("{1}{1}100\n{25}{50}so we went\n", "utf-8")
    assert "00:00:00,250 --> 00:00:00,500" in converted(path, "srt", "--lang", "en", *(["--fps", fps] if fps else []))


def test_what_a_format_has_no_room_for_is_not_lost_in_another() -> None:
    """The first block of this subtitle is full; `fix` has to leave the mark out."""
    fixtures = Path(__file__).resolve().parents[3] / "fixtures"
    document = formats.read(decode((fixtures / "ebu-stl/two-blocks.stl").read_bytes())[0], "a.stl")
    wanted = [f"{word.text}," for word in document.words]
    assert formats.read(formats.write(document, wanted), "a.stl").texts != wanted
    assert formats.with_texts(document, wanted).texts == wanted


def test_names_that_are_asked_for_and_printed_once(tmp_path: Path) -> None:
    path = diarised(tmp_path / "a.json", "SPEAKER_00", "SPEAKER_01", "SPEAKER_01")
    more = ("--lang", "en", "--speaker", "SPEAKER_00=Ann Lee", "--speaker", "SPEAKER_01=Bob Ray")
    assert converted(path, "txt", *more, "--times").count("Bob Ray:") == 1
    assert "<h2>Ann Lee</h2>" in converted(path, "html", *more)
    assert {s["speaker"] for s in json.loads(converted(path, "json", *more))["segments"]} == {"Ann Lee", "Bob Ray"}
    run = cappunc("convert", "--no-restore", path, "--to", "txt", "-o", "-", "--speaker", "nobody")
    assert (run.exit_code, run.stdout) == (2, "")


def test_marks_with_entries_of_their_own_are_attached(tmp_path: Path) -> None:
    items = [
        {"type": "pronunciation", "start_time": "0.1", "end_time": "0.4", "alternatives": [{"content": "hello"}]},
        {"type": "pronunciation", "start_time": "0.5", "end_time": "0.9", "alternatives": [{"content": "podcast"}]},
        {"type": "punctuation", "alternatives": [{"content": "."}]},
    ]
    results = {"transcripts": [{"transcript": "hello podcast."}], "items": items}
    (tmp_path / "a.json").write_text(json.dumps({"jobName": "a", "results": results, "status": "COMPLETED"}), "utf-8")
    assert converted(tmp_path / "a.json", "txt", "--lang", "en", "--attach") == "hello podcast.\n"


# --- targets that others read


def test_microdvd_and_fcpxml_count_frames(talk: Path) -> None:
    lines = [
        ("Anna Lee: So we went home & slept.", 1000, 3000),
        ("Bob: [laughs] Where is the cat?|It was there.", 3500, 6000),
    ]
    for fps, exact in (("25", Fraction(25)), ("23.976", Fraction(24000, 1001)), ("29.97", Fraction(30000, 1001))):
        subs = pysubs2.SSAFile.from_string(converted(talk, "microdvd", "--fps", fps), format_="microdvd")
        half = 1000 / exact / 2 + 1
        assert [line.text.replace(r"\N", "|") for line in subs] == [text for text, _, _ in lines]
        assert all(abs(a.start - b[1]) <= half and abs(a.end - b[2]) <= half for a, b in zip(subs, lines, strict=True))
        tree = ElementTree.fromstring(converted(talk, "fcpxml", "--fps", fps))
        assert Fraction(tree.find(".//format").get("frameDuration").rstrip("s")) == 1 / exact  # type: ignore[union-attr]
        for caption, (text, start, _) in zip(tree.iter("caption"), lines, strict=True):
            offset = Fraction(str(caption.get("offset")).rstrip("s"))
            assert (offset * exact).denominator == 1
            assert abs(1000 * offset - start) <= half
            assert "|".join("".join(caption.find("text").itertext()).split("\n")) == text  # type: ignore[union-attr]


def test_stl_is_read_by_ttconv(tmp_path: Path) -> None:
    reader = pytest.importorskip("ttconv.stl.reader")
    lines = [("Señor Ångström, Žižek & œuvre: 3 ½", "“oui” — non…"), ("x " * 70 + "end",), ("Ёлка",)]
    for chosen, codes in ((lines[:2], "00"), (lines[2:], "01")):
        blocks = [f"{i}\n00:00:0{i},000 --> 00:00:0{i},960\n" + "\n".join(own) for i, own in enumerate(chosen, 1)]
        (tmp_path / "a.srt").write_text(
            "\n\n".join(blocks).replace("€ ", "").replace("—", "―").replace("…", "..."), "utf-8"
        )
        run = cappunc(
            "convert", "--no-restore", "--lang", "en", tmp_path / "a.srt", "-o", tmp_path / "a.stl", "--force"
        )
        assert run.exit_code == 0, run.output
        data = (tmp_path / "a.stl").read_bytes()
        assert data[12:14].decode() == codes
        document = reader.to_model(io.BytesIO(data))
        found = [e for e in document.get_body().dfs_iterator() if type(e).__name__ == "P"]
        wanted = [" ".join(" ".join(own).split()) for own in chosen]
        wanted = [text.replace("…", "...") for text in wanted]
        assert [round(1000 * p.get_begin()) for p in found] == [1000 * i for i in range(1, len(chosen) + 1)]
        texts = [[e.get_text() for e in p.dfs_iterator() if type(e).__name__ == "Text"] for p in found]
        assert [" ".join(" ".join(own).split()) for own in texts] == wanted
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\n日本\n", "utf-8")
    assert "“日” cannot be written in STL" in refused(tmp_path / "a.srt", "stl")


def test_captions_that_overlap_are_one_in_stl_while_they_do(tmp_path: Path) -> None:
    reader = pytest.importorskip("ttconv.stl.reader")
    times = [("1,000", "4,000", "yes"), ("1,000", "2,000", "no"), ("3,000", "5,080", "so"), ("5,000", "6,000", "then")]
    blocks = (f"{i}\n00:00:0{a} --> 00:00:0{b}\n{text}\n" for i, (a, b, text) in enumerate(times, 1))
    (tmp_path / "a.srt").write_text("\n".join(blocks), "utf-8")
    run = cappunc("convert", "--no-restore", "--lang", "en", tmp_path / "a.srt", "-o", tmp_path / "a.stl")
    assert run.exit_code == 0, run.output
    body = reader.to_model(io.BytesIO((tmp_path / "a.stl").read_bytes())).get_body()
    found = [e for e in body.dfs_iterator() if type(e).__name__ == "P"]
    texts = ["|".join(e.get_text() for e in p.dfs_iterator() if type(e).__name__ == "Text") for p in found]
    wanted = [(1, 2, "yes|no"), (2, 3, "yes"), (3, 4, "yes|so"), (4, 5, "so"), (5, 6, "then")]
    assert [(p.get_begin(), p.get_end(), text) for p, text in zip(found, texts, strict=True)] == wanted


@pytest.mark.parametrize("profile", ["ebu-tt-d", "imsc"])
def test_profiles_of_ttml_are_read_by_ttconv(talk: Path, profile: str) -> None:
    reader = pytest.importorskip("ttconv.imsc.reader")
    text = converted(talk, "ttml", "--ttml-profile", profile)
    document = reader.to_model(ElementTree.ElementTree(ElementTree.fromstring(text)))
    paragraphs = [e for e in document.get_body().dfs_iterator() if type(e).__name__ == "P"]
    assert [(1000 * p.get_begin(), 1000 * p.get_end()) for p in paragraphs] == [(1000, 3000), (3500, 6000)]
    assert document.get_region("bottom") is not None
    assert [p.get_region().get_id() for p in paragraphs] == ["place8", "bottom"]


def test_html_and_docx_are_readable(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    (tmp_path / "a.txt").write_text("Anna: See www.example.org/a_b & <b> me.\nBob: Why?\nAnna: Ah.\n", "utf-8")
    page = converted(tmp_path / "a.txt", "html", "--lang", "en")
    assert '<a href="https://www.example.org/a_b">www.example.org/a_b</a> &amp; &lt;b&gt; me.</p>' in page
    run = cappunc("convert", "--no-restore", tmp_path / "a.txt", "--lang", "en", "-o", tmp_path / "a.docx")
    assert run.exit_code == 0, run.output
    made = docx.Document(str(tmp_path / "a.docx"))
    assert [p.text for p in made.paragraphs] == [
        "a", "Anna", "See www.example.org/a_b & <b> me.", "Bob", "Why?", "Anna", "Ah.",
    ]  # fmt: skip
    assert [link.address for p in made.paragraphs for link in p.hyperlinks] == ["https://www.example.org/a_b"]


def test_markdown_is_read_again_with_its_speakers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna: So we went.\nBob_2: Why?\n", "utf-8")
    for more in ((), ("--times",)):
        text = converted(tmp_path / "a.txt", "md", "--lang", "en", *more)
        document = formats.read(text, "a.md")
        assert document.texts == ["So", "we", "went.", "Why?"]
        assert list(document.speakers.values()) == ["Anna", "Bob_2"]
