"""Find the installed models of each engine, read and check their configs, and verify their files.

config.json says what the outputs of a model mean and which windows it reads.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, QUOTE_PAIR, PairedMark
from cappunc_cli.errors import BadModel, CappuncError, UnknownModel, WrongUsage, nearest
from cappunc_cli.languages import CODE, LANGUAGES, UNSPACED, language


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Where an engine is implemented, and the files of its models.

    `engine` refers to the class, to be called with a model's directory and a device. A directory that has the file
    `config` has a model for the engine; `weights` is the file whose hash identifies the model.
    """

    engine: str
    config: str
    weights: str


#: The default engine.
NETWORK = "onnx"
#: The recurrent engine of live captions.
LIVE = "gru"
ENGINES: Mapping[str, EngineSpec] = {
    NETWORK: EngineSpec("cappunc_cli.restoration.models.network:OnnxEngine", "config.json", "model.onnx"),
    "ngram": EngineSpec("cappunc_cli.restoration.models.trigrams:NgramEngine", "ngram.json", "ngram.xz"),
    LIVE: EngineSpec("cappunc_cli.restoration.models.recurrent:GruEngine", "gru.json", "gru.onnx"),
}

#: Names in a model's graph. The inputs are [batch, pieces]; the mask is optional, and so are the lines.
MASK = "attention_mask"
LINES = "lines"
INPUTS = ("input_ids", MASK, "pauses", "turns", LINES)
#: Optional input [batch, words]: the pieces to compute outputs for, as indices into the flattened batch.
WANTED = "wanted"
OUTPUTS = ("case", "marks")
#: The third output of a model that restores paired marks.
AROUND = "around"
#: The relative position bias added to attention scores, [1, heads, pieces, pieces], of encoders that have one.
POSITION_BIAS = "position_bias"
#: The domain of onnxruntime's own operators.
MICROSOFT = "com.microsoft"

#: Numbers in a config are below this: no window or pause is as long, and numpy takes them.
_MOST = 1_000_000_000
#: The encoder must hold at least one word of `network.PIECES_PER_WORD` pieces and its two special pieces.
_FEWEST_PIECES = 32


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The config of a model: config.json, or the file that another engine has in its place.

    Its `cases` and `marks` must be CASE_CLASSES and MARK_CLASSES, which are the columns of the first two outputs.
    `around` are those of the third, which not every model has: paired marks, each independent of the others. `window`,
    `overlap` and `min_words_cut` are words; `max_pieces` counts subword pieces, [CLS] and [SEP] included.
    `pause_bins_ms` are ascending bin edges.

    Decoding adds `bias` to the log-probability of a mark, or to the log-odds of a paired one. The last word of a text
    ends a sentence if the model gives that a probability of at least `end_share`. `consistency` (0 to 1) is the share
    of the model's doubt about a capital that counts against a sentence end before it. `fast` marks the faster one of a
    language's two models. `ensemble` maps other models to their shares (0 to 1 in all) of the probabilities of texts in
    their languages. `files` maps file names to their SHA-256.
    """

    name: str
    languages: tuple[str, ...]
    window: int
    overlap: int
    min_words_cut: int
    max_pieces: int
    pause_bins_ms: tuple[int, ...]
    licence: str = ""
    bias: Mapping[str, float] = field(default_factory=dict)
    consistency: float = 0.0
    end_share: float = 0.15
    around: tuple[PairedMark, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    fast: bool = False
    ensemble: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def load(directory: Path, engine: str = NETWORK) -> ModelConfig:
        """Read and check the config for an engine in a model directory; raises BadModel."""
        path = directory / ENGINES[engine].config
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise BadModel("must be a JSON object")
            values = {key: value for key, value in values.items() if value is not None and key in _FIELDS}
            if missing := [key for key in _FIELDS if key not in values and key not in _OPTIONAL]:
                raise BadModel(f"{missing[0]} is missing")
            settings = {key: _typed(key, value, _FIELDS[key]) for key, value in values.items()}
            for key, known in (("cases", CASE_CLASSES), ("marks", MARK_CLASSES)):
                if settings.pop(key) != known:
                    raise BadModel(f"{key}: must be {json.dumps(known, ensure_ascii=False)}")
            if unknown := set(settings.get("around", ())) - {*PairedMark}:
                raise BadModel(f"around: unknown {min(unknown)!r}")
            settings["around"] = tuple(map(PairedMark, settings.get("around", ())))
            config = ModelConfig(**settings)
            unknown = {*config.bias} - {*MARK_CLASSES, *config.around}
            bins, shares = [*config.pause_bins_ms], config.ensemble.values()
            for wrong, message in (
                (len({*config.around}) < len(config.around), "around: a label is listed twice"),
                (len(QUOTE_PAIR & {*config.around}) == 1, "around: must name both quotation marks or none"),
                (bins != sorted({*bins}), "pause_bins_ms: must be in ascending order"),
                (unknown, f"bias: {min(unknown, default='')!r} is no mark of this model"),
                (not config.languages, "languages: must name at least one"),
                (not 0 <= config.consistency <= 1, "consistency: must be between 0 and 1"),
                (
                    any(Path(name).name != name or name in ("", "..") for name in config.ensemble),
                    "ensemble: names no folders",
                ),
                (min(shares, default=0) < 0, "ensemble: shares must be at least 0"),
                (sum(shares) > 1, "ensemble: shares must be at most 1 in all"),
                (config.max_pieces < _FEWEST_PIECES, f"max_pieces: must be at least {_FEWEST_PIECES}"),
            ):
                if wrong:
                    raise BadModel(message)
            config.windows(config)
            return config
        except OSError as error:
            raise BadModel(f"no readable {path.name} ({error.strerror})", str(directory)) from error
        except CappuncError as error:
            raise BadModel(error.message, str(path)) from error
        except (ValueError, RecursionError) as error:
            raise BadModel(f"not JSON: {error}", str(path)) from error

    def windows(self, given: Any) -> tuple[int, int, int]:
        """(window, overlap, min_words_cut) of `given` options or a config; None stands for the model's own, scaled.

        Raises WrongUsage unless windows of these sizes cover every word.
        """
        window = self.window if given.window is None else given.window
        overlap = min(self.overlap, max(window, 1) // 2) if given.overlap is None else given.overlap
        cut = given.min_words_cut
        if cut is None:
            cut = overlap * self.min_words_cut // max(self.overlap, 1)
        if window < 1:
            raise WrongUsage(f"the window must be at least 1 word, not {window}")
        if not 0 <= overlap < window:
            raise WrongUsage(f"the overlap must be from 0 to {window - 1} words (less than the window), not {overlap}")
        if not 0 <= cut <= overlap:
            raise WrongUsage(f"the words cut must be from 0 to {overlap} (at most the overlap), not {cut}")
        return window, overlap, cut


#: The names of types in error messages.
_TYPE_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
#: The types of the fields; lists and objects have that of their items.
_FIELDS: dict[str, Any] = {
    "cases": [str], "marks": [str], "name": str, "languages": [str], "licence": str, "window": int, "overlap": int,
    "min_words_cut": int, "max_pieces": int, "pause_bins_ms": [int], "bias": {str: float}, "consistency": float,
    "end_share": float, "around": [str], "files": {str: str}, "fast": bool, "ensemble": {str: float},
}  # fmt: skip
_OPTIONAL = {f.name for f in fields(ModelConfig) if {f.default, f.default_factory} != {MISSING}}


def _typed(key: str, value: Any, kind: Any) -> Any:
    """The value of a field of config.json, a tuple if it is a list; raises BadModel unless it is of its `kind`."""
    plain = kind if isinstance(kind, type) else type(kind)
    # JSON's own types, so that `true` is no number.
    if type(value) is not plain and (plain, type(value)) != (float, int):
        raise BadModel(f"{key}: must be {_TYPE_NAMES[plain]}")
    if plain is list:
        return tuple(_typed(key, item, kind[0]) for item in value)
    if plain is dict:
        return {name: _typed(key, item, kind[str]) for name, item in value.items()}
    if plain in (int, float) and not abs(value) < _MOST:  # true for NaN, too
        raise BadModel(f"{key}: must be below {_MOST:,}")
    return plain(value)


def installed(engine: str = NETWORK) -> list[Path]:
    """Every directory with a model for an engine.

    Directories in CAPPUNC_MODELS come before the package's own; of two models of one name the first one counts.
    """
    user = [Path(part) for part in os.environ.get("CAPPUNC_MODELS", "").split(os.pathsep) if part]
    directories: dict[str, Path] = {}
    for root in (*user, *model_folders(Path(__file__).parents[2])):
        for path in sorted(root.glob(f"*/{ENGINES[engine].config}")):
            directories.setdefault(path.parent.name, path.parent)
    return list(directories.values())


def model_folders(package: Path) -> list[Path]:
    """The folders with the models of an installed `package`: its own, or else those of model wheels beside it.

    A model wheel names its package as an entry point in the group `cappunc.models`.
    """
    own = [folder for folder in (package / "_models", package.parent / "models") if folder.is_dir()]
    if own:
        return own
    from importlib.metadata import entry_points  # slow to load, and an ordinary installation does not need it

    specs = [find_spec(entry.module) for entry in entry_points(group="cappunc.models")]
    return [Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ()]


def find_model(name_or_dir: str, engine: str = NETWORK) -> Path:
    """The directory of a model, given its name or path; raises UnknownModel."""
    known = {path.name: path for path in installed(engine)}
    path = known.get(name_or_dir, Path(name_or_dir))
    if name_or_dir and (path / ENGINES[engine].config).is_file():
        return path
    installed_ = f"installed: {', '.join(known) or 'none'}"
    raise UnknownModel(f"no model {name_or_dir!r}{nearest(name_or_dir, known) or f' ({installed_})'}")


def find_member(directory: Path, name: str) -> Path:
    """The directory of a model in the ensemble of that in `directory`: beside it or installed; raises UnknownModel."""
    beside = directory.resolve().parent / name
    if (beside / ENGINES[NETWORK].config).is_file():
        return beside
    if found := [path for path in installed() if path.name == name]:
        return found[0]
    raise UnknownModel(f"ensemble: no model {name!r} beside it or installed", str(directory))


def model_languages(*engines: str) -> list[str]:
    """The codes of all languages that have a model of these engines, or of any, sorted."""
    configs = [config for engine in engines or ENGINES for config in _configs(engine).values()]
    return sorted({code for config in configs for code in config.languages})


def find_model_for(code: str, engine: str = NETWORK, *, fast: bool = False) -> Path:
    """The directory of the model for a language, preferably one for that language alone.

    `fast` chooses between the fast and the best model of a language that has both. Raises UnknownModel, which says how
    to get a model for the language.
    """
    configs = _configs(engine)
    if fitting := [path for path, config in configs.items() if code in config.languages]:
        return min(fitting, key=lambda at: (configs[at].fast != fast, len(configs[at].languages), at.name != code))
    hint = f"; train one with cappunc train --lang {code} TEXT -o DIR, or use another with --model NAME"
    if others := [name for name in ENGINES if code in model_languages(name)]:
        hint = f"; --engine {others[0]} has one"
    elif code in UNSPACED or not CODE.fullmatch(code):
        hint = ""
    known = ", ".join(model_languages(engine)) or "none"
    meant = nearest(code, LANGUAGES.values())
    raise UnknownModel(f"no model for {language(code).name}{meant} (languages: {known}){hint}")


def _configs(engine: str) -> dict[Path, ModelConfig]:
    configs = {}
    for path in installed(engine):
        with suppress(BadModel):  # `cappunc models` reports it
            configs[path] = ModelConfig.load(path, engine)
    return configs


def verify_model(directory: Path) -> None:
    """Check the SHA-256 of every file that the configs in a directory list; raises BadModel."""
    engines = [engine for engine, spec in ENGINES.items() if (directory / spec.config).is_file()]
    for engine in engines or [NETWORK]:
        config, files = ENGINES[engine].config, ModelConfig.load(directory, engine).files
        if not files:
            raise BadModel(f"{config} lists no files to verify", str(directory))
        for name, expected in files.items():
            path = directory / name
            if Path(name).name != name or not path.is_file():  # a pipe or /dev/zero would never end
                raise BadModel(f"{config} lists a file that is not in the folder: {name!r}", str(directory))
            try:
                with path.open("rb") as stream:
                    actual = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise BadModel(f"cannot be read ({error.strerror})", str(path)) from error
            if actual != expected:
                raise BadModel(f"is not the file that {config} describes (SHA-256 {actual})", str(path))
