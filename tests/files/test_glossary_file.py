"""Which terms of a glossary were nowhere."""

from __future__ import annotations

from random import Random

import pytest

from cappunc_cli.files import glossary_file
from cappunc_cli.files.glossary_file import StreamTermCheck, TermCheck
from cappunc_cli.files.progress import Reporter
from cappunc_cli.restore.terms import Glossary

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


def test_a_stream_remembers_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary_file, "_BATCH", 10)
    terms = TermCheck(TERMS)
    stream = StreamTermCheck(terms)
    for _ in range(100):
        stream.take("cat")
    assert len(stream._words) < 10 + terms.longest
