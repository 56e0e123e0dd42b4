"""Put a space before a mark where the language has one: French `Bonjour !`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from cappunc_cli.document.labels import cached_strip, dress
from cappunc_cli.languages import Language

#: Not the narrow no-break space, which old code pages lack.
_NO_BREAK = "\u00a0"


def space_marks(old: Sequence[str], new: Sequence[str], language: Language) -> list[str]:
    """The new texts with a space before each added mark that the language spaces.

    The text's own marks decide which space, and whether there is one: in Switzerland, Belgium and Canada there may be
    none. A text without such marks gets a no-break space.
    """
    space = _usual_space(old, language.spaced)
    if not space:
        return list(new)
    return [a if a == b else _add_space(a, b, language.spaced, space) for a, b in zip(old, new, strict=True)]


def _usual_space(texts: Sequence[str], spaced: str) -> str:
    """The space before most spaced marks of a text, "" for none."""
    spaces: Counter[str] = Counter()
    for text in texts:
        after = cached_strip(text)[1].after
        at = next((i for i, c in enumerate(after) if c in spaced), None)
        if at is not None:
            spaces[after[at - 1] if at and after[at - 1].isspace() else ""] += 1
    return spaces.most_common(1)[0][0] if spaces else _NO_BREAK


def _add_space(old: str, new: str, spaced: str, space: str) -> str:
    (_, old_label), (bare, label) = cached_strip(old), cached_strip(new)
    after = label.after
    at = next((i for i, c in enumerate(after) if c in spaced), None)
    if at is None or after == old_label.after or after[at - 1 : at].isspace():
        return new
    return dress(bare, replace(label, after=f"{after[:at]}{space}{after[at:]}"))
