"""Plain text: all tokens are words, except time stamps and speakers' labels such as those of Otter and Zoom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import RegionFormat
from cappunc_cli.formats.cues import Cue, CueDetail, TurnCounter, time_code
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES as HIDDEN
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import BREAKS, line_of, split_lines
from cappunc_cli.languages.caption_words import GENERIC_LABEL

# Optional marks: a restored line must still be recognised as the same kind of line.
_MARKS = r"[.,:;?!…—]*"
#: `1:02:03.5`, and with frames `01:02:03:12` or `01;02;03;12`.
_CLOCK = (
    r"(?:[0-9]{1,3}:[0-9]{2}(?::[0-9]{2}(?:[:;][0-9]{2})?)?(?:[.,][0-9]{1,3})?|[0-9]{2};[0-9]{2};[0-9]{2};[0-9]{2})"
)
_ANY_CLOCK = re.compile(_CLOCK)
#: One time or two, of which editors number some: `00:00:01:00 - 00:00:02:12`, `1 00:00:01:00 00:00:02:12`.
_TIMES = rf"(?:(?:[0-9]{{1,6}}[ \t]+)?{_CLOCK}{_MARKS}[ \t,>–—→-]{{1,8}})?{_CLOCK}{_MARKS}"
_TIME_FIRST = re.compile(rf"[ \t]*{_TIMES}(?=[ \t]|\Z)")
_ONLY_TIMES = re.compile(rf"[ \t]*[(\[]?{_TIMES}[)\]]?{_MARKS}[ \t]*\Z")
_IN_BRACKETS = rf"[(\[]?{_CLOCK}[)\]]?"
# Otter: `Mary Ann  0:01` on a line of its own; Zoom: `[Mary Ann] 10:00:01`.
_NAME_LINE = re.compile(
    r"[ ]?(?:([^\s:][^\t\r\n]{0,58}?)(?:[ ]{2,10}|[ ]?\t[ ]?)|\[([^\[\]\r\n]{1,60})\] )"
    rf"{_IN_BRACKETS}{_MARKS}[ \t]*\Z"
)
# `Speaker 1`, `Speaker 1 - 0:01`, `[0:01] Speaker 1`.
_SPEAKER_LINE = re.compile(
    rf"[ \t]*+(?:{_IN_BRACKETS})?[ \t–—-]*({GENERIC_LABEL.pattern}){_MARKS}"
    rf"[ \t–—-]*(?:{_IN_BRACKETS})?{_MARKS}[ \t]*\Z",
    re.IGNORECASE,
)
# `SPEAKER_01|hello`.
_PIPED = re.compile(rf"[ \t]*({GENERIC_LABEL.pattern})[ \t]*\|(?=[ \t]*[^\s|])", re.IGNORECASE)
# Fathom: `0:01 - Ada Byron (Acme)`; Rev: `Ada Byron (00:01)`; Markdown: `**Ada Byron** [00:01]`.
_TIMED_NAME = re.compile(
    rf"[ \t@#*_]*(?:{_IN_BRACKETS}[ \t|*_–—-]+([^\W\d_][^\t\r\n]{{0,58}}?)"
    rf"|([^\W\d_][^\t\r\n]{{0,58}}?)[ \t|*_,–—-]+{_IN_BRACKETS})[*_]*{_MARKS}[ \t]*\Z"
)
# Markdown without times: `**Ada Byron**`, right above what she says.
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)((?:[^*_\\\r\n]|\\.){1,60})\1[ \t]*\Z")
# Zoom's chat: `00:11:09<tab>Mary Ann:<tab>`, `00:11:09<tab> From Mary Ann to Everyone:` and `… From Mary Ann : `.
_CHAT = re.compile(
    rf"{_CLOCK}(?:[ ]?\t[ ]?(?P<name>[^\t\r\n:]{{1,80}}):(?=[ ]?\t)"
    r"|(?:[ ]?\t[ ]*|[ ]{2,4})From[ ]+(?P<from>[^\t\r\n:]{1,80}?)(?:[ ]+to[ ][^\t\r\n:]{1,80}|[ ]):)"
)
_BLANK_LINE = re.compile(rf"(?:{BREAKS.pattern})[^\S\r\n]*(?:{BREAKS.pattern})")
# A word with or without marks: restored text must have the same paragraphs.
_WORD = re.compile(r"\w\S*")
#: A heading in Markdown.
_HEADING = re.compile(r"[ \t\ufeff]*#{1,6}[ \t]+[^\s#]")
#: In wrapped text, fewer than one line in this many has room for the first word of the next one.
_WRAPPED = 5
#: A number or time in a table, and the fewest rows of one.
_NUMBER_CELL = re.compile(rf"\s*(?:[-+]?[0-9]{{1,12}}(?:[.,][0-9]{{1,9}})?|{_CLOCK})\s*")
_FEWEST_ROWS = 2
#: Fewer lines do not show how a text is broken into lines.
_FEWEST_LINES = 4
#: Blank lines separate paragraphs if there are at least this many words between them on average; double-spaced lines
#: have fewer.
_PARAGRAPH = 20
#: A paragraph with fewer words than this is a heading or a short answer, and does not end a turn.
_SHORTEST = 5


def _utterances(text: str, lines: Sequence[Span]) -> set[int]:
    """The numbers of lines that may begin a turn: all but the first where each line is an utterance.

    They are none in text with blank lines, and in wrapped text, whose lines end where the next word would not have fit.
    """
    if any(not text[start:stop].strip() for start, stop in lines):
        return set()
    said = [[len("".join(filter(str.isalnum, word))) for word in text[start:stop].split()] for start, stop in lines]
    widths = [sum(letters) + len(letters) for letters in said]
    width = sorted(widths)[(len(widths) - 1) * 9 // 10] if widths else 0
    had_room = sum(own + 1 + following[0] <= width for own, following in zip(widths, said[1:], strict=False))
    return set(range(1, len(lines))) if len(lines) >= _FEWEST_LINES and _WRAPPED * had_room > len(lines) else set()


def _has_paragraphs(text: str, lines: Sequence[Span]) -> bool:
    """Whether blank lines separate paragraphs rather than stanzas or single lines."""
    if not _BLANK_LINE.search(text):
        return False
    words = paragraphs = 0
    blank = True
    for start, stop in lines:
        before, blank = blank, not text[start:stop].strip()
        paragraphs += before and not blank
        words += sum(1 for _ in _WORD.finditer(text, start, stop))
    return words >= _PARAGRAPH * paragraphs


def _name_lines(text: str, lines: Sequence[Span]) -> dict[int, str]:
    """The names on lines right after lines of times, as Premiere writes them, or right before, or with a time.

    Names are told from speech by their repetition, since marks and case may change.
    """
    heads = [text[start : min(stop, start + 200)] for start, stop in lines]
    times = {i for i, line in enumerate(heads) if _ONLY_TIMES.match(line)}
    for step in (1, -1):
        names = [i + step for i in times]
        # After a name, the next line is speech.
        shown = {*names, *(i + 1 for i in names if step > 0)}
        if len(times) < 2 or any(not 0 <= i < len(lines) or i in times for i in shown):
            continue
        if _are_names([heads[i] for i in names]) and all(heads[i].strip() for i in shown):
            return {i: text[slice(*lines[i])].strip() for i in names}
    with_colon = ((i, line) for i, line in enumerate(heads) if ":" in line or ";" in line)
    timed = {i: found[1] or found[2] for i, line in with_colon if (found := _TIMED_NAME.match(line))}
    bold = {
        i: re.sub(r"\\(.)", r"\1", found[2]).strip()
        for i, (line, following) in enumerate(pairwise(heads))
        if following.strip() and (found := _BOLD_LINE.match(line))
    }
    if not timed:
        return bold
    filled = [i for i, line in enumerate(heads) if line.strip()]
    before_speech = sum(i in timed and following not in timed for i, following in pairwise(filled))
    return timed if 2 * before_speech > len(timed) and _are_names(list(timed.values())) else bold


def _are_names(texts: Sequence[str]) -> bool:
    """Whether texts occur twice on average, not counting marks and case."""
    keys = {"".join(filter(str.isalnum, text.casefold())) for text in texts}
    return "" not in keys and 2 * len(keys) <= len(texts)


def _text_cells(text: str, lines: Sequence[Span]) -> dict[int, Span]:
    """Where the text is in the lines of a table with tabs that has numbers, too: in the column with most letters.

    {} for other texts, and where the only numbers are times before the text: any line may have these.
    """
    rows = {i: text[start:stop].split("\t") for i, (start, stop) in enumerate(lines) if text[start:stop].strip()}
    width = len(next(iter(rows.values()), ()))
    if len(rows) < _FEWEST_ROWS or width < 2 or any(len(cells) != width for cells in rows.values()):
        return {}
    columns = list(zip(*rows.values(), strict=True))
    # The first line may name the columns.
    numbers = [k for k, cells in enumerate(columns) if all(_NUMBER_CELL.fullmatch(cell) for cell in cells[1:])]
    own = max(range(width), key=lambda k: sum(map(str.isalpha, "".join(columns[k]))))
    clocks = [k for k in numbers if all(_ANY_CLOCK.fullmatch(cell.strip()) for cell in columns[k])]
    if own in numbers or all(k < own and k in clocks for k in numbers):
        return {}
    named = not all(_NUMBER_CELL.fullmatch(columns[k][0]) for k in numbers)
    spans = {}
    for number, (i, cells) in enumerate(rows.items()):
        start = lines[i][0] + sum(len(cell) + 1 for cell in cells[:own])
        spans[i] = (start, start) if named and not number else (start, start + len(cells[own]))
    return spans


def _label(line: str, length: int) -> tuple[int, str | None]:
    """The length of the label at the start of a line (0 for none), and the speaker that it names."""
    if length == len(line) and (found := _SPEAKER_LINE.match(line)):
        return length, found[1]
    if "|" in line and (found := _PIPED.match(line)):
        return found.end(), found[1]
    if not line or not (line[0].isdigit() or line[-1] in " \t)].,:;?!…—" or line[-1].isdigit()):
        return 0, None
    if length == len(line) and (found := _NAME_LINE.match(line)):
        return length, found[1] or found[2]
    if found := _CHAT.match(line):
        return found.end(), (found["name"] or found["from"]).strip()
    found = _TIME_FIRST.match(line)
    return (found.end() if found else 0), None


class PlainText(RegionFormat):
    """Plain text: all tokens are words, except time stamps and speakers' labels such as those of Otter and Zoom."""

    name = "txt"
    suffixes = (".txt", ".text")

    def sniff(self, text: str) -> bool:
        """Whether this is text at all."""
        return "\0" not in text

    def read(self, text: str) -> Document:
        """Read plain text. `Word.cue` is the number of the line, from 0; a label or a paragraph starts a turn.

        Blank lines that may not separate paragraphs are recorded in `Word.blank_before`, as their meaning depends on
        the text around them. Raises BadInput for NUL characters.
        """
        if "\0" in text:
            raise BadInput("this is not text", line=line_of(text, text.index("\0")))
        words, cues, turns = list[Word](), list[Cue](), TurnCounter()
        sound, begin = False, None  # a sound, and a time on a line of its own or of a name, before the next word
        lines, paragraph_start = split_lines(text), 0
        has_paragraphs, names = _has_paragraphs(text, lines), _name_lines(text, lines)
        may_begin_turn, cells = _utterances(text, lines), _text_cells(text, lines)
        for number, (start, stop) in enumerate(lines):
            if not text[start:stop].strip():
                # A paragraph ends with a sentence, like a turn.
                if has_paragraphs and len(words) - paragraph_start >= _SHORTEST:
                    turns.announce("")
                elif not has_paragraphs:
                    may_begin_turn.add(number)
                paragraph_start = len(words)
            skipped, speaker = (
                (stop - start, names[number])
                if number in names
                else _label(text[start : min(stop, start + 200)], stop - start)
            )
            if number in cells:
                (own, stop), speaker = cells[number], None
                skipped = own - start
            whole = skipped == stop - start or _ONLY_TIMES.match(text, start, stop)
            if whole and (clock := _ANY_CLOCK.search(text, start, stop)):
                begin = time_code(clock[0], self.fps)
            heading = _HEADING.match(text, start, stop) is not None
            turns.announce("" if heading else speaker)
            cues.append(Cue(None, None, (start + skipped, stop)))
            speech, first = scan(text, start + skipped, stop, HIDDEN), len(words)
            for n, word in enumerate(speech.words):
                word.start, word.cue, word.turn = begin, number, turns.next(speech.speakers.get(n))
                word.sound |= sound
                sound, begin = False, None
            words += speech.words
            if heading and len(words) > first:
                words[-1].followed = True  # a heading gets no period
            turns.announce("" if heading else speech.trailing)
            sound |= speech.sound
        for before, after in pairwise(words):
            after.blank_before = not may_begin_turn.isdisjoint(range(before.cue + 1, after.cue + 1))
        return Document(self.name, text, words, speakers=turns.names, detail=CueDetail(cues, HIDDEN, timed=False))
