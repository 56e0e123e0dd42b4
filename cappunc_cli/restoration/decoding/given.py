"""What another text says of the words of a passage: evidence that only what is there already overrules."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from cappunc_cli.document.labels import FOLD, LOWER, MARK_CLASSES, QUOTES, Case, PairedMark, strip
from cappunc_cli.restoration.decoding.evidence import Evidence
from cappunc_cli.restoration.decoding.passage import ENDS, NONE, Flags, Passage, columns, writing_style


def take_over(passage: Passage, known: Evidence) -> Passage:
    """The passage with the cases that are given; adds all that is given to what is `known` of it.

    Existing marks and capitals yield only if everything is replaced, and capitals where they say nothing.
    """
    labels, (cases, marks), given = list(passage.labels), passage.written, passage.given
    replaces = passage.options.existing == "replace"
    style = writing_style(passage.bare, cases, marks)
    any_case = replaces or style.upper or style.title
    for i, one in enumerate(given):
        if one is None:
            continue
        if one.mark is not None and (replaces or marks[i] == NONE):
            known.marks[i] = MARK_CLASSES.index(_allowed(one.mark, passage.marks))
        if not one.text or not (any_case or cases[i] == LOWER):
            continue
        label, before = strip(one.text)[1], given[i - 1] if i else None
        ends_here_only = (
            before is not None and known.marks[i - 1] in ENDS and MARK_CLASSES[known.marks[i - 1]] != before.mark
        )
        if not (label.case is Case.LOWER and ends_here_only):
            labels[i] = replace(labels[i], case=label.case, form=label.form)
            known.cases[i], known.capitals[i] = columns([label])[0][0], False
    passage = copy(passage)
    passage.labels = labels
    return passage


def _allowed(mark: str, wanted: str) -> str:
    """The mark, or the nearest of those that are wanted."""
    return next((one for one in (mark, FOLD.get(mark, ","), ",") if one in wanted), "") if mark else ""


def with_given_openers(passage: Passage) -> Passage:
    """The passage with the `¿` and `¡` of the other text."""
    labels = list(passage.labels)
    for i, one in enumerate(passage.given):
        if one is not None and not labels[i].paired & one.paired:
            openers = "".join(sorted(one.paired & {*passage.conventions.opening}))
            labels[i] = replace(labels[i], before=labels[i].before + openers)
    passage = copy(passage)
    passage.labels = labels
    return passage


def set_given_quotes(passage: Passage, opens: Flags, closes: Flags) -> None:
    """Let words open and close a quotation where they do so in the other text, unless ours has quotations."""
    own = any(not QUOTES.isdisjoint(label.before) or not QUOTES.isdisjoint(label.after) for label in passage.labels)
    for i, one in enumerate(passage.given):
        if one is not None:
            opens[i] = not own and PairedMark.OPEN_QUOTE in one.paired
            closes[i] = not own and PairedMark.CLOSE_QUOTE in one.paired


def is_given(passage: Passage) -> Flags:
    """Which words the other text has, [n]."""
    return np.array([one is not None for one in passage.given] or [False] * len(passage.labels), np.bool_)
