"""Rewrap the lines of SRT, WebVTT and SBV cues; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

from cappunc_cli.document.words import Document, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import CueDetail, is_rolling
from cappunc_cli.formats.markup import Visible, visible
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import BREAKS, Edit, splice

FORMATS = ("srt", "vtt", "sbv")
_SPACE = re.compile(r"[ \t\r\n]+")


def rewrap(document: Document, line_starts: Callable[[Sequence[str]], Sequence[int]]) -> str:
    """Rewrap each cue of a document; `line_starts` gives the indices of a cue's words that start a line.

    A cue that shows anything but words (sounds, speakers, lyrics, a dash at the start of a line) stays as it is, and
    so does one whose words would be read differently. Raises BadInput for other formats and for rolling captions.
    """
    detail = document.detail
    if document.format not in FORMATS or not isinstance(detail, CueDetail):
        raise BadInput(f"only {', '.join(FORMATS)} can be rewrapped, and this is {document.format}")
    if is_rolling(document):
        raise BadInput("rolling captions show each line more than once and cannot be rewrapped")
    found = BREAKS.search(document.source)
    newline = found.group() if found else "\n"
    edits = (_edits(document.source, region, detail.hidden, line_starts, newline) for region in detail.regions)
    return splice(document.source, chain.from_iterable(edits))


def _edits(
    source: str,
    region: Span,
    hidden: re.Pattern[str],
    line_starts: Callable[[Sequence[str]], Sequence[int]],
    newline: str,
) -> Sequence[Edit]:
    start, stop = region
    seen = visible(source, start, stop, hidden)
    texts = [word.text for word in scan(source, start, stop, hidden).words]
    if len(texts) < 2 or "".join("".join(texts).split()) != "".join(seen.text.split()):
        return ()
    first = set(line_starts(texts))
    edits: list[Edit] = []
    for i, (a, b) in enumerate(_gaps(seen, texts), 1):
        places = seen.copy(a, b)
        if not _SPACE.fullmatch(seen.text, a, b) or any(not source[slice(*place)].isspace() for place in places):
            return ()  # `a<br>b`, a no-break space
        if (i in first) != (BREAKS.search(seen.text, a, b) is not None):
            edits += [(*place, "" if n else newline if i in first else " ") for n, place in enumerate(places)]
    rewrapped = splice(source[start:stop], ((a - start, b - start, text) for a, b, text in edits))
    again = scan(rewrapped, 0, len(rewrapped), hidden).words
    # `John:` at the start of a line would be read as a speaker.
    return edits if [word.text for word in again] == texts else ()


def _gaps(seen: Visible, texts: Sequence[str]) -> Iterator[Span]:
    """The spans between each word and the next, in the visible text."""
    at = 0
    spans: list[Span] = []
    for text in texts:
        at = seen.text.index(text, at)
        spans.append((at, at + len(text)))
        at += len(text)
    for (_, a), (b, _) in pairwise(spans):
        yield a, b
