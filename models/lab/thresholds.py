"""Choose thresholds of the marks: biases on their log-probabilities that are best on the held-out ends.

    python -m models.lab.thresholds models/en/train.toml
    python -m models.lab.thresholds models/en/train.toml --mends changelog crd3 whpress sgd

For the best F1 of the marks, an unsure model predicts "no mark" too often; for an editor, to whom a superfluous mark is
as much work as a missing one (--mends), perhaps not. The biases are tried one after the other, that of no mark first,
then that of each mark; copy the result into `bias` of the recipe's [decoding] table. If corpora are named, only those
are used. Both measures are shown in either case, because what is best for one costs something in the other.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import MARK_CLASSES
from cappunc_cli.features.train.trainer import FOLDED, micro_f1
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.tuned import DASH_COST
from models.lab.heldout import HeldoutText, halves, texts_of
from models.lab.recipe import LabRecipe

logger = logging.getLogger(__name__)

_STEP, _REACH = 0.1, 2.5
#: Marks with fewer occurrences than this get no bias.
_FEWEST = 30


Goodness = Callable[[Sequence[HeldoutText], Sequence[str], Mapping[str, float]], float]


def goodness(texts: Sequence[HeldoutText], marks: Sequence[str], bias: Mapping[str, float]) -> float:
    """Mean of the micro-F1 over , . ? and of that over all marks."""
    best = np.concatenate([_best(text, marks, bias) for text in texts])
    gold = np.concatenate([text.gold for text in texts])
    return (micro_f1(FOLDED[best], FOLDED[gold]) + micro_f1(best, gold)) / 2


def right_marks(texts: Sequence[HeldoutText], marks: Sequence[str], bias: Mapping[str, float]) -> float:
    """The share of the words behind which an editor mends nothing: each wrong mark is one mend, whatever it is."""
    wrong = sum(int((_best(text, marks, bias) != text.gold).sum()) for text in texts)
    return 1 - wrong / max(sum(len(text.gold) for text in texts), 1)


def _best(text: HeldoutText, marks: Sequence[str], bias: Mapping[str, float]) -> NDArray[np.intp]:
    best: NDArray[np.intp] = (text.scores + np.array([bias.get(mark, 0.0) for mark in marks], np.float32)).argmax(1)
    return best


def search(texts: Sequence[HeldoutText], marks: Sequence[str], measure: Goodness = goodness) -> dict[str, float]:
    """The biases of no mark and of each mark, in nats, that are best by a measure; zeros are left out."""
    written = np.sum([np.bincount(text.gold, minlength=len(marks)) for text in texts], 0)
    tried = np.round(np.arange(-_REACH, _REACH + _STEP / 2, _STEP), 2)
    bias: dict[str, float] = {}
    for mark, count in zip(marks, written, strict=True):
        if count < _FEWEST:
            continue
        scored = [
            (measure(texts, marks, {**bias, mark: float(nats)}), -abs(float(nats)), float(nats)) for nats in tried
        ]
        bias[mark] = max(scored)[2]
    return {mark: nats for mark, nats in bias.items() if nats}


def questions(texts: Sequence[HeldoutText], marks: Sequence[str], bias: Mapping[str, float]) -> tuple[float, float]:
    """Precision and recall of the question mark."""
    question = marks.index("?")
    found = np.concatenate([_best(text, marks, bias) for text in texts]) == question
    wanted = np.concatenate([text.gold for text in texts]) == question
    hits = int((found & wanted).sum())
    return hits / max(int(found.sum()), 1), hits / max(int(wanted.sum()), 1)


def report(texts: Sequence[HeldoutText], marks: Sequence[str], name: str, bias: Mapping[str, float]) -> None:
    """Log one line with the scores of a bias."""
    precision, recall = questions(texts, marks, bias)
    mended = 1000 * (1 - right_marks(texts, marks, bias))
    found = json.dumps(bias, ensure_ascii=False)
    logger.info(
        "%s: F1 %.4f, marks to mend per 1,000 words %.1f, ? precision %.3f and recall %.3f: %s",
        name, goodness(texts, marks, bias), mended, precision, recall, found,
    )  # fmt: skip


def main() -> None:
    """Print the bias that is best on one half of the held-out ends, and its scores on the other half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toml", type=Path, help="the recipe, in the folder of its exported model")
    parser.add_argument("corpora", nargs="*", help="corpora of the recipe; default: all")
    parser.add_argument("--mends", action="store_true", help="minimise corrections instead of maximising F1")
    options = parser.parse_intermixed_args()
    model = load_model(str(options.toml.parent))
    bare = replace(model, config=replace(model.config, bias={}))
    recipe = LabRecipe.load(options.toml)
    if options.corpora:
        recipe = replace(recipe, corpora={name: recipe.corpora[name] for name in options.corpora})
    texts = [_as_decoded(text, MARK_CLASSES) for text in texts_of(recipe, bare)]
    choose(texts, MARK_CLASSES, model.config.bias, right_marks if options.mends else goodness)


def choose(texts: Sequence[HeldoutText], marks: Sequence[str], shipped: Mapping[str, float], measure: Goodness) -> None:
    """Report the best bias of one half on the other, compared with none and the `shipped` one, then that of both."""
    ours, others = halves(texts)
    for name, bias in (("none", {}), ("as it is", shipped), ("of the other half", search(ours, marks, measure))):
        report(others, marks, name, bias)
    report(texts, marks, "chosen on both halves", search(texts, marks, measure))


def _as_decoded(text: HeldoutText, marks: Sequence[str]) -> HeldoutText:
    """Apply the decoder's cost of a dash, so that the bias does not include it again."""
    scores = text.scores.copy()
    if "—" in marks:
        scores[:, marks.index("—")] -= DASH_COST
    return replace(text, scores=scores)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
