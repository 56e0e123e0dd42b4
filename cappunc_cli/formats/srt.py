"""SubRip. There is no specification: the times make a cue, not its number and not the blank line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.timed_text.cues import Cue, read_cues, skeleton, write
from cappunc_cli.formats.timed_text.lines import Timing, filled, is_index, split, timing
from cappunc_cli.transcript.words import Document, Notice, Span

__all__ = ["SUFFIXES", "read", "skeleton", "sniff", "write"]

SUFFIXES = (".srt",)

# A line with two clock times and no arrow is a timing line beyond repair, not speech.
_TWO_CLOCKS = re.compile(r"[^\r\n]*?[0-9]:[0-9]{2}:[0-9]{2}[^\r\n]*?[0-9]:[0-9]{2}:[0-9]{2}")
_UNREADABLE = Timing(None, None)
_ARROWHEAD = re.compile(r"[>→]")
_DIGIT = re.compile(r"[0-9]")


def sniff(text: str) -> bool:
    """Whether some line has an arrow between two times."""
    if ">" not in text and "→" not in text:
        return False
    times = (timing(line.group()) for line in filled(text))
    return any(found is not None and found.start is not None for found in times)


class _Mark(NamedTuple):
    """A timing line, and the line of its index where it has one."""

    line: int
    first: int
    timing: Timing


def read(text: str) -> Document:
    """Raises BadInput where there is text but not one timing line."""
    lines = split(text)
    notices: list[Notice] = []
    cues: list[Cue] = []
    for mark, following in pairwise(chain(_marks(text, lines), (None,))):
        assert mark is not None  # only the last of them is
        if not cues:
            orphan = next((i for i in range(mark.first) if _content(text, lines[i])), None)
            if orphan is not None:
                notices.append(Notice(orphan + 1, "text before the first cue"))
        stop = len(lines) if following is None else following.first
        cues.append(_cue(text, lines, mark, stop, notices))
        if following is not None and stop - 1 > mark.line and _content(text, lines[stop - 1]):
            notices.append(Notice(stop + 1, "no blank line before this cue"))
    if not cues and text.strip():
        raise BadInput("no timing line such as 00:00:01,000 --> 00:00:02,000")
    return read_cues("srt", text, cues, sorted(notices, key=lambda notice: notice.line))


def _marks(text: str, lines: Sequence[Span]) -> Iterator[_Mark]:
    seen = last = -1
    for arrow in _ARROWHEAD.finditer(text):
        i = bisect_right(lines, arrow.start(), key=itemgetter(0)) - 1
        if i == seen:
            continue
        seen = i
        start, stop = lines[i]
        found = timing(text[start:stop])
        if found is None or (found == _UNREADABLE and not _DIGIT.search(text, start, stop)):
            continue  # `a --> b` is speech
        # A number directly before a timing line is never speech: the cue before may be empty.
        index = i > 0 and i - 1 != last and is_index(text[slice(*lines[i - 1])])
        yield _Mark(i, i - 1 if index else i, found)
        last = i


def _content(text: str, line: Span) -> bool:
    return bool(text[slice(*line)].strip(" \t\ufeff\xa0\u200b"))


def _cue(text: str, lines: Sequence[Span], mark: _Mark, stop: int, notices: list[Notice]) -> Cue:
    if mark.timing.start is None or mark.timing.end is None:
        notices.append(Notice(mark.line + 1, "unreadable timing line"))
    filled = [i for i in range(mark.line + 1, stop) if _content(text, lines[i])]
    place = lines[mark.line][1]
    if not filled:
        notices.append(Notice(mark.line + 1, "empty cue"))
        return Cue(mark.timing.start, mark.timing.end, (place, place))
    for before, after in zip([mark.line, *filled], filled, strict=False):
        if after == before + 1:
            continue
        if _TWO_CLOCKS.match(text, *lines[after]) or (is_index(text[slice(*lines[after])])):
            # A number or broken times after a blank line: the rest was a cue, and is left alone.
            notices.append(Notice(after + 1, "a cue without a timing line"))
            filled = filled[: filled.index(after)]
            break
        if before != mark.line or not text[slice(*lines[before + 1])]:
            notices.append(Notice(before + 2, "blank line inside a cue"))
    if not filled:
        return Cue(mark.timing.start, mark.timing.end, (place, place))
    return Cue(mark.timing.start, mark.timing.end, (lines[filled[0]][0], lines[filled[-1]][1]))
