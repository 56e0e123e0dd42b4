"""Readable transcripts: paragraphs with names and times as text or Markdown; and words with times as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cappunc_cli.document.spread_times import spread_times
from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import BadInput
from cappunc_cli.layout.paragraphs import paragraphs

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.languages import Language

#: Markdown markup within a line, and at its beginning.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~])|^([-+]|\d+[.)])(?=\s|\Z)")


def readable(
    document: Document, texts: Sequence[str], language: Language, kind: str, speakers: bool, times: bool
) -> str:
    """A document with new `texts` as `txt` or `md`; raises BadInput if a word would be lost."""
    words = spread_times(document.words)
    found = paragraphs(words, texts, language)
    parts, last = [], None
    for start, stop in found:
        name = document.speakers.get(words[start].turn, "") if speakers else ""
        begin = words[start].start
        time = timestamp(begin)[:-4] if times and begin is not None else ""
        text = " ".join(" ".join(texts[start:stop]).split())
        head = _head(name if name != last or time else "", time, kind)
        parts.append(f"{head}{_escaped(text) if kind == 'md' else text}\n")
        last = name or last
        _check(text, texts[start:stop])
    if any(stop != start for (_, stop), (start, _) in pairwise(found)) or sum(b - a for a, b in found) != len(texts):
        raise BadInput("words would be lost between paragraphs")
    return "\n".join(parts)


def _check(text: str, texts: Sequence[str]) -> None:
    if text.split() != [part for word in texts for part in word.split()]:
        raise BadInput("words would be lost in a paragraph")


def _head(name: str, time: str, kind: str) -> str:
    if kind == "md":
        head = " ".join(part for part in (f"**{_escaped(name)}**" if name else "", f"({time})" if time else "") if part)
        return f"{head}  \n" if head else ""
    head = " ".join(part for part in (f"[{time}]" if time else "", f"{name}:" if name else "") if part)
    return f"{head} " if head else ""


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2][:-1]}\\{found[2][-1]}", text)


def words_json(document: Document, texts: Sequence[str], language: Language) -> str:
    """JSON as Whisper writes it: words with times in seconds, in segments by cue and turn.

    A word without a time has none there, as in WhisperX.
    """
    words = spread_times(document.words)
    segments: list[dict[str, Any]] = []
    begin = 0
    for stop in range(1, len(texts) + 1):
        if stop < len(texts) and (words[stop].turn, words[stop].cue) == (words[begin].turn, words[begin].cue):
            continue
        own = [_entry(texts[i], words[i].start, words[i].end) for i in range(begin, stop)]
        segment: dict[str, Any] = {
            "start": next((word["start"] for word in own if "start" in word), None),
            "end": next((word["end"] for word in reversed(own) if "end" in word), None),
        }
        if name := document.speakers.get(words[begin].turn):
            segment["speaker"] = name
        segment["text"] = " ".join(word["word"] for word in own)
        if any("start" in word for word in own):
            segment["words"] = own
        segments.append(segment)
        begin = stop
    text = " ".join(segment["text"] for segment in segments)
    return (
        json.dumps({"language": language.code, "text": text, "segments": segments}, ensure_ascii=False, indent=1) + "\n"
    )


def _entry(text: str, start: int | None, end: int | None) -> dict[str, Any]:
    """A word with the times (ms) that it has, in seconds."""
    times = {name: time / 1000 for name, time in (("start", start), ("end", end)) if time is not None}
    return {"word": " ".join(text.split()), **times}
