"""Write captions as TTML, plain or in a profile of broadcasters (EBU-TT-D, IMSC text), and as FCPXML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption

_TTML = "http://www.w3.org/ns/ttml"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_NAMES = {
    "": _TTML,
    "ttm": f"{_TTML}#metadata",
    "ttp": f"{_TTML}#parameter",
    "tts": f"{_TTML}#styling",
    "ebuttm": "urn:ebu:tt:metadata",
}
_TT, _META, _PARAMETER, _STYLING, _EBU = (f"{{{name}}}" for name in _NAMES.values())
#: Characters that XML cannot contain.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IMSC = "http://www.w3.org/ns/ttml/profile/imsc1.1/text"
_CONFORMS = "urn:ebu:tt:distribution:2018-04"


def ttml(captions: Sequence[Caption], writing: Writing) -> str:
    """TTML in the profile of `writing`. Raises BadInput for characters that XML cannot contain."""
    for prefix, name in _NAMES.items():
        register_namespace(prefix, name)
    tree = Element(f"{_TT}tt", {f"{_XML}lang": writing.language or ("und" if writing.profile else "")})
    agents = {name: f"speaker{n}" for n, name in enumerate(dict.fromkeys(c.speaker for c in captions if c.speaker), 1)}
    if agents or writing.profile:
        _head(tree, agents, writing.profile)
    division = SubElement(SubElement(tree, f"{_TT}body"), f"{_TT}div")
    for number, caption in enumerate(captions, 1):
        own = {"begin": timestamp(caption.start), "end": timestamp(caption.end)}
        if caption.speaker:
            own[f"{_META}agent"] = agents[caption.speaker]
        if writing.profile:
            own |= {f"{_XML}id": f"caption{number}", "region": "bottom", "style": "text"}
        paragraph = SubElement(division, f"{_TT}p", own)
        paragraph.tail = "\n"  # one cue a line
        # EBU-TT-D has text in spans only.
        _write_lines(SubElement(paragraph, f"{_TT}span") if writing.profile else paragraph, caption.lines)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{checked_xml(tostring(tree, "unicode"))}\n'


def _head(tree: Element, agents: dict[str, str], profile: str) -> None:
    """The metadata, and in a profile the style and the region that it demands."""
    head = SubElement(tree, f"{_TT}head")
    if agents or profile == "ebu-tt-d":
        about = SubElement(head, f"{_TT}metadata")
        if profile == "ebu-tt-d":
            SubElement(SubElement(about, f"{_EBU}documentMetadata"), f"{_EBU}conformsToStandard").text = _CONFORMS
        for name, key in agents.items():
            agent = SubElement(about, f"{_META}agent", {f"{_XML}id": key, "type": "person"})
            SubElement(agent, f"{_META}name", {"type": "full"}).text = name
    if not profile:
        return
    tree.set(f"{_PARAMETER}timeBase", "media")
    if profile == "imsc":
        tree.set(f"{_PARAMETER}contentProfiles", _IMSC)
    else:
        tree.set(f"{_PARAMETER}cellResolution", "32 15")
    look = {"fontFamily": "proportionalSansSerif", "fontSize": "100%", "textAlign": "center", "lineHeight": "normal"}
    look |= {"color": "#ffffffff", "backgroundColor": "#000000c2"}
    style = {f"{_STYLING}{name}": value for name, value in look.items()}
    SubElement(SubElement(head, f"{_TT}styling"), f"{_TT}style", {f"{_XML}id": "text", **style})
    place = {"origin": "10% 10%", "extent": "80% 80%", "displayAlign": "after"}
    region = {f"{_STYLING}{name}": value for name, value in place.items()}
    SubElement(SubElement(head, f"{_TT}layout"), f"{_TT}region", {f"{_XML}id": "bottom", **region})


def _write_lines(element: Element, lines: Sequence[str]) -> None:
    element.text, *rest = lines or ("",)
    for line in rest:
        SubElement(element, f"{_TT}br").tail = line


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
