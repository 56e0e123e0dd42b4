"""What a document shows beside its words: sounds, signs, addresses. New files keep it as it is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.formats.cues import CueDetail, is_rolling
from cappunc_cli.formats.markup import visible

_SPACE = re.compile(r"\s+")
#: A dash or arrows at the start of a line, before a word: somebody else speaks.
_TURN = re.compile(r"(?:^|(?<=\n))[^\S\n]*(?:[-‐‑–—]|>>+)[^\S\n]*\Z")
#: A sound in brackets, or music.
_SOUND = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】|[♪♫][^♪♫]*[♪♫]|[♪♫]")
#: (start, stop) of a part of a copy of a word in the source, the number of the word, and of the copy.
_Piece = tuple[int, int, int, int]


def shown_texts(document: Document, *, sounds: bool = True) -> list[str]:
    """The text of each word with what is shown around it, or within, that is no word: `3` becomes `3 %`.

    Text on the line of the word before goes to that word, other text to the next word. Names and dashes that tell who
    speaks are left out, as are `sounds` unless wanted.
    """
    detail = document.detail
    regions = sorted(cue.text for cue in detail.cues) if isinstance(detail, CueDetail) and detail.shown is None else []
    texts = [_whole(document, word, regions) for word in document.words]
    before, after = [""] * len(texts), [""] * len(texts)
    gaps: Iterable[tuple[int | None, int | None, str]]
    if not isinstance(detail, CueDetail):
        gaps = ((i, None, word.signs) for i, word in enumerate(document.words) if word.signs)
    else:
        gaps = _cue_gaps(document) if detail.shown is None else _gaps_within(document, detail.shown)
    for left, right, text in gaps:
        own = text if sounds else _SOUND.sub(" ", text)
        head, line, rest = own.partition("\n") if left is not None else ("", "", own)
        if not line and head[:1].isspace() and not head[-1:].isspace():
            head, rest = "", head  # `(10)x`: it touches the next word
        if right is None and left is not None:
            after[left] += own
        elif right is not None:
            if left is not None:
                after[left] += head + line
            before[right] += _without_name(rest, document.speakers.get(document.words[right].turn, ""))
    return [
        f"{_SPACE.sub(' ', a).lstrip()}{text}{_SPACE.sub(' ', b).rstrip()}"
        for a, text, b in zip(before, texts, after, strict=True)
    ]


def _whole(document: Document, word: Word, regions: Sequence[Span]) -> str:
    """The text of a word with what is shown before its last mark: `left (quickly).` is the word `left.`.

    Nothing is shown between the parts of a word that are in several of the `regions`, pieces of it.
    """
    parts = word.places[0] if word.places and regions else ()
    gaps = []
    for (start, stop), (following, _) in pairwise(parts):
        _, end = regions[bisect_left(regions, (start + 1,)) - 1]
        gaps.append(_shown(document, stop, following) if stop < following < end else "")
    if not any(map(str.strip, gaps)):
        return word.text
    return "".join(_shown(document, *part) + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


def _without_name(text: str, name: str) -> str:
    """The text before a word, without its speaker's label and the dash of a new speaker."""
    label = re.compile(rf"(?<!\w){re.escape(name)}[^\S\n]*[:：]?\s*\Z") if name else None
    found = label.sub("", text) if label else text
    return _TURN.sub("", found)


def _cue_gaps(document: Document) -> Iterator[tuple[int | None, int | None, str]]:
    """What the cues show before, between and after their words: the words around it, and the text.

    A word of another cue is not around it, except that the text of a cue without words goes to the next word.
    """
    detail = document.detail
    assert isinstance(detail, CueDetail)
    rolling = is_rolling(document)
    pieces = sorted(
        (*part, i, n) for i, word in enumerate(document.words) for n, copy in enumerate(word.places) for part in copy
    )
    waiting, last = "", ""
    for begin, stop in sorted(cue.text for cue in detail.cues):
        own = pieces[bisect_left(pieces, (begin,)) : bisect_left(pieces, (stop,))]
        edges: list[_Piece | None] = [None, *own, None]
        at = begin
        for left, right in pairwise(edges):
            until = stop if right is None else right[0]
            within = left is not None and right is not None and left[2:] == right[2:]
            text = _shown(document, at, until) if at < until and not within else ""
            at = at if right is None else max(at, right[1])
            # A line that rolls up shows its sounds again.
            again = own and all(piece is None or piece[3] for piece in (left, right))
            if rolling and (again or text.strip() == last.strip()):
                text = ""
            last = text if text.strip() else last
            if not own:
                waiting += text + "\n" if text.strip() else ""
                continue
            if left is None and right is not None:
                text, waiting = waiting + text, ""
            if text.strip():
                yield left[2] if left else None, right[2] if right else None, text
    if waiting and document.words:
        yield len(document.words) - 1, None, f"\n{waiting}"


def _gaps_within(document: Document, shown: Sequence[str]) -> Iterator[tuple[int | None, int | None, str]]:
    """As `_cue_gaps`, where the source has what its cues show in another encoding."""
    words, i, waiting = document.words, 0, ""
    for number, text in enumerate(shown):
        at, left = 0, None
        while i < len(words) and words[i].cue == number and (start := text.find(words[i].text, at)) >= 0:
            yield left, i, waiting + text[at:start]
            at, left, waiting, i = start + len(words[i].text), i, "", i + 1
        if left is None:
            waiting += text + "\n"
        else:
            yield left, None, text[at:]
    if waiting and words:
        yield len(words) - 1, None, f"\n{waiting}"


def _shown(document: Document, start: int, stop: int) -> str:
    detail = document.detail
    assert isinstance(detail, CueDetail)
    if document.format == "txt":  # which shows its tags, too
        return document.source[start:stop]
    return visible(document.source, start, stop, detail.hidden).text
