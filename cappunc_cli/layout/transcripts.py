"""Readable transcripts: paragraphs with names, times and links as text, Markdown, HTML and DOCX; and words as JSON.

A new paragraph starts with a new speaker, after a long pause or with a new topic: a sentence end before and after which
the words have little in common (TextTiling, Hearst 1997), frequent words aside. A turn is split at the sentence ends
that give the lowest total cost.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from math import sqrt
from typing import Any

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Word, pauses, spread_times, timestamp, turn_ends
from cappunc_cli.errors import CappuncError, install_extra
from cappunc_cli.languages import Language
from cappunc_cli.layout.line_breaks import ends_sentence
from cappunc_cli.layout.xml_files import checked_xml
from cappunc_cli.pages.html_page import html_page

#: The preferred length of a paragraph in words, and the deviation from it that costs as much as a full shift gains.
_USUAL, _TOLERANCE = 90, 70
#: A silence (ms) at a sentence end that always ends a paragraph, and the silence that counts as much as a full shift.
_SILENCE, _BREATH = 4_000, 1_500
#: How many words on each side are compared for a shift, and the least letters of a word that counts there.
_BLOCK, _SHORTEST = 60, 4


def paragraphs(words: Sequence[Word], texts: Sequence[str], language: Language) -> list[tuple[int, int]]:
    """Split words into paragraphs; returns (start, stop) word indices of each. `texts` are the restored words."""
    silence = [pause or 0 for pause in pauses(words)]
    turns = turn_ends(words)
    ends = [ends_sentence(text, language) or strip(text)[1].mark == "…" for text in texts]
    found: list[tuple[int, int]] = []
    start = 0
    for stop in range(1, len(texts) + 1):
        silent_end = ends[stop - 1] and silence[stop - 1] >= _SILENCE
        if stop == len(texts) or turns[stop - 1] or silent_end:
            inner = [end for end in range(start + 1, stop) if ends[end - 1]] if stop - start > _USUAL else []
            found += _split(start, stop, inner, [_gain(texts, end, silence, language) for end in inner])
            start = stop
    return found


def _split(start: int, stop: int, ends: Sequence[int], gains: Sequence[float]) -> list[tuple[int, int]]:
    """The cheapest split of words[start:stop] at some of its sentence ends, by dynamic programming."""
    places = [start, *ends, stop]
    gain_at = [0.0, *gains, 0.0]
    costs, previous = [0.0], [0]
    for b in range(1, len(places)):
        options = []
        for a in range(b - 1, -1, -1):
            length = places[b] - places[a]
            if length > 4 * _USUAL and b - a > 1:
                break
            options.append((costs[a] + ((length - _USUAL) / _TOLERANCE) ** 2 - gain_at[b], a))
        cost, a = min(options)
        costs.append(cost)
        previous.append(a)
    path = [len(places) - 1]
    while path[-1]:
        path.append(previous[path[-1]])
    path.reverse()
    return [(places[a], places[b]) for a, b in pairwise(path)]


def _gain(texts: Sequence[str], at: int, silence: Sequence[int], language: Language) -> float:
    """The evidence for a new paragraph before a word: up to 1 for a change of vocabulary, up to 1 for a pause."""
    before, after = (_content(part, language) for part in (texts[max(at - _BLOCK, 0) : at], texts[at : at + _BLOCK]))
    norm = sqrt(sum(n * n for n in before.values()) * sum(n * n for n in after.values()))
    cosine = sum(n * after[word] for word, n in before.items()) / norm if norm else 0.0
    return 1 - cosine + min(silence[at - 1] / _BREATH, 1.0)


def _content(texts: Sequence[str], language: Language) -> Counter[str]:
    """Counts of the content words."""
    bare = (strip(text)[0] for text in texts)
    return Counter(word for word in bare if len(word) >= _SHORTEST and word not in language.frequent)


#: Markdown markup within a line, and at its beginning.
_MARKUP = re.compile(r"([\\`*_<>#|~]|\[(?=[^\[\]]*\][(:\[])|&(?=#?\w+;))|^([-+=]|\d+[.)])(?=\s|\Z)")
_LINK = re.compile(r"(?<![\w@])(?:https?://|www\.)[^\s<>\"“”]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `name` and `time` (`00:04:10`) are "" where they are not printed."""

    name: str
    time: str
    text: str


def transcript(
    document: Document, texts: Sequence[str], language: Language, names: Mapping[int, str], times: bool
) -> list[Paragraph]:
    """A document with new `texts` as paragraphs; `names` are the speakers of the turns.

    A name is printed once, until another one speaks.
    """
    words = spread_times(document.words)
    found, last = [], ""
    for start, stop in paragraphs(words, texts, language):
        begin = words[start].start
        time = timestamp(max(begin, 0))[:-4] if times and begin is not None else ""
        name = names.get(words[start].turn, "")
        text = " ".join(" ".join(texts[start:stop]).split())
        found.append(Paragraph(name if name != last else "", time, text))
        last = name or last
    return found


def _txt(found: Sequence[Paragraph], _title: str, _language: str) -> str:
    parts = ((part.time and f"[{part.time}]", part.name and f"{part.name}:", part.text) for part in found)
    return "\n".join(f"{' '.join(filter(None, own))}\n" for own in parts)


def _md(found: Sequence[Paragraph], _title: str, _language: str) -> str:
    blocks = []
    for part in found:
        head = " ".join(filter(None, (part.name and f"**{_marked(part.name)}**", part.time and f"({part.time})")))
        blocks.append("  \n".join(filter(None, (head, _marked(part.text)))))
    return "\n".join(f"{block}\n" for block in blocks)


def _marked(text: str) -> str:
    """Text for Markdown, with its links."""
    pieces = []
    for piece, address in _linked(text):
        link = f"<{piece}>" if "://" in piece or "@" in piece else f"[{_escaped(piece)}]({address})"
        pieces.append(link if address else _escaped(piece))
    return "".join(pieces)


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2][:-1]}\\{found[2][-1]}", text)


def _linked(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of a text, each with the address that it links to, or ""."""
    at = 0
    for found in _LINK.finditer(text):
        link = found[0]
        yield text[at : found.start()], ""
        yield link, link if "://" in link else f"mailto:{link}" if "@" in link else f"https://{link}"
        at = found.end()
    yield text[at:], ""


def _html(found: Sequence[Paragraph], title: str, language: str) -> str:
    parts = [f"<h1>{escape(title)}</h1>"]
    for part in found:
        if part.name:
            parts.append(f"<h2>{escape(part.name)}</h2>")
        iso = "PT{}H{}M{}S".format(*map(int, part.time.split(":"))) if part.time else ""
        time = f'<time datetime="{iso}">{part.time}</time>' if iso else ""
        pieces = (
            f'<a href="{escape(address)}">{escape(piece)}</a>' if address else escape(piece)
            for piece, address in _linked(part.text)
        )
        parts.append(f"<p>{time}{''.join(pieces)}</p>")
    body = "\n".join(('<main class="transcript">', *parts, "</main>"))
    return html_page(title, body, language=language or "und")


def _docx(found: Sequence[Paragraph], title: str, language: str) -> bytes:
    try:
        import docx
        from docx.shared import Pt, RGBColor
    except ImportError:
        raise CappuncError(f"DOCX needs python-docx; {install_extra('docx')}") from None
    made = docx.Document()
    made.core_properties.title, made.core_properties.language = title, language
    for name, size in (("Heading 1", 18), ("Heading 2", 11)):
        heading = made.styles[name].font
        heading.name, heading.size, heading.color.rgb = "Calibri", Pt(size), RGBColor(0x1F, 0x22, 0x26)
    normal = made.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after, normal.paragraph_format.line_spacing = Pt(8), 1.25
    made.add_heading(checked_xml(title, "DOCX"), 1)
    for part in found:
        if part.name:
            made.add_heading(checked_xml(part.name, "DOCX"), 2)
        paragraph = made.add_paragraph()
        if part.time:
            run = paragraph.add_run(f"{part.time}  ")
            run.font.size, run.font.color.rgb = Pt(9), RGBColor(0x5C, 0x62, 0x6C)
        for piece, address in _linked(part.text):
            run = paragraph.add_run(checked_xml(piece, "DOCX"))
            if address:
                _link(paragraph, run, address)
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


def _link(paragraph: Any, run: Any, address: str) -> None:
    """Make a link of a run; python-docx reads links and has no method to write one."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    run.font.underline, run.font.color.rgb = True, RGBColor(0xB9, 0x3C, 0x0B)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    link.append(run._r)
    paragraph._p.append(link)


#: The readable formats, with a writer of paragraphs, a title and a language each.
TRANSCRIPTS: Mapping[str, Callable[[Sequence[Paragraph], str, str], str | bytes]] = {
    "txt": _txt,
    "md": _md,
    "html": _html,
    "docx": _docx,
}


def words_json(document: Document, texts: Sequence[str], shown: Sequence[str], language: Language, names: Any) -> str:
    """JSON as Whisper writes it: words with times in seconds, in segments by cue and turn.

    The text of a segment has all that is `shown`. A word without a time has none there, as in WhisperX.
    """
    segments: list[dict[str, Any]] = []
    rows = zip(spread_times(document.words), texts, shown, strict=True)
    for (turn, _), group in groupby(rows, key=lambda row: (row[0].turn, row[0].cue)):
        words, new, visible = zip(*group, strict=True)
        own = [_entry(text, word.start, word.end) for word, text in zip(words, new, strict=True)]
        starts, ends = ([word[key] for word in own if key in word] for key in ("start", "end"))
        segment: dict[str, Any] = {"start": starts[0] if starts else None, "end": ends[-1] if ends else None}
        if name := names.get(turn):
            segment["speaker"] = name
        segment["text"] = " ".join(" ".join(visible).split())
        if starts:
            segment["words"] = own
        segments.append(segment)
    text = " ".join(segment["text"] for segment in segments)
    found = {"language": language.code, "text": text, "segments": segments}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _entry(text: str, start: int | None, end: int | None) -> dict[str, Any]:
    """A word with the times (ms) that it has, in seconds."""
    times = {name: time / 1000 for name, time in (("start", start), ("end", end)) if time is not None}
    return {"word": " ".join(text.split()), **times}
