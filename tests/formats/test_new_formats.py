"""Formats of players, editing suites, broadcasters and linguists, beside readers that share no code with ours."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttconv.stl import reader as stl

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, dress, strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.files.encodings import decode, encode
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.restoration.options import Options

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
NEW = [
    "avid-ds", "ebu-stl", "elan", "exmaralda", "fcpxml", "microdvd", "mpl2", "subviewer1", "tmplayer", "transcriber",
]  # fmt: skip
FILES = [path for name in NEW for path in sorted((FIXTURES / name).iterdir())]


def read(path: Path) -> Document:
    return formats.read(decode(path.read_bytes())[0], path.name)


def cue_times(document: Document) -> list[tuple[int | None, int | None]]:
    """The start of the first word of each cue, and the end of its last."""
    found: dict[int, tuple[int | None, int | None]] = {}
    for word in document.words:
        found[word.cue] = found.get(word.cue, (word.start, None))[0], word.end
    return list(found.values())


PLAYERS = [path for path in FILES if path.parent.name in ("microdvd", "mpl2", "tmplayer")]


@pytest.mark.parametrize("path", PLAYERS)
def test_pysubs2_sees_the_same_times_of_player_formats(path: Path) -> None:
    document = read(path)
    kind = {"tmplayer": "tmp"}.get(path.parent.name, path.parent.name)
    options = {"fps": 23.976} if path.name.startswith("no-rate") else {}
    theirs = pysubs2.SSAFile.from_string(document.source, format_=kind, **options)
    ends = {line.start: line.end for line in theirs}
    for start, end in cue_times(document):
        if end is not None:
            assert ends[start] == end
        elif path.parent.name == "tmplayer":  # in which no line has an end
            assert start in ends


def test_ttconv_sees_the_same_times_of_stl() -> None:
    path = FIXTURES / "ebu-stl/ferry.stl"
    paragraphs = [p for div in stl.to_model(BytesIO(path.read_bytes())).get_body() for p in div]
    # It shows the comment, too.
    times = [(round(p.get_begin() * 1000), round(p.get_end() * 1000)) for p in paragraphs]
    assert [time for time in times if time != (4000, 5000)] == cue_times(read(path))


def test_element_tree_sees_the_same_elan() -> None:
    path = FIXTURES / "elan/talk.eaf"
    tree = ElementTree.fromstring(path.read_bytes())
    slots = {slot.get("TIME_SLOT_ID"): slot.get("TIME_VALUE") for slot in tree.iter("TIME_SLOT")}
    theirs = []
    for annotation in tree.iter("ALIGNABLE_ANNOTATION"):
        start, end = (slots[annotation.get(f"TIME_SLOT_REF{i}")] for i in (1, 2))
        theirs.append((int(start or 0), end and int(end), annotation.findtext("ANNOTATION_VALUE")))
    document = read(path)
    texts = [" ".join(word.text for word in document.words if word.cue == cue) for cue in range(3)]
    ours = [(start, end, text) for (start, end), text in zip(cue_times(document), texts, strict=True)]
    assert ours == sorted(theirs)
    assert list(document.speakers.values()) == ["Mary", "John", "Mary"]


@given(st.sampled_from(FILES), st.data())
def test_nothing_but_marks_and_case_changes(path: Path, data: st.DataObject) -> None:
    raw = path.read_bytes()
    text, encoding = decode(raw)
    document = formats.read(text, path.name)
    assert encode(formats.write(document, document.texts), encoding) == raw
    new = []
    for word in document.words:
        bare, label = strip(word.text)
        case = data.draw(st.sampled_from([Case.LOWER, Case.CAPITAL, Case.UPPER]))
        mark = data.draw(st.sampled_from(["", ",", ".", "?", ":", "…"]))
        wanted = dress(bare, type(label)(case, label.before, mark))
        new.append(wanted if strip(wanted)[0] == bare else word.text)
    output = formats.write(document, new)
    formats.verify(document, output)
    assert formats.write(formats.read(output, path.name), new) == formats.write(document, new)


def test_the_frame_rate_of_a_user_counts_where_the_file_has_none() -> None:
    source = "{25}{50}so we went\n"
    document = formats.read(source, fps=25)
    assert cue_times(document) == [(1000, 2000)]
    formats.verify(document, formats.write(document, ["So", "we", "went."]))
    assert cue_times(formats.read("{1}{1}50\n" + source, fps=25)) == [(500, 1000)]


def stl_bytes() -> bytearray:
    return bytearray((FIXTURES / "ebu-stl/ferry.stl").read_bytes())


def test_a_mark_without_room_is_not_written() -> None:
    document = read(FIXTURES / "ebu-stl/ferry.stl")
    output = formats.write(document, [f"{word.text}." for word in document.words])
    formats.verify(document, output)
    again = formats.read(output, "x.stl").texts
    assert again[:3] == ["we.", "took.", "the."]
    assert again[-3:] == ["as", "it", "is"]
    assert len(output) == len(document.source)


@pytest.mark.parametrize(
    ("name", "mark", "stays"),
    [
        ("ferry.stl", ",", False),
        ("ferry.stl", "…", True),  # ISO 6937 has no code for it
        ("two-blocks.stl", ",", True),  # the first block is full
    ],
)
def test_a_notice_names_the_subtitle_in_which_a_word_stays(name: str, mark: str, stays: bool, tiny_model: Path) -> None:
    document = read(FIXTURES / "ebu-stl" / name)
    fixer = Fixer(Settings(str(tiny_model), "cpu", None, Options(language="en")), print)
    wanted = document.texts[0] + mark
    fixed = fixer.write(document, document.source, [wanted, *document.texts[1:]])
    assert (fixed.text == document.source) == stays
    said = [notice.message for notice in fixed.notices]
    assert [("subtitle 1:" in message, wanted in message) for message in said] == [(True, True)] * stays


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-5], "ends within block 4"),
        (lambda data: data[:900], "ends within its header"),
        (lambda data: data[:238] + b"00009" + data[243:], "counts 00009 blocks, and there are 4"),
        (lambda data: data[:6] + b"99" + data[8:], "frame rate"),
        (lambda data: data[:12] + b"07" + data[14:], "code table"),
    ],
)
def test_broken_stl_is_refused_in_one_line(change, message: str) -> None:  # type: ignore[no-untyped-def]
    text, _ = decode(bytes(change(stl_bytes())))
    with pytest.raises(BadInput, match=message):
        formats.read(text, "x.stl")


@pytest.mark.parametrize(
    ("fixture", "old", "new", "message"),
    [
        ("fcpxml/titles.fcpxml", "<!DOCTYPE fcpxml>", '<!DOCTYPE fcpxml SYSTEM "file:///etc/passwd">', "DOCTYPE"),
        ("fcpxml/titles.fcpxml", "<text", "<test", "titles"),
        ("transcriber/talk.trs", 'SYSTEM "trans-14.dtd"', '[<!ENTITY a "b">]', "DOCTYPE"),
        ("elan/talk.eaf", "</TIER>", "<ANNOTATION><REF_ANNOTATION/></ANNOTATION></TIER>", "aligned and referring"),
        ("exmaralda/talk.exb", 'type="t"', 'type="d"', "type t"),
        ("microdvd/ferry.sub", "{1}{1}25.000", "{1}{1}0", "rate is zero"),
    ],
)
def test_broken_files_are_refused_in_one_line(fixture: str, old: str, new: str, message: str) -> None:
    source = (FIXTURES / fixture).read_text(encoding="utf-8")
    assert old in source
    broken = source.replace(old, new).replace("</text", "</test") if new == "<test" else source.replace(old, new)
    with pytest.raises(BadInput, match=message):
        formats.read(broken, fixture)
