"""Make samples from files: hypotheses are read, or restored by a model from the stripped reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.evaluation import Sample
from cappunc_cli.evaluation.datasets import Source, gold_windows
from cappunc_cli.features.evaluate.inputs import ANYTHING, Reading, listing, load_documents, pair_files
from cappunc_cli.features.evaluate.restorer import Restorer
from cappunc_cli.files.progress import FileTally


def sources(
    references: Sequence[Path],
    how: Reading = ANYTHING,
    windows: int | None = None,
    tally: FileTally | None = None,
) -> Iterator[Source]:
    """Yield the documents of the references; raises BadInput if there are none.

    With `windows`, they are cut into windows of at most that many words at sentence ends. Files are counted in the
    `tally` when they have been consumed.
    """

    found = matched = False
    tally = tally or FileTally()
    paths = listing(references)
    tally.files = len(paths)
    for path in paths:
        for source in load_documents(path, how):
            matched = True
            if source.words:
                found = True
                yield from (source,) if windows is None else gold_windows(source, windows)
        tally.done += 1
    if not found:
        raise _nothing(how, matched)


def restored(documents: Iterable[Source], restorer: Restorer, marks_given: bool = False) -> Iterator[Sample]:
    """Strip each document (only of case if `marks_given`), restore it, and pair it with the original."""

    for source in documents:
        words = source.lowered() if marks_given else source.stripped()
        texts, probabilities = restorer.restore(words) if words else ([], None)
        reference = [word.text for word in source.words]
        yield Sample(source.name, reference, texts, starts(words), probabilities)


def read(
    references: Sequence[Path], hypotheses: Sequence[Path], how: Reading, tally: FileTally | None = None
) -> list[Sample]:
    """Samples from pairs of reference and hypothesis files, document by document.

    Pairs are counted in the `tally`. Raises CappuncError.
    """

    samples = []
    tally = tally or FileTally()
    pairs = pair_files(references, hypotheses)
    tally.files = len(pairs)
    for reference, hypothesis in pairs:
        ours = list(load_documents(reference, how))
        theirs = list(load_documents(hypothesis, how))
        if len(ours) != len(theirs):
            raise BadInput(f"has {len(theirs)} documents, but {reference.name} has {len(ours)}", path=str(hypothesis))
        for a, b in zip(ours, theirs, strict=True):
            same = len(a.words) == len(b.words)
            times = starts(b.words) or (starts(a.words) if same else [])
            reference_words, texts = ([word.text for word in side.words] for side in (a, b))
            samples.append(Sample(a.name, reference_words, texts, times))
        tally.done += 1
    if not any(sample.reference for sample in samples):
        raise _nothing(how, bool(samples))
    if not any(sample.hypothesis for sample in samples):
        raise BadInput("has no words", path=", ".join(map(str, hypotheses)))
    return samples


def _nothing(how: Reading, matched: bool) -> CappuncError:
    """The error if there is nothing to score, though perhaps a document has `matched` --only."""
    if how.only is not None and not matched:
        return WrongUsage(f"--only: {how.only} matches no document")
    return BadInput("no words to score")


def starts(words: Sequence[Word]) -> list[int | None]:
    """The start of each word, or of the last word before it that has one; [] if no word has one."""
    result: list[int | None] = []
    last = None
    for word in words:
        last = last if word.start is None else word.start
        result.append(last)
    return result if last is not None else []
