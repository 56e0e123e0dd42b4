"""The cues of a file as a viewer sees them: lines with sounds and labels, but without tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from cappunc_cli.document.words import Document, Span, speaking_time
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import CueDetail, is_rolling
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.speech import scan, speech_in
from cappunc_cli.formats.splice import BREAKS, Edit, line_of, splice
from cappunc_cli.formats.styles import BOTTOM, Look, Runs, Sheet, look_of


class ShownCue(NamedTuple):
    """The lines of a cue, shown from `start` to `end` (ms); `speaker` is the name in a tag or a field, or "".

    If tags name several speakers, `names` has that of each line. `runs` has the lines in runs of one style, unless all
    have the usual one; `place` is that on a keypad, and `effects` counts what else changes the look.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str
    names: tuple[str, ...] = ()
    runs: tuple[Runs, ...] = ()
    place: int = BOTTOM
    effects: int = 0


def shown_cues(document: Document, *, even_rolling: bool = False) -> list[ShownCue] | None:
    """The cues of a document that show any text, in the order of the file.

    None for a format without cues, and for rolling captions unless wanted. Raises BadInput for a cue without readable
    times, and for one that is shown several times.
    """
    detail, source = document.detail, document.source
    if not isinstance(detail, CueDetail) or not detail.timed or not detail.cues:
        return None
    if not even_rolling and (is_rolling(document) or _rolls_up(detail)):
        return None
    found, sheet = [], Sheet.of(document.format, source)
    for i, cue in enumerate(detail.cues):
        start, end, seen = cue.start, cue.end, cue.visible(source, detail.hidden)
        places = [(0, ""), *seen.voices, (len(seen.text), "")]
        rows = [(*span, name) for (a, name), (b, _) in pairwise(places) for span in _line_spans(seen.text, a, b)]
        lines, names = tuple(" ".join(seen.text[a:b].split()) for a, b, _ in rows), tuple(name for *_, name in rows)
        if detail.lasting and start is not None and end is None:
            # Until the next one begins, or for the usual time of its words.
            later = (other.start for other in detail.cues[i + 1 : i + 2] if other.start is not None)
            usual = start + sum(speaking_time(word) for line in lines for word in line.split())
            end = next((time for time in later if time > start), usual)
        if lines and cue.repeated:
            raise BadInput(f"a line with several times: “{lines[0]}”", line=line_of(source, cue.text[0]))
        if lines and (start is None or end is None):
            raise BadInput(f"a cue has no readable time: “{lines[0]}”", line=line_of(source, cue.text[0]))
        if lines and start is not None and end is not None:
            voice = seen.voices[0][1] if seen.voices else ""
            look = Look() if cue.shown else look_of(document.format, source, cue.text, seen, detail.hidden, sheet)
            runs = () if look.plain else tuple(look.runs(seen.text, a, b) for a, b, _ in rows)
            own = names if len(set(names)) > 1 else ()
            found.append(ShownCue(start, end, lines, cue.speaker or voice, own, runs, look.place, look.effects))
    return found


def _rolls_up(detail: CueDetail) -> bool:
    """Whether most cues are still shown when the next one begins, as YouTube's rows are until others push them out."""
    if not detail.lasting:
        return False
    pairs = [(a, b) for a, b in pairwise(detail.cues) if a.track == b.track]
    overlapping = sum((a.start or 0) < (b.start or 0) < (a.end or 0) for a, b in pairs)
    return 2 * overlapping > len(pairs)


def _line_spans(text: str, start: int, stop: int) -> Iterator[Span]:
    """The spans of the lines that show anything."""
    ends = [(start, start), *(found.span() for found in BREAKS.finditer(text, start, stop)), (stop, stop)]
    return ((a, b) for (_, a), (b, _) in pairwise(ends) if text[a:b].strip())


def repeated_lines(document: Document) -> int:
    """The number of lines of lyrics that are sung several times."""
    detail = document.detail
    if not isinstance(detail, CueDetail):
        return 0
    return sum(bool(document.source[slice(*cue.text)].strip()) for cue in detail.cues if cue.repeated)


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
    edits = (_edits(document, cue.text, line_starts, newline) for cue in detail.cues)
    return splice(document.source, chain.from_iterable(edits))


def _edits(
    document: Document, region: Span, line_starts: Callable[[Sequence[str]], Sequence[int]], newline: str
) -> Sequence[Edit]:
    source, hidden = document.source, document.detail.hidden
    seen = visible(source, *region, hidden)
    words = speech_in(seen).words
    texts = [word.text for word in words]
    ends = ((before.until, after.at) for before, after in pairwise(words))
    gaps = [visible(source, *end, hidden) for end in ends]
    places = [gap.copy(0, len(gap.text)) for gap in gaps]
    # `a<br>b`, a no-break space
    if not all(_SPACE.fullmatch(gap.text) for gap in gaps) or not all(source[a:b].isspace() for a, b in chain(*places)):
        return ()
    if not gaps or "".join("".join(texts).split()) != "".join(seen.text.split()):
        return ()
    first = set(line_starts(texts))
    edits = [
        (*place, "" if n else newline if i in first else " ")
        for i, gap in enumerate(gaps, 1)
        if (i in first) != (BREAKS.search(gap.text) is not None)
        for n, place in enumerate(places[i - 1])
    ]
    rewrapped = splice(source, edits, *region)
    again = scan(rewrapped, 0, len(rewrapped), hidden).words
    # `John:` at the start of a line would be read as a speaker.
    return edits if [word.text for word in again] == texts else ()
