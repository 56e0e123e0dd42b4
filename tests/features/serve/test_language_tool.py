"""LanguageTool's protocol, by the client of others (language-tool-python) and by its reference."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from commands import TINY
from test_serve import ask, refused, serving

import cappunc_cli
from cappunc_cli.serving.server import Server

language_tool_python = pytest.importorskip("language_tool_python")

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place: Path = tmp_path_factory.mktemp("models")
    shutil.copytree(TINY, place / "en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPPUNC_MODELS", str(place))
        patch.setenv("NO_PROXY", "*")
        with serving() as (server, _):
            yield server


def matches(service: Server, **given: str) -> list[Any]:
    status, body, _ = ask(service, "/v2/check", urlencode({"language": "en-US", **given}).encode(), FORM)
    assert status == 200, body
    found = json.loads(body)
    assert found["software"]["apiVersion"] == 1
    assert found["language"]["code"] == "en"
    return list(found["matches"])


def applied(text: str, found: list[Any]) -> str:
    """A text with all suggestions, whose offsets count UTF-16 units."""
    units = text.encode("utf-16-le")
    for one in sorted(found, key=lambda match: -match["offset"]):
        start, stop = 2 * one["offset"], 2 * (one["offset"] + one["length"])
        units = units[:start] + one["replacements"][0]["value"].encode("utf-16-le") + units[stop:]
    return units.decode("utf-16-le")


TEXTS = [
    "hello anna then we went to london where is the cat",
    "\U0001f600\U0001f600 hello anna \U0001f468\u200d\U0001f469\u200d\U0001f467 then we went to london",
    "le cafe\u0301 hello anna and the cafe\u0301 in london where is the cat",
    "hello anna\n\n\tthen we went\r\nto london",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_suggestions_together_are_what_fix_writes(service: Server, text: str) -> None:
    expected = cappunc_cli.fix(text, str(TINY), language="en", format="txt", device="cpu").text
    assert applied(text, matches(service, text=text)) == expected != text


@pytest.mark.parametrize("text", TEXTS)
def test_a_client_of_others_corrects_a_text(service: Server, text: str) -> None:
    expected = cappunc_cli.fix(text, str(TINY), language="en", format="txt", device="cpu").text
    tool = language_tool_python.LanguageTool("en-US", remote_server=f"http://127.0.0.1:{service.port}")
    assert tool.correct(text) == expected
    assert {match.rule_id for match in tool.check(text)} <= {"CAPPUNC_MARK", "CAPPUNC_CASE", "CAPPUNC_MARK_AND_CASE"}
    tool.close()


def test_markup_is_left_alone_and_counted(service: Server) -> None:
    pieces = [
        {"markup": "{\\an8}"}, {"text": "hello anna then "}, {"markup": "<i>"}, {"text": "we went to london"},
        {"markup": "</i>"}, {"markup": "<br>", "interpretAs": "\n"}, {"text": "where is lon"}, {"markup": "<b>"},
        {"text": "don "}, {"markup": "</b>\U0001f600"}, {"text": "and the cat"},
    ]  # fmt: skip
    whole = "".join(piece.get("text", piece.get("markup", "")) for piece in pieces)
    plain = "".join(piece.get("text", piece.get("interpretAs", "")) for piece in pieces)
    found = applied(whole, matches(service, data=json.dumps({"annotation": pieces})))
    fixed = cappunc_cli.fix(plain, str(TINY), language="en", format="txt", device="cpu").text
    for piece in pieces:
        if "markup" in piece:
            assert piece["markup"] in found
            found = found.replace(piece["markup"], piece.get("interpretAs", ""), 1)
    # A word with markup in it stays: to replace it would remove that.
    assert found.split()[:8] == fixed.split()[:8]
    assert "london" in found.split()


def test_rules_can_be_switched_off(service: Server) -> None:
    text = TEXTS[0]
    every = matches(service, text=text)
    kinds = {one["rule"]["id"] for one in every}
    assert len(kinds) > 1
    for kind in kinds:
        assert {one["rule"]["id"] for one in matches(service, text=text, disabledRules=kind)} == kinds - {kind}
        assert {one["rule"]["id"] for one in matches(service, text=text, enabledRules=kind, enabledOnly="true")} == {
            kind
        }
    assert all(one["rule"]["category"]["id"] in ("PUNCTUATION", "CASING") for one in every)


def test_doubtful_marks_are_told_when_asked_to_be_picky(service: Server) -> None:
    text = "Hello, Anna. Then we went, to London. Where is the cat?"
    assert len(matches(service, text=text)) <= len(matches(service, text=text, level="picky"))


def test_the_languages_are_those_with_a_model(service: Server) -> None:
    found = json.loads(ask(service, "/v2/languages")[1])
    assert {"name": "English", "code": "en", "longCode": "en"} in found
    assert any(one["longCode"] == "en-US" for one in found)
    assert all(set(one) == {"name", "code", "longCode"} for one in found)


@pytest.mark.parametrize(
    "given",
    [
        {}, {"text": "a", "data": "{}"}, {"data": "{"}, {"data": "[]"}, {"data": '{"annotation": [{"text": 1}]}'},
        {"data": '{"annotation": [{"text": "a", "markup": "b"}]}'}, {"data": "[" * 100_000},
        {"text": "a", "language": "xx"},
        {"data": '{"annotation": [{"markup": "b", "interpretAs": 3}]}'}, {"text": "hello", "language": "is-IS"},
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_in_one_line(service: Server, given: dict[str, str]) -> None:
    found = ask(service, "/v2/check", urlencode({"language": "en", **given}).encode(), FORM)
    assert refused(found)[0] in (400, 422)


def test_texts_without_words_have_no_matches(service: Server) -> None:
    assert matches(service, text="") == matches(service, text="\U0001f600 …") == []
