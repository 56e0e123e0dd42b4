"""The plots of the report as SVG text; they need the extra [report]."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from cappunc_cli.evaluation.calibration import Bin, Curve
from cappunc_cli.evaluation.metrics import NAMES, Score
from cappunc_cli.evaluation.sweep import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {",": "#0072b2", ".": "#d55e00", "?": "#009e73"}  # distinguishable for colour-blind readers
_SHADES = ("#777777", "#0072b2", "#d55e00", "#009e73")


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        _load()
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure, (axes,) = _panels(width, height, 1)
    return figure, axes


def _panels(width: float, height: float, count: int) -> tuple[Figure, list[Axes]]:
    _load()
    from matplotlib.figure import Figure

    # Not pyplot: it keeps a reference to every figure and may need a display.
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [figure.add_subplot(1, count, i + 1) for i in range(count)]


@cache
def _load() -> None:
    """Import matplotlib without letting it cache its list of fonts in the user's home, unless MPLCONFIGDIR is set."""
    named = os.environ.get("MPLCONFIGDIR")
    with TemporaryDirectory() as folder:
        os.environ["MPLCONFIGDIR"] = named or folder
        try:
            import matplotlib.font_manager  # noqa: F401 (builds the list)
        finally:
            if named is None:
                del os.environ["MPLCONFIGDIR"]
            else:
                os.environ["MPLCONFIGDIR"] = named


def _svg(figure: Figure) -> str:
    import matplotlib

    out = io.StringIO()
    # Text stays text: small, selectable, in the page's font. A fixed salt makes the output reproducible.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cappunc", "font.family": "sans-serif"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = out.getvalue()
    # In the colours of the page, which may be dark.
    return text[text.index("<svg") :].replace("#000000", "currentColor")


def confusion(matrix: Mapping[str, Mapping[str, int]]) -> str:
    """The confusion matrix: reference marks in rows, hypothesis marks in columns, shaded by their share of the row."""
    names = [a for a in matrix if any(matrix[a].values()) or any(row[a] for row in matrix.values())]
    counts = np.array([[matrix[a][b] for b in names] for a in names])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = 1.9 + 0.6 * len(names)
    figure, axes = _figure(size, size)
    # Draw the cells as shapes: imshow would embed a PNG.
    axes.pcolormesh(np.arange(-0.5, len(names)), np.arange(-0.5, len(names)), shares, cmap="Oranges", vmin=0, vmax=1)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    titles = [NAMES.get(name, "none") for name in names]
    axes.set_xticks(range(len(names)), titles, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), titles)
    axes.set_xlabel("hypothesis")
    axes.set_ylabel("reference")
    for i, j in np.ndindex(counts.shape):
        ink = "white" if shares[i, j] > 0.5 else "#222222"
        axes.text(j, i, _short(int(counts[i, j])), ha="center", va="center", color=ink, fontsize=9)
    return _svg(figure)


def _short(count: int) -> str:
    return f"{count / 1e6:.1f}M" if count >= 1e6 else f"{count / 1e3:.0f}k" if count >= 1e4 else str(count)


def precision_recall(curves: Mapping[str, Curve], chosen: Mapping[str, Score]) -> str:
    """The precision-recall curve of each mark that has one, and the point of the hypothesis."""
    figure, axes = _figure(4.6, 4.2)
    for mark, colour in _COLOURS.items():
        label = NAMES[mark]
        if mark in curves:
            line = curves[mark]
            label += f" (area {100 * line.average_precision:.1f})"
            axes.step(line.recall, line.precision, where="pre", color=colour, label=label)
        if mark in chosen and int(chosen[mark].reference) > 0:
            at = float(chosen[mark].recall), float(chosen[mark].precision)
            axes.plot(*at, "o", color=colour, label=None if mark in curves else label)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="lower left")
    return _svg(figure)


def reliability(parts: Sequence[Bin]) -> str:
    """The reliability diagram: accuracy against probability."""
    figure, axes = _figure(4.6, 4.2)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--")
    axes.plot([p.confidence for p in parts], [p.accuracy for p in parts], "o-", color="#0072b2")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("probability")
    axes.set_ylabel("accuracy")
    axes.grid(alpha=0.3)
    return _svg(figure)


def sweep(name: str, points: Sequence[Point], suggested: Point) -> str:
    """F1 by the value of one option."""
    figure, axes = _figure(5.6, 3.8)
    values = [point.value for point in points]
    for score in points[0].scores:
        width = 2.2 if score == "micro" else 1.1
        axes.plot(values, [100 * p.scores[score] for p in points], "o-", markersize=3, linewidth=width, label=score)
    axes.axvline(suggested.value, color="grey", linestyle=":")
    axes.set_xlabel(name)
    axes.set_ylabel("F1")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return _svg(figure)


def cuts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Micro-F1 by `min_words_cut`: one panel per window length, one line per overlap.

    `rows` have `window`, `overlap`, `min_words_cut` and `micro`; no overlap is a horizontal line.
    """
    windows = sorted({row["window"] for row in rows})
    figure, panels = _panels(2.6 * len(windows) + 0.8, 3.2, len(windows))
    for axes, window in zip(panels, windows, strict=True):
        own = [row for row in rows if row["window"] == window]
        for overlap, colour in zip(sorted({row["overlap"] for row in own}), _SHADES, strict=False):
            line = sorted((row["min_words_cut"], 100 * row["micro"]) for row in own if row["overlap"] == overlap)
            if overlap:
                axes.plot(*zip(*line, strict=True), "o-", markersize=3, color=colour, label=f"{overlap} shared")
            else:
                axes.axhline(line[0][1], color=colour, linestyle="--", label="side by side")
        axes.set_title(f"windows of {window}", fontsize=10)
        axes.set_xlabel("min_words_cut")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    panels[0].set_ylabel("F1 of , . ? in per cent")
    low, high = (
        pick(axis) for pick, axis in zip((min, max), zip(*(a.get_ylim() for a in panels), strict=True), strict=True)
    )
    for axes in panels:
        axes.set_ylim(low, high)
    return _svg(figure)
