"""Find installed models, and verify their files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cappunc_cli.errors import BadModel, UnknownModel
from cappunc_cli.languages import language
from cappunc_cli.restoration.model.config import ModelConfig, Transitions
from cappunc_cli.restoration.model.engines import ENGINES, NETWORK, EngineSpec
from cappunc_cli.transcript.labels import PairedMark, fold

__all__ = [
    "ModelConfig",
    "Transitions",
    "find_member",
    "find_model",
    "find_model_for",
    "installed",
    "languages_with",
    "model_languages",
    "read_lexicon",
    "verify_model",
]


def installed(engine: EngineSpec = ENGINES[NETWORK]) -> list[Path]:
    """Every directory with a model for an engine.

    Directories in CAPPUNC_MODELS come before the package's own; of two models of one name the first one counts.
    """
    package = Path(__file__).parents[2]
    user = [Path(part) for part in os.environ.get("CAPPUNC_MODELS", "").split(os.pathsep) if part]
    found: dict[str, Path] = {}
    for root in (*user, package / "_models", package.parent / "models"):
        for path in sorted(root.glob(f"*/{engine.config}")):
            found.setdefault(path.parent.name, path.parent)
    return list(found.values())


def find_model(name_or_dir: str, engine: EngineSpec = ENGINES[NETWORK]) -> Path:
    """The directory of a model, given its name or path; raises UnknownModel."""
    for path in installed(engine):
        if path.name == name_or_dir:
            return path
    path = Path(name_or_dir)
    if name_or_dir and (path / engine.config).is_file():
        return path
    names = ", ".join(path.name for path in installed(engine)) or "none"
    raise UnknownModel(f"no model {name_or_dir!r} (installed: {names})")


def find_member(directory: Path, name: str) -> Path:
    """The directory of a model in the ensemble of that in `directory`: beside it or installed; raises UnknownModel."""
    beside = directory.parent / name
    return beside if (beside / ENGINES[NETWORK].config).is_file() else find_model(name)


def model_languages(engine: EngineSpec = ENGINES[NETWORK]) -> list[str]:
    """The codes of all languages that have a model, sorted."""
    return sorted({code for config in _configs(engine).values() for code in config.languages})


def languages_with(mark: PairedMark) -> list[str]:
    """The codes of all languages for which a model of any engine restores a paired mark, sorted."""
    known = [config for engine in ENGINES.values() for config in _configs(engine).values()]
    return sorted({code for config in known if mark in config.around for code in config.languages})


def find_model_for(code: str, engine: EngineSpec = ENGINES[NETWORK], *, fast: bool = False) -> Path:
    """The directory of the model for a language, preferably one for that language alone; raises UnknownModel.

    `fast` chooses between the fast and the best model of a language that has both.
    """
    found = _configs(engine)
    fitting = [path for path, config in found.items() if code in config.languages]
    if not fitting:
        known = ", ".join(model_languages(engine)) or "none"
        raise UnknownModel(f"no model for {language(code).name} (languages: {known})")
    return min(fitting, key=lambda path: (found[path].fast != fast, len(found[path].languages), path.name != code))


def _configs(engine: EngineSpec) -> dict[Path, ModelConfig]:
    found = {}
    for path in installed(engine):
        try:
            found[path] = ModelConfig.load(path, engine.config)
        except BadModel:
            continue  # `cappunc models` reports it
    return found


def verify_model(directory: Path) -> None:
    """Check the SHA-256 of every file that the configs in a directory list; raises BadModel."""
    configs = [engine.config for engine in ENGINES.values() if (directory / engine.config).is_file()]
    for config in configs or [ENGINES[NETWORK].config]:
        _verify(directory, config)


def _verify(directory: Path, config: str) -> None:
    files = ModelConfig.load(directory, config).files
    if not files:
        raise BadModel(f"{config} lists no files to verify", str(directory))
    for name, expected in files.items():
        path = directory / name
        try:
            with path.open("rb") as stream:
                actual = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise BadModel(f"cannot be read ({error.strerror})", str(path)) from error
        if actual != expected:
            raise BadModel(f"is not the file that {config} describes (SHA-256 {actual})", str(path))


def read_lexicon(directory: Path) -> dict[str, str]:
    """Map mixed-case words and acronyms, bare, to their forms in lexicon.txt (one a line); {} without the file."""
    path = directory / "lexicon.txt"
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    forms: dict[str, str] = {}
    for bare, form in zip(fold(text).splitlines(), text.splitlines(), strict=True):
        forms.setdefault(bare.strip(), form.strip())
    return forms
