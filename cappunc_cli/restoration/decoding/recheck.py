"""`--existing recheck`: existing marks that the model is nearly certain are wrong.

Where an absent mark may be an editor's decision, a written one nearly always is. So a mark is removed or changed only
if the model gives it hardly any probability, and another one, or none, nearly all. Where a full stop goes, the capital
after it goes with it, and where one comes, it comes, unless the model says otherwise of the word.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, FOLD, LOWER, MARK_CLASSES, MARKS, TERMINAL, Case, Label
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.passage import IN_KIND, KIND, KINDS, Flags, Passage
from cappunc_cli.restoration.decoding.word_properties import WordProperty

#: Words whose period may belong to them, and what is no word.
_NOT_CHECKED = (
    WordProperty.NO_WORD
    | WordProperty.FRAGMENT
    | WordProperty.ABBREVIATION
    | WordProperty.ONE_LETTER
    | WordProperty.NO_PERIOD
    | WordProperty.INITIALISM
    | WordProperty.DEGREE
    | WordProperty.TITLE
)
#: Marks that end a sentence, or count as one that does.
_ENDING = [mark for mark in MARKS if FOLD.get(mark, mark) in TERMINAL]


def recheck(passage: Passage, lacking: Flags) -> list[Label]:
    """The labels of a passage, without the marks that are nearly certainly wrong; not where marks are `lacking`."""
    labels, posteriors = list(passage.labels), passage.posteriors
    by_kind = posteriors.marks @ IN_KIND
    kinds = np.array([_mark_kind(label) for label in labels])
    checked = (kinds > 0) & ~lacking & ~passage.followed & ~posteriors.has(_NOT_CHECKED)
    checked[-1:] = False  # the text ends here, whatever the network says at the edge of its last window
    written = by_kind[np.arange(len(labels)), np.maximum(kinds, 0)]
    for i in np.flatnonzero(checked & (written < tuned.WRONG) & (by_kind.max(1) > tuned.RIGHT)).tolist():
        mark = MARK_CLASSES[int(np.where(by_kind[i].argmax() == KIND, posteriors.marks[i], -1).argmax())]
        if mark and mark not in passage.marks:
            continue
        before, labels[i] = labels[i].mark, labels[i].with_mark(mark)
        if i + 1 < len(labels):
            labels[i + 1] = _with_case(passage, labels[i + 1], i + 1, ends=mark in _ENDING, ended=before in _ENDING)
    return labels


def _mark_kind(label: Label) -> int:
    """The kind of the only mark after a word, 0 for none, -1 for several or another sign."""
    sign = FOLD.get(label.mark, label.mark)
    return KINDS.index(sign) if sign in KINDS and len(label.signs - label.paired) <= 1 else -1


def _with_case(passage: Passage, label: Label, at: int, *, ends: bool, ended: bool) -> Label:
    """The label of the word after a changed mark, with a capital only where a sentence begins or the word has one."""
    if ends == ended or label.case not in (Case.LOWER, Case.CAPITAL):
        return label
    if ends:
        return replace(label, case=Case.CAPITAL)
    probable = CASE_CLASSES[int(passage.posteriors.cases[at].argmax())]
    return replace(label, case=Case.LOWER) if probable is CASE_CLASSES[LOWER] else label
