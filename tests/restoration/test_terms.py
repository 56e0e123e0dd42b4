"""Glossary terms, rules that need no model, and proposals for a glossary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.glossary.term_extraction import TermFinder, layout_breaks
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from cappunc_cli.restoration.terms import Glossary, parse_glossary

MODEL = load_model(str(Path(__file__).parents[1] / "tiny_model"), "cpu")
TERMS = ["iPad", "npm", "New York", "New York Times", "McKay", "O’Neil", "NASA", "York Pier", "Dr. No"]


def run(text: str, *terms: str, existing: str = "auto") -> str:
    words = [Word(token) for token in text.split()]
    options = Options(glossary=Glossary.of(terms), existing=existing)
    new = restore(words, MODEL, options)
    assert restore([Word(token) for token in new], MODEL, options) == new
    return " ".join(new)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("the ipad is here", "The iPad is here."),
        ("ipad sat here", "iPad sat here."),
        ("npm went home", "npm went home."),
        ("the ipad's cat and nasa’s dog", "The iPad's cat, and NASA’s dog."),
        ("the new york times sat in new york", "The New York Times sat in New York."),
        ("the new cat", "The new cat."),
        ("o'neil and o’neil's cat", "O'Neil, and O’Neil's cat."),
        ("THE IPAD WENT TO NEW YORK", "The iPad went to New York."),
        ("the ipads", "The ipads."),
        ("nasa-led", "NASA-led."),
        ("the new york-based cat", "The New York-based cat."),
        ("the cat sat in new york pier", "The cat sat in New York Pier."),
        ("the new york times pier", "The New York Times pier."),
        ("dr. no and dr no", "Dr. No, and Dr No."),
    ],
)
def test_terms_are_written_as_the_glossary_has_them(text: str, written: str) -> None:
    assert run(text, *TERMS) == written


@pytest.mark.parametrize("existing", ["auto", "keep", "replace"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the anti-nato cat sat, and two ceos", ["anti-NATO", "CEOs"]),
        ("The Anti-Nato cat met Ceos of CEOS.", ["anti-NATO", "CEOs", "CEOs"]),
        ("Anti‑nato cats and the ceos’ dog.", ["anti‑NATO", "CEOs’"]),
    ],
)
def test_terms_of_mixed_case_with_a_hyphen_or_in_the_plural(text: str, words: list[str], existing: str) -> None:
    written = run(text, "anti-NATO", "CEOs", existing=existing).split()
    found = [word.rstrip(".,") for word in written if "nato" in word.lower() or "ceo" in word.lower()]
    assert found == words


def test_terms_override_existing_capitals_but_not_marks() -> None:
    assert run("The Ipad, and New, york.", *TERMS, existing="keep") == "The iPad, and New, York."


def test_no_mark_inside_a_term() -> None:
    # The tiny model puts a period after "here" and a comma before "and".
    assert run("the cat sat here then and now", "Here Then") == "The cat sat Here Then, and now."
    assert "Here And" in run("it is here and it sat", "Here And")


@given(
    st.lists(
        st.sampled_from(["the", "cat", "new", "york", "times", "ipad", "npm's", "o'neil", "nasa.", "then,", "Here"]),
        max_size=12,
    )
)
def test_a_glossary_changes_no_word(tokens: list[str]) -> None:
    new = restore([Word(t) for t in tokens], MODEL, Options(glossary=Glossary.of(TERMS)))
    assert [strip(t)[0] for t in new] == [strip(t)[0] for t in tokens]


def test_a_file_of_terms() -> None:
    text = "\ufeff# products\niPad\n\nC#   # the language\n#MeToo\r\n  New York  \n#\n"
    assert parse_glossary(text) == ["iPad", "C#", "#MeToo", "New York"]


def test_a_line_that_is_no_term_is_an_error() -> None:
    with pytest.raises(CappuncError, match=r"terms.txt:2: “--” cannot be a glossary term"):
        parse_glossary("iPad\n--\n", "terms.txt")


@pytest.mark.parametrize("character", ["\v", "\f", "\x1c", "\x85", "\u2028"])
def test_lines_are_those_of_an_editor(character: str) -> None:
    assert parse_glossary(f"New{character}York\rnpm\r\n") == [f"New{character}York", "npm"]
    with pytest.raises(CappuncError, match=r"terms.txt:3: “--”"):
        parse_glossary(f"New{character}York\n\n--", "terms.txt")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("the f b i is here", "The F B I is here."),
        ("we sing a b c d now", "We sing A B C D now."),
        ("the b b c a cat", "The B B C a cat."),
        ("it is x y z", "It is x y z."),
        ("it is 10 000 here", "It is 10 000 here."),
        ("we sat ...and went", "We sat ...and went."),
    ],
)
def test_rules_that_need_no_glossary(text: str, written: str) -> None:
    assert run(text) == written


def proposed(*texts: str) -> list[tuple[str, int]]:
    split = [text.split() for text in texts]
    finder = TermFinder()
    for tokens in split:
        finder.add(tokens, [False] * len(tokens), language("en"))
    return finder.candidates()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("We met Marie Curie in Paris. Paris was wet.", [("Paris", 2), ("Marie Curie", 1)]),
        ("The cat sat. The dog ran and I'm here.", []),
        ("NATO met. It was NATO's day", [("NATO", 2)]),
        ("she said: We go, and Anna, Peter and Mary’s dog", [("Anna", 1), ("Mary", 1), ("Peter", 1)]),
        ("the Cat and the cat and the cat", []),
        ("my iPhone, “New York”", [("iPhone", 1), ("New York", 1)]),
        ("thanks, Brian, he said, How are you, and “Well” and (So it is) - Then", [("Brian", 1)]),
        ("How nice. How good. How odd. we ask them How it is", []),
        (
            "we met Dr. Smith and Mr. and Mrs. Jones of Acme Inc. in May",
            [("Acme", 1), ("Jones", 1), ("May", 1), ("Smith", 1)],
        ),
        ("But Peter sat. So Peter ran. And Peter saw Peter here", [("Peter", 4)]),
    ],
)
def test_proposed_terms(text: str, terms: list[tuple[str, int]]) -> None:
    assert proposed(text) == terms


def test_capitals_at_the_beginning_of_lines_are_no_evidence() -> None:
    words = [Word("Anna", cue=i // 4) for i in range(10)]
    assert layout_breaks(words) == [False] * 3 + [True] + [False] * 3 + [True] + [False] + [True]
    assert layout_breaks([Word("a"), Word("b", cue=1)]) == [False, True]


def test_fix_accepts_the_output_of_the_glossary_command(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("We met Peter in New York. Then Peter went to New York.\n", encoding="utf-8")
    (tmp_path / "bare.txt").write_text("the ipad went home to new york\n", encoding="utf-8")
    tiny = str(Path(__file__).parents[1] / "tiny_model")
    cli = CliRunner()
    listed = cli.invoke(app, ["glossary", "--model", tiny, str(tmp_path / "notes.txt")])
    assert (listed.exit_code, listed.stdout) == (0, "New York\nPeter\n")
    counted = cli.invoke(app, ["glossary", "--model", tiny, "--counts", "--least", "2", str(tmp_path)])
    assert counted.stdout == "2\tNew York\n2\tPeter\n"
    as_json = cli.invoke(app, ["glossary", "--model", tiny, "--json", str(tmp_path / "notes.txt")])
    assert json.loads(as_json.stdout)[0] == {"term": "New York", "count": 2}
    terms = tmp_path / "terms.lst"
    terms.write_text(listed.stdout + "iPad # ours\n", encoding="utf-8")
    source = str(tmp_path / "bare.txt")
    fixed = cli.invoke(app, ["fix", "--model", tiny, "--glossary", str(terms), source, "-o", "-"])
    assert fixed.stdout == "The iPad went home to New York.\n"


def test_each_file_is_read_in_its_own_language(tmp_path: Path) -> None:
    spanish = (
        "dicen que el lunes vamos a ver a la tía de maría en madrid y que después volvemos todos a casa de su madre\n"
    )
    icelandic = "Við sáum að Pierre var í París, og síðan fréttum við að Pierre væri þar með vinum sínum úr skólanum.\n"
    (tmp_path / "es.txt").write_text(spanish, encoding="utf-8")
    (tmp_path / "is.txt").write_text(icelandic, encoding="utf-8")
    outcome = CliRunner().invoke(app, ["glossary", str(tmp_path)])
    assert outcome.exit_code == 0, outcome.stderr
    terms = outcome.stdout.splitlines()
    assert {"Pierre", "París", "Madrid", "María"} <= set(terms)
    assert "Lunes" not in terms
    (tmp_path / "is.txt").write_text(icelandic.lower(), encoding="utf-8")
    outcome = CliRunner().invoke(app, ["glossary", str(tmp_path)])
    assert outcome.exit_code == 1
    assert "is.txt: looks like is" in outcome.stderr


def test_sightings_with_the_same_and_other_word_boundaries() -> None:
    glossary = Glossary.of(["BioNTech", "New York", "iPhone", "AT", "Kubernetes"])
    seen = glossary.sightings(["We", "at", "bio", "n", "tech,", "in", "New", "York,", "saw", "his", "iPhone's", "bat."])
    assert seen.found == {"New York", "iPhone", "AT"}
    assert seen.apart == {"BioNTech": "bio n tech"}
    assert Glossary.of(["bat man"]).sightings(["acrobat", "man", "Batman,"]).apart == {"bat man": "batman"}
    assert Glossary.of(["x y"]).sightings([]).apart == {}
