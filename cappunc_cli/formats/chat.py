r"""CHAT, the transcripts of TalkBank and CHILDES: `*CHI:	more cookie .`, with dependent lines (`%mor:`) after it.

Its signs are codes, so little of it is ever changed: plain words get capitals, but not the first of an utterance, which
CHAT writes as it is within a sentence; commas stand apart (` ,`); and a `.`, `?` or `!` at the end becomes another of
these. All else stays: codes in words and beside them, times, headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from cappunc_cli.document.labels import FOLD, TERMINAL, Label, cached_strip, dress
from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue
from cappunc_cli.formats.splice import line_of, split_lines

_HEADER = re.compile(r"\ufeff?(?:@UTF8[ \t]*\r?\n@|@Begin[ \t]*\r?\n)")
#: `*CHI: 0 .` is an action without words.
_SPEAKER = re.compile(r"\*([^\s:*]{1,20}):(?=[ \t])(?!\s*0[\s.\[])")
_PARTICIPANTS = re.compile(r"^@Participants:((?:[^\r\n]|\r?\n\t)*)", re.MULTILINE)
_BULLET = r"\x15[^\x15\r\n]*\x15"
_TIMES = re.compile(r"\x15(?:%snd:\"[^\"]*\"_|[^\x15]*?_)?([0-9]{1,9})_([0-9]{1,9})\x15")
#: Words that are not said or not understood, events, fragments, and how an utterance is linked or broken off.
_NO_WORD = r"(?<![^\s<])(?:0[^\s>]*|&[=*+~][^\s>]*|\+[^\s>]*|(?:xxx|yyy|www)(?![^\s>]))"
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
        free = [_FREE.match(document.source, word.places[0][-1][1]) is not None for word in document.words]
        rows = zip(document.texts, texts, begins, ends, free, strict=False)
        return super().write(document, [_in_chat(*row) for row in rows])

    def with_texts(self, document: Document, texts: Sequence[str]) -> Document:
        """The document with new texts as in other files: sentences begin with capitals, and marks touch their words."""
        plain = []
        for text, old in zip(texts, document.texts, strict=True):
            bare, label = cached_strip(text)
            kept = Label(label.case, cached_strip(old)[1].before, FOLD.get(label.mark, label.mark), label.form)
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
    bare, label = cached_strip(new)
    before = cached_strip(old)[1]
    allowed = TERMINAL if ends and before.mark in tuple(TERMINAL) else "" if ends or not free else ","
    after = before.after
    if label.mark != before.mark and (label.mark in tuple(allowed) or (not label.mark and before.mark == ",")):
        after = f" {label.mark}" if label.mark else ""
    kept = replace(label, before=before.before, after=after)
    return dress(bare, replace(kept, case=before.case, form=before.form) if begins else kept)
