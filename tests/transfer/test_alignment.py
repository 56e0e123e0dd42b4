"""Two texts word by word: what is equal, what is near, and what is nowhere."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.transfer.alignment import EQUAL, NEAR, PLACE, align, key

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]


def shown(ours: str, theirs: str) -> list[tuple[str, str, int]]:
    left, right = ours.split(), theirs.split()
    return [
        (" ".join(left[one.first : one.stop]), " ".join(right[one.other : one.until]), one.kind)
        for one in align(left, right)
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("caf\u00e9", "Cafe\u0301,"),
        ("resume", "résumé"),
        ("dont", "don’t"),
        ("email", "E-mail!"),
        ("i", "I-I"),
        ("straße", "STRASSE"),
        ("10000", "10,000."),
    ],
)
def test_one_word_has_several_spellings(ours: str, theirs: str) -> None:
    assert key(ours) == key(theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("anti virus", "Antivirus,"),
        ("antivirus", "Anti virus,"),
        ("u s", "U.S."),
        ("it's", "It 's"),
        ("nato", "N A T O"),
    ],
)
def test_one_word_may_be_several(ours: str, theirs: str) -> None:
    found = shown(f"so we see {ours} again there now", f"So we see {theirs} again there now.")
    assert (ours, theirs, EQUAL) in found


def test_near_words_and_others_in_their_place() -> None:
    found = shown("so we went with brazil to the old town today", "So we went with Breazeal to the old harbour, today.")
    assert ("brazil", "Breazeal", NEAR) in found
    assert ("town", "harbour,", PLACE) in found


def test_numbers_are_what_they_say() -> None:
    links = align(
        ["we", "saw", "twenty", "one", "of", "them", "there"], ["We", "saw", "21", "of", "them", "there."], "".join
    )
    assert [one.kind for one in links if one.other == 2] == [PLACE]
    says = {"twenty one": "21"}
    links = align(
        ["we", "saw", "twenty", "one", "of", "them", "there"],
        ["We", "saw", "21", "of", "them", "there."],
        lambda w: says.get(" ".join(w), ""),
    )
    assert [(one.first, one.stop, one.kind) for one in links if one.other == 2] == [(2, 4, EQUAL)]


def differing(words: Sequence[str], share: float, chance: Random) -> tuple[list[str], dict[int, int]]:
    """A text with a share of the words changed, dropped or added, and the places of those that are the same."""
    found: list[str] = []
    same: dict[int, int] = {}
    for i, word in enumerate(words):
        kind = chance.random() / share
        if kind < 1 / 3:
            found.append(chance.choice(WORDS))
        elif kind >= 2 / 3:
            same[i] = len(found)
            found += [word] if kind >= 1 else [word, chance.choice(WORDS)]
    return found, same


@pytest.mark.parametrize(("share", "least"), [(0.05, 0.99), (0.15, 0.97), (0.3, 0.95)])
def test_words_find_their_like(share: float, least: float) -> None:
    chance = Random(3)
    ours = chance.choices(WORDS, k=3000)
    theirs, same = differing(ours, share, chance)
    found = {one.first: one.other for one in align(ours, theirs) if one.kind == EQUAL}
    right = sum(found.get(i) == j for i, j in same.items())
    assert right >= least * len(same)
    assert sum(same.get(i) != j for i, j in found.items()) <= (1 - least) * len(ours)


def test_passages_that_were_moved_and_a_chorus_that_is_written_once() -> None:
    chance = Random(4)
    verses = [chance.choices(WORDS, k=60) for _ in range(4)]
    chorus = chance.choices(WORDS, k=20)
    ours = [*verses[0], *chorus, *verses[1], *chorus, *verses[2], *chorus]
    theirs = [*verses[3], *verses[1], *verses[2], *verses[0], *chorus]
    found = {one.first: theirs[one.other] for one in align(ours, theirs) if one.kind == EQUAL}
    assert found == dict(enumerate(ours))


def test_a_part_of_a_talk_and_one_talk_of_ten() -> None:
    chance = Random(5)
    talks = [chance.choices(WORDS, k=500) for _ in range(10)]
    whole = [word for talk in talks for word in talk]
    assert {(one.first, one.other - 2000) for one in align(talks[4], whole)} == {(i, i) for i in range(500)}
    half = {one.first for one in align(talks[0], talks[0][250:])}
    assert half == set(range(250, 500))


def test_texts_of_other_subjects_have_nothing_in_common() -> None:
    chance = Random(6)
    frequent = ["the", "of", "and", "to", "a", "in", "is", "it", "that", "was"]
    ours, theirs = (
        [word for _ in range(400) for word in (chance.choice(WORDS), chance.choice(frequent))] for _ in range(2)
    )
    assert len(align(ours, theirs)) <= 0.1 * len(ours)


texts = st.lists(st.sampled_from(["a", "b", "c", "ab", "a-a", "1", "É", "", "—", "\u202eab", "a" * 300]), max_size=40)


@given(texts, texts)
def test_each_of_our_words_is_in_one_link(ours: list[str], theirs: list[str]) -> None:
    links = align(ours, theirs)
    assert links == sorted(links)
    places = [i for one in links for i in range(one.first, one.stop)]
    assert len(places) == len(set(places))
    assert all(0 <= one.first < one.stop <= len(ours) and 0 <= one.other < one.until <= len(theirs) for one in links)
    if ours == theirs:
        assert [(one.first, one.other) for one in links if one.kind == EQUAL] == [(i, i) for i in range(len(ours))]


@pytest.mark.slow
def test_a_million_words_end() -> None:
    chance = Random(7)
    whole = chance.choices(WORDS, k=1_000_000)
    tracemalloc.start()
    begun = time.process_time()
    assert len(align(whole[500_000:600_000], whole)) == 100_000
    assert time.process_time() - begun < 60
