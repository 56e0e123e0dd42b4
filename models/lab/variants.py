"""Score a model of which something is taken away, with the other options of `cappunc eval`; prints its JSON.

    python -m models.lab.variants --shuffle-pauses --model en-fast --ref $DATA/iwslt/test2011

--shuffle-pauses: the known pauses stand between other words. --starts-alone: words have no ends, as in YouTube's
captions. --independent: marks and case are decided apart. --marks-given: the marks of the reference are kept, so that
only case is restored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from cappunc_cli.cli.commands import Command, command
from cappunc_cli.cli.main import COMMANDS
from cappunc_cli.document.labels import Case, dress, strip
from cappunc_cli.document.pauses import pauses
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation import Sample, evaluate
from cappunc_cli.evaluation.datasets import Source
from cappunc_cli.evaluation.report import as_dict, score_systems
from cappunc_cli.features.evaluate.inputs import Reading, sources, starts
from cappunc_cli.features.evaluate.options import EvalOptions
from cappunc_cli.features.evaluate.restorer import Restorer
from cappunc_cli.features.evaluate.run import restorer_of, signature_of
from cappunc_cli.files.output import write_json
from cappunc_cli.restoration.decoding.decoder import mark_scores, written_labels
from cappunc_cli.restoration.decoding.evidence import no_evidence
from cappunc_cli.restoration.decoding.passage import place_marks
from cappunc_cli.restoration.pipeline import probabilities, read_passage, written

#: What is taken away, by its option, and what the signature says of it.
VARIANTS = {
    "--shuffle-pauses": "pauses:shuffled",
    "--starts-alone": "pauses:starts",
    "--independent": "decided:independently",
    "--marks-given": "marks:given",
}


@dataclass(frozen=True, slots=True)
class _Eval(Command):
    """`cappunc eval` of some of the VARIANTS."""

    variants: frozenset[str] = frozenset()

    def run(self, context: Any, options: EvalOptions) -> None:  # noqa: ARG002
        """Score the model and print the report."""
        write_json(report(options, self.variants))


def report(options: EvalOptions, variants: frozenset[str]) -> dict[str, object]:
    """The report of `cappunc eval --json` on a model of some variants."""
    restorer = restorer_of(options)
    if "--marks-given" in variants:  # hardly any are missing
        restorer = replace(restorer, options=replace(restorer.options, existing="keep", sensitivity=0.0))
    samples = []
    how = Reading(options.format_name, options.only, options.speech_dashes)
    for source in sources(options.references, how, options.scored.gold_windows):
        words = list(lowered(source) if "--marks-given" in variants else source.stripped())
        if "--shuffle-pauses" in variants:
            words = shuffled_pauses(words, options.seed)
        if "--starts-alone" in variants:
            words = [replace(word, end=None) for word in words]
        reference = [word.text for word in source.words]
        texts, rows = restorer.restore(words) if words else ([], None)
        texts = apart(words, restorer) if words and "--independent" in variants else texts
        samples.append(Sample(source.name, reference, texts, starts(words), rows))
    told = dict(VARIANTS[variant].split(":") for variant in sorted(variants))
    signature = {**signature_of(options, restorer, {}, samples), **told}
    return as_dict(score_systems({"": evaluate(samples, restorer.fold)}, 0, 0), signature)


def apart(words: list[Word], restorer: Restorer) -> list[str]:
    """The texts of words whose marks and cases are the most probable ones, whether they go together or not."""
    model = replace(restorer.model, config=replace(restorer.model.config, consistency=0.0))
    passage = read_passage(words, probabilities(words, model, restorer.options), model, restorer.options)
    marks = mark_scores(passage, no_evidence(len(words))).argmax(1)
    labels = written_labels(passage, passage.posteriors.cases.argmax(1), place_marks(passage, marks))
    return written(words, passage, labels)


def lowered(source: Source) -> Iterator[Word]:
    """The reference words in lower case with their marks. Raises BadInput if there are recognised words."""
    if source.recognised is not None:
        raise BadInput(f"{source.name}: recognised words have no marks to keep")
    for word in source.words:
        bare, label = strip(word.text)
        yield replace(word, text=dress(bare, replace(label, case=Case.LOWER, form="")))


def shuffled_pauses(words: Sequence[Word], seed: int) -> list[Word]:
    """The same words with their known pauses shuffled; unknown pauses stay where they are."""
    old = pauses(words)
    known = [pause for pause in old if pause is not None]
    Random(seed).shuffle(known)
    remaining = iter(known)
    clock, result = 0, []
    before: int | None = None
    for word, pause in zip(words, old, strict=True):
        # Only pauses matter: words last 1 ms, without an end before an unknown pause and without a start after one.
        start = None if before is None else clock
        result.append(replace(word, start=start, end=None if pause is None else clock + 1))
        before = pause if pause is None else next(remaining)
        clock += 1 + (before or 0)
    return result


def main(arguments: Sequence[str]) -> None:
    """Run `cappunc eval` with these arguments."""
    row = COMMANDS["eval"]
    variants = frozenset(VARIANTS.keys() & set(arguments))
    own = _Eval(row.options_at, row.function_at, row.about, variants=variants)
    command("eval", own)([one for one in arguments if one not in variants and one != "--json"])


if __name__ == "__main__":
    main(sys.argv[1:])
