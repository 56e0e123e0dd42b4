"""README and docs/ cannot lie: commands run, options exist, links lead somewhere, tables are those of the results."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import shutil
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
import tables
from commands import cappunc as cappunc_line
from commands import command
from typer.testing import CliRunner

import cappunc_cli as cappunc
from cappunc_cli.cli.main import COMMANDS, app
from cappunc_cli.errors import BadModel
from cappunc_cli.files.jobs import format_suffixes
from cappunc_cli.formats import FORMATS
from cappunc_cli.formats.json import DIALECTS
from cappunc_cli.restoration.models.registry import ENGINES, installed

ROOT = Path(__file__).resolve().parents[1]
#: Pages of other hands are checked for their links and commands like all others.
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in (ROOT, ROOT / "docs", ROOT / "models", *(ROOT / "models").glob("*/"))
    for path in sorted(folder.glob("*.md"))
}
README = PAGES["README.md"]
#: They take hours, measure, serve, or write to other programs' folders: here they are only parsed.
_LONG = ("train", "bench", "serve", "subtitle-edit")


def blocks(page: str, language: str) -> str:
    return "".join(re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL))


def shell_commands() -> list[tuple[str, ...]]:
    """Every call of cappunc on any page, cut at pipes and redirections."""
    calls: dict[tuple[str, ...], None] = {}
    for page in PAGES.values():
        for line in blocks(page, "sh").splitlines():
            for part in re.split(r"\s*(?:&&|\|\||\|)\s*", line.split(" #")[0]):
                words = shlex.split(re.split(r" [<>] ", part)[0])
                if words and words[0].endswith("cappunc") and words[1:]:
                    calls[tuple(words[1:])] = None
    return list(calls)


def headings(page: str) -> set[str]:
    """Anchors as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(name: str, page: str) -> list[str]:
    """The links and the named paths of a page that lead nowhere."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page):
        path, _, anchor = target.partition("#")
        if path.startswith(("https://", "http://")):
            continue
        place = (ROOT / name).parent / path if path else ROOT / name
        if not place.exists() or (anchor and anchor not in headings(place.read_text("utf-8") if path else page)):
            found.append(target)
    for path in re.findall(r"(?<![\w./-])(?:cappunc_cli|fixtures|models|tests|docs)/[\w/.-]*\w", page):
        # Tests of the wheel have no package beside them.
        tested = (ROOT / "cappunc_cli").exists() or not path.startswith("cappunc_cli")
        if tested and "NAME" not in path and not (ROOT / path).exists():
            found.append(path)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_no_link_is_broken(name: str) -> None:
    assert broken(name, PAGES[name]) == []


def test_a_broken_link_is_found() -> None:
    page = "# A page\n[a](nowhere.md) [b](README.md#use) [c](README.md#no-such-part) [d](#a-page) fixtures/srt/lost.srt"
    assert broken("README.md", page) == ["nowhere.md", "README.md#no-such-part", "fixtures/srt/lost.srt"]
    assert broken("docs/x.md", "[a](../README.md) [b](README.md)") == ["README.md"]


def test_the_readme_leads_to_every_page() -> None:
    assert all(f"docs/{path.name}" in README for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("call", shell_commands(), ids=" ".join)
def test_the_commands_parse(call: tuple[str, ...]) -> None:
    if call[0] == "--install-completion":
        return
    command(call[0]).make_context(call[0], list(call[1:]))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that the pages name; what a command writes, the tests of those that read it add."""
    place = tmp_path_factory.mktemp("desk")
    words = "hello anna then we went to london where is the cat\n"
    cue = f"1\n00:00:01,000 --> 00:00:06,000\n{words}"
    vtt = f"WEBVTT\n\n00:01.000 --> 00:06.000\n{words}"
    gold = "Hello, Anna. Then we went to London. Where is the cat?\n"
    timed = [{"word": w, "start": i / 2, "end": i / 2 + 0.4} for i, w in enumerate(words.split())]
    said = (timed[:7], timed[7:])
    turns = [{"start": own[0]["start"], "end": own[-1]["end"], "words": own} for own in said]
    turns = [
        {**turn, "text": " ".join(str(word["word"]) for word in own), "speaker": f"SPEAKER_0{number}"}
        for number, (turn, own) in enumerate(zip(turns, said, strict=True))
    ]
    heard = json.dumps({"segments": turns})
    ctm = "".join(f"talk 1 {w['start']} 0.4 {w['word']}\n" for w in timed)
    captions = "talk film fixed old fixtures/srt/talk season1/a archive/a ours/a theirs/a notes/a"
    files = {f"{name}.srt": cue for name in captions.split()}
    files |= dict.fromkeys(("gold.srt", "gold/a.srt"), cue.replace(words, gold))
    files |= dict.fromkeys(("talk.json", "call.json"), heard) | dict.fromkeys(("gold.txt", "slides.txt"), gold)
    files |= {"talk.en.vtt": vtt, "talk.ctm": ctm, "terms.txt": "London\n", "products.txt": "iPhone\n"}
    files |= {
        "script.txt": gold,
        "scripts/a.txt": gold,
        "sentences.txt": gold,
        "es.txt": "Hola, Ana.\nFuimos.\n¿Dónde?\n",
    }
    files["talk.rttm"] = "SPEAKER talk 1 0.5 9.0 <NA> <NA> SPEAKER_00 <NA> <NA>\n"
    files["Downloads/talk.srt.decisions.json"] = json.dumps(
        {"kind": "cappunc review", "sha256": sha256(cue.encode()).hexdigest(), "decisions": []}
    )
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return place


def expanded(words: tuple[str, ...], place: Path) -> list[str]:
    """The words of a call as a shell makes them: `*.vtt` becomes the names that match."""
    names = [sorted(path.name for path in place.glob(word)) if "*" in word else [word] for word in words]
    assert all(names), words
    return [name for some in names for name in some]


@pytest.mark.parametrize("call", [call for call in shell_commands() if call[0] in COMMANDS], ids=" ".join)
def test_the_commands_run(
    call: tuple[str, ...], desk: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = any(word.startswith(("--ray", "s3:", "gs:")) for word in call)
    if call[0] in _LONG or "--listen" in call or "--open" in call or remote:
        pytest.skip("takes long: its options are checked, and tests of its own run it")
    if "--numbers" in call:
        pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    place = tmp_path / "desk"
    shutil.copytree(desk, place)
    if call[0] in {"check", "convert", "eval", "review"}:
        made = dict.fromkeys(("netflix.srt", "nuevo.srt", "talk.new.srt", "fixed/a.srt"), "talk.srt")
        for name, source in {**made, "whole.json": "talk.json"}.items():
            (place / name).parent.mkdir(exist_ok=True)
            shutil.copy(place / source, place / name)
    if call[0] in {"captions", "convert"}:
        shutil.copy(place / "gold.srt", place / "whole.srt")
        (place / "sentences.txt").unlink()
    for name in ("en", "en-fast", "multi"):
        shutil.copytree(tiny_model, tmp_path / "models" / name)
    spanish = tmp_path / "models" / "multi" / "config.json"
    spanish.write_text(json.dumps({**json.loads(spanish.read_text("utf-8")), "languages": ["es"]}), "utf-8")
    shutil.copytree(tiny_model, place / "my-fr")
    monkeypatch.chdir(place)
    monkeypatch.setenv("CAPPUNC_MODELS", str(tmp_path / "models"))
    data = "hello anna then we went to london\n" if call[0] == "stream" else (place / "talk.srt").read_text("utf-8")
    if call[0] == "stream":  # it reads the descriptor of standard input
        assert cappunc_line(*call, data=data.encode()).stdout
        return
    # `--fast` and `--lang auto` are about which model is taken; here all are one.
    run = CliRunner().invoke(app, expanded(call, place), input=data)
    allowed = {"check": (0, 1), "eval": (0, 1)}.get(call[0], (0,))
    assert run.exit_code in allowed, run.output
    if run.exception and not isinstance(run.exception, SystemExit):
        raise run.exception


@pytest.mark.parametrize("name", PAGES)
def test_what_else_is_called_is_there(name: str) -> None:
    """Scripts, modules, extras and the pages' python."""
    for script in re.findall(r"python3? ((?:tests|docs)/[\w/]+\.py)", PAGES[name]):
        assert (ROOT / script).is_file(), script
    for module in re.findall(r"python3? -m (models\.lab[\w.]*)", PAGES[name]):
        # find_spec() would import the packages above it, and with them torch.
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra in re.findall(r"(?:\.|cappunc)\[(\w+)\]'", PAGES[name]):
        assert extra in project["optional-dependencies"], extra


def test_the_python_of_the_page_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "en" not in {path.name for path in installed()}:
        pytest.skip("the English model is not installed")
    code = blocks(PAGES["docs/python.md"], "pycon")
    assert "cappunc.fix" in code
    assert "cappunc.write" in code
    shutil.copy(ROOT / "fixtures/srt/talk.srt", tmp_path)
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(code, {}, "python.md", "python.md", 0)
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_stands_on_the_pages(name: str) -> None:
    assert any(f"cappunc {name}" in page for page in PAGES.values())
    assert command(name).help


def test_the_options_of_all_commands_are_listed() -> None:
    page = PAGES["docs/options.md"].partition("<!-- begin:options -->\n")[2].partition("<!-- end:options -->")[0]
    assert page == script("options").page(), "run: python docs/options.py"


def test_the_formats_of_the_table_exist() -> None:
    named = {name.lower() for name in re.findall(r"`(\.\w+)`", PAGES["docs/formats.md"])}
    assert named <= format_suffixes(None)
    assert all(named.intersection(module.suffixes) for module in FORMATS.values() if module.suffixes)


def test_every_dialect_of_json_is_named() -> None:
    row = next(line for line in PAGES["docs/formats.md"].splitlines() if line.startswith("| JSON"))
    named = re.sub(r"[^a-z]", "", row.lower())
    assert not [name for name in DIALECTS if name.split("-")[0] not in named + "generic timings editors"]


def test_every_shipped_model_has_a_row_with_its_licence() -> None:
    page = PAGES["models/README.md"]
    configs = [path for kind in ENGINES.values() for path in (ROOT / "models").glob(f"*/{kind.config}")]
    assert configs
    for path in configs:
        row = re.search(rf"^\| \[?{path.parent.name}\b.*$", page, re.MULTILINE)
        assert row, path.parent.name
        assert json.loads(path.read_text("utf-8"))["licence"] in row[0]


def test_the_scores_are_those_of_the_models() -> None:
    page = PAGES["docs/models.md"]
    shipped = sorted(path.parent.name for path in (ROOT / "models").glob("*/eval.json"))
    assert sorted(re.findall(r"<!-- begin:scores (\S+) -->", page)) == shipped
    overview = README.partition("<!-- begin:models -->\n")[2].partition("<!-- end:models -->")[0]
    for name in shipped:
        sets = json.loads((ROOT / "models" / name / "eval.json").read_text("utf-8"))["sets"]
        part = page.partition(f"<!-- begin:scores {name} -->\n")[2].partition("<!-- end:scores -->")[0]
        rows = {cells[0]: cells[2] for cells in map(cells_of, part.splitlines()[2:]) if len(cells) == 5}
        assert rows == {title: f"{100 * found['micro']:.1f}" for title, found in sets.items()}, (
            f"run: python -m models.lab.card models/{name}"
        )
        first = next(iter(sets.values()))
        assert re.search(rf"^\| `{name}` \|.* {100 * first['micro']:.1f} \|", overview, re.MULTILINE), name


def test_the_scores_beside_the_five_systems_are_those_of_the_model() -> None:
    sets = json.loads((ROOT / "models/multi/eval.json").read_text("utf-8"))["sets"]
    basque = [found for name, found in sets.items() if name.startswith("eu ")]
    news = (sets[f"vi vietnews_test{how}"] for how in (", gold windows of 150", ", gold windows", ""))
    figures = [sets["es congreso_parlamint"][key] for key in ("every.micro", "case", "micro")]
    figures += [most(found[key] for found in basque) for key in ("every.micro", "case") for most in (min, max)]
    figures += [found[key] for found in news for key in ("micro", "case")]
    shown = re.findall(r"\d+\.\d", PAGES["docs/systems.md"])
    assert [f"{100 * figure:.1f}" for figure in figures if f"{100 * figure:.1f}" not in shown] == []


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


@cache
def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def english() -> cappunc.Model:  # type: ignore[name-defined]
    try:
        return cappunc.load_model("en")
    except BadModel:
        pytest.skip("the English model is not installed")


def test_before_and_after_are_what_the_tool_does() -> None:
    block = README[README.index("```\n1  ") + 4 : README.index("\n```\n\nSpeech")]
    left, right = (
        "\n".join(line.rstrip() for line in (row[columns] for row in block.splitlines()))
        for columns in (slice(0, 45), slice(45, None))
    )
    source = (ROOT / "fixtures/srt/talk.srt").read_text(encoding="utf-8")
    assert source.startswith(left + "\n")
    document = cappunc.read(source, "talk.srt")
    result = cappunc.write(document, cappunc.restore(document.words, english()))
    assert result.startswith(right + "\n")
    # The moving picture shows the same run.
    terminal = script("terminal")
    lines = [
        "".join(row.itertext()) for row in ElementTree.parse(terminal.PICTURE).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert [line for line in lines if line.startswith("$ ")] == [f"$ {command}" for command in terminal.COMMANDS]
    shown = int(terminal.COMMANDS[-1].split()[2])
    assert lines[-shown:] == result.split("\n")[:shown]
    assert lines[1 : shown + 1] == source.split("\n")[:shown]


def test_the_picture_moves_by_itself_and_loads_nothing() -> None:
    text = script("terminal").PICTURE.read_text("utf-8")
    assert "@keyframes" in text
    assert "prefers-reduced-motion" in text
    assert not re.search(r"href|url\((?!#)|<script|@import", text)


@pytest.mark.parametrize("part", tables.PARTS)
def test_the_page_has_what_the_results_say(part: str) -> None:
    place = (ROOT / tables.PARTS[part][0]).read_text("utf-8")
    begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
    assert place.count(begin) == place.count(end) == 1
    assert place[place.index(begin) : place.index(end)] == begin + tables.page(part)
