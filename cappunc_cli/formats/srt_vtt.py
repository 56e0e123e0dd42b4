"""SubRip and WebVTT: cues of a timing line and text."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from cappunc_cli.document.words import Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, milliseconds
from cappunc_cli.formats.splice import split_lines

_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
_START_TIME = re.compile(rf"\s*({_TIME})\s*\Z")
_END_TIME = re.compile(rf"\s*({_TIME})(?=\s|\Z)")
# `->`, `—>` and the like are arrows only between two times.
_ODD_ARROW = re.compile(rf"\s*({_TIME})\s*(?:-{{1,3}}\s?>|[–—=]>|→)\s*({_TIME})(?=\s|\Z)")
#: Whether a line can be the index of a cue: digits with at most some marks. `2.` has to count as one, or removing the
#: mark from such a text line would turn it into an index.
is_index = re.compile(r"[\s\ufeff]*[0-9]+[.,:;?!…—]*\s*\Z").match
# A line with two clock times and no arrow is a timing line beyond repair, not speech.
_TWO_CLOCKS = re.compile(r"[^\r\n]*?[0-9]:[0-9]{2}:[0-9]{2}[^\r\n]*?[0-9]:[0-9]{2}:[0-9]{2}")
_ARROWHEAD = re.compile(r"[>→]")
_DIGIT = re.compile(r"[0-9]")
#: A line of nothing else looks blank.
_UNSEEN = " \t\ufeff\xa0\u200b"


def timing(line: str) -> tuple[int | None, int | None] | None:
    """The times of a line with an arrow (ms), None where unreadable; None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return (milliseconds(odd[1]), milliseconds(odd[2])) if odd else None
    start, end = _START_TIME.match(left), _END_TIME.match(right)
    return milliseconds(start[1]) if start else None, milliseconds(end[1]) if end else None


class _TimingLine(NamedTuple):
    """A timing line; `first` is the line of the cue's index if it has one, else the timing line itself."""

    line: int
    first: int
    times: tuple[int | None, int | None]


def _timing_lines(text: str, lines: Sequence[Span]) -> list[_TimingLine]:
    """The timing lines with their indices, if the first or most cues have one; else a number is what a cue shows."""
    heads: list[_TimingLine] = []
    seen = last = -1
    for arrow in _ARROWHEAD.finditer(text):
        i = bisect_right(lines, arrow.start(), key=itemgetter(0)) - 1
        if i == seen:
            continue
        seen = i
        start, stop = lines[i]
        found = timing(text[start:stop])
        if found is None or (found == (None, None) and not _DIGIT.search(text, start, stop)):
            continue  # `a --> b` is speech
        # A number right before a timing line is never speech, even if that leaves the cue before it empty.
        index = i > 0 and i - 1 != last and is_index(text[slice(*lines[i - 1])])
        first = i - 1 if index else i
        if not index and _double_spaced(text, lines, i, last):
            first = i - 2
        heads.append(_TimingLine(i, first, found))
        last = i
    numbered = [head.first < head.line for head in heads]
    if any(numbered[:1]) or 2 * sum(numbered) > len(heads):
        return heads
    return [head._replace(first=head.line) for head in heads]


def _double_spaced(text: str, lines: Sequence[Span], at: int, last: int) -> bool:
    """Whether the index of the cue is two lines before its timing line, and has blank lines around it."""
    before = ["" if i < 0 else text[slice(*lines[i])].strip(_UNSEEN) for i in range(at - 3, at)]
    return at - 2 > last and not before[0] and is_index(before[1]) is not None and not before[2]


def _cue(text: str, lines: Sequence[Span], head: _TimingLine, content: Sequence[int], notices: list[Notice]) -> Cue:
    """The cue after a timing line; `content` are the numbers of its lines that show anything."""
    start, end = head.times
    if start is None or end is None:
        notices.append(Notice(head.line + 1, "unreadable timing line"))
    place = lines[head.line][1]
    if not content:
        notices.append(Notice(head.line + 1, "empty cue"))
        return Cue(start, end, (place, place))
    for before, after in zip([head.line, *content], content, strict=False):
        if after == before + 1:
            continue
        if _TWO_CLOCKS.match(text, *lines[after]) or (is_index(text[slice(*lines[after])])):
            # A number or broken times after a blank line: another cue that lost its timing line; not touched.
            notices.append(Notice(after + 1, "a cue without a timing line", unread=True))
            content = content[: content.index(after)]
            break
        if before != head.line or not text[slice(*lines[before + 1])]:
            notices.append(Notice(before + 2, "blank line inside a cue"))
    if not content:
        return Cue(start, end, (place, place))
    return Cue(start, end, (lines[content[0]][0], lines[content[-1]][1]))


class Srt(CueFormat):
    """SubRip (SRT). There is no specification; a timing line is what makes a cue, not its number nor the blank line."""

    name = "srt"
    suffixes = (".srt",)
    head = re.compile(rf"\s*{_TIME}\s*-->|{_ODD_ARROW.pattern}")
    missing = "no timing line such as 00:00:01,000 --> 00:00:02,000"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The cues after timing lines."""
        lines = split_lines(text)
        content = array("I", (i for i, (start, stop) in enumerate(lines) if text[start:stop].strip(_UNSEEN)))
        cues: list[Cue] = []
        for current, following in pairwise([*_timing_lines(text, lines), None]):
            assert current is not None  # only the sentinel at the end is
            if not cues and content[0] < current.first:
                # A number or times belong to a broken cue; anything else, such as credits, is never shown.
                head = [text[slice(*lines[i])] for i in content[: bisect_left(content, current.first)]]
                broken = any(is_index(line) or _TWO_CLOCKS.match(line) for line in head)
                what = "text before the first cue" + ("" if broken else ", which is never shown")
                notices.append(Notice(content[0] + 1, what, unread=broken))
            stop = len(lines) if following is None else following.first
            own = content[bisect_right(content, current.line) : bisect_left(content, stop)]
            after_blank = following is not None and len(own) > 1 and own[-2] + 1 < own[-1] == stop - 1
            if after_blank and len(text[slice(*lines[own[-1]])].split()) == 1:
                own = own[:-1]  # the name of the next cue, as files made of WebVTT have it
            cues.append(_cue(text, lines, current, own, notices))
            if following is not None and own and own[-1] == stop - 1:
                notices.append(Notice(stop + 1, "no blank line before this cue"))
        return cues


_SIGNATURE = re.compile(r"\ufeff?WEBVTT(?=[ \t\r\n]|\Z)")
# No browser reads `WEBVTTfoo` or a blank line before the signature, but people have such files.
_LENIENT = re.compile(r"[\s\ufeff]*+[^\w\r\n]{0,8}WEBVTT", re.IGNORECASE)
#: Whether the text starts with WEBVTT, or nearly so with an arrow later on.
_START = re.compile(rf"{_SIGNATURE.pattern}|(?i:{_LENIENT.pattern})(?=(?s:.*)-->)")
# `Region: id=…` is the syntax of the first drafts; a `region` in lower case is none, and no player shows it.
_BLOCK = re.compile(r"(?:NOTE(?=[ \t]|\Z)|(?i:STYLE|REGION)[ \t]*\Z|Region:[ \t]*\w+=)")

# Metadata tracks have data for a script of the page in their cues.
_DATA = re.compile(r"\s*+(?:\{\s*+[\"}]|\[\s*+\{)")


def _block_end(rows: Sequence[str], at: int) -> int:
    """The first row from a number on that is empty or has an arrow; a row of spaces is text, as YouTube's cues have."""
    return next((i for i in range(at, len(rows)) if not rows[i] or "-->" in rows[i]), len(rows))


def _cues(text: str, lines: Sequence[Span], at: int, notices: list[Notice]) -> Iterator[Cue]:
    rows = [text[start:stop] for start, stop in lines]
    late = False
    while at < len(rows):
        times = timing(rows[at]) if "-->" in rows[at] else None
        end = _block_end(rows, at if times is None else at + 1)
        has_arrow = end < len(rows) and rows[end] != ""
        if times is None:
            # A comment, a style sheet, or an identifier right before the timing line.
            orphans = rows[at : end - has_arrow]
            if any(map(str.strip, orphans)) and not _BLOCK.match(rows[at]) and not _LENIENT.match(rows[at]):
                what = "text without a timing line" if late else "text before the first cue"
                notices.append(Notice(at + 1, what, unread=True))
            at = end if has_arrow else end + 1
            continue
        if has_arrow and end > at + 1 and is_index(rows[end - 1]):
            end -= 1
        if None in times:
            notices.append(Notice(at + 1, "unreadable timing line"))
        if has_arrow:
            notices.append(Notice(end + 1, "no blank line before this cue"))
        if end == at + 1:
            notices.append(Notice(at + 1, "empty cue"))
        shown = end > at + 1 and not _DATA.match(text, lines[at + 1][0])
        place = (lines[at + 1][0], lines[end - 1][1]) if shown else (lines[at][1],) * 2
        yield Cue(*times, place)
        at, late = end, True


class WebVtt(CueFormat):
    """WebVTT (W3C, section 6), and the malformed files that pass for it."""

    name = "vtt"
    suffixes = (".vtt", ".webvtt")
    signature = _START

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The cues after timing lines. Raises BadInput where there is neither a signature nor a timing line."""
        lines = split_lines(text)
        signed = _SIGNATURE.match(text) is not None
        if not signed and text.strip():
            if not _START.match(text) and not any("-->" in text[slice(*line)] for line in lines):
                raise BadInput("neither WEBVTT at the start nor a timing line")
            notices.append(Notice(1, "the file does not begin with WEBVTT"))
        # The header ends at a blank line or before a line with an arrow.
        after = next((i for i, (a, b) in enumerate(lines) if a == b or "-->" in text[a:b]), len(lines)) if signed else 0
        return list(_cues(text, lines, after, notices))
