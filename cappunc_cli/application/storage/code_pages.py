"""What is certain of a text in a code page that nobody has named.

The same bytes are `šest` in one code page and `Ľest` is what they would be in capitals in another. So a text is read in
every code page that is in use; in those in which it looks like text at all, a letter's other case must be the same
byte. Letters of which that is not so, and signs that may be letters, stay as they are.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from unicodedata import category

from cappunc_cli.transcript.labels import strip

#: Code pages of which one byte is one character, by whether 0x80 to 0x9F are letters in them.
_SIGNS_THERE = (
    "cp1252", "cp1250", "cp1254", "cp1257", "cp1251", "cp1253", "cp1255", "cp1256", "cp1258", "cp874",
    "iso8859_2", "iso8859_3", "iso8859_4", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_9",
    "iso8859_10", "iso8859_13", "iso8859_14", "iso8859_15", "iso8859_16",
)  # fmt: skip
_LETTERS_THERE = (
    "mac_roman", "mac_latin2", "mac_croatian", "mac_romanian", "mac_turkish", "mac_iceland", "mac_greek",
    "mac_cyrillic", "koi8_r", "koi8_u", "cp437", "cp737", "cp775", "cp850", "cp852", "cp855", "cp857", "cp858",
    "cp860", "cp861", "cp862", "cp863", "cp864", "cp865", "cp866", "cp869",
)  # fmt: skip
#: 0x80 to 0x9F.
_HIGH_CONTROLS = frozenset(bytes([byte]) for byte in range(0x80, 0xA0))
#: Code pages in which the second byte of a character may be an ASCII letter.
_TWO_BYTES = ("cp932", "big5", "gb18030", "cp949")

_TOKEN = re.compile(rb"[^\s]*[\x80-\xff][^\s]*")
_OPENING, _CLOSING, _EITHER = frozenset("“„‘‚‹¿¡"), frozenset("”›"), frozenset("«»")
_APOSTROPHE = "’"
_DASHES = frozenset("–—…")
#: What `fix` may put beside a word, take away or take for the end of one.
_SIGNS = _OPENING | _CLOSING | _EITHER | _DASHES | {_APOSTROPHE, "\xa0"}
#: Letters in Unicode, but no letters of words.
_NO_LETTERS = frozenset("ªºµƒˆ˜ˇ˘")
#: Signs that stand at the end of a word.
_BEHIND = frozenset("®™©°ªº²³")
_ELISION = re.compile(
    r"(?i)(?:n’t|’(?:s|re|ll|ve|d|m|em|n|all))(?![^\W_])|(?<![^\W_])(?:[dljmnstc]|qu|un|all|dell|nell)’"
)
NAMING = "--encoding NAME says what it is"
#: Share of a text's characters that may stand where they do not belong, and of its signs that must where they do.
_ODD, _PROPER = 0.03, 0.8
#: Share of them that must stand where no capital can: what opens a quotation may be the capital of a word.
_FIRM = 0.25
#: How signs are spelled where they cannot be written.
SPELLINGS = {"…": "...", "—": "--", "–": "-", "\u00a0": " ", "\u202f": " ", "¿": "", "¡": ""}
SPELLINGS |= dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚‹›", "'")


@dataclass(frozen=True, slots=True)
class Guess:
    """What may be done to a text whose `codec` is a guess.

    `cased` are the letters beyond ASCII whose case may change, `marks` the signs beyond ASCII that may be added. Its
    own `signs` are surely signs, or stay where they are. Not `alone`: an ASCII letter behind another character may be
    the second half of that.
    """

    codec: str
    cased: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    signs: bool = False
    alone: bool = True
    frozen: bool = True

    @property
    def note(self) -> str:
        """One line for the user, to stand behind the name of the file."""
        if self.codec == "ascii":
            return f"its encoding is not known, all but ASCII stays as it is; {NAMING}"
        kept = ", letters that may be others keep their case" if self.frozen else ""
        return f"read as {self.codec}, which is a guess{kept}; {NAMING}"

    def limit(self, old: str, new: str) -> str:
        """A word's new text, with the changes alone that are sure to be what they seem."""
        if old == new:
            return new
        (bare, was), (wanted, label) = strip(old), strip(new)
        if len(bare) != len(wanted):
            return old
        core, shown = _core(old, was.before, was.after), _core(new, label.before, label.after)
        left = f"{was.before[-1:] or ' '}{core}"
        kept = [b if self._may_change(c, a, b) else a for c, a, b in zip(left[:-1], core, shown, strict=True)]
        before = label.before if self.signs or was.before.isascii() else was.before
        after = label.after if self.signs or was.after.isascii() else was.after
        text = f"{self._spelled(was.before, before)}{''.join(kept)}{self._spelled(was.after, after)}"
        return text if strip(text)[0] == bare else old

    def _may_change(self, left: str, old: str, new: str) -> bool:
        """Whether a letter that stands behind the character `left` may become another one."""
        if old.isascii():
            return new.isascii() and (self.alone or left.isascii())
        return old in self.cased and not new.isascii()

    def _spelled(self, old: str, new: str) -> str:
        """What stands around a word, without signs beyond ASCII that nobody is sure of, but those that it had."""
        had = list(old)
        result = []
        for c in new:
            if c in had:
                had.remove(c)
            elif not c.isascii() and c not in self.marks:
                c = SPELLINGS.get(c, "")
            result.append(c)
        return "".join(result)

    def same_bytes(self, source: bytes, output: bytes) -> bool:
        """Whether what is not sure is in the output as it is in the source, byte by byte."""
        return self._unsure(source) == self._unsure(output)

    def _unsure(self, data: bytes) -> bytes:
        fold, gone = bytearray(range(256)), bytearray(range(128))
        if self.codec not in ("ascii", *_TWO_BYTES):
            for c in self.cased:
                low, high = (case.encode(self.codec) for case in (c.lower(), c.upper()))
                fold[high[0]] = low[0]
            gone += b"".join(c.encode(self.codec) for c in self.marks)
        return data.translate(bytes(fold), bytes(gone))


def judge(telling: bytes, codec: str) -> Guess:
    """What is sure of a text whose lines beyond ASCII are `telling`, if `codec` is a guess."""
    if codec in (*_TWO_BYTES, "ascii"):
        # What is a character and a letter in one of them may be one character in another.
        return Guess(codec, alone=False)
    tokens = Counter(_TOKEN.findall(telling))
    there, proper, firm = _signs(_read(tokens, codec), codec, range(0x80, 0xA0))
    windows = there > 0 and proper >= _PROPER * there and firm >= _FIRM * there
    if not windows and any(_is_east_asian(telling, two) for two in _TWO_BYTES):
        return Guess(codec, alone=False)
    pages = [p for p in _SIGNS_THERE + _LETTERS_THERE if not (windows and p in _LETTERS_THERE) and _is_text(tokens, p)]
    if codec not in pages:
        return Guess(codec)
    used = sorted({bytes([b]).decode(codec) for b in set(telling) if b > 0x7F})
    letters = [c for c in used if c.isalpha() and c not in _NO_LETTERS]
    cased = frozenset(c for c in letters if all(_same_pair(c, codec, page) for page in pages))
    there, proper, _ = _signs(_read(tokens, codec), codec, range(0x80, 0x100))
    letters_there = [page for page in pages if page in _LETTERS_THERE]
    doubtful = any(_is_letter_in(c, codec, page) for c in used if c in _SIGNS for page in letters_there)
    signs = proper >= _PROPER * there and not doubtful
    marks = frozenset(c for c in _SIGNS if _is_same(c, codec, pages) or (signs and c in used))
    frozen = not signs or any(c not in cased and c.swapcase() != c for c in letters)
    return Guess(codec, cased, frozenset(c for c in marks if _byte(c, codec)), signs, frozen=frozen)


@cache
def is_single(codec: str) -> bool:
    """Whether a code page has one byte for a character."""
    # Each page that is looked up is a module to load, and few files are in any of them.
    pages = (*_SIGNS_THERE, *_LETTERS_THERE, "latin-1")
    return codecs.lookup(codec).name in {codecs.lookup(page).name for page in pages}


def likely(telling: bytes, codecs: Iterable[str]) -> list[str]:
    """The code pages of which the text, by how its lines beyond ASCII read, can be; in their order."""
    tokens = Counter(_TOKEN.findall(telling))
    return [codec for codec in codecs if _is_text(tokens, codec)]


def _core(text: str, before: str, after: str) -> str:
    return text[len(before) : len(text) - len(after)]


def _read(tokens: Mapping[bytes, int], codec: str) -> list[tuple[str, int]]:
    return [(token.decode(codec, "replace"), count) for token, count in tokens.items()]


def _is_text(tokens: Mapping[bytes, int], codec: str) -> bool:
    """Whether the tokens look like words in a code page."""
    odd = seen = 0
    own = False
    for text, count in _read(tokens, codec):
        for i, c in enumerate(text):
            if c > "\x7f":
                seen += count
                odd += count * _is_odd(text, i)
                own = own or (c.isalpha() and not _is_latin(c))
    # Arabic's code page has French letters as well, but no text in it is without Arabic.
    return odd <= _ODD * seen and (own or not _has_script(codec))


@cache
def _has_script(codec: str) -> bool:
    """Whether most letters of a code page are not Latin."""
    letters = [c for c in bytes(range(128, 256)).decode(codec, "ignore") if c.isalpha()]
    return 2 * sum(map(_is_latin, letters)) < len(letters)


def _is_latin(c: str) -> bool:
    return c < "\u0250" or "\u1e00" <= c < "\u1f00"


def _is_odd(text: str, i: int) -> bool:
    """Whether a character is none that stands there in words of any language."""
    c, left, right = text[i], text[i - 1 : i] if i else "", text[i + 1 : i + 2]
    kind = category(c)
    if c == "\ufffd" or (kind in ("Cc", "Cn", "Co", "So", "Sm") and c not in _BEHIND):
        return True
    if kind[0] == "M":
        return not left.isalpha()
    if not c.isalpha() or c in _NO_LETTERS:
        return _is_odd_sign(c, left, right)
    if not _is_latin(c) and any(x.isascii() and x.isalpha() for x in (left, right)):
        return True
    if c.isupper():
        return left.islower()
    return left.isupper() and right.isupper() and c.upper() != c


def _is_odd_sign(c: str, left: str, right: str) -> bool:
    if c in _OPENING:
        return left.isalnum()
    if c in _CLOSING:
        return right.isalnum()
    if c in _DASHES or c == _APOSTROPHE or c in "\xa0\xad·":
        return False
    between = left.isalpha() and right.isalpha()
    return between or (left.isalpha() and c not in _BEHIND and c not in _EITHER)


def _signs(texts: Iterable[tuple[str, int]], codec: str, among: range) -> tuple[int, int, int]:
    """How many signs of a code page the texts have, how many stand where they belong, and where no capital can be."""
    there = proper = firm = 0
    for text, count in texts:
        elided = {at for found in _ELISION.finditer(text) for at in range(*found.span())}
        for i, c in enumerate(text):
            if c in _SIGNS and (_byte(c, codec) or b"\0")[0] in among:
                left, right = text[i - 1 : i] if i else "", text[i + 1 : i + 2]
                belongs = i in elided or _is_proper(c, left, right)
                there += count
                proper += count * belongs
                firm += count * (belongs and (left.isalpha() or not right.isalpha()))
    return there, proper, firm


def _is_proper(c: str, left: str, right: str) -> bool:
    if c in _OPENING:
        return not left.isalnum() and (right.isalnum() or right in ("", "¿", "¡"))
    if c in _CLOSING:
        return not right.isalnum() and left != ""
    if c in _EITHER:
        return left.isalnum() != right.isalnum() or not (left or right)
    if c == _APOSTROPHE:
        return not (left.isalnum() and right.isalnum())
    return c == "\xa0" or not left.isalnum() or (c == "…" and not right.isalnum())


def _is_east_asian(telling: bytes, codec: str) -> bool:
    """Whether a text may be one of a code page of two bytes a character."""
    try:
        text = telling.decode(codec)
    except UnicodeDecodeError:
        return False
    runs = re.findall(r"(.?)([^\x00-\x7f]+)", text, re.DOTALL)
    # In a word of Latin letters a letter beyond ASCII stands behind another one.
    within = sum(left.isascii() and left.islower() for left, _ in runs)
    return bool(2 * within <= len(runs))


def _byte(c: str, codec: str) -> bytes | None:
    try:
        return c.encode(codec)
    except UnicodeEncodeError:
        return None


def _is_letter_in(c: str, codec: str, page: str) -> bool:
    """Whether the byte of a sign is a letter in another code page."""
    own = _byte(c, codec) or b""
    return own in _HIGH_CONTROLS and own.decode(page, "replace").isalpha()


def _same_pair(c: str, codec: str, page: str) -> bool:
    """Whether the other case of a letter is the same byte in another code page."""
    other = c.swapcase()
    one, two = _byte(c, codec), _byte(other, codec) if len(other) == 1 else None
    if one is None or two is None or other.swapcase() != c or other == c:
        return False
    low, high = one.decode(page, "replace"), two.decode(page, "replace")
    return bool(low.swapcase() == high != low)


def _is_same(c: str, codec: str, pages: Iterable[str]) -> bool:
    """Whether all code pages have a sign at the same byte."""
    own = _byte(c, codec)
    # No Spanish text is in a code page that has not these two.
    others = (_byte(c, page) or (own if c in "¿¡" else None) for page in pages)
    return own is not None and all(other == own for other in others)
