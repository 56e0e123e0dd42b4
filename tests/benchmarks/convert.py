"""Convert all sample files to every format, and compare with what other readers see in source and result.

    python tests/benchmarks/convert.py > tests/benchmarks/results/convert.json

Nothing is restored. The readers are pysubs2 (SRT, ASS, MicroDVD), a parser of WebVTT by its standard, ttconv (EBU STL),
the parsers of the standard library (TTML, YouTube's XML, SAMI, TSV, FCPXML, HTML, JSON) and python-docx; what a source
without such a reader shows (CTM, STM, TextGrid, JSON) are its words. A conversion is

* `equal`: the same text, and the same times where cues stay cues;
* `rounded`: so but for times that the target counts in hundredths or frames;
* `refused`: one line says why;
* `lost`, or `unread` by the other reader: anything else, which is a failure.

Names of speakers, and the dashes and arrows that announce them, may be written otherwise.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

import docx
import pysubs2
from measuring import head, print_report

from cappunc_cli import formats
from cappunc_cli.document.words import Document
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.convert.makers import Converter
from cappunc_cli.features.convert.options import KINDS
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer, FixRequest, Opened
from cappunc_cli.formats.cues import is_rolling

#: Text, and its times in milliseconds where the format has cues.
Shown = list[tuple[str, int | None, int | None]]

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
_TAG = re.compile(r"<[^<>]*>")
_UNSEEN = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
#: At the edges of a token: what announces a speaker, and marks.
_EDGE = re.compile(r"^[-‐‑–—>]+|[:：]+$")
#: A line of two times without an arrow that pysubs2 knows, and the number before it: no player shows them.
_BROKEN_TIMES = re.compile(
    r"(?m)^(?:[0-9]+[ \t]*\r?\n)?(?![0-9:,.]+ --> [0-9:,.]+)[^\r\n]*[0-9]:[0-9]{2}[^\r\n]*[0-9]:[0-9]{2}[^\r\n]*$"
)
#: Half a frame at 25 a second, or half a hundredth of a second, and the rounding of a millisecond; a caption of STL
#: that overlaps the next one by up to five frames ends where that begins.
_ROUNDING = {"ass": 6, "stl": 241, "microdvd": 41, "fcpxml": 41}


class _Text(HTMLParser):
    """The text of HTML, a line for each element."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._ignored = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._ignored += tag in ("style", "script", "title", "h1", "time")
        self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._ignored -= tag in ("style", "script", "title", "h1", "time")

    def handle_data(self, data: str) -> None:
        if not self._ignored:
            self.parts.append(data)


def _html(data: bytes) -> Shown:
    parser = _Text()
    parser.feed(data.decode("utf-8", "replace"))
    return [("".join(parser.parts), None, None)]


def _subs(kind: str) -> Callable[[bytes], Shown]:
    def read(data: bytes) -> Shown:
        text = data.decode("utf-8", "surrogateescape")
        if kind == "srt":  # to pysubs2 all in braces is a code, and to players what is one of MicroDVD
            text = re.sub(r"\{[A-Za-z]:[^{}\r\n]*\}", "", text)
            text = re.sub(r"\{(?!\\)", "\uff5b", text)
        more = {} if kind == "microdvd" else {"keep_unknown_html_tags": False}
        found = pysubs2.SSAFile.from_string(text, format_=kind, **more)
        plain = ((event, event.plaintext) for event in found if not event.is_comment)
        decoded = unescape if kind == "srt" else str
        return [(decoded(text), event.start, event.end) for event, text in plain]

    return read


def _vtt(data: bytes) -> Shown:
    """The cues of WebVTT as its standard parses them: a block is a cue if its first or second line has an arrow."""
    lines = re.split(
        r"\r\n|\r|\n", data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\0", "\ufffd")
    )
    found: Shown = []
    i = 1 if lines[0].startswith("WEBVTT") else 0
    while i < len(lines):
        arrow = next((n for n in (i, i + 1) if "-->" in "".join(lines[n : n + 1])), None)
        if not lines[i]:
            i += 1
            continue
        i = (i if arrow is None else arrow) + 1
        begin = i
        while i < len(lines) and lines[i] and "-->" not in lines[i]:
            i += 1
        times = _VTT_TIMES.match(lines[arrow]) if arrow is not None else None
        if times and not re.match(r"\s*\{\s*[\"}]", lines[begin] if begin < i else ""):  # data for a script of the page
            text = unescape(re.sub(r"<[^>]*(?:>|\Z)", "", "\n".join(lines[begin:i])))
            found.append((text, _clock(times[1]), _clock(times[2])))
    return found


_VTT_TIMES = re.compile(r"\s*((?:\d+:)?\d\d:\d\d\.\d{3})\s*-->\s*((?:\d+:)?\d\d:\d\d\.\d{3})(?!\S)")


def _ttml(data: bytes) -> Shown:
    tree = ElementTree.fromstring(data.decode("utf-8", "surrogateescape").encode("utf-8", "replace"))
    found: Shown = []
    for element in tree.iter():
        if element.tag.endswith("}p"):
            for line_break in element.iter():
                if line_break.tag.endswith("}br"):
                    line_break.text = "\n"
            found.append(("".join(element.itertext()), _clock(element.get("begin")), _clock(element.get("end"))))
    return found


def _clock(text: str | None) -> int | None:
    found = re.fullmatch(r"(?:(\d+):)?(\d+):(\d+)\.(\d{3})", text or "")
    if found is None:
        return None
    hours, minutes, seconds, milliseconds = map(int, found.groups("0"))
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds


def _fcpxml(data: bytes) -> Shown:
    from fractions import Fraction

    def at(element: ElementTree.Element, name: str) -> Fraction:
        return Fraction(str(element.get(name)).rstrip("s")) * 1000

    tree = ElementTree.fromstring(data.decode("utf-8").partition("<!DOCTYPE fcpxml>")[2])
    return [
        ("".join(c.find("text").itertext()), round(at(c, "offset")), round(at(c, "offset") + at(c, "duration")))  # type: ignore[union-attr]
        for c in tree.iter("caption")
    ]


def _stl(data: bytes) -> Shown:
    """By ttconv."""
    from ttconv.stl.reader import to_model

    found: Shown = []
    for p in to_model(io.BytesIO(data)).get_body().dfs_iterator():
        if type(p).__name__ == "P":
            parts = [e.get_text() if type(e).__name__ == "Text" else "\n" for e in p.dfs_iterator()]
            found.append(("".join(map(str, parts)), round(1000 * p.get_begin()), round(1000 * p.get_end())))
    return found


def _md(data: bytes) -> Shown:
    text = data.decode("utf-8", "surrogateescape")
    text = re.sub(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)|(?<!\\)<([^<>\s]*)>", lambda f: f[1] or f[2], text)
    text = re.sub(r"(?m)^\*\*(.*)\*\*  $", r"\1:", text)
    return [(re.sub(r"\\(.)", r"\1", text), None, None)]


def _docx(data: bytes) -> Shown:
    return [("\n".join(p.text for p in docx.Document(io.BytesIO(data)).paragraphs[1:]), None, None)]


def _json(data: bytes) -> Shown:
    return [(segment["text"], None, None) for segment in json.loads(data)["segments"]]


def _txt(data: bytes) -> Shown:
    return [(data.decode("utf-8", "surrogateescape"), None, None)]


TARGETS: Mapping[str, Callable[[bytes], Shown]] = {
    "srt": _subs("srt"), "vtt": _vtt, "ass": _subs("ass"), "microdvd": _subs("microdvd"), "ttml": _ttml,
    "stl": _stl,     "fcpxml": _fcpxml, "txt": _txt, "md": _md, "html": _html, "docx": _docx, "json": _json,
}  # fmt: skip


def words_shown(kind: str, data: bytes) -> str:
    """The text of a converted file."""
    return "\n".join(text for text, _, _ in TARGETS[kind](data))


def source_text(document: Document) -> str:
    """What a source shows, by a reader that is not the program's where there is one."""
    text, kind = document.source, document.format
    if kind in ("srt", "vtt", "ass"):
        text = _BROKEN_TIMES.sub("", text) if kind == "srt" else text
        with suppress(ValueError):  # of pysubs2, for columns that it does not know
            return words_shown(kind, text.encode("utf-8", "surrogateescape"))
    if kind in ("ttml", "srv3"):
        names = ("p", "text")
        tree = ElementTree.fromstring(text.encode("utf-8", "replace"))
        found = [element for element in tree.iter() if element.tag.rpartition("}")[2] in names]
        for element in tree.iter():
            if element.tag.rpartition("}")[2] == "br":
                element.text = "\n"
        return unescape("\n".join("".join(element.itertext()) for element in found))
    if kind == "sami":
        body = text[text.upper().find("<SYNC") :]
        spoken = re.sub(r"(?is)<p\s[^<>]*id\s*=\s*\"?source.*?(?=<p|<sync)", "", body)
        return _html(spoken.encode("utf-8", "replace"))[0][0]
    if kind == "tsv" and "\t" in text:
        rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
        return "\n".join(row[-1] for row in rows if row and row[-1] != "text")
    return "\n".join(document.texts)


def tokens(text: str, names: set[str]) -> Iterator[str]:
    """The tokens of a text but for those of names and what announces them."""
    text = _UNSEEN.sub("", text).replace("\uff5b", "{").replace(r"\h", " ").replace("―", "—").replace("…", "...")
    text = re.sub(r"< ?/? *[a-zA-Z]+ *>", "", text)
    for name in names:
        text = text.replace(f"{name}:", f"{name}: ")
    for token in text.split():
        bare = _EDGE.sub("", _EDGE.sub("", token))
        if bare and bare.strip("()[]*_") not in names:
            yield bare


def verdict(document: Document, kind: str, data: bytes) -> str:
    """`equal`, `rounded` or `lost`, with what is lost."""
    names = {part.strip("()[]*_:") for name in document.speakers.values() for part in name.split()}
    names |= {"Speaker", *map(str, range(100)), *"ABCDEFGHIJ"} if document.speakers else set()
    result = TARGETS[kind](data)
    shown = "\n".join(text for text, _, _ in result)
    wanted, got = Counter(tokens(source_text(document), names)), Counter(tokens(shown, names))
    missing = wanted - got
    if is_rolling(document):  # lines that roll up are there once
        missing = Counter(token for token in missing if token not in got)
    # What a tag parts, such as a voice or ruby text, is parted by a space or a line break.
    if missing and "".join(tokens(source_text(document), names)) == "".join(tokens(shown, names)):
        missing.clear()
    if missing:
        return "lost: " + " ".join(list(missing)[:5])
    if kind not in _EXACT or document.format not in ("srt", "vtt") or is_rolling(document):
        return "equal"
    return _times(TARGETS[document.format](document.source.encode("utf-8", "replace")), result, kind)


def _times(source: Shown, result: Shown, kind: str) -> str:
    """The verdict on the times of cues; those that end before they begin are never shown."""
    cues, made = (
        [(text, start or 0, end or 0) for text, start, end in found if text.strip()] for found in (source, result)
    )
    if kind == "stl":  # which is in order
        cues.sort(key=itemgetter(1))
    if kind == "stl" and any(one[2] > other[1] for one, other in pairwise(cues)):
        made = [_throughout(cue, made) for cue in cues]
    if len(cues) != len(made):
        return "equal"  # pysubs2 reads broken files otherwise
    pairs = [(one, other) for one, other in zip(cues, made, strict=True) if one[1] < one[2]]
    most = max((abs(one[i] - other[i]) for one, other in pairs for i in (1, 2)), default=0)
    return "equal" if most == 0 else "rounded" if most <= _ROUNDING.get(kind, 0) else "lost: times"


def _throughout(cue: tuple[str, int, int], made: list[tuple[str, int, int]]) -> tuple[str, int, int]:
    """From when to when captions that are shown one at a time have the text of a cue among their lines."""
    said = "".join(tokens(cue[0], set()))
    most = _ROUNDING["microdvd"]
    for margin in (most, -most):  # a cue may be shorter than a frame
        around = [other for other in made if other[1] + margin < cue[2] and other[2] - margin > cue[1]]
        own = [other for other in around if said in "".join(tokens(other[0], set()))]
        if own:
            return cue[0], min(start for _, start, _ in own), max(end for _, _, end in own)
    return cue[0], -1, -1


_EXACT = ("stl", "srt", "vtt", "ass", "ttml", "microdvd", "fcpxml")


def check(path: Path) -> dict[str, str] | None:
    """What becomes of a file in every target; None for a file that is no transcript or has no words."""
    try:
        text, encoding = decode(path.read_bytes(), None)
        document = formats.read(text, path.name)
    except CappuncError:
        return None
    if not document.words:
        return None
    fixer = Fixer(FixRequest(), lambda _: None)
    opened = Opened(document, fixer, "en", (), "", path.name, encoding)
    found = {"source": document.format if document.format in formats.TEXT_FORMATS else "json"}
    for kind in KINDS:
        try:
            data, _ = Converter(kind).make(opened)
        except CappuncError as error:
            found[kind] = f"refused: {reason(str(error))}"
            continue
        try:
            found[kind] = verdict(document, kind, data)
        except (ElementTree.ParseError, pysubs2.exceptions.Pysubs2Error, ValueError) as error:
            found[kind] = f"unread: {type(error).__name__}"
    return found


def reason(message: str) -> str:
    """The kind of a refusal: its message without what it quotes."""
    message = re.sub(r"“.*?”|\d[\d,.:]*|'.*?'", "…", message, flags=re.DOTALL)
    return message.split(": line")[0][:90]


def table(paths: list[Path]) -> tuple[dict[str, dict[str, Counter[str]]], list[str]]:
    """Counts of verdicts by source and target, and what was lost, with the file."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    lost = []
    for path in paths:
        found = check(path)
        if found is None:
            continue
        source = found.pop("source")
        for kind, result in found.items():
            word = result.partition(":")[0]
            counts[source][kind][result if word == "refused" else word] += 1
            if word in ("lost", "unread"):
                lost.append(f"{path.name} to {kind}: {result}")
                print(lost[-1], file=sys.stderr, flush=True)
    return counts, lost


def samples(largest: int) -> list[Path]:
    """The sample files of at most so many bytes, small ones first."""
    sizes = {path: path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()}
    return sorted((path for path in sizes if sizes[path] <= largest), key=lambda path: (sizes[path], path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=300_000, metavar="BYTES", help="of the files to convert")
    paths = samples(parser.parse_args().largest)
    counts, lost = table(paths)
    print_report({**head(), "files": len(paths), "lost": lost, "table": counts})


if __name__ == "__main__":
    main()
