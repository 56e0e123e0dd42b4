"""Formats of players with one cue a line: MicroDVD (frames), MPL2 (tenths of seconds) and TMPlayer (seconds).

`|` breaks a line. MicroDVD: http://www.sourceforge.net/projects/microdvd; MPL2 and TMPlayer have no specification.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueFormat, read_cues
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import split_lines

_HIDDEN = re.compile(rf"\{{[^{{}}\r\n]*\}}|(?<![^\]|/\\])[/\\](?=\S)|\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
_MICRODVD = re.compile(r"\ufeff?\{([0-9]{1,9})\}[ ]?\{([0-9]{0,9})\}")
_MPL2 = re.compile(r"\ufeff?\[([0-9]{1,9})\][ ]?\[([0-9]{0,9})\]")
_TMPLAYER = re.compile(r"\ufeff?([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:,[1-9])?[:=](?![0-9])")
#: The frame rate in place of the text of the first cue.
_RATE = re.compile(r"[ \t]*([0-9]{1,3}(?:[.,][0-9]{1,6})?)[ \t]*\Z")
#: Frames a second where neither the file nor the user tells.
_USUAL_RATE = 23.976


#: Start and end, None where a line has none.
_Times = tuple[int | None, int | None]


class _PlayerFormat(CueFormat):
    """One cue a line, which begins with its times."""

    head: re.Pattern[str]
    example: str

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

    def cues(self, text: str, times: Callable[..., _Times], notices: list[Notice]) -> list[Cue]:
        """The cues of all lines; `times` gets the groups of `head`. Raises BadInput where there is none."""
        cues = []
        for number, (start, stop) in enumerate(split_lines(text), 1):
            if found := self.head.match(text, start, stop):
                cues.append(Cue(*times(*found.groups()), (found.end(), stop)))
            elif text[start:stop].strip(" \t\ufeff"):
                notices.append(Notice(number, "text without a time", unread=True))
        if not cues and text.strip():
            raise BadInput(f"no line such as {self.example}")
        return cues


class MicroDvd(_PlayerFormat):
    """MicroDVD: `{25}{50}text|text`, in frames; the first cue may hold the frame rate."""

    name = "microdvd"
    suffixes = (".sub",)
    head = _MICRODVD
    example = "{25}{50}hello"

    def read(self, text: str) -> Document:
        """Read a MicroDVD file. Raises BadInput where no line has frames, and for a frame rate of zero."""
        notices: list[Notice] = []
        frames = self.cues(text, lambda start, end: (int(start), int(end) if end else None), notices)
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

        cues = [cue._replace(start=time(cue.start), end=time(cue.end)) for cue in frames]
        return read_cues(self.name, text, cues, notices, _HIDDEN, lasting=True)


class Mpl2(_PlayerFormat):
    """MPL2: `[25][50]text|/text`, in tenths of seconds; a slash is italics."""

    name = "mpl2"
    suffixes = (".mpl",)
    head = _MPL2
    example = "[25][50]hello"

    def read(self, text: str) -> Document:
        """Read an MPL2 file. Raises BadInput where no line has times."""
        notices: list[Notice] = []
        cues = self.cues(text, lambda start, end: (int(start) * 100, int(end) * 100 if end else None), notices)
        return read_cues(self.name, text, cues, notices, _HIDDEN, lasting=True)


class TmPlayer(_PlayerFormat):
    """TMPlayer: `00:00:05:text|text`; a cue is shown until the next one, which may be empty."""

    name = "tmplayer"
    suffixes = (".tmp",)
    head = _TMPLAYER
    example = "00:00:05:hello"

    def read(self, text: str) -> Document:
        """Read a TMPlayer file. Raises BadInput where no line has a time."""
        notices: list[Notice] = []
        cues = self.cues(text, lambda h, m, s: (((int(h) * 60 + int(m)) * 60 + int(s)) * 1000, None), notices)
        return read_cues(self.name, text, cues, notices, _HIDDEN, lasting=True)
