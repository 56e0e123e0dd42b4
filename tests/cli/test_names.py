"""What is mistyped is told with the name that is near, and with the place where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import MODEL, cappunc, on_a_terminal, process, talk


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("fxi talk.srt", "fix"),
        ("models chekc", "check"),
        ("fix --modle en talk.srt", "--model"),
        ("fix --model en-fst talk.srt", "en-fast"),
        ("fix --format str talk.srt", "srt"),
        ("fix --existing kep talk.srt", "keep"),
        ("fix --lang englsh talk.srt", "English"),
        ("fix --device cdua talk.srt", "cuda"),
        ("fix --encoding utf9 talk.srt", "utf8"),
        ("captions --profile netlfix talk.srt", "netflix"),
        ("check --captions netlfix talk.srt", "netflix"),
        ("convert --to strt talk.srt", "srt"),
        ("convert --to vtt tlak.srt", "talk.srt"),
    ],
)
def test_the_near_name_is_told(tmp_path: Path, words: str, meant: str) -> None:
    talk(tmp_path)
    run = cappunc(*words.split(), cwd=tmp_path)
    assert run.returncode
    assert f"(did you mean {meant}?)" in run.stderr.decode()
    assert run.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", ["zzz talk.srt", "fix --model klingon talk.srt", "fix --lang klingon talk.srt"])
def test_no_name_is_told_that_is_not_near(tmp_path: Path, words: str) -> None:
    talk(tmp_path)
    assert b"did you mean" not in cappunc(*words.split(), cwd=tmp_path).stderr


def test_an_option_of_another_command_is_told(tmp_path: Path) -> None:
    said = cappunc("fix", "--to", "vtt", talk(tmp_path)).stderr.decode()
    assert "cappunc convert" in said
    assert "cappunc fix restores" in cappunc("talk.srt", cwd=tmp_path).stderr.decode()


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        ({"CAPPUNC_LANG": "klingon"}, "fix"),
        ({"CAPPUNC_FIX_MODEL": "en-fst"}, "fix"),
        ({"CAPPUNC_FORMAT": "str"}, "check"),
        ({"CAPPUNC_PROFILE": "netlfix"}, "captions"),
    ],
)
def test_a_variable_is_named_with_its_error(tmp_path: Path, variable: dict[str, str], command: str) -> None:
    run = process(command, talk(tmp_path), env=variable)
    assert run.stderr.decode().startswith(f"cappunc: ${next(iter(variable))}: ")


def test_a_settings_file_is_named_with_its_error(tmp_path: Path) -> None:
    talk(tmp_path)
    settings = tmp_path / "cappunc.toml"
    for text, meant in (("profile = 'netlfix'", "netflix"), ("modle = 'en'", "model"), ("[fxi]\nlang = 'en'", "fix")):
        settings.write_text(text)
        said = cappunc("captions", "talk.srt", "-o", "new.srt", cwd=tmp_path).stderr.decode()
        assert said.startswith(f"cappunc: {settings}: ")
        assert f"(did you mean {meant}?)" in said
    # What the command line says is not the file's.
    settings.write_text("profile = 'bbc'")
    said = cappunc("captions", "--profile", "bcc", "talk.srt", "-o", "new.srt", cwd=tmp_path).stderr.decode()
    assert said.startswith("cappunc: no caption profile 'bcc'")


def test_a_command_without_files_says_what_it_wants() -> None:
    code, shown = on_a_terminal("fix")
    assert code == 2
    assert len(shown.splitlines()) == 3
    assert "fix FILES" in shown


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        ("es", "so we went to the house and it was what they said of the man that we saw there with her", True),
        (
            "en",
            "y cuando llegamos a la casa no había nadie que nos dijera lo que tenemos que hacer con ellos",
            True,
        ),
        (
            "es",
            "y cuando llegamos a la casa no había nadie que nos dijera lo que tenemos que hacer con ellos",
            False,
        ),
        ("en", "so we went to the house and it was what they said of the man that we saw there with her", False),
    ],
)
def test_a_text_in_another_language_than_was_named_is_told(tmp_path: Path, lang: str, text: str, told: bool) -> None:
    file = talk(tmp_path, "talk.txt", f"{text} {text}\n")
    run = cappunc("fix", *MODEL, "--lang", lang, file, "-o", tmp_path / "new.txt")
    assert run.returncode == 0
    assert (b"talk.txt: looks like " in run.stderr) == told


@pytest.mark.parametrize(("name", "start"), [("a film.mkv", b"\x1a\x45\xdf\xa3"), ("a film.docx", b"PK\x03\x04")])
def test_a_binary_file_is_refused_with_a_command_for_it(tmp_path: Path, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start + b"junk " * 20)
    said = cappunc("fix", *MODEL, name, cwd=tmp_path).stderr.decode()
    assert f" '{name}' " in said
    assert said.rstrip().endswith("| cappunc fix") or "| cappunc fix, or" in said
