"""`--marks-from`: another file's marks and case, and no word of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from commands import MODEL, SRT, cappunc, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from cappunc_cli import formats
from cappunc_cli.document.labels import fold, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from cappunc_cli.transfer.alignment import align
from cappunc_cli.transfer.other_marks import given_words

SCRIPT = "Hello, Anna! Then we went to London; where is the cat?"
PARTS = ("Hello, Anna! Then we went to London;", "where is the cat?")
WANTED = SRT.replace("hello anna then", "Hello, Anna! Then").replace("london", "London;").replace("cat", "cat?")
FIX = ("fix", "--lang", "en", *MODEL)


def docx_of(*paragraphs: str, cells: tuple[str, ...] = ()) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        docx = pytest.importorskip("docx")
        made = docx.Document()
        for text in paragraphs:
            made.add_paragraph(text)
        if cells:
            row = made.add_table(rows=1, cols=len(cells)).rows[0]
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
        made.save(str(path))

    return save


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("script.txt", SCRIPT),
        ("script.srt", f"7\n00:01:00,000 --> 00:02:00,000\n{SCRIPT}\n"),
        ("script.json", json.dumps({"text": SCRIPT, "segments": [{"start": 0, "end": 9, "text": SCRIPT}]})),
        ("script.docx", docx_of("A TALE", *PARTS)),
        ("script.docx", docx_of(cells=PARTS)),
        ("script.txt", SCRIPT.encode("utf-16")),
    ],
)
def test_marks_come_from_any_kind_of_file(
    tmp_path: Path, name: str, content: str | bytes | Callable[[Path], None]
) -> None:
    if isinstance(content, str | bytes):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        content(tmp_path / name)
    run = cappunc(*FIX, talk(tmp_path), "--marks-from", tmp_path / name)
    assert (run.returncode, run.stdout.decode()) == (0, WANTED)
    assert b"11 of 11 words matched" in run.stderr


def test_the_other_text_may_be_standard_input(tmp_path: Path) -> None:
    run = cappunc(*FIX, talk(tmp_path), "--marks-from", "-", data=SCRIPT.encode())
    assert run.stdout.decode() == WANTED
    assert b"standard input is read as" in cappunc(*FIX, "--marks-from", "-").stderr


def test_a_folder_has_a_text_for_each_file(tmp_path: Path) -> None:
    for place, name in (("one", "Anna"), ("two", "Berta")):
        (tmp_path / "talks" / place).mkdir(parents=True)
        (tmp_path / "scripts" / place).mkdir(parents=True)
        talk(tmp_path / "talks" / place, "talk.en.srt", SRT.replace("anna", name.lower()))
        (tmp_path / "scripts" / place / "talk.txt").write_text(SCRIPT.replace("Anna", name), "utf-8")
    talk(tmp_path / "talks", "other.srt")
    run = cappunc(*FIX, tmp_path / "talks", "-o", tmp_path / "out", "--marks-from", tmp_path / "scripts")
    assert run.returncode == 1
    assert b"other.srt: no file in" in run.stderr
    for place, name in (("one", "Anna"), ("two", "Berta")):
        assert (tmp_path / "out" / place / "talk.en.srt").read_text("utf-8") == WANTED.replace("Anna", name)
    assert not (tmp_path / "out" / "other.srt").exists()
    # A text that has changed makes the result stale.
    (tmp_path / "scripts" / "one" / "talk.txt").write_text(SCRIPT.replace("!", "."), "utf-8")
    again = cappunc(*FIX, tmp_path / "talks" / "one", "-o", tmp_path / "new", "--marks-from", tmp_path / "scripts")
    assert again.returncode == 0
    assert "Anna." in (tmp_path / "new" / "talk.en.srt").read_text("utf-8")


@pytest.mark.parametrize(
    "other",
    [
        "",
        " \n",
        "Nothing in common with this: at all.",
        "!?. … — “”",
        "Ничего общего с этим нет, совсем.",
        "אין שום דבר, במשותף.",
    ],
)
def test_a_wrong_file_is_refused_and_nothing_written(tmp_path: Path, other: str) -> None:
    (tmp_path / "other.txt").write_text(other, "utf-8")
    run = cappunc(*FIX, talk(tmp_path), "-o", tmp_path / "out.srt", "--marks-from", tmp_path / "other.txt")
    assert run.returncode == 1
    assert len(run.stderr.decode().splitlines()) == 1
    assert b"other.txt" in run.stderr
    assert not (tmp_path / "out.srt").exists()


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"PK\x03\x04 no zip", b"\x00" * 5000, b"\xff\xfe\x00"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other.docx").write_bytes(data)
    run = cappunc(*FIX, talk(tmp_path), "--marks-from", tmp_path / "other.docx")
    assert (run.returncode, run.stdout) == (1, b"")
    assert re.fullmatch(rb"cappunc: .*other\.docx.*\n", run.stderr)


def test_a_megabyte_in_one_line(tmp_path: Path) -> None:
    chance = Random(1)
    words = [f"{a}{b}" for a in "bdfgk" for b in ("alm", "ern", "ost", "uli")]
    (tmp_path / "other.txt").write_text(" ".join([*chance.choices(words, k=200_000), SCRIPT]), "utf-8")
    run = cappunc(*FIX, talk(tmp_path), "--marks-from", tmp_path / "other.txt")
    assert run.stdout.decode() == WANTED


def test_the_log_has_the_figures_and_a_line_what_is_missing(tmp_path: Path) -> None:
    more = "\n3\n00:00:07,000 --> 00:00:09,000\n" + " ".join(f"so{i}" for i in range(12)) + "\n"
    (tmp_path / "script.txt").write_text(SCRIPT, "utf-8")
    source = talk(tmp_path, text=SRT + more)
    run = cappunc(
        *FIX, source, "-o", tmp_path / "out.srt", "--marks-from", tmp_path / "script.txt", "--log", tmp_path / "log"
    )
    assert "11 of 23 words matched; 00:00:07–00:00:09 has no counterpart" in run.stderr.decode()
    entry = json.loads((tmp_path / "log").read_text("utf-8"))
    assert entry["marks_from"] == {"words": 23, "matched": 11, "share": 0.4783}


def test_existing_marks_yield_only_if_they_are_replaced(tmp_path: Path) -> None:
    source = talk(tmp_path, text=SRT.replace("hello anna", "Hello anna."))
    (tmp_path / "script.txt").write_text(SCRIPT, "utf-8")
    asked = (*FIX, source, "--marks-from", tmp_path / "script.txt")
    assert "Hello, Anna. Then" in cappunc(*asked).stdout.decode()
    assert cappunc(*asked, "--existing", "replace").stdout.decode() == WANTED


@pytest.mark.parametrize(
    ("marks", "wanted"), [(",.?", "Hello, Anna. Then we went to London. where"), (",", "Hello, Anna, Then")]
)
def test_only_marks_that_are_asked_for(tmp_path: Path, marks: str, wanted: str) -> None:
    (tmp_path / "script.txt").write_text(SCRIPT, "utf-8")
    run = cappunc(*FIX, talk(tmp_path), "--marks-from", tmp_path / "script.txt", "--marks", marks)
    assert wanted.casefold() in " ".join(formats.read(run.stdout.decode(), "a.srt").texts).casefold()


def test_convert_and_captions_take_marks_over(tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text(SCRIPT, "utf-8")
    asked = ("--lang", "en", *MODEL, talk(tmp_path), "--marks-from", tmp_path / "script.txt")
    assert (
        "Hello, Anna! Then we went to London; where is the cat?"
        in cappunc("convert", *asked, "--to", "txt").stdout.decode()
    )
    assert "Hello, Anna!" in cappunc("captions", *asked).stdout.decode()


odd = st.text(st.sampled_from("ab é.,?!…—“”¿¡-–'’()[]{}<>&\\\t\u202eא🎉1"), max_size=12)
ours = st.lists(
    st.sampled_from(["a", "ab", "b", "é", "a-b", "a.", "“b”", "U.S.", "(a", "b)", "—", "1"]), min_size=1, max_size=30
)


@given(
    ours,
    st.lists(odd | st.sampled_from(["a", "Ab.", "B!", "É", "A-b", "“a", "b”"]), max_size=40),
    st.sampled_from(["auto", "keep", "replace"]),
)
@settings(deadline=None)
def test_only_marks_and_case_ever_differ(words: list[str], theirs: list[str], existing: str) -> None:
    texts = " ".join(theirs).split()
    found = given_words(words, texts, align(words, texts))
    model = load_model(MODEL[1], "cpu")
    read = [Word(text, given=one) for text, one in zip(words, found, strict=True)]
    new = restore(read, model, Options(existing=existing, marks=None))
    assert [fold(strip(a)[0]) for a in words] == [fold(strip(b)[0]) for b in new]


def test_review_lists_where_the_words_differ(tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("Hello, dear Anna! Then we flew to London; where is it?", "utf-8")
    asked = ("review", "--lang", "en", *MODEL, talk(tmp_path), "--marks-from", tmp_path / "script.txt")
    (report,) = json.loads(cappunc(*asked, "--json").stdout)
    assert [(one["first_word"], one["last_word"], one["written"], one["other"]) for one in report["differences"]] == [
        (2, 1, "", "dear"),
        (5, 5, "went", "flew"),
        (10, 11, "the cat", "it?"),
    ]
    assert [one["start_ms"] for one in report["differences"]][2] > 4000
    lines = [line for line in cappunc(*asked).stdout.decode().splitlines() if "differs" in line]
    assert lines[0].endswith("differs: nothing, there “dear”")
    assert lines[1].endswith("differs: “went”, there “flew”")
    assert b"difference,went,,flew" in cappunc(*asked, "--csv").stdout
    assert cappunc(*asked, "--html", tmp_path / "page.html").returncode == 2
