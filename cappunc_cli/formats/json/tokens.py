"""Split runs of fields into words, which may be spread over several fields."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress, count, islice, repeat
from operator import and_, gt, le, lt, sub
from sys import intern

from cappunc_cli.document.labels import MARKS, cached_strip
from cappunc_cli.document.words import Span
from cappunc_cli.formats.addresses import belongs, has_letters, is_address
from cappunc_cli.formats.json.columns import RunLengthList
from cappunc_cli.formats.json.tracks import Fields
from cappunc_cli.formats.splice import splice
from cappunc_cli.formats.starred_sounds import starred_sounds

#: (field, start, stop): a part of the text of a field.
Part = tuple[int, int, int]

# Not spoken: sounds, lyrics, tags, timing lines of subtitles inside a string (Gladia). What is
# masked must not depend on the case or marks of words, or a restored file would be read as
# other words.
_MASK = re.compile(
    r"\[[^\[\]]*\]|\([^()]*\)|♪[^♪]*♪|<[^<>\s][^<>]*>|^(?:\d+\r?\n)?[^\n]*-->[^\n]*$|^WEBVTT[^\n]*$",
    re.MULTILINE,
)
# Quick tests: a mask has one of the first characters or starts with WEBVTT, and what starts a turn matches the second.
_MASKING = re.compile(r"[\[(♪<>]")
_TURNING = re.compile(r"[>–—-](?:(?<=>)>|(?<!>)[^\S\n])")
_LABEL = re.compile(r"^Speaker \w+: ", re.MULTILINE)
_TURN = re.compile(r"(?<!\S)>>+(?=\s|\w)|^[^\S\n]*[-–—][^\S\n]+(?=\w)", re.MULTILINE)
_HIDDEN = "\0"
# A run of visible characters, and detached marks after it.
_RUN = re.compile(r"([^\s\0]++(?>(?:[ \xa0\u202f]++(?>(?:[,.?!:;…—–]|--)+)(?=[\s\0]|$))*))")
# Not to be touched: parts of addresses, entities, Watson's %HESITATION.
_OPAQUE = re.compile(r"://|\w@\w|www\.\w|^%\w|&\w+;", re.IGNORECASE)
_BARE = re.compile(r"[\W_]+")
#: How many fields are joined at a time.
_BLOCK = 1 << 10


class Tokens:
    """The words of runs of fields, in columns; all copies of a word have the same key.

    After the tokens in `followed` comes something that is no word but belongs to the sentence.
    """

    __slots__ = ("_parts", "_stops", "cues", "ends", "followed", "keys", "speakers", "starts", "texts", "turns")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keys: list[str] = []
        self.followed: set[int] = set()
        self.starts, self.ends, self.cues, self.turns, self.speakers = (RunLengthList() for _ in range(5))
        # The parts of all tokens as a flat array, three numbers each; and where those of each token end in it.
        self._parts, self._stops = array("I"), array("I")

    def add(self, text: str, parts: Iterable[Part]) -> int:
        """Append a token without a time; returns its number."""
        flat = array("I", chain.from_iterable(parts))
        self.extend([text], flat, [len(flat)])
        for column in (self.starts, self.ends, self.speakers):
            column.add(None)
        self.cues.add(0)
        self.turns.add(False)
        return len(self) - 1

    def extend(self, texts: Iterable[str], parts: array[int], stops: Iterable[int]) -> None:
        """Append texts and parts of tokens; `stops` are the offsets in `parts` at which those of each token end.

        The caller has to fill the other columns. `speakers` are indices into the `names` of the fields.
        """
        first, offset = len(self.texts), len(self._parts)
        self.texts.extend(map(intern, texts))
        self.keys.extend(map(key_of, islice(self.texts, first, None)))
        self._parts.extend(parts)
        self._stops.extend([offset + stop for stop in stops])

    def __len__(self) -> int:
        return len(self.texts)

    def part_columns(self, first: int, stop: int) -> tuple[array[int], array[int], array[int], bytearray]:
        """Field, start and stop of all parts of tokens[first:stop], and 1 for each that is not its token's first."""
        begin, end = self._stops[first - 1] if first else 0, self._stops[stop - 1]
        flat = self._parts[begin:end]
        further = bytearray(len(flat) // 3)
        if len(further) > stop - first:
            further = bytearray(b"\1") * len(further)
            for at in (begin, *self._stops[first : stop - 1]):
                further[(at - begin) // 3] = 0
        return flat[::3], flat[1::3], flat[2::3], further

    def parts(self, i: int) -> list[Part]:
        """The parts of fields that show a token."""
        first, stop = self._stops[i - 1] if i else 0, self._stops[i]
        parts = self._parts
        return [(parts[at], parts[at + 1], parts[at + 2]) for at in range(first, stop, 3)]


@lru_cache(maxsize=1 << 15)
def key_of(text: str) -> str:
    """The key that all copies of a word share."""
    bare = cached_strip(text)[0]
    return intern(bare if bare.isalnum() else _BARE.sub("", bare) or bare)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


@lru_cache(maxsize=1 << 15)
def _is_word(shown: str) -> bool:
    return has_letters(shown) and _OPAQUE.search(shown) is None and not is_address(shown)


def find_words(text: str) -> tuple[list[str], list[int], list[int], list[int], list[int]]:
    """Find the words of a running text.

    Returns the words, their starts, their stops, the indices of those that start a new turn, and the indices of those
    after which comes something that is no word but belongs to the sentence.
    """
    turns: list[int] = []

    def hide_turn(found: re.Match[str]) -> str:
        turns.append(found.end())
        return _hide(found)

    masked = _MASK.sub(_hide, text) if _MASKING.search(text) or "WEBVTT" in text else text
    if "*" in masked:
        sounds = ((start, stop, _HIDDEN * (stop - start)) for start, stop in starred_sounds(masked))
        masked = splice(masked, sounds)
    if _TURNING.search(masked):
        masked = _TURN.sub(hide_turn, masked)
    # Alternating: what is between runs, a run, and so on.
    pieces = _RUN.split(masked)
    edges = list(accumulate(map(len, pieces)))
    runs, starts, stops = pieces[1::2], edges[:-1:2], edges[1::2]
    spoken, followed = list(map(str.isalnum, runs)), []
    if not all(spoken):
        spoken = [plain or _is_word(run.split(maxsplit=1)[0]) for plain, run in zip(spoken, runs, strict=True)]
        if not all(spoken):
            # Sounds are hidden, and between segments there is a line break.
            goes_on = [gap.isspace() and "\n" not in gap for gap in pieces[2:-1:2]]
            after = [not word and belongs(run) for word, run in zip(spoken[1:], runs[1:], strict=True)]
            flags = [*map(and_, goes_on, after), False]
            followed = [number for number, flag in enumerate(compress(flags, spoken)) if flag]
        runs = list(compress(runs, spoken))
        starts, stops = (list(compress(column, spoken)) for column in (starts, stops))
    numbers = {bisect_left(starts, turn) for turn in turns}
    return runs, starts, stops, sorted(number for number in numbers if number < len(starts)), followed


def tokenize(fields: Fields, run: range, tokens: Tokens) -> range:
    """Append the words of a run of fields, read as one text; returns the range of their numbers."""
    begins, stops, joined = _joined(fields, run)
    texts, starts_of, stops_of, turns, followed = find_words(joined)
    # The field in which each word starts, as an index into the run.
    heads = _heads(starts_of, begins, stops)
    bases = list(map(begins.__getitem__, heads))
    parts = array("I", bytes(12 * len(heads)))
    parts[::3] = array("I", map(run.start.__add__, heads))
    parts[1::3] = array("I", map(sub, starts_of, bases))
    parts[2::3] = array("I", map(sub, stops_of, bases))
    ends_of_parts: Sequence[int] = range(3, len(parts) + 1, 3)
    # The parts of words that span several fields.
    spanning = {
        i: list(_parts(fields, run, begins, stops, heads[i], starts_of[i], stops_of[i]))
        for i in compress(count(), map(gt, stops_of, map(stops.__getitem__, heads)))
    }
    # The field in which each word ends, and the field that has its end time.
    tails, end_fields = heads, heads
    if spanning:
        tails, end_fields = array("i", heads), array("i", heads)
        for i, own in spanning.items():
            pieces = [joined[begins[f] + a : begins[f] + b] for f, a, b in own]
            texts[i] = "".join(pieces)
            # The time of a mark in a field of its own does not count, or the word would end elsewhere without the mark.
            lettered = [f for (f, _, _), piece in zip(own, pieces, strict=True) if any(map(str.isalnum, piece))]
            tails[i] = lettered[-1]
            end_fields[i] = next((f for f in reversed(lettered) if fields.ends[run[f]] is not None), tails[i])
        parts, ends_of_parts = _with_spanning(parts, run.start, spanning)
    first = len(tokens)
    tokens.extend(texts, parts, ends_of_parts)
    breaks = ("\n" in join for join in islice(fields.joins, run.start + 1, run.stop))
    tokens.cues.extend_from(list(accumulate(breaks, initial=0)), heads)
    tokens.speakers.extend_from(fields.speakers[run.start : run.stop], heads)
    starts, ends = fields.starts[run.start : run.stop], fields.ends[run.start : run.stop]
    if isinstance(heads, range) and not spanning:
        tokens.starts.extend(starts)
        tokens.ends.extend(ends)
    else:
        # Only the first word of a field has its start, only the last one its end.
        _add_times(tokens.starts, starts, heads, heads, chain((-1,), tails))
        _add_times(tokens.ends, ends, end_fields, tails, chain(heads[1:], (-1,)))
    starts_turn = [False] * len(texts)
    for turn_at in turns:
        starts_turn[turn_at] = True
    tokens.turns.extend(starts_turn)
    tokens.followed.update(map(first.__add__, followed))
    return range(first, len(tokens))


def _add_times(
    column: RunLengthList, times: RunLengthList, sources: Sequence[int], fields: Iterable[int], beside: Iterable[int]
) -> None:
    """Append the time of its source field for each word; None where the word beside it is in the same field."""
    known = list(times)
    columns = zip(sources, fields, beside, strict=False)
    column.extend([None if f == other else known[source] for source, f, other in columns])


def _heads(starts_of: Sequence[int], begins: Sequence[int], stops: Sequence[int]) -> Sequence[int]:
    """The field in which each word starts, given the starts of words and the bounds of fields.

    A range if each field has exactly one word.
    """
    if len(starts_of) == len(stops) and all(map(le, begins, starts_of)) and all(map(lt, starts_of, stops)):
        return range(len(stops))
    before = list(map(bisect_left, repeat(starts_of), stops))
    counts = map(sub, before, chain((0,), before))
    return array("i", chain.from_iterable(map(repeat, range(len(stops)), counts)))


def _with_spanning(
    parts: array[int], first: int, spanning: Mapping[int, Sequence[Part]]
) -> tuple[array[int], array[int]]:
    """The parts with those of `spanning` words, whose fields count from `first`; and where those of each word end."""
    all_parts, ends = array("I"), array("I")
    for i in range(len(parts) // 3):
        if i in spanning:
            all_parts.extend(chain.from_iterable((first + f, a, b) for f, a, b in spanning[i]))
        else:
            all_parts.extend(parts[3 * i : 3 * i + 3])
        ends.append(len(all_parts))
    return all_parts, ends


def _joined(fields: Fields, run: range) -> tuple[array[int], array[int], str]:
    """Join the texts of a run of fields; returns where each starts and stops in the joined text, and that text."""
    begins, stops = array("I"), array("I")
    blocks: list[str] = []
    at = 0
    for low in range(run.start, run.stop, _BLOCK):
        block = range(low, min(low + _BLOCK, run.stop))
        joins, texts = fields.joins[block.start : block.stop], list(map(fields.text, block))
        if low == run.start:
            joins[0] = ""
        if any(labels := fields.labels[block.start : block.stop]):
            texts = [_LABEL.sub(_hide, text) if has else text for text, has in zip(texts, labels, strict=True)]
        pieces = list(chain.from_iterable(zip(joins, texts, strict=True)))
        edges = list(accumulate(map(len, pieces), initial=at))
        begins.extend(edges[1::2])
        stops.extend(edges[2::2])
        blocks.append("".join(pieces))
        at = edges[-1]
    return begins, stops, "".join(blocks)


def _parts(
    fields: Fields, run: range, begins: Sequence[int], stops: Sequence[int], f: int, start: int, stop: int
) -> Iterator[Part]:
    """The parts of fields that make up [start, stop) of the joined text, up to a field with a join before it.

    `f` is the field in which the text starts; fields are indices into the run.
    """
    first = f
    while f < len(run) and begins[f] < stop:
        if f != first and fields.joins[run[f]]:
            return  # a separate entry follows
        a, b = max(start, begins[f]), min(stop, stops[f])
        if a < b:
            yield f, a - begins[f], b - begins[f]
        f += 1


def split_letters(text: str, lengths: Sequence[int]) -> list[Span]:
    """Split a token into pieces with `lengths` letters; [] if there is anything but marks between them.

    Languages without spaces write several words as one token: `你好吗` has the words 你, 好, 吗.
    """
    pieces: list[Span] = []
    at = 0
    for number, length in enumerate(lengths):
        stop, seen = at, 0
        while stop < len(text) and seen < length:
            seen += text[stop].isalnum()
            stop += 1
        if number + 1 == len(lengths):
            stop = len(text)
        while stop < len(text) and text[stop] in MARKS:
            stop += 1
        if stop < len(text) and not text[stop].isalnum():
            return []
        pieces.append((at, stop))
        at = stop
    return pieces


def slice_parts(parts: Sequence[Part], start: int, stop: int) -> Iterator[Part]:
    """The parts of fields that show text[start:stop] of a token."""
    at = 0
    for f, a, b in parts:
        low, high = max(start, at), min(stop, at + b - a)
        if low < high:
            yield f, a + low - at, a + high - at
        at += b - a
