"""What is wrong in a hypothesis: the corrections that an editor would make, and wrong marks and cases in context.

An editor counts each place once. A full stop instead of a comma is one correction, and the capital after it goes with
it. So a capital counts only if both texts agree on whether a sentence begins there, or if it is wrong even after that
mark has been corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from cappunc_cli.document.labels import QUOTE_PAIR, TERMINAL, Case, Label, PairedMark, strip
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.pairs import Alignment, Pair

#: Words shown on either side, and the most mistakes of a kind.
_CONTEXT, _MOST = 8, 500
_PLAIN = Label()
#: The corrections of an editor, as a report names them, and the beginnings of those without which readers are misled.
EDITS = tuple(
    f"{what} {how}"
    for what in ("comma", "sentence end", "question mark", "other mark", "capital", "opening mark", "quotation mark")
    for how in ("missed", "superfluous")
)
_MISLEADING = ("sentence end", "question mark", "other mark")


def edits(wanted: Label | None, found: Label | None, before: tuple[Label | None, Label | None]) -> Iterator[str]:
    """The corrections that turn the label `found` into `wanted`; `before` has the same pair for the previous word.

    None stands for a missing word (in `before`: the start of the text). A missing word lacks all its marks, an extra
    word has all its marks too many, and the case of neither counts.
    """
    ours, theirs = wanted or _PLAIN, found or _PLAIN
    yield from _edit_of_mark(ours.mark, theirs.mark)
    for what, kind in (("opening mark", frozenset(PairedMark) - QUOTE_PAIR), ("quotation mark", QUOTE_PAIR)):
        for mark in sorted((ours.paired ^ theirs.paired) & kind):
            yield f"{what} missed" if mark in ours.paired else f"{what} superfluous"
    if wanted is None or found is None or (wanted.case is found.case and wanted.form == found.form):
        return
    starts_in_wanted, starts_in_found = (
        label is None or (label.mark != "" and label.mark in TERMINAL) for label in before
    )
    if wanted.case is Case.LOWER:
        if starts_in_wanted or not starts_in_found:  # else the capital goes with the sentence end
            yield "capital superfluous"
    elif found.case is not Case.LOWER or starts_in_found or not starts_in_wanted:
        yield "capital missed"


def _alignment_edits(alignment: Alignment) -> Iterator[tuple[str, Pair, int]]:
    """All corrections, each with its pair of words, and the hypothesis word there or before it."""
    before: tuple[Label | None, Label | None] = (None, None)
    place = 0
    for i, j in alignment.pairs:
        wanted = None if i is None else alignment.reference[i][1]
        found = None if j is None else alignment.hypothesis[j][1]
        place = place if j is None else j
        for edit in edits(wanted, found, before):
            yield edit, (i, j), place
        # After a word that one side lacks, that side's previous word stays the same.
        before = (wanted or before[0], found or before[1])


def _edit_of_mark(wanted: str, found: str) -> Iterator[str]:
    """At most one correction, named after the stronger of the two marks."""
    if wanted == found:
        return
    for marks, what in (("?", "question mark"), (".!", "sentence end"), (":;—…", "other mark"), (",", "comma")):
        ours, theirs = wanted != "" and wanted in marks, found != "" and found in marks
        if ours or theirs:
            yield f"{what} missed" if ours else f"{what} superfluous"
            return


def corrections(evaluation: Evaluation) -> dict[str, int]:
    """The number of corrections that an editor would have to make, all and of each kind."""
    counts = Counter(edit for sample in evaluation.samples for edit, _, _ in _alignment_edits(sample.alignment))
    return {"all edits": counts.total(), **{edit: counts[edit] for edit in EDITS}}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One correction that an editor would make, of the kind `group` (one of EDITS).

    `start` is in milliseconds, or None; the word is given as both sides write it ('' if a side lacks it) between words
    of the hypothesis.
    """

    file: str
    start: int | None
    group: str
    before: str
    reference: str
    hypothesis: str
    after: str


def worst_mistakes(evaluation: Evaluation) -> list[Mistake]:
    """The mistakes of all samples by kind, the worst kind first; of each kind only the first _MOST."""
    found = [mistake for sample in evaluation.samples for mistake in _mistakes(evaluation, sample)]
    kinds = sorted(EDITS, key=lambda edit: not edit.startswith(_MISLEADING))
    return [one for kind in kinds for one in [mistake for mistake in found if mistake.group == kind][:_MOST]]


def _mistakes(evaluation: Evaluation, sample: Sample) -> Iterator[Mistake]:
    alignment, words = sample.alignment, sample.hypothesis
    # A hypothesis without any quotation marks (or other paired marks) was not asked for them.
    paired = frozenset[PairedMark]().union(*(label.paired for label in {label for _, label in alignment.hypothesis}))
    asked = {"opening mark": paired - QUOTE_PAIR, "quotation mark": paired & QUOTE_PAIR, "capital": evaluation.cased}
    for edit, (i, j), place in _alignment_edits(alignment):
        reference, hypothesis = "" if i is None else sample.reference[i], "" if j is None else words[j]
        (wanted, ours), (found, theirs) = strip(reference), strip(hypothesis)
        what = edit.rpartition(" ")[0]
        if what == "capital" and wanted != found:
            continue  # the case of a substituted word cannot be compared
        same = evaluation.fold.get(ours.mark, ours.mark) == evaluation.fold.get(theirs.mark, theirs.mark)
        if not asked.get(what, not same):
            continue
        yield Mistake(
            sample.name,
            sample.starts[place] if place < len(sample.starts) else None,
            edit,
            " ".join(words[max(place - _CONTEXT, 0) : place + (j is None)]),
            reference,
            hypothesis,
            " ".join(words[place + 1 : place + 1 + _CONTEXT]),
        )
