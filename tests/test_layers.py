"""Who may import whom: the table of CONTRIBUTING.md, read off the source; and that names and rooms stay readable."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cappunc_cli
from cappunc_cli.cli.eval import Preset
from cappunc_cli.evaluation.presets import PRESETS

PACKAGE = Path(cappunc_cli.__file__).parent
NOUNS = {"errors", "transcript", "languages"}
#: Room or module -> the others that it may import (with their rooms), and the packages. The longest name counts.
LAYERS: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "transcript": ({"errors"}, set()),
    "languages": ({"errors"}, set()),
    "version": (set(), set()),
    "formats/source": (NOUNS, set()),
    "formats/timed_text": (NOUNS | {"formats/source"}, set()),
    "formats/asr_json/dialects": (NOUNS | {"formats/asr_json"}, set()),
    "formats/asr_json": (NOUNS | {"formats/source"}, {"rapidfuzz"}),
    "formats": (NOUNS | {"formats"}, set()),
    "layout": (NOUNS, {"pysrt", "webvtt"}),
    "evaluation/reporting": (NOUNS | {"evaluation"}, {"matplotlib", "numpy", "rich"}),
    "evaluation": (NOUNS, {"numpy", "rapidfuzz"}),
    "restoration/chunks": ({"errors"}, {"numpy"}),
    "restoration/terms": (NOUNS, set()),
    "restoration/model": (
        NOUNS | {"restoration/chunks"},
        {"numpy", "onnx", "onnxruntime", "tokenizers"},
    ),
    "restoration/ngram": (NOUNS | {"restoration/chunks", "restoration/model"}, {"numpy"}),
    "restoration/gru": (NOUNS | {"restoration/chunks", "restoration/model"}, {"numpy"}),
    "restoration/options": (NOUNS | {"restoration/chunks", "restoration/model", "restoration/terms"}, set()),
    "restoration/decoding": (
        NOUNS | {"restoration/chunks", "restoration/model", "restoration/options", "restoration/terms"},
        {"numpy"},
    ),
    "restoration": (NOUNS | {"restoration"}, {"numpy"}),
    "spelling": (NOUNS | {"formats"}, {"text_to_num"}),
    "benchmark": (NOUNS | {"formats", "restoration"}, set()),
    "application/colour": (NOUNS, {"rich"}),
    "application/progress": (NOUNS | {"application/colour"}, {"rich"}),
    "application/storage": (NOUNS | {"application/colour", "application/progress"}, {"charset_normalizer", "fsspec"}),
    "application/cluster": (NOUNS | {"application", "formats", "restoration"}, {"ray"}),
    "application/live": (NOUNS | {"application", "formats", "layout", "restoration"}, {"websockets"}),
    "application": (
        NOUNS | {"application", "formats", "layout", "evaluation", "restoration", "spelling"},
        {"rich", "py3langid"},
    ),
    "training/data": (NOUNS | {"restoration", "training/recipe"}, {"numpy", "rapidfuzz", "tokenizers"}),
    "training/recipe": (set(), set()),
    "training": (
        NOUNS | {"restoration", "evaluation", "formats", "benchmark", "training"},
        {"numpy", "rapidfuzz", "torch", "safetensors", "onnx", "tokenizers", "onnxruntime", "scipy", "sklearn"},
    ),
    "cli": (
        NOUNS | {"application", "formats", "layout", "evaluation", "restoration", "benchmark", "training"},
        {"typer", "rich", "torch", "platformdirs"},
    ),
    "__main__": ({"cli"}, set()),
    "__init__": (NOUNS | {"application", "formats", "restoration"}, set()),
}
#: The only file that may know these packages.
SOLE = {
    "onnxruntime": "restoration/model/onnx_session.py",
    "tokenizers": "restoration/model/onnx_engine.py",
    "torch": "cli/train.py",
    "text_to_num": "spelling/spoken_numbers.py",
    "py3langid": "application/language_detection.py",
    "platformdirs": "cli/settings.py",
    "charset_normalizer": "application/storage/encodings.py",
    "fsspec": "application/storage/urls.py",
    "ray": "application/cluster/ray_workers.py",
}
HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "torch",
    "pysrt",
    "webvtt",
    "charset_normalizer",
    "rapidfuzz",
    "matplotlib",
    "fsspec",
    "ray",
    "text_to_num",
)


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_models" not in path.parts)


def short(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = ["cappunc_cli", *path.relative_to(PACKAGE).parts]
            parents = here[: -node.level] if node.level else []
            module = ".".join([*parents, node.module] if node.module else parents)
            # `from cappunc_cli import formats` names a layer.
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer_of(place: str) -> str:
    """The room of a module, or of what is imported: `restoration/decoding` for `restoration/decoding/viterbi`."""
    found = [layer for layer in LAYERS if place == layer or place.startswith(layer + "/")]
    assert found, f"{place} stands in no table"
    return max(found, key=len)


@pytest.mark.parametrize("path", modules(), ids=short)
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    layer = layer_of(short(path).removesuffix(".py"))
    ours, theirs = LAYERS[layer][0] | {"version"}, LAYERS[layer][1]
    for name in imports(path):
        root, _, rest = name.partition(".")
        if root == "cappunc_cli":
            target = layer_of(rest.replace(".", "/"))
            allowed = target == layer or any(target == room or target.startswith(room + "/") for room in ours)
            assert allowed, f"{layer} must not import {name}"
        elif root not in sys.stdlib_module_names:
            assert root in theirs, f"{layer} must not import {root}"
            assert SOLE.get(root) in (None, short(path)) or layer.startswith("training"), name


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even for types; a package's `__init__` that only shows what its modules have is no part of one."""
    files = {path: ".".join(["cappunc_cli", *path.relative_to(PACKAGE).with_suffix("").parts]) for path in modules()}
    names = {name for path, name in files.items() if path.name != "__init__.py"}
    graph = {
        name: {target for some in imports(path) for target in (some, some.rpartition(".")[0]) if target in names}
        for path, name in files.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names them


#: The one repeat of a group that may take all or nothing: its body fails at its first character, or at the text's end.
_SAFE_REPEAT = r'(?:\\.[^"\\]*+)*+'


def test_no_possessive_repeat_of_a_group() -> None:
    """Before Python 3.11.5 one whose body fails half way goes on from there (gh-106052); `(?>(?:…)*)` does not."""
    repeats = re.compile(r".{20}\)[*+?]\+")
    found = {short(path): repeats.findall(path.read_text("utf-8").replace(_SAFE_REPEAT, "")) for path in modules()}
    assert {name: repeated for name, repeated in found.items() if repeated} == {}


def test_no_two_modules_and_no_two_classes_have_one_name() -> None:
    names = Counter(path.name for path in modules() if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in modules()]
    classes = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not [name for name, count in classes.items() if count > 1]


@pytest.mark.parametrize("folder", sorted({path.parent for path in modules()}), ids=short)
def test_a_room_is_small_and_says_what_lives_in_it(folder: Path) -> None:
    # A table of formats, dialects or languages may be as long as there are such.
    if folder.name not in ("dialects", "languages"):
        assert len(list(folder.glob("*.py"))) <= 16
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert doc


def loaded_by(*arguments: str) -> set[str]:
    """Top-level packages that are loaded when the command line has run."""
    code = (
        "import sys\n"
        f"sys.argv = ['cappunc', *{list(arguments)!r}]\n"
        "from cappunc_cli.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('\\n' + ' '.join(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage:" in run.stdout or "--version" in arguments, run.stderr
    return set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("fix", "--help"), ("eval", "--help"), ("models", "--help")]
)
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not loaded_by(*arguments).intersection(HEAVY)


def test_reading_a_file_needs_no_numpy() -> None:
    code = "import sys, cappunc_cli.formats; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_command_line_offers_what_there_is() -> None:
    # It writes these names out, because help must not load what has the tables.
    assert [*Preset] == [*PRESETS]
