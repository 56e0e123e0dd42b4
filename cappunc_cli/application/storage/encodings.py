"""Bytes to text and back, so that every byte that nobody changed survives."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from unicodedata import category

from cappunc_cli.application.storage import code_pages
from cappunc_cli.application.storage.code_pages import NAMING, SPELLINGS, Guess
from cappunc_cli.errors import BadInput
from cappunc_cli.transcript.labels import strip

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
#: Code pages that are so seldom that nothing is taken for them which may be one of the others.
_SELDOM = ("mac_roman", "cp850", "cp852")
# A file of markup says it in its head; `charset` is that of a web page and of SAMI.
_DECLARED = re.compile(
    rb"""\A\s*<[^\0]{0,1000}?(?:encoding|charset)\s*=\s*["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
#: Python's codecs that are no encoding of a text file.
_NO_FILES = frozenset(("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem"))
_JAPANESE = ("iso2022_jp", "iso2022_jp_2004", "iso2022_jp_2", "iso2022_jp_ext")
#: Encodings in which ASCII letters may be part of other characters, and what begins such a stretch.
_SHIFTED = (
    (re.compile(rb"\x1b\$\)C"), ("iso2022_kr",)),
    # Not ESC ( B, which terminals write as well.
    (re.compile(rb"\x1b(?:\$[@AB]|\$\([A-Z]|\([IJ])"), _JAPANESE),
    (re.compile(rb"~\{(?:[!-w][!-~])+~\}"), ("hz",)),
)
_UTF7 = re.compile(rb"\+([A-Za-z0-9+/]*)(-?)")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file spells its text: a Python codec name and the byte order mark, or b''."""

    codec: str = "utf-8"
    bom: bytes = b""
    #: What is sure of a code page that nobody has named; None where the codec is certain.
    guess: Guess | None = field(default=None, compare=False)

    @property
    def errors(self) -> str:
        """The error handler that keeps bytes which the codec does not know."""
        if self.codec in ("utf-8", _UNKNOWN) or (self.guess is None and code_pages.is_single(self.codec)):
            return "surrogateescape"
        return "surrogatepass" if self.codec.startswith(("utf-16", "utf-32")) else "strict"

    @property
    def note(self) -> str:
        """One line about what was guessed, "" where nothing was."""
        return self.guess.note if self.guess is not None else ""


UTF_8 = Encoding()


def named(name: str) -> str:
    """The codec that people call so; raises LookupError for none, and for one that is none of text files."""
    try:
        "".encode(name)  # LookupError for base64 and the like
    except UnicodeError as error:
        raise LookupError(name) from error
    codec = codecs.lookup(name).name.removesuffix("-sig")
    if codec.replace("-", "_") in _NO_FILES:
        raise LookupError(name)
    return codec


def decode(data: bytes, codec: str | None = None) -> tuple[str, Encoding]:
    """Text of a file and how to write it back: `encode(*decode(data)) == data`, always.

    A byte order mark says what the codec is, else `codec` does, and else what the file looks like. Line ends stay as
    they are; the byte order mark is no part of the text. Raises BadInput for bytes that are no text (a video, half a
    UTF-16 character), or none of this codec.
    """
    encoding = _sniff(data) if codec is None else _said(data, codec)
    try:
        text = data[len(encoding.bom) :].decode(encoding.codec, encoding.errors)
    except UnicodeDecodeError as error:
        raise BadInput(f"broken {encoding.codec} text at byte {error.start + len(encoding.bom)}") from error
    if encoding.codec != "utf-8" and _encoded(text, encoding) != data:
        # Some East Asian code pages spell one character in two ways.
        if encoding.guess is None:
            raise BadInput(f"some of its {encoding.codec} text could not be written back byte by byte")
        encoding = Encoding(_UNKNOWN, guess=Guess(_UNKNOWN, alone=False))
        text = data.decode(_UNKNOWN, encoding.errors)
    return text, encoding


def _encoded(text: str, encoding: Encoding) -> bytes | None:
    try:
        return encode(text, encoding)
    except UnicodeEncodeError:
        return None


def _said(data: bytes, codec: str) -> Encoding:
    marked = next((Encoding(own, bom) for bom, own in _BOMS if data.startswith(bom)), None)
    if marked is not None:
        return marked
    return Encoding(f"{codec}-le" if codec in ("utf-16", "utf-32") else codec)


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
        if character not in SPELLINGS:
            raise BadInput(f"{character!r} cannot be written in {encoding.codec}, the encoding of the file") from None
        return SPELLINGS[character]
    return character


def limited(old: Sequence[str], new: Sequence[str], encoding: Encoding) -> Sequence[str]:
    """The new texts of words, with the changes alone that are sure in an encoding that was guessed."""
    if encoding.guess is None and encoding.codec.startswith("utf"):
        return new
    limit = partial(_known, encoding) if encoding.guess is None else encoding.guess.limit
    return list(map(limit, old, new))


def _known(encoding: Encoding, old: str, new: str) -> str:
    """The new text, but for the case of letters whose other case the codec lacks: cp437 has ó and no Ó."""
    if old == new or new.isascii():
        return new
    (bare, was), (wanted, label) = strip(old), strip(new)
    if len(bare) != len(wanted):
        return new
    core = old[len(was.before) : len(old) - len(was.after)]
    shown = new[len(label.before) : len(new) - len(label.after)]
    kept = [b if _encoded(b, replace(encoding, bom=b"")) is not None else a for a, b in zip(core, shown, strict=True)]
    return f"{label.before}{''.join(kept)}{label.after}"


def refuse_unsure(guess: Guess, source: bytes, output: bytes) -> None:
    """Raises BadInput where the bytes of the result differ in what is not sure to be a letter or a mark."""
    if not guess.same_bytes(source, output):
        raise BadInput(f"its encoding is not certain, and more than ASCII would change; {NAMING}")


def _sniff(data: bytes) -> Encoding:
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return Encoding(codec, bom)
    ascii_alone = data.isascii()
    if ascii_alone and (shifted := _shifted(data)):
        return shifted
    proper = ascii_alone or _decodes(data, "utf-8")
    if b"\0" in data:
        wide = _without_mark(data)
        if wide.codec == "utf-8" and not proper:
            raise BadInput("is no text file")
        return wide
    if proper or _mostly_utf8(data):
        return UTF_8
    return _declared(data) or _guessed(data)


def _declared(data: bytes) -> Encoding | None:
    """What the head of a file of markup says, if that is so."""
    found = _DECLARED.match(data)
    try:
        codec = named(found[1].decode()) if found else ""
    except LookupError:
        return None
    if not codec or codec.startswith("utf") or not _decodes(data, codec):
        return None
    encoding = Encoding(codec)
    return encoding if encode(data.decode(codec), encoding) == data else None


def _shifted(data: bytes) -> Encoding | None:
    """Encodings of ASCII characters that are no ASCII; raises BadInput where it is surely one but none is known."""
    for begins, known in _SHIFTED:
        if begins.search(data):
            for codec in known:
                if _decodes(data, codec) and data.decode(codec).encode(codec, "replace") == data:
                    return Encoding(codec)
            name = known[0].replace("iso2022_", "ISO-2022-").upper()
            raise BadInput(f"looks like {name} text that could not be written back byte by byte; as UTF-8 it can")
    if b"+" not in data or not _is_utf7(data):
        return None
    if data.decode("utf-7").encode("utf-7") != data:
        raise BadInput("looks like UTF-7 text that could not be written back byte by byte; as UTF-8 it can")
    return Encoding("utf-7")


def _is_utf7(data: bytes) -> bool:
    """Whether each `+` begins a stretch of UTF-7, and these are letters and signs of languages."""
    runs = [found[1] for found in _UTF7.finditer(data) if found[1] or not found[2]]
    if not runs:
        return False
    try:
        shown = [b"+%b-" % run for run in runs]
        texts = [run.decode("utf-7") for run in shown]
        data.decode("utf-7")
    except UnicodeDecodeError:
        return False
    letters = [c for text in texts for c in text if c.isalpha()]
    signs = (c.isprintable() and not c.isalnum() for text in texts for c in text if not c.isalpha())
    if not all(texts) or not letters or any(map(str.isascii, letters)) or not all(signs):
        return False
    # Any three letters may be one of 20,000 Chinese characters.
    return len(runs) > 2 or all(c < "\u2e80" for c in letters)


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
    beyond_ascii = [c for c in data.decode("utf-8", "surrogateescape") if c > "\x7f"]
    torn = sum("\udc80" <= c <= "\udcff" for c in beyond_ascii)
    # Two bytes of a code page may be a character that Unicode has not assigned: Thai `อน` in cp874 is U+0379.
    proper = sum(category(c) not in ("Cn", "Cs") for c in beyond_ascii)
    return proper >= max(2, torn)


def _guessed(data: bytes) -> Encoding:
    """The likeliest legacy code page, or plain ASCII with opaque bytes when none fits."""
    # ASCII says nothing about the code page: lines that have more to say come first.
    telling = b"\n".join(line for line in data.splitlines() if not line.isascii())
    order = _order(telling[:_SAMPLE])
    codec = next((codec for codec in order if _decodes(data, codec)), _UNKNOWN)
    return Encoding(codec, guess=code_pages.judge(telling, codec))


def _order(telling: bytes) -> list[str]:
    """Code pages, the likeliest first."""
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in telling)
    if letters > sum(byte > 127 for byte in telling):
        # Asked about a lone curly quote in an English file, a guesser of languages says Japanese.
        order = sorted(_LATIN, key=lambda codec: -_fit(telling, codec))
        return code_pages.likely(telling, (*order, *_SELDOM)) or order
    from charset_normalizer import from_bytes

    best = from_bytes(telling, cp_isolation=_NOT_LATIN).best()
    return [best.encoding] if best is not None else []


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
