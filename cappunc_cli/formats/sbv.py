"""SBV and SubViewer: a line such as `0:00:01.000,0:00:02.500`, followed by text until the next such line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cappunc_cli.document.words import Document, Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueFormat, are_cues, milliseconds, read_cues
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import split_lines

_CLOCK = r"[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{1,3}"
_TIMING = re.compile(rf"[ \t\ufeff]*({_CLOCK}),({_CLOCK})[ \t]*\Z")
# One of the two times is mistyped. That is not speech either, whatever mark is at the end.
_MISTYPED = re.compile(rf"[ \t]*(?:{_CLOCK},[0-9]\S*|[0-9][^\s,]*,{_CLOCK})[\s.,:;?!…—-]*\Z")
_HIDDEN = re.compile(rf"{HIDDEN_WITHOUT_ENTITIES.pattern}|\[br\]", re.IGNORECASE)
_HEADER = re.compile(r"[\s\ufeff]*+\[(?:SUBTITLE|INFORMATION)\]", re.IGNORECASE)


_TIMING_LINE = re.compile(rf"(?<![^\r\n])[ \t\ufeff]*{_CLOCK},{_CLOCK}[ \t]*(?![^\r\n])")


def _is_timing(line: str) -> bool:
    return _TIMING.match(line) is not None or _MISTYPED.match(line) is not None


def _cue(text: str, lines: Sequence[Span], at: int, stop: int, notices: list[Notice]) -> Cue:
    found = _TIMING.match(text[slice(*lines[at])])
    start, end = (milliseconds(found.group(1)), milliseconds(found.group(2))) if found else (None, None)
    if found is None:
        notices.append(Notice(at + 1, "unreadable times"))
    content = [i for i in range(at + 1, stop) if text[slice(*lines[i])].strip()]
    if not content:
        notices.append(Notice(at + 1, "empty cue"))
        return Cue(start, end, (lines[at][1], lines[at][1]))
    return Cue(start, end, (lines[content[0]][0], lines[content[-1]][1]))


class Sbv(CueFormat):
    """SBV and SubViewer: a line such as `0:00:01.000,0:00:02.500`, followed by text until the next such line."""

    name = "sbv"
    suffixes = (".sbv",)

    def sniff(self, text: str) -> bool:
        """Whether some lines are pairs of times."""
        return _TIMING_LINE.search(text) is not None and are_cues(text, _is_timing)

    def read(self, text: str) -> Document:
        """Read an SBV file. Raises BadInput where there is text but no pair of times."""
        lines = split_lines(text)
        heads = [i for i, line in enumerate(lines) if _is_timing(text[slice(*line)])]
        if not heads and text.strip():
            raise BadInput("no times such as 0:00:01.000,0:00:02.000")
        notices: list[Notice] = []
        if heads and not _HEADER.match(text):
            orphan = next((i for i in range(heads[0]) if text[slice(*lines[i])].strip(" \t\ufeff")), None)
            if orphan is not None:
                notices.append(Notice(orphan + 1, "text before the first cue", unread=True))
        cues = [_cue(text, lines, at, stop, notices) for at, stop in zip(heads, [*heads[1:], len(lines)], strict=False)]
        return read_cues(self.name, text, cues, notices, _HIDDEN)
