"""Locate lines and words in a source, and change words there without touching anything else.

A copy of a word is a tuple of fragments (spans of the source): `hel<i>lo</i>` has two. Most words
have one copy; those in YouTube's rolling captions have up to three. All offsets are in characters.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import entities
from io import StringIO
from operator import itemgetter
from unicodedata import combining, normalize

from cappunc_cli.document.labels import QUOTES, fixed_parts, is_fixed, same_letters, strip
from cappunc_cli.document.words import Copy, Document, Span
from cappunc_cli.formats.markup import units

# The only line endings. NEL, U+2028, VT and FF inside a text are none, although str.splitlines takes them for some.
# `\r\r\n` is what Windows makes of `\r\n` in a program that writes text.
BREAKS = re.compile(r"\r?\r?\n|\r")
#: Iterates over the lines that are not empty, without their endings; lazy, as sniffing needs only the first few.
nonempty_lines = re.compile(r"[^\r\n]+").finditer

_QUOTES = re.compile('"+')

#: What stands for a word in the skeleton of a source.
PLACEHOLDER = "\0"

#: Replace source[start:stop] by a text.
Edit = tuple[int, int, str]


def same_word(old: str, new: str, *, diacritics: bool = False) -> bool:
    """Whether two written words differ at most in marks and case; with `diacritics`, in those, too."""
    (before, old_label), (after, new_label) = strip(old), strip(new)
    if before == after or not diacritics:
        return before == after or same_letters(old_label.inside(old), new_label.inside(new))
    plain = [[c for c in normalize("NFD", bare) if not combining(c)] for bare in (before, after)]
    return plain[0] == plain[1]


def same_around(old: str, new: str) -> bool:
    """Whether two written words have the same brackets, notes and white space around them, but for that of a mark."""
    before, after = strip(old)[1], strip(new)[1]
    spaces = [[c for c in label.after if c.isspace()] for label in (before, after)]
    return fixed_parts(before) == fixed_parts(after) and (before.mark != after.mark or spaces[0] == spaces[1])


def split_lines(source: str) -> list[Span]:
    """The spans of the lines, without their endings; there is no empty line after a final line ending."""
    lines: list[Span] = []
    start = 0
    for found in BREAKS.finditer(source):
        stop, following = found.span()
        lines.append((start, stop))
        start = following
    if start < len(source):
        lines.append((start, len(source)))
    return lines


def with_doubled_quotes(text: str) -> str:
    """A text for a field in quotation marks, in which `"` is written `""`; those that already are stay."""
    return _QUOTES.sub(lambda found: found[0] + '"' * (len(found[0]) % 2), text) if '"' in text else text


def line_of(source: str, offset: int) -> int:
    """The 1-based number of the line at an offset."""
    return bisect_right(_line_starts(source), offset) + 1


@lru_cache(maxsize=1)  # a file may have thousands of notices
def _line_starts(source: str) -> array[int]:
    return array("I", (found.end() for found in BREAKS.finditer(source)))


def splice(
    source: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None, *, ordered: bool = False
) -> str:
    """Apply edits `(start, stop, text)` to the source, or to source[start:stop].

    Edits may come in any order; two insertions at the same place keep theirs. Those that are `ordered` are never all in
    memory. Raises ValueError where two overlap.
    """
    result = StringIO(newline="")
    # Two stable sorts by numbers that are there take less than half the time of one by pairs.
    for first, last, text in edits if ordered else sorted(sorted(edits, key=itemgetter(1)), key=itemgetter(0)):
        if not start <= first <= last:
            raise ValueError(f"edits overlap at {first}")
        result.write(source[start:first])
        result.write(text)
        start = last
    result.write(source[start:stop])
    return result.getvalue()


def fragments(places: Sequence[Span]) -> list[Span]:
    """Spans of characters as spans of what is together in the source."""
    found: list[Span] = []
    for start, stop in places:
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def placed(edits: Iterable[Edit], places: Sequence[Span]) -> Iterator[Edit]:
    """Edits of a text as edits of the source; each character of the text is in one of `places`."""
    for start, stop, text in edits:
        if start == stop:
            at = places[start - 1][1] if start else places[0][0]
            yield at, at, text
        else:
            for number, (a, b) in enumerate(fragments(places[start:stop])):
                yield a, b, "" if number else text


def shown(source: str, copy: Copy) -> str:
    """The visible text of a copy of a word."""
    return "".join([c for _, _, c in units(source, copy)])


def edits(source: str, copy: Copy, text: str) -> Iterator[Edit]:
    """The edits that make one copy read `text`: the same word with other marks or case."""
    seen = list(units(source, copy))
    old = "".join([c for _, _, c in seen])
    places = [(a, b) for a, b, _ in seen]
    for a, b, new in placed(word_edits(old, text), places):
        is_entity = source[a : a + 1] == "&" and len(new) == 1 and new.isalnum()
        yield a, b, _as_entity(source[a:b], new) if is_entity else new


def at_copy(source: str, copy: Copy, old: str, new: str) -> str:
    """The text of one copy when its word changes from `old` to `new`.

    `old` is how the first copy is written; a layer, a tier or a rolling line may write it differently. A change is
    applied to what the copy has: where only one copy is in quotation marks, it keeps them and the others get none.
    """
    seen = shown(source, copy)
    if seen == old or new == old:
        return new if seen == old else seen
    own, old_label, new_label = (strip(text)[1] for text in (seen, old, new))
    opening = "".join([c for c in new_label.before if c in "¿¡" and c not in old_label.before + own.before])
    core, marked = new_label.inside(new), own
    if new_label.mark != old_label.mark and (old_label.mark or not own.mark):
        marked = own.with_mark(new_label.mark)
    return own.before + opening + (own.inside(seen) if core == old_label.inside(old) else core) + marked.after


def _as_entity(entity: str, c: str) -> str:
    """A character as the same kind of entity, as the file may be ASCII: `&eacute;` becomes `&Eacute;`."""
    if entity[1] == "#":
        return f"&#x{ord(c):x};" if entity[2] in "xX" else f"&#{ord(c)};"
    name = entities.codepoint2name.get(ord(c))
    return f"&{name};" if name else c


@lru_cache(maxsize=1 << 14)
def word_edits(old: str, new: str) -> tuple[Edit, ...]:
    """The edits that change one written word into another, without touching letters that stay the same."""
    (bare, old_label), (new_bare, label) = strip(old), strip(new)
    head, tail = len(old_label.before), len(old) - len(old_label.after)
    core = label.inside(new)
    if len(bare) == len(new_bare):
        letters = [(head + i, head + i + 1, c) for i, c in enumerate(core) if c != old[head + i]]
    else:
        letters = [*_trimmed(old[head:tail], core, head)]
    return *_trimmed(old_label.before, label.before, 0), *letters, *_trimmed(old_label.after, label.after, tail)


def by_character(old: str, new: str) -> list[str]:
    """What stands in place of each character of a word; a mark is added to the one before it, or to the first one."""
    shown = list(old)
    for start, stop, text in word_edits(old, new):
        if start < stop:
            shown[start:stop] = [text, *[""] * (stop - start - 1)]
        elif start:
            shown[start - 1] += text
        else:
            shown[0] = text + shown[0]
    return shown


def _trimmed(old: str, new: str, base: int) -> Iterator[Edit]:
    """The edits that replace a text at the offset `base`, but for brackets, quotes and ends that stay the same.

    A tag may split the text (`hello,</i>)`), and a quotation mark may be an entity.
    """
    begins = at = 0
    for i, c in enumerate(old):
        if (is_fixed(c) or c in QUOTES) and (found := new.find(c, at)) >= 0:
            yield from _plainly_trimmed(old[begins:i], new[at:found], base + begins)
            begins, at = i + 1, found + 1
    yield from _plainly_trimmed(old[begins:], new[at:], base + begins)


def _plainly_trimmed(old: str, new: str, base: int) -> Iterator[Edit]:
    if old != new:
        same = min(len(old), len(new))
        head = next((i for i in range(same) if old[i] != new[i]), same)
        tail = next((i for i in range(same - head) if old[-1 - i] != new[-1 - i]), same - head)
        if tail == len(old) > 0:  # an address or a tag may part the first mark from the word: stay with the mark
            tail -= 1
        yield base + head, base + len(old) - tail, new[head : len(new) - tail]


def changes(document: Document, texts: Sequence[str]) -> Iterator[Edit]:
    """The edits that give the words of a document new texts in all their copies."""
    source = document.source
    for word, text in zip(document.words, texts, strict=True):
        for copy in word.places if text != word.text else ():
            (start, stop), *others = copy
            if not others and source[start] != "&" and source[start:stop] == word.text:
                yield start, stop, text
            else:
                yield from edits(source, copy, at_copy(source, copy, word.text, text))


def placeholders(document: Document) -> Iterator[Edit]:
    """The edits that put a placeholder in place of each copy of a word."""
    for word in document.words:
        for (start, stop), *others in word.places:
            yield start, stop, PLACEHOLDER
            for a, b in others:
                yield a, b, ""


#: (same, start, stop, start, stop): a block of each sequence; `same` if the words are equal.
Block = tuple[bool, int, int, int, int]

#: How many words are aligned at a time, and how many are compared at a time.
_WINDOW, _STEP = 1500, 256


def aligned_blocks(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Block]:
    """Yield equal and differing blocks, in order, covering both sequences.

    Long sequences are aligned window by window, so that time and memory are linear in their length.
    """
    i = j = 0
    while i < len(ours) or j < len(theirs):
        run = 0
        while (step := ours[i + run : i + run + _STEP]) and step == theirs[j + run : j + run + _STEP]:
            run += len(step)
        while i + run < len(ours) and j + run < len(theirs) and ours[i + run] == theirs[j + run]:
            run += 1
        if run:
            yield True, i, i + run, j, j + run
            i, j = i + run, j + run
            continue
        found = _window(ours, theirs, i, j)
        yield from found
        i, j = found[-1][2], found[-1][4]


def _window(ours: Sequence[str], theirs: Sequence[str], i: int, j: int) -> list[Block]:
    from rapidfuzz.distance import Indel

    a, b = ours[i : i + _WINDOW], theirs[j : j + _WINDOW]
    result: list[Block] = []
    for op in Indel.opcodes(a, b):
        same = op.tag == "equal"
        span = (i + op.src_start, i + op.src_end, j + op.dest_start, j + op.dest_end)
        if result and not same and not result[-1][0]:
            result[-1] = (False, result[-1][1], span[1], result[-1][3], span[3])
        else:
            result.append((same, *span))
    # The alignment at the end of a window is unreliable: stop after the last long block of equal words.
    if i + len(a) < len(ours) or j + len(b) < len(theirs):
        solid = [k for k, x in enumerate(result) if x[0] and x[2] - x[1] >= 3]
        if solid:
            result = result[: solid[-1] + 1]
    return result
