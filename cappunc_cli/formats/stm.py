"""NIST's STM, one segment per line: `FILE CHANNEL SPEAKER BEGIN END [<LABELS>] TEXT`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cappunc_cli.document.labels import are_marks, cached_strip, fold
from cappunc_cli.document.words import Document, Notice, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.cue_reader import TurnCounter
from cappunc_cli.formats.nonspeech import belongs, is_address
from cappunc_cli.formats.splice import same_word, split_lines

_NUMBER = r"[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+"
# `;;` starts a comment.
_ROW = re.compile(
    r"[ \t\ufeff]*+(?!;)([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)"
    rf"[ \t]++({_NUMBER})[ \t]++({_NUMBER})(?=[ \t]|\Z)(?:[ \t]++<[^>]*>(?=[ \t]|\Z))?"
)
# No-break spaces separate words, too, as they do in captions.
_TOKEN = re.compile(r"\S+")
# To scoring tools these are not plain words, so they are not touched: `(uh)` and `(%hesitation)` are
# optional, `-a` and `she-` are fragments, `@` is nothing said, `A\;S` has an escape.
_KEPT = re.compile(r"[<\[({}%@*+&~/-].*|.*-|.*[\\{}].*", re.DOTALL)
_UNSCORED = "ignore_time_segment_in_scoring"
#: Values of the speaker column in rows that are not transcribed.
_NOBODY = frozenset(("inter_segment_gap", "excluded_region"))


def _row_key(line: str) -> spans.RowKey | None:
    row = _ROW.match(line)
    if row is None or float(row[4]) > float(row[5]):
        return None
    # CTM has times in columns 3 and 4; the name of a speaker may be a whole number.
    speaker = not re.fullmatch(_NUMBER, row[3]) or (row[3].isdigit() and any(map(str.isalpha, line[row.end() :])))
    return (row[1], row[2], float(row[4])) if speaker else None


def _row(source: str, number: int, found: re.Match[str], stop: int, turns: TurnCounter) -> Iterator[Word]:
    begin, end = (round(float(found.group(i)) * 1000) for i in (4, 5))
    turns.announce(" ".join(found.group(1, 2, 3)))
    places = list(_words(source, found.end(), stop))
    begun = False  # whether the word comes after an address or a sign that follows a word
    for i, ((a, b), followed) in enumerate(places):
        first, last = i == 0, i + 1 == len(places)
        times = begin if first else None, end if last else None
        turn = turns.next(None)
        gap = source[b : stop if last else places[i + 1][0][0]] if followed else ""
        signs = "".join(f" {token}" for token in gap.split() if belongs(token))
        yield Word(source[a:b], *times, number, turn, (((a, b),),), followed=followed, preceded=begun, signs=signs)
        begun = followed


def _words(source: str, start: int, stop: int) -> Iterator[tuple[Span, bool]]:
    """Spans of the words, and whether an address or a sign follows; detached marks belong to the word before them."""
    last: Span | None = None
    marked = False  # whether detached marks follow the last word
    depth = 0  # of braces around alternatives: `{ um / uh / @ }`
    for found in _TOKEN.finditer(source, start, stop):
        token = found.group()
        depth = max(0, depth + token.count("{") - token.count("}"))
        bare = cached_strip(token)[0]
        # With or without marks: `she-,` is a fragment, too.
        kept = any(map(_KEPT.fullmatch, (token, bare))) or bare == _UNSCORED or is_address(token)
        spoken = not depth and any(map(str.isalnum, token)) and not kept
        # Whether a mark makes another word of this one shows with the first; the rest may be thousands.
        detached = last is not None and not spoken and not depth and are_marks(token)
        if last is not None and detached:
            detached = marked or same_word(source[last[0] : found.end()], source[slice(*last)])
        if last is not None and detached:
            last, marked = (last[0], found.end()), True
            continue
        if last is not None:
            yield last, not spoken and not depth and belongs(token)
        last, marked = found.span() if spoken else None, False
    if last is not None:
        yield last, False


class Stm(Format):
    """NIST's STM, one segment per line: `FILE CHANNEL SPEAKER BEGIN END [<LABELS>] TEXT`."""

    name = "stm"
    suffixes = (".stm",)

    def sniff(self, text: str) -> bool:
        """Whether the text consists of rows that agree."""
        return spans.are_rows(text, _row_key)

    def read(self, text: str) -> Document:
        """Read an STM file. `Word.cue` is the number of the line, from 0; a new file, channel or speaker is a new turn.

        Raises BadInput where there is text but no row.
        """
        words: list[Word] = []
        notices: list[Notice] = []
        turns = TurnCounter()
        rows = 0
        for number, (start, stop) in enumerate(split_lines(text)):
            found = _ROW.match(text, start, stop)
            if found is None:
                line = text[start:stop].strip(" \t\ufeff")
                if line and not line.startswith(";;"):
                    notices.append(Notice(number + 1, "not a row of file, channel, speaker, times", unread=True))
                continue
            rows += 1
            if fold(found.group(3)) not in _NOBODY:
                words += _row(text, number, found, stop, turns)
        if not rows and notices:
            raise BadInput("no row such as: talk A ada 0.52 1.83 hello there")
        names = {turn: key.split()[-1] for turn, key in turns.names.items()}
        return Document(self.name, text, words, tuple(notices), names)
