"""config.json of a model: what its outputs mean and how a text is cut for it."""

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

#: The encoder must at least hold one capped word between its two special pieces.
_FEWEST_PIECES = 32


@dataclass(frozen=True, slots=True)
class Transitions:
    """Linear-chain scores (nats): [from][to] between marks, and at both ends; order of `marks`."""

    transitions: tuple[tuple[float, ...], ...]
    start: tuple[float, ...]
    end: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """config.json of a model directory, or what another engine has in its place.

    `cases` and `marks` name the columns of the two outputs in their order, `around` those of
    the third, which not every model has: marks that stand beside the one of `marks`, each
    independent of the others. `window`, `overlap` and `min_words_cut` are words; `max_pieces`
    counts subword pieces with [CLS] and [SEP]. `pause_bins_ms` are ascending edges. `bias` is
    added to the log-probability of a mark, to the log-odds of one of `around`. A text's last
    word ends a sentence if the model holds that at least as likely as `end_share`.
    `consistency` (0 to 1) is how much of its doubt about a capital a sentence end before it
    costs. `fast` marks the model of a language that reads many times as fast as the best one.
    `files` maps file names to SHA-256.
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

    @staticmethod
    def load(directory: Path, name: str = "config.json") -> ModelConfig:
        """Read and check the config `name` of a model directory; raises BadModel."""
        path = directory / name
        try:
            return _parsed(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadModel(f"no readable {name} ({error.strerror})", str(directory)) from error
        except CappuncError as error:
            raise BadModel(error.message, str(path)) from error
        except ValueError as error:
            raise BadModel(f"not JSON: {error}", str(path)) from error


#: How a message calls a type.
_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
#: The fields of the file: a type, a list of one, or an object of one.
_FIELDS: dict[str, Any] = {
    "cases": [str], "marks": [str], "name": str, "languages": [str], "licence": str, "window": int, "overlap": int,
    "min_words_cut": int, "max_pieces": int, "pause_bins_ms": [int], "bias": {str: float}, "consistency": float,
    "end_share": float, "around": [str], "files": {str: str}, "version": str, "fast": bool,
}  # fmt: skip
_OPTIONAL = {"licence"} | {f.name for f in fields(ModelConfig) if {f.default, f.default_factory} != {MISSING}}


@lru_cache(maxsize=64)
def _parsed(text: str) -> ModelConfig:
    """The config that a file holds; whoever looks for a model's language reads them all, and one of them again."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise BadModel("it must hold an object")
    if missing := [name for name in _FIELDS if name not in values and name not in _OPTIONAL]:
        raise BadModel(f"{missing[0]} is missing")
    found: dict[str, Any] = {"licence": ""}
    for name in [*_FIELDS, "crf"]:
        try:
            if name == "crf" and values.get("crf") is not None:
                parts = _checked(values["crf"], dict)
                found["crf"] = Transitions(
                    _checked(parts.get("transitions"), [[float]]),
                    _checked(parts.get("start"), [float]),
                    _checked(parts.get("end"), [float]),
                )
            elif name in values and name != "crf":
                found[name] = _checked(values[name], _FIELDS[name])
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
    _check(config)
    return config


def _checked(value: Any, kind: Any) -> Any:
    """The value, a tuple for a list; raises TypeError, which names the `kind` that it must be."""
    outer = kind if isinstance(kind, type) else type(kind)
    right = isinstance(value, int | float) and math.isfinite(value) if outer is float else isinstance(value, outer)
    if not right or (isinstance(value, bool) and outer is not bool):
        raise TypeError(_NAMES[outer])
    if isinstance(kind, list):
        return tuple([_checked(item, kind[0]) for item in value])
    if isinstance(kind, dict):
        return {name: _checked(item, kind[str]) for name, item in value.items()}
    return float(value) if outer is float else value


def _check(config: ModelConfig) -> None:
    """Raises BadModel or WrongUsage where values do not go together."""
    if (PairedMark.OPEN_QUOTE in config.around) != (PairedMark.CLOSE_QUOTE in config.around):
        raise BadModel("around: a quotation opens and closes; both quotes or none")
    for name, labels, needed in (
        ("cases", config.cases, ("lower", "capital")),
        ("marks", config.marks, ("",)),
        ("around", config.around, ()),
    ):
        if len(set(labels)) != len(labels):
            raise BadModel(f"{name}: a label twice")
        if missing := [label for label in needed if label not in labels]:
            raise BadModel(f"{name}: {missing[0]!r} is missing")
    if list(config.pause_bins_ms) != sorted(set(config.pause_bins_ms)):
        raise BadModel("pause_bins_ms: the edges must ascend")
    if unknown := [m for m in config.bias if m not in (*config.marks, *config.around)]:
        raise BadModel(f"bias: {unknown[0]!r} is no mark of this model")
    if not config.languages:
        raise BadModel("languages: none named")
    if not 0 <= config.consistency <= 1:
        raise BadModel("consistency: must be between 0 and 1")
    if config.max_pieces < _FEWEST_PIECES:
        raise BadModel(f"max_pieces: must be at least {_FEWEST_PIECES}")
    if (crf := config.crf) is not None:
        lengths = {len(crf.transitions), len(crf.start), len(crf.end), *(len(row) for row in crf.transitions)}
        if lengths != {len(config.marks)}:
            raise BadModel(f"crf: every row must have one number for each of the {len(config.marks)} marks")
    check(config.window, config.overlap, config.min_words_cut)
