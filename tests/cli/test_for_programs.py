"""What programs read: `help --json`, `--errors json` and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import MODEL, SRT, cappunc, command

from cappunc_cli.cli.main import COMMANDS


def test_the_description_has_every_option_that_the_command_line_has() -> None:
    run = cappunc("help", "--json")
    assert (run.returncode, run.stderr) == (0, b"")
    found = json.loads(run.stdout)["commands"]
    assert list(found) == list(COMMANDS)
    for name, entry in found.items():
        typed = {flag for one in command(name).params for flag in (*one.opts, *one.secondary_opts)}
        described = {one["name"] for one in entry["options"] if not one["argument"]}
        described |= {one["short"] for one in entry["options"] if one["short"]}
        assert described <= typed, name
        assert set(entry["exit_codes"]) == {"0", "1", "2", "130"}
    fix = {one["name"]: one for one in found["fix"]["options"]}
    assert (fix["--sensitivity"]["type"], fix["--sensitivity"]["least"], fix["--sensitivity"]["default"]) == (
        "number",
        0,
        0.5,
    )
    assert fix["--existing"]["choices"] == ["auto", "keep", "recheck", "replace"]
    assert list(found["models"]["commands"]) == ["check"]
    assert list(json.loads(cappunc("help", "fix", "--json").stdout)["commands"]) == ["fix"]
    assert cappunc("help", "no-such", "--json").returncode == 2


@pytest.mark.parametrize(
    ("call", "code", "expected"),
    [
        ("fix broken.json -o -", 1, ("broken.json", 1, "bad-input")),
        ("fix none.srt -o -", 1, ("none.srt", None, "system")),
        ("fix --sensitivity 2 talk.srt", 2, (None, None, "wrong-usage")),
        ("fix --lang is talk.srt", 2, (None, None, "unknown-model")),
        ("check broken.json", 1, ("broken.json", 1, "bad-input")),
        ("convert talk.srt --to txt -o /dev/full", 1, None),
        ("nothing", 2, (None, None, "wrong-usage")),
    ],
)
def test_an_error_is_one_object_with_what_the_line_says(
    tmp_path: Path, call: str, code: int, expected: tuple[str | None, int | None, str] | None
) -> None:
    (tmp_path / "talk.srt").write_text(SRT)
    (tmp_path / "broken.json").write_text('{"text": "good evening", "words": [')
    words = [*call.split(), *(MODEL if "talk" in call and "--lang" not in call else ())]
    said, found = cappunc(*words, cwd=tmp_path), cappunc("--errors", "json", *words, cwd=tmp_path)
    assert (said.returncode, found.returncode) == (code, code)
    assert found.stdout == b""
    [entry] = [json.loads(line) for line in found.stderr.splitlines() if line.startswith(b"{")]
    assert set(entry) == {"file", "line", "code", "message"}
    if expected is not None:
        assert (entry["file"], entry["line"], entry["code"]) == expected
    place = ":".join(str(one) for one in (entry["file"], entry["line"]) if one is not None)
    assert f"cappunc: {place}{place and ': '}{entry['message']}".encode() in said.stderr


def test_errors_are_text_or_json() -> None:
    assert cappunc("--errors", "xml", "models").returncode == 2
