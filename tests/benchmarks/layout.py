"""Where `cappunc captions` ends captions and lines in text with human punctuation.

    python tests/benchmarks/layout.py --data ../shared/data > tests/benchmarks/results/layout.json

The last calls of Earnings-21, the human reference with the times of Rev's recogniser, cut by the layout, and greedily:
each line and each caption takes what still fits. Reported: the number of captions; those that end with a speaker change
or a long pause, a sentence or a clause; captions and lines that end within a phrase (between an article and its noun,
an auxiliary and its verb, or within a name); captions that are shorter than the minimum or too fast to read. Phrases
are recognised by the word classes after which the layout avoids breaks. The costs were chosen on two other calls.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from itertools import pairwise

from measuring import head, options_with_data, print_report

from cappunc_cli.document.words import Word
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import BreakQuality
from cappunc_cli.layout.segmentation import Caption, Cutter

SOURCE = "timed/earnings21_revkaldi.jsonl.xz"
WORDS = 20_000


def greedy(cutter: Cutter) -> list[tuple[int, int]]:
    """Captions that take as much as fits, and end earlier only where they must."""
    cuts: list[tuple[int, int]] = []
    start = 0
    for stop in range(1, len(cutter.texts) + 1):
        last = stop == len(cutter.texts)
        if last or cutter.parted[stop - 1] or not cutter.holds(start, stop + 1):
            cuts.append((start, stop))
            start = stop
    return cuts


def ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds)


def tally(cutter: Cutter, captions: list[Caption], begins: list[list[int]]) -> dict[str, int]:
    """What becomes of captions whose lines begin with these words."""
    found: Counter[str] = Counter(captions=len(captions))
    limits, places = cutter.limits, cutter.lines.places
    for caption, starts in zip(captions, begins, strict=True):
        place = places[caption.stop - 1]
        parted = cutter.parted[caption.stop - 1]
        found["end with a turn or at a long pause"] += parted
        found["end with a sentence"] += not parted and place is BreakQuality.SENTENCE
        found["end with a clause"] += not parted and place is BreakQuality.CLAUSE
        found["end amid what belongs together"] += not parted and place is BreakQuality.BOUND
        found["line breaks"] += len(starts) - 1
        found["line breaks amid what belongs together"] += sum(
            places[b - 1] is BreakQuality.BOUND for _, b in pairwise(starts)
        )
        shown = caption.end - caption.start
        found["shorter than 5/6 s"] += shown < limits.shortest
        found["faster than 20 characters a second"] += 1000 * sum(map(len, caption.lines)) > limits.speed * shown
    return dict(found)


def main() -> None:
    parser = options_with_data(__doc__)
    arguments = parser.parse_args()
    totals: dict[str, Counter[str]] = {"greedy": Counter(), "layout": Counter()}
    count = 0
    with lzma.open(arguments.data / SOURCE, "rt", encoding="utf-8") as calls:
        for call in map(json.loads, reversed(calls.readlines())):
            speakers = {name: i for i, name in enumerate(dict.fromkeys(call["spk"]))}
            words = [
                Word(text, ms(start), ms(end), turn=speakers[speaker])
                for (text, start, end), speaker in zip(call["words"], call["spk"], strict=True)
            ]
            cutter = Cutter(words, [word.text for word in words], language("en"), Limits())
            cuts = cutter.cuts()
            ours = [list(cutter.lines.best(a, b)[1]) for a, b in cuts]
            totals["layout"].update(tally(cutter, list(cutter.timed(cuts)), ours))
            cuts = greedy(cutter)
            totals["greedy"].update(
                tally(cutter, list(cutter.timed(cuts)), [cutter.lines.greedy(a, b) for a, b in cuts])
            )
            count += len(words)
            print(count, file=sys.stderr)
            if count >= WORDS:
                break
    report = {
        **head(arguments.data),
        "source": SOURCE,
        "words": count,
        "rows": {name: dict(found) for name, found in totals.items()},
    }
    print_report(report)


if __name__ == "__main__":
    main()
