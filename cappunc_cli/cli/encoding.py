"""Bytes to text and back, so that every byte that nobody changed survives."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from cappunc_cli.errors import BadInput

# UTF-32 LE starts with the mark of UTF-16 LE, so it is asked first.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Code pages of Latin letters and the letters that their languages use; the first wins a tie.
_LATIN = {
    "cp1252": "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœß",
    "cp1250": "áâäăąćçčďđéęěëíîĺľłńňóôőöŕřśšşťţúůűüýźżžß",
    "cp1254": "çğıöşüâîû",
    "cp1257": "āąčēęėģīįķļņšūųžõäöüß",
}
#: The other legacy code pages in which subtitles and transcripts really come.
_NOT_LATIN = ["cp1251", "cp1253", "cp1255", "cp1256", "gb18030", "big5", "cp932", "cp949"]
# They mean the same in every Latin code page, so they tell nothing.
_SIGNS = frozenset("“”„‘’‚–—…«»‹›¿¡€£°§©®•´·\u00a0")
# Every other byte is carried along as it is. latin-1 would show letters where there are none,
# and changing their case would change the bytes of another script.
_UNKNOWN = "ascii"
#: Enough of a file to guess its code page from.
_SAMPLE = 64 * 1024
_SPELLINGS = {"…": "...", "—": "--", "–": "-", "\u00a0": " ", "\u202f": " "}
_SPELLINGS |= dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚", "'")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file spells its text: a Python codec name and the byte order mark, or b''."""

    codec: str = "utf-8"
    bom: bytes = b""

    @property
    def errors(self) -> str:
        """What keeps bytes that the codec does not know."""
        if self.codec in ("utf-8", _UNKNOWN):
            return "surrogateescape"
        return "surrogatepass" if self.codec.startswith("utf") else "strict"


def decode(data: bytes) -> tuple[str, Encoding]:
    """Text of a file and how to write it back: `encode(*decode(data)) == data`, always.

    Line ends stay as they are; the byte order mark is no part of the text. Raises BadInput
    for bytes that are no text (a video, half a UTF-16 character).
    """
    encoding = _sniff(data)
    try:
        text = data[len(encoding.bom) :].decode(encoding.codec, encoding.errors)
    except UnicodeDecodeError as error:
        raise BadInput(f"broken {encoding.codec} text at byte {error.start + len(encoding.bom)}") from error
    if encode(text, encoding) != data:
        # Some East Asian code pages spell one character in two ways.
        encoding = Encoding(_UNKNOWN)
        text = data.decode(_UNKNOWN, encoding.errors)
    return text, encoding


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a text that `writable` has seen; UnicodeEncodeError otherwise."""
    return encoding.bom + text.encode(encoding.codec, encoding.errors)


def writable(text: str, encoding: Encoding) -> str:
    """The text with characters that the codec lacks spelled in ASCII: `…` as `...`.

    Raises BadInput for a character that has no such spelling.
    """
    try:
        encode(text, encoding)
    except UnicodeEncodeError:
        return "".join([_spell(c, encoding) for c in text])
    return text


def _spell(character: str, encoding: Encoding) -> str:
    try:
        character.encode(encoding.codec, encoding.errors)
    except UnicodeEncodeError:
        if character not in _SPELLINGS:
            raise BadInput(f"{character!r} cannot be written in {encoding.codec}, the encoding of the file") from None
        return _SPELLINGS[character]
    return character


def _sniff(data: bytes) -> Encoding:
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return Encoding(codec, bom)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return _without_mark(data)
    if b"\0" in data:
        wide = _without_mark(data)
        if wide.codec == "utf-8":
            raise BadInput("is no text file")
        return wide
    if _mostly_utf8(data):
        return Encoding()
    return Encoding(_guess(data))


def _without_mark(data: bytes) -> Encoding:
    """UTF-16 without a byte order mark shows by the zero byte of nearly every character."""
    if len(data) % 2 == 0 and b"\0" in data[:1024]:
        head = data[:1024]
        half = len(head) // 2
        zeros = [head[side::2].count(0) for side in (0, 1)]
        if zeros[1] > 0.7 * half and not zeros[0]:
            return Encoding("utf-16-le")
        if zeros[0] > 0.7 * half and not zeros[1]:
            return Encoding("utf-16-be")
    return Encoding()


def _mostly_utf8(data: bytes) -> bool:
    """UTF-8 with a torn character here and there (a tool cut lines by bytes)."""
    text = data.decode("utf-8", "surrogateescape")
    torn = sum("\udc80" <= c <= "\udcff" for c in text)
    proper = sum(c > "\x7f" for c in text) - torn
    return proper >= max(2, torn)


def _guess(data: bytes) -> str:
    """The likeliest legacy code page, or plain ASCII with opaque bytes when none fits."""
    # ASCII says nothing about the code page: lines that have more to say come first.
    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in telling)
    if letters > sum(byte > 127 for byte in telling):
        # Asked about a lone curly quote in an English file, a guesser of languages says Japanese.
        order = sorted(_LATIN, key=lambda codec: -_fit(telling, codec))
    else:
        from charset_normalizer import from_bytes

        best = from_bytes(telling, cp_isolation=_NOT_LATIN).best()
        order = [best.encoding] if best is not None else []
    return next((codec for codec in order if _decodes(data, codec)), _UNKNOWN)


def _fit(telling: bytes, codec: str) -> float:
    """Share of the non-ASCII characters that are letters of the code page's languages."""
    told = [c.lower() for c in telling.decode(codec, "replace") if c > "\x7f" and c not in _SIGNS]
    return sum(c in _LATIN[codec] for c in told) / len(told) if told else 1.0


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
