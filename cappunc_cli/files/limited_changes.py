"""Limit the changes of a file to what its encoding can represent, and to what is right if the encoding is a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cappunc_cli.document.labels import same_letters, strip
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.files.encodings import NAMING, Encoding

#: ASCII replacements of signs that an encoding lacks.
_SPELLINGS = {"…": "...", "—": "--", "–": "-", "\u00a0": " ", "\u202f": " ", "¿": "", "¡": ""}
_SPELLINGS |= dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚‹›", "'")
#: Characters that are not ASCII, each with a byte that may be the second half of the last one in East Asian code pages.
_UNCERTAIN = re.compile(rb"[\x80-\xff]+[@-~]?")


def writable(text: str, encoding: Encoding) -> str:
    """The text with characters that the codec lacks replaced by ASCII (`…` by `...`).

    Raises BadInput for a character without a replacement.
    """
    lacking = {c for c in set(text) if not encoding.has(c)}
    for c in lacking - _SPELLINGS.keys():
        raise BadInput(f"{c!r} cannot be written in {encoding.codec}, the encoding of the file")
    return text.translate({ord(c): _SPELLINGS[c] for c in lacking})


def surroundings(document: Document) -> list[tuple[str, str]]:
    """The characters before and after each word in the source; ("", "") for those without a place."""
    source = document.source
    spans = [(one.at, one.until) if one.at >= 0 else (0, len(source)) for one in document.words]
    return [(source[max(start - 1, 0) : start], source[stop : stop + 1]) for start, stop in spans]


def limit_changes(
    old: Sequence[str], new: Sequence[str], encoding: Encoding, around: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """The new texts of words, limited to changes that the encoding can represent, or that are safe for a guess.

    `around` are the characters before and after each word in the file, "" for none; only a guess needs them.
    """
    if encoding.guess:
        return [_alike(*row, encoding) for row in zip(old, new, around, strict=True)]
    return [b if a == b or b.isascii() else _encodable(a, b, encoding) for a, b in zip(old, new, strict=True)]


def _alike(old: str, new: str, around: tuple[str, str], encoding: Encoding) -> str:
    """The new text of a word with no change but of case to what is not ASCII, and none between it and what follows.

    That may be the second byte of an East Asian character, unless all likely encodings have single bytes: an ASCII
    letter, or `|`.
    """
    (bare, was), (new_bare, label) = strip(old), strip(new)
    if old == new or len(bare) != len(new_bare):
        return old
    core, left, right = was.inside(old), around[0] + was.before, was.after + around[1]
    pairs = zip(f"{left[-1:] or ' '}{core}", core, label.inside(new), strict=False)
    single = len(encoding.likely) > 0
    letters = "".join(b if f"{one}{a}{b}".isascii() or encoding.recases(a, b) else a for one, a, b in pairs)
    before = _in_ascii(label.before) if left.isascii() else was.before
    follows = right.isascii() and (single or right < "@" or core[-1:].isascii())
    text = f"{before}{letters}{_in_ascii(label.after) if follows else was.after}"
    return text if same_letters(strip(text)[1].inside(text), core) else old


def _in_ascii(marks: str) -> str:
    return "".join(_SPELLINGS.get(c, "" if c > "\x7f" else c) for c in marks)


def _encodable(old: str, new: str, encoding: Encoding) -> str:
    """The new text without letters that the codec lacks: cp437 has ó but not Ó, cp1250 has Ş but not Ș."""
    (bare, was), (new_bare, label) = strip(old), strip(new)
    if len(bare) != len(new_bare):
        return new

    def letter(a: str, b: str) -> str:
        # `I` is no capital of a Turkish `i`.
        recased = a if same_letters(a, b) else a.upper() if b.isupper() else a.lower()
        return next((c for c in (b, recased) if len(c) == 1 and encoding.has(c)), a)

    return f"{label.before}{''.join(map(letter, was.inside(old), label.inside(new)))}{label.after}"


def changes_more_than_case(source: bytes, output: bytes, encoding: Encoding) -> bool:
    """Whether, in any likely encoding, letters differ in more than case.

    Without any, whether a character differs that is not ASCII, or that may be half of one that is not.
    """
    if encoding.likely:
        texts = ([data.decode(one, "replace") for data in (source, output)] for one in encoding.likely)
        return not all(same_letters(*("".join(filter(str.isalpha, text)) for text in pair)) for pair in texts)
    return _UNCERTAIN.findall(source) != _UNCERTAIN.findall(output)


def letters_kept(wanted: Sequence[str], new: Sequence[str], encoding: Encoding) -> tuple[int, str] | None:
    """The number of the first word that cannot get its `wanted` letters in this encoding, and a notice about all."""
    kept = [i for i, (a, b) in enumerate(zip(wanted, new, strict=True)) if strip(a)[0] != strip(b)[0]]
    if not kept:
        return None
    letters = {letter for i in kept for letter in strip(wanted[i])[0]}
    lacking = sorted(letter for letter in letters if not encoding.has(letter))
    why = f"{encoding.codec} has no {', '.join(lacking)}; convert the file to UTF-8"
    why = why if lacking else f"its encoding is uncertain; {NAMING}"
    return kept[0], f"letters kept in {len(kept):,} of {len(new):,} words: {why}"
