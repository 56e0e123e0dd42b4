"""What a larger trigram model gains: the shipped model of a language and a larger one on the evaluation sets.

    python -m models.lab.ngram.estimate ro --data ../shared/data -o ro-large --larger 10
    python -m models.lab.studies.ngrams ro ro-large --data ../shared/data > tests/benchmarks/results/ngrams.json

Both are estimated from the same texts; the shipped one is pruned to a megabyte.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.metrics import figure
from cappunc_cli.features.evaluate.inputs import Source, sources
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import ENGINES, find_model_for
from cappunc_cli.restoration.models.trigrams import load
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from tests.benchmarks.measuring import digest, head, options_with_data, print_report

SHOWN = ("micro", "comma", "period", "case")


def main() -> None:
    """Write the json to standard output."""
    parser = options_with_data(__doc__)
    parser.add_argument("language")
    parser.add_argument("larger", type=Path, help="directory of the other model")
    parser.add_argument("--words", type=int, default=10_000, help="of each set")
    arguments = parser.parse_args()
    models = {}
    for directory in (find_model_for(arguments.language, "ngram"), arguments.larger):
        path = directory / ENGINES["ngram"].weights
        tokens = load(path)
        model = load_model(str(directory), engine="ngram")
        rows: dict[str, Any] = {}
        for path_of_set in sorted((arguments.data / arguments.language / "eval").glob("*.txt.xz")):
            document = next(sources([path_of_set]))
            document = Source(document.name, document.words[: arguments.words])
            new = restore(document.stripped(), model, Options(language=arguments.language, existing="replace"))
            scores = Evaluation([Sample(document.name, [word.text for word in document.words], new)]).scores
            found = rows[path_of_set.name.removesuffix(".txt.xz")] = {
                key: round(float(figure(scores[key])), 5) for key in SHOWN
            }
            print(model.config.name, path_of_set.name, found, file=sys.stderr, flush=True)
        models[model.config.name] = {
            "sha256": digest(model.config),
            "bytes": path.stat().st_size,
            "pairs": len(tokens.pairs.keys),
            "triples": len(tokens.triples.keys),
            "bias": dict(model.config.bias),
            "rows": rows,
        }
    command = f"python -m models.lab.studies.ngrams {arguments.language} {arguments.larger.name} --data $DATA"
    report = {**head(command=f"{command} --words {arguments.words}"), "words": arguments.words, "models": models}
    print_report(report)


if __name__ == "__main__":
    main()
