"""Write captions as EBU STL (EBU Tech 3264-E), as text of one character a byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.ebu_stl import CODE_TABLES, encoded
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption

_FIELD, _PADDING, _NEWLINE = 112, "\x8f", "\x8a"
#: Codes of languages, from the appendix of Tech 3264.
_LANGUAGES = {
    "ca": "03", "de": "08", "en": "09", "es": "0A", "eu": "0D", "fr": "0F", "it": "15", "nl": "1D", "pl": "20",
    "pt": "21", "ro": "22",
}  # fmt: skip
#: The lowest row of teletext.
_LAST_ROW = 23


def in_stl(text: str) -> str:
    """A text with the dash and the ellipsis that STL has."""
    return text.replace("—", "―").replace("…", "...")


def stl(captions: Sequence[Caption], writing: Writing) -> str:
    """EBU STL, open subtitles, 25 or 30 frames a second; text too long for a block goes on in the next.

    Subtitles follow each other: one that overlaps the next ends where that begins. Raises BadInput for two at once, for
    another frame rate, and for a character that is in no code table with the others.
    """
    if writing.fps not in (25, 30):
        raise BadInput(f"STL has 25 or 30 frames a second, not {float(writing.fps):g}")
    table, texts = _in_one_table(["\n".join(caption.lines) for caption in captions])
    blocks = []
    starts = [writing.frame(caption.start) for caption in captions]
    for caption, one, other in zip(captions[1:], starts, starts[1:], strict=False):
        if other <= one:
            raise BadInput(f"“{' '.join(caption.lines)}” is shown together with another caption, which STL cannot do")
    for number, (caption, text) in enumerate(zip(captions, texts, strict=True)):
        start = starts[number]
        end = min(max(writing.frame(caption.end), start + 1), *starts[number + 1 : number + 2], 1 << 40)
        times = [_code(frame, int(writing.fps)) for frame in (start, end)]
        row = max(_LAST_ROW - 2 * len(caption.lines), 1)
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
        f"850STL{writing.fps}.010{table}{_LANGUAGES.get(writing.language, '00')}{titles}{today}{today}00"
        f"{blocks:05}{subtitles:05}00140231{'0' * 8}{begin}11"
    )
    return head.ljust(1024)
