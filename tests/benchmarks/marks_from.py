"""Time and memory of aligning a text with another one, as `fix --marks-from` does beside the network's work.

    python -m tests.benchmarks.marks_from --data ../shared/data > tests/benchmarks/results/marks_from_speed.json

100,000 words of evaluation texts against the same with 30 % of the words changed, dropped or added, and against a
million words that contain them. CPU seconds of reading the words' keys, aligning and taking over; memory is the growth
of the process.
"""

from __future__ import annotations

import lzma
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from cappunc_cli.transfer.alignment import align
from cappunc_cli.transfer.other_marks import given_words
from models.lab.studies.marks_from import differing
from tests.benchmarks.measuring import head, options_with_data, print_report

WORDS = 100_000
SETS = ("gum_written", "interviews")


def texts(data: Path) -> list[str]:
    """The words of all sets."""
    found: list[str] = []
    for name in SETS:
        with lzma.open(data / "en" / "eval" / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
            found += lines.read().split()
    return found


def measured(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, Any]:
    """Figures of one pair."""
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    links = align(ours, theirs)
    given_words(ours, theirs, links)
    seconds = time.process_time() - begun
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    figures = {"words": len(ours), "other_words": len(theirs), "linked": len(links)}
    return {**figures, "cpu_seconds": round(seconds, 2), "memory_mb": round(grown, 1)}


def main() -> None:
    """Print the report."""
    arguments = options_with_data(__doc__).parse_args()
    words, chance = texts(arguments.data), Random(1)
    ours = [word.lower().strip(".,?!:;") or word for word in words[:WORDS]]
    other = [text for text, _ in differing(words[:WORDS], 0.3, chance)]
    million = (chance.choices(words, k=10 * WORDS - len(words[:WORDS])) + words[:WORDS])[: 10 * WORDS]
    report = {"30 % differ": measured(ours, other), "in a million": measured(ours, million)}
    print_report({**head(arguments.data), "pairs": report})


if __name__ == "__main__":
    main()
