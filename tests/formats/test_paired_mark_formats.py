"""Every format can write marks before a word and quotes after it, with composed and with decomposed letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from unicodedata import normalize

import pytest
from opened import GOOD, ids, load

from cappunc_cli import formats
from cappunc_cli.document.labels import dress, strip

#: Their number has no common divisor with that of other periods (words a line), so that they meet all places.
SIGNS = [("¿", ""), ("", "?"), ("«", "»,"), ("“¿", "?”"), ("—", ""), ("¡", "!"), ("", "”."), ("–“", ""), ("", "»")]


def signed(text: str, sign: tuple[str, str]) -> str:
    """A word with the marks added on the sides where it has none, if it stays the same word."""
    bare, label = strip(text)
    new = dress(bare, replace(label, before=label.before or sign[0], after=label.after or sign[1]))
    return new if strip(new)[0] == bare else text


def documents(path: Path, form: str) -> Iterator[tuple[formats.Document, list[str]]]:
    document = formats.read(normalize(form, load(path)), path.name)
    for first in range(0, len(SIGNS), 2):
        signs = islice(cycle(SIGNS), first, None)
        yield document, [signed(word.text, sign) for word, sign in zip(document.words, signs, strict=False)]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("path", GOOD, ids=ids)
def test_marks_on_both_sides_of_a_word(path: Path, form: str) -> None:
    if path.suffix in (".stl", ".scc", ".cha"):
        pytest.skip("a format with little room, or whose signs are codes; see test_new_formats")
    for document, texts in documents(path, form):
        output = formats.write(document, texts)
        formats.verify(document, output)
        again = [word.text for word in formats.read(output, path.name, document.format).words]
        # A dash at the start of a line would mark another speaker, so it is not written.
        assert [text.lstrip("—–") for text in again] == [text.lstrip("—–") for text in texts]
        if len(texts) > len(SIGNS):
            assert {"¿", "«", "»", "?", "”"} <= set("".join(again))
