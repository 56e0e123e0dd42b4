"""Captions of a document: its words cut anew, or its own cues as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.transcript.spread_times import spread_times, untimed

if TYPE_CHECKING:
    from cappunc_cli.languages import Language
    from cappunc_cli.layout import Caption, Limits
    from cappunc_cli.transcript.words import Document, Word

#: With fewer words that have times a file is timed by captions or segments.
_TIMED = 0.75
#: How a speaker is shown: a dash or a name before what is said, the format's own field, or not at all.
SPEAKERS = ("none", "dash", "name", "voice")


def timed_words(document: Document) -> tuple[Sequence[Word], str]:
    """The words with times, and what has to be told of these, or "".

    Where few words have times of their own those of their cue or segment are shared out among its words. Raises
    UnknownFormat where there are none.
    """
    words = document.words
    missing = untimed(words)
    if len(words) - missing >= _TIMED * len(words):
        return words, ""
    spread = spread_times(words)
    if missing == len(words) or len(spread) - untimed(spread) < _TIMED * len(words):
        raise UnknownFormat(f"{len(words) - missing} of its {len(words)} words have times, too few for captions")
    return spread, f"{missing:,} of its {len(words):,} words have no times of their own: spread over their segments"


def cut_captions(
    document: Document,
    words: Sequence[Word],
    texts: Sequence[str],
    language: Language,
    limits: Limits,
    speakers: str = "none",
    sentences: bool = False,
) -> tuple[list[Caption], list[str]]:
    """Captions of words that have times and read `texts`, and what they show, word by word, in their order.

    Channels are merged as they are heard. Raises BadInput for several recordings.
    """
    from cappunc_cli.formats import channels
    from cappunc_cli.layout import as_heard, cut

    heard = channels(document)
    recordings = [recording for recording, _ in heard]
    if len(set(recordings)) > 1 and _begins_anew([word.start for word in words], recordings):
        raise BadInput("its recordings each begin at their own zero: each needs a file of its own")
    names = [document.speakers.get(turn or 0, "") for turn in document.words.turns]
    shown = list(texts)
    if len(set(recordings)) == 1 < len(set(heard)):
        order, words = as_heard(words, heard)
        shown = [texts[i] for i in order]
        names = [names[i] or heard[i][1] for i in order]
    turns = [word.turn for word in words]
    if speakers in ("dash", "name"):
        shown = _labelled(shown, turns, names, speakers)
    made = cut(words, shown, language, limits, sentences)
    if speakers == "voice":
        from dataclasses import replace

        made = [replace(caption, speaker=names[caption.first]) for caption in made]
    return made, shown


def _labelled(texts: Sequence[str], turns: Sequence[int], names: Sequence[str], how: str) -> list[str]:
    """The texts with who speaks before the first word of each turn."""
    shown = list(texts)
    several = len(set(turns)) > 1
    for i, turn in enumerate(turns):
        if i and turns[i - 1] == turn:
            continue
        if how == "dash" and several:
            shown[i] = f"- {texts[i]}"
        elif how == "name" and names[i]:
            shown[i] = f"{names[i]}: {texts[i]}"
    return shown


def _begins_anew(starts: Iterable[int | None], recordings: Sequence[str]) -> bool:
    """Whether a recording begins before the one in front of it has ended."""
    known = [(start, name) for start, name in zip(starts, recordings, strict=True) if start is not None]
    return any(one != other and start < before for (before, one), (start, other) in pairwise(known))


def own_cues(document: Document, speakers: str) -> list[Caption] | None:
    """A file's own cues, as they are shown; None where it has none that could be taken over.

    Who speaks by a tag or a field goes into the new file's field (`voice`), or before what is said (`name`).
    """
    from cappunc_cli.formats.timed_text.shown_cues import shown_cues
    from cappunc_cli.layout import Caption

    found = shown_cues(document)
    if not found:
        return None
    made, last = [], ""
    for cue in found:
        lines = cue.lines
        if speakers == "name" and cue.speaker and cue.speaker != last:
            lines = (f"{cue.speaker}: {lines[0]}", *lines[1:])
        last = cue.speaker or last
        made.append(Caption(0, 0, cue.start, cue.end, lines, cue.speaker if speakers == "voice" else ""))
    return made


def left_out(document: Document) -> str:
    """What has to be told of signs and addresses, which are no words and go with sounds, or ""."""
    count = sum(map(bool, document.words.followed))
    return f"left out: what is no word behind {count:,} of them (signs, addresses)" if count else ""
