"""Which share of its marks and capitals a text lacks, and where, given a model that knows the writer's habits."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from passages import CONFIG, likely, passage, taken_apart

from cappunc_cli.document.labels import Case, Label
from cappunc_cli.restoration.decoding.decoder import decode
from cappunc_cli.restoration.decoding.doubts import UnrestoredSpan, unrestored_spans
from cappunc_cli.restoration.decoding.existing import Missing, find_missing
from cappunc_cli.restoration.decoding.passage import Passage
from cappunc_cli.restoration.options import Options


class Prose:
    """Words and a model that is calibrated: of the marks that it expects with some probability that share is there."""

    def __init__(self, count: int, seed: int = 1) -> None:
        chance = random.Random(seed)
        self.labels: list[Label] = []
        self.rows: list[list[float]] = []
        start = 1.0
        for _ in range(count):
            mark = chance.choice(",.")
            sure = chance.choices([0.01, 0.3, 0.7, 0.97], [84, 5, 3, 8])[0]
            capital = start + (1 - start) * 0.03
            begins = not self.labels or self.labels[-1].mark == "." or chance.random() < 0.03
            after = mark if chance.random() < sure else ""
            self.labels.append(Label(Case.CAPITAL if begins else Case.LOWER, after=after))
            self.rows.append(likely(Case.CAPITAL, mark, case_p=capital, mark_p=sure))
            start = sure if mark == "." else 0.0

    def passage(self, shown: list[Label], fillers: Sequence[int] = ()) -> Passage:
        """The words with the labels `shown`; all differ, but that the `fillers` are `um`."""
        count = len(self.labels)
        words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}" for i in range(count)]
        for i in fillers:
            words[i] = "um"
        return passage(np.array(self.rows, np.float32), words, [False] * count, CONFIG, Options(), {}, shown)

    def missing(self, shown: list[Label], cues: Sequence[int] = (), fillers: Sequence[int] = ()) -> Missing:
        """What is missing from the labels `shown`; cues begin with the words `cues`."""
        text = self.passage(shown, fillers)
        return find_missing(replace(text, cue_starts=np.isin(np.arange(len(shown)), cues)))

    def with_semicolons(self) -> Prose:
        """The same text with every third of its sure commas written `;`, as the model expects there."""
        sure = [i for i, row in enumerate(self.rows) if self.labels[i].mark == "," and max(row[4:]) > 0.9]
        for i in sure[::3]:
            self.labels[i] = replace(self.labels[i], after=";")
            self.rows[i] = [*self.rows[i][:4], *likely(Case.LOWER, ";", mark_p=0.97)[4:]]
        return self


def stripped(labels: list[Label], start: int, stop: int, marks: bool, case: Case | None) -> list[Label]:
    """The labels with a stretch that lacks marks, or has all its words in one case."""
    new = list(labels)
    for i in range(start, stop):
        new[i] = replace(new[i], after="" if marks else new[i].after, case=new[i].case if case is None else case)
    return new


def thinned(labels: list[Label], gone: Callable[[Label], bool]) -> list[Label]:
    """The labels without some marks, in lower case after a sentence end that is gone."""
    new, lowered = [], False
    for label in labels:
        after = "" if label.mark and gone(label) else label.after
        new.append(replace(label, after=after, case=Case.LOWER if lowered else label.case))
        lowered = label.mark == "." and not after
    return new


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_share_of_marks_taken_out_at_random_is_estimated(share: float) -> None:
    text, chance = Prose(2000), random.Random(2)
    labels = text.labels
    missing = text.missing(thinned(labels, lambda _: chance.random() < share))
    within, ends, capitals = missing.shares()
    assert within == pytest.approx(share, abs=0.08)
    assert ends == pytest.approx(share, abs=0.08)
    assert capitals < 0.1


@pytest.mark.parametrize("kind", [",", "."])
def test_all_marks_of_one_kind_may_be_missing(kind: str) -> None:
    text = Prose(1500)
    labels = text.labels
    within, ends, _ = text.missing(thinned(labels, lambda label: label.mark == kind)).shares()
    gone, there = (within, ends) if kind == "," else (ends, within)
    assert gone > 0.9
    assert there < 0.1


def test_semicolons_do_not_show_that_a_text_has_its_commas() -> None:
    text = Prose(1500).with_semicolons()
    within, ends, _ = text.missing(thinned(text.labels, lambda label: label.mark == ",")).shares()
    assert within > 0.9
    assert ends < 0.1


def test_semicolons_show_that_a_text_has_some_of_its_marks() -> None:
    text = Prose(1500).with_semicolons()
    bare = text.missing(thinned(text.labels, lambda _: True)).shares()
    assert min(bare[:2]) > 0.9
    missing = text.missing(thinned(text.labels, lambda label: label.mark != ";")).shares()
    assert max(missing[:2]) < 0.9


@pytest.mark.parametrize("kind", [",", "."])
def test_semicolons_are_missing_where_commas_or_sentence_ends_are(kind: str) -> None:
    """Some set `;` where others set a comma, or a period: whoever left out one of these left it out, too."""
    text = Prose(1500).with_semicolons()
    fixed = decode(text.passage(thinned(text.labels, lambda label: label.mark in (kind, ";"))))
    wanted = [i for i, label in enumerate(text.labels) if label.mark == ";"]
    assert sum(fixed[i].mark == ";" for i in wanted) >= 0.9 * len(wanted)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_capitals_may_be_missing_where_marks_are_not(share: float) -> None:
    text, chance = Prose(1500), random.Random(3)
    labels = text.labels
    low = [replace(label, case=Case.LOWER) if chance.random() < share else label for label in labels]
    within, ends, capitals = text.missing(low).shares()
    assert max(within, ends) < 0.1
    assert capitals == pytest.approx(share, abs=0.1)


def test_whether_capitals_stay_after_missing_sentence_ends_is_found() -> None:
    """Whisper drops periods but keeps the capitals after them; others do not."""
    text = Prose(1000)
    labels = text.labels
    without = [replace(label, after="") for label in labels]
    assert text.missing(without).kept > 0.6
    assert text.missing(thinned(labels, lambda _: True)).kept < 0.2


@pytest.mark.parametrize("seed", range(5))
def test_good_text_lacks_nothing(seed: int) -> None:
    text = Prose(800, seed)
    labels = text.labels
    missing = text.missing(labels)
    assert unrestored_spans(missing) == []
    assert max(missing.within.max(), missing.ends.max(), missing.capitals.max()) < 0.06


def test_a_writer_who_sets_few_commas_lacks_none() -> None:
    text, chance = Prose(2000), random.Random(4)
    labels = text.labels
    few = thinned(labels, lambda label: label.mark == "," and chance.random() < 0.4)
    assert unrestored_spans(text.missing(few)) == []
    broken = stripped(few, 600, 1000, True, None)
    [stretch] = unrestored_spans(text.missing(broken))
    assert (stretch.marks, stretch.case) == (True, False)


def test_commas_beside_one_word_are_one_decision() -> None:
    """Who writes `um` without commas, however often, has left out none; who left out as many elsewhere has."""
    text = Prose(2000)
    gone = [i for i, label in enumerate(text.labels) if label.mark == "," and 1000 <= i < 1600]
    without = [replace(label, after="") if i in gone else label for i, label in enumerate(text.labels)]
    assert unrestored_spans(text.missing(without, fillers=gone)) == []
    assert text.missing(without, fillers=gone).within.max() < 0.1
    [stretch] = unrestored_spans(text.missing(without))
    assert abs(stretch.start - 1000) < 100
    assert abs(stretch.stop - 1600) < 100


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_who_leaves_turns_open_lacks_no_sentence_end(seed: int) -> None:
    """An interrupted turn, or the line of a chat, may have no mark; as many gaps within turns, too, are a damage."""
    text, chance = Prose(2000, seed), random.Random(7)
    ends = [i for i, label in enumerate(text.labels[:-1]) if label.mark == "."]
    turns = chance.sample(ends, len(ends) // 2)
    few, many = chance.sample(turns, len(turns) // 2), chance.sample(ends, len(ends) // 2)
    open_turns, damaged = (
        [replace(label, after="") if i in frozenset(gone) else label for i, label in enumerate(text.labels)]
        for gone in (few, many)
    )
    heads = [i + 1 for i in turns]
    assert text.missing(open_turns, heads).ends.max() < 0.06
    assert text.missing(damaged, heads).ends.min() > 0.2


def test_turns_that_go_on_in_lower_case_lack_no_capital() -> None:
    text, chance = Prose(2000), random.Random(6)
    starts = [i for i in range(1, 2000) if text.labels[i - 1].mark == "."]
    turns = chance.sample(starts, len(starts) // 2)
    low = frozenset(chance.sample(turns, len(turns) // 5))
    labels = [replace(label, case=Case.LOWER) if i in low else label for i, label in enumerate(text.labels)]
    assert text.missing(labels, turns).capitals.max() < 0.06
    everywhere = frozenset(chance.sample(starts, len(starts) // 2))
    labels = [replace(label, case=Case.LOWER) if i in everywhere else label for i, label in enumerate(text.labels)]
    assert text.missing(labels, turns).capitals.mean() > 0.2


@pytest.mark.parametrize(
    ("marks", "case"),
    [(True, None), (False, Case.LOWER), (True, Case.LOWER), (False, Case.UPPER), (True, Case.UPPER)],
)
def test_a_stretch_is_found_with_both_its_borders(marks: bool, case: Case | None) -> None:
    text = Prose(600)
    labels = text.labels
    found = text.missing(stripped(labels, 200, 350, marks, case))
    [stretch] = unrestored_spans(found)
    assert (stretch.marks, stretch.case) == (marks, case is not None)
    assert abs(stretch.start - 200) <= 16
    assert abs(stretch.stop - 350) <= 16
    assert found.upper.any() == (case is Case.UPPER)


def test_bare_captions_among_whole_ones_are_told_apart() -> None:
    text = Prose(2000, 3)
    labels, bare = text.labels, np.zeros(2000, np.bool_)
    for start in range(0, 2000, 40):
        labels = stripped(labels, start, start + 10, True, Case.LOWER)
        bare[start : start + 10] = True
    found = text.missing(labels)
    for shares, belongs in ((found.ends, found.expected[:, 1] > 0.9), (found.capitals, found.expected[:, 2] > 0.9)):
        assert shares[belongs & ~bare].mean() < 0.1
        assert shares[belongs & bare].mean() > 0.6


@pytest.mark.parametrize(("count", "meant"), [(4, True), (12, True), (19, True), (30, False)])
def test_a_few_capitals_amid_good_text_are_meant(count: int, meant: bool) -> None:
    text = Prose(600)
    labels = text.labels
    labels[199], labels[199 + count] = replace(labels[199], after="."), replace(labels[199 + count], after=".")
    broken = stripped(labels, 200, 200 + count, False, Case.UPPER)
    assert (unrestored_spans(text.missing(broken, cues=range(0, 600, 4))) == []) is meant


@pytest.mark.parametrize(("before", "after"), [("", "."), (".", ""), ("", "")])
def test_cues_in_capitals_are_restored_within_a_sentence_that_goes_on_in_good_case(before: str, after: str) -> None:
    text = Prose(600)
    labels = text.labels
    labels[199], labels[206] = replace(labels[199], after=before), replace(labels[206], after=after)
    labels[207] = replace(labels[207], case=Case.LOWER)
    broken = stripped(labels, 200, 207, False, Case.UPPER)
    assert np.flatnonzero(text.missing(broken, cues=[0, 200, 207]).upper).tolist() == [*range(200, 207)]
    assert not text.missing(broken, cues=[0, 150, 300]).upper.any()  # a sign in the middle of a cue


def test_neighbours_that_lack_different_things_are_two_stretches() -> None:
    text = Prose(600)
    labels = text.labels
    broken = stripped(stripped(labels, 100, 250, True, Case.LOWER), 250, 400, False, Case.UPPER)
    found = unrestored_spans(text.missing(broken))
    assert [(s.marks, s.case) for s in found] == [(True, True), (False, True)]


def test_a_bare_text_is_one_stretch() -> None:
    text = Prose(50)
    labels = text.labels
    found = text.missing(stripped(labels, 0, 50, True, Case.LOWER))
    assert unrestored_spans(found) == [UnrestoredSpan(0, 50, True, True)]


def test_periods_of_abbreviations_do_not_show_that_a_text_has_its_marks() -> None:
    """Nor does a single sentence end beside them, which may be an abbreviation that no list has."""
    words, labels = taken_apart("mr. lee and dr. fox left etc. and yes sir. we saw mr. lee vs. us then " * 3)
    _, expected = taken_apart("Mr lee and dr fox left etc. And yes, sir. We saw mr lee vs us then. " * 3)
    rows = np.array([likely(label.case, label.mark) for label in expected], np.float32)
    text = passage(rows, words, [False] * len(words), CONFIG, Options(), {}, labels)
    assert find_missing(text).lacks_marks.all()
