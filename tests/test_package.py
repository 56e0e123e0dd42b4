"""What is shipped: version, entry point, types, models."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import cappunc_cli

PACKAGE = Path(cappunc_cli.__file__).parent


@pytest.fixture(scope="module")
def distribution() -> metadata.Distribution:
    try:
        found = metadata.distribution("cappunc")
    except metadata.PackageNotFoundError:
        pytest.skip("cappunc is not installed, only on the path")
    return found


def test_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_the_installed_version_is_that_of_the_package(distribution: metadata.Distribution) -> None:
    assert distribution.version == cappunc_cli.__version__


def test_the_command_is_installed(distribution: metadata.Distribution) -> None:
    entries = {entry.name: entry.value for entry in distribution.entry_points if entry.group == "console_scripts"}
    assert entries == {"cappunc": "cappunc_cli.__main__:main"}


def test_the_licence_is_shipped(distribution: metadata.Distribution) -> None:
    assert distribution.metadata["License-Expression"] == "GPL-3.0-or-later"
    assert any("LICENSE" in str(path) for path in distribution.files or [])


def test_onnxruntime_is_required_once_per_system(distribution: metadata.Distribution) -> None:
    # Two packages that both install `onnxruntime` would overwrite each other.
    needs = [Requirement(need) for need in distribution.requires or [] if need.startswith("onnxruntime")]
    for (system, machine), expected in {
        ("linux", "x86_64"): "onnxruntime-gpu",
        ("linux", "aarch64"): "onnxruntime",
        ("win32", "AMD64"): "onnxruntime-gpu",
        ("win32", "ARM64"): "onnxruntime",
        ("darwin", "arm64"): "onnxruntime",
        ("darwin", "x86_64"): "onnxruntime",
        ("freebsd", "amd64"): "onnxruntime",
    }.items():
        here = {"sys_platform": system, "platform_machine": machine, "extra": ""}
        assert [need.name for need in needs if need.marker and need.marker.evaluate(here)] == [expected]
        cuda = {need.name for need in needs if need.marker and need.marker.evaluate({**here, "extra": "cuda"})}
        assert cuda == {expected}


def test_the_run_time_never_loads_the_training() -> None:
    code = (
        "import sys, cappunc_cli, cappunc_cli.cli.main, cappunc_cli.files.run\n"
        "[getattr(cappunc_cli, name) for name in cappunc_cli.__all__]\n"
        "sys.exit(any(name.split('.')[0] == 'torch' or 'training' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_experiments_are_not_shipped(distribution: metadata.Distribution) -> None:
    files = [str(path) for path in distribution.files or []]
    if any(path.endswith(".pth") for path in files):
        pytest.skip("an editable install, which has all files")
    assert [path for path in files if path.startswith("cappunc_cli/_models/lab")] == []
    shipped = {Path(path).name for path in files if path.startswith("cappunc_cli/_models/")}
    assert shipped == {
        *("NOTES.md", "CARD.md", "config.json", "eval.json", "train.toml", "tokenizer.json", "lexicon.txt"),
        *("model.onnx", "words.bin", "gru.onnx", "gru.json", "ngram.xz", "ngram.json"),
    }
