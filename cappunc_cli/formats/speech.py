"""The words spoken in a caption: those in its visible text that are speech.

Words are everything but sounds, lyrics, labels (nonspeech.py) and addresses.

What counts as a word must not depend on its case or marks, or a restored file would be
read as other words. Two rules do depend on them (`John: yes`, `(HE LEAVES AT LAST)`);
guard.py takes care of these when a file is written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from typing import NamedTuple

from cappunc_cli.document.labels import MARKS, TERMINAL, strip
from cappunc_cli.document.words import Span, Word
from cappunc_cli.formats.markup import HIDDEN, SECTION, Visible, has_entity, visible
from cappunc_cli.formats.nonspeech import are_signs, find_nonspeech, has_letters, is_address, last_marks
from cappunc_cli.formats.splice import BREAKS

#: A run of characters that are not white space.
TOKEN = re.compile(r"\S+")
#: Matches a text of words and nothing else, such as most captions. `scan` would find just these words, split at white
#: space: markup in any format has a bracket, a backslash, an ampersand or an invisible character, and the words have no
#: marks but those that cannot make an address of them.
WORDS_ALONE = re.compile(r"(?>(?:\s*+[^\W_]++(?>(?:['’-][^\W_]++)*)[.,?!;…]?(?=\s|\Z))+)\s*+")
# `[ __ ]`: a word that YouTube censors.
_CENSORED = re.compile(r"\[[\s_*]*\]")
_MARKUP = frozenset("{}\\")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_ATTACHED = frozenset(MARKS) | frozenset('–‒―-.。，、？！：；؟،؛।\u037e"”»›)]')
# `left (quickly).`, French `(rires) !`; but `mary [sighs]: never` has a speaker.
_AFTER_BRACKET = re.compile(r"(?<=[)\]）］】])(?:(?:[,.?!;…—。，？！\"”»›]|--)+|[ \xa0\u202f][?!;]+[\"”»›]*)(?!\S)")


class Speech(NamedTuple):
    """The words of a region, without times, and the line of each in it (from 0).

    `speakers` are the names of those who start with a word, by its number, "" for a new speaker without a name.
    `trailing` and `sound` tell of a speaker's label and a sound after the last word.
    """

    words: list[Word]
    lines: list[int]
    speakers: Mapping[int, str]
    trailing: str | None = None
    sound: bool = False


def scan(source: str, start: int, stop: int, hidden: re.Pattern[str] = HIDDEN) -> Speech:
    """Find the words of source[start:stop], a cue or a line; `hidden` matches the markup in it."""
    return speech_in(visible(source, start, stop, hidden))


def speech_in(seen: Visible) -> Speech:
    """The words of a visible text with their lines and speakers, in one pass over each list."""
    masks, named, sounds = find_nonspeech(seen.text)
    if seen.annotations:
        apart = (mask for mask in masks if not any(a < mask[1] and mask[0] < b for a, b in seen.annotations))
        masks = sorted([*apart, *seen.annotations])
    if seen.voices:
        named = sorted([*named, *seen.voices], key=lambda event: event[0])
    breaks = [found.start() for found in BREAKS.finditer(seen.text)]
    words, lines, speakers = list[Word](), list[int](), dict[int, str]()
    line = s = n = 0
    for a, b, beyond, followed, preceded in _word_spans(seen.text, masks, seen.annotations):
        while line < len(breaks) and breaks[line] < a:
            line += 1
        speaker = None
        while s < len(named) and named[s][0] <= a:
            speaker = named[s][1] or speaker or ""
            s += 1
        if speaker is not None:
            speakers[len(words)] = speaker
        sound = n < len(sounds) and sounds[n] <= a
        n = bisect_right(sounds, a, n) if sounds else 0
        # The speaker may change between the address and this word.
        preceded &= speaker is None
        text, copy = seen.text[a:b], seen.copy(a, b)
        if beyond is not None:
            text, copy = text + seen.text[slice(*beyond)], copy + seen.copy(*beyond)
        words.append(Word(intern(text), sound=sound, followed=followed, preceded=preceded))
        words[-1].places = (copy,)
        lines.append(line)
    names = [name for _, name in named[s:]]
    return Speech(words, lines, speakers, next(filter(None, reversed(names)), "") if names else None, n < len(sounds))


def _word_spans(
    text: str, masks: list[Span], annotations: Sequence[Span]
) -> Iterator[tuple[int, int, Span | None, bool, bool]]:
    """Spans of the words in visible text, and whether a part of the sentence that is not a word follows and precedes.

    Detached marks on the same line belong to the word before them; those beyond a bracket have a span of their own.
    """
    ends = dict(masks)
    shown = {(a, a) for a, _ in annotations}
    last: Span | None = None
    begun = False  # by an address or a blank right before the last word, or before the next one if there is none
    end = 0  # of the detached marks after the last word
    dots: Span | None = None  # `... and so on`, not after a word
    beyond: Span | None = None  # the marks after the bracket that follows the last word
    for a, b in _runs(text, masks):
        if beyond is not None and a < beyond[1]:
            continue
        run, beyond = text[a:b], None
        plain = run.isalnum()
        marks = b if plain or has_entity(run) else a + last_marks(run)
        # Not in `so ,[applause]`: removing the comma would take the space with it.
        alone = b == len(text) or text[b].isspace()
        if last is not None and not plain and alone and _attaches(run, text[end:a]):
            end = b
            continue
        is_word, opaque = (True, False) if plain else _is_word(text, a, b, marks, (a, b) in shown)
        if last is not None:
            if end == last[1] and text[end - 1].isalnum():
                if not run:
                    beyond = _beyond_brackets(text, ends, a)
                elif opaque and marks < b:
                    beyond = marks, b
            yield *_with_marks(text, last, end), beyond, opaque, begun
        if is_word and dots is not None and _attaches(text[slice(*dots)], text[dots[1] : a]):
            a = dots[0]
        dots = (a, b) if not is_word and _ELLIPSIS.fullmatch(run) else None
        if not is_word or last is not None:
            # No period can be written between `3,50 €` and `im`; `* im` at the start of a line begins an item.
            goes_on = last is not None and not is_word and are_signs(run) and not BREAKS.search(text[end:a])
            # A sentence may begin with an address that does not end one, or with a blank.
            begun = opaque and (
                bool(goes_on) or not run or (is_address(run) and strip(run)[1].mark not in tuple(TERMINAL))
            )
        last, end = ((a, b), b) if is_word else (None, 0)
    if last is not None:
        yield *_with_marks(text, last, end), None, False, begun


def _beyond_brackets(text: str, ends: Mapping[int, int], at: int) -> Span | None:
    """The marks right after the brackets at an offset; they belong to the word before these, on the same line."""
    while at in ends:
        at = ends[at]
        # A dash after a bracket at the start of a line is another speaker's.
        if at not in ends and (found := _AFTER_BRACKET.match(text, at)):
            return found.span()
        while text[at : at + 1] in (" ", "\xa0"):
            at += 1
    return None


def _attaches(run: str, gap: str) -> bool:
    return bool(run and gap) and _ATTACHED.issuperset(run) and SECTION not in gap and BREAKS.search(gap) is None


def _is_word(text: str, a: int, b: int, marks: int, is_ruby: bool) -> tuple[bool, bool]:
    """Whether a run [a, b), whose marks begin at `marks`, is a word; and whether it is another part of the sentence."""
    run = text[a:b]
    if has_letters(run):
        # Braces and backslashes are LaTeX or the markup of some player.
        opaque = not _MARKUP.isdisjoint(run) or has_entity(run) or is_address(run)
        return not opaque, opaque
    # Signs, and what is censored. No mark comes between a word and its ruby text.
    belongs = are_signs(text[a:marks]) if a < marks else _CENSORED.match(text, a) is not None
    return False, belongs or is_ruby


def _with_marks(text: str, word: Span, end: int) -> Span:
    start, stop = word
    if end == stop or strip(text[start:end])[0] != strip(text[start:stop])[0]:
        return word
    return start, end


def _runs(text: str, masks: list[Span]) -> Iterator[Span]:
    """Tokens, split at masks; each mask gives an empty run."""
    if not masks:
        yield from map(re.Match.span, TOKEN.finditer(text))
        return
    m = 0
    for found in TOKEN.finditer(text):
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
