"""How many words of a text typed without diacritics are correct before and after `--diacritics restore`.

    python -m models.lab.studies.diacritics --data ../shared/data > tests/benchmarks/results/diacritics.json

The beginnings of Romanian and Spanish evaluation sets without their diacritics; marks and case are kept. The reference
is normalised first (one code point per letter), because that is not part of the restoration.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

from cappunc_cli.features.evaluate.inputs import sources
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.models.trigrams import NgramEngine
from cappunc_cli.restoration.orthography import DiacriticRestorer, normalise
from tests.benchmarks.measuring import digest, head, options_with_data, print_report

SETS = {
    "ro": ("eltec_rom", "xquad", "blog_titus", "ud_rrt_test"),
    "es": ("mananeras", "xquad", "ud_ancora_test"),
}


def measured(path: Path, code: str, speller: DiacriticRestorer, most: int) -> dict[str, Any]:
    """Counts of words, of those with diacritics, and of those that are correct without diacritics and once restored."""
    conventions = language(code)
    letters = conventions.diacritics + conventions.diacritics.upper()
    plain = str.maketrans({letter: normalize("NFD", letter)[0] for letter in letters})
    words = (word.text for source in sources([path]) for word in source.words)
    truth = [normalise(normalize("NFC", text), conventions) for text in islice(words, most)]
    typed = [text.translate(plain) for text in truth]
    restored = speller.restore(typed)
    return {
        "words": len(truth),
        "with diacritics": sum(a != b for a, b in zip(truth, typed, strict=True)),
        "right before": sum(map(str.__eq__, truth, typed)),
        "right after": sum(map(str.__eq__, truth, restored)),
        "spoilt": sum(a == b != c for a, b, c in zip(truth, typed, restored, strict=True)),
    }


def main() -> None:
    """Write the json to standard output."""
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=10_000, help="of each set")
    arguments = parser.parse_args()
    models, rows = {}, {}
    for code, names in SETS.items():
        engine = NgramEngine(find_model_for(code, "ngram"))
        models[engine.config.name] = digest(engine.config)
        speller = DiacriticRestorer(engine, language(code))
        for name in names:
            found = measured(arguments.data / code / "eval" / f"{name}.txt.xz", code, speller, arguments.words)
            rows[f"{code} {name}"] = found
            print(name, found, file=sys.stderr, flush=True)
    print_report({**head(arguments.data), "models": models, "rows": rows})


if __name__ == "__main__":
    main()
