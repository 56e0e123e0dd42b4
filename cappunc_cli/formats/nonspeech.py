"""Find the parts of a visible text that are not speech: sounds, lyrics, and speakers' names, dashes and chevrons."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cappunc_cli.document.labels import fold, strip
from cappunc_cli.document.words import Span
from cappunc_cli.formats.splice import split_lines
from cappunc_cli.languages.caption_words import (
    ASIDES,
    GENERIC_LABEL,
    JOINING,
    NO_NAMES,
    PARTICLES,
    SOUNDS,
    THROUGH,
    UNHEARD,
    UNNAMED,
)

# Everything below needs one of these characters; most lines have none.
_SUSPECT = re.compile(r"[\[(（【［＜♪♫♬#*:：>‐‑–—―-]")
_HASHED_TIME = r"#[0-9]+:[0-9:.,-]+#"  # f4 and MAXQDA
_BRACKETED = re.compile(rf"\[[^\[\]]*\]|【[^【】]*】|［[^［］]*］|{_HASHED_TIME}")
_PARENTHESES = re.compile(r"\(([^()]*)\)|（([^（）]*)）|＜([^＜＞]*)＞")
#: The most words in a description of a sound within a line of speech.
_LONGEST_SOUND = 8
_STARRED = re.compile(r"(?<!\S)(\*{1,3})(?=\S)([^*\r\n]{1,60})(?<=\S)\1(?!\w)")
_NOTE = re.compile(r"[♪♫♬]")
_HASHED = re.compile(r"^[ \t]*(#[ \t][^#]*[ \t]#)[ \t]*\r?$", re.MULTILINE)
_CHEVRONS = re.compile(r"(?<!\S)>{2,}")
_DASH = re.compile(r"(?<!\S)[-‐‑–—―](?!\S)")
_HEAD = re.compile(
    r"[^\S\r\n]*(?:>+|[‐‑–—―-]{1,3}(?![0-9])|\[[^\[\]\r\n]*\]|\((?:[0-9:.,]+|speaker [0-9]+)\)"
    rf"|{_HASHED_TIME})"
)
_BLANK = re.compile(r"[^\S\r\n]*")

# A combining mark is not \w, but files from a Mac write `Íñigo` with two.
_NAME_PART = re.compile(r"[#\w][\w\u0300-\u036f'’&/-]*|[\w\u0300-\u036f'’-]{1,4}\.|(?:\w[\u0300-\u036f]*\.){2,3}")
_BY_LINE = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\Z")
_TIME = re.compile(r"\s*[(\[][0-9:.,]+[)\]]\s*\Z")
#: Up to the first colon outside brackets: `John Smith (00:01:02):`.
_NAME_END = re.compile(r"(?:\([^()\r\n]*\)|\[[^\[\]\r\n]*\]|[^:：])*?[:：]")
# Markdown: `**John:**`, `**John Smith (00:01:02)**:`.
_BOLD_NAME = re.compile(
    r"(\*\*|__)(?:\[[0-9:.,]+\][ ]?)?((?:\([^()\r\n]*\)|\[[^\[\]\r\n]*\]|[^*:()\[\]\r\n])+?)"
    r"(?::\1|\1(?:[ ]?\([0-9:.,]+\))?:)(?!\S)"
)
_LONGEST_NAME = 60
_LONGEST_NAME_PARTS = 5


def find_nonspeech(text: str) -> tuple[list[Span], list[tuple[int, str]], list[int]]:
    """Find what is not spoken in a visible text.

    Returns the spans that are not spoken, in order and not overlapping; (offset, name) of each speaker who starts,
    with "" for a new speaker without a name; and the offsets at which sounds end.
    """
    if not _SUSPECT.search(text):
        return [], [], []
    masks = [found.span() for found in _BRACKETED.finditer(text)]
    masks += [found.span() for found in _PARENTHESES.finditer(text) if _is_sound(found)]
    masks += starred_sounds(text)
    sounds = sorted(stop for start, stop in masks if _is_audible(text[start:stop]))
    if _NOTE.search(text):
        masks += _lyrics(text)
    masks += [found.span(1) for found in _HASHED.finditer(text)]
    speakers: list[tuple[int, str]] = []
    for start, stop in split_lines(text):
        for a, b, name in _speaker_marks(text, start, stop):
            masks.append((a, b))
            if name is not None:
                speakers.append((b, name))
    return _merged(masks), speakers, sounds


def _is_audible(mask: str) -> bool:
    """Whether a bracket describes a sound that interrupts speech, not an inaudible passage or a speaker's name."""
    inside = mask[1:-1].strip("*")
    named = GENERIC_LABEL.fullmatch(inside) or (mask[0] == "[" and _is_name(inside))
    return not UNHEARD.match(fold(inside)) and not named


def _is_name(inside: str) -> bool:
    """Whether a bracket names a speaker (`[Alba]`) rather than describing a sound (`[Door Slams]`, `[MUSIC]`)."""
    if GENERIC_LABEL.fullmatch(inside):
        return True
    if any(SOUNDS.match(part) or part.endswith("ing") for part in fold(inside).split()):
        return False
    return not inside.isupper() and _is_label(inside, "")


def _merged(masks: list[Span]) -> list[Span]:
    result: list[Span] = []
    for start, stop in sorted(masks):
        if result and start < result[-1][1]:
            result[-1] = result[-1][0], max(stop, result[-1][1])
        elif start < stop:
            result.append((start, stop))
    return result


def _is_sound(found: re.Match[str]) -> bool:
    """Whether a parenthesis describes a sound (`(laughs)`, `(DOOR SLAMS)`) rather than being a spoken aside."""
    inside = found[1] or found[2] or found[3] or ""
    words = fold(inside).split()
    # `f(x)`, `the year(s)`
    if found.start() and found.string[found.start() - 1].isalnum() and not any(map(SOUNDS.match, words)):
        return False
    if len(words) < 2 or inside.isupper():
        return True
    # Broadcasters pad descriptions of sounds with spaces: `( man scolding in background )`.
    if inside[0] == inside[-1] == " ":
        return True
    alone = _is_alone(found.string, *found.span())
    # A longer one within speech only mentions a sound: `(the four notes of music that end the show)`.
    if any(SOUNDS.match(word) for word in words) and (alone or len(words) <= _LONGEST_SOUND):
        return True
    if alone:
        return JOINING.issuperset(ASIDES.intersection(words))
    return len(words) < 4 and ASIDES.isdisjoint(words)


def _is_alone(text: str, start: int, stop: int) -> bool:
    """Whether there are no other words on the lines of text[start:stop]."""
    # The text may be one line of megabytes with many brackets, so only the next letter or line end is looked for.
    sides = range(start - 1, -1, -1), range(stop, len(text))
    met = (next((text[i] for i in side if text[i] in "\r\n" or text[i].isalnum()), "\n") for side in sides)
    return all(c in "\r\n" for c in met)


def _lyrics(text: str) -> Iterator[Span]:
    """The spans of lyrics: from the first music note of a line to its last; a single note can open or close lines."""
    lines = [(a, b, [found.start() for found in _NOTE.finditer(text, a, b)]) for a, b in split_lines(text)]
    closing = max((i for i, (_, _, notes) in enumerate(lines) if notes), default=-1)
    opened = False
    for i, (a, b, notes) in enumerate(lines):
        if len(notes) > 1:
            yield notes[0], notes[-1] + 1
            opened = False
        elif notes:
            note = notes[0]
            # `♪ la la` lasts to the end of the line, `la la ♪` started with the line.
            ends = not text[note + 1 : b].strip() and (opened or bool(text[a:note].strip(" \t->")))
            yield (a, note + 1) if ends else (note, b)
            opened = not ends
        elif opened and i < closing:
            yield a, b


def _speaker_marks(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str | None]]:
    """Dashes, chevrons and names at the start of a line, or before another speaker's words within it.

    Yields their spans with the speaker: a name, "" for an unnamed new speaker, None for no new speaker.
    """
    openings = [start]
    if ">>" in text[start:stop]:
        openings += [found.start() for found in _CHEVRONS.finditer(text, start, stop)]
    first = _BLANK.match(text, start, stop)
    at = first.end() if first else start
    if _DASH.match(text, at, stop) or (at + 1 < stop and text[at] in "-–—" and text[at + 1].isalpha()):
        # `- hi. - hello.`: if the line starts with a dash, a second one is another speaker's.
        openings += [found.start() for found in _DASH.finditer(text, at + 1, stop) if text[found.start()] == text[at]]
    done = start
    for opening in sorted(openings):
        if opening >= done:
            for a, b, name in _speaker_marks_at(text, opening, stop):
                yield a, b, name
                done = max(done, b)


def _speaker_marks_at(text: str, at: int, stop: int) -> Iterator[tuple[int, int, str | None]]:
    while found := _HEAD.match(text, at, stop):
        a = at
        at = found.end()
        sign = found.group().lstrip()
        if sign[0] in "[(#":
            if _is_name(sign[1:-1]):
                yield a, at, sign[1:-1]
            continue  # a sound or a time is masked already
        # `--` continues a sentence; a single dash starts another speaker's.
        yield a, at, "" if (sign[0] == ">" and len(sign) > 1) or (len(sign) == 1 and sign != ">") else None
    blank = _BLANK.match(text, at, stop)
    a = blank.end() if blank else at
    bold = _BOLD_NAME.match(text, a, min(stop, a + _LONGEST_NAME))
    if bold and _is_label(bold[2], ""):
        yield a, bold.end(), _TIME.sub("", bold[2]).strip()
    ended = _NAME_END.match(text, a, min(stop, a + _LONGEST_NAME))
    colon = ended.end() - 1 if ended else -1
    if colon > a and _is_label(text[a:colon], text[colon + 1 : min(stop, colon + 2)]):
        # A time in the label is not part of the name: `John (00:01:02):`.
        yield a, colon + 1, _TIME.sub("", text[a:colon]).strip()


def _is_label(head: str, following: str) -> bool:
    """Whether `head`, before a colon and `following`, is the name of a speaker."""
    name = _BY_LINE.sub("", head).strip()
    if name.isupper():
        name = THROUGH.sub("", name)
    if following and not following.isspace() and not (following.isalpha() and name.isupper() and len(name) > 1):
        return False
    # `I:` and `Q:`, `A:` in interviews.
    if GENERIC_LABEL.fullmatch(name) or (len(name) == 1 and name.isupper()):
        return True
    parts = name.split()
    if not 1 <= len(parts) <= _LONGEST_NAME_PARTS or not all(_NAME_PART.fullmatch(part) for part in parts):
        return False
    folded = [fold(part) for part in parts]
    # `iPhone-12:` is a name that Zoom gives.
    if folded[0] in NO_NAMES or not any(map(str.isupper, parts[0])):
        return False
    if name.isupper() and folded[0] in UNNAMED:
        return True
    if any(part in NO_NAMES and part not in PARTICLES for part in folded):
        return False
    if name.isupper():
        return True
    inner = range(1, len(parts) - 1)
    return all(
        any(map(str.isupper, p)) or not p[0].isalpha() or (i in inner and p in PARTICLES) for i, p in enumerate(parts)
    )


def starred_sounds(text: str) -> Iterator[Span]:
    """The spans of sounds between asterisks, but not of emphasised words."""
    for found in _STARRED.finditer(text):
        words = [strip(word)[0] for word in found.group(2).split()]
        if len(words) <= _LONGEST_SOUND and any(map(SOUNDS.match, words)) and JOINING.issuperset(ASIDES & set(words)):
            yield found.span()


_ADDRESS = re.compile(
    r"[\"'(<“‘–—-]*(?:[a-z][a-z0-9+.-]*://.*|www\.\w.*|@\w.*|[^@]++@[^@.]++\.\w[^@]*+"
    r"|.+#xywh=.*"  # the thumbnails of a player: `thumb.jpg#xywh=0,0,160,90`
    r"|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|int|io|ai|dev|app|tv|info|biz|eu|uk|de|fr)(?:[/:].*)?)"
    r"[.,;:!?)\"'”’»›…–—-]*",
    re.IGNORECASE,
)
# `2 ^ 3 = 8`, `50 %`, `12 €`, `Johnson & Johnson`: no mark goes between a word and these.
_SIGNS = re.compile(r"[&\^*/%‰°=+<>|~−×÷±≠≈≤≥→$€£¥§№©®™]+")
# The marks of `30 %.`, `20 €, and`, `go to www.example.org.`, read from the end: a search for them would be quadratic.
_LAST_MARKS = re.compile(r"(?>(?:[,.?!;…—\"”»›)]|--)*)")
#: `1️⃣`: a digit and the sign that makes an emoji of it.
_KEYCAP = re.compile("[0-9]\ufe0f?\u20e3")


#: `<3`, `:D`, `;-)`: no words, and a mark or another case would make others of them.
_EMOTICON = re.compile(r"</?3+|[:;=]['’]?-?[DPpOo3]|[:;=]['’]?-?[)(\]\[/|*]+")


def has_letters(token: str) -> bool:
    """Whether a token has a letter or a digit, but for the digits of emoji."""
    return any(map(str.isalnum, _KEYCAP.sub("", token) if "\u20e3" in token else token)) and not is_emoticon(token)


def is_emoticon(token: str) -> bool:
    """Whether a token is a face or a heart made of characters."""
    return token[:1] in "<:;=" and _EMOTICON.fullmatch(token) is not None


def is_address(token: str) -> bool:
    """Whether a token, with any marks around it, is the address of a page or a person, or a handle (`@mary`)."""
    return ("." in token or "@" in token or "/" in token) and _ADDRESS.fullmatch(token) is not None


def are_signs(token: str) -> bool:
    """Whether a token consists of signs, or is an emoticon."""
    return _SIGNS.fullmatch(token) is not None or is_emoticon(token)


def last_marks(token: str) -> int:
    """Where the marks at the end of a token begin."""
    found = _LAST_MARKS.match(token[::-1])
    return len(token) - (found.end() if found else 0)


def belongs(token: str) -> bool:
    """Whether a token is no word but belongs to the sentence of the word before it."""
    return is_address(token) or are_signs(token[: last_marks(token)])
