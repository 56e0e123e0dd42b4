"""A reference with every result that an editor accepts, in one notation.

`{. And|, and}` is one or the other; `{,}` alone is a comma or none. What an editor accepts of the same words stands in
one pair of braces, so the capital goes with its full stop. `{She said, “Go.”|~She said, go.}`: the one with the tilde
is what one lives with where no quotation marks are to be had, and counts as one thing to mend. Groups may hold groups.
All alternatives of a group have the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cappunc_cli.errors import BadInput
from cappunc_cli.transcript.labels import Label, cached_strip, fold

#: What `nearest` asks of a word: its label, the labels that were found there and of the words before -> how bad it is.
Cost = Callable[[Label, Label | None, tuple[Label | None, Label | None]], int]

_SPECIAL = re.compile(r"[{}|]")
_DETACHED = re.compile(r"[ \t]+(?=[—–…])")
_SIGN, _SPACE = re.compile(r"[^\w\s]"), re.compile(r"\s+")
#: What parts nothing, and what begins a line, a caption or a turn: `- No.`, `>> Good evening.`
_NO_WORD = frozenset(("", "-", ">>"))


@dataclass(frozen=True, slots=True)
class _Alternative:
    parts: tuple[_Part, ...]
    tolerated: bool = False


#: Text, or alternatives to choose from.
_Part = str | tuple[_Alternative, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to write all so far: its words, what is written of the next one, how much it leaves to mend."""

    words: tuple[str, ...] = ()
    rest: str = ""
    cost: int = 0
    tolerated: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """A text in the notation, parsed."""

    parts: tuple[_Part, ...]

    @property
    def text(self) -> str:
        """The text with the first alternative of each group, lines and all."""
        return _first(self.parts)

    @property
    def words(self) -> list[str]:
        """The words of `text`, with their marks."""
        return [word for word in self.text.split() if word not in _NO_WORD]

    def nearest(self, found: Sequence[Label | None], cost: Cost) -> tuple[list[str], int]:
        """The words of the way that leaves least to mend in what was `found`, and how many things in it are tolerated.

        `found` has one label a word, None where the word is missing.
        """

        def closed(way: _Way) -> _Way:
            at = len(way.words)
            label = cached_strip(way.rest)[1]
            before = (cached_strip(way.words[-1])[1], found[at - 1]) if at else (None, None)
            more = cost(label, found[at], before)
            return _Way((*way.words, way.rest), "", way.cost + more, way.tolerated)

        ways = _extended([_Way()], self.parts, closed)
        best = min((closed(way) if way.rest else way for way in ways), key=_badness)
        return list(best.words), best.tolerated


def parse(text: str) -> Accepted:
    """Read the notation. Raises BadInput with the line of a brace without its partner, or of words that differ."""
    source = _DETACHED.sub("", text)
    parts, end = _parse(source, 0, inside=False)
    assert end == len(source)
    return Accepted(parts)


def _parse(source: str, at: int, inside: bool) -> tuple[tuple[_Part, ...], int]:
    """The parts from an offset up to the end, or (`inside`) to the bar or the brace that closes the alternative."""
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
        raise BadInput("alternatives with other words", line=_line(source, begin))
    return tuple(alternatives), at + 1


def _line(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1


def _first(parts: Sequence[_Part]) -> str:
    return "".join(part if isinstance(part, str) else _first(part[0].parts) for part in parts)


def _badness(way: _Way) -> tuple[int, int]:
    # Of equals the quotation that was never opened: that is what an editor sees.
    return way.cost + way.tolerated, -way.tolerated


def _extended(ways: Sequence[_Way], parts: Sequence[_Part], closed: Callable[[_Way], _Way]) -> list[_Way]:
    """The best of the ways for each end that they can have, with `parts` behind them."""
    for part in parts:
        if isinstance(part, str):
            ways = [_with_text(way, part, closed) for way in ways]
        else:
            ways = [
                _Way(way.words, way.rest, way.cost, way.tolerated + one.tolerated)
                for one in part
                for way in _extended(ways, one.parts, closed)
            ]
        # What is still to come depends on the word that is being written and the one before alone.
        kept: dict[tuple[str, str], _Way] = {}
        for way in ways:
            key = (way.words[-1] if way.words else "", way.rest)
            if key not in kept or _badness(way) < _badness(kept[key]):
                kept[key] = way
        ways = list(kept.values())
    return list(ways)


def _with_text(way: _Way, text: str, closed: Callable[[_Way], _Way]) -> _Way:
    for piece in re.findall(r"\s+|\S+", text):
        if not piece.isspace():
            way = _Way(way.words, way.rest + piece, way.cost, way.tolerated)
        else:
            way = _Way(way.words, "", way.cost, way.tolerated) if way.rest in _NO_WORD else closed(way)
    return way
