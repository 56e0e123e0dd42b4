"""Write captions as new files: the targets by name, and the readers' view of what was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.styles import BOTTOM
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption
from cappunc_cli.layout.stl_file import stl
from cappunc_cli.layout.styled_lines import in_ass, in_srt, in_vtt, painted, vtt_settings, vtt_style_sheet
from cappunc_cli.layout.xml_files import fcpxml, ttml

_ASS_HEAD = """[Script Info]
ScriptType: v4.00+
PlayResX: 384
PlayResY: 288

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, \
StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


def srt(captions: Sequence[Caption], _: Writing) -> str:
    """SubRip."""
    times = (f"{timestamp(c.start)} --> {timestamp(c.end)}".replace(".", ",") for c in captions)
    texts = (_placed(c) + "\n".join(painted(c, in_srt)) for c in captions)
    rows = zip(times, texts, strict=True)
    return "".join(f"{i}\n{time}\n{lines}\n\n" for i, (time, lines) in enumerate(rows, 1))


def _placed(caption: Caption) -> str:
    """The code of a place other than the bottom, in ASS and for most players in SubRip."""
    return "" if caption.place == BOTTOM else f"{{\\an{caption.place}}}"


def _lines(caption: Caption) -> str:
    return "\n".join(caption.lines)


def vtt(captions: Sequence[Caption], _: Writing) -> str:
    """WebVTT."""
    return f"WEBVTT\n{vtt_style_sheet(captions)}" + "".join(f"\n{vtt_cue(caption)}" for caption in captions)


def vtt_cue(caption: Caption) -> str:
    """A cue of WebVTT, with the line break at its end."""
    voice = f"<v {escape(' '.join(caption.speaker.split()), quote=False)}>" if caption.speaker else ""
    text = voice + "\n".join(painted(caption, in_vtt))
    return f"{timestamp(caption.start)} --> {timestamp(caption.end)}{vtt_settings(caption.place)}\n{text}\n"


def ass(captions: Sequence[Caption], _: Writing) -> str:
    """ASS. Raises BadInput for text that ASS would read as an override code."""
    rows = []
    for caption in captions:
        if found := re.search(r"[{}]|\\[Nnh]", _lines(caption)):
            raise BadInput(f"“{found[0]}” in “{_lines(caption)}” would be read as a code of ASS")
        name = re.sub(r"[,\r\n]", " ", caption.speaker)
        text = _placed(caption) + r"\N".join(painted(caption, in_ass))
        rows.append(f"Dialogue: 0,{_clock(caption.start)},{_clock(caption.end)},Default,{name},0,0,0,,{text}\n")
    return _ASS_HEAD + "".join(rows)


def _clock(milliseconds: int) -> str:
    """A time as ASS writes it, in hundredths of a second: `1:02:03.45`."""
    hundredths = round(milliseconds / 10)
    return f"{hundredths // 360_000}:{timestamp(hundredths % 360_000 * 10)[3:-1]}"


def microdvd(captions: Sequence[Caption], writing: Writing) -> str:
    """MicroDVD, with the frame rate in its first line. Raises BadInput for text that it would read as a code."""
    rows = [f"{{1}}{{1}}{float(writing.fps):.6g}\n"]
    for caption in captions:
        if found := re.search(r"\{[^{}]*\}|\||^/", _lines(caption), re.MULTILINE):
            raise BadInput(f"“{found[0]}” in “{_lines(caption)}” would be read as a code of MicroDVD")
        start = writing.frame(caption.start)
        rows.append(f"{{{start}}}{{{max(writing.frame(caption.end), start + 1)}}}{'|'.join(caption.lines)}\n")
    return "".join(rows)


#: The formats that captions can be written in, with a writer each.
CAPTION_FORMATS: Mapping[str, Callable[[Sequence[Caption], Writing], str]] = {
    "srt": srt,
    "vtt": vtt,
    "ass": ass,
    "ttml": ttml,
    "stl": stl,
    "microdvd": microdvd,
    "fcpxml": fcpxml,
}
#: Those that are called otherwise as formats that are read.
READ_AS = {"stl": "ebu-stl"}
#: Those that can show styles and places.
STYLED = frozenset(("srt", "vtt", "ass", "ttml"))
#: Those with a field for the speaker.
VOICED = frozenset(("vtt", "ass", "ttml"))


def render(captions: Sequence[Caption], kind: str, writing: Writing | None = None) -> str:
    """Write captions as a file of the format `kind`, one of CAPTION_FORMATS.

    Raises BadInput for text that the format would show otherwise, and for a time before zero: no format can write it.
    """
    if early := next((c for c in captions if min(c.start, c.end) < 0), None):
        times = f"{timestamp(early.start)} to {timestamp(early.end)}"
        raise BadInput(f"“{' '.join(early.lines)}” is shown from {times}: {kind.upper()} has no times before zero")
    return CAPTION_FORMATS[kind](captions, writing or Writing())
