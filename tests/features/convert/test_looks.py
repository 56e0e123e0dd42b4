"""What a caption looks like is the same in every format that can say it, to readers that are not ours."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import pysubs2
import pytest
import webvtt
from commands import cappunc, talk
from pysubs2.formats.substation import parse_tags

SOURCE = (
    "1\n00:00:01,000 --> 00:00:03,000\n{\\an8}<i>Hello, there</i> my <b>good</b>\n"
    '<font color="#ffff00">old <u>friend</u></font>.\n\n'
    '2\n00:00:04,000 --> 00:00:06,000\nPlain & simple, <font color="#12ab34">green</font>.\n\n'
)
Runs = list[tuple[str, frozenset[str]]]
EXPECTED: Runs = [
    ("Hello, there", frozenset("i")), (" my ", frozenset()), ("good", frozenset("b")), (" old ", frozenset()),
    ("friend", frozenset("u")), (". Plain & simple, green.", frozenset()),
]  # fmt: skip


class Tags(HTMLParser):
    """The characters of a text with the tags that they are in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.found: list[tuple[str, frozenset[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.inside.append(tag.partition(".")[0])

    def handle_endtag(self, tag: str) -> None:
        self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        self.found += [(character, frozenset(self.inside) & {*"ibu"}) for character in data]


def by_ass(path: Path) -> list[tuple[str, frozenset[str]]]:
    subs, found = pysubs2.load(str(path)), list[tuple[str, frozenset[str]]]()
    for event in subs:
        for text, style in parse_tags(event.text, subs.styles[event.style], subs.styles):
            flags = {"i": style.italic, "b": style.bold, "u": style.underline}
            found += [(c, frozenset(k for k, on in flags.items() if on)) for c in text.replace(r"\N", "\n")]
        found.append(("\n", frozenset()))
    return found


def by_vtt(path: Path) -> list[tuple[str, frozenset[str]]]:
    return [pair for cue in webvtt.read(str(path)) for pair in Tags(f"{cue.raw_text}\n").found]


def by_ttml(path: Path) -> list[tuple[str, frozenset[str]]]:
    root, tts = ElementTree.parse(path).getroot(), "{http://www.w3.org/ns/ttml#styling}"
    names = {"fontStyle": "i", "fontWeight": "b", "textDecoration": "u"}
    styles = {
        one.get("{http://www.w3.org/XML/1998/namespace}id"): frozenset(f for k, f in names.items() if one.get(tts + k))
        for one in root.iter("{http://www.w3.org/ns/ttml}style")
    }
    found: list[tuple[str, frozenset[str]]] = []
    for p in root.iter("{http://www.w3.org/ns/ttml}p"):
        found += [(c, frozenset()) for c in p.text or ""]
        for span in p:
            text = "\n" if span.tag.endswith("}br") else span.text or ""
            found += [(c, styles.get(span.get("style"), frozenset())) for c in text]
            found += [(c, frozenset()) for c in span.tail or ""]
        found.append(("\n", frozenset()))
    return found


def runs(found: list[tuple[str, frozenset[str]]]) -> Runs:
    """Characters in runs; line ends are spaces without style, and the last one is left out."""
    pairs = [(" ", frozenset[str]()) if c.isspace() and not style else (c, style) for c, style in found]
    joined = [("".join(c for c, _ in own), style) for style, own in groupby(pairs, key=lambda pair: pair[1])]
    return [*joined[:-1], (joined[-1][0].rstrip(), joined[-1][1])]


READERS = {"srt": by_ass, "ass": by_ass, "vtt": by_vtt, "ttml": by_ttml}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("source", READERS)
def test_styles_are_kept(tmp_path: Path, source: str, kind: str) -> None:
    talk(tmp_path, "a.srt", SOURCE)
    first = cappunc("convert", "--no-restore", "a.srt", "-o", f"b.{source}", cwd=tmp_path)
    again = cappunc("convert", "--no-restore", f"b.{source}", "-o", f"c.{kind}", cwd=tmp_path)
    assert (first.returncode, again.returncode) == (0, 0), again.stderr
    assert b"left out" not in again.stderr
    assert runs(READERS[kind](tmp_path / f"c.{kind}")) == EXPECTED
    written = (tmp_path / f"c.{kind}").read_text().lower()
    assert re.search("yellow|ffff00|00ffff", written)
    assert re.search("12ab34|34ab12", written)
    assert {"srt": "{\\an8}", "ass": "{\\an8}", "vtt": "line:0", "ttml": 'displayalign="before"'}[kind] in written


def test_sami_and_what_is_lost(tmp_path: Path) -> None:
    text = "<SAMI><BODY><SYNC Start=1000><P><i>Hello</i> <font color=red>there</font>.<SYNC Start=2000><P>&nbsp;"
    talk(tmp_path, "a.smi", text + "</BODY></SAMI>")
    assert cappunc("convert", "--no-restore", "a.smi", "-o", "a.srt", cwd=tmp_path).returncode == 0
    assert '<i>Hello</i> <font color="#ff0000">there</font>.' in (tmp_path / "a.srt").read_text()
    said = cappunc("convert", "--no-restore", "a.srt", "-o", "a.txt", cwd=tmp_path).stderr.decode()
    assert "left out: colours of 1 caption, italics of 1 caption" in said
    dance = "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{\\fad(1,2)}Hello.\n"
    talk(tmp_path, "a.ass", dance)
    assert b"effects of 1 caption" in cappunc("convert", "--no-restore", "a.ass", "-o", "d.srt", cwd=tmp_path).stderr


def test_a_tree_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.srt", "b.srt"):
        talk(tmp_path / "in", name, SOURCE)
    talk(tmp_path / "in", "b.txt", "Hello there.\n")  # as Whisper writes it beside the captions
    for command in (("convert", "--to", "vtt"), ("captions", "--to", "vtt")):
        call = (*command, "--no-restore", "in", "-o", f"out-{command[0]}")
        assert b"2 files made\n" in cappunc(*call, cwd=tmp_path).stderr
        made = (tmp_path / f"out-{command[0]}" / "a.vtt").read_bytes()
        assert b"0 files made, 2 up to date\n" in cappunc(*call, cwd=tmp_path).stderr
        (tmp_path / "in" / "a.srt").write_text(SOURCE.replace("Hello", "Goodbye"))
        assert b"1 file made, 1 up to date\n" in cappunc(*call, cwd=tmp_path).stderr
        assert (tmp_path / f"out-{command[0]}" / "a.vtt").read_bytes() == made.replace(b"Hello", b"Goodbye")
        talk(tmp_path / "in", "a.srt", SOURCE)


@pytest.mark.parametrize("command", ["convert", "captions"])
def test_speakers_are_named_by_their_label(tmp_path: Path, command: str) -> None:
    talk(tmp_path, "a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v SPEAKER_00>Hello there.\n")
    call = (command, "--no-restore", "a.vtt", "--to", "vtt", *(["--speakers", "voice"] * (command == "captions")))
    assert cappunc(*call, "--speaker", "SPEAKER_00=Anna", "-o", "b.vtt", cwd=tmp_path).returncode == 0
    assert webvtt.read(str(tmp_path / "b.vtt"))[0].voice == "Anna"
    run = cappunc(*call, "--speaker", "SPEAKER_01=Anna", "-o", "c.vtt", cwd=tmp_path)
    assert b"no word has the label 'SPEAKER_01' (did you mean SPEAKER_00?)" in run.stderr
    assert run.returncode
    assert not (tmp_path / "c.vtt").exists()
