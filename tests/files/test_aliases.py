"""Aliases of glossary terms, and glossaries in other forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import MODEL, cappunc, talk

GLOSSARY = "CoralNet = coral net, choral net\nSan Diego = son diego\n"
SPOKEN = "we saw choral net in son diego. and coral net"


def test_aliases_are_written_only_if_asked_for(tmp_path: Path) -> None:
    talk(tmp_path, "terms.txt", GLOSSARY)
    talk(tmp_path, "a.txt", f"{SPOKEN}\n")
    call = ("fix", *MODEL, "--existing", "keep", "--verbose", "--glossary", "terms.txt", "a.txt", "-o", "-")
    assert b"choral net" in cappunc(*call, cwd=tmp_path).stdout.lower()
    run = cappunc(*call, "--aliases", cwd=tmp_path)
    assert "CoralNet in San Diego. And CoralNet" in run.stdout.decode()
    assert run.stderr.count(b" is now ") == 4


def test_an_alias_is_not_written_across_a_mark_and_a_cue(tmp_path: Path) -> None:
    talk(tmp_path, "terms.txt", GLOSSARY)
    text = "1\n00:00:01,000 --> 00:00:02,000\nWe saw coral. Net\n\n2\n00:00:02,000 --> 00:00:03,000\nof coral\n\n"
    talk(tmp_path, "a.srt", f"{text}3\n00:00:03,000 --> 00:00:04,000\nnet.\n")
    run = cappunc("fix", *MODEL, "--aliases", "--glossary", "terms.txt", "a.srt", "-o", "-", cwd=tmp_path)
    assert b"coralnet" not in run.stdout.lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [("New York = nu york city\n", b"terms.txt:1: "), ("<names><name>a</names>", b"terms.txt:1: broken XML")],
)
def test_a_bad_glossary_is_refused(tmp_path: Path, text: str, said: bytes) -> None:
    talk(tmp_path, "terms.txt", text)
    run = cappunc("fix", *MODEL, "--glossary", "terms.txt", talk(tmp_path), cwd=tmp_path)
    assert run.returncode
    assert said in run.stderr


def test_names_of_subtitle_edit_are_read(tmp_path: Path) -> None:
    names = "<?xml version='1.0'?>\n<names><blacklist><name>Cat</name></blacklist><name>KaTze</name></names>"
    talk(tmp_path, "names.xml", names)
    talk(tmp_path, "a.txt", "where is the cat and where is katze\n")
    shown = cappunc("fix", *MODEL, "--glossary", "names.xml", "a.txt", "-o", "-", cwd=tmp_path).stdout.decode()
    assert "KaTze" in shown
    assert "the cat" in shown


def test_the_parts_of_a_name_are_one_term(tmp_path: Path) -> None:
    talk(tmp_path, "a.txt", "We met with Sarmiento de Gamboa, and saw Ana van der Berg. She left Paris de facto.\n")
    shown = cappunc("glossary", *MODEL, "a.txt", cwd=tmp_path).stdout.decode().splitlines()
    assert shown == ["Ana van der Berg", "Paris", "Sarmiento de Gamboa"]
