"""What other people's readers see in a file before it is fixed and after: the same times and the same letters.

pysubs2, ttconv and praatio share no code with this project; each reads its formats by its own idea of them.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pysubs2
import pytest
from opened import FIXTURES, load
from praatio import textgrid
from rules import rules
from ttconv.imsc import reader as imsc
from ttconv.model import ContentElement, Text
from ttconv.srt import reader as srt
from ttconv.vtt import reader as vtt

from cappunc_cli import formats
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

#: What a reader sees: times, in its own unit, and texts.
Seen = list[tuple[object, object, str]]


def by_pysubs2(text: str, kind: str) -> Seen:
    return [(line.start, line.end, line.plaintext) for line in pysubs2.SSAFile.from_string(text, format_=kind)]


def by_ttconv(text: str, kind: str) -> Seen:
    if kind == "ttml":
        document = imsc.to_model(ElementTree.ElementTree(ElementTree.fromstring(text.encode())))
    else:
        document = (srt if kind == "srt" else vtt).to_model(StringIO(text))
    assert document is not None
    return seen_in(document.get_body())


def seen_in(element: ContentElement) -> Seen:
    """The times of an element and all in it, and what is written there, from top to bottom."""
    own = element.get_text() if isinstance(element, Text) else ""
    return [(element.get_begin(), element.get_end(), own), *(line for child in element for line in seen_in(child))]


def by_praatio(text: str, directory: Path) -> Seen:
    path = directory / "talk.TextGrid"
    path.write_text(text, encoding="utf-8")
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=True)
    found: Seen = [(name, grid.getTier(name).maxTimestamp, "") for name in grid.tierNames]
    for name in grid.tierNames:
        # An interval has a start, an end and a label; a point has a time and a label.
        found += [(entry[0], entry[-2], entry[-1]) for entry in grid.getTier(name).entries]
    return found


def letters(seen: Seen) -> Seen:
    """The same without marks and case."""
    return [(start, end, "".join(filter(str.isalnum, text.casefold()))) for start, end, text in seen]


def fixed(text: str, name: str) -> str:
    """The text of a file after it is fixed, whatever it has."""
    document = formats.read(text, name)
    return formats.write(document, restore(document.words, rules(), Options(existing="replace")))


def is_read_alike(text: str, name: str, read: Callable[[str], Seen]) -> None:
    before, after = read(text), read(fixed(text, name))
    assert letters(after) == letters(before)
    assert [text for *_, text in after] != [text for *_, text in before], "the reader sees no new mark or capital"


def fixture(name: str) -> str:
    """The text of a file that this reader can read: most have something that it refuses or passes over."""
    return load(FIXTURES / name)


@pytest.mark.parametrize(
    "name",
    [
        "srt/talk.srt", "srt/overlaps.srt", "srt/shouting.srt", "srt/no-indices.srt",
        "srt/rolling.srt", "vtt/header.vtt", "vtt/karaoke.vtt", "vtt/voices.vtt", "vtt/youtube.vtt",
        "vtt/zoom.vtt", "ass/karaoke.ass",

    ],
)  # fmt: skip
def test_pysubs2_sees_the_same_times_and_letters(name: str) -> None:
    is_read_alike(fixture(name), name, lambda text: by_pysubs2(text, name[:3]))


@pytest.mark.parametrize(
    "name",
    [
        "srt/talk.srt", "srt/overlaps.srt", "srt/shouting.srt", "vtt/header.vtt", "vtt/karaoke.vtt",
        "vtt/voices.vtt", "vtt/zoom.vtt", "ttml/talk.ttml", "ttml/lyrics.ttml",
    ],
)  # fmt: skip
def test_ttconv_sees_the_same_times_and_letters(name: str) -> None:
    is_read_alike(fixture(name), name, lambda text: by_ttconv(text, name.split("/")[0]))


@pytest.mark.parametrize("name", ["long", "short", "speakers"])
def test_praatio_sees_the_same_times_and_letters(name: str, tmp_path: Path) -> None:
    name = f"textgrid/{name}.TextGrid"
    is_read_alike(fixture(name), name, lambda text: by_praatio(text, tmp_path))
