"""Words per second of every language's network and trigram model: one machine, one run, in alternation.

    python tests/benchmarks/languages.py --data ../shared/data > tests/benchmarks/results/languages.json

From words to words, without files. About three minutes on two otherwise idle cores.
"""

from __future__ import annotations

import time
from pathlib import Path

from measuring import digest, head, options_with_data, print_report

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import ENGINES, model_languages
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from models.lab.readers import paragraphs

#: An evaluation set of each language that is long enough.
TEXTS = {
    "en": "en/eval/ted.txt.xz",
    "es": "es/eval/congreso_parlamint.txt.xz",
    "eu": "eu/eval/argia_bhtc.txt.xz",
    "ro": "ro/eval/eltec_rom.txt.xz",
    "vi": "vi/eval/vietnews_test.txt.xz",
}


def words_of(path: Path, count: int) -> list[Word]:
    """The first words of a text, bare."""
    written = (text for document in paragraphs(path) for turn in document for text in turn.text.split())
    bare = (word for word, _ in map(strip, written) if word)
    return [Word(word) for word, _ in zip(bare, range(count), strict=False)]


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=8000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    models = {
        (code, engine): load_model(None, "cpu", language=code, engine=engine)
        for code in TEXTS
        for engine, config in ENGINES.items()
        if code in model_languages(config)
    }
    texts = {code: words_of(arguments.data / name, arguments.words) for code, name in TEXTS.items()}
    best: dict[tuple[str, str], float] = {}
    for _ in range(arguments.repeats):
        for (code, engine), model in models.items():
            begun = time.perf_counter()
            restore(texts[code], model, Options(language=code))
            pace = len(texts[code]) / (time.perf_counter() - begun)
            best[code, engine] = max(best.get((code, engine), 0.0), pace)
    rows = [
        {"language": code, "engine": engine, "model": model.config.name, "words_per_second": round(best[code, engine])}
        for (code, engine), model in models.items()
    ]
    report = {
        **head(arguments.data),
        "words": arguments.words,
        "models": {model.config.name: digest(model.config) for model in models.values()},
        "rows": rows,
    }
    print_report(report)


if __name__ == "__main__":
    main()
