"""What caption breaks are worth as evidence: texts cut into captions, restored with and without that evidence.

    python -m models.lab.studies.captions --data ../shared/data > tests/benchmarks/results/captions.json

The held-out ends of training corpora (`heldout` in train.toml) in captions of one or two lines without gaps, which end
with sentences where possible, or anywhere. Micro-F1 over , . ? and F1 of sentence ends. A quarter of an hour on two
cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from cappunc_cli.document.labels import fold, strip
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite
from models.lab.heldout import heldout_words
from models.lab.recipe import LabRecipe
from tests.benchmarks.measuring import head, options_with_data, print_report

CORPORA = {
    "en": ("changelog", "crd3", "whpress"),
    "es": ("eltec_spa", "congreso_parlamint", "mananeras"),
}
#: Characters of a caption of two lines, and how long (ms) one is shown.
_MOST, _SHOWN = 84, 3000
#: From this share of a full caption on it may end: with a sentence, at a comma, anywhere; and how often it does.
_BREAKS = ((".?!", 0.2, 0.85), (",", 0.55, 0.7), ("", 0.8, 0.3))


def heldout_ends(code: str, model: Path, data: Path, most: int) -> Iterator[tuple[str, list[str]]]:
    """The name of each text and its last words, at most `most`, which the model was not trained on."""
    recipe = replace(LabRecipe.load(model / "train.toml"), data=data)
    for name in CORPORA[code]:
        # Those of English have no code before their names.
        known = name if name in recipe.corpora else f"{code}/{name}"
        yield f"{code}/{name}", [word.text for word in heldout_words(recipe, known, most)]


def at_sentences(word: str, length: int, chance: Random) -> bool:
    """Whether a caption of `length` characters ends after a word, as an editor would cut."""
    marks = strip(word)[1].after
    allowed = ((share, often) for signs, share, often in _BREAKS if not signs or any(c in signs for c in marks))
    return any(length >= share * _MOST and chance.random() < often for share, often in allowed)


def anywhere(_word: str, length: int, _chance: Random) -> bool:
    """Whether a caption is full, and nothing else."""
    return length > _MOST - 6


def captions(tokens: list[str], ends: Callable[[str, int, Random], bool]) -> Iterator[Word]:
    """Bare words with the times of captions."""
    chance, cue, length, first = Random(1), 0, 0, True
    for token in tokens:
        length += len(token) + 1
        last = ends(token, length, chance) or length > _MOST
        start, end = cue * _SHOWN if first else None, (cue + 1) * _SHOWN if last else None
        yield Word(fold(strip(token)[0]), start, end, cue)
        first = last
        if last:
            cue, length = cue + 1, 0


def scores(tokens: list[str], words: list[Word], model: Model, options: Options) -> dict[str, dict[str, float]]:
    """The marks with the captions as evidence, and with all words in one."""
    rows = probabilities(words, model, options)
    result = {}
    for name, seen in (("without", [replace(word, cue=0) for word in words]), ("with", words)):
        found = Evaluation([Sample(name, tokens, rewrite(seen, rows, model, options))]).scores
        result[name] = {key: round(float(found[key].f1), 4) for key in ("micro", "boundary")}  # type: ignore[union-attr]
    return result


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--words", type=int, default=4000)
    arguments = parser.parse_args()
    rows = {}
    for code in CORPORA:
        directory = find_model_for(code)
        model, options = load_model(str(directory)), Options(language=code, existing="replace")
        for name, tokens in heldout_ends(code, directory, arguments.data, arguments.words):
            rows[name] = {
                cut.__name__: scores(tokens, list(captions(tokens, cut)), model, options)
                for cut in (at_sentences, anywhere)
            }
    print_report({**head(arguments.data), "rows": rows})


if __name__ == "__main__":
    main()
