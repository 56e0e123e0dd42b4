"""Locate lines and words in a source, and change words there without touching anything else.

A copy of a word is a tuple of fragments, which are spans of the source: `hel<i>lo</i>` has two. Most words
have one copy; those in YouTube's rolling captions have up to three. All offsets are in characters.

Files can have megabytes, and a tuple takes more memory than a word. So large collections are arrays,
and edits in order are consumed as they are generated.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from html import entities
from io import StringIO
from itertools import islice
from operator import itemgetter
from unicodedata import combining, normalize

from cappunc_cli.document.labels import cached_strip, fixed_parts, is_fixed
from cappunc_cli.document.words import Copy, Document, Span, Words
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.text.visible import units

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

_diacritics_may_change: ContextVar[bool] = ContextVar("diacritics may change", default=False)


@contextmanager
def respelling() -> Iterator[None]:
    """Within this context, words that differ only in diacritics count as the same word. For use at a user's request."""
    token = _diacritics_may_change.set(True)
    try:
        yield
    finally:
        _diacritics_may_change.reset(token)


def same_word(old: str, new: str) -> bool:
    """Whether two written words differ at most in marks and case."""
    return cached_strip(old)[0] == cached_strip(new)[0] or (
        _diacritics_may_change.get() and comparable(old) == comparable(new)
    )


def same_spaces(old: str, new: str) -> bool:
    """Whether the white space among the marks of a word is the same; it may change where the mark does."""
    before, after = cached_strip(old)[1], cached_strip(new)[1]
    return before.mark != after.mark or _spaces(before.after) == _spaces(after.after)


def _spaces(text: str) -> str:
    return "".join(filter(str.isspace, text))


def comparable(text: str) -> str:
    """The bare word, equal for any two spellings that count as the same word; see `respelling`."""
    bare = cached_strip(text)[0]
    return "".join([c for c in normalize("NFD", bare) if not combining(c)]) if _diacritics_may_change.get() else bare


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of a source, one per cue, in arrays: a tenth of the memory that tuples take."""

    starts: array[int] = field(default_factory=partial(array, "I"))
    stops: array[int] = field(default_factory=partial(array, "I"))

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Spans:
        return cls(array("I", [start for start, _ in spans]), array("I", [stop for _, stop in spans]))


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


def mostly_rows(text: str, is_row: Callable[[str], bool]) -> bool:
    """Whether at least four in five of the first 500 lines are rows, not counting comments (`;;`) and blank lines."""
    lines = (found.group().strip(" \t") for found in nonempty_lines(text[:100_000]))
    rows = [is_row(line) for line in islice((line for line in lines if line and not line.startswith(";;")), 500)]
    return bool(rows) and 5 * sum(rows) >= 4 * len(rows)


def with_doubled_quotes(text: str) -> str:
    """A text for a field in quotation marks, in which `"` is written `""`; those that already are stay."""
    return _QUOTES.sub(lambda found: found[0] + '"' * (len(found[0]) % 2), text) if '"' in text else text


def line_of(source: str, offset: int) -> int:
    """The 1-based number of the line at an offset."""
    return len(BREAKS.findall(source[:offset])) + 1


def line_numbers(source: str) -> Callable[[int], int]:
    """As `line_of`, for many offsets: a function from an offset to its 1-based line number."""
    starts = array("I", (found.end() for found in BREAKS.finditer(source)))
    return lambda offset: bisect_right(starts, offset) + 1


def splice(source: str, edits: Iterable[Edit], *, in_order: bool = False) -> str:
    """Apply edits `(start, stop, text)` to the source.

    Edits may come in any order; two insertions at the same place keep theirs. Edits that are known to be `in_order`
    need no memory for sorting. Raises ValueError where two edits overlap.
    """
    result = StringIO(newline="")
    at = 0
    for start, stop, text in edits if in_order else sorted(edits, key=itemgetter(0, 1)):
        if not at <= start <= stop:
            raise ValueError(f"edits overlap at {start}")
        result.write(source[at:start])
        result.write(text)
        at = stop
    result.write(source[at:])
    return result.getvalue()


def shown(source: str, copy: Copy) -> str:
    """The visible text of a copy of a word."""
    if len(copy) == 1 and source[copy[0][0]] != "&":
        return source[copy[0][0] : copy[0][1]]
    return "".join([c for _, _, c in units(source, copy)])


def edits(source: str, copy: Copy, text: str) -> Iterator[Edit]:
    """The edits that make one copy read `text`.

    Raises BadInput if `text` is another word rather than the same one with other marks or case.
    """
    start, stop = copy[0]
    plain = len(copy) == 1 and source[start] != "&"
    old = source[start:stop] if plain else shown(source, copy)
    if old == text:
        return
    bare, old_label = cached_strip(old)
    new_bare, label = cached_strip(text)
    if bare != new_bare and not same_word(old, text):
        raise BadInput(f"“{old}” cannot become “{text}”: not the same word", line=line_of(source, start))
    if plain:
        yield start, stop, text
        return
    seen = list(units(source, copy))
    head, tail = len(old_label.before), len(seen) - len(old_label.after)
    yield from _replaced(seen[:head], label.before, seen[head][0])
    yield from _recased(source, seen[head:tail], label.inside(text))
    yield from _replaced(seen[tail:], label.after, seen[tail - 1][1])


def at_copy(source: str, copy: Copy, old: str, new: str) -> str:
    """The text of one copy when its word changes from `old` to `new`.

    `old` is how the first copy is written; a layer, a tier or a rolling line may write it differently. A change is
    applied to what the copy has: where only one copy is in quotation marks, it keeps them and the others get none.
    """
    seen = shown(source, copy)
    if seen == old or new == old:
        return new if seen == old else seen
    own, old_label, new_label = (cached_strip(text)[1] for text in (seen, old, new))
    before, after = own.before, own.after
    if before == old_label.before:
        before = new_label.before
    else:  # inverted marks go right before the word
        before += "".join([c for c in new_label.before if c in "¿¡" and c not in old_label.before + before])
    if after == old_label.after:
        after = new_label.after
    elif new_label.mark != old_label.mark and (old_label.mark or not own.mark):
        after = own.with_mark(new_label.mark).after
    core = new_label.inside(new)
    return before + (own.inside(seen) if core == old_label.inside(old) else core) + after


def _recased(source: str, units: Sequence[tuple[int, int, str]], new: str) -> Iterator[Edit]:
    for (start, stop, old), c in zip(units, new, strict=True):
        if old != c:
            yield start, stop, c if stop - start == 1 else _as_entity(source[start:stop], c)


def _as_entity(entity: str, c: str) -> str:
    """A character as the same kind of entity, as the file may be ASCII: `&eacute;` becomes `&Eacute;`."""
    if entity[1] == "#":
        return f"&#x{ord(c):x};" if entity[2] in "xX" else f"&#{ord(c)};"
    name = entities.codepoint2name.get(ord(c))
    return f"&{name};" if name else c


def _replaced(units: Sequence[tuple[int, int, str]], new: str, anchor: int) -> Iterator[Edit]:
    """The edits that replace a run of marks; common marks at both ends stay untouched, and so do brackets and entities.

    The run may be split by a tag: `hello,</i>”`.
    """
    for i, (start, stop, c) in enumerate(units):
        if (is_fixed(c) or stop - start > 1) and c in new:
            left, _, right = new.partition(c)
            yield from _replaced(units[:i], left, start)
            yield from _replaced(units[i + 1 :], right, stop)
            return
    old = "".join([c for _, _, c in units])
    if old == new:
        return
    head, tail = common_ends(old, new)
    removed, middle = units[head : len(units) - tail], new[head : len(new) - tail]
    if not removed:
        place = units[head - 1][1] if head else units[0][0] if units else anchor
        yield place, place, middle
        return
    for i, (start, stop, _) in enumerate(removed):
        yield start, stop, "" if i else middle


def common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at the start, and how many of the others at the end."""
    same = min(len(old), len(new))
    head = next((i for i in range(same) if old[i] != new[i]), same)
    return head, next((i for i in range(same - head) if old[-1 - i] != new[-1 - i]), same - head)


def check_count(words: Words, texts: Sequence[str]) -> None:
    """Raises ValueError if there are not as many texts as words."""
    if len(texts) != len(words):
        raise ValueError(f"{len(texts)} texts for {len(words)} words")


def changes(source: str, words: Words, texts: Sequence[str]) -> Iterator[Edit]:
    """The edits that give words new texts in all their copies, word by word.

    Raises ValueError if there are not as many texts as words, BadInput if a text is another word.
    """
    check_count(words, texts)
    for i, (old, text) in enumerate(zip(words.texts, texts, strict=True)):
        if text != old:
            for copy in words.copies(i):
                yield from edits(source, copy, text if words.single else at_copy(source, copy, old, text))


def source_of(document: Document) -> str:
    """The source of a document whose `origin` is the plain source; raises TypeError for other formats."""
    if not isinstance(document.origin, str):
        raise TypeError(f"the origin of {document.format} is not a plain source")
    return document.origin


def placeholders(source: str, words: Words) -> Iterator[Edit]:
    """The edits that put a placeholder in place of each copy of a word; brackets around it stay.

    A word with several copies keeps its letters in each, as `words.texts` has only those of the first copy.
    """
    for number in range(len(words.texts)):
        copies = words.copies(number)
        for copy in copies:
            text = shown(source, copy)
            word = PLACEHOLDER if len(copies) == 1 else f"{PLACEHOLDER}{comparable(text)}{PLACEHOLDER}"
            replacement = word.join(fixed_parts(cached_strip(text)[1]))
            for i, (start, stop) in enumerate(copy):
                yield start, stop, "" if i else replacement
