"""Write captions as TTML, plain or in a profile of broadcasters (EBU-TT-D, IMSC text), and as FCPXML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from xml.etree.ElementTree import Element, SubElement, tostring

from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.styles import BOTTOM, Style
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption
from cappunc_cli.layout.styled_lines import in_ttml, painted, ttml_style, ttml_styles

#: Characters that XML cannot contain.
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TTML = "http://www.w3.org/ns/ttml"
#: What a profile declares: names and parameters of the document, its metadata, and the style and region it demands.
_DECLARED = {
    "": "",
    "imsc": f' ttp:timeBase="media" ttp:contentProfiles="{_TTML}/profile/imsc1.1/text"',
    "ebu-tt-d": ' ttp:timeBase="media" ttp:cellResolution="32 15"',
}
_CONFORMS = (
    "<ebuttm:documentMetadata><ebuttm:conformsToStandard>urn:ebu:tt:distribution:2018-04</ebuttm:conformsToStandard>"
    "</ebuttm:documentMetadata>"
)
_TEXT_STYLE = (
    '<style xml:id="text" tts:fontFamily="proportionalSansSerif" tts:fontSize="100%" tts:textAlign="center" '
    'tts:lineHeight="normal" tts:color="#ffffffff" tts:backgroundColor="#000000c2" />'
)
_REGION = '<region xml:id="{}" tts:origin="10% 10%" tts:extent="80% 80%" tts:displayAlign="{}"{} />'


def ttml(captions: Sequence[Caption], writing: Writing) -> str:
    """TTML in the profile of `writing`. Raises BadInput for characters that XML cannot contain."""
    profile, ebu = writing.profile, writing.profile == "ebu-tt-d"
    agents = {name: f"speaker{n}" for n, name in enumerate(dict.fromkeys(c.speaker for c in captions if c.speaker), 1)}
    about, styles = _CONFORMS * ebu, ttml_styles(captions)
    places = sorted({caption.place for caption in captions} - {BOTTOM})
    for name, key in agents.items():
        shown = f'<ttm:name type="full">{escape(name, quote=False)}</ttm:name>'
        about += f'<ttm:agent xml:id="{key}" type="person">{shown}</ttm:agent>'
    rows = ""
    for number, caption in enumerate(captions, 1):
        own = f' begin="{timestamp(caption.start)}" end="{timestamp(caption.end)}"'
        own += f' ttm:agent="{agents[caption.speaker]}"' if caption.speaker else ""
        own += f' xml:id="caption{number}" style="text"' if profile else ""
        region = "bottom" if caption.place == BOTTOM else f"place{caption.place}"
        own += f' region="{region}"' if profile or places else ""
        text = "<br />".join(painted(caption, in_ttml(styles)))
        # EBU-TT-D has text in spans only. One cue a line.
        rows += _element("p", _spans(text) if profile else text, own) + "\n"
    head = (f"<metadata>{about}</metadata>" if about else "") + _styling(styles, places, bool(profile))
    names = {"": _TTML} | ({"ebuttm": "urn:ebu:tt:metadata"} if ebu else {})
    names |= {"ttm": f"{_TTML}#metadata"} if agents else {}
    names |= {"ttp": f"{_TTML}#parameter"} if profile else {}
    names |= {"tts": f"{_TTML}#styling"} if profile or styles or places else {}
    declared = "".join(f' xmlns{name and ":"}{name}="{uri}"' for name, uri in names.items())
    declared += f' xml:lang="{writing.language or ("und" if profile else "")}"{_DECLARED[profile]}'
    body = (f"<head>{head}</head>" if head else "") + f"<body>{_element('div', rows)}</body>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{checked_xml(_element("tt", body, declared))}\n'


def _styling(styles: Mapping[Style, str], places: Sequence[int], profiled: bool) -> str:
    """The styles and regions that captions refer to, with those that a profile demands."""
    declared = _TEXT_STYLE * profiled + "".join(ttml_style(name, style) for style, name in styles.items())
    # Where there are regions, a paragraph without one is not shown.
    regions = _REGION.format("bottom", "after", "") * (profiled or bool(places))
    for place in places:
        align = (' tts:textAlign="start"', "", ' tts:textAlign="end"')[(place - 1) % 3]
        regions += _REGION.format(f"place{place}", ("after", "center", "before")[(place - 1) // 3], align)
    styling = f"<styling>{declared}</styling>" if declared else ""
    return styling + (f"<layout>{regions}</layout>" if regions else "")


def _spans(text: str) -> str:
    """The text with everything in spans that are not nested."""
    parts = re.split(r"(<span .*?</span>)", text)
    return "".join(part if part.startswith("<span ") else _element("span", part) for part in parts if part)


def _element(name: str, content: str, attributes: str = "") -> str:
    return f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes} />"


def checked_xml(text: str, kind: str = "XML") -> str:
    """The text; raises BadInput for a character that XML cannot contain."""
    if found := _NOT_XML.search(text):
        raise BadInput(f"{found[0]!r} cannot stand in {kind}")
    return text


def fcpxml(captions: Sequence[Caption], writing: Writing) -> str:
    """Captions of Final Cut Pro (FCPXML 1.9) on a gap as long as they last; times are whole frames."""
    frame = 1 / writing.fps
    length = max((writing.frame(caption.end) for caption in captions), default=0)
    root = Element("fcpxml", {"version": "1.9"})
    size = {"width": "1920", "height": "1080"}
    SubElement(SubElement(root, "resources"), "format", {"id": "r1", "frameDuration": _rational(frame), **size})
    event = SubElement(SubElement(root, "library"), "event", {"name": "Captions"})
    whole = _rational(frame * length)
    sequence = SubElement(
        SubElement(event, "project", {"name": "Captions"}),
        "sequence",
        {"format": "r1", "duration": whole, "tcStart": "0s", "tcFormat": "NDF"},
    )
    gap = SubElement(SubElement(sequence, "spine"), "gap", {"name": "Gap", "offset": "0s", "start": "0s"})
    gap.set("duration", whole)
    role = f"iTT?captionFormat=ITT.{writing.language or 'en'}"
    for number, caption in enumerate(captions, 1):
        start = writing.frame(caption.start)
        shown = max(writing.frame(caption.end) - start, 1)
        times = {"offset": _rational(frame * start), "start": "0s", "duration": _rational(frame * shown)}
        name = " ".join(caption.lines)
        item = SubElement(gap, "caption", {"lane": "1", "name": name, "role": role, **times})
        text = SubElement(item, "text", {"placement": "bottom"})
        SubElement(text, "text-style", {"ref": f"ts{number}"}).text = "\n".join(caption.lines)
        look = SubElement(item, "text-style-def", {"id": f"ts{number}"})
        SubElement(look, "text-style", {"font": ".AppleSystemUIFont", "fontSize": "13", "fontColor": "1 1 1 1"})
        item.tail = "\n"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>'
    return f"{head}\n{checked_xml(tostring(root, 'unicode'))}\n"


def _rational(seconds: Fraction) -> str:
    """Seconds as FCPXML writes them: `1001/30000s`, `5s`."""
    return f"{seconds.numerator}{'' if seconds.denominator == 1 else f'/{seconds.denominator}'}s"
