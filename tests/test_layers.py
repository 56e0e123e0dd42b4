"""Who may import whom: the table of CONTRIBUTING.md, read off the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cappunc_cli
from cappunc_cli.cli.eval import Preset
from cappunc_cli.evaluation.presets import PRESETS

PACKAGE = Path(cappunc_cli.__file__).parent
NOUNS = {"errors", "column", "words", "silence", "labels", "languages"}
#: Layer -> the other layers that it may import, and the packages.
LAYERS: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "column": (set(), set()),
    "words": ({"column"}, set()),
    "silence": ({"words"}, set()),
    "labels": (set(), set()),
    "languages": (set(), set()),
    "formats": (NOUNS, {"rapidfuzz"}),
    "layout": (NOUNS, {"pysrt", "webvtt"}),
    "evaluation": (NOUNS, {"matplotlib", "numpy", "rapidfuzz", "rich"}),
    "restoration": (NOUNS, {"numpy", "onnx", "onnxruntime", "tokenizers"}),
    "training": (
        NOUNS | {"restoration", "evaluation", "formats", "benchmark"},
        {"numpy", "rapidfuzz", "torch", "safetensors", "onnx", "tokenizers", "onnxruntime", "scipy", "sklearn"},
    ),
    "benchmark": (NOUNS | {"formats", "restoration"}, set()),
    "cli": (
        NOUNS | {"formats", "layout", "evaluation", "restoration", "benchmark", "training"},
        {"typer", "rich", "charset_normalizer", "py3langid", "torch"},
    ),
    "__main__": ({"cli"}, set()),
    "__init__": (NOUNS | {"formats", "restoration"}, set()),
}
#: The only file that may know these packages.
SOLE = {"onnxruntime": "restoration/sessions.py", "tokenizers": "restoration/pieces.py", "torch": "cli/train.py"}
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
)


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_models" not in path.parts)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = ["cappunc_cli", *path.relative_to(PACKAGE).parts]
            parents = here[: -node.level] if node.level else []
            module = ".".join([*parents, node.module] if node.module else parents)
            # `from cappunc_cli import formats` names a layer, `from cappunc_cli import __version__` none.
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert layer in LAYERS, f"{layer} stands in no table"
    ours, theirs = LAYERS[layer]
    for name in imports(path):
        root, _, rest = name.partition(".")
        if root == "cappunc_cli":
            target = rest.split(".")[0]
            assert target in ours | {layer, "__version__"}, f"{layer} must not import {name}"
        elif root not in sys.stdlib_module_names:
            assert root in theirs, f"{layer} must not import {root}"
            assert SOLE.get(root) in (None, str(path.relative_to(PACKAGE))) or layer == "training", name


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
