"""Decode and encode files so that all unchanged bytes survive."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from unicodedata import category

from cappunc_cli.errors import BadInput, WrongUsage

# UTF-32 LE first: its mark begins with that of UTF-16 LE.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœß"
_CENTRAL = "áâäăąćçčďđéęěëíîĺľłńňóôőöŕřśšşťţúůűüýźżžß"
#: Latin code pages and the non-ASCII letters of their languages; the first wins a tie.
_LATIN = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1254": "çğıöşüâîû",
    "cp1257": "āąčēęėģīįķļņšūųžõäöüß",
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
}
#: The other legacy code pages that occur in subtitles and transcripts.
_NOT_LATIN = ["cp1251", "cp1253", "cp1255", "cp1256", "gb18030", "big5", "cp932", "cp949"]
# Signs that are at the same bytes in all Latin code pages, and so do not distinguish them.
_SIGNS = frozenset("“”„‘’‚–—…«»‹›¿¡€£°§©®•´·\u00a0")
# The codec of last resort: ASCII, with all other bytes kept as they are. latin-1 would turn bytes of other scripts into
# letters, whose case might be changed.
_UNKNOWN = "ascii"
#: Most bytes from which a code page is guessed.
_SAMPLE = 64 * 1024
# The declaration at the head of markup: `encoding` in XML, `charset` in HTML and SAMI.
_DECLARED = re.compile(
    rb"""\A\s*<[^\0]{0,1000}?(?:encoding|charset)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
#: Half of a character beyond U+FFFF, as cut-off JSON has it; U+DC80 to U+DCFF stand for bytes that are not UTF-8.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
#: What is left of characters that were cut in two.
_BROKEN = re.compile("[\udc80-\udcff]+")
#: Python codecs that are not encodings of text files.
_NOT_FOR_FILES = frozenset(("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem"))
_JAPANESE = ("iso2022_jp", "iso2022_jp_2004", "iso2022_jp_2", "iso2022_jp_ext")
#: Encodings that switch by escape sequences to characters made of ASCII bytes, with a pattern for these sequences.
_SHIFTED = (
    (re.compile(rb"\x1b\$\)C"), ("iso2022_kr",)),
    # Not ESC ( B, which terminal output has, too.
    (re.compile(rb"\x1b(?:\$[@AB]|\$\([A-Z]|\([IJ])"), _JAPANESE),
    (re.compile(rb"~\{(?:[!-w][!-~])+~\}"), ("hz",)),
)
_UTF7 = re.compile(rb"\+([A-Za-z0-9+/]*)(-?)")
#: What these sequences, and those of UTF-7, begin with.
_ESCAPES = (b"\x1b", b"~{", b"+")
NAMING = "name it with --encoding"
#: Smallest share of plausible characters in a likely Latin code page.
_FIT = 0.7
#: A file with at most one broken byte sequence in so many characters is UTF-8, whatever the broken ones look like.
_MOSTLY = 20


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file: a Python codec and its byte order mark, or b''.

    If the codec is a `guess`, characters that are not ASCII may be others than they seem, and are never changed.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    guess: bool = field(default=False, compare=False)

    @property
    def errors(self) -> str:
        """The error handler that preserves bytes which the codec cannot decode."""
        if self.codec in ("utf-8", _UNKNOWN) or (not self.guess and _is_single(self.codec)):
            return "surrogateescape"
        return "surrogatepass" if self.codec.startswith(("utf-16", "utf-32")) else "strict"

    @property
    def is_unknown(self) -> bool:
        """Whether only its ASCII characters could be read."""
        return self.guess and self.codec == _UNKNOWN

    @property
    def note(self) -> str:
        """A message about a guess, to follow the name of the file; "" if there is none."""
        if not self.guess:
            return ""
        read = "unknown encoding" if self.is_unknown else f"read as {self.codec}, which is a guess"
        return f"{read}: only ASCII letters and marks change; {NAMING}"


UTF_8 = Encoding()
_MARKED_UTF_8 = Encoding("utf-8", codecs.BOM_UTF8)


def codec_name(name: str) -> str:
    """Python's name of a codec; raises LookupError if it is unknown or not an encoding of text files."""
    try:
        "".encode(name)  # LookupError for base64 and the like
    except UnicodeError as error:
        raise LookupError(name) from error
    codec = codecs.lookup(name).name.removesuffix("-sig")
    if codec.replace("-", "_") in _NOT_FOR_FILES:
        raise LookupError(name)
    return codec


def named_codec(name: str) -> str:
    """Python's name of an encoding that the user has named. Raises WrongUsage."""
    try:
        return codec_name(name)
    except LookupError:
        raise WrongUsage(f"{name!r} is not a known text encoding") from None


#: A binary format: each byte is a character to its reader, which knows the code table.
_EBU_STL = re.compile(rb"[0-9]{3}STL[0-9]{2}\.")


def decode(data: bytes, codec: str | None = None) -> tuple[str, Encoding]:
    """The text and encoding of a file, such that `encode(*decode(data)) == data`.

    The encoding is that of the byte order mark unless it is plainly wrong, else `codec`, else it is detected. Line ends
    are kept; the byte order mark is not part of the text. Raises BadInput for bytes that are not text (a video, half a
    UTF-16 character) or not valid in the codec.
    """
    encoding = next((Encoding(own, bom) for bom, own in _BOMS if data.startswith(bom)), None)
    if encoding == _MARKED_UTF_8 and not _is_utf8(data):
        encoding = Encoding(codec or _UNKNOWN, encoding.bom, guess=codec is None)
    elif _EBU_STL.match(data):
        encoding = Encoding("latin-1")
    elif encoding is None and codec is not None:
        encoding = Encoding(f"{codec}-le" if codec in ("utf-16", "utf-32") else codec)
    elif encoding is None:
        encoding = _detected(data)
    try:
        text = data[len(encoding.bom) :].decode(encoding.codec, encoding.errors)
    except UnicodeDecodeError as error:
        raise BadInput(f"broken {encoding.codec} text at byte {error.start + len(encoding.bom)}") from error
    if encoding.codec != "utf-8":
        # Some East Asian code pages have two codes for a character.
        with suppress(UnicodeEncodeError):
            if encode(text, encoding) == data:
                return text, encoding
        if not encoding.guess:
            raise BadInput(f"its {encoding.codec} text cannot be written back unchanged")
        encoding = Encoding(_UNKNOWN, guess=True)
        text = data.decode(_UNKNOWN, encoding.errors)
    return text, encoding


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a text; raises UnicodeEncodeError for characters that `writable` would replace."""
    return encoding.bom + text.encode(encoding.codec, encoding.errors)


def new_utf_8(text: str) -> bytes:
    r"""The UTF-8 of a new file's text; bytes of the source that were not UTF-8 stay as they are.

    Raises BadInput for half a character, which JSON can write as an escape (`\ud83d`).
    """
    if found := _HALF.search(text):
        word = next(word for word in text.split() if found[0] in word)
        raise BadInput(f"{word!r} has half a character, which cannot be written in UTF-8")
    return text.encode("utf-8", "surrogateescape")


def shown_utf_8(text: str) -> bytes:
    """The UTF-8 of a text for people to read: halves of characters are replaced, bytes that were not UTF-8 stay."""
    return _HALF.sub("\ufffd", text).encode("utf-8", "surrogateescape")


@cache
def _is_single(codec: str) -> bool:
    """Whether all characters of a codec are single bytes."""
    if codec.startswith(("utf", "iso2022", "hz")):
        return False
    characters = bytes(range(256)).decode(codec, "ignore")
    return len(characters) > 128 and all(len(c.encode(codec, "ignore")) == 1 for c in characters)


def _detected(data: bytes) -> Encoding:
    """The encoding of bytes without a byte order mark; raises BadInput if they are no text."""
    is_ascii = data.isascii()
    if is_ascii and any(escape in data for escape in _ESCAPES) and (shifted := _shifted(data)):
        return shifted
    if b"\0" in data:
        wide = _utf16_without_bom(data)
        if wide is None and not _decodes(data, "utf-8"):
            raise BadInput("is not a text file")
        return wide or UTF_8
    if is_ascii or _is_utf8(data):
        return UTF_8
    return _declared(data) or _guessed(data)


def _declared(data: bytes) -> Encoding | None:
    """The encoding that markup declares, if the file is valid in it."""
    found = _DECLARED.match(data)
    with suppress(LookupError, UnicodeError):
        codec = codec_name(found[1].decode()) if found else "utf-8"
        if not codec.startswith("utf") and data.decode(codec).encode(codec) == data:
            return Encoding(codec)
    return None


def _shifted(data: bytes) -> Encoding | None:
    """The encoding of ASCII bytes that are not ASCII text, if any; raises BadInput if it cannot be written back."""
    for escape, codecs_with_it in _SHIFTED:
        if escape.search(data):
            for codec in codecs_with_it:
                if _decodes(data, codec) and data.decode(codec).encode(codec, "replace") == data:
                    return Encoding(codec)
            name = codecs_with_it[0].replace("iso2022_", "ISO-2022-").upper()
            raise BadInput(f"looks like {name} text that cannot be written back unchanged; convert it to UTF-8")
    if not _is_utf7(data):
        return None
    if data.decode("utf-7").encode("utf-7") != data:
        raise BadInput("looks like UTF-7 text that cannot be written back unchanged; convert it to UTF-8")
    return Encoding("utf-7")


def _is_utf7(data: bytes) -> bool:
    """Whether each `+` begins a valid UTF-7 sequence, and these contain plausible letters and signs."""
    runs = [found[1] for found in _UTF7.finditer(data) if found[1] or not found[2]]
    if not runs:
        return False
    try:
        texts = [(b"+%b-" % run).decode("utf-7") for run in runs]
        data.decode("utf-7")
    except UnicodeDecodeError:
        return False
    letters = [c for text in texts for c in text if c.isalpha()]
    # Control characters stand around the times of CHAT; a byte order mark is a format character.
    signs = (category(c)[0] in "MPSZ" or category(c) in ("Cc", "Cf") for text in texts for c in text if not c.isalpha())
    if not all(texts) or not letters or any(map(str.isascii, letters)) or not all(signs):
        return False
    # Any three Base64 letters may decode to one of 20,000 Chinese characters.
    return len(runs) > 2 or all(c < "\u2e80" for c in letters)


def _utf16_without_bom(data: bytes) -> Encoding | None:
    """UTF-16 if nearly every other byte is zero."""
    head = data[:1024]
    for side, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = head[side::2].count(0)
        if len(data) % 2 == 0 and zeros > 0.35 * len(head) and not head[1 - side :: 2].count(0):
            return Encoding(codec)
    return None


def _is_utf8(data: bytes) -> bool:
    """Whether data is UTF-8, or was before a few of its characters were cut in two, as by tools that cut lines.

    All other characters must be plausible, and broken ones be rare. Unless they are very rare, they are parts of single
    characters at the edges of words, and no more than the whole ones.
    """
    if _decodes(data, "utf-8"):
        return True
    text = data.decode("utf-8", "surrogateescape")
    broken = list(_BROKEN.finditer(text))
    whole = [i for i, c in enumerate(text) if c > "\x7f" and not _BROKEN.match(c)]
    if not whole or not all(_is_plausible(text, i) for i in whole):
        return False
    inside = re.search(rf"\w{_BROKEN.pattern}\w", text)
    pieces = "".join(found[0] for found in broken).encode("utf-8", "surrogateescape")
    few = not inside and len(pieces.decode("utf-8", "replace")) <= min(len(whole), len(broken))
    return few or _MOSTLY * len(broken) <= len(whole)


def _is_plausible(text: str, i: int) -> bool:
    """Whether the character at `i`, which is not ASCII, occurs there in texts.

    Code pages that are read as UTF-8 give controls, rare letters, and letters of other scripts within English words.
    """
    c = text[i]
    if category(c) in ("Cc", "Cn", "Co") or "\u0180" <= c <= "\u02ff":
        return False
    around = (text[max(i - 1, 0) : i], text[i + 1 : i + 2])
    return not c.isalpha() or is_latin(c) or not any(x.isascii() and x.isalpha() for x in around)


def is_latin(c: str) -> bool:
    """Whether a character is ASCII or a Latin letter."""
    return c < "\u0250" or "\u1e00" <= c < "\u1f00"


def _guessed(data: bytes) -> Encoding:
    """The likeliest legacy code page, or ASCII with opaque bytes if none fits."""
    # Pure ASCII lines are no evidence of a code page.
    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    codec = next((codec for codec in _order(telling) if _decodes(data, codec)), _UNKNOWN)
    return Encoding(codec, guess=True)


def _order(telling: bytes) -> list[str]:
    """Code pages in order of likelihood, by the lines beyond ASCII."""
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in telling)
    if letters > sum(byte > 127 for byte in telling):
        # charset_normalizer takes a lone curly quote in an English file for Japanese.
        fits = {codec: _fit(telling, codec) for codec in _LATIN}
        return sorted((codec for codec in fits if fits[codec] >= _FIT), key=lambda codec: -fits[codec])
    from charset_normalizer import from_bytes

    best = from_bytes(telling, cp_isolation=_NOT_LATIN).best()
    return [best.encoding] if best is not None else []


def _fit(telling: bytes, codec: str) -> float:
    """Share of the non-ASCII characters that are signs, or letters of the code page's languages as words have them."""
    text = telling.decode(codec, "replace")
    beyond = [(text[max(i - 1, 0) : i], c) for i, c in enumerate(text) if c > "\x7f"]
    good = (c in _SIGNS or (c.lower() in _LATIN[codec] and not (left.islower() and c.isupper())) for left, c in beyond)
    return sum(good) / len(beyond)


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
