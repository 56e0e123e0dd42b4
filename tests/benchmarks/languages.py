"""Words per second of every language's network and trigram model: one machine, one run, in alternation.

    python tests/benchmarks/languages.py --data ../shared/data > tests/benchmarks/results/languages.json

From words to words, without files. About three minutes on two otherwise idle cores.
"""

from __future__ import annotations

import time

from measuring import digest, documents, head, options_with_data, print_report

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import ENGINES, model_languages
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

#: An evaluation set of each language that is long enough.
TEXTS = {
    "en": "en/eval/ted",
    "es": "es/eval/congreso_parlamint",
    "eu": "eu/eval/argia_bhtc",
    "ro": "ro/eval/eltec_rom",
    "vi": "vi/eval/vietnews_test",
}


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=8000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    models = {
        (code, engine): load_model(None, "cpu", language=code, engine=engine)
        for code in TEXTS
        for engine in ENGINES
        if code in model_languages(engine)
    }
    texts: dict[str, list[Word]] = {}
    for code, name in TEXTS.items():
        written = (word.text for words in documents(arguments.data, name, arguments.words) for word in words)
        texts[code] = [Word(strip(text)[0]) for text in written][: arguments.words]
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
