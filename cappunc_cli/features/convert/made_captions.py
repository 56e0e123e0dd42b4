"""Captions of a document: newly cut from its words, or its own cues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, zip_longest
from typing import TYPE_CHECKING

from cappunc_cli import formats
from cappunc_cli.document.words import spread_times, untimed
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.files.encodings import NAMING
from cappunc_cli.files.output import counted, new_utf_8
from cappunc_cli.formats.markup import INVISIBLE
from cappunc_cli.formats.shown_cues import repeated_lines, shown_cues
from cappunc_cli.formats.styles import BOTTOM, PLAIN
from cappunc_cli.layout.caption_files import READ_AS, render
from cappunc_cli.layout.frames import Writing
from cappunc_cli.layout.segmentation import Caption, cut
from cappunc_cli.layout.speakers import interleaved
from cappunc_cli.layout.stl_file import stl_captions

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document, Word
    from cappunc_cli.files.fixer import Opened
    from cappunc_cli.files.speakers_from import Speakers
    from cappunc_cli.languages import Language
    from cappunc_cli.layout.caption_profiles import Limits

#: The fields of a style, as users call them.
_LOOKS = ("italics", "bold", "underlines", "colours")
#: Smallest share of words with times of their own in a file with word times; otherwise its cues or segments have them.
_TIMED = 0.75


def restored(found: Opened, attach: bool = False) -> Document:
    """The document as `fix` would write it; with `attach`, marks with entries of their own are on words.

    Raises BadInput for text outside its words, because a new file would lack it, and for an unknown encoding.
    """
    document = found.document
    if found.encoding.is_unknown:
        raise BadInput(f"its encoding is unknown; {NAMING}")
    for notice in document.notices:
        if notice.unread:
            raise BadInput(f"{notice.message}: the new file would lack its text; mend it first", line=notice.line)
    texts = found.restore()
    if attach or texts != document.texts:
        document = formats.with_texts(document, texts, attach=attach)
    return found.with_speakers(document)


def spread(words: Sequence[Word]) -> tuple[Sequence[Word], str]:
    """The words, with the times of their cue or segment divided among them if few have their own, and a note, or ""."""
    missing = untimed(words)
    if len(words) - missing >= _TIMED * len(words):
        return words, ""
    spread_words = spread_times(words)
    if untimed(spread_words) == missing:
        return words, ""
    note = f"{missing:,} of {len(words):,} words have no times of their own: interpolated within their segments"
    return spread_words, note


def cut_captions(
    document: Document,
    texts: Sequence[str],
    language: Language,
    limits: Limits,
    speakers: str = "none",
    sentences: bool = False,
) -> tuple[list[Caption], str]:
    """Cut words with new `texts` into captions that show each text once. Channels are merged by time.

    Returns a note to the user, too, or "". Raises BadInput for several recordings, UnknownFormat without enough times.
    """
    words, note = spread(document.words)
    if len(words) - untimed(words) < _TIMED * len(words):
        own = len(words) - untimed(document.words)
        raise UnknownFormat(f"only {own} of {len(words)} words have times, too few for captions")
    if early := sum(word.start is not None and word.start < 0 for word in document.words):
        note = "; ".join(filter(None, (f"{counted(early, 'word')} before zero: shown from zero", note)))
    word_channels = formats.FORMATS[document.format].channels(document)
    recordings = [recording for recording, _ in word_channels]
    starts = [(word.start, name) for word, name in zip(words, recordings, strict=False) if word.start is not None]
    if any(one != other and start < before for (before, one), (start, other) in pairwise(starts)):
        raise BadInput("has several recordings, each with times from zero; put each into a file of its own")
    names = [document.speakers.get(word.turn, "") for word in document.words]
    shown = list(texts)
    if len(set(recordings)) == 1 < len(set(word_channels)):
        order, words = interleaved(words, word_channels)
        shown = [texts[i] for i in order]
        names = [names[i] or word_channels[i][1] for i in order]
    if not all(shown):  # fillers that are left out
        kept = [i for i, text in enumerate(shown) if text]
        words, shown, names = [words[i] for i in kept], [shown[i] for i in kept], [names[i] for i in kept]
    turns = [word.turn for word in words]
    if speakers in ("dash", "name"):
        shown = labelled(shown, turns, names, speakers)
    made = cut(words, shown, language, limits, sentences)
    if speakers == "voice":
        made = [replace(caption, speaker=names[caption.first]) for caption in made]
    if [w for caption in made for line in caption.lines for w in line.split()] != " ".join(shown).split():
        raise BadInput("words would be lost between captions")
    return made, note


def labelled(texts: Sequence[str], turns: Sequence[int], names: Sequence[str], how: str) -> list[str]:
    """The texts with a dash or the speaker's name before the first word of each turn."""
    dash = "- " if len(set(turns)) > 1 else ""
    heads = [dash if how == "dash" else f"{name}: " if name else "" for name in names]
    starts = [turn != before for turn, before in zip(turns, [None, *turns], strict=False)]
    return [head * start + text for text, head, start in zip(texts, heads, starts, strict=True)]


def own_cues(
    document: Document, speakers: str, asked: Mapping[str, str], given: Speakers | None = None
) -> list[Caption] | None:
    """A file's own cues as captions; None if it has none that can be taken over.

    Speakers named by a tag or a field go into the new file's field (`voice`) or before their words (`name`); several
    in one cue always before their words, as a field holds only one. `asked` has the names asked for, by those in the
    file; or `given` ones speak.
    """
    found = shown_cues(document)
    if not found:
        return None
    made, last = [], ""
    if given is not None:
        found = [cue._replace(speaker=given.at(cue.start, cue.end), names=()) for cue in found]
    for cue in found:
        lines, runs, names = cue.lines, cue.runs, [asked.get(name, name) for name in cue.names or (cue.speaker,)]
        if speakers == "name" or (cue.names and speakers == "voice"):
            before = last if speakers == "name" else ""
            heads = ["" if name == other else name for other, name in pairwise((before, *names))]
            prefixes = [f"{head}: " if head else "" for head, _ in zip_longest(heads, lines, fillvalue="")]
            lines = tuple(map(str.__add__, prefixes, lines))
            runs = tuple(((head, PLAIN), *own) for head, own in zip(prefixes, runs, strict=False))
        last = next(filter(None, reversed(names)), last)
        own = names[0] if speakers == "voice" and not cue.names else ""
        made.append(Caption(0, 0, cue.start, cue.end, lines, own, runs, cue.place))
    return made


def left_out(document: Document, styled: bool = False) -> str:
    """A note about what a new file leaves out: times of repeated lines of lyrics, and, unless it is `styled`, looks."""
    notes, repeated = Counter[str](), repeated_lines(document)
    try:
        cues = shown_cues(document, even_rolling=True) or []
    except BadInput:  # lines of lyrics
        cues = []
    for cue in cues:
        styles = [style for line in cue.runs for _, style in line]
        notes["effects"] += cue.effects > 0
        if not styled:
            notes["positions"] += cue.place != BOTTOM
            for name, has in zip(_LOOKS, zip(*styles, strict=True), strict=False):
                notes[name] += any(has)
    times = [f"all times but the first of {counted(repeated, 'line')}"] if repeated else []
    looks = [f"{name} of {counted(number, 'caption')}" for name, number in sorted(notes.items()) if number]
    return f"left out: {', '.join([*times, *looks])}" if times or looks else ""


def caption_file(captions: Sequence[Caption], kind: str, writing: Writing | None = None) -> bytes:
    """The new file, read back if `kind` can be read. Raises BadInput unless a viewer sees the lines of the captions."""
    if kind == "stl":
        captions = stl_captions(captions, writing or Writing())
    output, own = render(captions, kind, writing), READ_AS.get(kind, kind)
    if own in formats.FORMATS and captions:
        found = shown_cues(formats.read(output, format=own), even_rolling=True) or []
        wanted = [lines for caption in captions if (lines := _seen(caption))]
        verify_same([line for cue in found for line in cue.lines], list(chain.from_iterable(wanted)), kind)
        if len(found) != len(wanted):
            raise BadInput(f"{kind.upper()} would have {len(found)} captions instead of {len(captions)}")
    return output.encode("latin-1") if kind == "stl" else new_utf_8(output)


def verify_same(seen: Sequence[str], wanted: Sequence[str], kind: str) -> None:
    """Raises BadInput unless a new file shows these lines or words."""
    for one, other in zip([*seen, ""], [*wanted, ""], strict=False):
        if one != other:
            raise BadInput(f"“{other}” would be shown as “{one}” in {kind.upper()}")


def _seen(caption: Caption) -> list[str]:
    lines = (" ".join(INVISIBLE.sub("", line).split()) for line in caption.lines)
    return [line for line in lines if line]
