"""The space before the marks of a language that has one there: French `Bonjour !`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.languages import Language
from cappunc_cli.transcript.labels import cached_strip, dress

#: Of the width that typesetters call fine there is none in the code pages of old files.
_NO_BREAK = "\u00a0"


def space_marks(old: Sequence[str], new: Sequence[str], language: Language) -> list[str]:
    """The new texts of words with a space before each of the language's spaced marks that has been put in.

    The space is the one that the text has at its own marks: none where most of these have none, as in Switzerland,
    Belgium and Canada. Where it has no such marks it is a no-break space.
    """
    space = _space_of(old, language.spaced)
    if not space:
        return list(new)
    return [was if was == now else _spaced(was, now, language.spaced, space) for was, now in zip(old, new, strict=True)]


def _space_of(texts: Sequence[str], spaced: str) -> str:
    """The space that most marks of a text stand behind; "" for none."""
    found: Counter[str] = Counter()
    for text in texts:
        after = cached_strip(text)[1].after
        at = next((i for i, c in enumerate(after) if c in spaced), None)
        if at is not None:
            found[after[at - 1] if at and after[at - 1].isspace() else ""] += 1
    return found.most_common(1)[0][0] if found else _NO_BREAK


def _spaced(old: str, new: str, spaced: str, space: str) -> str:
    (_, was), (bare, label) = cached_strip(old), cached_strip(new)
    after = label.after
    at = next((i for i, c in enumerate(after) if c in spaced), None)
    if at is None or after == was.after or after[at - 1 : at].isspace():
        return new
    return dress(bare, replace(label, after=f"{after[:at]}{space}{after[at:]}"))
