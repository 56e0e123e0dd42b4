"""What pauses are worth in other languages: sampled ones where no timed speech is available, real ones in French.

    python -m models.lab.studies.drawn_pauses --data ../shared/data > tests/benchmarks/results/drawn_pauses.json

Every word of a text gets a pause that a speaker of English made after the same mark, on a clock that no training has
seen (earnings21, Speechmatics). That is optimistic: speakers of these languages may pause differently, and a pause
sampled by the mark reveals the mark and nothing else. For comparison, the same pauses shuffled within the text, which
are uninformative, and no pauses. The French recording has its own times; its sentences begin in lower case, so
its capitals are not scored.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word, pauses
from cappunc_cli.restoration.models.registry import ModelConfig, find_model_for
from models.lab.datasets import benchmark
from models.lab.score import evaluate
from tests.benchmarks.measuring import digest, head, options_with_data, print_report

#: Whose pauses are drawn: no model has learnt from these times.
CLOCK = "timed/earnings21_speechmatics.jsonl.xz"
SPOKEN = "timed/rhapsodie_fr.jsonl.xz"
SETS = {
    "es congreso_parlamint": "es/eval/congreso_parlamint.txt.xz",
    "es mananeras": "es/eval/mananeras.txt.xz",
    "eu argia_bhtc": "eu/eval/argia_bhtc.txt.xz",
    "eu ted": "eu/eval/ted.txt.xz",
}
#: How a set is read: options of `cappunc eval`.
READINGS = {"hidden": ["--no-pauses"], "shown": [], "shuffled": ["--shuffle-pauses"]}
#: A word of speech, in seconds.
_WORD = 0.3

Pools = dict[str, list[int]]


def pools_of(words: Sequence[Word]) -> Pools:
    """The known pauses (ms) behind the words of each mark."""
    found: Pools = defaultdict(list)
    for word, pause in zip(words, pauses(words), strict=True):
        if pause is not None:
            found[strip(word.text)[1].mark].append(pause)
    return found


def spoken(texts: Sequence[str], pools: Pools, rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Words as (text, start, end) in seconds, with a pause that somebody made behind the same mark."""
    clock, found = 0.0, []
    for text in texts:
        pool = pools.get(strip(text)[1].mark) or pools[""]
        found.append((text, round(clock, 3), round(clock + _WORD, 3)))
        clock += _WORD + pool[rng.integers(len(pool))] / 1000
    return found


def scores(directory: Path, reference: Path, lang: str, keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Figures of a timed text by how its pauses are read."""
    return {
        name: {key: found[key] for key in keys}
        for name, options in READINGS.items()
        for found in [evaluate(directory, Path("/"), str(reference.resolve()), ["--lang", lang, *options])]
    }


def main() -> None:
    """Write the json to standard output."""
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=20_000, help="of each text")
    arguments = parser.parse_args()
    pools: Pools = defaultdict(list)
    for source in benchmark(arguments.data / CLOCK):
        for mark, pool in pools_of(source.words).items():
            pools[mark] += pool
    rows: dict[str, Any] = {}
    models: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, reference in SETS.items():
            lang = name[:2]
            directory = find_model_for(lang)
            texts = [word.text for source in benchmark(arguments.data / reference) for word in source.words]
            words = spoken(texts[: arguments.words], pools, np.random.default_rng(1))
            timed = Path(folder) / f"{name.replace(' ', '_')}.jsonl.xz"
            with lzma.open(timed, "wt", encoding="utf-8") as file:
                print(json.dumps({"id": name, "lang": lang, "words": words}, ensure_ascii=False), file=file)
            rows[name] = {"words": len(words)} | scores(directory, timed, lang, ("micro", "case"))
            models[directory.name] = digest(ModelConfig.load(directory))
            print(name, rows[name], file=sys.stderr)
        directory = find_model_for("fr")
        real = scores(directory, arguments.data / SPOKEN, "fr", ("micro",))
        rows["fr rhapsodie, its own times"] = real
        models[directory.name] = digest(ModelConfig.load(directory))
    report = {**head(arguments.data), "clock": CLOCK, "models": models, "rows": rows}
    print_report(report)


if __name__ == "__main__":
    main()
