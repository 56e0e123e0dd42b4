"""Random mixtures of lines are read as they are, and any legal change of marks and case leaves all else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import relabelled

from cappunc_cli import formats
from cappunc_cli.document.words import pauses
from cappunc_cli.errors import CappuncError
from cappunc_cli.formats.splice import split_lines

TEXTS = [
    "", " ", "—", "1", "42.", "hello there", "so: what", "John: hi", "mary ann: hi", ">> NASA: go", "- yes - no",
    "hel<i>lo</i>, <b>you", "AT&amp;T &lt;3", "don&amp;#39;t", "[Music] so", "mary [2]: hi", "(laughs)",
    "(and it is late)", "♪ la la", "la ♪", "# la #", "bonjour ! ça — va", "see a@b.org, www.x.com",
    "<v Ada>hi</v><v Bob>yes", "the<00:00:04.799><c> first</c><c> time</c>", "“quoted,” 'word' ...",
    "{\\an8}top\\Nleft", "{\\k20}ka{\\k30}ra", "{\\p1}m 0 0{\\p0}", "<!-- no <b>word</b> -->", "one[br]two<br/>three",
    "he said ,well ...", "she- -a (uh) { a / b } c , d", "{ a / b", "ignore_time_segment_in_scoring, yes",
    "a\\;b <unk> she-, it", "42. u.s. 0:00:01.000", "10:30. go", "étude İstanbul straße ŉ", "שלום, עולם",
    "a\u2028b\x0bc",
]  # fmt: skip
#: A text alone, and rows of all formats.
ROWS = [
    "{}", "WEBVTT", "NOTE {}", "STYLE", "00:00:01,000 --> 00:00:02,500", "00:00:03.5-->00:00:04 X1:1",
    "00:00:0x --> 00:00:09,000", "0:00:01.000,0:00:02.000\n{}", "0:00:0x.000,0:00:02.000\n{}", "[00:01.00]{}",
    "[00:01.00] [00:09:20]<00:01.00>{} <00:02.00>", "[ar:{}]", "100\t200\t{}\tx", ";; {}", "t A ada 1.5 2.5 <O> {}",
    "t A 0012 3 4 {}", "t A 0.5 0.3 hello 0.9", "t A 0.5 0.3 .", "t B * * <ALT_BEGIN>", "t A 0.9 0.3 (uh)",
    "Ada Byron  0:01", "00:11:09\tAda:\t{}",
]  # fmt: skip
HEADS = {
    "srt": "1\n00:00:01,000 --> 00:00:02,000\n",
    "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n",
    "ctm": "t A 0.1 0.2 so\n",
    "txt": "",
    "sbv": "0:00:00.000,0:00:01.000\n",
    "tsv": "start\tend\ttext\n",
    "stm": "t A x 0 1 so\n",
    "lrc": "[00:00.10]so\n",
}
LINES = st.tuples(st.sampled_from(ROWS), st.sampled_from(TEXTS), st.sampled_from(["\n", "\n", "\r\n", "\r"]))
BODIES = st.lists(LINES, max_size=16).map(lambda parts: "".join(row.format(text) + end for row, text, end in parts))
MARKUP = {
    "ttml": '<tt><body><p begin="1s" end="2s">{}</p><p begin="3s"><span begin="3s">{}</span>{}</p></body></tt>',
    "srv3": '<timedtext><body><p t="0" d="9"><s>{}</s><s t="4">{}</s></p><p t="90" d="9">{}</p></body></timedtext>',
    "ass": "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,,,,,,,{}\nDialogue: 0,0:00:03.00,0:00:04.00,,Ada,,,,,{}{}\n",
    "sami": "<SAMI><BODY><SYNC Start=1><P Class=a>{}<P Class=b>{}<SYNC Start=900><P Class=a>{}</BODY></SAMI>",
}
#: What XML may have between its tags.
WELL_FORMED = [text for text in TEXTS if not any(sign in text for sign in (", <b>", "<v", "<unk", "<00"))]
INSIDE = st.lists(st.sampled_from(WELL_FORMED), max_size=6).map(" ".join)
SEEDS = st.integers(0, 2**32)


def keeps_its_promises(source: str, name: str, seed: int) -> None:
    document = formats.read(source, format=name)
    assert formats.write(document, document.texts) == source
    lines = len(split_lines(source))
    assert all(1 <= notice.line <= lines for notice in document.notices)
    assert all(pause is None or pause >= 0 for pause in pauses(document.words))
    output = formats.write(document, relabelled(document.words, seed))
    formats.verify(document, output)
    again = formats.read(output, format=name)
    assert formats.write(again, again.texts) == output


@pytest.mark.parametrize("name", HEADS)
@given(body=BODIES, seed=SEEDS)
def test_lines_in_any_order(name: str, body: str, seed: int) -> None:
    keeps_its_promises(HEADS[name] + body, name, seed)


@pytest.mark.parametrize("name", MARKUP)
@given(texts=st.tuples(INSIDE, INSIDE, INSIDE), seed=SEEDS)
def test_any_text_in_markup(name: str, texts: tuple[str, ...], seed: int) -> None:
    source = MARKUP[name].format(*texts)
    assert formats.read(source).format == name
    keeps_its_promises(source, name, seed)


@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.booleans()), min_size=1, max_size=8), SEEDS)
def test_any_text_in_a_csv(texts: list[tuple[str, bool]], seed: int) -> None:
    rows = []
    for i, (text, quoted) in enumerate(texts):
        escaped = text.replace('"', '""')
        rows.append(
            f'"{escaped}",{i}.0,{i}.5\r\n' if quoted or "," in text or '"' in text else f"{text},{i}.0,{i}.5\r\n"
        )
    source = '"so it begins",0.0,0.1\r\n' * len(rows) + "".join(rows)
    assert formats.read(source).format == "tsv"
    keeps_its_promises(source, "tsv", seed)


@given(
    st.lists(st.tuples(st.sampled_from(["words", "utterances", "Ada", "phones"]), st.lists(st.sampled_from(TEXTS)))),
    SEEDS,
)
def test_any_text_in_a_textgrid(tiers: list[tuple[str, list[str]]], seed: int) -> None:
    tiers += [("utterances", [" ".join(texts)]) for name, texts in tiers if name == "words"]
    source = f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n9\n<exists>\n{len(tiers)}\n'
    for name, texts in tiers:
        source += f'"IntervalTier"\n"{name}"\n0\n9\n{len(texts)}\n'
        source += "".join(f'{i}\n{i + 0.5}\n"{text}"\n' for i, text in enumerate(texts))
    keeps_its_promises(source, "textgrid", seed)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = formats.read(text)
    except CappuncError:
        return
    assert formats.write(document, document.texts) == text
