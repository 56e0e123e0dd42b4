"""Recall and precision of the mistakes that `cappunc review` lists.

    python -m models.lab.studies.review --data ../shared/data > tests/benchmarks/results/review.json

The first words of three evaluation sets, stripped, restored, and reviewed at several thresholds. A listed mark is wrong
if the reference has one of another class (`labels.FOLD`); a listed case, if the reference differs in a capital and
neither text has a sentence end before the word. The default of `--below` was chosen on TED dev2012 and podcast, not on
meetings. Two minutes on two cores.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.document.labels import FOLD, TERMINAL, Case, fold, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.decoding.doubts import find_low_confidence
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, read_passage, rewrite
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

#: Title -> file of the evaluation data.
SETS = {"TED dev2012": "ted_dev2012_cased", "podcast": "podcast", "meetings": "meetings"}
BELOW = (0.5, 0.6, 0.7, 0.8, 0.9)


def _mark(text: str) -> str:
    mark = strip(text)[1].mark
    return FOLD.get(mark, mark)


def wrong(new: Sequence[str], gold: Sequence[str]) -> dict[str, list[bool]]:
    """Which words have another mark than the reference, and which another case within a sentence."""
    marks = [(_mark(a), _mark(b)) for a, b in zip(new, gold, strict=True)]
    starts = [True, *(any(mark and mark in TERMINAL for mark in pair) for pair in marks[:-1])]
    low = [tuple(strip(text)[1].case is Case.LOWER for text in pair) for pair in zip(new, gold, strict=True)]
    cases = [a != b and not start for (a, b), start in zip(low, starts, strict=True)]
    return {"mark": [a != b for a, b in marks], "case": cases}


def measure(gold: Sequence[Word], model: Model, counts: Counter[str]) -> None:
    """Restore one document and count what is doubted in it, and what is wrong."""
    bare = [replace(word, text=fold(strip(word.text)[0])) for word in gold]
    options = Options()
    rows = probabilities(bare, model, options)
    new = rewrite(bare, rows, model, Options(existing="replace"))
    words = [replace(word, text=text) for word, text in zip(bare, new, strict=True)]
    errors = wrong(new, [word.text for word in gold])
    counts["words"] += len(words)
    for kind, found in errors.items():
        counts[f"{kind} wrong"] += sum(found)
    passage = read_passage(words, rows, model, options)
    for doubt in find_low_confidence(passage, find_missing(passage), max(BELOW)):
        for below in BELOW:
            if doubt.probability < below:
                counts[f"{doubt.kind} listed {below}"] += 1
                counts[f"{doubt.kind} found {below}"] += errors[doubt.kind][doubt.index]


def shares(counts: Counter[str]) -> dict[str, dict[str, dict[str, float]]]:
    """The shares of words listed, of these that are wrong, and of mistakes that are listed; by kind and threshold."""

    def share(part: str, whole: str) -> float:
        return round(counts[part] / max(counts[whole], 1), 4)

    return {
        kind: {
            str(below): {
                "listed": share(f"{kind} listed {below}", "words"),
                "wrong": share(f"{kind} found {below}", f"{kind} listed {below}"),
                "found": share(f"{kind} found {below}", f"{kind} wrong"),
            }
            for below in BELOW
        }
        for kind in ("mark", "case")
    }


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--model", default="en")
    parser.add_argument("--words", type=int, default=15_000, help="of each set")
    arguments = parser.parse_args()
    model = load_model(arguments.model, "cpu")
    rows = {}
    for title, name in SETS.items():
        counts: Counter[str] = Counter()
        for words in documents(arguments.data / "en/eval", name, arguments.words):
            measure(words, model, counts)
        rows[title] = {"words": counts["words"], **shares(counts)}
        print(f"{title}: {rows[title]}", file=sys.stderr)
    report = {
        **head(arguments.data),
        "model": identity(model.config),
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
