"""Advanced SubStation Alpha and SSA: the Text field of the Dialogue lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source.visible import HIDDEN
from cappunc_cli.formats.timed_text.cues import Cue, read_cues, skeleton, write
from cappunc_cli.formats.timed_text.inline_times import TimedSpan, merge_copies, with_inline_times
from cappunc_cli.formats.timed_text.lines import milliseconds, split
from cappunc_cli.transcript.labels import cached_strip
from cappunc_cli.transcript.words import Document, Notice, Word, Words

__all__ = ["SUFFIXES", "read", "skeleton", "sniff", "write"]

SUFFIXES = (".ass", ".ssa")

#: Whether the text begins with a section of such a file.
sniff = re.compile(
    r"(?>(?:[\s\ufeff]|[;!][^\r\n]*)*)\[(?:Script Info|V4\+{0,2} Styles|Events)\][ \t]*(?=[\r\n]|\Z)", re.I
).match
_SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*\Z")
_LINE = re.compile(r"[\s\ufeff]*(Format|Dialogue)\s*:", re.IGNORECASE)
_USUAL = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
# Behind \p1 stands no text but a drawing, until \p0 or the end of the line.
_DRAWING = r"\{(?=[^{}]*\})[^{}\\]*+(?>(?:\\(?!p[1-9])[^{}\\]*+)*)\\p[1-9][^{}]*\}.*?(?=\{[^{}]*\\p0|\Z)"
_HIDDEN = re.compile(rf"{_DRAWING}|\{{[^{{}}]*\}}|\\[nh]|{HIDDEN.pattern}")
_OVERRIDE = re.compile(r"\{[^{}]*\}")
_KARAOKE = re.compile(r"\\(?:k[fo]?|K)([0-9]{1,6})(?![0-9.])")


@dataclass(frozen=True, slots=True)
class _Order:
    """Which field of a line stands where, and how many there are; None where a Format line lacks one."""

    count: int
    text: int
    start: int | None
    end: int | None
    name: int | None


def _order(names: Sequence[str]) -> _Order | None:
    where = {name.strip().lower(): i for i, name in enumerate(names)}
    if "text" not in where:
        return None
    name = where.get("name", where.get("actor"))
    return _Order(len(names), where["text"], where.get("start"), where.get("end"), name)


def read(text: str) -> Document:
    """`Word.cue` is the number of the Dialogue line, from 0; a name beside the text is its speaker.

    What several layers show at the same time, such as a text and its shadow, is spoken once.
    Raises BadInput where there is no [Events] section.
    """
    notices: list[Notice] = []
    cues = list(_cues(text, notices))
    document = read_cues("ass", text, cues, notices, _HIDDEN)
    timed = with_inline_times(text, document, [stretch for cue in cues for stretch in _sung(text, cue)])
    return replace(timed, words=Words.of(_spoken_once(timed.words, cues)))


def _spoken_once(words: Sequence[Word], cues: Sequence[Cue]) -> Iterator[Word]:
    """The words, those of another layer as copies of the same words of the first one."""
    found: dict[object, list[Word]] = {}
    for number, group in groupby(words, key=lambda word: word.cue):
        own, cue = list(group), cues[number]
        timeless = number if cue.start is None or cue.end is None else None
        key = (timeless, cue.start, cue.end, cue.speaker, *(cached_strip(word.text)[0] for word in own))
        first = found.setdefault(key, own)
        if first is not own:
            first[:] = [merge_copies(word, other) for word, other in zip(first, own, strict=True)]
    return chain.from_iterable(found.values())


def _cues(text: str, notices: list[Notice]) -> Iterator[Cue]:
    order = _order(_USUAL)
    events = seen = False
    for number, (start, stop) in enumerate(split(text), 1):
        line = text[start:stop]
        if section := _SECTION.match(line):
            events = section[1].strip().lower() == "events"
            seen = seen or events
            continue
        found = _LINE.match(line) if events else None
        if found is None:
            continue
        if found[1].lower() == "format":
            order = _order(line[found.end() :].split(","))
            if order is None:
                raise BadInput("a Format line without Text", line=number)
        elif order is not None:
            cue = _cue(line, start, found.end(), order)
            if cue is None or cue.start is None or cue.end is None:
                what = "unreadable times" if cue else "a Dialogue line with too few fields"
                notices.append(Notice(number, what))
            if cue:
                yield cue
    if not seen and text.strip():
        raise BadInput("no [Events] section")


def _cue(line: str, offset: int, at: int, order: _Order) -> Cue | None:
    """The fields of a Dialogue line; only the last one may have commas in it."""
    fields: list[tuple[int, int]] = []
    for _ in range(order.count - 1):
        comma = line.find(",", at)
        if comma < 0:
            return None
        fields.append((at, comma))
        at = comma + 1
    fields.append((at, len(line)))

    def field(i: int | None) -> str:
        return "" if i is None else line[slice(*fields[i])].strip()

    start, stop = fields[order.text]
    place = (offset + start, offset + stop)
    return Cue(milliseconds(field(order.start)), milliseconds(field(order.end)), place, field(order.name) or None)


def _sung(text: str, cue: Cue) -> Iterator[TimedSpan]:
    r"""Karaoke: `{\k20}` sings what follows for so many hundredths of a second."""
    at: int | None = None
    now = length = 0
    for found in _OVERRIDE.finditer(text, *cue.text):
        sung = [int(hundredths) * 10 for hundredths in _KARAOKE.findall(found[0])]
        if not sung or cue.start is None:
            continue
        if at is not None:
            yield TimedSpan((at, found.start()), cue.start + now, cue.start + now + length)
            now += length
        now += sum(sung[:-1])
        at, length = found.end(), sung[-1]
    if at is not None and cue.start is not None:
        yield TimedSpan((at, cue.text[1]), cue.start + now, cue.start + now + length)
