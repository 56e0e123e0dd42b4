"""Who may import whom, read off the source; and what loads when."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cappunc_cli
from cappunc_cli.cli.main import COMMANDS

PACKAGE = Path(cappunc_cli.__file__).parent
#: From the bottom up: a place imports only what stands in its own line or above it. The longest name counts.
LAYERS = (
    ("errors", "version", "options"),
    ("document", "languages"),
    ("formats",),
    ("restoration/terms", "restoration/lexicon", "restoration/word_forms", "restoration/tuned"),
    ("restoration/models",),
    ("restoration/options",),
    ("restoration/decoding",),
    ("restoration", "layout", "evaluation", "pages", "spelling", "transfer"),
    ("files",),
    ("api",),
    ("cli/settings", "cli/options", "cli/main", "cli/usage"),
    ("serving",),
    ("features",),
    ("cli", "__init__", "__main__"),
)
#: Packages that only some places know, so that one place shows how they are used.
SOLE = {
    "onnxruntime": ("restoration/models",),
    "tokenizers": ("restoration/models", "features/train"),
    "torch": ("features/train",),
    "text_to_num": ("spelling",),
    "py3langid": ("files",),
    "platformdirs": ("cli", "features/subtitle_edit"),
    "charset_normalizer": ("files",),
    "fsspec": ("files",),
    "ray": ("files", "features/archive"),
    "uvicorn": ("serving",),
}
HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "torch",
    "docx",
    "charset_normalizer",
    "rapidfuzz",
    "fsspec",
    "ray",
    "text_to_num",
    "starlette",
    "uvicorn",
    "asyncio",
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


def rank(place: str) -> int:
    """The layer of a module, or of what is imported."""
    found = [
        (len(name), number)
        for number, names in enumerate(LAYERS)
        for name in names
        if place == name or place.startswith(name + "/")
    ]
    return max(found)[1] if found else len(LAYERS) - 1


@pytest.mark.parametrize("path", modules(), ids=short)
def test_imports_point_down(path: Path) -> None:
    own = short(path).removesuffix(".py")
    for name in imports(path):
        root, _, rest = name.partition(".")
        target = rest.replace(".", "/")
        if root == "cappunc_cli":
            assert rank(target) <= rank(own), f"{own} must not import {name}"
            if own.startswith("features/") and target.startswith("features/"):
                assert own.split("/")[1] == target.split("/")[1], f"{own} must not import another feature: {name}"
        elif root in SOLE:
            assert own.startswith(SOLE[root]), f"{own} must not import {root}"


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


def test_help_loads_nothing_heavy() -> None:
    calls = [["--version"], ["--help"], ["help", "fix"], *([name, "--help"] for name in COMMANDS)]
    code = f"""
import sys
from cappunc_cli.cli.main import main
for call in {calls!r}:
    sys.argv = ["cappunc", *call]
    try:
        main()
    except SystemExit as end:
        assert not end.code, call
    loaded = sys.modules.keys() & {set(HEAVY)!r}
    assert not loaded, (call, loaded)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("Usage:") == len(calls) - 1


def test_reading_a_file_needs_no_numpy() -> None:
    code = "import sys, cappunc_cli.formats; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
