"""The Python interface: what it shows, what it says of itself, and that it does what the command line does."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import cappunc as cappunc_line

import cappunc_cli as cappunc
from cappunc_cli import api
from cappunc_cli.formats import FORMATS
from cappunc_cli.restoration.models.registry import installed

ROOT = Path(__file__).parents[2]
TINY = ROOT / "tests/tiny_model"
TALK = ROOT / "fixtures/srt/talk.srt"
#: The files of one case each in whose format something is odd: line ends, sounds, JSON, columns.
FILES = [
    "srt/talk.srt", "srt/carriage-returns.srt", "srt/broken-cues.srt", "txt/prose.txt", "vtt/youtube.vtt",
]  # fmt: skip


def test_dir_shows_the_public_names_and_nothing_heavy_is_loaded_by_it() -> None:
    code = (
        "import sys, cappunc_cli as cappunc; print(*dir(cappunc)); "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'onnxruntime', 'tokenizers', 'rich', 'typer')))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert found == sorted([*cappunc.__all__, "__version__"])
    assert {"fix", "restore", "check", "read", "write", "Options", "Word", "Document", "Model"} <= set(found)
    errors = {name for name in vars(cappunc.errors) if isinstance(getattr(cappunc.errors, name), type)}
    # It names an option of the command line, which Python has not.
    assert errors - {"BadOption"} <= set(found)


@pytest.mark.parametrize("name", cappunc.__all__)
def test_every_public_name_has_a_working_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if {"en", "multi"} - {path.name for path in installed()}:
        pytest.skip("the models are not installed")
    (tmp_path / "talk.srt").write_bytes(TALK.read_bytes())
    monkeypatch.chdir(tmp_path)
    doc = getattr(cappunc, name).__doc__
    known = {"cappunc": cappunc, "Path": Path}
    test = doctest.DocTestParser().get_doctest(doc, known, name, None, 0)
    assert test.examples, f"{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", FILES)
def test_fix_gives_the_bytes_of_the_cappunc_line(name: str) -> None:
    path = ROOT / "fixtures" / name
    shell = cappunc_line("fix", "--model", TINY, "--device", "cpu", path, "-o", "-")
    fixed = cappunc.fix(path, TINY, device="cpu")
    assert shell.returncode == 0
    assert fixed.data == shell.stdout
    assert cappunc.fix(path.read_bytes(), TINY, device="cpu").data == fixed.data
    text = path.read_bytes().decode("utf-8")
    assert cappunc.fix(text, TINY, device="cpu", format=cappunc.read(path).format).text == fixed.text
    assert fixed.marks + fixed.capitals > 0


def test_options_are_those_of_the_cappunc_line(tmp_path: Path) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("SO\n")
    shell = cappunc_line(
        "fix", "--model", TINY, "--marks", ".", "--sensitivity", "0.8", "--existing", "replace", "--no-pauses",
        "--style", "heavy",
        "--glossary", terms, "--window", "40", "--overlap", "10", "--min-words-cut", "2", TALK, "-o", "-",
    )  # fmt: skip
    fixed = cappunc.fix(
        TALK, str(TINY), marks=".", sensitivity=0.8, existing="replace", pauses=False, glossary=["SO"], window=40,
        overlap=10, min_words_cut=2, style="heavy",
    )  # fmt: skip
    assert fixed.data == shell.stdout
    assert fixed.data != cappunc.fix(TALK, TINY).data
    # All but the language, which is an argument of its own, and a measuring instrument.
    assert set(api.Choices.__annotations__) == set(cappunc.Options.__dataclass_fields__) - {"language", "apart"}


@pytest.mark.parametrize("name", ["srt/talk.srt", "txt/prose.txt", "srt/shouting.srt"])
def test_check_lists_what_the_command_line_lists(name: str) -> None:
    path = ROOT / "fixtures" / name
    (report,) = json.loads(cappunc_line("check", "--json", "--model", TINY, "--device", "cpu", path).stdout)
    found = cappunc.check(path, TINY, device="cpu")
    fields = list(cappunc.Unrestored.__dataclass_fields__)
    as_json = json.loads(json.dumps([{field: getattr(span, field) for field in fields} for span in found]))
    assert as_json == report["stretches"]


def test_convert_and_captions_give_the_bytes_of_the_cappunc_line() -> None:
    model = ("--model", TINY, "--device", "cpu", TALK, "-o", "-")
    shell = cappunc_line("convert", "--to", "md", "--times", *model)
    assert cappunc.convert(TALK, "md", TINY, device="cpu", times=True) == shell.stdout
    shell = cappunc_line("captions", "--to", "vtt", "--profile", "bbc", "--min-gap", 80, "--fps", 25, *model)
    given = {"profile": "bbc", "limits": {"min_gap": 80}, "fps": 25.0}
    assert cappunc.captions(TALK, TINY, device="cpu", to="vtt", **given) == shell.stdout  # type: ignore[arg-type]
    shell = cappunc_line("captions", "--no-restore", "--by", "sentence", TALK, "-o", "-")
    assert cappunc.captions(TALK, by="sentence", restore=False) == shell.stdout
    assert shell.stdout.count(b" --> ") > 0


def test_review_and_evaluate_give_what_the_command_line_prints(tmp_path: Path) -> None:
    ours = tmp_path / "ours.srt"
    cappunc.fix(TALK, TINY, device="cpu").save(ours)
    doubtful = ROOT / "fixtures/srt/detached-marks.srt"
    (report,) = json.loads(cappunc_line("review", "--json", "--below", 0.99, "--model", TINY, doubtful).stdout)
    found = cappunc.review(doubtful, TINY, below=0.99)
    assert found["doubts"]
    assert found == {name: report[name] for name in ("stretches", "doubts")}
    cases: list[tuple[list[Path], list[str], dict[str, Any]]] = [
        ([TALK], ["--no-fold"], {"fold": False}),
        ([TALK, ours], ["--bootstrap", "50"], {"bootstrap": 50}),
    ]
    for systems, typed, options in cases:
        shell = json.loads(cappunc_line("eval", "--ref", ours, *systems, *typed, "--json").stdout)
        assert json.loads(json.dumps(cappunc.evaluate(ours, *systems, **options))) == shell


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: cappunc.convert("a b", "pdf"), "to must be one of srt, .*, not 'pdf'"),
        (lambda: cappunc.captions("a b", limits={"cpm": 3}), "no limit 'cpm'; there are width, lines, cps"),
        (lambda: cappunc.captions("a b", profile="hulu"), "no caption profile 'hulu'"),
        (lambda: cappunc.review("a b", fast=True, model="en"), "fast and model exclude each other"),
    ],
)
def test_what_makes_no_sense_is_said(call: Callable[[], object], why: str) -> None:
    with pytest.raises(cappunc.WrongUsage, match=why):
        call()


def test_an_open_model_is_taken_and_one_by_name_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cappunc.load_model(str(TINY), "cpu")
    before = cappunc.fix(TALK, TINY, device="cpu").data
    monkeypatch.setattr("cappunc_cli.files.fixer.load_model", lambda *_, **__: pytest.fail("opened again"))
    assert cappunc.fix(TALK, model).data == cappunc.fix(TALK, TINY, device="cpu").data == before


def test_the_encoding_is_kept(tmp_path: Path) -> None:
    source = "so josé went to málaga and then he came home".encode("cp1252")
    fixed = cappunc.fix(source, TINY, device="cpu")
    assert fixed.encoding.codec == "cp1252"
    assert fixed.data.decode("cp1252").lower().startswith("so josé went to málaga")
    with pytest.raises(cappunc.WrongUsage, match="'latin-99'"):
        cappunc.fix(source, TINY, encoding="latin-99")
    assert cappunc.read(source, encoding="cp1250").words[1].text == "josé"
    assert cappunc.read("málaga".encode("cp1250"), encoding="cp1251").words[0].text == "mбlaga"
    marked = cappunc.fix(b"\xff\xfe" + "so we went home".encode("utf-16-le"), TINY, device="cpu")
    marked.save(tmp_path / "new.txt")
    assert (tmp_path / "new.txt").read_bytes().startswith(b"\xff\xfe")
    assert "\ufeff" not in marked.text


def test_save_overwrites_only_with_force(tmp_path: Path) -> None:
    fixed = cappunc.fix("so we went home", TINY, device="cpu")
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(cappunc.CappuncError, match=r"old.txt: already exists; force=True"):
        fixed.save(tmp_path / "old.txt")
    assert (tmp_path / "old.txt").read_text() == "old"
    fixed.save(str(tmp_path / "old.txt"), force=True)
    assert (tmp_path / "old.txt").read_bytes() == fixed.data


def test_a_file_name_is_not_taken_for_a_text() -> None:
    for call in (cappunc.fix, cappunc.check, cappunc.read):
        with pytest.raises(cappunc.WrongUsage, match=r"pass Path\('season 1/talk.srt'\)"):
            call("season 1/talk.srt")
    assert cappunc.fix("we saved it as talk.srt", TINY, format="txt").text.lower().startswith("we saved it")
    assert cappunc.read("good evening\nwe saved it as talk.srt").format == "txt"
    assert cappunc.read("talk.srt", "names.txt").format == "txt"


def test_errors_about_a_file_name_it_and_keep_their_kind(tmp_path: Path) -> None:
    path = tmp_path / "film.txt"
    path.write_bytes(b"\0\1\2\3" * 301)
    for call in (cappunc.fix, cappunc.check, cappunc.read):
        with pytest.raises(cappunc.UnknownFormat) as caught:
            call(path)
        assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(FileNotFoundError):
        cappunc.fix(tmp_path / "none.srt")
    with pytest.raises(cappunc.WrongUsage):
        cappunc.fix("so we went home", glossary="SO")
    with pytest.raises(cappunc.WrongUsage):
        cappunc.fix("so we went home", TINY, fast=True)
    with pytest.raises(cappunc.WrongUsage, match="unknown device 'gpu'") as raised:
        cappunc.fix("hello anna", TINY, device="gpu")
    assert not isinstance(raised.value, cappunc.BadModel)
    with pytest.raises(cappunc.BadModel, match="looks like "):
        cappunc.fix("これは日本語の文章です 昨日の夜に海へ行きました それから家に帰りました")


def test_a_word_that_would_change_is_refused() -> None:
    document = cappunc.read(TALK)
    texts = [word.text for word in document.words]
    assert cappunc.write(document, texts) == TALK.read_text(encoding="utf-8")
    with pytest.raises(cappunc.BadInput, match="“evening” cannot become “morning”"):
        cappunc.write(document, [texts[0], "morning", *texts[2:]])
    with pytest.raises(ValueError, match="texts"):
        cappunc.write(document, texts[1:])


def test_write_reads_again_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    document = cappunc.read("good evening london\n")
    monkeypatch.setattr(type(FORMATS["txt"]), "write", lambda *_, **__: "good evening\n")
    with pytest.raises(cappunc.BadInput, match="2 words in place of 3"):
        cappunc.write(document, ["good", "evening", "london"])


def test_an_unusable_gpu_is_a_warning() -> None:
    model = cappunc.load_model(str(TINY), "cpu")
    model.engine.warning = "no CUDA libraries. Running on the CPU."
    with pytest.warns(RuntimeWarning, match="Running on the CPU"):
        cappunc.fix("hello anna", model)


def test_text_without_words_is_unchanged() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in ("", b"", "\n\n"):
            fixed = cappunc.fix(source, TINY)
            assert (fixed.data, fixed.words) == (source.encode() if isinstance(source, str) else source, 0)
            assert cappunc.check(source, TINY) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"diacritics": "normalize"}, "diacritics must be one of keep, normalise, restore, not 'normalize'"),
        ({"language": ""}, "the name of the language is empty"),
        ({"language": None}, "language must be a code or a name, not None"),
        ({"engine": "torch"}, "engine must be one of onnx, ngram, gru, not 'torch'"),
        ({"glossary": "London"}, "glossary must be a list of terms, not 'London'"),
        ({"glossary": [b"London"]}, "a term of a glossary must be a str, not b'London'"),
        ({"sensitivity": True}, "sensitivity must be a number from 0 to 1, not True"),
        ({"pauses": "no"}, "pauses must be true or false, not 'no'"),
        ({"fast": "no"}, "fast must be True or False, not 'no'"),
        ({"marks": 5}, "marks must be a text, not 5"),
        ({"existing": None}, "existing must be one of auto, keep, recheck, replace, not None"),
        ({"device": None}, "device must be a str, not None"),
        ({"format": ["srt"]}, "format must be a str or None, not ['srt']"),
        ({"encoding": 5}, "encoding must be a str or None, not 5"),
        ({"sensitivity": "0.5"}, "sensitivity must be a number from 0 to 1, not '0.5'"),
        ({"overlap": 10.5}, "overlap must be a whole number of at least 0, not 10.5"),
    ],
)
def test_an_unknown_value_is_wrong_usage(given: dict[str, Any], said: str) -> None:
    with pytest.raises(cappunc.WrongUsage) as raised:
        cappunc.fix("good evening london", TINY, **given)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cappunc.fix(None, TINY), "source must be a Path, bytes or a str, not None"),
        (lambda: cappunc.fix("hello", 5), "model must be an open model, a name or a directory, not 5"),
        (lambda: cappunc.check(["hello"]), "source must be a Path, bytes or a str, not ['hello']"),
        (lambda: cappunc.read("hello", name=Path("a.srt")), "name must be a str, not "),
        (lambda: cappunc.write(None, []), "document must be a Document, not None"),
        (lambda: cappunc.write(cappunc.read("hello"), "Hello"), "texts must be a list of str, not 'Hello'"),
        (lambda: cappunc.write(cappunc.read("hello"), [None]), "a text must be a str, not None"),
        (lambda: cappunc.restore(["hello"], cappunc.load_model(TINY)), "a word must be a Word, not 'hello'"),
        (
            lambda: cappunc.restore(cappunc.read("hello"), cappunc.load_model(TINY)),
            "words must be a sequence of Word, not ",
        ),
        (
            lambda: cappunc.restore([cappunc.Word("a", 0.5)], cappunc.load_model(TINY)),
            "a time must be whole milliseconds or None, not 0.5",
        ),
        (lambda: cappunc.restore([], "en"), "model must be one that load_model opened, not 'en'"),
        (lambda: cappunc.restore([], cappunc.load_model(TINY), {}), "options must be Options, not {}"),
        (lambda: cappunc.load_model(5), "name must be a name, a directory or None, not 5"),
        (lambda: cappunc.load_model(device=None), "device must be a str, not None"),
        (lambda: cappunc.fix("hello", TINY).save(""), "the name of the file is empty"),
    ],
)
def test_a_value_of_another_type_is_wrong_usage(call: Callable[[], object], said: str) -> None:
    with pytest.raises(cappunc.WrongUsage) as raised:
        call()
    assert str(raised.value).startswith(said)


def test_words_may_come_from_an_iterator() -> None:
    words = [cappunc.Word(text) for text in ["hello", "anna", "how", "are", "you"]]
    texts = cappunc.restore(words, model := cappunc.load_model(TINY))
    assert len(texts) == 5
    assert cappunc.restore(iter(words), model) == texts


@pytest.mark.parametrize("name", ["English", "EN", "en-GB"])
def test_a_language_is_called_as_on_the_cappunc_line(name: str) -> None:
    text = "good evening anna how are you"
    assert cappunc.fix(text, TINY, language=name).text == cappunc.fix(text, TINY, language="en").text
    assert cappunc.check(text, TINY, language=name) == cappunc.check(text, TINY, language="en")


def test_half_a_character_has_no_bytes(tmp_path: Path) -> None:
    fixed = cappunc.fix("hello \ud83d anna", TINY)
    assert "\ud83d" in fixed.text
    with pytest.raises(cappunc.BadInput, match="cannot be written in utf-8"):
        fixed.save(tmp_path / "new.txt")
    assert not list(tmp_path.iterdir())


def test_words_of_recognisers_are_restored() -> None:
    """As dicts and as objects, with seconds; spaces stay, and pieces of a word stay its pieces."""
    said = [" we", " met", " in", " lon", "don", " and", " then", " what", " happened"]
    dicts = [{"word": word, "start": i / 2, "end": i / 2 + 0.4, "score": 0.9} for i, word in enumerate(said)]
    objects = [SimpleNamespace(text=word, start=i / 2, end=None) for i, word in enumerate(said)]
    for words in (dicts, objects, iter(dicts)):
        new = cappunc.restore_words(words, fast=True)
        assert [text.lower().strip(".,?!") for text in new] == said
        assert new[:1] == [" We"]
        assert (new[3], new[4][:3]) == (" Lon", "don")
        assert new[-1] in (" happened?", " happened.")
    bare = [{"text": "hello", "start": None, "end": None}, {"text": "london", "start": None, "end": None}]
    assert " ".join(cappunc.restore_words(bare, fast=True)).startswith("Hello")
    assert cappunc.restore_words([]) == []


@pytest.mark.parametrize("word", [{"start": 0}, {"word": 3}, {"word": "a", "start": "0"}, 7])
def test_what_is_no_word_of_a_recogniser_is_wrong_usage(word: object) -> None:
    with pytest.raises(cappunc.WrongUsage):
        cappunc.restore_words([word])
