"""Settings of files and the environment: which of them holds, what may not be set, and who said what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import cappunc, command

from cappunc_cli.cli.main import COMMANDS

TEXT = "hello anna then we went to london\n"


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> Run:
    """Run the command line in `tmp_path`/work as a user whose configuration folder is `tmp_path`/config."""
    (tmp_path / "config/cappunc").mkdir(parents=True)
    (tmp_path / "work/season1").mkdir(parents=True)
    (tmp_path / "work/season1/a.txt").write_text(TEXT, "utf-8")
    monkeypatch.chdir(tmp_path / "work")
    for name in [name for name in os.environ if name.startswith("CAPPUNC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CAPPUNC_MODELS", str(tiny_model.parent))

    def said(*words: str | Path) -> Said:
        done = cappunc(*words)
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    return said


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="XDG_CONFIG_HOME is Linux's")


def fixed(run: Run, *options: str | Path, name: str = "season1/a.txt") -> str:
    said = run("fix", name, "-o", "-", *options)
    assert said.code == 0, said.err
    return said.out


def test_precedence_of_settings(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    (tmp_path / "config/cappunc/config.toml").write_text('lang = "de"\nwindow = 60\nquiet = true\n', "utf-8")
    (work / "cappunc.toml").write_text('lang = "es"\n[fix]\nlang = "ro"\nglossary = "terms.txt"\n', "utf-8")
    (work / "terms.txt").write_text("London\n", "utf-8")
    monkeypatch.setenv("CAPPUNC_WINDOW", "70")
    monkeypatch.setenv("CAPPUNC_CHECK_LANG", "eu")
    found = {
        (one["command"], one["option"]): (one["value"], one["source"])
        for one in json.loads(run("config", "--json", "season1/a.txt").out)
    }
    ours, theirs = str(work / "cappunc.toml"), str(tmp_path / "config/cappunc/config.toml")
    assert found["fix", "lang"] == ("ro", ours)
    assert found["captions", "lang"] == ("es", ours)
    assert found["check", "lang"] == ("eu", "$CAPPUNC_CHECK_LANG")
    assert found["fix", "window"] == ("70", "$CAPPUNC_WINDOW")
    assert found["fix", "quiet"] == (True, theirs)
    assert found["fix", "glossary"] == (str(work / "terms.txt"), ours)
    assert not {command for command, _ in found} & {"eval", "train", "bench"}
    assert f'fix lang = "ro"  {ours}\n' in run("config").out


@pytest.mark.parametrize("options", [("-qo", "out"), ("-qoout",), ("-o", "out", "-q")])
def test_an_output_directory_has_no_settings(tmp_path: Path, run: Run, options: tuple[str, ...]) -> None:
    work = tmp_path / "work"
    (work / "out").mkdir()
    (work / "out/cappunc.toml").write_text("nonsense = 1\n", "utf-8")
    (work / "season1/cappunc.toml").write_text('marks = "?"\n', "utf-8")
    assert run("fix", *options, "season1/a.txt", "--model", "tiny_model") == (0, "", "")
    assert "." not in (work / "out/a.txt").read_text()


def test_several_glossaries_may_be_set(tmp_path: Path, run: Run) -> None:
    work = tmp_path / "work"
    for name, term in (("a", "heLLo"), ("b", "wEnt")):
        (work / f"{name}.terms").write_text(f"{term}\n", "utf-8")
    for value in ('["a.terms", "b.terms"]', '"a.terms"'):
        (work / "cappunc.toml").write_text(f"glossary = {value}\n", "utf-8")
        out = fixed(run, "--model", "tiny_model")
        assert out.startswith("heLLo")
        assert ("wEnt" in out) is (value[0] == "[")


def test_the_nearest_file_counts_and_the_command_line_overrides_it(tmp_path: Path, run: Run) -> None:
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text("no TOML at all", "utf-8")
    (work / "season1/cappunc.toml").write_text('model = "tiny_model"\nmarks = ""\n', "utf-8")
    assert not set(fixed(run)) & set(",.?!")
    assert set(fixed(run, "--marks", ",.")) & set(",.")


def test_a_model_on_the_command_line_overrides_fast_and_vice_versa(tmp_path: Path, run: Run) -> None:
    settings = tmp_path / "work/season1/cappunc.toml"
    settings.write_text("fast = true", "utf-8")
    assert "the model tiny runs" in run("fix", "season1/a.txt", "-v", "--model", "tiny_model", "-o", os.devnull).err
    settings.write_text('model = "none"', "utf-8")
    assert "no model 'none'" not in run("fix", "season1/a.txt", "--fast", "--lang", "xx", "-o", os.devnull).err
    settings.write_text("", "utf-8")
    both = run("fix", "season1/a.txt", "--fast", "--model", "tiny_model")
    assert (both.code, "--model already names the model" in both.err) == (2, True)


def test_a_glossary_that_is_not_used_need_not_exist(tmp_path: Path, run: Run) -> None:
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text('glossary = ["none.txt"]\n', "utf-8")
    (work / "a.terms").write_text("heLLo\n", "utf-8")
    assert fixed(run, "--model", "tiny_model", "--glossary", "a.terms").startswith("heLLo")
    assert run("glossary", "season1/a.txt", "--model", "tiny_model").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('lang = "en"\nx = = 3\n', ":2: not valid TOML: "),
        ("lnag = 3\n", ": unknown option: lnag"),
        ("[fix]\nwidth = 37\n", ": unknown option: width"),
        ("[eval]\nbootstrap = 3\n", ": [eval] is not a command that takes settings"),
        ("force = true\n", ": --force can be given on the command line only"),
        ("[fix]\nin-place = true\n", ": --in-place can be given on the command line only"),
        ('output = "/"\n', ": --output can be given on the command line only"),
        ("lang = [1]\n", ": lang must be a text, not [1]"),
        ('pauses = "no"\n', ": pauses must be true or false, not 'no'"),
        ("window = true\n", ": window must be a whole number of at least 1, not True"),
        ('window = "x"\n', ": window must be a whole number of at least 1, not 'x'"),
        ("sensitivity = 9\n", ": sensitivity must be a number from 0 to 1, not 9"),
        ('existing = "maybe"\n', ": existing must be one of auto, keep, recheck, replace, not 'maybe'"),
        ("lang = 5\n", ": lang must be a text, not 5"),
        ('lang = ""\n', ": lang the name of the language is empty"),
        ('[fix]\nmodel = ""\n', ": model the name is empty"),
        ('model = "\\u0000"\n', ": model = '\\x00': no file has such a name"),
        ('glossary = "a\\u0000"\n', ": glossary = 'a\\x00': no file has such a name"),
        (f"glossary = {'[' * 5000}{']' * 5000}\n", ": not valid TOML: nested too deeply"),
        (f"x = {'{a=' * 5000}1{'}' * 5000}\n", ": not valid TOML: nested too deeply"),
        ('glossary = ["a.txt", ""]\n', ": glossary"),
        ('glossary = "none.txt"\n', ": no such file"),
    ],
)
def test_wrong_settings_are_reported_with_their_file(text: str, said: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "work/cappunc.toml"
    path.write_text(text, "utf-8")
    got = run("fix", "season1/a.txt")
    assert got.code == 2
    assert got.err.count("\n") == 1
    assert got.err.startswith(f"cappunc: {path}:")
    assert said in got.err
    assert [file.name for file in (tmp_path / "work/season1").iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    "name",
    [
        "http://example.org/terms.txt",
        "ftp://example.org/terms.txt",
        "hf://datasets/someone/terms.txt",
        "s3://bucket/terms.txt",
        "/etc/passwd",
        "/dev/zero",
        "../outside.txt",
        "link.txt",
        "pipe",
        "-",
        "season1",
    ],
)
def test_a_file_that_came_along_names_only_regular_files_below_it(name: str, tmp_path: Path, run: Run) -> None:
    work = tmp_path / "work"
    (tmp_path / "outside.txt").write_text("heLLo\n", "utf-8")
    (work / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(work / "pipe")
    (work / "cappunc.toml").write_text(f"glossary = {json.dumps(name)}\n", "utf-8")
    got = run("fix", "season1/a.txt", "--model", "tiny_model", "-o", "-")
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith(f"cappunc: {work / 'cappunc.toml'}: glossary = ")


def test_the_users_own_file_may_name_any_file(tmp_path: Path, run: Run) -> None:
    (tmp_path / "outside.txt").write_text("heLLo\n", "utf-8")
    own = tmp_path / "config/cappunc/config.toml"
    own.write_text(f"glossary = {json.dumps(str(tmp_path / 'outside.txt'))}\n", "utf-8")
    assert fixed(run, "--model", "tiny_model").startswith("heLLo")


def test_a_model_that_a_file_names_is_said(tmp_path: Path, run: Run, tiny_model: Path) -> None:
    path = tmp_path / "work/cappunc.toml"
    path.write_text('model = "tiny_model"\n', "utf-8")
    said = run("fix", "season1/a.txt", "-o", "-")
    assert (said.code, said.err) == (0, f"cappunc: {path} sets the model tiny_model\n")
    # Not installed, whether outside of its directory, below it or where the command runs.
    shutil.copytree(tiny_model, tmp_path / "work/season1/mine")
    shutil.copytree(tiny_model, tmp_path / "work/mine")
    for name in (str(tiny_model), "season1/mine", "./mine", "mine", "..", "."):
        path.write_text(f"model = {json.dumps(name)}\n", "utf-8")
        said = run("fix", "season1/a.txt", "-o", "-")
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert said.err.startswith(
            f"cappunc: {path}: model = {name!r}: a cappunc.toml may only name an installed model"
        )
    path.unlink()
    (tmp_path / "config/cappunc/config.toml").write_text(f"model = {json.dumps(str(tiny_model))}\n", "utf-8")
    assert run("fix", "season1/a.txt", "-o", "-").code == 0


def test_a_value_of_the_wrong_kind_stops_only_the_commands_that_take_it(tmp_path: Path, run: Run) -> None:
    """--speakers is a flag of `convert` and a word of `captions`."""
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text('speakers = "name"\n', "utf-8")
    (work / "a.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hello there.\n", "utf-8")
    assert "\nAnna: Hello there.\n" in run("captions", "--no-restore", "a.vtt", "-o", "-").out
    converted = ("convert", "--no-restore", "a.vtt", "--to", "txt", "-o", "-")
    said = run(*converted)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"cappunc: {work / 'cappunc.toml'}: speakers must be true or false, not 'name'\n"
    (work / "cappunc.toml").write_text('[captions]\nspeakers = "name"\n[convert]\nspeakers = false\n', "utf-8")
    assert run(*converted).out == "Hello there.\n"


def test_commands_that_take_no_settings_do_not_read_them(tmp_path: Path, run: Run) -> None:
    (tmp_path / "work/cappunc.toml").write_text("x = = 3\n", "utf-8")
    for words in (
        ["models"],
        ["models", "check", "tiny_model"],
        ["--version"],
        ["fix", "--help"],
    ):
        said = run(*words)
        assert (said.code, said.err) == (0, "")


def test_help_is_a_word_and_an_option(run: Run) -> None:
    assert run("help") == run("--help")
    assert run("help", "fix") == run("fix", "--help")


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        (["fix", "--lang", "e"], {"el", "en", "es", "et", "eu"}),
        (["fix", "--format", "srt"], {"srt"}),
        (["check", "--captions", "net"], {"netflix"}),
        (["fix", "--engine", "on"], {"onnx"}),
    ],
)
def test_a_shell_completes_values(begun: list[str], offered: set[str]) -> None:
    asked = {"COMP_WORDS": " ".join(["cappunc", *begun]), "COMP_CWORD": str(len(begun))}
    code = "import sys; sys.argv[0] = 'cappunc'; from cappunc_cli.cli.main import main; main()"
    env = {**os.environ, "_CAPPUNC_COMPLETE": "complete_bash", **asked}
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert set(got.stdout.split()) == offered, got.stderr


def test_every_language_model_and_format_can_be_completed() -> None:
    lacking = [
        (name, option.opts)
        for name in COMMANDS
        for option in command(name).params
        if {"--lang", "--model", "--format", "--from"} & set(option.opts)
        and not option.shell_complete(command(name).make_context(name, [], resilient_parsing=True), "")
    ]
    assert lacking == []
