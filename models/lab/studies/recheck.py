"""What `--existing recheck` makes of edited text with some wrong marks: how many of its changes are right.

    python -m models.lab.studies.recheck --data $DATA > tests/benchmarks/results/recheck.json

Into the ends of training corpora, which are development text, full stops and commas come where there are none, and a
capital after each full stop, and some marks become another one: one word in a hundred for each. A change to a mark is
right if the mark, or none, is that of the text.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.document.labels import FOLD, Case, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite
from tests.benchmarks.measuring import documents, identity, options_with_data, print_report

TEXTS = ("ami", "bitcoin", "changelog", "crd3", "earnings", "whpress")
WORDS = 8000


def mark(text: str) -> str:
    own = strip(text)[1].mark
    return FOLD.get(own, own)


def damaged(words: Sequence[Word], chance: random.Random) -> list[Word]:
    """The words with wrong marks."""
    new, capital = [], False
    for word in words:
        bare, label = strip(word.text)
        if capital and label.case is Case.LOWER:
            label = replace(label, case=Case.CAPITAL)
        capital, drawn = False, chance.random()
        if not label.after and drawn < 0.02:
            label, capital = label.with_mark("." if drawn < 0.01 else ","), drawn < 0.01
        elif label.mark in (",", ".") and drawn < 0.1:
            label = label.with_mark("." if label.mark == "," else ",")
            capital = label.mark == "."
        new.append(replace(word, text=dress(bare, label)))
    return new


def measure(words: Sequence[Word], model: Model, chance: random.Random) -> Counter[str]:
    given = damaged(words, chance)
    new = rewrite(given, probabilities(given, model), model, Options(existing="recheck"))
    found: Counter[str] = Counter(words=len(words))
    for gold, old, text in zip(words, given, new, strict=True):
        is_wrong, is_changed = mark(old.text) != mark(gold.text), mark(text) != mark(old.text)
        found["wrong"] += is_wrong and bool(mark(old.text))
        if is_changed and mark(old.text):
            found["changed"] += 1
            found["right"] += mark(text) == mark(gold.text)
    return found


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--model", default="en")
    parser.add_argument("--texts", nargs="*", default=TEXTS)
    asked = parser.parse_args()
    model = load_model(asked.model, "cpu")
    scores, total = {}, Counter[str]()
    for name in asked.texts:
        chance = random.Random(name)
        found = Counter[str]()
        for words in documents(asked.data / "en", name, WORDS, last=True):
            found += measure(words, model, chance)
        scores[name] = dict(found)
        total += found
    shares = {"precision": total["right"] / total["changed"], "found": total["right"] / total["wrong"]}
    rounded = {name: round(value, 4) for name, value in shares.items()}
    print_report({"model": identity(model.config), "texts": scores, "all": dict(total), **rounded})


if __name__ == "__main__":
    main()
