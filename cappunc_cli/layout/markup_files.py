"""Write new captions as ASS and TTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.layout.segmentation import Caption

_TTML, _META, _XML = (
    "http://www.w3.org/ns/ttml",
    "http://www.w3.org/ns/ttml#metadata",
    "http://www.w3.org/XML/1998/namespace",
)
#: Characters that XML cannot contain.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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


def ass(captions: Sequence[Caption]) -> str:
    """Write captions as ASS. Raises BadInput for text that ASS would read as an override code."""
    rows = []
    for caption in captions:
        text = r"\N".join(caption.lines)
        if re.search(r"[{}]|\\[Nnh]", "".join(caption.lines)):
            raise BadInput(f"“{text}” would be read as an override in ASS")
        name = re.sub(r"[,\r\n]", " ", caption.speaker)
        rows.append(f"Dialogue: 0,{_clock(caption.start)},{_clock(caption.end)},Default,{name},0,0,0,,{text}\n")
    return _ASS_HEAD + "".join(rows)


def _clock(milliseconds: int) -> str:
    """A time as ASS writes it, in hundredths of a second: `1:02:03.45`."""
    hundredths = round(milliseconds / 10)
    return f"{hundredths // 360_000}:{timestamp(hundredths % 360_000 * 10)[3:-1]}"


def ass_texts(text: str) -> list[str]:
    """The texts of the captions in a file that `ass` wrote."""
    rows = (line.split(",", 9) for line in text.splitlines() if line.startswith("Dialogue:"))
    return [row[9].replace(r"\N", "\n") for row in rows]


def ttml(captions: Sequence[Caption]) -> str:
    """Write captions as TTML. Raises BadInput for characters that XML cannot contain."""
    for prefix, name in (("", _TTML), ("ttm", _META)):
        ElementTree.register_namespace(prefix, name)
    tree = ElementTree.Element(f"{{{_TTML}}}tt", {f"{{{_XML}}}lang": ""})
    agents = {name: f"speaker{n}" for n, name in enumerate(dict.fromkeys(c.speaker for c in captions if c.speaker), 1)}
    if agents:
        about = ElementTree.SubElement(ElementTree.SubElement(tree, f"{{{_TTML}}}head"), f"{{{_TTML}}}metadata")
        for name, key in agents.items():
            agent = ElementTree.SubElement(about, f"{{{_META}}}agent", {f"{{{_XML}}}id": key, "type": "person"})
            ElementTree.SubElement(agent, f"{{{_META}}}name", {"type": "full"}).text = name
    division = ElementTree.SubElement(ElementTree.SubElement(tree, f"{{{_TTML}}}body"), f"{{{_TTML}}}div")
    for caption in captions:
        times = {"begin": timestamp(caption.start), "end": timestamp(caption.end)}
        own = {f"{{{_META}}}agent": agents[caption.speaker]} if caption.speaker else {}
        cue = ElementTree.SubElement(division, f"{{{_TTML}}}p", {**times, **own})
        cue.tail = "\n"  # one cue per line
        cue.text, *rest = caption.lines or ("",)
        for line in rest:
            ElementTree.SubElement(cue, f"{{{_TTML}}}br").tail = line
    output = ElementTree.tostring(tree, "unicode")
    if found := _NOT_XML.search(output):
        raise BadInput(f"{found[0]!r} cannot stand in XML")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{output}\n'


def ttml_texts(text: str) -> list[str]:
    """The texts of the captions in a file that `ttml` wrote."""
    found = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"))
    return ["\n".join(cue.itertext()) for cue in found.iter(f"{{{_TTML}}}p")]
