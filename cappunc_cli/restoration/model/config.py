"""config.json of a model: the meaning of its outputs and the windows that it reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.chunks import check
from cappunc_cli.transcript.labels import MARKS, Case, PairedMark

#: The encoder must hold at least one word of `pieces.PIECES_PER_WORD` pieces and its two special pieces.
_FEWEST_PIECES = 32


@dataclass(frozen=True, slots=True)
class Transitions:
    """Linear-chain CRF scores (nats) between marks, [from][to], and at both ends of a text, in the order of `marks`."""

    transitions: tuple[tuple[float, ...], ...]
    start: tuple[float, ...]
    end: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The config of a model: config.json, or the file that another engine has in its place.

    `cases` and `marks` name the columns of the first two outputs in order; `around` those of the third, which not
    every model has: paired marks, each independent of the others. `window`, `overlap` and `min_words_cut` are words;
    `max_pieces` counts subword pieces, [CLS] and [SEP] included. `pause_bins_ms` are ascending bin edges.

    Decoding adds `bias` to the log-probability of a mark, or to the log-odds of a paired one. The last word of a text
    ends a sentence if the model gives that a probability of at least `end_share`. `consistency` (0 to 1) is the share
    of the model's doubt about a capital that counts against a sentence end before it. `fast` marks the faster one of a
    language's two models. `ensemble` maps other models to their shares (0 to 1 in all) of the probabilities of texts in
    their languages. `files` maps file names to their SHA-256.
    """

    name: str
    languages: tuple[str, ...]
    licence: str
    cases: tuple[Case, ...]
    marks: tuple[str, ...]
    window: int
    overlap: int
    min_words_cut: int
    max_pieces: int
    pause_bins_ms: tuple[int, ...]
    bias: Mapping[str, float] = field(default_factory=dict)
    crf: Transitions | None = None
    consistency: float = 0.0
    end_share: float = 0.15
    around: tuple[PairedMark, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"
    fast: bool = False
    ensemble: Mapping[str, float] = field(default_factory=dict)

    @staticmethod
    def load(directory: Path, name: str = "config.json") -> ModelConfig:
        """Read and check the config `name` of a model directory; raises BadModel."""
        path = directory / name
        try:
            return _parse(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadModel(f"no readable {name} ({error.strerror})", str(directory)) from error
        except CappuncError as error:
            raise BadModel(error.message, str(path)) from error
        except ValueError as error:
            raise BadModel(f"not JSON: {error}", str(path)) from error


#: The names of types in error messages.
_TYPE_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
#: The types of the fields: a type, or a list or object of one.
_FIELDS: dict[str, Any] = {
    "cases": [str], "marks": [str], "name": str, "languages": [str], "licence": str, "window": int, "overlap": int,
    "min_words_cut": int, "max_pieces": int, "pause_bins_ms": [int], "bias": {str: float}, "consistency": float,
    "end_share": float, "around": [str], "files": {str: str}, "version": str, "fast": bool,
    "ensemble": {str: float},
}  # fmt: skip
_OPTIONAL = {"licence"} | {f.name for f in fields(ModelConfig) if {f.default, f.default_factory} != {MISSING}}


@lru_cache(maxsize=64)
def _parse(text: str) -> ModelConfig:
    """Parse and check a config; cached, because finding a model for a language parses all, and loading one again."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise BadModel("must be a JSON object")
    if missing := [name for name in _FIELDS if name not in values and name not in _OPTIONAL]:
        raise BadModel(f"{missing[0]} is missing")
    found: dict[str, Any] = {"licence": ""}
    for name in [*_FIELDS, "crf"]:
        try:
            if name == "crf" and values.get("crf") is not None:
                parts = _typed(values["crf"], dict)
                found["crf"] = Transitions(
                    _typed(parts.get("transitions"), [[float]]),
                    _typed(parts.get("start"), [float]),
                    _typed(parts.get("end"), [float]),
                )
            elif name in values and name != "crf":
                found[name] = _typed(values[name], _FIELDS[name])
        except TypeError as error:
            raise BadModel(f"{name}: must be {error}") from None
    if unknown := [c for c in found["cases"] if c not in list(Case)]:
        raise BadModel(f"cases: unknown {unknown[0]!r}")
    if unknown := [m for m in found["marks"] if m and (len(m) != 1 or m not in MARKS)]:
        raise BadModel(f"marks: unknown {unknown[0]!r}")
    if unknown := [m for m in found.get("around", ()) if m not in list(PairedMark)]:
        raise BadModel(f"around: unknown {unknown[0]!r}")
    found["cases"] = tuple(map(Case, found["cases"]))
    found["around"] = tuple(map(PairedMark, found.get("around", ())))
    config = ModelConfig(**found)
    _check_consistency(config)
    return config


def _typed(value: Any, kind: Any) -> Any:
    """The value, with tuples for lists; raises TypeError with the name of the expected type if it is not of `kind`."""
    outer = kind if isinstance(kind, type) else type(kind)
    fits = isinstance(value, int | float) and math.isfinite(value) if outer is float else isinstance(value, outer)
    if not fits or (isinstance(value, bool) and outer is not bool):
        raise TypeError(_TYPE_NAMES[outer])
    if isinstance(kind, list):
        return tuple([_typed(item, kind[0]) for item in value])
    if isinstance(kind, dict):
        return {name: _typed(item, kind[str]) for name, item in value.items()}
    return float(value) if outer is float else value


def _check_consistency(config: ModelConfig) -> None:
    """Raise BadModel or WrongUsage for values that contradict each other."""
    if (PairedMark.OPEN_QUOTE in config.around) != (PairedMark.CLOSE_QUOTE in config.around):
        raise BadModel("around: must name both quotation marks or none")
    for name, labels, needed in (
        ("cases", config.cases, ("lower", "capital")),
        ("marks", config.marks, ("",)),
        ("around", config.around, ()),
    ):
        if len(set(labels)) != len(labels):
            raise BadModel(f"{name}: a label is listed twice")
        if missing := [label for label in needed if label not in labels]:
            raise BadModel(f"{name}: {missing[0]!r} is missing")
    if list(config.pause_bins_ms) != sorted(set(config.pause_bins_ms)):
        raise BadModel("pause_bins_ms: must be in ascending order")
    if unknown := [m for m in config.bias if m not in (*config.marks, *config.around)]:
        raise BadModel(f"bias: {unknown[0]!r} is no mark of this model")
    if not config.languages:
        raise BadModel("languages: must name at least one")
    if not 0 <= config.consistency <= 1:
        raise BadModel("consistency: must be between 0 and 1")
    if min(config.ensemble.values(), default=0) < 0 or sum(config.ensemble.values()) > 1:
        raise BadModel("ensemble: shares must be at least 0, and at most 1 in all")
    if config.max_pieces < _FEWEST_PIECES:
        raise BadModel(f"max_pieces: must be at least {_FEWEST_PIECES}")
    if (crf := config.crf) is not None:
        lengths = {len(crf.transitions), len(crf.start), len(crf.end), *(len(row) for row in crf.transitions)}
        if lengths != {len(config.marks)}:
            raise BadModel(f"crf: every row must have one number for each of the {len(config.marks)} marks")
    check(config.window, config.overlap, config.min_words_cut)
