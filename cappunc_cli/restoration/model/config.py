"""config.json of a model: what its outputs mean and how a text is cut for it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.chunks import check
from cappunc_cli.restoration.model.engines import ENGINES, NETWORK
from cappunc_cli.transcript.labels import MARKS, Case, PairedMark

T = TypeVar("T")

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
    def load(directory: Path, name: str = ENGINES[NETWORK].config) -> ModelConfig:
        """Read and check the config `name` of a model directory; raises BadModel."""
        path = directory / name
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadModel(f"no readable {name} ({error.strerror})", str(directory)) from error
        except ValueError as error:
            raise BadModel(f"not JSON: {error}", str(path)) from error
        if not isinstance(values, dict):
            raise BadModel(f"{name} must hold an object", str(path))
        try:
            return _parse(values)
        except BadModel as error:
            raise BadModel(error.message, str(path)) from error


def _parse(values: dict[str, object]) -> ModelConfig:
    cases = _get(values, "cases", _strings)
    if unknown := [c for c in cases if c not in list(Case)]:
        raise BadModel(f"cases: unknown {unknown[0]!r}")
    marks = _get(values, "marks", _strings)
    if unknown := [m for m in marks if m and (len(m) != 1 or m not in MARKS)]:
        raise BadModel(f"marks: unknown {unknown[0]!r}")
    around = _get(values, "around", _strings, [])
    if unknown := [m for m in around if m not in list(PairedMark)]:
        raise BadModel(f"around: unknown {unknown[0]!r}")
    if (PairedMark.OPEN_QUOTE in around) != (PairedMark.CLOSE_QUOTE in around):
        raise BadModel("around: a quotation opens and closes; both quotes or none")
    for name, labels, needed in (
        ("cases", cases, ("lower", "capital")),
        ("marks", marks, ("",)),
        ("around", around, ()),
    ):
        if len(set(labels)) != len(labels):
            raise BadModel(f"{name}: a label twice")
        if missing := [label for label in needed if label not in labels]:
            raise BadModel(f"{name}: {missing[0]!r} is missing")
    bins = _get(values, "pause_bins_ms", _integers)
    if list(bins) != sorted(set(bins)):
        raise BadModel("pause_bins_ms: the edges must ascend")
    bias = _get(values, "bias", _numbers_by_name, {})
    if unknown := [m for m in bias if m not in (*marks, *around)]:
        raise BadModel(f"bias: {unknown[0]!r} is no mark of this model")
    config = ModelConfig(
        name=_get(values, "name", _string),
        languages=_get(values, "languages", _strings),
        licence=_get(values, "licence", _string, ""),
        cases=tuple(Case(c) for c in cases),
        marks=marks,
        window=_get(values, "window", _integer),
        overlap=_get(values, "overlap", _integer),
        min_words_cut=_get(values, "min_words_cut", _integer),
        max_pieces=_get(values, "max_pieces", _integer),
        pause_bins_ms=bins,
        bias=bias,
        crf=_transitions(values.get("crf"), len(marks)),
        consistency=_get(values, "consistency", _number, 0.0),
        end_share=_get(values, "end_share", _number, 0.15),
        around=tuple(PairedMark(m) for m in around),
        files=_get(values, "files", _strings_by_name, {}),
        version=_get(values, "version", _string, "1"),
        fast=_get(values, "fast", _boolean, False),
    )
    if not config.languages:
        raise BadModel("languages: none named")
    if not 0 <= config.consistency <= 1:
        raise BadModel("consistency: must be between 0 and 1")
    if config.max_pieces < _FEWEST_PIECES:
        raise BadModel(f"max_pieces: must be at least {_FEWEST_PIECES}")
    _check_windows(config)
    return config


def _check_windows(config: ModelConfig) -> None:
    try:
        check(config.window, config.overlap, config.min_words_cut)
    except CappuncError as error:
        raise BadModel(error.message) from error


_REQUIRED = object()


def _get(values: dict[str, object], name: str, parse: Callable[[object], T], default: object = _REQUIRED) -> T:
    if name not in values:
        if default is _REQUIRED:
            raise BadModel(f"{name} is missing")
        return parse(default)
    try:
        return parse(values[name])
    except TypeError as error:
        raise BadModel(f"{name}: must be {error}") from None


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number")
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError("a number")
    return float(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return value


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("an object")
    return value


def _strings(value: object) -> tuple[str, ...]:
    return tuple(_string(item) for item in _list(value))


def _integers(value: object) -> tuple[int, ...]:
    return tuple(_integer(item) for item in _list(value))


def _numbers(value: object) -> tuple[float, ...]:
    return tuple(_number(item) for item in _list(value))


def _numbers_by_name(value: object) -> dict[str, float]:
    return {name: _number(item) for name, item in _object(value).items()}


def _strings_by_name(value: object) -> dict[str, str]:
    return {name: _string(item) for name, item in _object(value).items()}


def _transitions(value: object, size: int) -> Transitions | None:
    if value is None:
        return None
    try:
        parts = _object(value)
        crf = Transitions(
            tuple(_numbers(row) for row in _list(parts.get("transitions"))),
            _numbers(parts.get("start")),
            _numbers(parts.get("end")),
        )
    except TypeError as error:
        raise BadModel(f"crf: must be {error}") from None
    lengths = {len(crf.transitions), len(crf.start), len(crf.end), *(len(row) for row in crf.transitions)}
    if lengths != {size}:
        raise BadModel(f"crf: every row must have one number for each of the {size} marks")
    return crf
