"""WebVTT (W3C, section 6), and the malformed files that pass for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cappunc_cli.document.words import Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, is_index, timing
from cappunc_cli.formats.splice import split_lines

_SIGNATURE = re.compile(r"\ufeff?WEBVTT(?=[ \t\r\n]|\Z)")
# No browser reads `WEBVTTfoo` or a blank line before the signature, but people have such files.
_LENIENT = re.compile(r"[\s\ufeff]*+[^\w\r\n]{0,8}WEBVTT", re.IGNORECASE)
#: Whether the text starts with WEBVTT, or nearly so with an arrow later on.
_START = re.compile(rf"{_SIGNATURE.pattern}|(?i:{_LENIENT.pattern})(?=(?s:.*)-->)")
# `Region: id=…` is the syntax of the first drafts; a `region` in lower case is none, and no player shows it.
_BLOCK = re.compile(r"(?:NOTE(?=[ \t]|\Z)|(?i:STYLE|REGION)[ \t]*\Z|Region:[ \t]*\w+=)")

# Metadata tracks have data for a script of the page in their cues.
_DATA = re.compile(r"\s*+(?:\{\s*+[\"}]|\[\s*+\{)")


def _after_header(text: str, lines: Sequence[Span]) -> int:
    """The first line after the header, which ends at a blank line or before a line with an arrow."""
    for i, (start, stop) in enumerate(lines):
        if start == stop:
            return i
        if "-->" in text[start:stop]:
            return i
    return len(lines)


def _cues(text: str, lines: Sequence[Span], at: int, notices: list[Notice]) -> list[Cue]:
    cues: list[Cue] = []
    while at < len(lines):
        start, stop = lines[at]
        if start == stop:
            at += 1
            continue
        times = timing(text[start:stop]) if "-->" in text[start:stop] else None
        if times is None:
            at = _skip(text, lines, at, bool(cues), notices)
            continue
        if times.start is None or times.end is None:
            notices.append(Notice(at + 1, "unreadable timing line"))
        end = _text_end(text, lines, at + 1)
        if end < len(lines) and lines[end][0] != lines[end][1]:
            notices.append(Notice(end + 1, "no blank line before this cue"))
        if end == at + 1:
            notices.append(Notice(at + 1, "empty cue"))
        shown = end > at + 1 and not _DATA.match(text, lines[at + 1][0])
        place = (lines[at + 1][0], lines[end - 1][1]) if shown else (stop, stop)
        cues.append(Cue(times.start, times.end, place))
        at = end
    return cues


def _text_end(text: str, lines: Sequence[Span], at: int) -> int:
    """The line after a cue's text. A line of spaces is text: YouTube starts cues with one."""
    for i in range(at, len(lines)):
        start, stop = lines[i]
        if start == stop or "-->" in text[start:stop]:
            return i
        if i + 1 < len(lines) and is_index(text[start:stop]) and "-->" in text[slice(*lines[i + 1])]:
            return i
    return len(lines)


def _skip(text: str, lines: Sequence[Span], at: int, late: bool, notices: list[Notice]) -> int:
    """Skip a block that does not start with a timing line: a comment, a style sheet or a cue identifier.

    Returns the line after it, which for a cue identifier is the timing line.
    """
    is_comment_or_style = _BLOCK.match(text[slice(*lines[at])]) is not None
    end = at
    while end < len(lines) and lines[end][0] != lines[end][1] and "-->" not in text[slice(*lines[end])]:
        end += 1
    has_identifier = end < len(lines) and "-->" in text[slice(*lines[end])]
    orphans = lines[at : end - 1] if has_identifier else lines[at:end]
    if not is_comment_or_style and any(text[slice(*line)].strip() for line in orphans):
        what = "text without a timing line" if late else "text before the first cue"
        if not _LENIENT.match(text[slice(*lines[at])]):
            notices.append(Notice(at + 1, what, unread=True))
    return end


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
        return _cues(text, lines, _after_header(text, lines) if signed else 0, notices)
