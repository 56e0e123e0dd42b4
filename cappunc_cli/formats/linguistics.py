r"""Transcripts of linguists that are not XML: Praat's TextGrid, and CHAT, that of TalkBank and CHILDES.

Praat has words in intervals of named tiers, in a long and a short form. CHAT has utterances, such as `*CHI:\tmore
cookie .`, with dependent lines (`%mor:`) after them. Its signs are codes, so little of it is ever changed. Plain words
get capitals, but not the first of an utterance, which CHAT writes as it is within a sentence. Commas stand apart
(` ,`). A `.`, `?` or `!` at the end becomes another of these. All else stays: codes in words and beside them, times,
headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from cappunc_cli.document.labels import FOLD, TERMINAL, Label, dress, fold, strip
from cappunc_cli.document.words import Document, Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, spoken_once
from cappunc_cli.formats.splice import line_of, split_lines, with_doubled_quotes

_START = re.compile(r'[\s\ufeff]*+(?:File type\s*=\s*)?"ooTextFile')
# Praat itself reads strings, free-standing numbers and flags, and ignores everything else as comment.
# So the long form reads like the short one: `xmin = 0.5`, `intervals [3]:`, `text = "so ""hi"""`.
_TOKEN = re.compile(
    r'"((?>(?:[^"]++|"")*))("?)'
    r"|(?<!\S)-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?!\S)|<(?:exists|absent)>"
)
_SPOKEN = re.compile(
    r"word|utter|\bsent|phrase|transc|\btext|token|\bort\b|\btrn\b|speech|spoken|\bturns?\b|orthogr|\bipus?\b|caption",
    re.IGNORECASE,
)
_NOT_SPOKEN = re.compile(
    r"phon|\bphn\b|syll|segment|\bseg\b|(?<!ort-)\bmau\b|\bka[ns]\b|\bpos\b|class\b|\btones?\b|pitch|\bbreaks?\b"
    r"|\bnotes?\b|comment|gloss|\bipa\b",
    re.IGNORECASE,
)
# In seconds: longer than any recording, and small enough for rounding.
_LONGEST = 1e9
# What forced aligners write into intervals of silence.
_SILENCE = frozenset(("sil", "sp", "spn", "pau", "nsn", "h#"))


#: A name, and intervals with the spans of their texts, without quotes.
_Tier = tuple[str, list[Cue]]


def _tiers(source: str) -> Iterator[_Tier]:
    """The tiers of intervals of a TextGrid; tiers of points have no durations. Raises BadInput."""
    tokens = _TOKEN.finditer(source)

    def following() -> re.Match[str]:
        if found := next(tokens, None):
            return found
        raise BadInput("the TextGrid ends too early")

    def wrong(what: str, found: re.Match[str]) -> BadInput:
        return BadInput(what, line=line_of(source, found.start()))

    def string() -> tuple[str, Span]:
        found = following()
        if found[1] is None:
            raise wrong(f"a number where a string should be: {found[0][:40]}", found)
        if not found[2]:
            raise wrong("a string without its closing quote", found)
        return found[1], found.span(1)

    def numbers(count: int) -> list[float]:
        read = []
        for found in (following() for _ in range(count)):
            if found[0][0] in '"<' or not abs(number := float(found[0])) < _LONGEST:
                raise wrong(f"not a number: {found[0][:40]}", found)
            read.append(number)
        return read

    if not string()[0].startswith("ooTextFile") or not string()[0].startswith("TextGrid"):
        raise BadInput("a Praat file, but not a TextGrid")
    numbers(2)
    for _ in range(int(numbers(1)[0]) if following()[0] == "<exists>" else 0):
        (kind, _), (name, _) = string(), string()
        count = range(int(numbers(3)[2]))
        if kind not in ("TextTier", "IntervalTier"):
            raise BadInput(f"a tier of unknown kind: {kind[:40]}")
        rows = [(numbers(1 + (kind == "IntervalTier")), string()[1]) for _ in count]
        if kind == "IntervalTier":
            yield name, [Cue(round(start * 1000), round(end * 1000), text) for (start, end), text in rows]


def spoken_names(names: Sequence[str]) -> list[int]:
    """The indices of tiers named after words or utterances; if there are none, of those not named otherwise."""
    plain = [i for i, name in enumerate(names) if not _NOT_SPOKEN.search(name)]
    return [i for i in plain if _SPOKEN.search(names[i])] or plain


def _spoken(source: str, interval: Cue) -> bool:
    text = source[slice(*interval.text)].strip()
    return bool(text) and fold(strip(text)[0]) not in _SILENCE


class TextGrid(CueFormat):
    """Praat's TextGrid, in long and short form: the words are in intervals of named tiers."""

    name = "textgrid"
    suffixes = (".textgrid",)
    signature = _START
    running_text = False
    timed = False

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The intervals of tiers of words, tier by tier. Raises BadInput for text that is not a TextGrid."""
        found = _tiers(text) if text.strip() else ()
        spoken = ((name, [cue for cue in own if _spoken(text, cue)]) for name, own in found)
        tiers = [tier for tier in spoken if tier[1]]
        return [cue._replace(track=str(i)) for i in spoken_names([name for name, _ in tiers]) for cue in tiers[i][1]]

    def read(self, text: str) -> Document:
        """Read the words tier by tier, each tier as a turn.

        Tiers with the same words, such as `utterances` and `words`, give one word with two copies.
        """
        document = super().read(text)
        tiers = groupby(document.words, key=lambda word: document.detail.cues[word.cue].track)
        return replace(document, words=spoken_once((None, list(words)) for _, words in tiers), speakers={})

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all tiers that have them."""
        return super().write(document, list(map(with_doubled_quotes, texts)))


_HEADER = re.compile(r"\ufeff?(?:@UTF8[ \t]*\r?\n@|@Begin[ \t]*\r?\n)")
#: `*CHI: 0 .` is an action without words.
_SPEAKER = re.compile(r"\*([^\s:*]{1,20}):(?=[ \t])(?!\s*0[\s.\[])")
_PARTICIPANTS = re.compile(r"^@Participants:((?:[^\r\n]|\r?\n\t)*)", re.MULTILINE)
_BULLET = r"\x15[^\x15\r\n]*\x15"
_TIMES = re.compile(r"\x15(?:%snd:\"[^\"]*\"_|[^\x15]*?_)?([0-9]{1,9})_([0-9]{1,9})\x15")
#: Words that are not said or not understood, events, fragments (`&+lon`, once `&lon`; only `&-um` is a word), and how
#: an utterance is linked or broken off.
_NO_WORD = r"(?<![^\s<])(?:0[^\s>]*|&[^-\s][^\s>]*|\+[^\s>]*|(?:xxx|yyy|www)(?![^\s>]))"
#: All codes. The white space before a bracket goes with it, as a bracket alone would break the line.
_HIDDEN = re.compile(rf"{_BULLET}|\s*\[[^\[\]]*\]|{_NO_WORD}|\([0-9.:]+\)|(?<![^\s<])&-?|@[^\s>]*|[<>():^ˈˌ↑↓⌈⌉⌊⌋]")
#: What stands after a word where a mark can stand.
_FREE = re.compile(r"\s|\Z")


class Chat(CueFormat):
    """CHAT, the transcripts of TalkBank and CHILDES: the words of utterances, but for those with codes."""

    name = "chat"
    suffixes = (".cha",)
    signature = _HEADER
    hidden = _HIDDEN
    missing = "no utterance such as *CHI: more cookie ."

    def cues(self, text: str, notices: list[Notice]) -> Sequence[Cue]:  # noqa: ARG002
        """The utterances, each with the lines that continue it. Raises BadInput where there is no @End."""
        cues = list(_cues(text))
        if cues and _HEADER.match(text) and not re.search(r"^@End\b", text, re.MULTILINE):
            raise BadInput("ends without @End", line=line_of(text, len(text.rstrip())))
        return cues

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Write capitals, commas and the marks at the ends of utterances, and leave out all that CHAT would misread."""
        ends = [a.cue != b.cue for a, b in pairwise(document.words)] + [True] * bool(document.words)
        begins = [True, *ends]
        free = [_FREE.match(document.source, word.until) is not None for word in document.words]
        rows = zip(document.texts, texts, begins, ends, free, strict=False)
        return super().write(document, [_in_chat(*row) for row in rows])

    def with_texts(self, document: Document, texts: Sequence[str]) -> Document:
        """The document with new texts as in other files: sentences begin with capitals, and marks touch their words."""
        plain = []
        for text, old in zip(texts, document.texts, strict=True):
            bare, label = strip(text)
            kept = Label(label.case, strip(old)[1].before, FOLD.get(label.mark, label.mark), label.form)
            plain.append(dress(bare, kept))
        return self.read(super().write(document, plain))


def _cues(text: str) -> Iterator[Cue]:
    names = _names(text)
    lines = split_lines(text)
    number = 0
    while number < len(lines):
        start, stop = lines[number]
        number += 1
        found = _SPEAKER.match(text, start, stop)
        while number < len(lines) and text[lines[number][0] : lines[number][0] + 1] in ("\t", " "):
            stop = lines[number][1]
            number += 1
        if found:
            place = found.end(), stop
            times = [(int(bullet[1]), int(bullet[2])) for bullet in _TIMES.finditer(text, *place)]
            begin, end = times[0][0] if times else None, times[-1][1] if times else None
            yield Cue(begin, end, place, names.get(found[1], found[1]))


def _names(text: str) -> dict[str, str]:
    """The names of participants by their codes: `MOT Mary Mother` has one, `MOT Mother` has only a role."""
    found = _PARTICIPANTS.search(text)
    parts = [entry.split() for entry in found[1].split(",")] if found else []
    return {part[0]: part[1].replace("_", " ") for part in parts if len(part) > 2}


def _in_chat(old: str, new: str, begins: bool, ends: bool, free: bool) -> str:
    """A new text of a word as far as CHAT can have it.

    The word `begins` or `ends` an utterance; after it is room for a mark if it is `free`.
    """
    bare, label = strip(new)
    before = strip(old)[1]
    allowed = TERMINAL if ends and before.mark in tuple(TERMINAL) else "" if ends or not free else ","
    after = before.after
    if label.mark != before.mark and (label.mark in tuple(allowed) or (not label.mark and before.mark == ",")):
        after = f" {label.mark}" if label.mark else ""
    kept = replace(label, before=before.before, after=after)
    return dress(bare, replace(kept, case=before.case, form=before.form) if begins else kept)
