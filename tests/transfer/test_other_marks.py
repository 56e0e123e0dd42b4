"""What another text says of our words where words are missing on either side."""

from __future__ import annotations

import pytest

from cappunc_cli.document.labels import PairedMark
from cappunc_cli.transfer.alignment import align
from cappunc_cli.transfer.other_marks import given_words

#: Agreeing words around an example, so that it is no coincidence.
LEFT, RIGHT = "Once more we say it here", "and so it goes on and on."


def said(ours: str, theirs: str) -> str:
    """Our words with the marks and the case that they are given; `?` after a tilde where one is not told."""
    left = f"{LEFT.lower()} {ours} {RIGHT[:-1]}".split()
    right = f"{LEFT} {theirs} {RIGHT}".split()
    found = given_words(left, right, align(left, right))[len(LEFT.split()) : -len(RIGHT.split())]
    words = left[len(LEFT.split()) :]
    return " ".join(
        word if one is None else f"{one.text or f'~{word}'}{'~' if one.mark is None else one.mark}"
        for word, one in zip(words, found, strict=False)
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted"),
    [
        ("we left then they came", "We left. Then they came,", "We left. Then they came,"),
        # A sentence end moves to the last word that is there; other marks go with their words.
        ("we left then they came", "we left him, sadly. Then they came,", "we left. Then they came,"),
        ("we left then they came", "we left, though, then they came,", "we left, then they came,"),
        ("we left then they came", "we left? Yes. Then they came,", "we left? Then they came,"),
        ("we left then they came", "we left, she said! Then they came,", "we left! Then they came,"),
        # Nobody says what is in brackets.
        ("we left then they came", "we left (He nods.) then they came,", "we left then they came,"),
        # What we say and the other text does not is not told.
        ("we left um then they came", "we left. Then they came,", "we left. um ~then they came,"),
        ("we left um then they came", "we left, Anna and they came,", "we left, um ~then they came,"),
        # The sentence begins in the other text only.
        ("we left they came", "we left. Then they came,", "we left. ~they came,"),
        # A word that was heard otherwise has its marks, and its capital if it is one.
        ("we left brazil they came", "we left, Breazeal. They came,", "we left, Brazil. They came,"),
        ("we left anti virus they came", "we left Antivirus; they came,", "we left Anti virus; they came,"),
        ("we left antivirus they came", "we left, Anti Virus; they came,", "we left, Antivirus; they came,"),
        ("we left the u s they came", "we left the U.S. They came,", "we left the U S~ They came,"),
        ("we left iphone they came", "we left iPhone... they came,", "we left iPhone… they came,"),
        ("we left o’brien they came", "we left O'Brien: they came,", "we left O’Brien: they came,"),
    ],
)
def test_marks_at_gaps(ours: str, theirs: str, wanted: str) -> None:
    assert said(ours, theirs) == wanted


def test_quotations_come_in_pairs_or_not_at_all() -> None:
    ours = ["she", "said", "come", "here", "now", "and", "then", "he", "left", "us", "there"]

    def quotes(theirs: str) -> dict[str, str]:
        found = given_words(ours, theirs.split(), align(ours, theirs.split()))
        paired = {word: {*one.paired} & {"“", "”"} for word, one in zip(ours, found, strict=True) if one is not None}
        return {word: "".join(sorted(one)) for word, one in paired.items() if one}

    assert quotes("She said, “Come here now!” And then he left us there.") == {"come": "“", "now": "”"}
    assert quotes("She said, “Please come here now, Anna!” And then he left us there.") == {"come": "“", "now": "”"}
    assert quotes("She said, “Come here now! And then he left us there.") == {}
    assert quotes("She said: “Oh!” Come here now! And then he left us there.") == {}


def test_a_question_is_opened_where_the_other_text_does() -> None:
    ours = ["pero", "qué", "dices", "tú", "de", "todo", "esto"]
    theirs = ["Pero", "¿qué", "dices", "tú", "de", "todo", "esto?"]
    found = given_words(ours, theirs, align(ours, theirs))
    assert [one is not None and PairedMark.OPEN_QUESTION in one.paired for one in found] == [False, True, *[False] * 5]


def test_a_text_without_marks_or_case_says_nothing_of_these() -> None:
    ours = f"{LEFT} {RIGHT[:-1]}".lower().split()
    for theirs in (" ".join(ours), " ".join(ours).upper()):
        found = given_words(ours, theirs.split(), align(ours, theirs.split()))
        assert all(one is not None and not one.text for one in found)
        assert all(one is not None and not one.mark for one in found)
    upper = "WE WENT TO LONDON, ANNA. THEN WE LEFT!"
    found = given_words(
        upper.lower().replace(",", "").split(), upper.split(), align(upper.lower().split(), upper.split())
    )
    assert [one.mark for one in found if one is not None] == ["", "", "", ",", ".", "", "", "!"]


def test_where_marks_stop_midway_none_are_told() -> None:
    words = [f"word{i}" for i in range(300)]
    theirs = [f"{word}." if i < 100 and not i % 10 else word for i, word in enumerate(words)]
    found = given_words(words, theirs, align(words, theirs))
    assert [one.mark for one in found[5:9] if one is not None] == ["", "", "", ""]
    assert all(one is not None and one.mark is None for one in found[120:299])
