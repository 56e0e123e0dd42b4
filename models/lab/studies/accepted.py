"""A notation for references with alternatives: all results that an editor would accept.

`{. And|, and}` is one or the other; `{,}` alone is a comma or none. Words that depend on each other are in the same
braces, so that a capital goes with its full stop. `{She said, “Go.”|~She said, go.}`: the alternative with the tilde is
tolerated where quotation marks cannot be restored, and counts as one correction. Groups can be nested.
All alternatives of a group have the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import Label, fold, strip
from cappunc_cli.errors import BadInput

#: The cost of a word for `nearest`, from its label, the label found there, and both labels of the previous word.
Cost = Callable[[Label, Label | None, tuple[Label | None, Label | None]], int]

_SPECIAL = re.compile(r"[{}|]")
_DETACHED = re.compile(r"[ \t]+(?=[—–…])")
_SIGN, _SPACE = re.compile(r"[^\w\s]"), re.compile(r"\s+")
#: Tokens that are not words: empty ones, and the start of a line, a caption or a turn (`- No.`, `>> Good evening.`).
_NO_WORD = frozenset(("", "-", ">>"))


@dataclass(frozen=True, slots=True)
class _Alternative:
    parts: tuple[_Part, ...]
    tolerated: bool = False


#: Text, or alternatives to choose from.
_Part = str | tuple[_Alternative, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of the text so far: its words, the beginning of the next one, and its corrections."""

    words: tuple[str, ...] = ()
    partial: str = ""
    cost: int = 0
    tolerated: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """A parsed text in the notation."""

    parts: tuple[_Part, ...]

    @property
    def text(self) -> str:
        """The text with the first alternative of each group and its line breaks."""
        return _first(self.parts)

    @property
    def words(self) -> list[str]:
        """The words of `text`, with their marks."""
        return [word for word in self.text.split() if word not in _NO_WORD]

    def nearest(self, found: Sequence[Label | None], cost: Cost) -> tuple[list[str], int]:
        """The words of the reading nearest to the labels `found`, and how many tolerated alternatives it has.

        `found` has one label per word, None where the word is missing.
        """

        def finish_word(reading: _Reading) -> _Reading:
            at = len(reading.words)
            label = strip(reading.partial)[1]
            before = (strip(reading.words[-1])[1], found[at - 1]) if at else (None, None)
            more = cost(label, found[at], before)
            return _Reading((*reading.words, reading.partial), "", reading.cost + more, reading.tolerated)

        readings = _extend([_Reading()], self.parts, finish_word)
        best = min((finish_word(one) if one.partial else one for one in readings), key=_total_cost)
        return list(best.words), best.tolerated


def parse(text: str) -> Accepted:
    """Parse the notation; raises BadInput with the line of an unmatched brace, or of alternatives with other words."""
    source = _DETACHED.sub("", text)
    parts, end = _parse(source, 0, inside=False)
    assert end == len(source)
    return Accepted(parts)


def _parse(source: str, at: int, inside: bool) -> tuple[tuple[_Part, ...], int]:
    """The parts from offset `at` to the end, or (`inside`) to the bar or brace that closes the alternative."""
    parts: list[_Part] = []
    while found := _SPECIAL.search(source, at):
        parts.append(source[at : found.start()])
        if found[0] != "{":
            if not inside:
                raise BadInput(f"“{found[0]}” without “{{”", line=_line(source, found.start()))
            return tuple(parts), found.start()
        group, at = _group(source, found.start())
        parts.append(group)
    if inside:
        raise BadInput("“{” without “}”", line=_line(source, at))
    parts.append(source[at:])
    return tuple(parts), len(source)


def _group(source: str, begin: int) -> tuple[tuple[_Alternative, ...], int]:
    alternatives: list[_Alternative] = []
    at = begin
    while not alternatives or source[at] == "|":
        at += 1
        tolerated = source[at : at + 1] == "~"
        parts, at = _parse(source, at + tolerated, inside=True)
        alternatives.append(_Alternative(parts, tolerated))
    if len(alternatives) == 1:
        alternatives.append(_Alternative(("",)))
    if len({_SPACE.sub(" ", _SIGN.sub("", fold(_first(one.parts)))) for one in alternatives}) != 1:
        raise BadInput("the alternatives have different words", line=_line(source, begin))
    return tuple(alternatives), at + 1


def _line(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1


def _first(parts: Sequence[_Part]) -> str:
    return "".join(part if isinstance(part, str) else _first(part[0].parts) for part in parts)


def _total_cost(reading: _Reading) -> tuple[int, int]:
    # In a tie the tolerated alternative wins: an editor sees a quotation that was never opened.
    return reading.cost + reading.tolerated, -reading.tolerated


def _extend(
    readings: Sequence[_Reading], parts: Sequence[_Part], finish_word: Callable[[_Reading], _Reading]
) -> list[_Reading]:
    """Append `parts` to each reading; of those with the same end only the best is kept."""
    for part in parts:
        if isinstance(part, str):
            readings = [_append(reading, part, finish_word) for reading in readings]
        else:
            readings = [
                replace(reading, tolerated=reading.tolerated + alternative.tolerated)
                for alternative in part
                for reading in _extend(readings, alternative.parts, finish_word)
            ]
        # Future costs depend only on the unfinished word and the one before it.
        best: dict[tuple[str, str], _Reading] = {}
        for reading in readings:
            key = (reading.words[-1] if reading.words else "", reading.partial)
            if key not in best or _total_cost(reading) < _total_cost(best[key]):
                best[key] = reading
        readings = list(best.values())
    return list(readings)


def _append(reading: _Reading, text: str, finish_word: Callable[[_Reading], _Reading]) -> _Reading:
    for piece in re.findall(r"\s+|\S+", text):
        if not piece.isspace():
            reading = replace(reading, partial=reading.partial + piece)
        elif reading.partial in _NO_WORD:
            reading = replace(reading, partial="")
        else:
            reading = finish_word(reading)
    return reading
