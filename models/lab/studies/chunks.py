"""The effect of window, overlap and `min_words_cut`: the figure and tables of Nguyen et al. for our model.

    python -m models.lab.studies.chunks models/en --data ../shared/data > tests/benchmarks/results/chunks.json
    python -m models.lab.studies.chunks --draw docs/chunks.svg

Development texts only: the beginning of TED dev2012 and the held-out ends of training corpora. The model reads each
text once for every window and overlap; all cuts are then tried on the same probabilities.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word, pauses, turn_ends
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.metrics import Score, Value, figure
from cappunc_cli.features.evaluate.inputs import sources
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import Chunk, split
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import rewrite
from models.lab.heldout import heldout_words
from models.lab.presets import nguyen
from models.lab.recipe import LabRecipe
from tests.benchmarks.measuring import RESULTS, head, identity, print_report

RESULT = RESULTS / "chunks.json"
TITLE, TED = "TED dev2012, cased", "en/eval/ted_dev2012_cased.txt.xz"
CORPORA = ("bitcoin", "fedspeech", "crd3", "earnings22", "strato")
#: Words in a window, and the shares of it that two windows have in common; the paper's is a half.
WINDOWS = (15, 30, 60, 120)
SHARES = ((0, 1), (1, 6), (1, 3), (1, 2))
#: Places of the cut within an overlap, in sixths of it from the end of the first window.
SIXTHS = (0, 1, 2, 3, 4, 5, 6)
#: The classes of the paper's tables; it leaves out lower case and no mark, which nearly every word has.
#: Line colours: overlaps, the first for none.
_SHADES = ("#777777", "#0072b2", "#d55e00", "#009e73")
SHOWN = {"U": "capital", ".": "period", ",": "comma", "?": "question"}


def cuts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Micro-F1 by `min_words_cut`: one panel per window length, one line per overlap.

    `rows` have `window`, `overlap`, `min_words_cut` and `micro`; no overlap is a horizontal line.
    """
    windows = sorted({row["window"] for row in rows})
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(windows) + 0.8, 3.2), layout="constrained")
    panels = [figure.add_subplot(1, len(windows), i + 1) for i in range(len(windows))]
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
    out = io.StringIO()
    # Text stays text: small, selectable, in the page's font. A fixed salt makes the output reproducible.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "cappunc", "font.family": "sans-serif"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def texts(recipe: LabRecipe, ted: int, each: int) -> Iterator[tuple[str, list[Word]]]:
    """Name and written words of every text."""
    talks = (word for source in sources([recipe.data / TED]) for word in source.words)
    yield TITLE, list(islice(talks, ted))
    for name in CORPORA:
        yield name, heldout_words(recipe, name, each)


def whole(words: Sequence[Word], model: Model, chunks: Sequence[Chunk]) -> list[Any]:
    """The rows of all words of every chunk, including those that its cuts would drop."""
    bare = [strip(word.text)[0] for word in words]
    uncut = [Chunk(chunk.start, chunk.stop) for chunk in chunks]
    return [*model.engine.predict(bare, pauses(words), turn_ends(words), uncut)]


def measured(documents: Sequence[tuple[str, list[Word]]], model: Model) -> Iterator[dict[str, Any]]:
    """F1, and precision and recall of the paper's classes, for every window, overlap and cut."""
    options = Options(existing="replace")
    bare = [[Word(strip(w.text)[0], w.start, w.end, turn=w.turn) for w in words] for _, words in documents]
    for window, (part, of) in ((window, share) for window in WINDOWS for share in SHARES):
        overlap = window * part // of
        pieces = [split(len(words), window, overlap) for words in bare]
        rows = [whole(words, model, chunks) for words, chunks in zip(bare, pieces, strict=True)]
        for cut in sorted({(overlap * sixth + 3) // 6 for sixth in SIXTHS}):
            samples = []
            for (name, written), words, found in zip(documents, bare, rows, strict=True):
                chunks = split(len(words), window, overlap, cut)
                table = np.concatenate([one.kept(rows) for one, rows in zip(chunks, found, strict=True)])
                samples.append(Sample(name, [w.text for w in written], rewrite(words, table, model, options)))
            result = Evaluation(samples)
            classes = nguyen(result)
            yield {
                "window": window,
                "overlap": overlap,
                "min_words_cut": cut,
                **{key: round(float(figure(result.scores[key])), 5) for key in ("micro", "macro", "boundary", "case")},
                "classes": {
                    name: [round(float(part), 5) for part in figures(classes[symbol])] for symbol, name in SHOWN.items()
                },
                TITLE: round(float(figure(Evaluation(samples[:1]).scores["micro"])), 5),
            }


def figures(value: Value) -> tuple[Any, Any, Any]:
    """Precision, recall and F1 of a class."""
    assert isinstance(value, Score)
    return value.precision, value.recall, value.f1


def main() -> None:
    """Write the json to standard output, or the picture of the json that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="?", help="model directory with its train.toml")
    parser.add_argument("--data", type=Path, help="where the texts lie, if not where the recipe says")
    parser.add_argument("--words", type=int, default=12_000, help="words of TED, and of all corpora together")
    parser.add_argument("--draw", type=Path, metavar="SVG", help=f"draw {RESULT.name} instead")
    arguments = parser.parse_args()
    if arguments.draw:
        arguments.draw.write_text(cuts(json.loads(RESULT.read_text("utf-8"))["rows"]), "utf-8")
        return
    if arguments.model is None:
        parser.error("which model?")
    recipe = LabRecipe.load(arguments.model / "train.toml")
    if arguments.data:
        recipe = replace(recipe, data=arguments.data)
    model = load_model(str(arguments.model))
    documents = list(texts(recipe, arguments.words, arguments.words // len(CORPORA)))
    rows = []
    for row in measured(documents, model):
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    config = model.config
    report = {
        **head(arguments.data),
        "model": identity(config),
        "texts": {name: len(words) for name, words in documents},
        "shipped": [config.window, config.overlap, config.min_words_cut],
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
