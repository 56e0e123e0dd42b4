"""Decode and encode files so that all unchanged bytes survive.

The encoding is that of the byte order mark, or the one that the user names, or UTF-8, or what markup declares, or else
a guess. Where it is a guess, only ASCII changes, and letters whose case changes alike in all likely encodings: most
Latin code pages have the capitals of the bytes E0 to FE at C0 to DE.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, field
from encodings.aliases import aliases
from unicodedata import category

from cappunc_cli.document.labels import same_letters
from cappunc_cli.errors import BadInput, WrongUsage, nearest

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
_BALTIC = "āąčēęėģīįķļņšūųžõäöüß"
#: Latin code pages and the non-ASCII letters of their languages; the first wins a tie. cp1254 reads ISO 8859-9, too.
_LATIN = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": "çğıöşüâîû",
    "cp1257": _BALTIC,
    "iso8859_13": _BALTIC,
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
}
#: Those of Cyrillic and Greek, and the letters that make up most of a text of any of their languages.
_CYRILLIC, _GREEK = "оеаинтсрвлкмдпу", "αοιετσνηυρπκμλςάόίέή"
_FREQUENT = {
    **dict.fromkeys(("cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866", "mac_cyrillic"), _CYRILLIC),
    **dict.fromkeys(("cp1253", "iso8859_7", "mac_greek"), _GREEK),
}
#: The other legacy code pages that occur in subtitles and transcripts.
_NOT_LATIN = ["cp1251", "cp1253", "cp1255", "cp1256", "gb18030", "big5", "cp932", "cp949"]
# Signs that are at the same bytes in all Latin code pages, and so do not distinguish them.
_SIGNS = frozenset("“”„‘’‚–—…«»‹›¿¡€£°§©®•´·\u00a0")
# The codec of last resort: ASCII, with all other bytes kept as they are. latin-1 would turn bytes of other scripts into
# letters, whose case might be changed.
_UNKNOWN = "ascii"
#: Most bytes from which a code page is guessed, and the least share of plausible characters in a likely one.
_SAMPLE, _FIT = 64 * 1024, 0.7
#: Code pages of characters of two bytes. Hardly any text in single bytes is valid in one of them; in Shift JIS one in
#: KOI8-R is, as Katakana.
_TWO_BYTES = ("euc_jp", "euc_kr", "big5", "gb2312")
#: From this many characters on, only code pages are likely whose share is at most so much lower than the best, and in
#: which at most this share of the characters is not where words have them.
_EVIDENCE, _NEAR, _ODD = 60, 0.15, 0.005
# The declaration at the head of markup: `encoding` in XML, `charset` in HTML and SAMI.
_DECLARED = re.compile(
    rb"""\A\s*<[^\0]{0,1000}?(?:encoding|charset)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
#: A binary format: each byte is a character to its reader; the reader knows the code table.
_EBU_STL = re.compile(rb"[0-9]{3}STL[0-9]{2}\.")
#: What is left of characters that were cut in two: U+DC80 to U+DCFF stand for bytes that are not UTF-8.
_BROKEN = re.compile("[\udc80-\udcff]+")
#: A file with at most one broken byte sequence in so many characters is UTF-8, whatever the broken ones look like.
_MOSTLY = 20
#: Python codecs that are not encodings of text files.
_NOT_FOR_FILES = frozenset(("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem"))
_JAPANESE = ("iso2022_jp_2004", "iso2022_jp_2", "iso2022_jp_ext")
#: Encodings that switch by escape sequences to characters made of ASCII bytes, with a pattern for these sequences.
_SHIFTED = (
    (re.compile(rb"\x1b\$\)C"), ("iso2022_kr",)),
    # Not ESC ( B, which terminal output has, too.
    (re.compile(rb"\x1b(?:\$[@AB]|\$\([A-Z]|\([IJ])"), ("iso2022_jp", *_JAPANESE)),
    (re.compile(rb"~\{(?:[!-w][!-~])+~\}"), ("hz",)),
)
#: What such ASCII bytes have, and those of UTF-7; what other bytes than those of UTF-8 may begin with or have.
_ESCAPES = re.compile(rb"\x1b|~\{|\+")
_OTHER = re.compile(rb"\A(?:\xef\xbb\xbf|[\xfe\xff]|[0-9]{3}STL)|[\0\x1b+]|~\{")
NAMING = "name it with --encoding"


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file: a Python codec and its byte order mark, or b''.

    If the codec is a `guess`, characters that are not ASCII may be others than they seem. `likely` are the code pages
    of single bytes that it may be, itself included; () if it may be any.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    guess: bool = field(default=False, compare=False)
    likely: tuple[str, ...] = field(default=(), compare=False)
    #: The error handler that preserves bytes which the codec cannot decode.
    errors: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        errors = "strict"
        if self.codec.startswith(("utf-16", "utf-32")):
            errors = "surrogatepass"
        elif not self.codec.startswith(("utf-7", "iso2022", "hz")):
            is_single = self.codec != "utf-8" and len(bytes(range(256)).decode(self.codec, "replace")) == 256
            errors = "surrogateescape" if self.codec == "utf-8" or is_single else errors
        object.__setattr__(self, "errors", errors)  # frozen

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
        letters = "letters that change alike in all likely encodings" if self.likely else "ASCII letters"
        return f"{read}: only {letters} and ASCII marks change; {NAMING}"

    def recases(self, old: str, new: str) -> bool:
        """Whether a character and its new one differ in case in all likely code pages."""
        if not self.likely or not self.has(new):
            return False
        pairs = ([c.encode(self.codec, self.errors).decode(one, "replace") for c in (old, new)] for one in self.likely)
        return all(same_letters(*pair) for pair in pairs)

    def has(self, character: str) -> bool:
        """Whether the encoding has a character."""
        try:
            character.encode(self.codec, self.errors)
        except UnicodeEncodeError:
            return False
        return True


UTF_8 = Encoding()


def named_codec(name: str) -> str:
    """Python's name of an encoding of text files that somebody has named. Raises WrongUsage."""
    codec = "undefined"
    with suppress(LookupError, UnicodeError):
        "".encode(name)  # LookupError for base64 and the like
        codec = codecs.lookup(name).name.removesuffix("-sig")
    if codec.replace("-", "_") in _NOT_FOR_FILES:
        raise WrongUsage(f"{name!r} is not a known text encoding{nearest(name, ['utf8', *aliases, *aliases.values()])}")
    return codec


def decode(data: bytes, codec: str | None = None) -> tuple[str, Encoding]:
    """The text and encoding of a file, such that `encode(*decode(data)) == data`.

    The encoding is that of the byte order mark unless it is plainly wrong, else `codec`, else it is detected. Line ends
    are kept; the byte order mark is not part of the text. Raises BadInput for bytes that are not text (a video, half a
    UTF-16 character) or not valid in the codec.
    """
    if codec is None and not _OTHER.search(data):
        with suppress(UnicodeDecodeError):
            return data.decode(), UTF_8
    bom, marked = next((one for one in _BOMS if data.startswith(one[0])), (b"", ""))
    if marked == "utf-8" and not _is_utf8(data):
        encoding = Encoding(codec or _UNKNOWN, bom, guess=codec is None)
    elif marked:
        encoding = Encoding(marked, bom)
    elif _EBU_STL.match(data):
        encoding = Encoding("latin-1")
    elif codec is None:
        encoding = _detected(data)
    else:
        encoding = Encoding(f"{codec}-le" if codec in ("utf-16", "utf-32") else codec)
    try:
        text = data[len(bom) :].decode(encoding.codec, encoding.errors)
    except UnicodeDecodeError as error:
        raise BadInput(f"broken {encoding.codec} text at byte {error.start + len(bom)}") from error
    with suppress(UnicodeEncodeError):
        # Some East Asian code pages have two codes for a character.
        if encoding.codec == "utf-8" or encode(text, encoding) == data:
            return text, encoding
    raise BadInput(f"its {encoding.codec} text cannot be written back unchanged")


def encode(text: str, encoding: Encoding) -> bytes:
    """The bytes of a text; raises UnicodeEncodeError for characters that `writable` would replace."""
    return encoding.bom + text.encode(encoding.codec, encoding.errors)


def _returns(data: bytes, codec: str) -> bool:
    """Whether data can be decoded and written back unchanged."""
    try:
        return data.decode(codec).encode(codec) == data
    except UnicodeError:
        return False


def _detected(data: bytes) -> Encoding:
    """The encoding of bytes without a byte order mark; raises BadInput if they are no text."""
    if data.isascii() and _ESCAPES.search(data) and (codec := _shifted(data)):
        return Encoding(codec)
    if b"\0" in data:
        head = data[:1024]
        for side, codec in ((1, "utf-16-le"), (0, "utf-16-be")):  # nearly every other byte is zero
            zeros, others = head[side::2].count(0), head[1 - side :: 2].count(0)
            if len(data) % 2 == 0 and zeros > 0.35 * len(head) and not others:
                return Encoding(codec)
        if _BROKEN.search(data.decode("utf-8", "surrogateescape")):
            raise BadInput("is not a text file")
    if _is_utf8(data):
        return UTF_8
    if found := _DECLARED.match(data):
        with suppress(WrongUsage):
            codec = named_codec(found[1].decode())
            if not codec.startswith("utf") and _returns(data, codec):
                return Encoding(codec)
    likely = _guessed(data)
    codec = likely[0] if likely else _guessed_from_few(data)
    return Encoding(codec, guess=True, likely=tuple(likely))


def _shifted(data: bytes) -> str:
    """The codec of ASCII bytes that are not ASCII text, or ""; raises BadInput if they cannot be written back."""
    found = next((names for escape, names in _SHIFTED if escape.search(data)), ("utf-7",) if _is_utf7(data) else ())
    for codec in found:
        if _returns(data, codec):
            return codec
    if found:
        name = found[0].replace("iso2022_", "ISO-2022-").upper()
        raise BadInput(f"looks like {name} text that cannot be written back unchanged; convert it to UTF-8")
    return ""


def _is_utf7(data: bytes) -> bool:
    """Whether each `+` begins a valid UTF-7 sequence, and these contain plausible letters and signs."""
    runs = data.count(b"+") - data.count(b"+-")
    try:
        beyond = [c for c in data.decode("utf-7") if c > "\x7f"] if runs else []
    except UnicodeDecodeError:
        return False
    letters = [c for c in beyond if c.isalpha()]
    # A byte order mark is a format character.
    plausible = all(c.isalpha() or category(c)[0] in "MPSZ" or category(c) in ("Cc", "Cf") for c in beyond)
    # Any three Base64 letters may decode to one of 20,000 Chinese characters.
    return bool(letters) and plausible and (runs > 2 or all(c < "\u2e80" for c in letters))


def _is_utf8(data: bytes) -> bool:
    """Whether data is UTF-8, or was before a few of its characters were cut in two, as by tools that cut lines.

    All other characters must be plausible, and broken ones be rare. Unless they are very rare, they are parts of single
    characters at the edges of words, and no more than the whole ones.
    """
    text = data.decode("utf-8", "surrogateescape")
    broken = _BROKEN.findall(text)
    if not broken:
        return True
    whole = [i for i, c in enumerate(text) if c > "\x7f" and not _BROKEN.match(c)]
    if not whole or not all(_is_plausible(text, i) for i in whole):
        return False
    inside = re.search(rf"\w{_BROKEN.pattern}\w", text)
    pieces = "".join(broken).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    few = not inside and len(pieces) <= min(len(whole), len(broken))
    return few or _MOSTLY * len(broken) <= len(whole)


def _is_plausible(text: str, i: int) -> bool:
    """Whether the character at `i` (not ASCII) occurs there in texts.

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


def _telling(data: bytes) -> tuple[bytes, bool]:
    """The lines that are not pure ASCII, which is no evidence of a code page, and whether they are mostly ASCII."""
    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    return telling, sum(byte < 128 and chr(byte).isalpha() for byte in telling) > sum(byte > 127 for byte in telling)


def _guessed(data: bytes) -> list[str]:
    """All likely code pages of single bytes, the likeliest first; [] if these are too few or no evidence."""
    telling, latin = _telling(data)
    if sum(byte > 127 for byte in telling) < _EVIDENCE or any(_returns(data, codec) for codec in _TWO_BYTES):
        return []
    pages = _LATIN if latin else _FREQUENT
    fits = {codec: _fit(telling, codec, pages[codec], _ODD) for codec in pages if _returns(data, codec)}
    least = max(_FIT, max(fits.values(), default=0.0) - _NEAR)
    return sorted((codec for codec in fits if fits[codec] >= least), key=lambda codec: -fits[codec])


def _guessed_from_few(data: bytes) -> str:
    """The likeliest legacy code page, or ASCII with opaque bytes if none fits."""
    telling, latin = _telling(data)
    if latin:
        # charset_normalizer takes a lone curly quote in an English file for Japanese.
        fits = {codec: _fit(telling, codec, known) for codec, known in _LATIN.items()}
        likely = sorted((codec for codec in fits if fits[codec] >= _FIT), key=lambda codec: -fits[codec])
    else:
        from charset_normalizer import from_bytes

        best = from_bytes(telling, cp_isolation=_NOT_LATIN).best()
        likely = [] if best is None else [best.encoding]
    return next((codec for codec in likely if _returns(data, codec)), _UNKNOWN)


def _fit(telling: bytes, codec: str, known: str, most_odd: float = 1) -> float:
    """Share of the non-ASCII characters that are signs, or `known` letters as words have them.

    0 if more than `most_odd` of them are capitals, or neither letters nor such signs, right after a letter.
    """
    text = telling.decode(codec, "replace")
    beyond = [(text[max(i - 1, 0) : i], c) for i, c in enumerate(text) if c > "\x7f"]
    good = (c in _SIGNS or (c.lower() in known and not (left.islower() and c.isupper())) for left, c in beyond)
    odd = (left.islower() and not c.islower() and c not in _SIGNS for left, c in beyond)
    return 0.0 if most_odd < 1 and sum(odd) > most_odd * len(beyond) else sum(good) / len(beyond)
