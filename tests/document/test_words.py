"""Words stored in columns, and the ends of turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.pauses import turn_ends
from cappunc_cli.document.words import RunLengthList, Word, Words, timestamp


def test_no_words_have_no_turns() -> None:
    assert turn_ends([]) == []


def test_a_turn_ends_where_the_speaker_changes() -> None:
    assert turn_ends([Word("a"), Word("b", turn=1), Word("c", turn=1)]) == [True, False, False]


SPANS = st.tuples(st.integers(0, 1000), st.integers(1, 9)).map(lambda span: (span[0], sum(span)))
COPIES = st.lists(st.lists(SPANS, min_size=1, max_size=3).map(tuple), max_size=3).map(tuple)
NUMBERS = st.none() | st.integers(-5, 5) | st.integers(-(10**15), 10**15)
WORDS = st.builds(
    Word,
    st.text(max_size=5),
    NUMBERS,
    NUMBERS,
    st.integers(0, 3),
    st.integers(0, 3),
    COPIES,
    st.booleans(),
    st.booleans(),
)


@given(st.lists(WORDS, max_size=30), st.slices(30))
def test_words_in_columns_are_the_same_words(words: list[Word], part: slice) -> None:
    columns = Words.of(words)
    assert list(columns) == words
    assert [columns[i] for i in range(-len(words), len(words))] == words * 2
    part = slice(part.start, part.stop)
    assert list(columns[part]) == words[part]
    assert columns == words
    assert [[columns.copy(i, spot) for spot in columns.spots(i)] for i in range(len(words))] == [
        list(word.where) for word in words
    ]
    with pytest.raises(IndexError):
        columns[len(words)]


@given(st.lists(st.tuples(NUMBERS, st.integers(1, 3)), max_size=20))
def test_a_column_does_not_depend_on_how_it_was_filled(stretches: list[tuple[int | None, int]]) -> None:
    once, one_by_one = RunLengthList(), RunLengthList()
    for value, count in stretches:
        once.add(value, count)
        for _ in range(count):
            one_by_one.add(value)
    assert once == one_by_one
    if len(once):
        other = RunLengthList()
        for value in list(once)[:-1]:
            other.add(value)
        other.add(7_777_777)
        assert once != other


@given(st.lists(NUMBERS, max_size=12), st.lists(NUMBERS, min_size=1, max_size=4), st.data())
def test_extending_a_column_equals_adding_one_by_one(
    numbers: list[int | None], values: list[int | None], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=8))
    one_by_one, together = RunLengthList(), RunLengthList()
    for number in [*numbers, *(values[place] for place in places)]:
        one_by_one.add(number)
    together.extend(numbers)
    together.extend_from(values, places)
    assert together == one_by_one
    assert list(together) == list(one_by_one)
    column, by_column = RunLengthList(), RunLengthList()
    column.extend(values)
    by_column.extend(numbers)
    by_column.extend_from(column, places)
    by_column.extend(column)
    assert list(by_column) == [*one_by_one, *column]
    start, stop = data.draw(st.integers(0, len(together))), data.draw(st.integers(0, len(together)))
    part = together[start:stop]
    assert list(part) == list(together)[start:stop]
    part.add(numbers[-1] if numbers else None)
    assert list(part) == [*list(together)[start:stop], numbers[-1] if numbers else None]


def test_values_beyond_two_to_the_62nd_are_clipped() -> None:
    values, clipped = [1 << 62, 1 << 70, None, -(1 << 70)], [1 << 62, 1 << 62, None, -(1 << 62)]
    one_by_one, together = RunLengthList(), RunLengthList()
    for value in values:
        one_by_one.add(value)
    together.extend(values)
    assert list(one_by_one) == list(together) == clipped


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(0, "00:00:00.000"), (360_000_999, "100:00:00.999"), (-1, "-00:00:00.001"), (-3_661_500, "-01:01:01.500")],
)
def test_a_time_as_it_is_written(milliseconds: int, written: str) -> None:
    assert timestamp(milliseconds) == written
