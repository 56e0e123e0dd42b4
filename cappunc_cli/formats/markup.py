"""The visible text of a source: without tags, override codes and directional characters, with entities decoded."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import accumulate
from operator import itemgetter

from cappunc_cli.document.words import Copy, Span

# `&amp;#39;` is escaped twice, as YouTube does.
_ENTITY = re.compile(
    r"&amp;(?:#39|#34|quot|apos|lt|gt|amp|nbsp);|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
#: Zero-width and directional characters.
INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
#: Entities, ASS line breaks (also seen in SRT), invisible characters.
HIDDEN_ANYWHERE = rf"{_ENTITY.pattern}|\\N|{INVISIBLE.pattern}"
#: What a viewer of captions does not see as such.
HIDDEN = re.compile(
    r"<(?:[A-Za-z/!?][^<>]*|[0-9]+:[0-9:.,]*|)>"  # tags and inline time stamps, but not `2<3,5>1`
    r"|< ?/? ?(?:[ibuIBU]|[Ff]ont[^<>]*) ?>"  # as machine translation writes them, and players read
    r"|\{(?:\\|[A-Za-z]:)[^{}\r\n]*\}"  # ASS `{\an8}`, MicroDVD `{y:i}`
    rf"|{HIDDEN_ANYWHERE}"
)
#: As HIDDEN, in a format that has no entities: `&#x6e;` is shown as it is written.
HIDDEN_WITHOUT_ENTITIES = re.compile(HIDDEN.pattern.replace(f"{_ENTITY.pattern}|", ""))
# Tags that separate words: `</v><v Bob>`, `one<br>two`.
_BREAK = re.compile(r"</?(?:[\w.-]+:)?(?:br|v|p|div)\b", re.IGNORECASE)
#: The tags around the annotation in `<ruby>tokyo<rt>tōkyō</rt></ruby>`, whose last one may be left out.
_ANNOTATION = re.compile(r"<(?:/?rt|/ruby)\b", re.IGNORECASE)
#: A no-break space in ASS.
HARD_SPACE = r"\h"
#: Stands for a CDATA section, whose text is shown: white space that no word and no mark reaches across.
SECTION = "\x1c"
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*?)\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Visible:
    """A visible text, and where the source shows it.

    Each of `pieces` is (offset in the text, offset in the source, length): the length in the source of what stands for
    one character, such as an entity, and 0 where the source has the text as it is.
    `voices` are the speakers of hidden tags (`<v Name>`), each with its offset in the text. `annotations` are the spans
    of ruby text: it is shown above a word and not spoken.
    """

    text: str
    pieces: Sequence[tuple[int, int, int]]
    voices: Sequence[tuple[int, str]] = ()
    annotations: Sequence[Span] = ()

    def copy(self, start: int, stop: int) -> Copy:
        """The fragments of the source that show text[start:stop]."""
        result: list[Span] = []
        i = bisect_right(self.pieces, start, key=itemgetter(0)) - 1
        while start < stop:
            at, place, length = self.pieces[i]
            i += 1
            end = min(stop, self.pieces[i][0]) if i < len(self.pieces) else stop
            if end > start:
                result.append((place, place + length) if length else (place + start - at, place + end - at))
                start = end
        return tuple(result)


#: A character, and where its codes start and stop in the source.
Character = tuple[str, int, int]


def of_codes(characters: Sequence[Character]) -> Visible:
    """The text of characters that the source has in codes."""
    pieces = [(at, start, stop - start) for at, (_, start, stop) in enumerate(characters)]
    return Visible("".join(c for c, _, _ in characters), pieces)


def joined(parts: Sequence[Visible]) -> Visible:
    """Visible texts of one source, one right after the other."""
    begins = list(accumulate((len(part.text) for part in parts), initial=0))
    placed = list(zip(begins, parts, strict=False))
    return Visible(
        "".join(part.text for part in parts),
        [(begin + at, place, length) for begin, part in placed for at, place, length in part.pieces],
        [(begin + at, voice) for begin, part in placed for at, voice in part.voices],
    )


def visible(source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN) -> Visible:
    """The visible text of source[start:stop]. `hidden` matches markup and entities; entities become one character."""
    text: list[str] = []
    pieces: list[tuple[int, int, int]] = []
    voices: list[tuple[int, str]] = []
    annotations: list[Span] = []
    annotated: int | None = None  # where an annotation begins that has not ended yet
    at, length = start, 0

    def add(shown: str, where: int, atomic: int) -> None:
        nonlocal length
        if shown:
            pieces.append((length, where, atomic))
            text.append(shown)
            length += len(shown)

    for found in hidden.finditer(source, start, stop):
        a, b = found.span()
        token = found.group()
        shown = _shown(token)
        if token[0] == "&" and token[-1] == ";" and len(shown) != 1:
            continue
        add(source[at:a], at, 0)
        ruby = _ANNOTATION.match(token) is not None
        if ruby and annotated is not None:
            annotations.append((annotated, length))
            annotated = None
        add(shown, a, b - a)
        if ruby and token[1] != "/":
            annotated = length
        if voice := _VOICE.match(token):
            voices.append((length, voice.group(1)))
        at = b
    add(source[at:stop], at, 0)
    if annotated is not None:
        annotations.append((annotated, length))
    return Visible("".join(text), pieces, voices, [(a, b) for a, b in annotations if a < b])


def _shown(token: str) -> str:
    """What a token of markup shows: a character, white space, or nothing."""
    if token[0] == "&" and token[-1] == ";":
        return _unescaped(token)
    if token == HARD_SPACE:
        return "\xa0"
    if token.startswith("<![CDATA["):
        return SECTION
    return "\n" if token[0] in "\\|[" or _BREAK.match(token) else " " if _ANNOTATION.match(token) else ""


def _unescaped(entity: str) -> str:
    shown = unescape(entity)
    return shown if len(shown) == 1 else unescape(shown)


def has_entity(text: str) -> bool:
    """Whether something in a text is written like an entity: `&#x6e;`, `caf&eacute;`."""
    return "&" in text and any(len(_unescaped(found[0])) == 1 for found in _ENTITY.finditer(text))


def units(source: str, copy: Copy) -> Iterator[tuple[int, int, str]]:
    """Yield (start, stop, character) for each visible character of a copy; an entity is one character."""
    for start, stop in copy:
        if source[start] == "&" and _ENTITY.fullmatch(source, start, stop):
            shown = _unescaped(source[start:stop])
            if len(shown) == 1:
                yield start, stop, shown
                continue
        if source[start:stop] == HARD_SPACE:
            yield start, stop, "\xa0"
            continue
        for i in range(start, stop):
            yield i, i + 1, source[i]
