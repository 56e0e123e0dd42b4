"""How well `--existing auto` finds what is missing: good transcripts, with stretches stripped out of them.

    python -m models.lab.studies.stretches --data ../shared/data > tests/benchmarks/results/stretches.json

The first documents of five evaluation sets. Stretches of 20 to 400 words (log-uniform) lose their marks,
their case, both, or become ALL CAPS with or without marks: about a third of the words, each document in several
ways. Reported per word: precision and recall of "lacks marks", of "lacks case", of either; false reports in the
untouched documents; F1 of the marks and case that are restored inside the stretches (whether they were found or
not); marks and capitals changed outside them. Half a minute on two cores.

The detector's constants were chosen on other texts: the last 6,000 words each of twelve training corpora
(`--tuning` scores these).
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import Case, Label, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, read_passage, rewrite
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

#: Name -> words; documents from the start, none longer than half of that.
REPORTED = dict.fromkeys(("podcast", "interviews", "ted", "gum_spoken", "phone"), 6000)
_CORPORA = "ami bitcoin changelog crd3 debates earnings fedspeech fomcpc icsi spacelog whpress whremarks"
TUNING = dict.fromkeys(_CORPORA.split(), 6000)
KINDS = ("marks", "case", "marks and case", "ALL CAPS", "ALL CAPS without marks")
#: Words of a stretch, and between two.
SHORTEST, LONGEST = 20, 400
NEAREST, FARTHEST = 40, 800

Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Counts:
    """The number of words that have a property, of those predicted to have it, and of correct predictions."""

    right: int = 0
    said: int = 0
    there: int = 0

    def add(self, said: Flags, there: Flags) -> None:
        self.right += int((said & there).sum())
        self.said += int(said.sum())
        self.there += int(there.sum())

    def scores(self) -> dict[str, float | int]:
        precision = self.right / self.said if self.said else 0.0
        recall = self.right / self.there if self.there else 0.0
        f1 = 2 * precision * recall / (precision + recall) if self.right else 0.0
        return {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(f1, 4),
            "words": self.there,
        }


@dataclass(slots=True)
class Tally:
    """All counts of a run."""

    found: dict[str | tuple[str, str], Counts] = field(default_factory=dict)
    restored: dict[str, Counts] = field(default_factory=dict)
    clean: Counter[str] = field(default_factory=Counter)
    outside: dict[str, Counter[str]] = field(default_factory=lambda: {"auto": Counter(), "keep": Counter()})

    def merge(self, other: Tally) -> None:
        pairs: list[tuple[dict[Any, Counts], dict[Any, Counts]]]
        pairs = [(self.found, other.found), (self.restored, other.restored)]
        for table, more in pairs:
            for name, counts in more.items():
                sums = table.setdefault(name, Counts())
                sums.right, sums.said, sums.there = (
                    sums.right + counts.right,
                    sums.said + counts.said,
                    sums.there + counts.there,
                )
        self.clean.update(other.clean)
        for name, counter in other.outside.items():
            self.outside[name].update(counter)

    @staticmethod
    def count(table: dict[Any, Counts], name: object, said: Flags, there: Flags) -> None:
        table.setdefault(name, Counts()).add(said, there)


@dataclass(frozen=True, slots=True)
class Damaged:
    """Words with stretches stripped; `kinds` has what was done to each word, or ''."""

    words: list[Word]
    kinds: list[str]
    #: (start, stop, kind)
    places: list[tuple[int, int, str]]

    def are(self, *kinds: str) -> Flags:
        return np.array([kind in kinds for kind in self.kinds])


def damaged(words: Sequence[Word], chance: random.Random) -> Damaged:
    """The words with stretches stripped, here and there."""
    new, kinds, places = list(words), [""] * len(words), []
    at = chance.randint(0, 300)
    while len(words) - at >= SHORTEST:
        stop = min(at + _between(SHORTEST, LONGEST, chance), len(words))
        kind = chance.choice(KINDS)
        for i in range(at, stop):
            new[i] = replace(new[i], text=stripped(new[i].text, kind))
            kinds[i] = kind
        places.append((at, stop, kind))
        at = stop + _between(NEAREST, FARTHEST, chance)
    return Damaged(new, kinds, places)


def _between(low: int, high: int, chance: random.Random) -> int:
    return round(math.exp(chance.uniform(math.log(low), math.log(high))))


def stripped(text: str, kind: str) -> str:
    """A word as a stretch of some kind has it."""
    bare, label = strip(text)
    if kind in ("marks", "marks and case", "ALL CAPS without marks"):
        label = label.with_mark("")
    if kind in ("case", "marks and case"):
        label = replace(label, case=Case.LOWER, form="")
    text = dress(bare, label)
    return text.upper() if kind.startswith("ALL CAPS") and strip(text.upper())[0] == bare else text


def measure(words: Sequence[Word], model: Model, seed: int, repeats: int, tally: Tally) -> None:
    """Strip one document in several ways and count."""
    rows = probabilities(words, model)
    auto, keep = Options(), Options(existing="keep")
    lack = find_missing(read_passage(words, rows, model, auto))
    tally.clean.update(words=len(words), blamed=int((lack.lacks_marks | lack.lacks_case).sum()))
    for repeat in range(repeats):
        bad = damaged(words, random.Random(1000 * seed + repeat))
        lack = find_missing(read_passage(bad.words, rows, model, auto))
        no_marks = bad.are("marks", "marks and case", "ALL CAPS without marks")
        no_case = bad.are("case", "marks and case", "ALL CAPS", "ALL CAPS without marks")
        tally.count(tally.found, "marks", lack.lacks_marks, no_marks)
        tally.count(tally.found, "case", lack.lacks_case, no_case)
        tally.count(tally.found, "marks or case", lack.lacks_marks | lack.lacks_case, no_marks | no_case)
        for start, stop, kind in bad.places:
            size = "20-49" if stop - start < 50 else "50-119" if stop - start < 120 else "120-400"
            said = lack.lacks_marks if kind == "marks" else lack.lacks_case
            every = np.ones(stop - start, np.bool_)
            tally.count(tally.found, (kind, f"{size} words"), said[start:stop], every)
        for name, options in (("auto", auto), ("keep", keep)):
            new = rewrite(bad.words, rows, model, options)
            _count_changes(bad, new, tally.outside[name])
            if name == "auto":
                _count_restored(words, bad, new, no_marks, no_case, tally)


def _count_changes(bad: Damaged, new: Sequence[str], counter: Counter[str]) -> None:
    """Marks and capitals that were there and have changed; words outside the stretches that have changed at all."""
    for word, text, kind in zip(bad.words, new, bad.kinds, strict=True):
        (_, old), (_, now) = strip(word.text), strip(text)
        upper = kind.startswith("ALL CAPS")
        counter["words outside"] += not kind
        counter["words outside changed"] += not kind and word.text != text
        counter["marks there"] += bool(old.mark)
        counter["marks there changed"] += bool(old.mark) and old.after != now.after
        counter["capitals there"] += _has_case(old) and not upper
        counter["capitals there changed"] += (
            _has_case(old) and not upper and (old.case, old.form) != (now.case, now.form)
        )


def _has_case(label: Label) -> bool:
    return label.case is not Case.LOWER


def _count_restored(
    words: Sequence[Word], bad: Damaged, new: Sequence[str], no_marks: Flags, no_case: Flags, tally: Tally
) -> None:
    gold = [strip(word.text)[1] for word in words]
    made = [strip(text)[1] for text in new]
    for mark in ",.?":
        there = np.array([label.mark == mark for label in gold])
        said = np.array([label.mark == mark for label in made])
        for name in (mark, "micro , . ?"):
            tally.count(tally.restored, name, said & no_marks, there & no_marks)
    for name, place in (("capitals", no_case), ("capitals, ALL CAPS", no_case & bad.are(*KINDS[3:]))):
        there = np.array([_has_case(label) for label in gold])
        said = np.array([_has_case(label) for label in made])
        tally.count(tally.restored, name, said & place, there & place)


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--model", default="en")
    parser.add_argument("--repeats", type=int, default=4, help="ways in which each document is stripped")
    parser.add_argument("--tuning", action="store_true", help="score the texts that the constants were chosen on")
    arguments = parser.parse_args()
    model = load_model(arguments.model, "cpu")
    folder = arguments.data / "en" / ("" if arguments.tuning else "eval")
    total, by_set = Tally(), {}
    for name, count in (TUNING if arguments.tuning else REPORTED).items():
        own = Tally()
        for i, words in enumerate(documents(folder, name, count, arguments.tuning)):
            measure(words, model, i, arguments.repeats, own)
        by_set[name] = own
        total.merge(own)
        print(f"{name}: {own.found['marks or case'].scores()}", file=sys.stderr)
    report = {
        **head(arguments.data),
        "model": identity(model.config),
        "words": total.clean["words"],
        "found": {name: counts.scores() for name, counts in total.found.items() if not isinstance(name, tuple)},
        "recall by kind and length": {
            ", ".join(name): {key: counts.scores()[key] for key in ("recall", "words")}
            for name, counts in sorted(
                ((n, c) for n, c in total.found.items() if isinstance(n, tuple)), key=lambda pair: pair[0]
            )
        },
        "found by set": {name: {k: own.found[k].scores() for k in ("marks", "case")} for name, own in by_set.items()},
        "restored inside": {name: counts.scores() for name, counts in total.restored.items()},
        "untouched documents": dict(total.clean),
        "changes": {name: dict(counter) for name, counter in total.outside.items()},
    }
    print_report(report)


if __name__ == "__main__":
    main()
