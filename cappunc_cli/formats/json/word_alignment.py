"""Align two nearly equal sequences of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

#: (same, start, stop, start, stop): a block of each sequence; `same` if the words are equal.
Block = tuple[bool, int, int, int, int]

#: How many words are aligned at a time, and how many are compared at a time.
_WINDOW, _STEP = 1500, 256


def aligned_blocks(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Block]:
    """Yield equal and differing blocks, in order, covering both sequences.

    Long sequences are aligned window by window, so that time and memory are linear in their length.
    """
    i = j = 0
    while i < len(ours) or j < len(theirs):
        run = 0
        while (step := ours[i + run : i + run + _STEP]) and step == theirs[j + run : j + run + _STEP]:
            run += len(step)
        while i + run < len(ours) and j + run < len(theirs) and ours[i + run] == theirs[j + run]:
            run += 1
        if run:
            yield True, i, i + run, j, j + run
            i, j = i + run, j + run
            continue
        found = _window(ours, theirs, i, j)
        yield from found
        i, j = found[-1][2], found[-1][4]


def _window(ours: Sequence[str], theirs: Sequence[str], i: int, j: int) -> list[Block]:
    from rapidfuzz.distance import Indel

    a, b = ours[i : i + _WINDOW], theirs[j : j + _WINDOW]
    result: list[Block] = []
    for op in Indel.opcodes(a, b):
        same = op.tag == "equal"
        span = (i + op.src_start, i + op.src_end, j + op.dest_start, j + op.dest_end)
        if result and not same and not result[-1][0]:
            result[-1] = (False, result[-1][1], span[1], result[-1][3], span[3])
        else:
            result.append((same, *span))
    # The alignment at the end of a window is unreliable: stop after the last long block of equal words.
    if i + len(a) < len(ours) or j + len(b) < len(theirs):
        solid = [k for k, x in enumerate(result) if x[0] and x[2] - x[1] >= 3]
        if solid:
            result = result[: solid[-1] + 1]
    return result
