"""Every way in which a format marks speakers, as listed in docs/formats.md."""

from __future__ import annotations

import json

import pytest

from cappunc_cli import formats

SRT = "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:02,000 --> 00:00:03,000\n{}\n"
VTT = "WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n\n00:02.000 --> 00:03.000\n{}\n"
ASS = (
    "[Script Info]\nScriptType: v4.00+\n\n[Events]\n"
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,{},0,0,0,,hello there\n"
    "Dialogue: 0,0:00:02.00,0:00:03.00,Default,{},0,0,0,,hi\n"
)
TTML = (
    '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="http://www.w3.org/ns/ttml#metadata"><head><metadata>'
    '<ttm:agent type="person" xml:id="a"/><ttm:agent type="person" xml:id="b"/></metadata></head><body><div>'
    '<p begin="1s" end="2s" ttm:agent="a">hello there</p><p begin="2s" end="3s" ttm:agent="b">hi</p></div></body></tt>'
)
SEGMENTS = [
    {"start": 0, "end": 1, "text": " hello there", "speaker": "A"},
    {"start": 1, "end": 2, "text": " hi", "speaker": "B"},
]
SAID = {
    "dashes": ("a.srt", SRT.format("- hello there\n- hi", "- and me")),
    "chevrons": ("a.srt", SRT.format(">> hello there", ">> hi")),
    "names": ("a.srt", SRT.format("JOHN: hello there", "Mary: hi")),
    "voices": ("a.vtt", VTT.format("<v John>hello there</v>", "<v Mary>hi")),
    "ASS names": ("a.ass", ASS.format("John", "Mary")),
    "TTML agents": ("a.ttml", TTML),
    "STM speakers": ("a.stm", "f 1 john 0 1 hello there\nf 1 mary 1 2 hi\n"),
    "CTM channels": ("a.ctm", "f 1 0 1 hello\nf 1 1 1 there\nf 2 2 1 hi\n"),
    "JSON speakers": ("a.json", json.dumps({"segments": SEGMENTS, "text": " hello there hi"})),
    "SBV dashes": ("a.sbv", "0:00:01.000,0:00:02.000\n- hello there\n\n0:00:02.000,0:00:03.000\n- hi\n"),
    "LRC names": ("a.lrc", "[00:01.00]John: hello there\n[00:02.00]Mary: hi\n"),
    "TSV chevrons": ("a.tsv", "start\tend\ttext\n0\t1000\t>> hello there\n1000\t2000\t>> hi\n"),
    "plain dashes": ("a.txt", "- hello there\n- hi\n"),
    "plain chevrons": ("a.txt", ">> hello there\n>> hi\n"),
}
SILENT = {
    "captions": ("a.srt", SRT.format("hello there", "hi")),
    "colours": ("a.vtt", VTT.format("<c.yellow>hello there</c>", "<c.cyan>hi</c>")),
    "sounds": ("a.srt", SRT.format("[john] hello there", "[mary] hi")),
    "ASS without names": ("a.ass", ASS.format("", "")),
}


def turns(name: str, text: str) -> list[int | None]:
    return [word.turn for word in formats.read(text, name).words]


@pytest.mark.parametrize(("name", "text"), SAID.values(), ids=SAID)
def test_another_speaker_is_another_turn(name: str, text: str) -> None:
    found = turns(name, text)
    assert found[0] == found[1] != found[2]
    assert found == sorted(found, key=lambda turn: turn or 0)


@pytest.mark.parametrize(("name", "text"), SILENT.values(), ids=SILENT)
def test_text_without_speakers_is_one_turn(name: str, text: str) -> None:
    assert len(set(turns(name, text))) == 1
