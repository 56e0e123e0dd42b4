"""`cappunc models`: list the installed models and verify their files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cappunc_cli.cli.options import models_known
from cappunc_cli.document.labels import MARKS
from cappunc_cli.errors import BadModel
from cappunc_cli.files.output import FILE, HEADING, Parts, Reporter, escape_controls, write_json, write_lines
from cappunc_cli.options import OUTPUT, Option
from cappunc_cli.restoration.models.registry import ENGINES, NETWORK, ModelConfig, find_model, installed, verify_model

#: Languages shown per model.
_LANGUAGES = 7


@dataclass(frozen=True, slots=True)
class ModelsOptions:
    """List the installed models.

    Prints their size, languages, and the F1 of marks in per cent on their
    first test set. Models are searched for in the directories listed in
    CAPPUNC_MODELS and in the package.

    \b
    cappunc models                    list the models
    cappunc models --json             with all scores, licences, hashes, places
    cappunc models check              compare all files with their SHA-256
    cappunc models check models/en    one model, by name or directory
    """

    as_json: Annotated[bool, Option("Print JSON, with licence, hash and all scores.", OUTPUT, name="json")] = False


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Compare the files of models with the SHA-256 in their configs."""

    names: Annotated[
        tuple[str, ...],
        Option(
            "Models to check (default: all installed).",
            OUTPUT,
            metavar="NAME|DIR",
            argument=True,
            complete=models_known,
        ),
    ] = ()


def models(_context: typer.Context, options: ModelsOptions) -> None:
    """Print the list of models; exit with 1 if there is none."""
    found = [_describe(*model) for model in _installed()]
    if options.as_json:
        write_json(found)
    elif found:
        write_lines(_table(found))
    else:
        Reporter().error("no model is installed")
        raise typer.Exit(1)


def check(_context: typer.Context, options: CheckOptions) -> None:
    """Verify the models; exit with 1 if one is not what its config says."""
    reporter = Reporter()
    for name in options.names or dict.fromkeys(str(path) for path, _ in _installed()):
        try:
            directory = _find(name)
            verify_model(directory)
        except BadModel as error:
            reporter.error(error)
        else:
            typer.echo(escape_controls(f"{directory}: all files match"))
    if reporter.errors:
        raise typer.Exit(1)


def _installed() -> Iterator[tuple[Path, str]]:
    """The directory and the engine of each installed model."""
    for engine in ENGINES:
        for directory in installed(engine):
            yield directory, engine


def _find(name: str) -> Path:
    """The directory of a model, whatever its engine; raises BadModel."""
    for engine in ENGINES:
        with suppress(BadModel):
            return find_model(name, engine)
    names = ", ".join(dict.fromkeys(directory.name for directory, _ in _installed())) or "none"
    raise BadModel(f"no model {name!r} (installed: {names})")


def _describe(directory: Path, engine: str) -> dict[str, Any]:
    size = sum(path.stat().st_size for path in directory.iterdir() if path.is_file())
    known: dict[str, Any] = {"name": directory.name, "engine": engine, "directory": str(directory), "bytes": size}
    try:
        config = ModelConfig.load(directory, engine)
    except BadModel as error:
        return {**known, "error": str(error)}
    return {
        **known,
        "languages": list(config.languages),
        "licence": config.licence,
        "marks": [*MARKS],
        "sha256": config.files.get(ENGINES[engine].weights, ""),
        # eval.json is the network's.
        "scores": scores(directory) if engine == NETWORK else {},
    }


def scores(directory: Path) -> dict[str, float]:
    """Micro-F1 over , . ? by evaluation set from the model's eval.json; {} without one."""
    try:
        report = json.loads((directory / "eval.json").read_text(encoding="utf-8"))
        return {name: float(figures["micro"]) for name, figures in report["sets"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _table(found: Sequence[Mapping[str, Any]]) -> Iterator[Parts]:
    """One line per model, in columns; the F1 is of the first evaluation set, which recipes list first as best known."""
    rows = [("model", "engine", "MB", "languages", "F1", "of")]
    for model in found:
        named, value = next(iter(model.get("scores", {}).items()), ("", None))
        figure = "" if value is None else f"{100 * value:.1f}"
        more = len(model.get("languages", ())) - _LANGUAGES
        codes = model.get("error") or " ".join([*model["languages"][:_LANGUAGES], *[f"+{more}"] * (more > 0)])
        rows.append((model["name"], model["engine"], f"{model['bytes'] / 1e6:.1f}", codes, figure, named))
    a, b, c, d, e, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for number, (name, engine, size, codes, figure, named) in enumerate(rows):
        rest = f"  {engine:{b}}  {size:>{c}}  {codes:{d}}  {figure:>{e}}  {named}".rstrip()
        yield [(f"{name:{a}}", FILE if number else HEADING), (rest, "" if number else HEADING)]
