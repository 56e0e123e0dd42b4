"""Decode and encode files so that all unchanged bytes survive."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from unicodedata import category

from cappunc_cli.document.labels import strip
from cappunc_cli.errors import BadInput
from cappunc_cli.files import code_pages
from cappunc_cli.files.code_pages import NAMING, SPELLINGS, Guess

# UTF-32 LE first: its mark begins with that of UTF-16 LE.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Latin code pages and the non-ASCII letters of their languages; the first wins a tie.
_LATIN = {
    "cp1252": "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœß",
    "cp1250": "áâäăąćçčďđéęěëíîĺľłńňóôőöŕřśšşťţúůűüýźżžß",
    "cp1254": "çğıöşüâîû",
    "cp1257": "āąčēęėģīįķļņšūųžõäöüß",
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
#: Rare code pages, considered only if no other fits.
_RARE = ("mac_roman", "cp850", "cp852")
# The declaration at the head of markup: `encoding` in XML, `charset` in HTML and SAMI.
_DECLARED = re.compile(
    rb"""\A\s*<[^\0]{0,1000}?(?:encoding|charset)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
#: Half of a character beyond U+FFFF, as cut-off JSON has it; U+DC80 to U+DCFF stand for bytes that are not UTF-8.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
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


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a file: a Python codec and its byte order mark, or b''."""

    codec: str = "utf-8"
    bom: bytes = b""
    #: What is certain about a guessed code page; None if the codec itself is certain.
    guess: Guess | None = field(default=None, compare=False)

    @property
    def errors(self) -> str:
        """The error handler that preserves bytes which the codec cannot decode."""
        if self.codec in ("utf-8", _UNKNOWN) or (self.guess is None and code_pages.is_single(self.codec)):
            return "surrogateescape"
        return "surrogatepass" if self.codec.startswith(("utf-16", "utf-32")) else "strict"


UTF_8 = Encoding()


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


def decode(data: bytes, codec: str | None = None) -> tuple[str, Encoding]:
    """The text and encoding of a file, such that `encode(*decode(data)) == data`.

    The encoding is that of the byte order mark, else `codec`, else it is detected. Line ends are kept; the byte order
    mark is not part of the text. Raises BadInput for bytes that are not text (a video, half a UTF-16 character) or not
    valid in the codec.
    """
    encoding = next((Encoding(own, bom) for bom, own in _BOMS if data.startswith(bom)), None)
    if encoding is None and codec is not None:
        encoding = Encoding(f"{codec}-le" if codec in ("utf-16", "utf-32") else codec)
    elif encoding is None:
        encoding = _detected(data)
    try:
        text = data[len(encoding.bom) :].decode(encoding.codec, encoding.errors)
    except UnicodeDecodeError as error:
        raise BadInput(f"broken {encoding.codec} text at byte {error.start + len(encoding.bom)}") from error
    if encoding.codec != "utf-8" and _encoded(text, encoding) != data:
        # Some East Asian code pages have two codes for a character.
        if encoding.guess is None:
            raise BadInput(f"its {encoding.codec} text cannot be written back unchanged")
        encoding = Encoding(_UNKNOWN, guess=Guess(_UNKNOWN, alone=False))
        text = data.decode(_UNKNOWN, encoding.errors)
    return text, encoding


def _encoded(text: str, encoding: Encoding) -> bytes | None:
    try:
        return encode(text, encoding)
    except UnicodeEncodeError:
        return None


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


def writable(text: str, encoding: Encoding) -> str:
    """The text with characters that the codec lacks replaced by ASCII (`…` by `...`).

    Raises BadInput for a character without a replacement.
    """
    try:
        encode(text, encoding)
    except UnicodeEncodeError:
        return "".join([_spell(c, encoding) for c in text])
    return text


def is_in(character: str, encoding: Encoding) -> bool:
    """Whether the encoding has a character."""
    try:
        character.encode(encoding.codec, encoding.errors)
    except UnicodeEncodeError:
        return False
    return True


def _spell(character: str, encoding: Encoding) -> str:
    if is_in(character, encoding):
        return character
    if character not in SPELLINGS:
        raise BadInput(f"{character!r} cannot be written in {encoding.codec}, the encoding of the file")
    return SPELLINGS[character]


def limited(old: Sequence[str], new: Sequence[str], encoding: Encoding) -> Sequence[str]:
    """The new texts of words, limited to changes that the encoding can represent, or that are safe for a guess."""
    held = list(map(partial(_encodable, encoding), old, new))
    return held if encoding.guess is None else list(map(encoding.guess.limit, old, held))


def _encodable(encoding: Encoding, old: str, new: str) -> str:
    """The new text without letters that the codec lacks: cp437 has ó but not Ó, cp1250 has Ş but not Ș."""
    if old == new or new.isascii():
        return new
    (old_bare, old_label), (new_bare, label) = strip(old), strip(new)
    if len(old_bare) != len(new_bare):
        return new
    old_core = old[len(old_label.before) : len(old) - len(old_label.after)]
    core = new[len(label.before) : len(new) - len(label.after)]
    kept = [b if is_in(b, encoding) else _recased(a, b, encoding) for a, b in zip(old_core, core, strict=True)]
    return f"{label.before}{''.join(kept)}{label.after}"


def _recased(old: str, new: str, encoding: Encoding) -> str:
    """The old letter in the case of the new one, if the codec has it."""
    other = old.upper() if new.isupper() else old.lower()
    return other if len(other) == 1 and is_in(other, encoding) else old


def refuse_unsure(guess: Guess, source: bytes, output: bytes) -> None:
    """Raises BadInput if bytes differ that are not certainly letters or marks in the guessed encoding."""
    if not guess.same_bytes(source, output):
        raise BadInput(f"its encoding is uncertain and more than ASCII would change; {NAMING}")


def _detected(data: bytes) -> Encoding:
    """The encoding of bytes without a byte order mark; raises BadInput if they are no text."""
    is_ascii = data.isascii()
    if is_ascii and any(escape in data for escape in _ESCAPES) and (shifted := _shifted(data)):
        return shifted
    is_utf8 = is_ascii or _decodes(data, "utf-8")
    if b"\0" in data:
        wide = _utf16_without_bom(data)
        if wide.codec == "utf-8" and not is_utf8:
            raise BadInput("is not a text file")
        return wide
    if is_utf8 or _mostly_utf8(data):
        return UTF_8
    return _declared(data) or _guessed(data)


def _declared(data: bytes) -> Encoding | None:
    """The encoding that markup declares, if the file is valid in it."""
    found = _DECLARED.match(data)
    try:
        codec = codec_name(found[1].decode()) if found else ""
    except LookupError:
        return None
    if not codec or codec.startswith("utf") or not _decodes(data, codec):
        return None
    encoding = Encoding(codec)
    return encoding if encode(data.decode(codec), encoding) == data else None


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
    signs = (c.isprintable() and not c.isalnum() for text in texts for c in text if not c.isalpha())
    if not all(texts) or not letters or any(map(str.isascii, letters)) or not all(signs):
        return False
    # Any three Base64 letters may decode to one of 20,000 Chinese characters.
    return len(runs) > 2 or all(c < "\u2e80" for c in letters)


def _utf16_without_bom(data: bytes) -> Encoding:
    """UTF-16 if nearly every other byte is zero, otherwise UTF-8."""
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
    """Whether data is UTF-8 with some broken characters, as of tools that cut lines by bytes."""
    beyond_ascii = [c for c in data.decode("utf-8", "surrogateescape") if c > "\x7f"]
    broken = sum("\udc80" <= c <= "\udcff" for c in beyond_ascii)
    # Two bytes of a code page may decode to an unassigned character: Thai `อน` in cp874 is U+0379.
    valid = sum(category(c) not in ("Cn", "Cs") for c in beyond_ascii)
    return valid >= max(2, broken)


def _guessed(data: bytes) -> Encoding:
    """The likeliest legacy code page, or ASCII with opaque bytes if none fits."""
    # Pure ASCII lines are no evidence of a code page.
    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())
    order = _order(telling[:_SAMPLE])
    codec = next((codec for codec in order if _decodes(data, codec)), _UNKNOWN)
    return Encoding(codec, guess=code_pages.judge(telling, codec))


def _order(telling: bytes) -> list[str]:
    """Code pages in order of likelihood, by the lines beyond ASCII."""
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in telling)
    if letters > sum(byte > 127 for byte in telling):
        # charset_normalizer takes a lone curly quote in an English file for Japanese.
        order = sorted(_LATIN, key=lambda codec: -_fit(telling, codec))
        return code_pages.likely(telling, (*order, *_RARE)) or order
    from charset_normalizer import from_bytes

    best = from_bytes(telling, cp_isolation=_NOT_LATIN).best()
    return [best.encoding] if best is not None else []


def _fit(telling: bytes, codec: str) -> float:
    """Share of the non-ASCII characters that are letters of the code page's languages."""
    letters = [c.lower() for c in telling.decode(codec, "replace") if c > "\x7f" and c not in _SIGNS]
    return sum(c in _LATIN[codec] for c in letters) / len(letters) if letters else 1.0


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
