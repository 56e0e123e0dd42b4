"""How captions look: italics, bold, underline, colours and positions, by the markup of each format."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from cappunc_cli.formats.markup import Visible


class Style(NamedTuple):
    """The look of a run of characters; `colour` is `#rrggbb`, or "" for the usual one, white."""

    italic: bool = False
    bold: bool = False
    underline: bool = False
    colour: str = ""


PLAIN = Style()
#: A line of a cue in runs of one style each.
Runs = tuple[tuple[str, Style], ...]
#: Where a cue is shown, as on a keypad: 2 is at the bottom, 8 at the top, 7 on the left there.
BOTTOM = 2
#: The colours that HTML and WebVTT name.
COLOURS = {
    "black": "#000000", "red": "#ff0000", "lime": "#00ff00", "blue": "#0000ff", "yellow": "#ffff00",
    "cyan": "#00ffff", "magenta": "#ff00ff", "aqua": "#00ffff", "fuchsia": "#ff00ff", "green": "#008000",
    "silver": "#c0c0c0", "gray": "#808080", "maroon": "#800000", "purple": "#800080", "olive": "#808000",
    "navy": "#000080", "teal": "#008080", "orange": "#ffa500",
}  # fmt: skip
#: Keypad places of SSA's own numbers (`\\a6`).
_OF_SSA = {1: 1, 2: 2, 3: 3, 5: 7, 6: 8, 7: 9, 9: 4, 10: 5, 11: 6}
#: How alignments move a place.
_ACROSS = {"start": -1, "left": -1, "end": 1, "right": 1}
_TAG = re.compile(r"< ?(/?) ?([\w:]+)((?:\.[\w#-]+)*)([^<>]*)>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_CODE = re.compile(r"\\([1-4]?[a-zA-Z]+)(?:\(([^()]*)\)|(&?H?[-0-9A-Fa-f.]*&?))|([A-Za-z]):([^{}]*)")
_RGB = re.compile(r"rgba?\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)")
_CUE_STYLE = re.compile(r"::cue\(\.([\w-]+)\)\s*\{([^{}]*)\}")
_PAIR = re.compile(r"([\w-]+)\s*:\s*([^;{}]+)")


def colour_of(text: str) -> str:
    """`#rrggbb` for a colour as HTML, TTML or ASS (`&H0000FF&`) writes it; "" for white and for what is none."""
    text = text.strip().lower()
    if found := re.fullmatch(r"[&$]?h?([0-9a-f]{1,8})&?", text) if text[:1] in ("&", "$") else None:
        bgr = found[1].zfill(6)[-6:]
        text = f"#{bgr[4:]}{bgr[2:4]}{bgr[:2]}"
    elif found := _RGB.match(text):
        text = "#" + "".join(f"{min(int(part), 255):02x}" for part in found.groups())
    elif re.fullmatch(r"#?[0-9a-f]{6}(?:[0-9a-f]{2})?", text):
        text = f"#{text.lstrip('#')[:6]}"
    else:
        text = COLOURS.get(text, "")
    return "" if text == "#ffffff" else text


@dataclass(frozen=True, slots=True)
class Sheet:
    """The styles that a file declares: styles and places by name, and the classes of WebVTT."""

    styles: Mapping[str, Style] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(name: str, source: str) -> Sheet:
        """The sheet of a source in a format."""
        read = {"ass": _ass_sheet, "vtt": _vtt_sheet, "ttml": _ttml_sheet}.get(name)
        return read(source) if read else Sheet()


def _ass_sheet(source: str) -> Sheet:
    columns: list[str] = []
    styles, places, legacy = dict[str, Style](), dict[str, int](), "[v4 styles]" in source.lower()
    for line in source.partition("[Events]")[0].splitlines():
        key, _, rest = line.partition(":")
        values = [value.strip() for value in rest.split(",")]
        if key.strip().lower() == "format":
            columns = [value.lower() for value in values]
        elif key.strip().lower() == "style" and len(values) == len(columns):
            row = dict(zip(columns, values, strict=True))
            flags = (row.get(name, "0") not in ("0", "") for name in ("italic", "bold", "underline"))
            name, place = row.get("name", "").lstrip("*"), row.get("alignment", "2")
            styles[name] = Style._make((*flags, colour_of(_hex(row.get("primarycolour", "")))))
            at = int(place) if place.isdecimal() else BOTTOM
            places[name] = _OF_SSA.get(at, BOTTOM) if legacy else at
    return Sheet(styles, places)


def _hex(colour: str) -> str:
    """SSA writes colours as decimal numbers, too."""
    return f"&H{int(colour):06x}" if colour.isdecimal() else colour


def _vtt_sheet(source: str) -> Sheet:
    return Sheet({name: _declared(dict(_PAIR.findall(body))) for name, body in _CUE_STYLE.findall(source)})


def _ttml_sheet(source: str) -> Sheet:
    styles, places = dict[str, Style](), dict[str, int]()
    head = source[: m.end()] if (m := re.search(r"</(?:\w+:)?head>", source)) else ""
    region = ""
    for tag in _TAG.finditer(head):
        kind, attributes = tag[2].rpartition(":")[2], attributes_of(tag[4])
        region = "" if tag[1] else attributes.get("id", "") if kind == "region" else region
        if kind == "style" and "id" in attributes:
            styles[attributes["id"]] = _declared(attributes)
        place = {"before": 8, "center": 5, "after": 2}.get(attributes.get("displayAlign", ""))
        name = region or attributes.get("id", "")
        if place is not None and name:
            places[name] = place + _ACROSS.get(attributes.get("textAlign", ""), 0)
    return Sheet(styles, places)


def attributes_of(text: str) -> dict[str, str]:
    """The attributes in a tag, without the prefixes of their names."""
    return {key.rpartition(":")[2]: a or b or c for key, a, b, c in _ATTRIBUTE.findall(text)}


def _declared(values: Mapping[str, str]) -> Style:
    """The style that attributes of TTML or properties of CSS mean."""
    plain = {key.replace("-", "").lower(): value.strip().lower() for key, value in values.items()}
    return Style(
        plain.get("fontstyle") in ("italic", "oblique"),
        plain.get("fontweight") == "bold",
        "underline" in plain.get("textdecoration", ""),
        colour_of(plain.get("color", "")),
    )


def _over(style: Style, other: Style) -> Style:
    """A style on top of another one."""
    return Style._make(a or b for a, b in zip(other, style, strict=True))


def _flagged(style: Style, flag: str, value: bool = True) -> Style:
    return Style._make(value if name == flag else own for name, own in zip(style._fields, style, strict=True))


@dataclass(slots=True)
class Look:
    """How a cue looks: the style of each character that it shows, where it is shown, and its other effects."""

    base: Style = PLAIN
    place: int = BOTTOM
    effects: int = 0
    changes: list[tuple[int, Style]] = field(default_factory=list)

    def style_at(self, offset: int) -> Style:
        """The style of a character."""
        i = bisect_right(self.changes, offset, key=itemgetter(0)) - 1
        return self.base if i < 0 else self.changes[i][1]

    @property
    def plain(self) -> bool:
        """Whether all characters have the usual style."""
        return self.base == PLAIN and all(style == PLAIN for _, style in self.changes)

    def runs(self, text: str, start: int, stop: int) -> Runs:
        """The characters from `start` to `stop`, with single spaces, in runs of one style."""
        runs: list[tuple[str, Style]] = []
        for found in re.finditer(r"\S+|\s+", text[start:stop].rstrip()):
            space = found[0].isspace()
            if space and not runs:
                continue
            for offset, character in enumerate(" " if space else found[0], start + found.start()):
                style = self.style_at(offset)
                if runs and runs[-1][1] == style:
                    runs[-1] = (runs[-1][0] + character, style)
                else:
                    runs.append((character, style))
        return tuple(runs)


def look_of(
    kind: str, source: str, span: tuple[int, int], seen: Visible, hidden: re.Pattern[str], sheet: Sheet
) -> Look:
    """How the cue at a span of a source in the format `kind` looks; `seen` is what it shows."""
    look = _framed(kind, source, span[0], sheet)
    style, stack = look.base, list[tuple[str, Style]]()
    places = [place for _, place, _ in seen.pieces]
    for found in hidden.finditer(source, *span):
        token = found[0]
        if token[0] == "{":
            style = _coded(look, token, style, sheet)
        elif tag := _TAG.match(token):
            closes, name = tag[1], tag[2].rpartition(":")[2].lower()
            if not closes and not token.endswith("/>"):
                stack.append((name, style))
                style = _tagged(name, tag, style, sheet)
            elif closes and any(name == other for other, _ in stack):
                while stack and (top := stack.pop())[0] != name:
                    pass
                style = top[1]
        else:
            continue
        after = bisect_left(places, found.end())
        look.changes.append((seen.pieces[after][0] if after < len(places) else len(seen.text), style))
    return look


def _framed(kind: str, source: str, start: int, sheet: Sheet) -> Look:
    """The look that the fields of a cue before its text say."""
    line = source[source.rfind("\n", 0, start) + 1 : start]
    if kind == "ass":
        name = (line.split(",") + [""] * 4)[3].strip().lstrip("*")
        return Look(sheet.styles.get(name, PLAIN), sheet.places.get(name, BOTTOM))
    if kind == "vtt":
        return Look(place=_place_of(source[max(source.rfind("-->", 0, start), 0) : start]))
    if kind != "ttml":
        return Look()
    attributes = attributes_of(source[source.rfind("<", 0, start) : start])
    base = _declared(attributes)
    for name in attributes.get("style", "").split():
        base = _over(sheet.styles.get(name, PLAIN), base)
    return Look(base, sheet.places.get(attributes.get("region", ""), BOTTOM))


def _place_of(settings: str) -> int:
    """The place that the settings of a WebVTT cue mean."""
    given = dict(re.findall(r"\b(line|align):([^\s,]+)", settings))
    row, place = given.get("line", "-1"), BOTTOM
    if found := re.fullmatch(r"(-?\d+(?:\.\d+)?)(%?)", row):
        value = float(found[1]) if found[2] else 100 if found[1][0] == "-" else 7 * float(found[1])
        place = 8 if value < 35 else 5 if value < 65 else 2
    return place + _ACROSS.get(given.get("align", ""), 0)


def _tagged(name: str, tag: re.Match[str], style: Style, sheet: Sheet) -> Style:
    """The style within a tag."""
    if name in ("i", "b", "u", "em", "strong"):
        key = {"i": "italic", "em": "italic", "u": "underline"}.get(name, "bold")
        return _flagged(style, key)
    attributes = attributes_of(tag[4])
    if name == "c":
        for one in tag[3].split(".")[1:]:
            style = _over(style, sheet.styles.get(one) or Style(colour=colour_of(one)))
        return style
    if name == "font":
        return style._replace(colour=colour_of(attributes.get("color", "")) or style.colour)
    if name != "span":
        return style
    for one in attributes.get("style", "").split():
        style = _over(style, sheet.styles.get(one, PLAIN))
    return _over(style, _declared(attributes))


def _coded(look: Look, token: str, style: Style, sheet: Sheet) -> Style:
    """The style after an override block of ASS or MicroDVD; places and effects go to `look`."""
    for name, _, value, other, of_other in _CODE.findall(token):
        key = {"i": "italic", "b": "bold", "u": "underline"}.get(name)
        if other:
            for letter, flag in (("i", "italic"), ("b", "bold"), ("u", "underline")):
                style = _flagged(style, flag) if other in "yY" and letter in of_other.lower() else style
            style = style._replace(colour=colour_of(of_other)) if other in "cC" else style
        elif key:
            style = _flagged(style, key, value not in ("", "0"))
        elif name in ("c", "1c"):
            style = style._replace(colour=colour_of(value))
        elif name in ("an", "a") and value.isdecimal():
            look.place = int(value) if name == "an" else _OF_SSA.get(int(value), BOTTOM)
        elif name.startswith("r"):
            style = sheet.styles.get(name[1:], look.base)
        elif name not in ("N", "n", "h"):
            look.effects += 1
    return style
