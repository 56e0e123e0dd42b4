"""Settings of files and the environment: which of them holds, what may not be set, and who said what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cappunc_cli.cli.main import app
from cappunc_cli.cli.settings import COMMANDS, OPTIONS, configuration_files, settable_options


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose configuration folder is `tmp_path`/config; the files lie in `tmp_path`/work."""
    (tmp_path / "config/cappunc").mkdir(parents=True)
    (tmp_path / "work/season1").mkdir(parents=True)
    (tmp_path / "work/season1/a.txt").write_text("hello anna then we went to london\n", "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAPPUNC_")}
    return {**kept, "XDG_CONFIG_HOME": str(tmp_path / "config")}


def cappunc(*words: str | Path, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cappunc_cli", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=env, check=False, stdin=subprocess.DEVNULL
    )


only_xdg = pytest.mark.skipif(sys.platform != "linux", reason="XDG_CONFIG_HOME is Linux's")


@only_xdg
def test_precedence_of_settings(tmp_path: Path, home: dict[str, str]) -> None:
    work = tmp_path / "work"
    (tmp_path / "config/cappunc/config.toml").write_text('lang = "de"\nwindow = 60\nquiet = true\n', "utf-8")
    (work / "cappunc.toml").write_text('lang = "es"\n[fix]\nlang = "ro"\nglossary = "terms.txt"\n', "utf-8")
    (work / "terms.txt").write_text("London\n", "utf-8")
    env = {**home, "CAPPUNC_WINDOW": "70", "CAPPUNC_CHECK_LANG": "eu"}
    run = cappunc("config", "--json", "season1/a.txt", cwd=work, env=env)
    found = {(one["command"], one["option"]): (one["value"], one["source"]) for one in json.loads(run.stdout)}
    ours, theirs = str(work / "cappunc.toml"), str(tmp_path / "config/cappunc/config.toml")
    assert found["fix", "lang"] == ("ro", ours)
    assert found["captions", "lang"] == ("es", ours)
    assert found["check", "lang"] == ("eu", "$CAPPUNC_CHECK_LANG")
    assert found["fix", "window"] == ("70", "$CAPPUNC_WINDOW")
    assert found["fix", "quiet"] == (True, theirs)
    assert found["fix", "glossary"] == (str(work / "terms.txt"), ours)
    assert not {command for command, _ in found} & {"eval", "train", "bench"}
    shown = cappunc("config", cwd=work, env=env).stdout
    assert f'fix lang = "ro"  {ours}\n' in shown


@only_xdg
@pytest.mark.parametrize("options", [("-qo", "out"), ("-qoout",), ("-o", "out", "-q")])
def test_an_output_directory_has_no_settings(
    tmp_path: Path, home: dict[str, str], tiny_model: Path, options: tuple[str, ...]
) -> None:
    work = tmp_path / "work"
    (work / "out").mkdir()
    (work / "out/cappunc.toml").write_text("nonsense = 1\n", "utf-8")
    (work / "season1/cappunc.toml").write_text('marks = "?"\n', "utf-8")
    run = cappunc("fix", *options, "season1/a.txt", "--model", tiny_model, cwd=work, env=home)
    assert (run.returncode, run.stderr) == (0, "")
    assert "." not in (work / "out/a.txt").read_text()


@only_xdg
def test_a_setting_for_texts_does_not_matter_to_other_formats(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "work/cappunc.toml").write_text("times = true\n", "utf-8")
    words = ("convert", "--no-restore", "season1/a.txt", "--to", "json", "-o", "a.json")
    run = cappunc(*words, cwd=tmp_path / "work", env=home)
    assert run.returncode == 0, run.stderr


@only_xdg
def test_settings_for_new_captions_do_not_matter_to_rewrap(tmp_path: Path, home: dict[str, str]) -> None:
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text(
        'fps = 25\nglossary = "terms.txt"\n[captions]\nspeakers = "voice"\nby = "sentence"\n'
    )
    (work / "terms.txt").write_text("Kubernetes\n", "utf-8")
    (work / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello anna\n", "utf-8")
    run = cappunc("captions", "--rewrap", "a.srt", "-o", "b.srt", cwd=work, env=home)
    assert (run.returncode, run.stderr) == (0, "cappunc: a.srt -> b.srt: 2 words, lines of 42 characters\n")


@only_xdg
def test_it_is_said_that_nothing_is_set(tmp_path: Path, home: dict[str, str]) -> None:
    run = cappunc("config", cwd=tmp_path / "work", env=home)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "cappunc: nothing is set\n")


@only_xdg
def test_several_glossaries_may_be_set(tmp_path: Path, home: dict[str, str], tiny_model: Path) -> None:
    work = tmp_path / "work"
    for name, term in (("a", "heLLo"), ("b", "wEnt")):
        (work / f"{name}.terms").write_text(f"{term}\n", "utf-8")
    for value in ('["a.terms", "b.terms"]', '"a.terms"'):
        (work / "cappunc.toml").write_text(f"glossary = {value}\n", "utf-8")
        run = cappunc("fix", "season1/a.txt", "--model", tiny_model, "-o", "-", cwd=work, env=home)
        assert run.stdout.startswith("heLLo"), run.stderr
        assert ("wEnt" in run.stdout) is (value[0] == "[")


@only_xdg
def test_the_command_line_overrides_settings(tmp_path: Path, home: dict[str, str], tiny_model: Path) -> None:
    work = tmp_path / "work"
    # The nearest file alone counts, from the directory of the first file upwards.
    (work / "cappunc.toml").write_text("no TOML at all", "utf-8")
    (work / "season1/cappunc.toml").write_text(f'model = "{tiny_model}"\nmarks = ""\n', "utf-8")

    def fixed(*options: str) -> str:
        run = cappunc("fix", work / "season1/a.txt", "-o", "-", *options, cwd=tmp_path, env=home)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert not set(fixed()) & set(",.?!")
    assert set(fixed("--marks", ",.")) & set(",.")


@only_xdg
def test_a_model_on_the_command_line_overrides_fast_and_vice_versa(
    tmp_path: Path, home: dict[str, str], tiny_model: Path
) -> None:
    talk, settings = tmp_path / "work/season1/a.txt", tmp_path / "work/season1/cappunc.toml"

    def fixed(setting: str, *options: str | Path) -> tuple[int, str]:
        settings.write_text(setting, "utf-8")
        run = cappunc("fix", talk, "-v", "-o", os.devnull, *options, cwd=tmp_path, env=home)
        return run.returncode, run.stderr

    code, said = fixed("fast = true", "--model", tiny_model)
    assert code == 0
    assert "the model tiny runs" in said
    code, said = fixed('model = "none"', "--fast")
    assert code == 0
    assert "the model en-fast runs" in said
    code, said = fixed("", "--fast", "--model", tiny_model)
    assert code == 2
    assert "--model already names the model" in said


@only_xdg
def test_a_glossary_that_is_not_used_need_not_exist(tmp_path: Path, home: dict[str, str], tiny_model: Path) -> None:
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text('glossary = ["none.txt"]\n', "utf-8")
    (work / "a.terms").write_text("heLLo\n", "utf-8")
    given = cappunc(
        *("fix", "season1/a.txt", "--model", tiny_model, "-o", "-", "--glossary", "a.terms"), cwd=work, env=home
    )
    assert (given.returncode, given.stdout[:5]) == (0, "heLLo"), given.stderr
    none = cappunc("glossary", "season1/a.txt", "--model", tiny_model, cwd=work, env=home)
    assert none.returncode == 0, none.stderr


@only_xdg
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('lang = "en"\nx = = 3\n', ":2: not valid TOML: "),
        ("lnag = 3\n", ": unknown option: lnag"),
        ("[fix]\nwidth = 37\n", ": unknown option: width"),
        ("[eval]\nbootstrap = 3\n", ": [eval] is not a command that takes settings; those are fix, "),
        ("force = true\n", ": --force can be given on the command line only"),
        ("[fix]\nin-place = true\n", ": --in-place can be given on the command line only"),
        ('output = "/"\n', ": --output can be given on the command line only"),
        ("lang = [1]\n", ": lang = [1]: fix expects a string that is not empty\n"),
        ('pauses = "no"\n', ": pauses = 'no': fix expects true or false\n"),
        ("window = true\n", ": window = True: fix expects a string or a number\n"),
        ('window = "x"\n', ": Invalid value for '--window': 'x' is not a whole number\n"),
        ("sensitivity = 9\n", ": Invalid value for '--sensitivity': must be at most 1, not 9\n"),
        ('existing = "maybe"\n', ": Invalid value for '--existing': 'maybe' is not one of 'auto', 'keep', 'replace'\n"),
        ('lang = "klingon"\n', None),
        ("lang = 5\n", ": lang = 5: fix expects a string that is not empty\n"),
        ('lang = ""\n', ": lang = '': fix expects a string that is not empty\n"),
        ('[fix]\nmodel = ""\n', ": model = '': fix expects a string that is not empty\n"),
        ('glossary = ["a.txt", ""]\n', ": glossary = ['a.txt', '']: fix expects a string that is not empty\n"),
        ('glossary = "none.txt"\n', ": glossary = 'none.txt': no such file\n"),
    ],
)
def test_wrong_settings_are_reported_with_their_file(
    text: str, said: str | None, tmp_path: Path, home: dict[str, str]
) -> None:
    path = tmp_path / "work/cappunc.toml"
    path.write_text(text, "utf-8")
    run = cappunc("fix", "season1/a.txt", cwd=tmp_path / "work", env=home)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith("cappunc: " if said is None else f"cappunc: {path}{said}")
    assert [file.name for file in (tmp_path / "work/season1").iterdir()] == ["a.txt"]


@only_xdg
def test_a_value_of_the_wrong_kind_stops_only_the_commands_that_take_it(tmp_path: Path, home: dict[str, str]) -> None:
    """--speakers is a flag of `convert` and a word of `captions`."""
    work = tmp_path / "work"
    (work / "cappunc.toml").write_text('speakers = "name"\n', "utf-8")
    (work / "a.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hello there.\n", "utf-8")
    made = cappunc("captions", "--no-restore", "a.vtt", "-o", "-", cwd=work, env=home)
    assert made.returncode == 0, made.stderr
    assert "\nAnna: Hello there.\n" in made.stdout
    converted = ("convert", "--no-restore", "a.vtt", "--to", "txt", "-o", "-")
    run = cappunc(*converted, cwd=work, env=home)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"cappunc: {work / 'cappunc.toml'}: speakers = 'name': convert expects true or false\n"
    (work / "cappunc.toml").write_text('[captions]\nspeakers = "name"\n[convert]\nspeakers = false\n', "utf-8")
    assert cappunc(*converted, cwd=work, env=home).stdout == "Hello there.\n"
    (work / "cappunc.toml").write_text('speakers = "name"\n', "utf-8")
    assert cappunc("check", "a.vtt", cwd=work, env=home).stderr == ""
    shown = cappunc("config", cwd=work, env=home)
    assert (shown.returncode, shown.stdout.count('speakers = "name"')) == (0, 2), shown.stderr


@only_xdg
def test_commands_that_take_no_settings_do_not_read_them(tmp_path: Path, home: dict[str, str]) -> None:
    (tmp_path / "work/cappunc.toml").write_text("x = = 3\n", "utf-8")
    for words in (["eval", "--ref", "season1/a.txt", "season1/a.txt"], ["models"], ["models", "check"], ["--version"]):
        run = cappunc(*words, cwd=tmp_path / "work", env=home)
        assert (run.returncode, run.stderr) == (0, "")
    run = cappunc("eval", "--ref", "season1/a.txt", "--bootstrap", "x", cwd=tmp_path / "work", env=home)
    assert run.returncode == 2
    assert "Invalid value for '--bootstrap': 'x' is not a whole number; see " in run.stderr


def test_a_directory_that_cannot_be_searched_has_no_settings(
    tmp_path: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may search any directory, so the system's answer is simulated. Who reads the directory names it."""
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", home["XDG_CONFIG_HOME"])
    stat = os.stat

    def refused(path: str | Path, *arguments: Any, **options: Any) -> os.stat_result:
        if str(path).endswith("season1/cappunc.toml"):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refused)
    assert configuration_files(["season1"]) == []


def test_every_option_that_may_be_set_is_one() -> None:
    from typer.main import get_command

    options = settable_options(get_command(app))
    assert set(options) <= set(COMMANDS)
    named = set().union(*options.values())
    assert {"lang", "marks", "width"} <= named & OPTIONS
    # What a file could be lost by is never among them.
    assert not OPTIONS & {"output", "in-place", "force", "apply", "listen", "open", "html", "csv", "json", "diff"}


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        (["fix", "--lang", "e"], {"en", "es", "eu"}),
        (["fix", "--format", "srt"], {"srt"}),
        (["check", "--model", "en"], {"en", "en-fast", "en-live"}),
        (["fix", "--engine", "on"], {"onnx"}),
    ],
)
def test_a_shell_completes_values(begun: list[str], offered: set[str], home: dict[str, str], tmp_path: Path) -> None:
    words = ["cappunc", *begun]
    env = {
        **home,
        "_CAPPUNC_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    run = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'cappunc'; from cappunc_cli.cli.main import main; main()"],
        capture_output=True, text=True, env=env, cwd=tmp_path, check=False,
    )  # fmt: skip
    found = set(run.stdout.split())
    assert found <= offered or begun[1] == "--model", run.stderr
    assert found & offered


def test_every_language_model_and_format_can_be_completed() -> None:
    from typer.main import get_command

    lacking = [
        (name, option.opts)
        for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
        for option in command.params
        if {"--lang", "--model", "--format", "--from"} & set(option.opts)
        and not option.shell_complete(command.make_context(name, [], resilient_parsing=True), "")
    ]
    assert lacking == []
