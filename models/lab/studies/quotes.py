"""Precision and recall of restored quotation marks, as pairs.

    python -m models.lab.studies.quotes --data ../shared/data             the evaluation sets, results/quotes.json
    python -m models.lab.studies.quotes --data ../shared/data --curve     the held-out ends, by the lowest probability

A pair is right if its first and last word are. The rule for pairs that might be added by default is chosen on the
curve, on held-out ends of training corpora with quotations, never on the evaluation sets.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cappunc_cli import formats
from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, QUOTE_PAIR, PairedMark, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite
from models.lab.heldout import heldout_words
from models.lab.recipe import LabRecipe
from tests.benchmarks.measuring import RESULTS, digest, head, options_with_data

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.network import Rows

RESULT = RESULTS / "quotes.json"
#: Evaluation sets of English with quotation marks.
SETS = ("podcast", "ted", "news", "wiki")
_FEWEST = 5
#: Words of a held-out end.
_WORDS = 16_000
#: Chosen on the curve: the least probability of both marks of a pair that might be added by default.
_CHOSEN = 0.6
_RIVAL_NATS = 3.0
_LEAST = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

Pairs = set[tuple[int, int]]


def pairs_of(texts: Iterable[str]) -> Pairs:
    """The first and last word of each quotation that is closed before another one is opened."""
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


def ends(recipe: LabRecipe) -> Iterator[tuple[str, list[Word]]]:
    """Held-out ends in which there are quotations."""
    for name in recipe.corpora:
        words = heldout_words(recipe, name, _WORDS)
        if len(pairs_of(word.text for word in words)) >= _FEWEST:
            yield name, words


def asked_for(words: Sequence[Word], rows: Rows, model: Model, bias: float = 0.0) -> Pairs:
    """The pairs that are written if `--marks` asks for them, with `bias` nats added to both marks."""
    likelier = {**model.config.bias, **{mark.value: bias for mark in QUOTE_PAIR}}
    biased = replace(model, config=replace(model.config, bias=likelier))
    return pairs_of(rewrite(bare(words), rows, biased, Options(marks="".join(MARK_CLASSES) + "“”")))


def surest(words: Sequence[Word], rows: Rows, model: Model, least: float) -> Pairs:
    """The pairs that might be added by default: both marks together are probable, and no other mark competes with them.

    A competing mark is one that would split or extend the quotation if quotation marks were 20 times as likely.
    """
    around = len(CASE_CLASSES) + len(MARK_CLASSES)
    opening, closing = (rows[:, around + model.config.around.index(mark)] for mark in sorted(QUOTE_PAIR))
    pairs = asked_for(words, rows, model, _RIVAL_NATS)
    return {(first, last) for first, last in pairs if opening[first] * closing[last] >= least}


def curve(model: Model, recipe: LabRecipe) -> dict[str, Any]:
    """The surest pairs of the held-out ends, by the lowest probability of both marks."""
    read = [(name, words, probabilities(bare(words), model)) for name, words in ends(recipe)]
    theirs = [pairs_of(word.text for word in words) for _, words, _ in read]
    found: dict[str, Any] = {}
    for least in _LEAST:
        ours = [surest(words, rows, model, least) for _, words, rows in read]
        parts = {name: row([a], [b]) for (name, _, _), a, b in zip(read, ours, theirs, strict=True)}
        for name, second in (("first half", False), ("second half", True)):
            parts[name] = row(
                *(
                    [of_half(pairs, len(text[1]), second) for pairs, text in zip(some, read, strict=True)]
                    for some in (ours, theirs)
                )
            )
        found[f"{least:.2f}"] = {"all": row(ours, theirs), **parts}
        print(f"{least:.2f}", found[f"{least:.2f}"]["all"], flush=True)
    return found


def of_half(pairs: Pairs, count: int, second: bool) -> Pairs:
    """The pairs that begin in the first or in the `second` half of a text of `count` words."""
    return {pair for pair in pairs if (pair[0] >= count // 2) == second}


def scored(model: Model, data: Path) -> dict[str, Any]:
    """Pairs of the evaluation sets: the surest, and those that `--marks` asks for."""
    found: dict[str, Any] = {}
    for name in SETS:
        with lzma.open(data / "en" / "eval" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            words = formats.read(file.read(), format="txt").words
        there = pairs_of(word.text for word in words)
        rows = probabilities(bare(words), model)
        found[name] = {
            "unasked": row([surest(words, rows, model, _CHOSEN)], [there]),
            "asked": row([asked_for(words, rows, model)], [there]),
        }
        print(name, found[name], flush=True)
    return found


def main() -> None:
    """Write one of the two parts of results/quotes.json."""
    parser = options_with_data(__doc__)
    parser.add_argument("--model", default="en")
    parser.add_argument("--curve", action="store_true")
    options = parser.parse_args()
    model = load_model(options.model)
    report = head(options.data) | {"model": digest(model.config)}
    if options.curve:
        recipe = LabRecipe.load(find_model(options.model) / "train.toml")
        part = {"held-out ends": report | {"by_least": curve(model, recipe)}}
    else:
        part = {"evaluation": report | {"sets": scored(model, options.data)}}
    old = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    RESULT.write_text(json.dumps(old | part, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
