"""The words in a piece of visible text: all that is no sound, lyric, label (unspoken.py) or address.

What counts as a word must not hang on its case or its marks, or a restored file would be
read as other words. Two rules cannot do without (`John: yes`, `(HE LEAVES AT LAST)`);
guard.py looks after them when a file is written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cappunc_cli.formats.source.visible import HIDDEN, Visible, visible
from cappunc_cli.formats.timed_text.lines import BREAKS, milliseconds
from cappunc_cli.formats.timed_text.nonspeech import masked
from cappunc_cli.transcript.labels import MARKS, cached_strip
from cappunc_cli.transcript.words import Copy, Span

_TOKEN = re.compile(r"\S+")
# With marks that cannot make an address of a word.
_WORDS_ALONE = re.compile(r"(?>(?:\s*+[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…]?(?=\s|\Z))+)\s*+")
# `[ __ ]`: a word that YouTube does not write.
_CENSORED = re.compile(r"\[[\s_*]*\]")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_ADDRESS = re.compile(
    r"[\"'(<“‘–—-]*(?:[a-z][a-z0-9+.-]*://.*|www\..+|@\w.*|[^@]++@[^@.]++\.\w[^@]*+"
    r"|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|int|io|ai|dev|app|tv|info|biz|eu|uk|de|fr)(?:[/:].*)?)"
    r"[.,;:!?)\"'”’…–—-]*",
    re.IGNORECASE,
)
# `2 ^ 3 = 8`, `50 %`, `12 €`, `Johnson & Johnson`: no mark parts a word from these.
_OPERATOR = re.compile(r"[&\^*/%‰°=+<>|~−×÷±≠≈≤≥→$€£¥]+")
_ATTACHED = frozenset(MARKS) | frozenset('–‒―-.。，、？！：；؟،؛।\u037e"”»›)]')


#: Milliseconds of an inline stamp as the file spells it, None where it is no time.
StampReader = Callable[[str], int | None]


class SpokenWord(NamedTuple):
    """A word: its text, its place, its line in the region that was scanned (from 0).

    `speaker` is None where nobody new begins to speak with it, the name of who does, or ''
    where that is not said. `stamp` is its inline time in milliseconds. `sound` says that a sound is
    heard between the word before and this one; `followed`, that an address or something
    else stands behind it that is no word but belongs to the sentence.
    """

    text: str
    copy: Copy
    line: int
    speaker: str | None = None
    stamp: int | None = None
    sound: bool = False
    followed: bool = False


@dataclass(slots=True)
class Speech:
    """The words of a region, heard one by one; after the last come the speaker `trailing` and perhaps a `sound`."""

    words: Iterable[SpokenWord]
    visible: Visible
    trailing: str | None = None
    sound: bool = False


def plain_words(source: str, start: int, stop: int) -> list[int] | None:
    """Where each word of source[start:stop] begins, if it has words and shows nothing else; most captions do not.

    Then `scan` finds these words, as white space parts them, and nothing about them: the markup of any format has a
    bracket, a backslash, an ampersand or a character that nobody sees.
    """
    if _WORDS_ALONE.fullmatch(source, start, stop) is None:
        return None
    return [found.start() for found in _TOKEN.finditer(source, start, stop)]


def scan(
    source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN, clock: StampReader = milliseconds
) -> Speech:
    """The words of source[start:stop], a cue or a line; `hidden` finds the markup in it, `clock` reads its stamps."""
    speech = scan_lazily(source, start, stop, hidden, clock)
    speech.words = tuple(speech.words)
    return speech


def scan_lazily(
    source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN, clock: StampReader = milliseconds
) -> Speech:
    """As `scan`, but its words can be heard only once, and what comes after them is known then: a line may be long."""
    speech = Speech((), visible(source, start, stop, hidden))
    speech.words = _cast(speech, clock)
    return speech


def _cast(speech: Speech, clock: StampReader) -> Iterator[SpokenWord]:
    """Give words their lines, speakers and stamps, each list walked once."""
    seen = speech.visible
    masks, speakers, sounds = masked(seen.text)
    if seen.voices:
        speakers = sorted([*speakers, *seen.voices], key=lambda event: event[0])
    breaks = [found.start() for found in BREAKS.finditer(seen.text)]
    stamps = seen.stamps
    line = s = t = n = 0
    end = -1
    for a, b, followed in _words(seen, masks):
        while line < len(breaks) and breaks[line] < a:
            line += 1
        speaker = None
        while s < len(speakers) and speakers[s][0] <= a:
            speaker = speakers[s][1] or speaker or ""
            s += 1
        stamp = None
        while t < len(stamps) and stamps[t][0] <= a:
            if stamps[t][0] >= end:  # not a karaoke stamp inside the word before
                stamp = clock(stamps[t][1])
            t += 1
        sound = n < len(sounds) and sounds[n] <= a
        n = bisect_right(sounds, a, n) if sounds else 0
        yield SpokenWord(seen.text[a:b], seen.copy(a, b), line, speaker, stamp, sound, followed)
        end = b
    for _, name in speakers[s:]:
        speech.trailing = name or speech.trailing or ""
    speech.sound = n < len(sounds)


def _words(seen: Visible, masks: list[Span]) -> Iterator[tuple[int, int, bool]]:
    """Spans of the words in the visible text, and whether something opaque follows.

    Detached marks on the same line belong to the word.
    """
    text = seen.text
    last: Span | None = None
    end = 0  # of the marks behind the last word
    dots: Span | None = None  # `... and so on`, where no word is before them
    for a, b in _runs(text, masks):
        run = text[a:b]
        plain = run.isalnum()
        # `so ,[applause]`: without the comma the space would be missed.
        alone = b == len(text) or text[b].isspace()
        if last is not None and not plain and alone and _attaches(run, text[end:a]):
            end = b
            continue
        solid = plain or any(map(str.isalnum, run))
        opaque = not plain and (_opaque(run) if solid else _belongs(run, text, a))
        is_word = solid and not opaque
        if last is not None:
            yield *_with_marks(text, last, end), opaque
        if is_word and dots is not None and _attaches(text[slice(*dots)], text[dots[1] : a]):
            a = dots[0]
        dots = (a, b) if not is_word and _ELLIPSIS.fullmatch(run) else None
        last, end = ((a, b), b) if is_word else (None, 0)
    if last is not None:
        yield *_with_marks(text, last, end), False


def _belongs(run: str, text: str, at: int) -> bool:
    """Whether what is no word, at an offset of the text, belongs to the sentence: `^`, `[ __ ]`."""
    return _OPERATOR.fullmatch(run) is not None if run else _CENSORED.match(text, at) is not None


def _attaches(run: str, gap: str) -> bool:
    return bool(run and gap) and _ATTACHED.issuperset(run) and BREAKS.search(gap) is None


def _with_marks(text: str, word: Span, end: int) -> Span:
    start, stop = word
    if end == stop or cached_strip(text[start:end])[0] != cached_strip(text[start:stop])[0]:
        return word
    return start, end


def _runs(text: str, masks: list[Span]) -> Iterator[Span]:
    """Tokens, cut where masks cut them; an empty run stands for each mask."""
    if not masks:
        yield from map(re.Match.span, _TOKEN.finditer(text))
        return
    m = 0
    for found in _TOKEN.finditer(text):
        a, stop = found.span()
        while m < len(masks) and masks[m][1] <= a:
            m += 1
        while a < stop:
            if m == len(masks) or masks[m][0] >= stop:
                yield a, stop
                break
            if masks[m][0] > a:
                yield a, masks[m][0]
            yield masks[m][0], masks[m][0]
            a = masks[m][1]
            if a <= stop:
                m += 1


def _opaque(run: str) -> bool:
    # Braces and backslashes are LaTeX or markup of some player, and none of ours.
    if "{" in run or "}" in run or "\\" in run:
        return True
    return ("." in run or "@" in run or "/" in run) and _ADDRESS.fullmatch(run) is not None
