"""Scenarist SCC: the bytes of CEA-608 captions as hexadecimal pairs, one pair a frame, each line from its time code on.

Pop-on, paint-on and roll-up captions of the first channel are read as a decoder shows them. A line that gets longer by
a mark is sent earlier, so that its caption appears at the same frame.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import EncodedFormat
from cappunc_cli.formats.cues import Cue
from cappunc_cli.formats.markup import Character, of_codes
from cappunc_cli.formats.splice import Edit, by_character, line_of, placeholders, splice

_HEADER = re.compile(r"[\s\ufeff]*+Scenarist_SCC[^\r\n]*")
_LINE = re.compile(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})([:;.,])([0-9]{2})[ \t]+([^\r\n]*)", re.MULTILINE)
_ANY_LINE = re.compile(r"^[ \t]*[^\s\ufeff][^\r\n]*", re.MULTILINE)
_PAIR = re.compile(r"[0-9a-fA-F]{4}(?![^ \t])")
_CODE = re.compile(r"[^ \t]+")

_CODES = tomllib.loads(Path(__file__).with_name("codes.toml").read_text("utf-8"))["scc"]
#: Characters by their bytes: of one byte that is not ASCII, and of two.
_BASIC = dict(zip(b"\x2a\x5c\x5e\x5f\x60\x7b\x7c\x7d\x7e\x7f", _CODES["basic"], strict=True))
_SPECIAL = dict(enumerate(_CODES["special"], 0x1130))
_EXTENDED = {code: c for row in (0x1220, 0x1320) for code, c in enumerate(_CODES[f"extended_{row:x}"], row)}
_BYTES = {c: byte for byte in range(0x20, 0x80) if (c := _BASIC.get(byte, chr(byte)))}
_TWO_BYTES = {c: code for code, c in (*_EXTENDED.items(), *_SPECIAL.items())}
#: What a decoder without extended characters shows in their place.
_FALLBACK = {c: plain for c in _EXTENDED.values() if (plain := normalize("NFD", c)[0]).isalpha() and plain != c}
_FALLBACK |= dict(zip(_CODES["replaced"], _CODES["fallback"], strict=True))
#: Marks that are spelled with others.
_SPELLED = {"…": "...", "–": "—", "―": "—"}
_RESUME, _BACKSPACE, _CLEAR_ROW, _PAINT, _TEXT = 0x1420, 0x1421, 0x1424, 0x1429, 0x142A
_ROLL_UP = (0x1425, 0x1426, 0x1427)
_ERASE, _RETURN, _ERASE_HIDDEN, _SHOW = 0x142C, 0x142D, 0x142E, 0x142F
#: Codes at whose frame the screen changes.
_CHANGES = frozenset((_PAINT, *_ROLL_UP, _ERASE, _RETURN, _SHOW))
#: The row of a preamble by its first byte; the next one if its second byte has the bit 0x20.
_ROWS = {0x11: 1, 0x12: 3, 0x15: 5, 0x16: 7, 0x17: 9, 0x10: 11, 0x13: 12, 0x14: 14}
_COLUMNS = 32
#: Frames in ten minutes and in a minute of drop-frame time: it drops two of them each minute except the tenth.
_TEN_MINUTES, _MINUTE = 17_982, 1_798


class _Token(NamedTuple):
    """A character, or a control code (if `text` is ""), in source[start:stop]; `frame` is when it is sent."""

    text: str
    code: int
    start: int
    stop: int
    frame: int


class _Line(NamedTuple):
    """A line: where its time code starts and its codes start and stop, its first frame, the spans of its pairs."""

    start: int
    codes: tuple[int, int]
    frame: int
    pairs: Sequence[tuple[int, int]]


@dataclass(slots=True)
class _Decoder:
    """A decoder's screen: `shown` and `hidden` are the characters by row and column."""

    mode: int = _RESUME
    heard: bool = True
    row: int = 15
    column: int = 0
    shown: dict[tuple[int, int], _Token] = field(default_factory=dict)
    hidden: dict[tuple[int, int], _Token] = field(default_factory=dict)
    #: When what is shown appeared.
    since: int | None = None

    def taken(self, token: _Token) -> Iterator[Cue]:
        """Take a character or a code; yields the subtitle that it ends."""
        if token.text:
            self._write(token)
            return
        first, second = divmod(token.code, 256)
        self.heard = not first & 8  # the other codes, and the text after them, are the second channel's
        if not self.heard:
            return
        if second >= 0x40 and first in _ROWS:
            self.row = _ROWS[first] + bool(second & 0x20)
            self.column = (second >> 1 & 7) * 4 if second & 0x10 else 0
        elif first == 0x17 and second in (0x21, 0x22, 0x23):
            self.column += second - 0x20
        elif first == 0x11 and second < 0x30:
            self._write(token._replace(text=" "))
        elif first == 0x14 and (token.code not in _ROLL_UP or self.mode not in _ROLL_UP):
            if token.code in _CHANGES and self.shown:
                yield self.subtitle(token.frame)
            self._control(token.code, token.frame)

    def _control(self, code: int, frame: int) -> None:
        if code in _CHANGES:
            self.shown, self.since = {}, frame if code in (_PAINT, _RETURN, _SHOW) else None
        if code in (_RESUME, _PAINT, *_ROLL_UP):
            self.mode = code
        elif code == _TEXT:
            self.heard = False
        elif code == _SHOW:
            self.mode, self.shown, self.hidden = _RESUME, self.hidden, {}
        elif code == _ERASE_HIDDEN:
            self.hidden = {}
        elif code == _RETURN:
            self.column = 0
        written = self.hidden if self.mode == _RESUME else self.shown
        if code == _BACKSPACE and self.column:
            self.column -= 1
            written.pop((self.row, self.column), None)
        elif code == _CLEAR_ROW:
            for place in [place for place in written if place[0] == self.row and place[1] >= self.column]:
                del written[place]

    def _write(self, token: _Token) -> None:
        if self.heard:
            if self.mode != _RESUME and self.since is None:
                self.since = token.frame
            (self.hidden if self.mode == _RESUME else self.shown)[self.row, self.column] = token
            self.column += 1

    def subtitle(self, end: int | None) -> Cue:
        """What is shown, up to the frame `end`."""
        characters: list[Character] = []
        last = None
        for (row, column), token in sorted(self.shown.items()):
            if last is not None and (row, column) != (last[0], last[1] + 1):
                gap = "\n" if row != last[0] else " "
                characters.append((gap, token.start, token.start))
            characters.append((token.text, token.start, token.stop))
            last = row, column
        starts = [start for _, start, _ in characters]
        begin, until = (None if frame is None else round(frame * 1001 / 30) for frame in (self.since, end))
        return Cue(begin, until, (min(starts), max(starts)), shown=of_codes(characters))


def _time_code(frame: int, sign: str) -> str:
    if sign != ":":
        tens, rest = divmod(frame, _TEN_MINUTES)
        frame += 18 * tens + 2 * max((rest - 2) // _MINUTE, 0)
    seconds, frames = divmod(frame, 30)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{sign}{frames:02}"


def _lines(source: str) -> Iterator[_Line]:
    """The lines after the header. Raises BadInput."""
    head = _HEADER.match(source)
    for whole in _ANY_LINE.finditer(source, head.end() if head else 0):
        found = _LINE.match(source, whole.start())
        if found is None:
            raise BadInput("neither a time code nor codes such as 94ae", line=line_of(source, whole.start()))
        pairs = []
        for code in _CODE.finditer(source, *found.span(6)):
            if not _PAIR.fullmatch(code[0]):
                what = f"not a pair of bytes in hexadecimal: {code[0][:20]}"
                raise BadInput(what, line=line_of(source, whole.start()))
            pairs.append(code.span())
        hours, minutes, seconds, frames = map(int, found.group(1, 2, 3, 5))
        minutes += hours * 60
        dropped = 0 if found[4] == ":" else 2 * (minutes - minutes // 10)
        yield _Line(found.start(), found.span(6), (minutes * 60 + seconds) * 30 + frames - dropped, pairs)


def _tokens(source: str, line: _Line) -> list[_Token]:
    """The characters and codes of a line, without the repetition of a code, and without bytes that fill up."""
    found: list[_Token] = []
    repeated = -1  # the code that may come again
    for frame, (start, stop) in enumerate(line.pairs, line.frame):
        code = int(source[start:stop], 16) & 0x7F7F
        first, second = divmod(code, 256)
        if code == repeated:
            found[-1] = found[-1]._replace(stop=stop)
            repeated = -1
            continue
        repeated = code if 0x10 <= first < 0x20 else -1
        if first == 0x15 and second < 0x30:  # the second field's
            code -= 0x100
        if code in _SPECIAL:
            found.append(_Token(_SPECIAL[code], 0, start, stop, frame))
        elif code in _EXTENDED:
            replaced = found.pop() if found and found[-1].text else None
            found.append(_Token(_EXTENDED[code], 0, replaced.start if replaced else start, stop, frame))
        elif repeated >= 0:
            found.append(_Token("", code, start, stop, frame))
        else:
            at = ((first, start, start + 2), (second, start + 2, stop))
            found += [_Token(_BASIC.get(b, chr(b)), 0, a, z, frame) for b, a, z in at if b >= 0x20]
    return found


def _with_parity(code: int, size: int) -> str:
    """One byte or two as hexadecimal, with the bit that makes the number of ones odd."""
    return "".join(f"{b | 0x80 * (b.bit_count() % 2 == 0):02x}" for b in code.to_bytes(size, "big"))


def _pieces(text: str, doubled: bool) -> list[str] | None:
    """The bytes of a text, each of two digits or, for a pair that must not be split, of four; None if it has none."""
    found: list[str] = []
    for c in "".join(_SPELLED.get(c, c) for c in text):
        if c in _BYTES:
            found.append(_with_parity(_BYTES[c], 1))
        elif c in _TWO_BYTES:
            code = _TWO_BYTES[c]
            found += [_with_parity(_BYTES[_FALLBACK.get(c, " ")], 1)] if code in _EXTENDED else []
            found += [_with_parity(code, 2)] * (1 + doubled)
        else:
            return None
    return found


def _packed(pieces: Sequence[str], pairs: int) -> list[str]:
    """The pieces as pairs, at least as many as before, so that what comes after them is not sent too early."""
    found: list[str] = []
    half = ""
    for piece in [*pieces, ""]:
        if len(piece) == 2:
            half += piece
        if len(half) == 4 or (half and len(piece) != 2):
            found.append((half + "80")[:4])
            half = ""
        if len(piece) == 4:
            found.append(piece)
    return [*found, *["8080"] * (pairs - len(found))]


class Scc(EncodedFormat):
    """Scenarist SCC: CEA-608 captions as hexadecimal bytes."""

    name = "scc"
    suffixes = (".scc",)
    signature = _HEADER

    def cues(self, text: str, notices: list[Notice]) -> Iterator[Cue]:  # noqa: ARG002
        """The captions of the first channel. Raises BadInput for a line without a time code or with broken codes."""
        return _decoded(text)

    def written(self, document: Document, texts: Sequence[str]) -> str:
        """The source with new texts in its codes.

        Raises BadInput if a decoder could not show the result: a row of more than 32 columns, a line that is not sent
        completely before the next one, a caption that would appear later.
        """
        source = document.source
        lines = [(line, _tokens(source, line)) for line in _lines(source)]
        new = _new_characters(document, texts, [token for _, tokens in lines for token in tokens])
        output = splice(source, chain.from_iterable(_line_edits(source, line, tokens, new) for line, tokens in lines))
        for before, after in zip(_decoded(source), [*_decoded(output, strict=True)], strict=False):
            if before[:2] != after[:2] and after.shown is not None:
                raise _invalid(f"“{' '.join(after.shown.text.split())}” would appear later", source, before.text[0])
        return output

    def skeleton(self, document: Document) -> str:
        """The source with placeholders for the words, without what fills up, and with the frames of changes."""
        source, words = document.source, dict[int, str]()
        for start, stop, text in placeholders(document):
            words |= dict.fromkeys(range(start, stop), "") | {start: text}
        edits: list[Edit] = []
        for line in _lines(source):
            shown = ""
            for token in _tokens(source, line):
                moment = f"@{token.frame}" if token.code in _CHANGES else ""
                shown += words.get(token.start, token.text) if token.text else f"<{token.code:04x}{moment}>"
            edits.append((line.start, line.codes[1], shown))
        return splice(source, edits)


def _decoded(source: str, strict: bool = False) -> Iterator[Cue]:
    """The captions of the first channel. Raises BadInput; if `strict`, also for what no decoder could show."""
    decoder, free = _Decoder(), 0
    for line in _lines(source):
        if strict and line.frame < free:
            raise _invalid("the line before it would still be sent", source, line.start)
        free = line.frame + len(line.pairs)
        for token in _tokens(source, line):
            yield from decoder.taken(token)
            if strict and token.text and decoder.column > _COLUMNS:
                raise _invalid(f"a row would have more than {_COLUMNS} columns", source, token.start)
    if decoder.shown:
        yield decoder.subtitle(None)


def _invalid(why: str, source: str, at: int) -> BadInput:
    what = f"{why}: SCC cannot hold the result; cappunc convert writes other formats"
    return BadInput(what, line=line_of(source, at))


def _new_characters(document: Document, texts: Sequence[str], tokens: Sequence[_Token]) -> Mapping[int, str]:
    """The text in place of each character that changes, by the offset of its codes; "" removes it.

    A word with a mark that has no codes stays as it is.
    """
    characters = {token.start: token for token in tokens if token.text}
    new: dict[int, str] = {}
    for word, text in zip(document.words, texts, strict=True):
        own = [characters[at] for span in word.places[0] for at in range(*span) if at in characters]
        shown = by_character("".join([token.text for token in own]), text)
        if all(_pieces(c, False) is not None for c in shown):
            new |= {token.start: c for token, c in zip(own, shown, strict=True) if c != token.text}
    return new


def _line_edits(source: str, line: _Line, tokens: Sequence[_Token], new: Mapping[int, str]) -> Iterator[Edit]:
    """The edits of a line: of each run of characters, and of the time code if the line has to be sent earlier."""
    starts = [start for start, _ in line.pairs]
    doubled = any(token.stop - token.start > 4 for token in tokens if not token.text)
    shift = grown = at = 0
    begun = False  # whether the screen changes before the line gets longer
    for is_text, group in groupby(tokens, key=lambda token: token.text != ""):
        own = list(group)
        at += len(own)
        if not is_text:
            if any(token.code in _CHANGES for token in own):
                begun, shift = begun or not grown, 0 if begun else grown
        elif any(token.start in new for token in own):
            first = bisect_right(starts, own[0].start) - 1
            stop = bisect_left(starts, tokens[at].start) if at < len(tokens) else len(starts)
            pieces: list[str] = []
            for token in own:
                if token.start in new:
                    pieces += _pieces(new[token.start], doubled) or ()
                else:  # of the pair in which a one-byte character is alone, the other byte fills up
                    codes = source[token.start : token.stop].split()
                    pieces += [code[:2] if int(code[:2], 16) & 0x7F >= 0x20 else code for code in codes]
            pairs = _packed(pieces, stop - first)
            grown += len(pairs) - (stop - first)
            written = " ".join(pairs)
            upper = source[slice(*line.codes)].isupper()
            yield line.pairs[first][0], line.pairs[stop - 1][1], written.upper() if upper else written
    if shift:
        if line.frame < shift:
            raise _invalid("a line would begin before zero", source, line.start)
        yield line.start, line.start + 11, _time_code(line.frame - shift, source[line.start + 8])
