"""The README cannot lie: its commands exist, its options parse, its files are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

import cappunc_cli as cappunc
from cappunc_cli.cli import app
from cappunc_cli.errors import BadModel
from cappunc_cli.formats import FORMATS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
GROUP = typer.main.get_group(app)


def shell_commands() -> list[list[str]]:
    """Every call of cappunc in the README, cut at pipes and redirections."""
    calls = []
    for line in "".join(BLOCKS).splitlines():
        for part in re.split(r"\s*(?:&&|\|)\s*", line.split(" #")[0]):
            words = shlex.split(part.split(" > ")[0])
            if words and words[0].endswith("cappunc"):
                calls.append(words[1:])
    return calls


def test_there_are_commands_to_check() -> None:
    assert len(shell_commands()) > 8


@pytest.mark.parametrize("call", shell_commands(), ids=" ".join)
def test_the_commands_parse(call: list[str]) -> None:
    command = GROUP.commands[call[0]]
    # Parsing alone: what the files hold is the business of other tests.
    command.make_context(call[0], call[1:])


@pytest.mark.parametrize("name", GROUP.commands)
def test_every_command_is_in_the_readme_and_has_help(name: str) -> None:
    assert f"cappunc {name}" in README
    assert GROUP.commands[name].help


def test_every_option_of_fix_is_in_the_readme() -> None:
    for parameter in GROUP.commands["fix"].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("--") and option not in ("--help", "--pauses"):
                assert f"`{option}" in README or f"{option} " in README, option


def test_every_option_in_the_table_exists() -> None:
    table = README[README.index("| option |") : README.index("## Formats")]
    known = {o for p in GROUP.commands["fix"].params for o in (*p.opts, *p.secondary_opts)}
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", table))
    assert named
    assert named <= known


def test_the_formats_of_the_table_exist() -> None:
    table = README[README.index("## Formats") : README.index("## Score")]
    named = {name.lower() for name in re.findall(r"`(\.\w+)`", table)}
    assert named <= {suffix for module in FORMATS.values() for suffix in module.SUFFIXES}
    assert all(named.intersection(module.SUFFIXES) for module in FORMATS.values())


def test_the_files_it_names_are_there() -> None:
    for path in re.findall(r"(?:fixtures|models)/[\w/.-]+\.\w+|\]\(([\w.]+)\)", README):
        assert not path or (ROOT / path).exists(), path
    assert (ROOT / "fixtures/srt/talk.srt").exists()


def test_the_scores_have_their_place() -> None:
    shipped = [path.parent.name for path in (ROOT / "models").glob("*/model.onnx")]
    assert sorted(re.findall(r"<!-- begin:scores (\S+) -->", README)) == sorted(shipped)
    assert README.count("<!-- end:scores -->") == len(shipped)


def test_before_and_after_are_what_the_tool_does() -> None:
    block = README[README.index("```\n1  ") + 4 : README.index("\n```\n\nSpeech")]
    left, right = (
        "\n".join(line.rstrip() for line in (row[columns] for row in block.splitlines()))
        for columns in (slice(0, 45), slice(45, None))
    )
    source = (ROOT / "fixtures/srt/talk.srt").read_text(encoding="utf-8")
    assert source.startswith(left + "\n")
    try:
        model = cappunc.load_model("en")
    except BadModel:
        pytest.skip("the English model is not installed")
    document = cappunc.read(source, "talk.srt")
    assert cappunc.write(document, cappunc.restore(document.words, model)).startswith(right + "\n")
