"""Align two texts word by word: anchors of rare word sequences first, then the fewest errors between them.

Sequences of four words that come once in either text are the anchors; of those that cross, the longest chain counts
(patience diff, Cohen 2003). Between two anchors rapidfuzz finds the fewest errors. A pair among others that do not fit
is a coincidence and is dropped. What is left is looked for anywhere in the other text: it was moved, or is said again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import combining, normalize

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from cappunc_cli.document.labels import strip

#: Words of an anchor, and a factor that spreads their numbers over 64 bits.
_GRAM, _SPREAD = 4, np.uint64(0x9E3779B97F4A7C15)
#: A pair counts if it is among so many more that they are this share of the words there.
_NEAR, _LEAST = 4, 0.4
#: Stretches without a counterpart of so many words are looked for elsewhere; and how far their pairs may be off.
_STRETCH, _OFF = 8, 8
#: Places of a sequence that are looked at.
_MOST_PLACES = 20
#: Most words, on either side, of a difference that is looked at word by word, and of a word written in several.
_DIFFERENCE, _PARTS = 8, 6
#: From this likeness (per cent) on one word was heard or spelled for the other.
_LIKE = 50
_HYPHENS = re.compile("[-\u2010\u2011–—]")

#: Numbers of the words of a text, equal for equal words.
_Numbers = npt.NDArray[np.uint64]
_Pair = tuple[int, int]

EQUAL, NEAR, PLACE = range(3)


class Link(NamedTuple):
    """Words [first, stop) that the other text has as [other, until).

    `kind`: EQUAL, NEAR (heard or spelled otherwise), or PLACE (other words that end in the same place).
    """

    first: int
    stop: int
    other: int
    until: int
    kind: int


@lru_cache(maxsize=1 << 15)
def key(text: str) -> str:
    """What is equal in two spellings of a word: letters and digits, without case, accents, marks, and stutter."""
    bare = strip(text)[0]
    if "-" in bare and len(parts := {part for part in _HYPHENS.split(bare) if part}) == 1:
        [bare] = parts
    if not bare.isascii():
        bare = "".join(c for c in normalize("NFKD", bare.casefold()) if not combining(c))
    return "".join(filter(str.isalnum, bare)) or bare


def align(
    ours: Sequence[str], theirs: Sequence[str], says: Callable[[Sequence[str]], str] = lambda _: ""
) -> list[Link]:
    """The links of two texts, in our order; one of our words is in one link at most.

    `says` are the digits of a number that some words spell, "" if they do not.
    """
    keys = [[key(text) for text in side] for side in (ours, theirs)]
    known: dict[str, int] = {}
    left, right = (np.array([known.setdefault(one, len(known) + 1) for one in side], np.uint64) for side in keys)
    pairs = _likely(list(_chained(left, right)))
    taken = {i for i, _ in pairs}
    pairs += [pair for pair in _elsewhere(left, right, pairs) if pair[0] not in taken]
    pairs.sort()
    links = []
    for (i, j), (i_next, j_next) in pairwise([(-1, -1), *pairs, (len(ours), len(theirs))]):
        if j >= 0:
            links.append(Link(i, i + 1, j, j + 1, EQUAL))
        rows, columns = i_next - i - 1, j_next - j - 1
        if 0 < rows <= _DIFFERENCE and 0 < columns <= _DIFFERENCE:
            links += _difference(keys, (i + 1, i_next), (j + 1, j_next), says)
    return links


def _chained(left: _Numbers, right: _Numbers) -> Iterator[_Pair]:
    """Pairs of equal words that do not cross."""
    sides, last = (left.tolist(), right.tolist()), (-1, -1)
    for i, j in [*_anchors(left, right), (len(left), len(right))]:
        ours, theirs = sides[0][last[0] + 1 : i], sides[1][last[1] + 1 : j]
        if ours and theirs:
            for code in Levenshtein.opcodes(ours, theirs):
                if code.tag == "equal":
                    starts = last[0] + 1 + code.src_start, last[1] + 1 + code.dest_start
                    yield from ((starts[0] + k, starts[1] + k) for k in range(code.src_end - code.src_start))
        if i < len(left):
            yield i, j
        last = i, j


def _grams(side: _Numbers) -> _Numbers:
    """A number for each sequence of _GRAM words."""
    found = np.zeros(max(len(side) - _GRAM + 1, 0), np.uint64)
    for k in range(_GRAM):
        found = (found ^ side[k : len(found) + k]) * _SPREAD
        found ^= found >> np.uint64(29)
    return found


def _anchors(left: _Numbers, right: _Numbers) -> list[_Pair]:
    """The first words of the sequences that both texts have once: the longest chain that does not cross."""
    once = []
    for side in (left, right):
        grams, first, counts = np.unique(_grams(side), return_index=True, return_counts=True)
        once.append((grams[counts == 1], first[counts == 1]))
    (grams, ours), (others, theirs) = once
    _, at, other = np.intersect1d(grams, others, assume_unique=True, return_indices=True)
    order = np.argsort(ours[at])
    rows, columns = ours[at][order].tolist(), theirs[other][order].tolist()
    # The longest increasing subsequence: the least last column of a chain of each length, and what comes before it.
    ends: list[int] = []
    heads: list[int] = []
    before: list[int] = []
    for number, column in enumerate(columns):
        length = bisect_left(ends, column)
        before.append(heads[length - 1] if length else -1)
        ends[length : length + 1], heads[length : length + 1] = [column], [number]
    chain, at_ = [], heads[-1] if heads else -1
    while at_ >= 0:
        chain.append((rows[at_], columns[at_]))
        at_ = before[at_]
    return chain[::-1]


def _likely(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs among others that fit: unrelated texts have only some frequent words in common."""
    if not pairs:
        return []
    table = np.array(pairs)
    reach = min(_NEAR, len(pairs) - 1)
    spans = (table[reach:] - table[: len(table) - reach]).max(1)
    dense = reach >= _LEAST * spans
    kept = np.convolve(dense, np.ones(reach + 1)) > 0
    return [pair for pair, flag in zip(pairs, kept.tolist(), strict=True) if flag]


def _elsewhere(left: _Numbers, right: _Numbers, pairs: Sequence[_Pair]) -> Iterator[_Pair]:
    """Pairs of long stretches without one, where the other text has them in another place, or once for several."""
    ours, theirs, order = _grams(left), _grams(right), None
    for (i, _), (stop, _) in pairwise([(-1, -1), *pairs, (len(left), len(right))]):
        start = i + 1
        if stop - start < _STRETCH:
            continue
        if order is None:
            order = np.argsort(theirs)
            ranked = theirs[order]
        own = ours[start : stop - _GRAM + 1]
        first, end = np.searchsorted(ranked, own), np.searchsorted(ranked, own, "right")
        hits = [
            (start + int(k), int(at))
            for k in np.flatnonzero(end > first)
            for at in order[first[k] : min(end[k], first[k] + _MOST_PLACES)]
        ]
        yield from _runs(left, right, hits, (start, stop))


def _runs(left: _Numbers, right: _Numbers, hits: Sequence[_Pair], within: _Pair) -> Iterator[_Pair]:
    """Pairs of a stretch, run by run: the longest first, by the sequences that hit the other text near one diagonal."""
    while hits:
        ((diagonal, count),) = Counter((at - i) // _OFF for i, at in hits).most_common(1)
        if count < _GRAM:
            return
        near = [(i, at) for i, at in hits if diagonal - 1 <= (at - i) // _OFF <= diagonal + 1]
        start, stop = max(within[0], near[0][0]), min(near[-1][0] + _GRAM, within[1])
        other = max(min(at for _, at in near), 0)
        until = min(max(at for _, at in near) + _GRAM, len(right))
        found = [
            (start + code.src_start + k, other + code.dest_start + k)
            for code in Levenshtein.opcodes(left[start:stop].tolist(), right[other:until].tolist())
            if code.tag == "equal"
            for k in range(code.src_end - code.src_start)
        ]
        yield from _likely(found)
        hits = [(i, at) for i, at in hits if not start - _GRAM < i < stop]


def _difference(
    keys: Sequence[Sequence[str]], rows: _Pair, columns: _Pair, says: Callable[[Sequence[str]], str]
) -> list[Link]:
    """The links of two short stretches between equal words: with the fewest words that have no like."""
    ours, theirs = keys[0][slice(*rows)], keys[1][slice(*columns)]
    # By the words used on both sides: the cost, and the steps that lead there.
    best: dict[_Pair, tuple[float, tuple[Link, ...]]] = {(0, 0): (0.0, ())}
    for p in range(len(ours) + 1):
        for q in range(len(theirs) + 1):
            if (p, q) not in best:
                continue
            cost, linked = best[p, q]
            for down, right, price, kind in _steps(ours[p:], theirs[q:], says):
                i, j, place = rows[0] + p, columns[0] + q, (p + down, q + right)
                link = (Link(i, i + down, j, j + right, kind),) if kind < PLACE else ()
                if place not in best or cost + price < best[place][0]:
                    best[place] = cost + price, (*linked, *link)
    links = [Link(rows[0], rows[0], columns[0], columns[0], PLACE), *best[len(ours), len(theirs)][1]]
    ends = [*((link.first, link.other) for link in links[1:]), (rows[1], columns[1])]
    places = [
        Link(first - 1, first, other - 1, other, PLACE)
        for link, (first, other) in zip(links, ends, strict=True)
        if link.stop < first and link.until < other
    ]
    return sorted([*links[1:], *places])


def _steps(
    ours: Sequence[str], theirs: Sequence[str], says: Callable[[Sequence[str]], str]
) -> Iterator[tuple[int, int, float, int]]:
    """Words of both sides that can be taken together, or of one alone, with the cost and the kind of the link."""
    if ours:
        yield 1, 0, 1.0, PLACE
    if theirs:
        yield 0, 1, 1.0, PLACE
    if not (ours and theirs):
        return
    if ours[0] == theirs[0]:
        yield 1, 1, 0.0, EQUAL
    elif fuzz.ratio(ours[0], theirs[0]) >= _LIKE:
        yield 1, 1, 0.8, NEAR
    for flip, (one, several) in enumerate(((ours[0], theirs), (theirs[0], ours))):
        for count in range(1, min(len(several), _PARTS) + 1):
            parts = several[:count]
            if (count > 1 and one == "".join(parts)) or (one.isdecimal() and one == says(parts)):
                yield (count, 1, 0.0, EQUAL) if flip else (1, count, 0.0, EQUAL)
