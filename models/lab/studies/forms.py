"""What the counts of the lexicon and other occurrences add to the case of words within sentences.

    python -m models.lab.studies.forms --data ../shared/data > tests/benchmarks/results/forms.json

The ends of training corpora in three languages, restored without and with `lexicon.weigh_forms`. Reported: F1 of the
words that are not in lower case and begin no sentence; a word counts only in its right form (`LeBron`, `BMW`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cappunc_cli.document.labels import TERMINAL, Case, fold, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

CORPORA = {
    "en": ("changelog", "crd3", "earnings", "spacelog", "whpress"),
    "es": ("congreso_parlamint", "mananeras", "discursos_cfk"),
    "de": ("bundestag", "cdda_talk", "hf_course"),
}
MODELS = {"en": "en-fast", "es": "multi", "de": "multi"}
WORDS = 1500


def without_counts(model: Model, language: str) -> Model:
    """The model with the forms of its lexicon, but not how often each is written."""
    lexicons: Any = {language: Lexicon(dict(model.lexicons[language].forms()))}
    return replace(model, lexicons=lexicons)


def f1(wanted: Sequence[str], found: Sequence[str]) -> tuple[int, int, int]:
    """The words within sentences that are not in lower case: right, of those found, and of those wanted."""
    right = said = there = 0
    inside = False
    for one, other in zip(wanted, found, strict=True):
        (_, old), (_, new) = strip(one), strip(other)
        if inside:
            there += old.case is not Case.LOWER
            said += new.case is not Case.LOWER
            right += old.case is not Case.LOWER and (old.case, old.form) == (new.case, new.form)
        inside = not old.mark or old.mark not in TERMINAL
    return right, said, there


def main() -> None:
    arguments = options_with_data(__doc__).parse_args()
    rows: dict[str, dict[str, float]] = {}
    models = {}
    for code, names in CORPORA.items():
        model = load_model(MODELS[code], "cpu")
        models[code] = identity(model.config)
        options = Options(language=code, existing="replace")
        for name in names:
            words = [word for text in documents(arguments.data / code, name, WORDS, True) for word in text][:WORDS]
            bare = [Word(fold(strip(word.text)[0])) for word in words]
            row: dict[str, float] = {"words": len(words)}
            for title, one in (("before", without_counts(model, code)), ("after", model)):
                right, said, there = f1([word.text for word in words], restore(bare, one, options))
                row |= {title: round(200 * right / max(said + there, 1), 1), "within sentences": there}
            rows[f"{code}/{name}"] = row
            print(code, name, row, file=sys.stderr)
    print_report(
        {**head(arguments.data), "model": ", ".join(dict.fromkeys(models.values())), "words": WORDS, "rows": rows}
    )


if __name__ == "__main__":
    main()
