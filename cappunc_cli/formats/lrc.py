"""LRC lyrics: `[00:12.34]text`, with one stamp for each time that the line is sung.

The enhanced format has a stamp for each word, too: `[00:12.34]<00:12.34>la <00:12.80>la`.
"""

from __future__ import annotations

import re
from functools import partial

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueFormat, milliseconds, read_cues
from cappunc_cli.formats.splice import split_lines

_TIME = r"([0-9]{1,4}):([0-9]{1,2})(?:[.:]([0-9]{1,3}))?"
_WHOLE_TIME = re.compile(_TIME)
_STAMP = re.compile(rf"[ \t]*\[{_TIME}\]")
# Who sings a line of a duet, as in lyrics from Apple: `[00:12.34]v1:la la`.
_VOICE = re.compile(r"[ \t]*(v[0-9]{1,2}):", re.IGNORECASE)
_LAST_STAMP = re.compile(rf".*<{_TIME}>[^\w<>]*\Z")
_TAG = re.compile(r"[ \t\ufeff]*\[[A-Za-z_#][\w#]*:[^\]]*\][ \t]*\Z")
_OFFSET = re.compile(r"^[ \t\ufeff]*\[offset:[ \t]*([+-]?[0-9]{1,9})[ \t]*\]", re.IGNORECASE | re.MULTILINE)
_EXACT_STAMP = r"\[[0-9]+:[0-9]{2}[.:][0-9]{1,3}\]"

#: Without a header, `[00:01:30]` is an hour, a minute and seconds, as transcribers write it.
_START = re.compile(
    rf"(?=[\s\ufeff]*+(?:\[(?:ar|ti|al|au|by|re|ve|tool|offset|length|la|id):|\[[0-9]+:[0-9]{{2}}\.[0-9]{{1,3}}\]))"
    rf"(?s:.*?)(?<![^\r\n])[ \t\ufeff]*{_EXACT_STAMP}",
    re.IGNORECASE,
)


def _clock(stamp: str, offset: int) -> int | None:
    """Parse a stamp inside a line, which may have a colon before the hundredths: `<01:02:50>` has no hours."""
    found = _WHOLE_TIME.fullmatch(stamp)
    if found:
        return _milliseconds(found, offset)
    time = milliseconds(stamp)
    return None if time is None else max(time - offset, 0)


def _milliseconds(found: re.Match[str], offset: int) -> int:
    minutes, seconds, fraction = found.groups()
    return max((int(minutes) * 60 + int(seconds)) * 1000 + int((fraction or "").ljust(3, "0")) - offset, 0)


class Lrc(CueFormat):
    """LRC lyrics: `[00:12.34]text`, with one stamp for each time that the line is sung."""

    name = "lrc"
    suffixes = (".lrc",)
    signature = _START

    def read(self, text: str) -> Document:
        """Read an LRC file. A line starts when it is first sung; it has an end only if a stamp stands at its end.

        With a positive `[offset:]` (ms), all is sung earlier than its stamps say.
        Raises BadInput where there is text but no stamp.
        """
        cues: list[Cue] = []
        repeated: set[int] = set()
        notices: list[Notice] = []
        offset = int(found[1]) if (found := _OFFSET.search(text)) else 0
        for number, (start, stop) in enumerate(split_lines(text), 1):
            at, begin = start, None
            if number == 1 and text.startswith("\ufeff"):
                at += 1
            while found := _STAMP.match(text, at, stop):
                at = found.end()
                if begin is not None:
                    repeated.add(len(cues))
                begin = _milliseconds(found, offset) if begin is None else begin
            if begin is None:
                if text[start:stop].strip(" \t\ufeff") and not _TAG.match(text[start:stop]):
                    notices.append(Notice(number, "text without a time", unread=True))
                continue
            voice = _VOICE.match(text, at, stop)
            at = voice.end() if voice else at
            last = _LAST_STAMP.match(text, at, stop)
            place = (at, stop)
            cues.append(Cue(begin, _milliseconds(last, offset) if last else None, place, voice and voice[1]))
        if not cues and text.strip():
            raise BadInput("no stamp such as [00:12.34]")
        clock = partial(_clock, offset=offset)
        return read_cues(self.name, text, cues, notices, clock=clock, lasting=True, repeated=frozenset(repeated))
