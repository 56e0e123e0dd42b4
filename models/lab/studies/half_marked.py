"""What `--existing` auto, keep and replace make of texts that have some of their marks.

    python -m models.lab.studies.half_marked --data $DATA > tests/benchmarks/results/half_marked.json

Marks are taken out of good transcripts at random, in runs, by kind and by cue, and put back by each of the three.
Where a sentence end goes, the capital after it goes, too, unless the word has it within sentences, or the kind of
removal says otherwise. Reported: F1 of `, . ?` (others folded into these) and of capitals, against the whole text.
`--tuning` scores the ends of training corpora, on which the constants of `existing.py` were chosen; otherwise the
beginnings of evaluation sets.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cappunc_cli.document.labels import FOLD, TERMINAL, Case, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import as_read, probabilities, rewrite
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

TUNING = {
    "en": ("ami", "bitcoin", "changelog", "crd3", "earnings", "whpress"),
    "es": ("mananeras", "congreso_parlamint", "cdda_talk"),
    "de": ("bundestag", "cdda_talk", "hf_course"),
}
REPORTED = {
    "en": ("podcast", "interviews", "ted", "phone"),
    "es": ("mananeras", "discursos_cfk"),
    "de": ("bundestag", "cdda_talk"),
}
WORDS = 4000
#: Words of a cue, and of a run.
CUE, RUN = (5, 12), (40, 400)


def names(words: Sequence[Word]) -> frozenset[str]:
    """The words that are capital within sentences."""
    found, starts = set(), True
    for word in words:
        bare, label = strip(word.text)
        if not starts and label.case is not Case.LOWER:
            found.add(bare)
        starts = bool(label.mark) and (FOLD.get(label.mark, label.mark) != ",")
    return frozenset(found)


def without(
    words: Sequence[Word],
    gone: Callable[[int, str], bool],
    lowered: Callable[[int], bool] = lambda _: False,
    *,
    starts: bool = True,
) -> list[Word]:
    """The words without the marks for which `gone` (place, mark), and the capitals of the places that are `lowered`.

    `starts`: the capital after a sentence end goes with it.
    """
    inside, new, ended = names(words), [], False
    for i, word in enumerate(words):
        bare, label = strip(word.text)
        begins = starts and ended and bare not in inside and label.case is Case.CAPITAL
        if begins or lowered(i):
            label = replace(label, case=Case.LOWER, form="")
        ended = bool(label.mark) and gone(i, label.mark)
        if ended:
            ended = FOLD.get(label.mark, label.mark) in TERMINAL
            label = label.with_mark("")
        text = dress(bare, label)
        new.append(replace(word, text=text if strip(text)[0] == bare else word.text))
    return new


def stretches(count: int, share: float, sizes: tuple[int, int], chance: random.Random) -> list[bool]:
    """Which of the words are in stretches of some size that make up this share of all."""
    flags: list[bool] = []
    while len(flags) < count:
        flags += [chance.random() < share] * chance.randint(*sizes)
    return flags[:count]


def removals(words: Sequence[Word], seed: int) -> dict[str, list[Word]]:
    """By name, the words with marks taken out in different ways."""
    chance = random.Random(seed)
    found = {"nothing": list(words)}
    for share in (0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        found[f"random {share:.0%}"] = without(words, at_random(words, share, chance))
    found["random 50%, capitals stay"] = without(words, at_random(words, 0.5, chance), starts=False)
    for kind, sizes in (("runs", RUN), ("cues", CUE)):
        for share in (0.25, 0.5, 0.75):
            flags = stretches(len(words), share, sizes, chance)
            found[f"{kind} {share:.0%}"] = without(words, lambda i, _, f=flags: f[i], flags.__getitem__)  # type: ignore[misc]
    found["all commas"] = without(words, lambda _, mark: FOLD.get(mark, mark) == ",")
    found["all ends"] = without(words, is_end)
    found["all ends, capitals stay"] = without(words, is_end, starts=False)
    half = stretches(len(words), 0.5, (1, 1), chance)
    found["capitals 50%"] = without(words, lambda *_: False, half.__getitem__)
    found["all capitals"] = without(words, lambda *_: False, lambda _: True)
    return found


def at_random(words: Sequence[Word], share: float, chance: random.Random) -> Callable[[int, str], bool]:
    """A share of all marks."""
    drawn = [chance.random() < share for _ in words]
    return lambda i, _: drawn[i]


def is_end(_: int, mark: str) -> bool:
    """Whether a mark ends a sentence."""
    return FOLD.get(mark, mark) in TERMINAL


def f1(pairs: Sequence[tuple[str, str]]) -> float:
    """F1 in per cent of (wanted, found), in which "" is nothing."""
    right = sum(a == b != "" for a, b in pairs)
    total = sum(a != "" for a, _ in pairs) + sum(b != "" for _, b in pairs)
    return round(200 * right / total, 2) if total else 100.0


def scores(wanted: Sequence[Word], found: Sequence[str]) -> dict[str, float]:
    """F1 of marks, of sentence ends, and of capitals."""
    pairs = [(strip(word.text)[1], strip(text)[1]) for word, text in zip(wanted, found, strict=True)]
    marks = [(FOLD.get(a.mark, a.mark), FOLD.get(b.mark, b.mark)) for a, b in pairs]
    ends = [(a if a in TERMINAL else "", b if b in TERMINAL else "") for a, b in marks]
    capitals = [("" if a.case is Case.LOWER else "c", "" if b.case is Case.LOWER else "c") for a, b in pairs]
    return {"marks": f1(marks), "ends": f1(ends), "capitals": f1(capitals)}


def measure(words: Sequence[Word], rows: Any, model: Model, language: str, seed: int) -> dict[str, dict[str, Any]]:
    """By removal and choice of `existing`, the scores, and how many words of 1,000 have changed."""
    found: dict[str, dict[str, Any]] = {}
    for name, damaged in removals(words, seed).items():
        found[name] = {}
        for existing in ("auto", "keep", "replace"):
            new = rewrite(damaged, rows, model, Options(existing=existing, language=language))
            changed = sum(a.text != b for a, b in zip(damaged, new, strict=True))
            found[name][existing] = {**scores(words, new), "changed": round(1000 * changed / len(words), 2)}
    return found


def averaged(by_text: Sequence[dict[str, dict[str, dict[str, float]]]]) -> dict[str, Any]:
    """The mean over texts of each score."""
    first = by_text[0]
    return {
        name: {
            existing: {
                key: round(sum(text[name][existing][key] for text in by_text) / len(by_text), 2)
                for key in first[name][existing]
            }
            for existing in first[name]
        }
        for name in first
    }


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--model", default="en-fast")
    parser.add_argument("--language", default="en")
    parser.add_argument("--tuning", action="store_true", help="score the texts that the constants were chosen on")
    arguments = parser.parse_args()
    model = load_model(arguments.model, "cpu")
    folder = arguments.data / arguments.language / ("" if arguments.tuning else "eval")
    by_text: dict[str, Any] = {}
    for name in (TUNING if arguments.tuning else REPORTED)[arguments.language]:
        texts = documents(folder, name, WORDS, arguments.tuning)
        options = Options(language=arguments.language)
        words = as_read([word for text in texts for word in text][:WORDS], model, options).parts
        rows = probabilities(words, model, options)
        by_text[name] = measure(words, rows, model, arguments.language, 1)
        print(name, {k: v["auto"]["marks"] for k, v in by_text[name].items()}, file=sys.stderr)
    mean = averaged(list(by_text.values()))
    identified = {"model": identity(model.config), "language": arguments.language}
    print_report({**head(arguments.data), **identified, "words": WORDS, "mean": mean, "texts": by_text})


if __name__ == "__main__":
    main()
