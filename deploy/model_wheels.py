"""Build cappunc without models, and its models as wheels of their own, from the same folders.

    python deploy/model_wheels.py DIST

`cappunc` finds an installed model wheel by its entry point in the group `cappunc.models`.
Needs `pip install build hatchling`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What installs together: a model shares probabilities with another, or one folder serves the same languages.
WHEELS = {
    "en": ("en", "en-fast", "en-live"),
    "multi": ("multi", "multi-fast", "es", "eu", "ro", "vi"),
    "multi2": ("multi2",),
}
#: What a folder needs to run; recipes and notes stay in the repository.
SHIPPED = ("CARD.md", "config.json", "tokenizer.json", "lexicon.txt", "model.onnx", "words.bin")
SHIPPED += ("gru.onnx", "gru.json", "ngram.xz", "ngram.json")
PROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "cappunc-model-{name}"
version = "{version}"
description = "Models of cappunc: {folders}"
license = "LicenseRef-see-cards"
license-files = ["cappunc_model_{name}/*/CARD.md"]
requires-python = ">=3.11"

[project.entry-points."cappunc.models"]
{name} = "cappunc_model_{name}"

[tool.hatch.build.targets.wheel]
only-include = ["cappunc_model_{name}"]
"""


def build(project: Path, dist: Path) -> None:
    """Build the wheel of the project in a folder."""
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", dist, project], check=True)


def model_project(name: str, version: str, place: Path) -> None:
    """Write the project of one model wheel to `place`."""
    package = place / f"cappunc_model_{name}"
    for folder in WHEELS[name]:
        (package / folder).mkdir(parents=True)
        for file in SHIPPED:
            if (source := ROOT / "models" / folder / file).is_file():
                shutil.copy(source, package / folder / file)
    (package / "__init__.py").write_text(f'"""The models {", ".join(WHEELS[name])} of cappunc."""\n', "utf-8")
    text = PROJECT.format(name=name, version=version, folders=", ".join(WHEELS[name]))
    (place / "pyproject.toml").write_text(text, "utf-8")


def program_project(place: Path) -> None:
    """Write the project of cappunc without models to `place`."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    text, count = re.subn(r"only-include = \[[^\]]*\]", 'only-include = ["cappunc_cli", "yt_dlp_plugins"]', text)
    if count != 1:
        raise SystemExit("pyproject.toml names what the wheel includes in another way; adapt this script")
    (place / "pyproject.toml").write_text(text, "utf-8")
    table = tomllib.loads(text)["project"]
    for name in (table["readme"], *table["license-files"]):
        shutil.copy(ROOT / name, place / name)
    for name in ("cappunc_cli", "yt_dlp_plugins"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))


def main(dist: Path) -> None:
    version = {}
    exec((ROOT / "cappunc_cli/version.py").read_text("utf-8"), version)
    with tempfile.TemporaryDirectory() as folder:
        for name in WHEELS:
            model_project(name, version["__version__"], Path(folder, name))
            build(Path(folder, name), dist)
        (program := Path(folder, "cappunc")).mkdir()
        program_project(program)
        build(program, dist)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
