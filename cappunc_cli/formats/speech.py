"""What in a piece of visible text is spoken: everything but sounds, lyrics, labels, addresses.

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

from cappunc_cli.labels import MARKS, fold, stripped
from cappunc_cli.words import Copy, Span

from .lines import BREAKS, milliseconds
from .spans import HIDDEN, Visible, visible
from .vocabulary import ASIDES, GENERIC_LABEL, JOINING, NO_NAMES, PARTICLES, SOUNDS, THROUGH, UNHEARD, UNNAMED

# Most lines have none of these and are words from end to end.
_SUSPECT = re.compile(r"[\[(（【［♪♫♬#*@/:：>{\\‐‑–—―-]|\.\w|^\s*-", re.MULTILINE)
_TOKEN = re.compile(r"\S+")
# With marks that cannot make an address of a word.
_WORDS_ALONE = re.compile(r"(?:\s*+[^\W_]++(?:['’-][^\W_]++)*+[.,?!;…]?(?=\s|\Z))++\s*+")
_BRACKETED = re.compile(r"\[[^\[\]]*\]|【[^【】]*】|［[^［］]*］")
_PARENTHESES = re.compile(r"\(([^()]*)\)|（([^（）]*)）")
# `*sighs*`, as Whisper writes it, and `**cough**`.
_STARRED = re.compile(r"(?<!\S)(\*{1,3})(?=\S)([^*\r\n]{1,60})(?<=\S)\1(?!\w)")
#: Words of a description of a sound amid what is said.
_LONGEST_SOUND = 8
_NOTE = re.compile(r"[♪♫♬]")
_HASHED = re.compile(r"^[ \t]*(#[ \t][^#]*[ \t]#)[ \t]*\r?$", re.MULTILINE)
_CHEVRONS = re.compile(r"(?<!\S)>{2,}")
_DASH = re.compile(r"(?<!\S)[-‐‑–—―](?!\S)")
_HEAD = re.compile(r"[^\S\r\n]*(?:>+|[‐‑–—―-]{1,3}(?![0-9])|\[[^\[\]\r\n]*\]|\([0-9:.,]+\))")
# `[ __ ]`: a word that YouTube does not write.
_CENSORED = re.compile(r"\[[\s_*]*\]")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_BLANK = re.compile(r"[^\S\r\n]*")
_ADDRESS = re.compile(
    r"[\"'(<“‘–—-]*(?:[a-z][a-z0-9+.-]*://.*|www\..+|@\w.*|[^@]++@[^@.]++\.\w[^@]*+"
    r"|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|int|io|ai|dev|app|tv|info|biz|eu|uk|de|fr)(?:[/:].*)?)"
    r"[.,;:!?)\"'”’…–—-]*",
    re.IGNORECASE,
)
# `2 ^ 3 = 8`, `50 %`, `12 €`, `Johnson & Johnson`: no mark parts a word from these.
_OPERATOR = re.compile(r"[&\^*/%‰°=+<>|~−×÷±≠≈≤≥→$€£¥]+")
_ATTACHED = frozenset(MARKS) | frozenset('–‒―-.。，、？！：；؟،؛।\u037e"”»›)]')

# A combining mark is no \w, but files from a Mac write `Íñigo` with two.
_NAME_PART = re.compile(r"[#\w][\w\u0300-\u036f'’&/-]*|[\w\u0300-\u036f'’-]{1,4}\.|(?:\w[\u0300-\u036f]*\.){2,3}")
_BY_LINE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\Z")
_LONGEST_NAME = 60
LONGEST_NAME_PARTS = 5


#: Milliseconds of an inline stamp as the file spells it, None where it is no time.
Clock = Callable[[str], int | None]


class Spoken(NamedTuple):
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

    words: Iterable[Spoken]
    visible: Visible
    trailing: str | None = None
    sound: bool = False


def words_alone(source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN) -> list[int] | None:
    """Where each word of source[start:stop] begins, if it has words and shows nothing else; most captions do not.

    Then `scan` finds these words, as white space parts them, and nothing about them.
    """
    if _WORDS_ALONE.fullmatch(source, start, stop) is None or hidden.search(source, start, stop):
        return None
    return [found.start() for found in _TOKEN.finditer(source, start, stop)]


def scan(source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN, clock: Clock = milliseconds) -> Speech:
    """The words of source[start:stop], a cue or a line; `hidden` finds the markup in it, `clock` reads its stamps."""
    speech = listen(source, start, stop, hidden, clock)
    speech.words = tuple(speech.words)
    return speech


def listen(source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN, clock: Clock = milliseconds) -> Speech:
    """As `scan`, but its words can be heard only once, and what comes after them is known then: a line may be long."""
    speech = Speech((), visible(source, start, stop, hidden))
    speech.words = _cast(speech, clock)
    return speech


def _cast(speech: Speech, clock: Clock) -> Iterator[Spoken]:
    """Give words their lines, speakers and stamps, each list walked once."""
    seen = speech.visible
    masks, speakers, sounds = _masked(seen.text) if _SUSPECT.search(seen.text) else ([], [], [])
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
        yield Spoken(seen.text[a:b], seen.copy(a, b), line, speaker, stamp, sound, followed)
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
        if last is not None and not plain and _attaches(run, text[end:a]):
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
    if end == stop or stripped(text[start:end])[0] != stripped(text[start:stop])[0]:
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


def _masked(text: str) -> tuple[list[Span], list[tuple[int, str]], list[int]]:
    """Spans of the text that are not spoken, in order and apart; who begins to speak where; where sounds end."""
    masks = [found.span() for found in _BRACKETED.finditer(text)]
    masks += [found.span() for found in _PARENTHESES.finditer(text) if _is_sound(found)]
    masks += [found.span() for found in _STARRED.finditer(text) if _is_starred_sound(found.group(2))]
    sounds = sorted(stop for start, stop in masks if _is_heard(text[start:stop]))
    if _NOTE.search(text):
        masks += _lyrics(text)
    masks += [found.span(1) for found in _HASHED.finditer(text)]
    speakers: list[tuple[int, str]] = []
    for start, stop in _lines(text):
        for a, b, name in _heads(text, start, stop):
            masks.append((a, b))
            if name is not None:
                speakers.append((b, name))
    return _merged(masks), speakers, sounds


def _is_heard(mask: str) -> bool:
    inside = mask[1:-1].strip("*")
    return not UNHEARD.match(fold(inside)) and not (mask[0] == "[" and _is_name(inside))


def _is_name(inside: str) -> bool:
    """Whether a bracket names who speaks (`[Alba]`) and describes no sound: `[Door Slams]`, `[MUSIC]`."""
    if GENERIC_LABEL.fullmatch(inside):
        return True
    if any(SOUNDS.match(part) or part.endswith("ing") for part in fold(inside).split()):
        return False
    return not inside.isupper() and is_label(inside, "")


def _merged(masks: list[Span]) -> list[Span]:
    result: list[Span] = []
    for start, stop in sorted(masks):
        if result and start < result[-1][1]:
            result[-1] = result[-1][0], max(stop, result[-1][1])
        elif start < stop:
            result.append((start, stop))
    return result


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for found in BREAKS.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _is_sound(found: re.Match[str]) -> bool:
    """Whether a parenthesis describes a sound (`(laughs)`, `(DOOR SLAMS)`) and is no aside."""
    inside = found.group(1) or found.group(2) or ""
    words = fold(inside).split()
    # `f(x)`, `the year(s)`
    if found.start() and found.string[found.start() - 1].isalnum() and not any(map(SOUNDS.match, words)):
        return False
    if len(words) < 2 or inside.isupper():
        return True
    # Broadcasters set sounds off: `( man scolding in background )`.
    if inside[0] == inside[-1] == " ":
        return True
    alone = _alone(found.string, *found.span())
    # Whoever writes more amid what is said tells of a sound: `(the four notes of music that end the show)`.
    if any(SOUNDS.match(word) for word in words) and (alone or len(words) <= _LONGEST_SOUND):
        return True
    if alone:
        return JOINING.issuperset(ASIDES.intersection(words))
    return len(words) < 4 and ASIDES.isdisjoint(words)


def _is_starred_sound(inside: str) -> bool:
    """Whether what stands between asterisks is a sound and no word that somebody stresses."""
    words = [stripped(word)[0] for word in inside.split()]
    if len(words) > _LONGEST_SOUND or not any(map(SOUNDS.match, words)):
        return False
    return JOINING.issuperset(ASIDES.intersection(words))


def _alone(text: str, start: int, stop: int) -> bool:
    """Whether nothing is said on the lines that text[start:stop] stands on."""
    before = BREAKS.split(text[:start])[-1]
    after = BREAKS.split(text[stop:], maxsplit=1)[0]
    return not any(map(str.isalnum, before + after))


def _lyrics(text: str) -> Iterator[Span]:
    """From the first note of a line to its last; a lone note opens or closes several lines."""
    lines = [(a, b, [found.start() for found in _NOTE.finditer(text, a, b)]) for a, b in _lines(text)]
    closing = max((i for i, (_, _, notes) in enumerate(lines) if notes), default=-1)
    opened = False
    for i, (a, b, notes) in enumerate(lines):
        if len(notes) > 1:
            yield notes[0], notes[-1] + 1
            opened = False
        elif notes:
            note = notes[0]
            # `♪ la la` goes on to the end of the line, `la la ♪` began with it.
            ends = not text[note + 1 : b].strip() and (opened or bool(text[a:note].strip(" \t->")))
            yield (a, note + 1) if ends else (note, b)
            opened = not ends
        elif opened and i < closing:
            yield a, b


def _heads(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str | None]]:
    """Dashes, chevrons and names that open a line or, in it, another speaker's words."""
    openings = [start]
    if ">>" in text[start:stop]:
        openings += [found.start() for found in _CHEVRONS.finditer(text, start, stop)]
    first = _BLANK.match(text, start, stop)
    at = first.end() if first else start
    if _DASH.match(text, at, stop) or (at + 1 < stop and text[at] in "-–—" and text[at + 1].isalpha()):
        # `- hi. - hello.`: where the line opens with a dash, the next one is no mark.
        openings += [found.start() for found in _DASH.finditer(text, at + 1, stop) if text[found.start()] == text[at]]
    done = start
    for opening in sorted(openings):
        if opening >= done:
            for a, b, name in _head(text, opening, stop):
                yield a, b, name
                done = max(done, b)


def _head(text: str, at: int, stop: int) -> Iterator[tuple[int, int, str | None]]:
    while found := _HEAD.match(text, at, stop):
        a = at
        at = found.end()
        sign = found.group().lstrip()
        if sign[0] in "[(":
            if sign[0] == "[" and _is_name(sign[1:-1]):
                yield a, at, sign[1:-1]
            continue  # a sound or a time is masked already
        # `--` goes on with a sentence, one dash begins a speaker's.
        yield a, at, "" if (sign[0] == ">" and len(sign) > 1) or (len(sign) == 1 and sign != ">") else None
    blank = _BLANK.match(text, at, stop)
    a = blank.end() if blank else at
    colon = min((i for c in ":：" if (i := text.find(c, a, min(stop, a + _LONGEST_NAME))) >= 0), default=-1)
    if colon > a and is_label(text[a:colon], text[colon + 1 : min(stop, colon + 2)]):
        yield a, colon + 1, text[a:colon].strip()


def is_label(head: str, following: str) -> bool:
    """Whether `head`, with a colon after it and `following` behind that, names a speaker."""
    name = _BY_LINE.sub("", head).strip()
    if name.isupper():
        name = THROUGH.sub("", name)
    if following and not following.isspace() and not (following.isalpha() and name.isupper() and len(name) > 1):
        return False
    if GENERIC_LABEL.fullmatch(name):
        return True
    parts = name.split()
    if not 1 <= len(parts) <= LONGEST_NAME_PARTS or not all(_NAME_PART.fullmatch(part) for part in parts):
        return False
    folded = [fold(part) for part in parts]
    if folded[0] in NO_NAMES or not parts[0][0].isupper():
        return False
    if name.isupper() and folded[0] in UNNAMED:
        return True
    if any(part in NO_NAMES and part not in PARTICLES for part in folded):
        return False
    if name.isupper():
        return True
    inner = range(1, len(parts) - 1)
    return all(p[0].isupper() or not p[0].isalpha() or (i in inner and p in PARTICLES) for i, p in enumerate(parts))
