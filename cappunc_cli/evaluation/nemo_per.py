"""NeMo's punctuation error rate with NeMo's own alignment, for comparison with its figures.

Words and marks form one sequence; while aligning, all marks are the same token, and words keep
their case. When steps of the backtrace cost the same, substitution goes first, then insertion. Ours
(`per` in METRICS) uses the common alignment of words instead, which does not depend on case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cappunc_cli.document.labels import dress
from cappunc_cli.evaluation.align import Alignment, Token

#: NeMo's table is quadratic in the length of an utterance, so long texts are cut after a word on which both agree.
_LONGEST = 60
_MARK = ""


def error_rate(texts: Iterable[tuple[str, str]]) -> float:
    """(S + D + I) / (C + S + D + I) over pairs of reference and hypothesis; 0 if there are no marks."""
    counts: Counter[str] = Counter()
    for reference, hypothesis in texts:
        counts.update(operations(reference, hypothesis))
    total = counts.total()
    return (total - counts["C"]) / total if total else 0.0


def operations(reference: str, hypothesis: str, marks: str = ",.?") -> Counter[str]:
    """How many marks are C(orrect), S(ubstituted), D(eleted), I(nserted)."""
    pattern = re.compile(rf"[\w']+|[{re.escape(marks)}]")
    ours, theirs = pattern.findall(reference), pattern.findall(hypothesis)
    counts = Counter("C" if a == b else "S" for a, b in _matches(ours, theirs, marks) if a in marks)
    paired = counts["C"] + counts["S"]
    counts["D"] = sum(token in marks for token in ours) - paired
    # A substitution uses up a mark on both sides.
    counts["I"] = sum(token in marks for token in theirs) - paired
    return counts


def _matches(ours: Sequence[str], theirs: Sequence[str], marks: str) -> Iterator[tuple[str, str]]:
    """Pairs of tokens that are aligned as equal, all marks being the same token; last pair first."""
    a = [_MARK if token in marks else token for token in ours]
    b = [_MARK if token in marks else token for token in theirs]
    costs = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        above, row = costs[-1], [i]
        for j, y in enumerate(b, 1):
            row.append(above[j - 1] if x == y else 1 + min(above[j - 1], row[j - 1], above[j]))
        costs.append(row)
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            yield ours[i], theirs[j]
        elif costs[i][j] == costs[i - 1][j - 1] + 1:
            i, j = i - 1, j - 1
        elif costs[i][j] == costs[i][j - 1] + 1:
            j -= 1
        else:
            i -= 1


def utterances(alignment: Alignment, fold: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Cut a long text into pieces for NeMo's quadratic table, each after a word on which both sides agree.

    Words are written with their case and their folded mark only.
    """
    reference, hypothesis = _plain(alignment.reference, fold), _plain(alignment.hypothesis, fold)
    i = j = 0
    for a, b in alignment.pairs():
        if a is None or b is None or a + 1 - i < _LONGEST:
            continue
        if alignment.reference[a].bare == alignment.hypothesis[b].bare:
            yield " ".join(reference[i : a + 1]), " ".join(hypothesis[j : b + 1])
            i, j = a + 1, b + 1
    yield " ".join(reference[i:]), " ".join(hypothesis[j:])


def _plain(words: Sequence[Token], fold: Mapping[str, str]) -> list[str]:
    result = []
    for token in words:
        mark = token.label.mark
        result.append(dress(token.bare, replace(token.label, before="", after=fold.get(mark, mark))))
    return result
