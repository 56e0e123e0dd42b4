"""Which terms of a glossary were nowhere."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from commands import cappunc

from cappunc_cli.files import glossary_file
from cappunc_cli.files.glossary_file import StreamTermCheck, TermCheck, near_matches
from cappunc_cli.files.output import Reporter
from cappunc_cli.restoration.terms import Glossary

TERMS = Glossary.of(["BioNTech", "New York", "Kubernetes", "NPM"])
WORDS = ["bio", "n", "tech", "new", "york", "kuber", "netes", "n", "p", "m", "cat", "York-based", "the"]


def told(terms: TermCheck, capsys: pytest.CaptureFixture[str]) -> str:
    terms.report(Reporter(), "there")
    return capsys.readouterr().err


@pytest.mark.parametrize("seed", range(40))
def test_terms_of_a_stream_are_found_as_in_a_file(
    seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = Random(seed)
    words = [chance.choice(WORDS) for _ in range(chance.randrange(60))]
    monkeypatch.setattr(glossary_file, "_BATCH", chance.randint(1, 8))
    whole, live = TermCheck(TERMS), TermCheck(TERMS)
    whole.check(words)
    stream = StreamTermCheck(live)
    for word in words:
        stream.take(word)
    stream.end()
    assert told(live, capsys) == told(whole, capsys)


@pytest.mark.parametrize(
    ("term", "text", "near"),
    [
        ("Cynthia Breazeal", "then cynthia brazil said it", "cynthia brazil"),
        ("Breazeal", "then brazil said it", "brazil"),
        ("Kubernetes", "it runs on cooper netties now", "cooper netties"),
        ("Timisoara", "we went to timishoara", "timishoara"),
        ("London", "we went to paris", None),
        ("Anna", "ann was there", None),
        ("ABC", "abd def", None),
        ("Kubernetes", "", None),
    ],
)
def test_words_that_look_or_sound_like_a_missing_term_are_suggested(term: str, text: str, near: str | None) -> None:
    assert near_matches([term], text.split()) == ({} if near is None else {term: near})


def test_fix_lists_suggestions(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "terms.txt").write_text("Cynthia Breazeal\n")
    for name, text in (("a.txt", "then we went to london\n"), ("b.txt", "then cynthia brazil said it\n")):
        (tmp_path / name).write_text(text)
    files = (tmp_path / "a.txt", tmp_path / "b.txt", "-o", tmp_path / "fixed/")
    for jobs in ("1", "2"):
        run = cappunc(
            "fix", "--force", "--jobs", jobs, "--glossary", tmp_path / "terms.txt", "--model", tiny_model, *files
        )
        assert (
            b"1 glossary term found in no file: Cynthia Breazeal (perhaps \xe2\x80\x9ccynthia brazil\xe2\x80\x9d)\n"
            in run.stderr
        )
        assert b"brazil" in (tmp_path / "fixed/b.txt").read_bytes().lower()
