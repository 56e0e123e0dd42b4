"""An open model: the engine that runs it, and the other models that count in its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadModel, WrongUsage
from cappunc_cli.options import load_reference, require
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.registry import (
    ENGINES,
    NETWORK,
    ModelConfig,
    find_member,
    find_model,
    find_model_for,
)
from cappunc_cli.restoration.models.trial import try_model

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.network import OnnxEngine
    from cappunc_cli.restoration.models.recurrent import GruEngine
    from cappunc_cli.restoration.models.trigrams import NgramEngine


@dataclass(frozen=True, slots=True)
class Model:
    """An open model: its config, the engine that runs it, and its lexicon in each of its languages.

    `ensemble` are other models whose probabilities count in their languages, each with its share.

    >>> model = cappunc.load_model("en")
    >>> model.config.languages, model.lexicons["en"].get("iphone")
    (('en',), 'iPhone')
    """

    config: ModelConfig
    engine: OnnxEngine | GruEngine | NgramEngine
    lexicons: Lexicons
    ensemble: Sequence[tuple[Model, float]] = ()


def load_model(
    name: str | PathLike[str] | None = None, device: str = "auto", *, language: str = "en", engine: str = NETWORK
) -> Model:
    """Open a model on `device` (auto, cpu, cuda[:N]): by its name or directory, or that of a language.

    Raises BadModel, or CappuncError for a named device that cannot be used. If `auto` could not use the machine's GPU,
    `model.engine.warning` says why.

    >>> cappunc.load_model(language="es", device="cpu").config.name
    'multi'
    """
    require("name", name, (str, PathLike, NoneType), "a name, a directory or None")
    require("language", language, str, "a language code")
    require("device", device, str, "a str")
    if engine not in [*ENGINES]:
        raise WrongUsage(f"unknown engine {engine!r}; use {', '.join(ENGINES)}")
    directory = find_model_for(language, engine) if name is None else find_model(fspath(name), engine)
    try_model(directory, engine)
    return open_model(directory, device, engine)


def open_model(directory: Path, device: str, engine: str) -> Model:
    """`load_model` of a directory, without a trial; raises the same."""
    opened = load_reference(ENGINES[engine].engine)(directory, device)
    members = []
    for other, part in opened.config.ensemble.items():
        place = find_member(directory, other)
        config = ModelConfig.load(place)
        if config.ensemble:
            raise BadModel(f"ensemble: {other} has one of its own", str(directory))
        if config.around != opened.config.around:
            raise BadModel(f"ensemble: {other} has other paired marks (around)", str(directory))
        members.append((open_model(place, device, NETWORK), part))
    return Model(opened.config, opened, opened.lexicons, members)
