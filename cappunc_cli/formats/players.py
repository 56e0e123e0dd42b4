"""Formats with times before lines of text: MicroDVD, MPL2, TMPlayer, LRC, SBV, SubViewer, Avid DS.

MicroDVD: http://www.sourceforge.net/projects/microdvd; the others have no specification, or none that is published.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from cappunc_cli.document.words import Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, StampReader, are_cues, milliseconds, time_code
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import nonempty_lines, split_lines

_HIDDEN = re.compile(rf"\{{[^{{}}\r\n]*\}}|(?<![^\]|/\\])[/\\](?=\S|\Z)|\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
_MICRODVD = re.compile(r"\ufeff?\{([0-9]{1,9})\}[ ]?\{([0-9]{0,9})\}")
#: The frame rate in place of the text of the first cue.
_RATE = re.compile(r"[ \t]*([0-9]{1,3}(?:[.,][0-9]{1,6})?)[ \t]*\Z")
#: Frames a second where neither the file nor the user tells.
_USUAL_RATE = 23.976


_CODE = r"([0-9]{2}:[0-9]{2}:[0-9]{2}[:;][0-9]{2})"
_AVID_TIMES = re.compile(rf"[ \t]*{_CODE}[ \t]+{_CODE}[ \t]*\Z")
_SUBVIEWER_STAMP = re.compile(r"[ \t]*\[([0-9]{1,2}):([0-9]{2}):([0-9]{2})\][ \t]*\Z")
_SUBVIEWER_HIDDEN = re.compile(rf"\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
#: Start and end, None where a line has none.
_Times = tuple[int | None, int | None]


class _PlayerFormat(CueFormat):
    """One cue a line, which begins with its times."""

    hidden = _HIDDEN
    lasting = True
    head: re.Pattern[str]

    def sniff(self, text: str) -> bool:
        """Whether the first line begins with times, and most lines do."""
        lines = [line for line in text[:10_000].splitlines() if line.strip()]
        if len(text) > 10_000:
            del lines[-1]
        return (
            bool(lines)
            and self.head.match(lines[0]) is not None
            and 2 * sum(self.head.match(line) is not None for line in lines) > len(lines)
        )

    @abstractmethod
    def times(self, *groups: str) -> _Times:
        """The times (ms) of a line, from the groups of `head`."""

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """Each line with times."""
        cues = []
        for number, (start, stop) in enumerate(split_lines(text), 1):
            if found := self.head.match(text, start, stop):
                cues.append(Cue(*self.times(*found.groups()), (found.end(), stop)))
            elif text[start:stop].strip(" \t\ufeff"):
                notices.append(Notice(number, "text without a time", unread=True))
        return cues


class MicroDvd(_PlayerFormat):
    """MicroDVD: `{25}{50}text|text`, in frames; the first cue may hold the frame rate."""

    name = "microdvd"
    suffixes = (".sub",)
    head = _MICRODVD
    missing = "no line such as {25}{50}hello"

    def times(self, *groups: str) -> _Times:
        """Frames, which `cues` makes times of."""
        start, end = groups
        return int(start), int(end) if end else None

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """Each line with frames. Raises BadInput for a frame rate of zero."""
        frames = super().cues(text, notices)
        rate = _RATE.match(text, *frames[0].text) if frames else None
        fps = float(rate[1].replace(",", ".")) if rate else self.fps or _USUAL_RATE
        if not fps:
            raise BadInput("the frame rate is zero", line=1)
        if rate:
            start = frames[0].text[1]
            frames[0] = Cue(None, None, (start, start))
        elif frames and self.fps is None:
            notices.append(
                Notice(1, f"no frame rate in the file: {_USUAL_RATE} frames a second, unless --fps says otherwise")
            )

        def time(frame: int | None) -> int | None:
            return None if frame is None else round(frame * 1000 / fps)

        return [cue._replace(start=time(cue.start), end=time(cue.end)) for cue in frames]


class Mpl2(_PlayerFormat):
    """MPL2: `[25][50]text|/text`, in tenths of seconds; a slash is italics."""

    name = "mpl2"
    suffixes = (".mpl",)
    head = re.compile(r"\ufeff?\[([0-9]{1,9})\][ ]?\[([0-9]{0,9})\]")
    missing = "no line such as [25][50]hello"

    def times(self, *groups: str) -> _Times:
        """Tenths of seconds."""
        start, end = groups
        return int(start) * 100, int(end) * 100 if end else None


class TmPlayer(_PlayerFormat):
    """TMPlayer: `00:00:05:text|text`; a cue is shown until the next one, which may be empty."""

    name = "tmplayer"
    suffixes = (".tmp",)
    head = re.compile(r"\ufeff?([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:,[1-9])?[:=](?![0-9])")
    missing = "no line such as 00:00:05:hello"

    def times(self, *groups: str) -> _Times:
        """Hours, minutes and seconds."""
        hours, minutes, seconds = map(int, groups)
        return ((hours * 60 + minutes) * 60 + seconds) * 1000, None


_CLOCK = r"[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{1,3}"
_TIMING = re.compile(rf"[ \t\ufeff]*({_CLOCK}),({_CLOCK})[ \t]*\Z")
# One of the two times is mistyped. That is not speech either, whatever mark is at the end.
_MISTYPED = re.compile(rf"[ \t]*(?:{_CLOCK},[0-9]\S*|[0-9][^\s,]*,{_CLOCK})[\s.,:;?!…—-]*\Z")
_SBV_HIDDEN = re.compile(rf"{HIDDEN_WITHOUT_ENTITIES.pattern}|\[br\]", re.IGNORECASE)
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
    hidden = _SBV_HIDDEN
    missing = "no times such as 0:00:01.000,0:00:02.000"

    def sniff(self, text: str) -> bool:
        """Whether some lines are pairs of times."""
        return _TIMING_LINE.search(text) is not None and are_cues(text, _is_timing)

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The cues after pairs of times."""
        lines = split_lines(text)
        heads = [i for i, line in enumerate(lines) if _is_timing(text[slice(*line)])]
        if heads and not _HEADER.match(text):
            orphan = next((i for i in range(heads[0]) if text[slice(*lines[i])].strip(" \t\ufeff")), None)
            if orphan is not None:
                notices.append(Notice(orphan + 1, "text before the first cue", unread=True))
        return [_cue(text, lines, at, stop, notices) for at, stop in zip(heads, [*heads[1:], len(lines)], strict=False)]


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


def _offset(text: str) -> int:
    """How much earlier (ms) all is sung than its stamps say."""
    return int(found[1]) if (found := _OFFSET.search(text)) else 0


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
    lasting = True
    missing = "no stamp such as [00:12.34]"

    def clock(self, text: str) -> StampReader:
        """Reads a stamp inside a line."""
        return partial(_clock, offset=_offset(text))

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """A line starts when it is first sung; it has an end only if a stamp stands at its end."""
        cues: list[Cue] = []
        offset = _offset(text)
        for number, (start, stop) in enumerate(split_lines(text), 1):
            at, begin, repeated = start, None, False
            if number == 1 and text.startswith("\ufeff"):
                at += 1
            while found := _STAMP.match(text, at, stop):
                at = found.end()
                repeated = begin is not None
                begin = _milliseconds(found, offset) if begin is None else begin
            if begin is None:
                if text[start:stop].strip(" \t\ufeff") and not _TAG.match(text[start:stop]):
                    notices.append(Notice(number, "text without a time", unread=True))
                continue
            voice = _VOICE.match(text, at, stop)
            at = voice.end() if voice else at
            last = _LAST_STAMP.match(text, at, stop)
            end = _milliseconds(last, offset) if last else None
            cues.append(Cue(begin, end, (at, stop), voice and voice[1], repeated))
        return cues


class AvidDs(CueFormat):
    """Avid DS: a line of two time codes with frames, then lines of text; a header and `<begin subtitles>` before."""

    name = "avid-ds"
    hidden = HIDDEN_WITHOUT_ENTITIES
    missing = "no times such as 01:00:00:00 01:00:02:12"
    signature = re.compile(r"\s*(?:@ This file written with the Avid Caption|<begin subtitles>)", re.IGNORECASE)

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The cues after pairs of time codes."""
        cues: list[Cue] = []
        shown = False  # whether a time code is before this line, and no end of the subtitles
        for line in nonempty_lines(text):
            if found := _AVID_TIMES.match(line[0]):
                start, end = (time_code(code, self.fps) for code in found.groups())
                cues.append(Cue(start, end, (line.end(), line.end())))
                shown = True
            elif line[0].lstrip().lower().startswith("<end subtitles>"):
                shown = False
            elif shown and line[0].strip():
                cues[-1] = _extended(cues[-1], line)
        return cues


def _extended(cue: Cue, line: re.Match[str]) -> Cue:
    start, stop = cue.text
    return cue._replace(text=(line.start() if start == stop else start, line.end()))


class SubViewer1(CueFormat):
    """SubViewer 1: `[00:00:04]`, then lines of text; a stamp without text ends a cue; a header up to `[BEGIN]`."""

    name = "subviewer1"
    hidden = _SUBVIEWER_HIDDEN
    lasting = True
    missing = "no time such as [00:00:04]"
    signature = re.compile(r"\s*\[TITLE\][^\r\n]*[\r\n](?=(?s:.{0,2000}?)\[BEGIN\])", re.IGNORECASE)

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The cues after stamps."""
        cues: list[Cue] = []
        begun = False
        for line in nonempty_lines(text):
            word = line[0].strip().upper()
            begun = (begun or word == "[BEGIN]") and word != "[END]"
            if found := _SUBVIEWER_STAMP.match(line[0]) if begun else None:
                hours, minutes, seconds = map(int, found.groups())
                time = ((hours * 60 + minutes) * 60 + seconds) * 1000
                if cues:
                    cues[-1] = cues[-1]._replace(end=time)
                cues.append(Cue(time, None, (line.end(), line.end())))
            elif begun and cues and word and not word.startswith("***"):
                cues[-1] = _extended(cues[-1], line)
        return cues
