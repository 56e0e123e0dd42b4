"""Which changes are safe in a text whose legacy code page is a guess.

A byte may be a different letter in another code page, and its upper case a different byte. So the text is decoded with
every code page in use, and a letter may change its case only if its other case is the same byte in all code pages in
which the text looks like text. All other letters, and signs that may be letters, are kept.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from unicodedata import category

from cappunc_cli.document.labels import strip

#: Single-byte code pages, by whether 0x80 to 0x9F are signs (or controls) or letters in them.
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
#: Signs that `fix` may add to or remove from a word, or that separate words.
_SIGNS = _OPENING | _CLOSING | _EITHER | _DASHES | {_APOSTROPHE, "\xa0"}
#: Letters in Unicode that do not occur in words.
_NO_LETTERS = frozenset("ªºµƒˆ˜ˇ˘")
#: Signs that may follow a word without a space.
_BEHIND = frozenset("®™©°ªº²³")
_ELISION = re.compile(
    r"(?i)(?:n’t|’(?:s|re|ll|ve|d|m|em|n|all))(?![^\W_])|(?<![^\W_])(?:[dljmnstc]|qu|un|all|dell|nell)’"
)
NAMING = "name it with --encoding"
#: Largest share of non-ASCII characters in implausible positions, and smallest share of signs in plausible ones.
_ODD, _PROPER = 0.03, 0.8
#: Smallest share of signs in positions where no capital can be: an opening quotation mark may be a word's capital.
_FIRM = 0.25
#: ASCII replacements of signs that an encoding lacks.
SPELLINGS = {"…": "...", "—": "--", "–": "-", "\u00a0": " ", "\u202f": " ", "¿": "", "¡": ""}
SPELLINGS |= dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚‹›", "'")


@dataclass(frozen=True, slots=True)
class Guess:
    """Which changes are safe in a text whose `codec` is a guess."""

    codec: str
    #: Non-ASCII letters whose case may change.
    cased: frozenset[str] = frozenset()
    #: Non-ASCII signs that may be added.
    marks: frozenset[str] = frozenset()
    #: Whether the non-ASCII signs of the text are certainly signs, which may be removed.
    signs: bool = False
    #: Whether ASCII letters are certainly characters of their own, rather than the second byte of another one.
    alone: bool = True
    #: Whether some letters or signs must be kept.
    frozen: bool = True

    @property
    def note(self) -> str:
        """A message about the guess, to follow the name of the file."""
        if self.codec == "ascii":
            return f"unknown encoding, all but ASCII is kept; {NAMING}"
        kept = ", ambiguous letters keep their case" if self.frozen else ""
        return f"read as {self.codec}, which is a guess{kept}; {NAMING}"

    def limit(self, old: str, new: str) -> str:
        """A word's new text, limited to changes that are safe."""
        if old == new:
            return new
        (bare, old_label), (new_bare, label) = strip(old), strip(new)
        if len(bare) != len(new_bare):
            return old
        old_core, core = _core(old, old_label.before, old_label.after), _core(new, label.before, label.after)
        left = f"{old_label.before[-1:] or ' '}{old_core}"
        kept = [b if self._may_change(c, a, b) else a for c, a, b in zip(left[:-1], old_core, core, strict=True)]
        before = label.before if self.signs or old_label.before.isascii() else old_label.before
        after = label.after if self.signs or old_label.after.isascii() else old_label.after
        text = f"{self._spelled(old_label.before, before)}{''.join(kept)}{self._spelled(old_label.after, after)}"
        return text if strip(text)[0] == bare else old

    def _may_change(self, left: str, old: str, new: str) -> bool:
        """Whether a letter that follows the character `left` may change."""
        if old.isascii():
            return new.isascii() and (self.alone or left.isascii())
        return old in self.cased and not new.isascii()

    def _spelled(self, old: str, new: str) -> str:
        """The `new` marks on a side of a word, with unsafe non-ASCII signs replaced unless they are among the `old`."""
        existing = list(old)
        result = []
        for c in new:
            if c in existing:
                existing.remove(c)
            elif not c.isascii() and c not in self.marks:
                c = SPELLINGS.get(c, "")
            result.append(c)
        return "".join(result)

    def same_bytes(self, source: bytes, output: bytes) -> bool:
        """Whether all bytes that are not safe to change are the same in source and output."""
        return self._uncertain(source) == self._uncertain(output)

    def _uncertain(self, data: bytes) -> bytes:
        """The data without ASCII and safe marks, and with the case of safe letters folded."""
        fold, removed = bytearray(range(256)), bytearray(range(128))
        if self.codec not in ("ascii", *_TWO_BYTES):
            for c in self.cased:
                low, high = (case.encode(self.codec) for case in (c.lower(), c.upper()))
                fold[high[0]] = low[0]
            removed += b"".join(c.encode(self.codec) for c in self.marks)
        return data.translate(bytes(fold), bytes(removed))


def judge(telling: bytes, codec: str) -> Guess:
    """The changes that are safe in a text whose guessed encoding is `codec`; `telling` are its non-ASCII lines."""
    if codec in (*_TWO_BYTES, "ascii"):
        # Two characters in one of them may be a single one in another.
        return Guess(codec, alone=False)
    tokens = Counter(_TOKEN.findall(telling))
    total, proper, firm = _signs(_read(tokens, codec), codec, range(0x80, 0xA0))
    windows = total > 0 and proper >= _PROPER * total and firm >= _FIRM * total
    if not windows and any(_is_east_asian(telling, two) for two in _TWO_BYTES):
        return Guess(codec, alone=False)
    pages = [p for p in _SIGNS_THERE + _LETTERS_THERE if not (windows and p in _LETTERS_THERE) and _is_text(tokens, p)]
    if codec not in pages:
        return Guess(codec)
    used = sorted({bytes([b]).decode(codec) for b in set(telling) if b > 0x7F})
    letters = [c for c in used if c.isalpha() and c not in _NO_LETTERS]
    cased = frozenset(c for c in letters if all(_same_pair(c, codec, page) for page in pages))
    total, proper, _ = _signs(_read(tokens, codec), codec, range(0x80, 0x100))
    letters_there = [page for page in pages if page in _LETTERS_THERE]
    doubtful = any(_is_letter_in(c, codec, page) for c in used if c in _SIGNS for page in letters_there)
    signs = proper >= _PROPER * total and not doubtful
    marks = frozenset(c for c in _SIGNS if _is_same(c, codec, pages) or (signs and c in used))
    frozen = not signs or any(c not in cased and c.swapcase() != c for c in letters)
    return Guess(codec, cased, frozenset(c for c in marks if _byte(c, codec)), signs, frozen=frozen)


@cache
def is_single(codec: str) -> bool:
    """Whether a code page has single-byte characters only."""
    # Each lookup loads a module, so only do it for files that need it.
    pages = (*_SIGNS_THERE, *_LETTERS_THERE, "latin-1")
    return codecs.lookup(codec).name in {codecs.lookup(page).name for page in pages}


def likely(telling: bytes, codecs: Iterable[str]) -> list[str]:
    """Those of the code pages, in order, in which the text's non-ASCII lines look like text."""
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
                own = own or (c.isalpha() and not is_latin(c))
    # The Arabic code page also has French letters, but a text in it has Arabic ones.
    return odd <= _ODD * seen and (own or not _has_script(codec))


@cache
def _has_script(codec: str) -> bool:
    """Whether most letters of a code page are not Latin."""
    letters = [c for c in bytes(range(128, 256)).decode(codec, "ignore") if c.isalpha()]
    return 2 * sum(map(is_latin, letters)) < len(letters)


def is_latin(c: str) -> bool:
    """Whether a character is ASCII or a Latin letter."""
    return c < "\u0250" or "\u1e00" <= c < "\u1f00"


def _is_odd(text: str, i: int) -> bool:
    """Whether the character at `i` is implausible there in words of any language."""
    c, left, right = text[i], text[i - 1 : i] if i else "", text[i + 1 : i + 2]
    kind = category(c)
    if c == "\ufffd" or (kind in ("Cc", "Cn", "Co", "So", "Sm") and c not in _BEHIND):
        return True
    if kind[0] == "M":
        return not left.isalpha()
    if not c.isalpha() or c in _NO_LETTERS:
        return _is_odd_sign(c, left, right)
    if not is_latin(c) and any(x.isascii() and x.isalpha() for x in (left, right)):
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
    """Number of signs in the texts, of those in plausible positions, and of those where no capital could be.

    `among` is the range of bytes in which signs are counted.
    """
    total = proper = firm = 0
    for text, count in texts:
        elided = {at for found in _ELISION.finditer(text) for at in range(*found.span())}
        for i, c in enumerate(text):
            if c in _SIGNS and (_byte(c, codec) or b"\0")[0] in among:
                left, right = text[i - 1 : i] if i else "", text[i + 1 : i + 2]
                belongs = i in elided or _is_proper(c, left, right)
                total += count
                proper += count * belongs
                firm += count * (belongs and (left.isalpha() or not right.isalpha()))
    return total, proper, firm


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
    """Whether a text may be in a double-byte code page."""
    try:
        text = telling.decode(codec)
    except UnicodeDecodeError:
        return False
    runs = re.findall(r"(.?)([^\x00-\x7f]+)", text, re.DOTALL)
    # In words of a Latin script, a non-ASCII letter usually follows an ASCII one.
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
    # A text with ¿ or ¡ is Spanish, and not in a code page that lacks them.
    others = (_byte(c, page) or (own if c in "¿¡" else None) for page in pages)
    return own is not None and all(other == own for other in others)
