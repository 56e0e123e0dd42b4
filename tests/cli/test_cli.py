"""The command line as a user has it: a process, its pipes and its exit code."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from commands import MODEL, SRT, TINY, WORDS, cappunc, line, on_a_terminal, talk

import cappunc_cli

#: The second cue lacks its blank line: kept, and warned about.
ODD = SRT.replace("\n\n", "\n")


@pytest.fixture(scope="module")
def fixed(tiny_model: Path) -> bytes:
    """What the tiny model makes of SRT."""
    run = cappunc("fix", "--model", tiny_model, data=SRT.encode())
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode().lower() != SRT
    assert b"Anna" in run.stdout
    assert b"London" in run.stdout
    assert run.stdout.count(b"\n") == SRT.count("\n")
    assert run.stderr == b""
    return run.stdout


@pytest.mark.parametrize("arguments", [(), ("-",), ("-o", "-"), ("-", "--output", "-")])
def test_standard_input_to_standard_output(fixed: bytes, arguments: tuple[str, ...]) -> None:
    run = cappunc("fix", *MODEL, *arguments, data=SRT.encode())
    assert (run.returncode, run.stdout, run.stderr) == (0, fixed, b"")


def test_without_o_a_file_goes_to_a_pipe(tmp_path: Path, fixed: bytes) -> None:
    run = cappunc("fix", *MODEL, talk(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (0, fixed, b"")
    assert [p.name for p in tmp_path.iterdir()] == ["talk.srt"]


def test_a_pipe_that_is_no_standard_input_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPPUNC_MODELS", str(TINY.parent))
    talk(tmp_path)
    run = subprocess.run(
        ["bash", "-c", f"{shlex.join(line('fix'))} <(cat talk.srt)"], capture_output=True, cwd=tmp_path, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"London" in run.stdout


def test_workers_leave_pipes_to_their_parent(tmp_path: Path, fixed: bytes) -> None:
    run = cappunc("fix", *MODEL, "--jobs", "2", "-", talk(tmp_path), "-o", tmp_path / "out", data=SRT.encode())
    assert run.returncode == 0, run.stderr
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir() if path.name[0] != "."] == [fixed, fixed]


def test_on_a_terminal_the_result_is_next_to_the_input(tmp_path: Path, fixed: bytes) -> None:
    talk(tmp_path)
    code, shown = on_a_terminal("fix", *MODEL, "talk.srt", cwd=tmp_path)
    assert code == 0
    assert "cappunc: talk.srt -> talk.fixed.srt: 11 words, " in shown
    assert "London" not in shown
    assert (tmp_path / "talk.fixed.srt").read_bytes() == fixed
    assert (tmp_path / "talk.srt").read_bytes() == SRT.encode()

    code, shown = on_a_terminal("fix", *MODEL, "talk.srt", cwd=tmp_path)
    assert code == 1
    assert "cappunc: talk.fixed.srt: already exists; --force overwrites it" in shown
    assert on_a_terminal("fix", *MODEL, "--force", "talk.srt", cwd=tmp_path)[0] == 0


@pytest.mark.parametrize("command", ["fix", "check", "glossary"])
def test_nothing_to_read_on_a_terminal_shows_the_help(tmp_path: Path, command: str) -> None:
    code, shown = on_a_terminal(command, cwd=tmp_path)
    assert code == 2
    assert f"cappunc {command} " in shown


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("talk.srt", "new.vtt", "new.vtt names another format, but talk.srt stays srt"),
        ("talk.srt", "new.TXT", "new.TXT names another format, but talk.srt stays srt"),
        ("talk.srt", "new.odt", "new.odt names another format, but talk.srt stays srt; cappunc convert writes"),
        ("talk.json", "new.srt", "new.srt names another format, but talk.json stays vosk; use cappunc captions"),
        ("-", "new.json", "new.json names another format, but <stdin> stays srt"),
        ("talk.json", "new.ndjson", None),
        ("talk.srt", "talk.srt.new", None),
        ("talk.srt", ".new.old", None),
        ("talk.txt", "new.txt", None),  # captions under a name for plain text, and so they stay
        ("talk.xml", "new.txt", "talk.xml stays srt"),
        ("empty.json", "new.srt", None),
    ],
)
def test_a_result_has_no_name_of_another_format(source: str, target: str, told: str | None, tmp_path: Path) -> None:
    for name in ("talk.srt", "talk.txt", "talk.xml"):
        talk(tmp_path, name)
    talk(tmp_path, "talk.json", json.dumps({"result": [{"word": "hello", "start": 0.0, "end": 0.5}], "text": "hello"}))
    talk(tmp_path, "empty.json", "")
    run = cappunc("fix", *MODEL, source, "-o", target, data=SRT.encode(), cwd=tmp_path)
    assert (tmp_path / target).exists() == (told is None)
    if told is None:
        assert run.returncode == 0
    else:
        assert run.returncode
        assert (run.stdout, run.stderr.count(b"\n")) == (b"", 1)
        assert told in run.stderr.decode()


def test_nothing_is_overwritten_unasked(tmp_path: Path, fixed: bytes) -> None:
    source, other = talk(tmp_path), talk(tmp_path, "other.srt", "precious")
    run = cappunc("fix", *MODEL, source, "-o", other)
    assert run.returncode == 1
    assert b"--force" in run.stderr
    assert other.read_text() == "precious"
    assert cappunc("fix", *MODEL, source, "-o", source, "--force").returncode == 1
    assert source.read_text() == SRT
    assert cappunc("fix", *MODEL, source, "-o", other, "--force").returncode == 0
    assert other.read_bytes() == fixed


def test_no_result_overwrites_another_input(tmp_path: Path, fixed: bytes) -> None:
    def refused(*arguments: str, target: str, source: str, data: Path | None = None) -> None:
        with (data or Path(os.devnull)).open("rb") as stream:
            run = cappunc("fix", *MODEL, "--force", *arguments, cwd=tmp_path, stdin=stream)
        assert run.returncode == 1
        assert f"cappunc: {target}: is {source}" in run.stderr.decode()

    (tmp_path / "new/season1").mkdir(parents=True)
    (tmp_path / "season1").mkdir()
    kept = [talk(tmp_path / "season1"), talk(tmp_path / "new/season1", text=f"{SRT}\n"), talk(tmp_path, "1.srt")]
    refused("new", "season1", "-o", ".", target="season1/talk.srt", source="also the input season1/talk.srt")
    assert (tmp_path / "talk.srt").read_bytes() == fixed
    # A link among the results leads to an input.
    (tmp_path / "out").mkdir()
    (tmp_path / "out/talk.srt").symlink_to(tmp_path / "1.srt")
    refused("1.srt", "new/season1", "-o", "out", target="out/talk.srt", source="also the input 1.srt")
    assert (tmp_path / "out/1.srt").read_bytes() == fixed
    refused("-o", "1.srt", target="1.srt", source="the input itself", data=tmp_path / "1.srt")
    assert [path.read_text().rstrip("\n") for path in kept] == [SRT.rstrip("\n")] * 3


@pytest.mark.parametrize("command", ["fix", "convert --to srt"])
def test_a_link_to_another_result_is_refused(tmp_path: Path, fixed: bytes, command: str) -> None:
    (tmp_path / "out").mkdir()
    names = [talk(tmp_path, f"{n}.srt").name for n in "abc"]
    (tmp_path / "out/a.srt").symlink_to("b.srt")
    (tmp_path / "out/c.srt").symlink_to(tmp_path / "c")
    run = cappunc(*command.split(), *MODEL, *names, "-o", "out", "--force", cwd=tmp_path)
    assert run.returncode == 1
    assert b"cappunc: out/a.srt: is also the result of b.srt; nothing written\n" in run.stderr
    assert (
        (tmp_path / "out/b.srt").read_text().split() == (tmp_path / "c").read_text().split() == fixed.decode().split()
    )


@pytest.mark.parametrize(("first", "second"), [("Talk.srt", "talk.srt"), ("Season/1.srt", "season/1.srt")])
def test_names_that_differ_in_case_are_two_results_or_one_is_refused(tmp_path: Path, first: str, second: str) -> None:
    for name in (f"a/{first}", f"b/{second}"):
        (tmp_path / name).parent.mkdir(parents=True)
        talk(tmp_path, name)
    run = cappunc("fix", *MODEL, "a", "b", "-o", "out", "--force", cwd=tmp_path)
    results = [path for path in (tmp_path / "out").rglob("*.srt") if path.is_file()]
    if (tmp_path / "A").exists():
        assert (run.returncode, len(results)) == (1, 1)
        assert f"is also the result of a/{first}; nothing written" in run.stderr.decode().replace("\\", "/")
    else:
        assert (run.returncode, len(results)) == (0, 2), run.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such pipes")
@pytest.mark.parametrize("command", ["fix", "convert --to srt"])
def test_a_pipe_in_the_output_directory_is_refused(tmp_path: Path, command: str) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out/a.srt")
    for names in (["a.srt"], ["a.srt", "b.srt"]):
        paths = [talk(tmp_path, name) for name in names]
        run = cappunc(*command.split(), *MODEL, *paths, "-o", "out/", "--force", cwd=tmp_path)
        assert run.returncode == 1
        assert b"cappunc: out/a.srt: is a pipe; nothing written\n" in run.stderr
    assert (tmp_path / "out/b.srt").is_file()


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (("fix", "talk.fixed.srt", "talk.srt"), "talk.fixed.srt: is also the input talk.fixed.srt"),
        (("convert", "--to", "vtt", "talk.srt", "talk.vtt"), "talk.srt and talk.vtt would both become talk.vtt"),
        (("captions", "talk.srt", "talk.vtt"), "talk.srt and talk.vtt would both become talk.captions.srt"),
    ],
)
def test_on_a_terminal_no_result_overwrites_an_input_or_another_result(
    tmp_path: Path, arguments: tuple[str, ...], target: str
) -> None:
    names = [name for name in arguments if name.startswith("talk")]
    for name in names:
        talk(tmp_path, name)
    code, shown = on_a_terminal(*arguments, "--force", *MODEL, cwd=tmp_path)
    assert code != 0
    assert target in shown
    assert [(tmp_path / name).read_text() for name in names] == [SRT] * len(names)
    assert not list(tmp_path.glob("*.captions.srt"))


@pytest.mark.parametrize(
    "command",
    [
        ("review", "talk.srt", "--force", "--apply", "d.json", "-o", "d.json"),
        ("fix", "talk.srt", "--force", "--glossary", "terms.txt", "-o", "link.srt"),
        ("fix", "--files-from", "names.txt", "--force", "-o", "list.srt"),
        ("convert", "talk.srt", "--force", "--glossary", "terms.txt", "-o", "terms.txt"),
        ("captions", "talk.srt", "--force", "--glossary", "terms.txt", "-o", "link.srt"),
        ("captions", "talk.srt", "--glossary", "terms.txt", "--report", "link.json", "-o", "new.srt"),
        ("check", "--captions", "bbc", "--files-from", "names.txt", "--report", "list.csv"),
        ("review", "talk.srt", "--glossary", "terms.txt", "--html", "link.html"),
        ("review", "talk.srt", "--compare", "terms.txt", "--html", "link.html"),
        ("eval", "--ref", "talk.srt", "terms.txt", "--html", "link.html"),
        ("eval", "--ref", "terms.txt", "talk.srt", "--html", "link.html"),
    ],
)
def test_nothing_overwrites_another_file_that_a_command_reads(tmp_path: Path, command: tuple[str, ...]) -> None:
    digest = hashlib.sha256(talk(tmp_path).read_bytes()).hexdigest()
    (tmp_path / "d.json").write_text(json.dumps({"kind": "cappunc review", "sha256": digest, "decisions": []}))
    (tmp_path / "terms.txt").write_text("London\n")
    (tmp_path / "names.txt").write_text("talk.srt\n")
    for link in ("link.srt", "link.html", "link.json"):
        (tmp_path / link).symlink_to("terms.txt")
    for link in ("list.srt", "list.csv"):
        (tmp_path / link).symlink_to("names.txt")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    run = cappunc(*command, *(MODEL if command[0] in {"fix", "convert", "captions"} else ()), cwd=tmp_path)
    assert run.returncode
    assert b"input" in run.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_glossary_in_the_directory_is_not_fixed_in_place(tmp_path: Path, fixed: bytes) -> None:
    path = talk(tmp_path)
    (tmp_path / "terms.txt").write_text("then we went to london and back\n")
    run = cappunc("fix", *MODEL, "--in-place", ".", "--glossary", "./terms.txt", cwd=tmp_path)
    assert (run.returncode, path.read_bytes()) == (0, fixed)
    assert b"terms.txt: is also read as another input; skipped" in run.stderr
    assert (tmp_path / "terms.txt").read_text() == "then we went to london and back\n"


def test_a_link_in_a_circle_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "new.srt").symlink_to("new.srt")
    run = cappunc("fix", *MODEL, talk(tmp_path), "-o", "new.srt", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (1, b"cappunc: new.srt: Too many levels of symbolic links\n")


@pytest.mark.parametrize(
    ("source", "output", "made"),
    [
        ("talk.srt", "fixed", "fixed/talk.srt"),  # `*.srt` with one match
        ("talk.srt", "fixed/", "fixed/talk.srt"),
        ("talk.srt", "deep/fixed", "deep/fixed/talk.srt"),
        ("talk.srt", "fixed.2024/", "fixed.2024/talk.srt"),
        ("talk.srt", "fixed.2024", "fixed.2024"),
        ("talk.srt", "there", "there/talk.srt"),
        ("talk", "fixed", "fixed"),
        ("-", "fixed", "fixed"),
        ("talk.srt", "old", "old"),
    ],
)
def test_a_name_without_a_suffix_is_a_directory(
    tmp_path: Path, fixed: bytes, source: str, output: str, made: str
) -> None:
    for name in ("talk.srt", "talk"):
        talk(tmp_path, name)
    (tmp_path / "there").mkdir()
    talk(tmp_path, "old", "a file")
    run = cappunc("fix", *MODEL, "--force", source, "-o", output, data=SRT.encode(), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / made).read_bytes() == fixed


def test_directories_are_searched(tmp_path: Path, fixed: bytes) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in ("a.srt", "deep/b.srt", "a.fixed.srt", ".hidden.srt", "film.mkv"):
        talk(tmp_path / "in", name)
    run = cappunc("fix", *MODEL, "in", "-o", "out", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    found = {str(p.relative_to(tmp_path / "out")): p.read_bytes() for p in (tmp_path / "out").rglob("*.srt")}
    assert found == {"a.srt": fixed, "deep/b.srt": fixed}


def test_a_bad_file_fails_alone(tmp_path: Path, fixed: bytes) -> None:
    good = talk(tmp_path)
    (tmp_path / "film.srt").write_bytes(b"\x00\x00\x00\x18ftypmp42\xff\xfe\x80\x00")
    run = cappunc("fix", *MODEL, "--in-place", "missing.srt", "film.srt", "talk.srt", cwd=tmp_path)
    assert run.returncode == 1
    lines = run.stderr.decode().splitlines()
    assert lines[0] == "cappunc: missing.srt: No such file or directory"
    assert lines[1].startswith("cappunc: film.srt: ")
    assert lines[2].startswith("cappunc: talk.srt: 11 words")
    assert lines[3] == "cappunc: 2 of 3 files failed"
    assert good.read_bytes() == fixed
    assert run.stdout == b""


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("check", "talk.srt:"),
        ("review", "talk.srt:"),
        ("glossary", ""),
        ("captions -o out/", "out/talk.srt"),
        ("convert --to vtt -o out/", "out/talk.vtt"),
    ],
)
def test_a_bad_file_stops_no_other(tmp_path: Path, call: str, shown: str) -> None:
    talk(tmp_path)
    (tmp_path / "bad.json").write_text("{")
    command, *more = call.split()
    run = cappunc(command, *MODEL, *more, "bad.json", "missing.srt", "talk.srt", cwd=tmp_path)
    assert run.returncode == 1
    said = run.stderr.decode().splitlines()
    assert sum(text.startswith("cappunc: bad.json: the name says JSON") for text in said) == 1
    assert said.count("cappunc: missing.srt: No such file or directory") == 1
    assert run.stdout.decode().startswith(shown) or (tmp_path / shown).is_file()


@pytest.mark.parametrize("command", [("fix",), ("fix", "--engine", "ngram"), ("check",)])
def test_a_missing_file_is_reported_once(tmp_path: Path, command: tuple[str, ...]) -> None:
    run = cappunc(*command, "missing.srt", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr == b"cappunc: missing.srt: No such file or directory\n"


@pytest.mark.parametrize("command", ["fix", "check", "glossary"])
def test_a_directory_without_transcripts_is_an_error(tmp_path: Path, command: str) -> None:
    run = cappunc(command, tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (1, b"", b"cappunc: no files of a known format found\n")


def test_in_place_does_not_rewrite_unchanged_files(tmp_path: Path, fixed: bytes) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(fixed)
    os.utime(path, (1, 1))
    run = cappunc("fix", *MODEL, "-i", path)
    assert run.returncode == 0
    assert b"nothing to change" in run.stderr
    assert path.stat().st_mtime == 1


def test_other_changes_than_marks_and_capitals_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("Ştii, Anna. Am văzut.\n", encoding="utf-8")
    run = cappunc(
        "fix", *MODEL, "--lang", "ro", "--diacritics", "normalise", "--existing", "keep", "--marks", "!", "-i", path
    )
    assert path.read_text(encoding="utf-8").startswith("Știi")
    assert b"no new marks or capitals" in run.stderr


def test_letters_that_the_encoding_lacks_are_kept_and_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_bytes("[clopot]\nştii, Anna. Eşti în ţara ta şi spui că nu ştii.\n".encode("cp1250"))
    options = ("--lang", "ro", "--diacritics", "normalise", "--existing", "keep", "--encoding", "cp1250")
    run = cappunc("fix", *MODEL, *options, "-i", path)
    assert path.read_bytes().decode("cp1250").startswith("[clopot]\nŞtii, Anna. Eşti în ţara")
    told = "talk.txt:2: warning: letters kept in 5 of 11 words: cp1250 has no ș, ț; convert the file to UTF-8"
    assert told in run.stderr.decode()


def test_diff_shows_and_writes_nothing(tmp_path: Path) -> None:
    path = talk(tmp_path)
    run = cappunc("fix", *MODEL, "--diff", path)
    assert run.returncode == 0
    assert run.stdout.startswith(f"--- {path}\n+++ {path} (fixed)\n@@ ".encode())
    assert f"\n-{WORDS}\n+Hello".encode() in run.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["talk.srt"]
    assert path.read_text() == SRT


@pytest.mark.parametrize(
    ("codec", "bom"),
    [("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"), ("utf-8", "\ufeff"), ("cp1252", ""), ("utf-8", "")],
)
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_encodings_and_line_ends_survive(codec: str, bom: str, end: str) -> None:
    text = SRT.replace("cat", "café").replace("\n", end)
    run = cappunc("fix", *MODEL, data=(bom + text).encode(codec))
    assert run.returncode == 0, run.stderr
    output = run.stdout.decode(codec)
    assert output.startswith(bom + "1" + end)
    assert output.count(end) == text.count(end)
    assert output.count("\n") == text.count("\n")
    assert "café" in output.lower()


def test_an_encoding_is_guessed_with_a_note_or_named() -> None:
    data = SRT.replace("cat", "šest").encode("iso8859_2")
    run = cappunc("fix", *MODEL, data=data)
    assert run.stderr.startswith(b"cappunc: <stdin>: read as ")
    assert run.stderr.endswith(
        b"which is a guess: only ASCII letters and ASCII marks change; name it with --encoding\n"
    )
    assert cappunc("fix", *MODEL, "--quiet", data=data).stderr == b""
    named = cappunc("fix", *MODEL, "--encoding", "latin2", data=data)
    assert (named.returncode, named.stderr) == (0, b"")
    assert "šest" in named.stdout.decode("iso8859_2").lower()
    for command in ("check", "review", "glossary", "captions"):
        assert b"which is a guess" in cappunc(command, *MODEL, "-", data=data).stderr
        assert b"guess" not in cappunc(command, *MODEL, "--encoding", "latin2", "-", data=data).stderr
    assert cappunc("fix", *MODEL, "--encoding", "utf-32", data=data).returncode == 1
    wrong = cappunc("fix", *MODEL, "--encoding", "latin99", data=data)
    assert wrong.returncode == 2
    assert b"latin99" in wrong.stderr


def test_warnings_name_file_and_line_and_quiet_hides_them(tmp_path: Path) -> None:
    path = talk(tmp_path, text=ODD)
    loud = cappunc("fix", *MODEL, "talk.srt", cwd=tmp_path)
    assert loud.returncode == 0
    assert loud.stderr.startswith(b"cappunc: talk.srt:4: warning: ")
    quiet = cappunc("fix", *MODEL, "--quiet", path, "-o", tmp_path / "new.srt")
    assert (quiet.returncode, quiet.stderr, quiet.stdout) == (0, b"", b"")
    assert (tmp_path / "new.srt").read_bytes() == loud.stdout


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("fix --no-such-option", ""),
        ("fix --in-place", ""),
        ("fix --in-place -o x talk.srt", ""),
        ("fix --diff --in-place talk.srt", ""),
        ("fix --diff -o x talk.srt", ""),
        ("fix talk.srt other.srt", ""),
        ("fix talk.srt other.srt -o file", ""),
        ("fix TINY talk.srt -o other.srt/", "Invalid value for -o: other.srt/ is not a directory; see "),
        ("fix talk.srt other.srt -o all.srt", ""),
        ("fix --format word talk.srt", ""),
        ("fix --marks .x talk.srt", ""),
        ("fix --sensitivity 2 talk.srt", ""),
        ("fix --existing maybe talk.srt", ""),
        ("fix --model nowhere talk.srt", "no model 'nowhere'"),
        ("fix --lang klingon --model '' talk.srt", "Invalid value for '--model': the name is empty"),
        ("fix --lang '' talk.srt", "Invalid value for '--lang': the name of the language is empty"),
        ("fix --device toaster talk.srt", "Invalid value for '--device': unknown device 'toaster'"),
        ("fix TINY --window 5 --overlap 9 talk.srt", "the overlap must be from 0 to 4 words"),
        ("fix TINY --marks “ talk.srt", "the model tiny does not restore '“'"),
        ("fix TINY --glossary none.txt talk.srt", "--glossary: none.txt: No such file"),
        ("fix TINY --diacritics restore talk.srt", "--diacritics restore: not supported for English"),
        ("check --format nonesuch talk.srt", ""),
        ("review --force talk.srt", ""),
        ("review --json --csv talk.srt", ""),
        ("review --json --open talk.srt", ""),
        ("review --html a.html --open talk.srt", ""),
        ("review --compare other.srt talk.srt", ""),
        ("review -o x talk.srt", ""),
        ("review --apply d.json --csv talk.srt", ""),
        ("review --below 2 talk.srt", ""),
        ("review --below nan talk.srt", ""),
        ("review --most 0 talk.srt", ""),
        ("review --html talk.srt", "Invalid value for '--html': talk.srt is not the name of a page (.html)"),
        ("eval --ref other.srt --html talk.srt", "Invalid value for '--html': talk.srt is not the name of a page"),
        ("review --marks x talk.srt", ""),
        ("convert --times --to vtt talk.srt", ""),
        ("captions --gap 10001 talk.srt", ""),
        ("captions --min-duration 9 talk.srt", "the shortest caption (9000 ms) is longer than the longest (7000 ms)"),
        ("captions --max-duration inf talk.srt", "Invalid value for '--max-duration'"),
        ("captions talk.srt -o x.odt", "Invalid value for -o: x.odt names none of srt, vtt, "),
        ("convert talk.srt -o x.odt", "Invalid value for --to: name the output format: srt, vtt, "),
        ("captions --to srt -o x.vtt talk.srt", "Invalid value for --to: srt contradicts the name x.vtt"),
        ("stream --max-delay inf", "Invalid value for '--max-delay'"),
        ("stream --lang klingon", "no model for klingon"),
        ("stream --lang auto", ""),
        ("stream --marks x", ""),
        ("stream --look-ahead -1", ""),
        ("stream TINY --lang es", "the model tiny is for en, not es"),
        *(
            (f"stream --listen {address}", "")
            for address in ("''", "localhost", "localhost:", "localhost:99999", "a:b")
        ),
        ("check --lang is talk.srt", "no model for is "),
        ("train --lang fr -o m --device toaster talk.srt", "Invalid value for '--device'"),
        ("no-such-command", ""),
        ("eval", ""),
        ("models --no-such-option", ""),
    ],
)
def test_wrong_usage_is_one_line_on_stderr(tmp_path: Path, call: str, message: str) -> None:
    names = ("talk.srt", "other.srt", "file")
    for name in names:
        talk(tmp_path, name)
    run = cappunc(*shlex.split(call.replace("TINY", shlex.join(MODEL))), cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (2, b"", 1)
    assert run.stderr.decode().startswith(f"cappunc: {message}")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(names, SRT)


@pytest.mark.parametrize(
    ("name", "data", "call", "message"),
    [
        (
            "terms.docx",
            b"PK\x03\x04\x14\x00\x06\x00Kubernetes\n",
            "fix TINY --glossary",
            "terms.docx: is not a text file\n",
        ),
        (
            "is.txt",
            "takk fyrir að koma hingað í dag við ætlum að tala um stöðuna og um það sem gerist á næsta ári".encode(),
            "fix -o -",
            "is.txt: looks like is: no model for is (languages: ",
        ),
    ],
)
def test_input_that_cannot_be_used_is_one_line(tmp_path: Path, name: str, data: bytes, call: str, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    run = cappunc(*shlex.split(call.replace("TINY", shlex.join(MODEL))), name, data=SRT.encode(), cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (1, b"", 1)
    assert run.stderr.decode().startswith(f"cappunc: {message}")


def test_a_language_that_the_model_was_not_trained_on_is_a_warning() -> None:
    text = "hur mår du idag\n".encode()
    run = cappunc("fix", *MODEL, "--lang", "fr", data=text)
    assert (run.returncode, run.stderr) == (
        0,
        b"cappunc: tiny was not trained on French: marks and capitals may be poor\n",
    )
    assert cappunc("fix", *MODEL, "--lang", "fr", "--quiet", data=text).stderr == b""
    assert cappunc("fix", *MODEL, data=text).stderr == b""


def test_options_reach_the_model(fixed: bytes) -> None:
    none = cappunc("fix", *MODEL, "--marks", "", data=SRT.encode()).stdout.decode()
    assert not set(none.replace(",000", "")) & set(",.?!;—…")
    assert "London" in none
    many = cappunc("fix", *MODEL, "--sensitivity", "1", data=SRT.encode()).stdout
    assert sum(many.count(m) for m in (b".", b",", b"?")) > sum(fixed.count(m) for m in (b".", b",", b"?"))
    kept = cappunc("fix", *MODEL, "--existing", "keep", data=SRT.replace("london", "lONdon").encode()).stdout
    assert b"lONdon" in kept


@pytest.mark.parametrize(
    "call", ["fix -o - talk.srt", "captions -o - talk.srt", "convert --to srt -o - talk.srt", "stream"]
)
def test_several_glossaries_are_one(tmp_path: Path, call: str) -> None:
    (tmp_path / "a.txt").write_text("wEnt\nBioNTech\n")
    (tmp_path / "b.txt").write_text("wheRE\nKubernetes\n")
    talk(tmp_path, text=SRT.replace("anna", "bio n tech"))
    name, *more = call.split()
    words = f"{WORDS} where".replace("anna", "bio n tech").encode()
    run = cappunc(name, *MODEL, *more, "--glossary", "a.txt", "--glossary", "b.txt", cwd=tmp_path, data=words)
    assert run.returncode == 0, run.stderr
    assert b"wEnt" in run.stdout
    assert b"wheRE" in run.stdout
    kind = "stream" if name == "stream" else "file"
    said = f"cappunc: 2 glossary terms found in no {kind}: BioNTech (but “bio n tech”), Kubernetes"
    assert run.stderr.decode().splitlines()[-1] == said
    if name == "fix":
        quiet = cappunc(name, *MODEL, "-q", *more, "--glossary", "b.txt", cwd=tmp_path)
        assert quiet.stderr == b""


def test_a_closed_pipe_is_handled(tmp_path: Path) -> None:
    path = talk(tmp_path, text="".join(SRT.replace("1\n", f"{i}\n", 1) + "\n" for i in range(3000)))
    with subprocess.Popen(line("fix", *MODEL, path), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_eval_says_nothing_about_a_closed_pipe(tmp_path: Path) -> None:
    path = talk(tmp_path)
    ours, theirs = os.pipe()
    os.close(ours)
    run = subprocess.run(
        line("eval", "--json", "--ref", path, path), stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    os.close(theirs)
    assert (run.returncode, run.stderr) == (1, b"")


@pytest.mark.parametrize("mode", ["wb", "ab"])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("fix MODEL talk.srt", "talk.srt"),
        ("fix MODEL", "<stdin>"),
        ("fix MODEL link -o -", "link"),
        ("captions --rewrap talk.srt -o -", "talk.srt"),
        ("convert MODEL --to vtt talk.srt -o -", "talk.srt"),
    ],
)
def test_standard_output_is_not_the_input(tmp_path: Path, call: str, name: str, mode: str) -> None:
    path = talk(tmp_path)
    (tmp_path / "link").symlink_to("talk.srt")
    with path.open("rb") as stdin, path.open(mode) as stdout:  # type: ignore[call-overload]
        run = cappunc(*call.replace("MODEL", " ".join(MODEL)).split(), cwd=tmp_path, stdin=stdin, stdout=stdout)
    said = f"cappunc: {name}: standard output is the input itself; name another file with -o\n"
    assert (run.returncode, run.stderr.decode()) == (1, said)
    assert path.read_text() == (SRT if mode == "ab" else "")


# A background job inherits that Ctrl-C is ignored; a user's own process does not.
STOPPABLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def stop(process: subprocess.Popen[bytes], source: IO[bytes]) -> str:
    """What a process that reads from `source` says to Ctrl-C."""
    process.send_signal(signal.SIGINT)
    # Python overlooks a signal that comes just before its read begins to wait, until that read ends.
    source.close()
    assert process.wait(120) == 130
    assert process.stderr is not None
    return process.stderr.read().decode()


def test_control_c_exits_130() -> None:
    command = [
        sys.executable,
        "-c",
        f"{STOPPABLE}; print(flush=True); from cappunc_cli.cli.main import main; main()",
        "fix",
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        # More than the pipe holds: when it is written, the command has begun to read.
        process.stdin.write(b"x" * 200_000)
        process.stdin.flush()
        assert "Traceback" not in stop(process, process.stdin)


def test_control_c_while_the_program_is_loaded_is_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from cappunc_cli.__main__ import main\n"
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (130, b"")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no such pipes")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("captions", "a.json", "pipe", "--to", "srt", "-o", "out/"), "1 of 2 files done"),
        (("convert", "a.json", "pipe", "--to", "txt", "-o", "out/"), "1 of 2 files done"),
        (("check", "a.json", "pipe"), "1 of 2 files done"),
        (("check", "--captions", "bbc", "a.srt", "pipe"), "1 of 2 files done"),
        (("review", "a.json", "pipe"), "1 of 2 files done"),
        (("glossary", "a.json", "pipe"), "1 of 2 files done"),
        (("eval", "--ref", "a.json", "--ref", "pipe"), "1 of 2 files done"),
        (("eval", "--ref", "a.json", "--ref", "pipe", "a.json", "a.json"), "1 of 2 files done"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, tuple) else "",
)
def test_control_c_says_how_many_files_are_done(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    talk(tmp_path, "a.srt")
    words = [{"text": word, "start": i, "end": i + 0.4} for i, word in enumerate(WORDS.split())]
    (tmp_path / "a.json").write_text(json.dumps({"segments": [{"text": WORDS, "start": 0, "end": 7, "words": words}]}))
    os.mkfifo(tmp_path / "pipe")
    own = () if "bbc" in arguments or arguments[-1] == "a.json" else (*MODEL, "--lang", "en")
    command = [sys.executable, "-c", f"{STOPPABLE}; from cappunc_cli.cli.main import main; main()", *arguments, *own]
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process,
        (tmp_path / "pipe").open("wb") as pipe,  # waits for the command to come to it
    ):
        assert stop(process, pipe).splitlines()[-1] == f"cappunc: stopped: {said}"


def test_closed_streams_are_handled(tmp_path: Path) -> None:
    talk(tmp_path)
    command = f"{sys.executable} -m cappunc_cli fix {' '.join(MODEL)} talk.srt -o new.srt <&- >&- 2>&-"
    assert subprocess.run(command, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert b"London" in (tmp_path / "new.srt").read_bytes()


def test_a_table_cannot_be_printed_on_a_closed_standard_output(tmp_path: Path) -> None:
    talk(tmp_path)
    call = shlex.join(line("eval", "--ref", "talk.srt", "talk.srt"))
    run = subprocess.run(f"{call} >&-", shell=True, cwd=tmp_path, stderr=subprocess.PIPE, check=False)
    assert (run.returncode, run.stderr) == (1, b"cappunc: standard output: is closed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_on_a_full_disk_is_one_line(tmp_path: Path, unbuffered: str) -> None:
    talk(tmp_path)
    command = f"{sys.executable} -m cappunc_cli fix {' '.join(MODEL)} talk.srt > /dev/full"
    own = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    run = subprocess.run(command, shell=True, cwd=tmp_path, env=own, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 1
    assert run.stderr.decode() == "cappunc: standard output: No space left on device\n"
    shown = subprocess.run(
        f"{sys.executable} -m cappunc_cli --help > /dev/full", shell=True, env=own, stderr=subprocess.PIPE, check=False
    )
    assert (shown.returncode, shown.stderr.decode()) == (1, "cappunc: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize(("command", "unbuffered"), [("fix", ""), ("convert --to srt", "1")])
def test_messages_that_cannot_be_written_stop_no_run(tmp_path: Path, command: str, unbuffered: str) -> None:
    names = [talk(tmp_path, f"{n}.srt").name for n in "ab"]
    call = line(*command.split(), *MODEL, *names, "nowhere.srt", "-o", "out")
    own = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run(call, cwd=tmp_path, env=own, stderr=full, check=False).returncode == 1
    assert sorted(path.name for path in (tmp_path / "out").glob("*.srt")) == names


def test_version() -> None:
    run = cappunc("--version")
    assert (run.returncode, run.stdout.decode()) == (0, f"cappunc {cappunc_cli.__version__}\n")


def test_models_are_listed_and_checked(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPPUNC_MODELS", str(tiny_model.parent))
    listed = json.loads(cappunc("models", "--json").stdout)
    entry = next(model for model in listed if model["name"] == "tiny_model")
    assert entry["languages"] == ["en"]
    assert len(entry["sha256"]) == 64
    table = cappunc("models").stdout.decode().splitlines()
    assert [line.split()[0] for line in table] == ["model", *(model["name"] for model in listed)]
    assert all(len(line) <= 80 for line in table)
    scored = next(model for model in listed if model["scores"])
    name, value = next(iter(scored["scores"].items()))
    shown = next(line for line in table if line.split()[0] == scored["name"])
    assert shown.endswith(f"{100 * value:.1f}  {name}")
    assert {"es", "eu", "ro", "vi"} <= {model["name"] for model in listed if model["engine"] == "ngram"}
    assert cappunc("models", "check", "es").returncode == 0

    assert cappunc("models", "check", "tiny_model").returncode == 0
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny_model.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "lexicon.txt").write_bytes(b"iPod\n")
    run = cappunc("models", "check", broken)
    assert (run.returncode, run.stdout) == (1, b"")
    assert b"lexicon.txt: is not the file" in run.stderr

    run = cappunc("models", "check", "nosuch")
    every = ", ".join(dict.fromkeys(model["name"] for model in listed))
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr.decode() == f"cappunc: no model 'nosuch' (installed: {every})\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fix", ""],
        ["fix", "talk.srt", ""],
        ["fix", "talk.srt", "-o", ""],
        ["fix", "talk.srt", "--glossary", ""],
        ["captions", "talk.srt", "-o", ""],
        ["check", ""],
        ["glossary", ""],
        ["models", "check", ""],
        ["eval", "--ref", ""],
        ["eval", "--ref", "talk.srt", ""],
    ],
    ids=" ".join,
)
def test_an_empty_name_is_not_the_current_directory(arguments: list[str], tmp_path: Path, tiny_model: Path) -> None:
    """`cappunc fix "$TALK"` with a variable that nobody set."""
    for path in tiny_model.iterdir():  # nor a model, where that directory is one
        if path.is_file():
            (tmp_path / path.name).symlink_to(path)
    path = talk(tmp_path)
    before = sorted(tmp_path.iterdir())
    run = cappunc(*arguments, cwd=tmp_path)
    assert run.returncode != 0
    assert run.stdout == b""
    assert b"cappunc: : no such file" in run.stderr or b"empty" in run.stderr or b"no model ''" in run.stderr
    assert b"Traceback" not in run.stderr
    assert (sorted(tmp_path.iterdir()), path.read_text()) == (before, SRT)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no such device")
def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    run = cappunc("fix", *MODEL, talk(tmp_path), "-o", tmp_path / "new.srt", "--log", "/dev/full")
    assert (run.returncode, run.stderr) == (1, b"cappunc: /dev/full: No space left on device\n")
