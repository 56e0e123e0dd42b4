"""Apostrophes that were left out: `dont`, `youre`. Only of words that are nothing else without one."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.languages.spelling_words import ApostropheWords
from cappunc_cli.spelling.passage_words import PassageWords


def missing_apostrophes(text: PassageWords, known: ApostropheWords) -> Iterator[tuple[int, str]]:
    """(word, how it is written in lower case but for its `I`) for each that lacks an apostrophe, in order."""
    for i, bare in enumerate(text.bare):
        new = known.sure.get(bare)
        if new is None and text.before(i) in known.subjects and text.next(i + 1) not in known.objects:
            new = known.after_subject.get(bare)
        if new is not None and text.before(i) not in known.determiners and text.may_change(i):
            yield i, new
