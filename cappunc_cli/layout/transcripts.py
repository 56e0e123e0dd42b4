"""Readable transcripts: paragraphs with names, times and links as text, Markdown, HTML and DOCX; and words as JSON.

A new paragraph starts with a new speaker, after a long pause, and within a long turn at the end of a sentence.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.pauses import pauses, spread_times, turn_ends
from cappunc_cli.document.words import Document, Word, timestamp
from cappunc_cli.errors import CappuncError, install_extra
from cappunc_cli.languages import Language
from cappunc_cli.layout.line_breaks import ends_sentence
from cappunc_cli.layout.xml_files import checked_xml
from cappunc_cli.pages.html_page import HtmlPage

#: A paragraph ends at a sentence end with a silence of _SILENCE (ms); once it has _LONG words, at one with a silence of
#: _BREATH; once it has _LONGEST words, at any.
_SILENCE, _BREATH, _LONG, _LONGEST = 4_000, 1_000, 60, 120


def paragraphs(words: Sequence[Word], texts: Sequence[str], language: Language) -> list[tuple[int, int]]:
    """Split words into paragraphs; returns (start, stop) word indices of each. `texts` are the restored words."""
    found: list[tuple[int, int]] = []
    start = 0
    for stop, (text, pause, turn) in enumerate(zip(texts, pauses(words), turn_ends(words), strict=True), 1):
        length = stop - start
        needed = 0 if length >= _LONGEST else _BREATH if length >= _LONG else _SILENCE
        ends = ends_sentence(text, language) or cached_strip(text)[1].mark == "…"
        if turn or stop == len(texts) or (ends and (pause or 0) >= needed):
            found.append((start, stop))
            start = stop
    return found


#: Markdown markup within a line, and at its beginning.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~]|&(?=#?\w+;))|^([-+=]|\d+[.)])(?=\s|\Z)")
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
    """A document with new `texts` as paragraphs; `names` are those of the turns.

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
        time = f"<time>{part.time}</time>" if part.time else ""
        pieces = (
            f'<a href="{escape(address)}">{escape(piece)}</a>' if address else escape(piece)
            for piece, address in _linked(part.text)
        )
        parts.append(f"<p>{time}{''.join(pieces)}</p>")
    body = "\n".join(('<main class="transcript">', *parts, "</main>"))
    return HtmlPage(title, body, language=language or "und").html()


def _docx(found: Sequence[Paragraph], title: str, language: str) -> bytes:
    try:
        import docx
    except ImportError:
        raise CappuncError(f"DOCX needs python-docx; {install_extra('docx')}") from None
    made = docx.Document()
    made.core_properties.title, made.core_properties.language = title, language
    made.add_heading(checked_xml(title, "DOCX"), 1)
    for part in found:
        if part.name:
            made.add_heading(checked_xml(part.name, "DOCX"), 2)
        paragraph = made.add_paragraph()
        if part.time:
            paragraph.add_run(f"{part.time}  ").italic = True
        paragraph.add_run(checked_xml(part.text, "DOCX"))
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


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
