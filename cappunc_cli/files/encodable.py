"""What may be written in the encoding of a file: its own characters, and in a guessed one ASCII."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from cappunc_cli.document.labels import cached_strip, strip
from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.files.encodings import NAMING, Encoding
from cappunc_cli.formats.splice import line_of

#: ASCII replacements of signs that an encoding lacks.
_SPELLINGS = {"…": "...", "—": "--", "–": "-", "\u00a0": " ", "\u202f": " ", "¿": "", "¡": ""}
_SPELLINGS |= dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’‚‹›", "'")
#: Characters that are not ASCII, each with a byte that may be the second half of the last one in East Asian code pages.
_UNCERTAIN = re.compile(rb"[\x80-\xff]+[@-~]?")


def writable(text: str, encoding: Encoding) -> str:
    """The text with characters that the codec lacks replaced by ASCII (`…` by `...`).

    Raises BadInput for a character without a replacement.
    """
    lacking = {c for c in set(text) if not is_in(c, encoding)}
    for character in lacking:
        if character not in _SPELLINGS:
            raise BadInput(f"{character!r} cannot be written in {encoding.codec}, the encoding of the file")
    return "".join([_SPELLINGS[c] if c in lacking else c for c in text]) if lacking else text


def is_in(character: str, encoding: Encoding) -> bool:
    """Whether the encoding has a character."""
    try:
        character.encode(encoding.codec, encoding.errors)
    except UnicodeEncodeError:
        return False
    return True


def limit_changes(
    old: Sequence[str], new: Sequence[str], encoding: Encoding, around: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """The new texts of words, limited to changes that the encoding can represent, or that are safe for a guess.

    `around` are the characters before and after each word in the file, "" for none; only a guess needs them.
    """
    if encoding.guess:
        return list(map(_ascii_changes, old, new, around))
    return list(map(partial(_encodable, encoding), old, new))


def _ascii_changes(old: str, new: str, around: tuple[str, str]) -> str:
    """The new text of a word with no change to what is not ASCII, nor between it and what follows.

    That may be the second byte of an East Asian character: an ASCII letter, or `|`.
    """
    (bare, old_label), (new_bare, label) = strip(old), strip(new)
    if old == new or len(bare) != len(new_bare):
        return old
    core = old[len(old_label.before) : len(old) - len(old_label.after)]
    wanted = new[len(label.before) : len(new) - len(label.after)]
    lefts = f"{(around[0] + old_label.before)[-1:] or ' '}{core}"
    letters = [b if f"{left}{a}{b}".isascii() else a for left, a, b in zip(lefts, core, wanted, strict=False)]
    before, after = (
        "".join(_SPELLINGS.get(c, "" if c > "\x7f" else c) for c in marks) for marks in (label.before, label.after)
    )
    if not f"{around[0]}{old_label.before}".isascii():
        before = old_label.before
    following = f"{old_label.after}{around[1]}"
    if not following.isascii() or (following >= "@" and not core[-1:].isascii()):
        after = old_label.after
    text = f"{before}{''.join(letters)}{after}"
    return text if strip(text)[0] == bare else old


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


def changes_more_than_ascii(source: bytes, output: bytes) -> bool:
    """Whether any character that is not ASCII, or that may be half of one that is not, differs."""
    return _UNCERTAIN.findall(source) != _UNCERTAIN.findall(output)


def neighbours(document: Document, source: str) -> list[tuple[str, str]]:
    """The characters before and after each word in the source."""
    found = []
    for word in document.words:
        start, stop = (word.places[0][0][0], word.places[0][-1][1]) if word.places else (0, len(source))
        found.append((source[max(start - 1, 0) : start], source[stop : stop + 1]))
    return found


def kept_letters(
    document: Document, source: str, wanted: Sequence[str], new: Sequence[str], encoding: Encoding
) -> tuple[Notice, ...]:
    """A notice about the words that cannot get the `wanted` letters in this encoding, at the line of the first."""
    kept = [i for i, (a, b) in enumerate(zip(wanted, new, strict=True)) if cached_strip(a)[0] != cached_strip(b)[0]]
    if not kept:
        return ()
    letters = {letter for i in kept for letter in cached_strip(wanted[i])[0]}
    lacking = sorted(letter for letter in letters if not is_in(letter, encoding))
    why = f"{encoding.codec} has no {', '.join(lacking)}; convert the file to UTF-8"
    if not lacking:
        why = f"its encoding is uncertain; {NAMING}"
    copies = document.words[kept[0]].places  # JSON keeps none
    line = line_of(source, copies[0][0][0]) if copies else 1
    return (Notice(line, f"letters kept in {len(kept):,} of {len(new):,} words: {why}"),)
