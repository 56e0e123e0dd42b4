"""Terms of the user, and what else is certain about words before a model speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.errors import CappuncError
from cappunc_cli.labels import strip
from cappunc_cli.restoration.glossary import Glossary, parse
from cappunc_cli.restoration.pipeline import Options, load_model, restore
from cappunc_cli.words import Word

MODEL = load_model(str(Path(__file__).parent / "tiny_model"), "cpu")
TERMS = ["iPad", "npm", "New York", "New York Times", "McKay", "O’Neil", "NASA"]


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
    ],
)
def test_terms_are_written_as_the_glossary_has_them(text: str, written: str) -> None:
    assert run(text, *TERMS) == written


def test_existing_capitals_give_way_and_marks_do_not() -> None:
    assert run("The Ipad, and New, york.", *TERMS, existing="keep") == "The iPad, and New, York."


def test_no_mark_cuts_a_term() -> None:
    # The tiny model has a period after "here", and a comma before "and".
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
    assert parse(text) == ["iPad", "C#", "#MeToo", "New York"]


def test_a_line_that_is_no_term_is_named() -> None:
    with pytest.raises(CappuncError, match=r"terms.txt:2: “--” is no term"):
        parse("iPad\n--\n", "terms.txt")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("the f b i is here", "The F B I is here."),
        ("the b b c a cat", "The B B C a cat."),
        ("it is x y z", "It is x y z."),
        ("it is 10 000 here", "It is 10 000 here."),
        ("we sat ...and went", "We sat ...and went."),
    ],
)
def test_what_is_certain_without_a_glossary(text: str, written: str) -> None:
    assert run(text) == written
