"""What `fix --marks-from` carries over from another text, the more of whose words differ the less.

    python -m models.lab.studies.marks_from --data $DATA > tests/benchmarks/results/marks_from.json

The other text is a good one, some of whose words were changed, dropped or added, in equal parts: a changed word keeps
the mark of its place, a dropped one takes its mark along unless it ends a sentence, an added one has none. Ours is the
same text without marks and capitals, as words or in captions like those of films. Reported, in per cent: F1 of `, . ?`
(others folded into these) and of capitals of plain `fix` (`"plain"`) and by share of differing words; and `carried`, of
the marks of the other text whose words, with the next one, both texts have, those that are there in the result.

`calls`: the words of a recogniser without marks (Earnings-21), with the marks of an edited text and of two recognisers
that set their own, against the edited text. `wrong`: the highest share of words that a text has in an unrelated one.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

from cappunc_cli.document.labels import FOLD, TERMINAL, strip
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation.metrics import cases, marks, pool
from cappunc_cli.evaluation.pairs import align as scored_pairs
from cappunc_cli.evaluation.pairs import pairs_of
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite
from cappunc_cli.transfer.alignment import PLACE, Link, align
from cappunc_cli.transfer.other_marks import given_words
from models.lab.studies.film import bare, captioned
from models.lab.studies.half_marked import scores
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

TEXTS = {
    "en": ("ted_test2011_cased", "podcast", "interviews"),
    "es": ("mananeras",),
    "fr": ("pfwb_debats",),
    "de": ("bundestag",),
    "ro": ("tv_moldova",),
}
#: In captions, too.
FILMS = ("gum_spoken", "interviews")
SHARES = (0.0, 0.05, 0.15, 0.3, 0.5)
WORDS, CALLS = 3000, 3
#: A word, and the number of the one that it is in the text that was changed; -1 for a changed or an added one.
_Kept = tuple[str, int]


def differing(words: Sequence[str], share: float, chance: Random) -> list[_Kept]:
    """The text with a share of its words changed, dropped or added."""
    found: list[_Kept] = []
    for i, text in enumerate(words):
        label, kind = strip(text)[1], chance.random() / share if share else 1.0
        if kind < 1 / 3:
            found.append((f"{label.before}{strip(chance.choice(words))[0]}{label.after}", -1))
        elif kind < 2 / 3:
            if (
                found
                and FOLD.get(label.mark, label.mark) in TERMINAL
                and label.mark
                and not strip(found[-1][0])[1].mark
            ):
                found[-1] = (found[-1][0] + label.mark, found[-1][1])
        else:
            found.append((text, i))
            if kind < 1:
                found.append((strip(chance.choice(words))[0], -1))
    return found


def carried(other: Sequence[_Kept], new: Sequence[str]) -> tuple[int, int]:
    """The marks of the other text whose word and next word both texts have, and how many of them are right."""
    there = right = 0
    for (text, i), (_, following) in pairwise(other):
        mark = strip(text)[1].mark
        if mark and i >= 0 and following == i + 1:
            there += 1
            right += strip(new[i])[1].mark == mark
    return there, right


def with_marks(words: Sequence[Word], theirs: Sequence[str]) -> tuple[list[Word], list[Link]]:
    """The words with what another text says of them, and the links of the two."""
    texts = [word.text for word in words]
    links = align(texts, theirs)
    found = given_words(texts, theirs, links)
    return [replace(word, given=one) for word, one in zip(words, found, strict=True)], links


def share_matched(words: Sequence[Word], theirs: Sequence[str]) -> float:
    """The share, in per cent, of our words that the other text has."""
    links = with_marks(words, theirs)[1]
    return round(100 * sum(link.stop - link.first for link in links if link.kind != PLACE) / len(words), 1)


def measure(words: Sequence[Word], model: Model, code: str) -> dict[str, Any]:
    """The scores of a text."""
    options, own = Options(language=code), bare(words)
    rows = probabilities(own, model, options)
    found: dict[str, Any] = {"plain": scores(words, rewrite(own, rows, model, options))}
    for share in SHARES:
        other = differing([word.text for word in words], share, Random(1))
        theirs = [text for text, _ in other]
        new = rewrite(with_marks(own, theirs)[0], rows, model, options)
        there, right = carried(other, new)
        figures = {"carried": round(100 * right / there, 2), "matched": share_matched(own, theirs)}
        found[f"{share:.0%}"] = {**scores(words, new), **figures}
    return found


def calls(data: Path, model: Model) -> dict[str, Any]:
    """Scores of the words of a recogniser, against the edited text."""
    found: dict[str, Any] = {}
    options = Options(language="en")
    with lzma.open(data / "timed" / "earnings21_asr_pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        for entry in map(json.loads, islice(lines, CALLS)):
            words = [Word(text, round(1000 * a), round(1000 * b)) for text, a, b in entry["hyp"]["revkaldi"][:WORDS]]
            gold = entry["ref"][: with_marks(words, entry["ref"])[1][-1].until]
            others = {"plain": [], "edited": entry["ref"]}
            others |= {name: [one[0] for one in entry["hyp"][name]] for name in ("speechmatics", "amazon")}
            rows = probabilities(words, model, options)
            found[entry["id"]] = {}
            for name, theirs in others.items():
                pairs = pairs_of(
                    [scored_pairs(gold, rewrite(with_marks(words, theirs)[0], rows, model, options))], FOLD
                )
                figures = {"marks": pool(marks(pairs, fold=True)), "capitals": cases(pairs)}
                found[entry["id"]][name] = {key: round(100 * float(one.f1), 2) for key, one in figures.items()}
                found[entry["id"]][name]["matched"] = share_matched(words, theirs)
    return found


def main() -> None:
    """Print the report."""
    arguments = options_with_data(__doc__).parse_args()
    texts: dict[str, list[Word]] = {}
    found: dict[str, Any] = {}
    opened: dict[str, Model] = {}
    for code, names in TEXTS.items():
        for name in names:
            words = [word for text in documents(arguments.data / code / "eval", name, WORDS) for word in text][:WORDS]
            texts[f"{code} {name}"] = words
    for name in FILMS:
        words = [word for text in documents(arguments.data / "en" / "eval", name, WORDS) for word in text][:WORDS]
        texts[f"en {name}, captions"] = list(captioned(words))
    for name, words in texts.items():
        code = name[:2]
        model = opened.setdefault(code, load_model(str(find_model_for(code)), "cpu"))
        found[name] = measure(words, model, code)
        print(name, found[name], file=sys.stderr)
    report = {**head(arguments.data), "models": sorted({identity(model.config) for model in opened.values()})}
    wrong = {
        f"{one} with {other}": share_matched(bare(words), [word.text for word in texts[other]])
        for one, words in texts.items()
        for other in texts
        if other.split(",")[0] != one.split(",")[0]
    }
    report |= {"words": WORDS, "texts": found, "calls": calls(arguments.data, opened["en"])}
    print_report({**report, "wrong": {"highest": max(wrong.values()), "pairs": len(wrong)}})


if __name__ == "__main__":
    main()
