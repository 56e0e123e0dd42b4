"""What live captions lose compared with a whole file, and what they cost, by engine and look-ahead.

    python tests/benchmarks/stream.py --data ../shared/data --rows quick > tests/benchmarks/results/stream.json

The beginnings of talks, podcasts and earnings calls word by word: micro-F1 over , . ?, F1 of sentence ends and of
case, the processor time per word relative to `fix` with the same transformer, and how long a word waits: the time
until the words of its look-ahead are spoken (on the set with times) and the time of processing. Development sets (the
talks of IWSLT dev2012, held-out ends of training corpora) and evaluation sets are reported separately. `--rows all`
takes an hour and a half on two cores, because the transformer rereads about 60 words for each; `quick` runs it with
only one look-ahead.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from measuring import head, identity, options_with_data, print_report

from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.features.evaluate.inputs import Source
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.pipeline import restore
from models.lab.datasets import benchmark

#: By whether they are to choose by: a file below the data, or a corpus whose end was held out.
SETS = {
    "development": {
        "TED dev2012": "en/eval/ted_dev2012_cased.txt.xz",
        "fedspeech, held out": "fedspeech",
        "earnings22, held out": "earnings22",
    },
    "evaluation": {
        "IWSLT Ref": "iwslt/test2011",
        "podcast": "en/eval/podcast.txt.xz",
        "earnings21, Rev times": "timed/earnings21_revkaldi.jsonl.xz",
    },
}
TIMED = "earnings21, Rev times"
#: (engine, look-ahead, words given out at a time)
ROWS = {
    "quick": [
        *(("gru", count, 1) for count in (0, 2, 4, 8, 16)),
        ("onnx", 8, 4),
    ],
    "all": [
        *(("gru", count, 1) for count in (0, 1, 2, 4, 8, 16, 32)),
        *(("onnx", count, 1) for count in (0, 2, 4, 8, 16)),
        *(("onnx", 8, every) for every in (2, 4)),
    ],
}
MODELS = {"gru": "en-live", "onnx": "en-fast"}

Restorer = Callable[[Sequence[Word]], list[str]]


def texts(data: Path, most: int) -> Iterator[tuple[str, list[Source]]]:
    """The first documents of each set, about so many words in all."""
    for title, path in (item for kind in SETS.values() for item in kind.items()):
        if not (data / path).exists():
            yield title, [Source(title, heldout(path, most))]
            continue
        documents, left = [], most
        for source in benchmark(data / path):
            documents.append(Source(source.name, source.words[:left]))
            left -= len(documents[-1].words)
            if left <= 0:
                break
        yield title, documents


def heldout(corpus: str, most: int) -> list[Word]:
    """The end of a training corpus, which no window had."""
    from models.lab.heldout import heldout_words
    from models.lab.recipe import LabRecipe

    recipe = LabRecipe.load(Path(__file__).parents[2] / "models" / MODELS["gru"] / "train.toml")
    return heldout_words(recipe, corpus, most)


def live(words: Sequence[Word], stream: LiveRestorer, work: list[float]) -> list[str]:
    """All words through a stream; the seconds that each took go to `work`."""
    found: list[str] = []
    for word in words:
        begun = time.perf_counter()
        found += stream.feed(word)
        work.append(time.perf_counter() - begun)
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
    found = Evaluation(samples).scores
    count = sum(len(source.words) for source in documents)
    scores = {key: round(float(found[key].f1), 4) for key in ("micro", "boundary", "case") if key in found}
    return scores, 1e6 * seconds / count


def waits(documents: Sequence[Source], look_ahead: int, every: int) -> float | None:
    """Milliseconds from the end of a word to that of the last one that it waits for, on average; None without times."""
    gaps = []
    for source in documents:
        ends = [word.end for word in source.words]
        for i in range(len(ends)):
            # The last of those that are given out together waits for the fewest.
            last = i + look_ahead + every - 1 - i % every
            if last < len(ends) and (first := ends[i]) is not None and (then := ends[last]) is not None:
                gaps.append(then - first)
    return round(fmean(gaps)) if gaps else None


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=3000, help="of each set")
    parser.add_argument("--rows", choices=ROWS, default="all")
    arguments = parser.parse_args()
    os.environ.setdefault("CAPPUNC_DATA", str(arguments.data.resolve()))
    models = {engine: load_model(name, "cpu", engine=engine) for engine, name in MODELS.items()}
    sets = dict(texts(arguments.data, arguments.words))
    rows: dict[str, dict[str, object]] = {}

    def measure(name: str, restorer: Restorer, **more: object) -> None:
        found = {title: scored(documents, restorer) for title, documents in sets.items()}
        cost = fmean(microseconds for _, microseconds in found.values())
        rows[name] = {**more, "microseconds": round(cost, 1), "scores": {title: s for title, (s, _) in found.items()}}
        print(f"{name}: {rows[name]}", file=sys.stderr, flush=True)

    measure("fix", lambda words: restore(words, models["onnx"]), engine="onnx")
    for engine, count, every in ROWS[arguments.rows]:
        work: list[float] = []

        def restorer(words: Sequence[Word], model=models[engine], count=count, every=every, work=work) -> list[str]:
            return live(words, LiveRestorer(model, None, count, every), work)

        name = f"{engine} {count}" + (f" every {every}" if every > 1 else "")
        measure(name, restorer, engine=engine, look_ahead=count, every=every, wait_ms=waits(sets[TIMED], count, every))
        work.sort()
        rows[name]["work_ms"] = {
            share: round(1000 * work[int(len(work) * part)], 2) for share, part in (("median", 0.5), ("p99", 0.99))
        }
    report = {
        **head(arguments.data),
        "models": {engine: identity(model.config) for engine, model in models.items()},
        "sets": {kind: list(titles) for kind, titles in SETS.items()},
        "words": {title: sum(len(source.words) for source in documents) for title, documents in sets.items()},
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
