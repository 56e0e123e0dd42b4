"""Formats of players, editing suites, broadcasters and linguists, beside readers that share no code with ours."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pysubs2
import pytest
from opened import FIXTURES, fixture
from ttconv.scc import reader as scc
from ttconv.stl import reader as stl

from cappunc_cli import formats
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer, FixRequest, Opened
from cappunc_cli.formats.shown_cues import shown_cues

NEW = [
    "avid-ds", "chat", "ebu-stl", "elan", "exmaralda", "fcpxml", "microdvd", "mpl2", "scc", "subviewer1", "tei",
    "tmplayer", "transcriber", "xmeml",
]  # fmt: skip
FILES = [path for name in NEW for path in sorted((FIXTURES / name).iterdir())]


def cue_times(document: Document) -> list[tuple[int | None, int | None]]:
    """The start of the first word of each cue, and the end of its last."""
    found: dict[int, tuple[int | None, int | None]] = {}
    for word in document.words:
        found[word.cue] = found.get(word.cue, (word.start, None))[0], word.end
    return list(found.values())


PLAYERS = [path for path in FILES if path.parent.name in ("microdvd", "mpl2", "tmplayer")]


@pytest.mark.parametrize("path", PLAYERS)
def test_pysubs2_sees_the_same_times_of_player_formats(path: Path) -> None:
    document = fixture(f"{path.parent.name}/{path.name}")
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
    assert [time for time in times if time != (4000, 5000)] == cue_times(fixture(f"{path.parent.name}/{path.name}"))


@pytest.mark.parametrize("name", ["pop-on", "roll-up"])
def test_ttconv_sees_the_same_times_of_scc_before_and_after(name: str) -> None:
    source = fixture(f"scc/{name}.scc").source
    document = formats.read(source, "x.scc")
    output = formats.write(document, [f"{word.text.title()}," for word in document.words])
    assert output != source
    seen = []
    for text in (source, output):
        paragraphs = [p for div in scc.to_model(text).get_body() for p in div]
        seen.append([(round(p.get_begin() * 1000), round(p.get_end() * 1000)) for p in paragraphs])
    ours = cue_times(document)
    if name == "roll-up":  # it splits paint-on captions by their rows
        seen, ours = [times[:3] for times in seen], ours[:3]
    assert seen == [ours, ours]


def scc_file(codes: str, after: str = "") -> str:
    return f"Scenarist_SCC V1.0\n\n00:00:02:00\t9420 9420 9470 9470 {codes} 942f 942f\n\n{after}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (scc_file(" ".join(["6180"] * 32)), "more than 32 columns"),
        (scc_file("6180 942f 942f 94ae 9420 9470 6161"), "“A,” would appear later"),
        (scc_file("6161", "00:00:02:05\t942c 942c\n"), "the line before it would still be sent"),
    ],
)
def test_scc_that_no_decoder_could_show_is_not_written(source: str, message: str) -> None:
    source = source.replace("6161", "6120 61e5")
    document = formats.read(source, "x.scc")
    wanted = [f"{word.text.title()}," for word in document.words]
    with pytest.raises(BadInput, match=f"{message}.*cappunc convert"):
        formats.write(document, wanted)
    assert formats.with_texts(document, wanted).texts == wanted
    assert formats.write(document, document.texts) == source


def test_an_scc_line_that_gets_longer_is_sent_earlier() -> None:
    source = scc_file("68e5 ecec ef80 20f4 68e5 f2e5")
    document = formats.read(source, "x.scc")
    output = formats.write(document, ["Hello,", "there."])
    assert formats.read(output, "x.scc").texts == ["Hello,", "there."]
    assert "00:00:01:29\t9420" in output
    formats.verify(document, output)


def test_extended_characters_of_scc_have_a_plain_one_before_them() -> None:
    document = formats.read(scc_file("5c20 f361 ece9 f2ae"), "x.scc")
    assert document.texts == ["é", "salir."]
    output = formats.write(document, ["É", "Salir."])
    assert formats.read(output, "x.scc").texts == ["É", "Salir."]
    assert "4580 92a1 92a1 20d3" in output


def test_chat_keeps_its_codes_and_first_words() -> None:
    source = (FIXTURES / "chat/talk.cha").read_text(encoding="utf-8")
    document = formats.read(source, "talk.cha")
    output = formats.write(document, [f"{strip(word.text)[0].title()}," for word in document.words])
    assert "*MOT:\tso , We , Went , To , London , On , Monday . " in output
    assert "no:: (Be)cause , xxx Woof@o Is , In , London +..." in output
    new = [f"{strip(word.text)[0].title()}." for word in document.words]
    assert formats.with_texts(document, new).texts == new


def shown_in(element: ElementTree.Element) -> str:
    """The text of an element and all in it, but for descriptions."""
    inside = ("" if child.tag.endswith("desc") else shown_in(child) for child in element)
    tails = (child.tail or "" for child in element)
    return (element.text or "") + "".join(text for pair in zip(inside, tails, strict=True) for text in pair)


def number(element: ElementTree.Element | None, attribute: str, default: str = "") -> Fraction:
    """A number of seconds in an attribute."""
    assert element is not None
    return Fraction((element.get(attribute) or default).rstrip("s"))


def by_element_tree(kind: str, tree: ElementTree.Element) -> list[tuple[int, int, str]]:
    """The start, the end and the text of each cue of a fixture, as the plain XML has them."""
    rows: list[tuple[Fraction, Fraction, str]] = []
    if kind == "xmeml":
        for e in tree.iter("generatoritem"):
            start, end = (Fraction(e.findtext(name, "")) * 1001 / 30000 for name in ("start", "end"))
            rows.append((start, end, e.findtext(".//value", "")))
    elif kind == "fcpxml":
        for e in [*tree.iter("title"), *tree.iter("caption")]:
            start = number(e, "offset") - number(tree.find(".//gap"), "start")
            rows.append((start, start + number(e, "duration"), "".join(e.find("text").itertext())))  # type: ignore[union-attr]
    elif kind == "exmaralda":
        times = {e.get("id"): number(e, "time") for e in tree.iter("tli") if e.get("time")}
        events = [event for tier in tree.iter("tier") if tier.get("type") == "t" for event in tier]
        rows = [(times[e.get("start")], times[e.get("end")], shown_in(e)) for e in events]
    else:
        names = "{http://www.w3.org/XML/1998/namespace}id"
        moments = {f"#{e.get(names)}": number(e, "interval", "0") for e in tree.iter() if e.tag.endswith("}when")}
        for e in tree.iter():
            if e.tag.endswith(("}u", "}annotationBlock")) and e.get("start"):
                start, end = (moments[t] if (t := str(e.get(k))) in moments else number(e, k) for k in ("start", "end"))
                rows.append((start, end, shown_in(e)))
    found = [(round(a * 1000), round(b * 1000), " ".join(text.split())) for a, b, text in rows]
    return sorted(found)


@pytest.mark.parametrize("name", ["xmeml/titles.xml", "fcpxml/titles.fcpxml", "exmaralda/talk.exb", "tei/talk.tei"])
def test_element_tree_sees_the_same_cues(name: str) -> None:
    document = fixture(name)
    theirs = by_element_tree(name.split("/")[0], ElementTree.fromstring(document.source.encode()))
    shown = [(cue.start, cue.end, " ".join(cue.lines)) for cue in shown_cues(document) or []]
    assert sorted(shown) == theirs


def test_element_tree_sees_the_same_transcriber() -> None:
    document = fixture("transcriber/talk.trs")
    tree = ElementTree.fromstring(document.source.encode())
    syncs = [round(1000 * float(sync.get("time", ""))) for sync in tree.iter("Sync")]
    assert sorted({word.start for word in document.words if word.start is not None}) == syncs
    said = " ".join((shown_in(turn)) for turn in tree.iter("Turn"))
    assert document.texts == said.split()


def test_element_tree_sees_the_same_elan() -> None:
    path = FIXTURES / "elan/talk.eaf"
    tree = ElementTree.fromstring(path.read_bytes())
    slots = {slot.get("TIME_SLOT_ID"): slot.get("TIME_VALUE") for slot in tree.iter("TIME_SLOT")}
    theirs = []
    for annotation in tree.iter("ALIGNABLE_ANNOTATION"):
        start, end = (slots[annotation.get(f"TIME_SLOT_REF{i}")] for i in (1, 2))
        theirs.append((int(start or 0), end and int(end), annotation.findtext("ANNOTATION_VALUE")))
    document = fixture(f"{path.parent.name}/{path.name}")
    texts = [" ".join(word.text for word in document.words if word.cue == cue) for cue in range(3)]
    ours = [(start, end, text) for (start, end), text in zip(cue_times(document), texts, strict=True)]
    assert ours == sorted(theirs)
    assert list(document.speakers.values()) == ["Mary", "John", "Mary"]


def test_the_frame_rate_of_a_user_counts_where_the_file_has_none() -> None:
    source = "{25}{50}so we went\n"
    document = formats.read(source, fps=25)
    assert cue_times(document) == [(1000, 2000)]
    formats.verify(document, formats.write(document, ["So", "we", "went."]))
    assert cue_times(formats.read("{1}{1}50\n" + source, fps=25)) == [(500, 1000)]


def test_a_mark_without_room_is_not_written() -> None:
    document = fixture("ebu-stl/ferry.stl")
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
def test_a_notice_names_the_subtitle_in_which_a_word_stays(name: str, mark: str, stays: bool) -> None:
    document = fixture(f"ebu-stl/{name}")
    wanted = document.texts[0] + mark
    fixed = Opened(document, Fixer(FixRequest(), print), "en").write([wanted, *document.texts[1:]])
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
    text, _ = decode(change((FIXTURES / "ebu-stl/ferry.stl").read_bytes()))
    with pytest.raises(BadInput, match=message):
        formats.read(text, "x.stl")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("fcpxml/titles.fcpxml", "<!DOCTYPE fcpxml>", '<!DOCTYPE fcpxml SYSTEM "file:///etc/passwd">', "DOCTYPE"),
        ("fcpxml/titles.fcpxml", "<text", "<test", "titles"),
        ("transcriber/talk.trs", 'SYSTEM "trans-14.dtd"', '[<!ENTITY a "b">]', "DOCTYPE"),
        ("elan/talk.eaf", "</TIER>", "<ANNOTATION><REF_ANNOTATION/></ANNOTATION></TIER>", "aligned and referring"),
        ("exmaralda/talk.exb", 'type="t"', 'type="d"', "type t"),
        ("microdvd/ferry.sub", "{1}{1}25.000", "{1}{1}0", "rate is zero"),
        ("tei/talk.tei", "<TEI ", '<!DOCTYPE TEI [<!ENTITY a "b">]><TEI ', "DOCTYPE"),
        ("tei/talk.tei", "</w> <w>", "</w><w>", "words without a space"),
        ("xmeml/titles.xml", "<!DOCTYPE xmeml>", '<!DOCTYPE xmeml SYSTEM "file:///etc/passwd">', "DOCTYPE"),
        ("xmeml/titles.xml", ">str<", ">font<", "no titles with text"),
    ],
)
def test_broken_files_are_refused_in_one_line(name: str, old: str, new: str, message: str) -> None:
    source = (FIXTURES / name).read_text(encoding="utf-8")
    assert old in source
    broken = source.replace(old, new).replace("</text", "</test") if new == "<test" else source.replace(old, new)
    with pytest.raises(BadInput, match=message):
        formats.read(broken, name)
