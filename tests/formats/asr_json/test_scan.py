"""scan.py: values with spans, edits that keep a file's own spelling."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.json.scan import Literal, Node, literal_edits, load
from cappunc_cli.formats.splice import splice

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.text('ab":,{}[] \\'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.text('ab":,{}'), inner, max_size=4),
    max_leaves=20,
)
LAYOUTS = st.sampled_from([None, 0, 2, "\t"])


def literals(value: object) -> list[Literal]:
    if isinstance(value, Literal):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [literal for child in children for literal in literals(child)]


def nodes(value: object) -> list[Node]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value] * isinstance(value, Node) + [node for child in children for node in nodes(child)]


@given(VALUES, LAYOUTS, st.booleans())
def test_values_are_those_of_the_standard_library(value: object, indent: int | str | None, ascii_only: bool) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    parsed = load(f" {source}\r\n")
    assert parsed == value
    for placed in [*literals(parsed), *filter(None, nodes(parsed))]:
        assert json.loads(f" {source}\r\n"[placed.start : placed.stop], strict=False) == placed
    starts = [literal.start for literal in literals(parsed)]
    assert starts == sorted(set(starts))


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ('[{"a": "", "b": "z", "a": "yyyyyyyyyyyyyyyyyyyyyyyyyyyy"}]', ["yyyyyyyyyyyyyyyyyyyyyyyyyyyy", "z"]),
        ('[{"a":1,":1,":"x","b":"a"}]', ["x", "a"]),
        ('[{"a": "b", "b": "b"}]', ["b", "b"]),
        ('[{"b": 2, "a": "{[", "b": "]}"}]', ["]}", "{["]),
        ('[{"a": {"b": "x"}, "a": "y"}]', ["y"]),
        ('[{"a": 1, "a": "y", "b": {}}]', ["y"]),
    ],
)
def test_a_string_of_a_flat_object_is_not_mistaken_for_another(source: str, places: list[str]) -> None:
    found = literals(load(source))
    assert [source[literal.start + 1 : literal.stop - 1] for literal in found] == places == found
    assert len({literal.start for literal in found}) == len(found)


def test_lenient_where_engines_are() -> None:
    nan, again, broken = load('[NaN, {"a": "x", "a": "y"}, "\\ud83d tab\there"]')
    assert math.isnan(nan)
    assert again == {"a": "y"}
    assert broken == "\ud83d tab\there"


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ('{"a": 1,\n "b" 2}', 2, "expecting ':'"),
        ('[1,\n\n"x" "y"]', 3, "expecting ',' delimiter"),
        ('{"a": "x"', 1, "ends too early"),
        ('{"a":\n', 2, "ends too early"),
        ('{"a": "x', 1, "unterminated string"),
        ('["\\x"]', 1, "invalid \\escape"),
        ("[1 2]", 1, "expecting ',' delimiter"),
        ("{'a': 1}", 1, "double quotes"),
        ("[" * 1000, 1, "nested too deeply"),
        ("  ", 1, "no value"),
        ('[{"a": 1},\n{"b": tru}]', 2, "expecting value"),
        ('[{"a": 1},\n{"b": 2},]', 2, ""),
        ('{"a": [{"b": 1}\n{"c": 2}]}', 2, "expecting ',' delimiter"),
        ('[{"a": 1},\r{"b": 2}\r\n}', 3, "expecting ',' delimiter"),
    ],
)
def test_broken_json_names_the_line(source: str, line: int, what: str) -> None:
    with pytest.raises(BadInput, match="broken JSON") as caught:
        load(source)
    assert caught.value.line == line
    assert what in caught.value.message


@given(st.text(min_size=1), st.text(max_size=5), st.booleans(), st.data())
def test_an_edit_changes_the_value_and_nothing_else(text: str, new: str, ascii_only: bool, data: st.DataObject) -> None:
    source = json.dumps({"before": "é", "text": text, "after": ["…"]}, ensure_ascii=ascii_only)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    literal = load(source)["text"]
    output = splice(source, literal_edits(literal, [(start, stop, new)]))
    wanted = text[:start] + new + text[stop:]
    # Two halves of a pair that meet become one character: such a text is no Unicode at all.
    assert json.loads(output) == {"before": "é", "text": wanted, "after": ["…"]}
    assert output.startswith(source[: literal.start])
    assert output.endswith(source[literal.stop :])
    assert output.isascii() or not ascii_only


@pytest.mark.parametrize(
    ("source", "edit", "output"),
    [
        ('["caf\\u00e9 \\/ x"]', (4, 4, "—"), '["caf\\u00e9\\u2014 \\/ x"]'),
        ('["caf\\u00E9"]', (3, 4, "É"), '["caf\\u00C9"]'),
        ('["café"]', (4, 4, "…"), '["café…"]'),
        ('["hello"]', (5, 5, "…"), '["hello\\u2026"]'),
        ('["a\\ud83d\\ude00b"]', (2, 3, "B."), '["a\\ud83d\\ude00B."]'),
        ('["say \\"hi\\""]', (8, 8, "!"), '["say \\"hi\\"!"]'),
    ],
)
def test_escapes_are_spelled_as_in_the_file(source: str, edit: tuple[int, int, str], output: str) -> None:
    literal = load(source)[0]
    assert splice(source, literal_edits(literal, [edit])) == output


@pytest.mark.parametrize("last", ['{"b": "y"}', '["y"]', "5", "null", '"y"'])
def test_the_last_of_duplicate_keys_counts_whatever_its_type(last: str) -> None:
    assert load(f'{{"a": "x", "a": {last}}}') == {"a": json.loads(last)}
