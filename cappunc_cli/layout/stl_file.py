"""Write captions as EBU STL (EBU Tech 3264-E), as text of one character a byte."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from operator import itemgetter

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.ebu_stl import CODE_TABLES, encoded
from cappunc_cli.languages import language
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption

_FIELD, _PADDING, _NEWLINE = 112, "\x8f", "\x8a"
#: The lowest row of teletext.
_LAST_ROW = 23
#: An overlap of so many frames at most is not meant to be seen.
_CARELESS = 5


def stl_captions(captions: Sequence[Caption], writing: Writing) -> list[Caption]:
    """The captions as STL can show them: one at a time, with the dash and the ellipsis that it has.

    While several are shown, the lines of all are one caption. An overlap of a few frames is none: the earlier caption
    ends where the later one begins.
    """
    starts = sorted(writing.frame(caption.start) for caption in captions)
    shown: list[tuple[int, int, Caption]] = []
    for caption in captions:
        start = writing.frame(caption.start)
        end = max(writing.frame(caption.end), start + 1)
        last = starts[bisect_left(starts, end) - 1]
        lines = tuple(line.replace("—", "―").replace("…", "...") for line in caption.lines)
        end = last if start < last and end - last <= _CARELESS else end
        shown.append((start, end, replace(caption, lines=lines)))
    waiting = sorted(shown, key=itemgetter(0))[::-1]
    found: list[Caption] = []
    active: list[tuple[int, int, Caption]] = []
    for begin, following in pairwise(sorted({edge for start, end, _ in shown for edge in (start, end)})):
        while waiting and waiting[-1][0] == begin:
            active.append(waiting.pop())
        active = [(start, end, caption) for start, end, caption in active if end > begin]
        if active:
            own, until = (round(1000 * frame / writing.fps) for frame in (begin, following))
            lines = tuple(line for _, _, caption in active for line in caption.lines)
            found.append(replace(active[0][2], lines=lines, start=own, end=until))
    return found


def stl(captions: Sequence[Caption], writing: Writing) -> str:
    """EBU STL, open subtitles, 25 or 30 frames a second; text too long for a block goes on in the next.

    Raises BadInput for another frame rate, and for a character that is in no code table with the others.
    """
    if writing.fps not in (25, 30):
        raise BadInput(f"STL has 25 or 30 frames a second, not {float(writing.fps):g}")
    table, texts = _in_one_table(["\n".join(caption.lines) for caption in captions])
    blocks = []
    for number, (caption, text) in enumerate(zip(captions, texts, strict=True)):
        frames = writing.frame(caption.start), writing.frame(caption.end)
        row = max(_LAST_ROW - 2 * len(caption.lines), 1)
        times = [_code(frame, int(writing.fps)) for frame in frames]
        parts = list(_fields(text))
        for i, field in enumerate(parts):
            extension = 0xFF if i + 1 == len(parts) else i
            head = [0, number % 256, number // 256, extension, 0, *times[0], *times[1], row, 2, 0]
            blocks.append("".join(map(chr, head)) + field)
    first = _code(writing.frame(captions[0].start), int(writing.fps)) if captions else [0] * 4
    return _header(table, writing, len(captions), len(blocks), first) + "".join(blocks)


def _in_one_table(texts: Sequence[str]) -> tuple[str, list[list[str]]]:
    """The first code table that has all characters, and each text as its bytes, a character at a time."""
    missing = ""
    for table, codec in CODE_TABLES.items():
        found = [[_NEWLINE if c == "\n" else encoded(c, codec) for c in text] for text in texts]
        pairs = (zip(text, own, strict=True) for text, own in zip(texts, found, strict=True))
        lacks = [c for pair in pairs for c, byte in pair if byte is None]
        if not lacks:
            return table, [[byte or "" for byte in own] for own in found]
        missing = missing or lacks[0]
    raise BadInput(f"“{missing}” cannot be written in STL")


def _fields(text: Sequence[str]) -> Iterator[str]:
    """The text fields of a caption, filled up."""
    field = ""
    for character in text:
        if len(field) + len(character) > _FIELD:
            yield field.ljust(_FIELD, _PADDING)
            field = ""
        field += character
    yield field.ljust(_FIELD, _PADDING)


def _code(frame: int, rate: int) -> list[int]:
    """Hours, minutes, seconds and frames."""
    seconds, frames = divmod(frame, rate)
    if seconds >= 24 * 3600:
        raise BadInput("STL has no times of a day or more")
    return [seconds // 3600, seconds // 60 % 60, seconds % 60, frames]


def _header(table: str, writing: Writing, subtitles: int, blocks: int, first: Sequence[int]) -> str:
    """The block of general information."""
    if blocks > 99_999:
        raise BadInput("STL has room for 99,999 blocks")
    today = date.today().strftime("%y%m%d")
    titles = " " * (6 * 32 + 16)
    begin = "".join(f"{part:02}" for part in first)
    head = (
        f"850STL{writing.fps}.010{table}{language(writing.language).stl}{titles}{today}{today}00"
        f"{blocks:05}{subtitles:05}00140231{'0' * 8}{begin}11"
    )
    return head.ljust(1024)
