"""Other line breaks in the cues of SRT, WebVTT and SBV; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source.spans import Edit, splice
from cappunc_cli.formats.source.visible import Visible, visible
from cappunc_cli.formats.timed_text.cues import CueOrigin
from cappunc_cli.formats.timed_text.lines import BREAKS
from cappunc_cli.formats.timed_text.speech import scan
from cappunc_cli.transcript.words import Document, Span

FORMATS = ("srt", "vtt", "sbv")
_SPACE = re.compile(r"[ \t\r\n]+")


def rewrap(document: Document, begins: Callable[[Sequence[str]], Sequence[int]]) -> str:
    """The source with each cue's lines broken before those of its words that `begins` names.

    A cue that shows anything but words (sounds, speakers, lyrics, a dash at the head of a line) stays as it is, and so
    does one that would read otherwise. Raises BadInput for other formats and for captions that roll.
    """
    origin = document.origin
    if document.format not in FORMATS or not isinstance(origin, CueOrigin):
        raise BadInput(f"lines can be broken anew in {', '.join(FORMATS)} alone, and this is {document.format}")
    if not document.words.single:
        raise BadInput("rolling captions show a line twice: their lines cannot be broken anew")
    found = BREAKS.search(origin.source)
    end = found.group() if found else "\n"
    edits = (
        _edits(origin, region, begins, end) for region in zip(origin.regions.starts, origin.regions.stops, strict=True)
    )
    return splice(origin.source, chain.from_iterable(edits), in_order=True)


def _edits(
    origin: CueOrigin, region: Span, begins: Callable[[Sequence[str]], Sequence[int]], end: str
) -> Sequence[Edit]:
    source, (start, stop) = origin.source, region
    seen = visible(source, start, stop, origin.hidden)
    texts = [word.text for word in scan(source, start, stop, origin.hidden).words]
    if len(texts) < 2 or "".join("".join(texts).split()) != "".join(seen.text.split()):
        return ()
    first = set(begins(texts))
    edits: list[Edit] = []
    for i, (a, b) in enumerate(_gaps(seen, texts), 1):
        places = seen.copy(a, b)
        if not _SPACE.fullmatch(seen.text, a, b) or any(not source[slice(*place)].isspace() for place in places):
            return ()  # no break in `a<br>b`, nor at a hard space
        if (i in first) != (BREAKS.search(seen.text, a, b) is not None):
            edits += [(*place, "" if n else end if i in first else " ") for n, place in enumerate(places)]
    inside = splice(source[start:stop], ((a - start, b - start, text) for a, b, text in edits))
    again = scan(inside, 0, len(inside), origin.hidden).words
    # `John:` at the head of a line would be a speaker.
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
