"""Formats with times before lines of text: MicroDVD, MPL2, TMPlayer, LRC, SBV, SubViewer, Avid DS.

MicroDVD: http://www.sourceforge.net/projects/microdvd; the others have no specification, or none that is published.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cappunc_cli.document.words import Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, milliseconds, time_code
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import line_of, nonempty_lines, split_lines

_HIDDEN = re.compile(rf"\{{[^{{}}\r\n]*\}}|(?<![^\]|/\\])[/\\](?=\S|\Z)|\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
#: The frame rate in place of the text of the first cue.
_RATE = re.compile(r"[ \t]*([0-9]{1,3}(?:[.,][0-9]{1,6})?)[ \t]*\Z")
#: Frames a second where neither the file nor the user tells.
_USUAL_RATE = 23.976


class _PlayerFormat(CueFormat):
    """One cue a line; the line begins with its times."""

    hidden = _HIDDEN
    lasting = True
    #: Matches the times, and has them in its groups.
    head: re.Pattern[str]
    #: Milliseconds in a unit of times without colons.
    unit = 1

    def sniff(self, text: str) -> bool:
        """Whether the first line begins with times, and most lines do."""
        lines = [line for line in text[:10_000].splitlines() if line.strip()]
        if len(text) > 10_000:
            del lines[-1]
        heads = [self.head.match(line) is not None for line in lines]
        return any(heads[:1]) and 2 * sum(heads) > len(lines)

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """Each line with times."""
        cues = []
        for number, (start, stop) in enumerate(split_lines(text), 1):
            if found := self.head.match(text, start, stop):
                groups = filter(None, found.groups())
                times = (milliseconds(time) if ":" in time else int(time) * self.unit for time in groups)
                begin, end = [*times, None][:2]
                cues.append(Cue(begin, end, (found.end(), stop)))
            elif text[start:stop].strip(" \t\ufeff"):
                notices.append(Notice(number, "text without a time", unread=True))
        return cues


class MicroDvd(_PlayerFormat):
    """MicroDVD: `{25}{50}text|text`, in frames; the first cue may hold the frame rate."""

    name = "microdvd"
    suffixes = (".sub",)
    head = re.compile(r"\ufeff?\{([0-9]{1,9})\}[ ]?\{([0-9]{0,9})\}")
    signature = re.compile(rf"\s*+{head.pattern}")
    missing = "no line such as {25}{50}hello"

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
            what = f"no frame rate in the file: {_USUAL_RATE} frames a second, unless --fps says otherwise"
            notices.append(Notice(1, what))
        times = ([None if t is None else round(t * 1000 / fps) for t in (cue.start, cue.end)] for cue in frames)
        return [cue._replace(start=start, end=end) for cue, (start, end) in zip(frames, times, strict=True)]


class Mpl2(_PlayerFormat):
    """MPL2: `[25][50]text|/text`, in tenths of seconds; a slash is italics."""

    name = "mpl2"
    suffixes = (".mpl",)
    head = re.compile(r"\ufeff?\[([0-9]{1,9})\][ ]?\[([0-9]{0,9})\]")
    signature = re.compile(rf"\s*+{head.pattern}")
    missing = "no line such as [25][50]hello"
    unit = 100


class TmPlayer(_PlayerFormat):
    """TMPlayer: `00:00:05:text|text`; a cue is shown until the next one (it may be empty)."""

    name = "tmplayer"
    suffixes = (".tmp",)
    head = re.compile(r"\ufeff?([0-9]{1,2}:[0-9]{2}:[0-9]{2})(?:,[1-9])?[:=](?![0-9])")
    signature = re.compile(rf"\s*+{head.pattern}")
    missing = "no line such as 00:00:05:hello"


_CLOCK = r"[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{1,3}"
_TIMING = re.compile(rf"[ \t\ufeff]*({_CLOCK}),({_CLOCK})[ \t]*\Z")
# One of the two times is mistyped. That is not speech either, whatever mark is at the end.
_MISTYPED = re.compile(rf"[ \t]*(?:{_CLOCK},[0-9]\S*|[0-9][^\s,]*,{_CLOCK})[\s.,:;?!…—-]*\Z")
_SBV_HIDDEN = re.compile(rf"{HIDDEN_WITHOUT_ENTITIES.pattern}|\[br\]", re.IGNORECASE)
_HEADER = re.compile(r"[\s\ufeff]*+\[(?:SUBTITLE|INFORMATION)\]", re.IGNORECASE)


class Sbv(CueFormat):
    """SBV and SubViewer: a line such as `0:00:01.000,0:00:02.500`, followed by text until the next such line."""

    name = "sbv"
    suffixes = (".sbv",)
    signature = re.compile(rf"(?s:.*?)(?<![^\r\n])[ \t\ufeff]*{_CLOCK},{_CLOCK}[ \t]*(?![^\r\n])")
    head = re.compile(rf"{_TIMING.pattern}|{_MISTYPED.pattern}")
    hidden = _SBV_HIDDEN
    missing = "no times such as 0:00:01.000,0:00:02.000"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The cues after pairs of times."""
        cues: list[Cue] = []
        orphan = None if _HEADER.match(text) else 0
        for number, (start, stop) in enumerate(split_lines(text), 1):
            line = text[start:stop]
            if (found := _TIMING.match(line)) or _MISTYPED.match(line):
                begin, end = (milliseconds(time) for time in found.groups()) if found else (None, None)
                cues.append(Cue(begin, end, (stop, stop)))
                if found is None:
                    notices.append(Notice(number, "unreadable times"))
            elif cues and line.strip():
                _extend(cues, (start, stop))
            elif orphan == 0 and line.strip(" \t\ufeff"):
                orphan = number
        if orphan and cues:
            notices.append(Notice(orphan, "text before the first cue", unread=True))
        notices += [Notice(line_of(text, a), "empty cue") for _, _, (a, b), *_ in cues if a == b]
        return cues


_TIME = r"([0-9]{1,4}):([0-9]{1,2})(?:[.:]([0-9]{1,3}))?"
_WHOLE_TIME = re.compile(_TIME)
_STAMP = re.compile(rf"[ \t]*\[{_TIME}\]")
# Who sings a line of a duet, as in lyrics from Apple: `[00:12.34]v1:la la`.
_VOICE = re.compile(r"[ \t]*(v[0-9]{1,2}):", re.IGNORECASE)
_LAST_STAMP = re.compile(rf".*<{_TIME}>[^\w<>]*\Z")
_TAG = re.compile(r"[ \t\ufeff]*\[[A-Za-z_#][\w#]*:[^\]]*\][ \t]*\Z")
_OFFSET = re.compile(r"^[ \t\ufeff]*\[offset:[ \t]*([+-]?[0-9]{1,9})[ \t]*\]", re.IGNORECASE | re.MULTILINE)
_EXACT_STAMP = r"\[[0-9]+:[0-9]{2}[.:][0-9]{1,3}\]"


class Lrc(CueFormat):
    """LRC lyrics: `[00:12.34]text`, with one stamp for each time that the line is sung."""

    name = "lrc"
    suffixes = (".lrc",)
    #: Without a header, `[00:01:30]` is an hour, a minute and seconds, as transcribers write it.
    signature = re.compile(
        r"(?=[\s\ufeff]*+(?:\[(?:ar|ti|al|au|by|re|ve|tool|offset|length|la|id):|\[[0-9]+:[0-9]{2}\.[0-9]{1,3}\]))"
        rf"(?s:.*?)(?<![^\r\n])[ \t\ufeff]*{_EXACT_STAMP}",
        re.IGNORECASE,
    )
    lasting = True
    missing = "no stamp such as [00:12.34]"

    def clock(self, text: str) -> Callable[[str], int | None]:
        """Reads the stamps of a text; they may have a colon before the hundredths: `<01:02:50>` has no hours.

        All is sung earlier by the offset that the text states (ms).
        """
        stated = _OFFSET.search(text)
        offset = int(stated[1]) if stated else 0

        def read(stamp: str) -> int | None:
            if found := _WHOLE_TIME.fullmatch(stamp):
                time: int | None = (int(found[1]) * 60 + int(found[2])) * 1000 + int((found[3] or "").ljust(3, "0"))
            else:
                time = milliseconds(stamp)
            return None if time is None else max(time - offset, 0)

        return read

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """A line starts when it is first sung; it has an end only if a stamp stands at its end."""
        cues: list[Cue] = []
        time = self.clock(text)
        for number, (start, stop) in enumerate(split_lines(text), 1):
            at, stamps = start + text.startswith("\ufeff", start, start + (number == 1)), list[str]()
            while found := _STAMP.match(text, at, stop):
                at = found.end()
                stamps.append(found[0].strip(" \t[]"))
            if not stamps:
                if text[start:stop].strip(" \t\ufeff") and not _TAG.match(text[start:stop]):
                    notices.append(Notice(number, "text without a time", unread=True))
                continue
            voice = _VOICE.match(text, at, stop)
            at = voice.end() if voice else at
            last = _LAST_STAMP.match(text, at, stop)
            end = time(text[last.start(1) : text.index(">", last.start(1))]) if last else None
            cues.append(Cue(time(stamps[0]), end, (at, stop), voice and voice[1], len(stamps) > 1))
        return cues


class _BlockFormat(CueFormat):
    """Times on a line of their own, and below it the text, between a line that begins it all and one that ends it."""

    #: Matches a line of times, and has them in its groups.
    times: re.Pattern[str]
    #: Matches the line before the first cue, and one after which there is no text until the next times.
    begin: re.Pattern[str]
    end: re.Pattern[str]

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The cues after lines of times."""
        cues: list[Cue] = []
        begun = shown = False
        for line in nonempty_lines(text):
            begun = begun or self.begin.match(line[0]) is not None
            if found := self.times.match(line[0]) if begun else None:
                start, end = [*(time_code(time, self.fps) for time in found.groups()), None][:2]
                if end is None:
                    cues[-1:] = [cue._replace(end=start) for cue in cues[-1:]]
                cues.append(Cue(start, end, (line.end(), line.end())))
            shown = found is not None or (shown and not self.end.match(line[0]))
            if shown and not found and line[0].strip():
                _extend(cues, line.span())
        return cues


def _extend(cues: list[Cue], place: Span) -> None:
    """Add a line of text to the last cue."""
    start, stop = cues[-1].text
    cues[-1] = cues[-1]._replace(text=(place[0] if start == stop else start, place[1]))


_CODE = r"([0-9]{2}:[0-9]{2}:[0-9]{2}[:;][0-9]{2})"


class AvidDs(_BlockFormat):
    """Avid DS: a line of two time codes with frames, then lines of text; a header and `<begin subtitles>` before."""

    name = "avid-ds"
    hidden = HIDDEN_WITHOUT_ENTITIES
    missing = "no times such as 01:00:00:00 01:00:02:12"
    signature = re.compile(r"\s*(?:@ This file written with the Avid Caption|<begin subtitles>)", re.IGNORECASE)
    times = re.compile(rf"[ \t]*{_CODE}[ \t]+{_CODE}[ \t]*\Z")
    begin = re.compile("")
    end = re.compile(r"\s*<end subtitles>", re.IGNORECASE)


class SubViewer1(_BlockFormat):
    """SubViewer 1: `[00:00:04]`, then lines of text; a stamp without text ends a cue; a header up to `[BEGIN]`."""

    name = "subviewer1"
    hidden = re.compile(rf"\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
    lasting = True
    missing = "no time such as [00:00:04]"
    signature = re.compile(r"\s*\[TITLE\][^\r\n]*[\r\n](?=(?s:.{0,2000}?)\[BEGIN\])", re.IGNORECASE)
    times = re.compile(r"[ \t]*\[([0-9]{1,2}:[0-9]{2}:[0-9]{2})\][ \t]*\Z")
    begin = re.compile(r"\s*\[BEGIN\]\s*\Z", re.IGNORECASE)
    end = re.compile(r"\s*(?:\[END\]\s*\Z|\*\*\*)", re.IGNORECASE)
