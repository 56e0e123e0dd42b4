"""The lines of captions in the markup of each format: italics, bold, underline and colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from cappunc_cli.formats.styles import COLOURS, PLAIN, Style
from cappunc_cli.layout.segmentation import Caption

#: What a run of one style becomes.
_Paint = Callable[[str, Style], str]


def painted(caption: Caption, paint: _Paint) -> list[str]:
    """The lines of a caption with the markup that `paint` adds to a run."""
    if not caption.runs:
        return [paint(line, PLAIN) for line in caption.lines]
    return ["".join(paint(text, style) for text, style in line) for line in caption.runs]


def _nested(text: str, style: Style) -> str:
    for name, has in (("i", style.italic), ("b", style.bold), ("u", style.underline)):
        text = f"<{name}>{text}</{name}>" if has else text
    return text


def in_srt(text: str, style: Style) -> str:
    """SubRip's tags; players know them from HTML."""
    text = _nested(text, style)
    return f'<font color="{style.colour}">{text}</font>' if style.colour else text


#: The classes that WebVTT defines for colours.
_VTT_COLOURS = {COLOURS[name]: name for name in ("black", "red", "lime", "blue", "yellow", "cyan", "magenta")}


def in_vtt(text: str, style: Style) -> str:
    """WebVTT's tags; a colour is a class."""
    text = _nested(escape(text, quote=False), style)
    return f"<c.{_vtt_class(style.colour)}>{text}</c>" if style.colour else text


def _vtt_class(colour: str) -> str:
    return _VTT_COLOURS.get(colour, f"c{colour[1:]}")


def vtt_style_sheet(captions: Sequence[Caption]) -> str:
    """The block that declares the colours for which WebVTT has no name, or ""."""
    own = sorted({colour for colour in colours(captions) if colour not in _VTT_COLOURS})
    rules = "".join(f"::cue(.{_vtt_class(colour)}) {{ color: {colour} }}\n" for colour in own)
    return f"\nSTYLE\n{rules}" if rules else ""


def vtt_settings(place: int) -> str:
    """The settings of a WebVTT cue at a place on a keypad, other than at the bottom."""
    line = {0: "", 1: " line:50%", 2: " line:0"}[(place - 1) // 3]
    return line + (" align:left", "", " align:right")[(place - 1) % 3]


def in_ass(text: str, style: Style) -> str:
    """ASS's override codes around a run."""
    flags = [key for key, has in (("i", style.italic), ("b", style.bold), ("u", style.underline)) if has]
    on, off = "".join(f"\\{key}1" for key in flags), "".join(f"\\{key}0" for key in flags)
    if rgb := style.colour[1:]:
        on, off = f"{on}\\c&H{rgb[4:]}{rgb[2:4]}{rgb[:2]}&", f"{off}\\c"
    return f"{{{on}}}{text}{{{off}}}" if on else text


def in_ttml(names: dict[Style, str]) -> _Paint:
    """TTML's spans, each with the style of a name."""

    def paint(text: str, style: Style) -> str:
        shown = escape(text, quote=False)
        return shown if style == PLAIN else f'<span style="{names[style]}">{shown}</span>'

    return paint


def ttml_styles(captions: Sequence[Caption]) -> dict[Style, str]:
    """The names of the styles that captions have, beside the usual one."""
    found = dict.fromkeys(style for caption in captions for line in caption.runs for _, style in line)
    return {style: f"style{n}" for n, style in enumerate((one for one in found if one != PLAIN), 1)}


def ttml_style(name: str, style: Style) -> str:
    """The element that declares a style."""
    looks = (
        ('tts:fontStyle="italic"', style.italic),
        ('tts:fontWeight="bold"', style.bold),
        ('tts:textDecoration="underline"', style.underline),
        (f'tts:color="{style.colour}"', style.colour),
    )
    return f'<style xml:id="{name}" {" ".join(look for look, has in looks if has)} />'


def colours(captions: Sequence[Caption]) -> set[str]:
    """The colours of captions other than the usual one."""
    return {style.colour for caption in captions for line in caption.runs for _, style in line} - {""}
