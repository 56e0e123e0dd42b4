"""What live captions lose against a whole file, by the words that each word waits for, and what they cost.

    python tests/benchmarks/stream.py --data ../shared/data > tests/benchmarks/results/stream.json

The beginnings of IWSLT Ref, of podcasts and of earnings calls with their times and turns, none of which the model has
learnt from, word by word through `Stream`: micro-F1 over , . ?, F1 of sentence ends and of case, and the processor
time of a word. About 60 words are read anew for each: three minutes on two cores. So few words tell 40 points from 70,
and no look-ahead of 4 or more from another.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from measuring import head

from cappunc_cli.cli.eval_samples import sources
from cappunc_cli.evaluation import Sample, evaluate
from cappunc_cli.evaluation.datasets import Source
from cappunc_cli.restoration.pipeline import load_model, restore
from cappunc_cli.restoration.stream import Stream
from cappunc_cli.words import Word

SETS = {
    "IWSLT Ref": "iwslt/test2011",
    "podcast": "en/eval/podcast.txt.xz",
    "earnings21, Rev times": "timed/earnings21_revkaldi.jsonl.xz",
}
LOOK_AHEADS = (0, 2, 4, 8, 16, 32)

Restorer = Callable[[Sequence[Word]], list[str]]


def texts(data: Path, most: int) -> Iterator[tuple[str, list[Source]]]:
    """The first documents of each set, about so many words in all."""
    for title, path in SETS.items():
        documents, left = [], most
        for source in sources([data / path], None, None):
            documents.append(Source(source.name, source.words[:left]))
            left -= len(documents[-1].words)
            if left <= 0:
                break
        yield title, documents


def live(words: Sequence[Word], stream: Stream) -> list[str]:
    """All words through a stream."""
    found = [text for word in words for text in stream.feed(word)]
    return [*found, *stream.end()]


def scored(documents: Sequence[Source], restorer: Restorer) -> tuple[dict[str, float], float]:
    """Scores of a restorer, and its microseconds of processor time a word."""
    samples, seconds = [], 0.0
    for source in documents:
        words = source.stripped()
        begun = time.process_time()
        new = restorer(words)
        seconds += time.process_time() - begun
        samples.append(Sample(source.name, [word.text for word in source.words], new))
    found = evaluate(samples).scores
    count = sum(len(source.words) for source in documents)
    scores = {key: round(float(found[key].f1), 4) for key in ("micro", "boundary", "case") if key in found}
    return scores, 1e6 * seconds / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the training data")
    parser.add_argument("--words", type=int, default=600, help="of each set")
    arguments = parser.parse_args()
    model = load_model("en", "cpu")
    sets = dict(texts(arguments.data, arguments.words))
    restorers: dict[str, Restorer] = {"fix": lambda words: restore(words, model)}
    for count in LOOK_AHEADS:
        restorers[str(count)] = lambda words, count=count: live(words, Stream(model, None, count))
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for name, restorer in restorers.items():
        rows[name] = {}
        for title, documents in sets.items():
            scores, cost = scored(documents, restorer)
            rows[name][title] = {**scores, "microseconds": round(cost, 1)}
        print(f"{name}: {rows[name]}", file=sys.stderr)
    report = {
        **head(arguments.data),
        "model": f"{model.config.name}@{model.config.files['model.onnx'][:12]}",
        "words": {title: sum(len(source.words) for source in documents) for title, documents in sets.items()},
        "rows": rows,
    }
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
