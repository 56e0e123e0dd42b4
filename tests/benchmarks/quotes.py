"""Quotations: how many of those that are written stand where they stood, from their first word to their last.

    python tests/benchmarks/quotes.py --data ../shared/data             the evaluation sets, results/quotes.json
    python tests/benchmarks/quotes.py --data ../shared/data --curve     the held-out ends, by the bias of both marks

A pair is right where both its words are. The threshold is chosen on the curve, on the ends of the training corpora
that have quotations, never on the sets.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import head

from cappunc_cli import formats
from cappunc_cli.restoration.model.registry import find_model
from cappunc_cli.restoration.pipeline import Model, Options, load_model, probabilities, rewrite
from cappunc_cli.training.data.heldout import heldout_words
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.transcript.labels import QUOTE_PAIR, PairedMark, strip
from cappunc_cli.transcript.words import Word

RESULTS = Path(__file__).resolve().parent / "results" / "quotes.json"
#: Evaluation sets of English with quotation marks.
SETS = ("podcast", "ted", "news", "wiki")
_FEWEST = 5
_BIASES = tuple(half / 2 for half in range(-8, 3))

Pairs = set[tuple[int, int]]


def pairs_of(texts: Iterable[str]) -> Pairs:
    """First and last word of each quotation that is closed before another one is opened."""
    found: Pairs = set()
    opened: int | None = None
    for i, text in enumerate(texts):
        marks = strip(text)[1].paired
        if PairedMark.OPEN_QUOTE in marks:
            opened = i
        if PairedMark.CLOSE_QUOTE in marks and opened is not None:
            found.add((opened, i))
            opened = None
    return found


def bare(words: Sequence[Word]) -> list[Word]:
    """The words as a recogniser would write them."""
    return [replace(word, text=strip(word.text)[0].lower()) for word in words]


def row(ours: Sequence[Pairs], theirs: Sequence[Pairs]) -> dict[str, Any]:
    """Counts, precision and recall of pairs over some texts."""
    right = sum(len(a & b) for a, b in zip(ours, theirs, strict=True))
    written, there = sum(map(len, ours)), sum(map(len, theirs))
    shares = {"precision": right / max(written, 1), "recall": right / max(there, 1)}
    return {"there": there, "written": written, "right": right, **{k: round(100 * v, 1) for k, v in shares.items()}}


def ends(recipe: Recipe) -> Iterator[tuple[str, list[Word]]]:
    """Held-out ends in which there are quotations."""
    for name in recipe.corpora:
        words = heldout_words(recipe, name)
        if len(pairs_of(word.text for word in words)) >= _FEWEST:
            yield name, words


def with_bias(model: Model, bias: float) -> Model:
    marks = {mark.value: bias for mark in QUOTE_PAIR}
    return replace(model, config=replace(model.config, bias={**model.config.bias, **marks}))


def curve(model: Model, recipe: Recipe) -> dict[str, Any]:
    """Pairs of the held-out ends by bias."""
    read = [(name, words, probabilities(bare(words), model)) for name, words in ends(recipe)]
    found: dict[str, Any] = {}
    asked = Options(marks="".join(model.config.marks) + "“”")
    for bias in _BIASES:
        biased = with_bias(model, bias)
        ours = [pairs_of(rewrite(bare(words), rows, biased, asked)) for _, words, rows in read]
        theirs = [pairs_of(word.text for word in words) for _, words, _ in read]
        each = {name: row([a], [b]) for (name, _, _), a, b in zip(read, ours, theirs, strict=True)}
        found[f"{bias:+.1f}"] = {"all": row(ours, theirs), **each}
        print(f"{bias:+.1f}", found[f"{bias:+.1f}"]["all"], flush=True)
    return found


def scored(model: Model, data: Path) -> dict[str, Any]:
    """Pairs of the evaluation sets with the model as it is."""
    found: dict[str, Any] = {}
    for name in SETS:
        with lzma.open(data / "en" / "eval" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            words = formats.read(file.read(), format="txt").words
        asked = Options(marks="".join(model.config.marks) + "“”")
        ours = pairs_of(rewrite(bare(words), probabilities(bare(words), model), model, asked))
        found[name] = row([ours], [pairs_of(word.text for word in words)])
        print(name, found[name], flush=True)
    return found


def main() -> None:
    """Write one of the two parts of results/quotes.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="en")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--curve", action="store_true")
    options = parser.parse_args()
    model = load_model(options.model)
    report = head(options.data) | {"model": model.config.files["model.onnx"][:12]}
    if options.curve:
        part = {
            "held-out ends": report | {"by_bias": curve(model, Recipe.load(find_model(options.model) / "train.toml"))}
        }
    else:
        part = {"evaluation": report | {"sets": scored(model, options.data)}}
    old = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(old | part, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
