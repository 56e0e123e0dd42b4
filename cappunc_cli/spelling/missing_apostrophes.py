"""Find words that lack an apostrophe (`dont`, `youre`), but only those that cannot be another word without it."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.languages.spelling_words import ApostropheWords
from cappunc_cli.spelling.passage_words import PassageWords


def missing_apostrophes(text: PassageWords, known: ApostropheWords) -> Iterator[tuple[int, str]]:
    """Yield (index, correct spelling) of each word that lacks an apostrophe, in order.

    The spelling is in lower case, except for a capital `I`.
    """
    for i, bare in enumerate(text.bare):
        new = known.sure.get(bare)
        if new is None and text.before(i) in known.subjects and text.next(i + 1) not in known.objects:
            new = known.after_subject.get(bare)
        if new is not None and text.before(i) not in known.determiners and text.may_change(i):
            yield i, new
