"""The whole flow: words, chunks, probabilities, labels, new words; long texts are decided in sections."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from numbers import Integral
from sys import intern
from types import NoneType

import numpy as np

from cappunc_cli.document.labels import Case, dress, fold, strip
from cappunc_cli.document.words import LONGEST_PAUSE, Word, line_ends, pauses, turn_ends
from cappunc_cli.languages import Language
from cappunc_cli.options import require
from cappunc_cli.restoration.decoding.breaks import find_cue_breaks, part_turns
from cappunc_cli.restoration.decoding.decoder import decode
from cappunc_cli.restoration.decoding.doubts import recheck
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.decoding.passage import Passage
from cappunc_cli.restoration.decoding.word_properties import UNITS
from cappunc_cli.restoration.lexicon import Lexicon, weigh_forms, with_witnesses
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.network import Chunk, Rows, split
from cappunc_cli.restoration.options import Options

#: The end of a word that its speaker did not finish.
_CUT_OFF = re.compile(r"[^\W_]-\Z")
#: Words at the beginning of a text that decide whether its blank lines separate turns.
_BLANK_LINE_SAMPLE = 1000
#: Words that are decided at a time (about an hour of speech), and words of context on each side.
_SECTION, _CONTEXT = 1 << 13, 512
#: A dash or dots between letters, and a slash or bracket between words: neither `w/o` and `person(s)`, nor `a/b/c.txt`.
_DASH = re.compile(r"(?<=[^\W\d_])(--+|—|…|\.{2,})(?=[^\W\d_])")
_SLASH = re.compile(r"[^\W\d_]{2,}([/(])(?:[^\W\d_]{2,}|[iI]\b)[^/\w]*")


def restore(
    words: Sequence[Word],
    model: Model,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """The new text of each word: the same words with other marks and case.

    `progress` is called from time to time with the number of words that the model has read. Raises CappuncError.

    >>> words = [cappunc.Word("good", 0, 300), cappunc.Word("evening", 300, 700), cappunc.Word("london", 720, 1300)]
    >>> cappunc.restore(words, cappunc.load_model("en"))
    ['Good', 'evening,', 'London.']
    """
    options = Options() if options is None else options
    require("model", model, Model, "one that load_model opened")
    require("options", options, Options, "Options")
    require("words", words, Iterable, "a sequence of Word")
    words = list(words)  # an iterator could be read only once
    # One of each type shows whether all are right.
    for word in {type(word): word for word in words}.values():
        require("a word", word, Word, "a Word")
    for text in {type(word.text): word.text for word in words}.values():
        require("the text of a word", text, str, "a str")
    for time in {type(time): time for word in words for time in (word.start, word.end)}.values():
        require("a time", time, (Integral, NoneType), "whole milliseconds or None")
    read = as_read(words, model, options)
    return read.joined(rewrite(read.parts, probabilities(read.parts, model, options, progress), model, options))


def as_read(words: Sequence[Word], model: Model, options: Options) -> Parted:
    """The words as the model reads them: in parts where they are glued, and in paragraphs. Raises CappuncError."""
    conventions = options.conventions(model.config)
    lexicon = model.lexicons[conventions.code]
    if conventions.read_as:
        words = [replace(word, text=conventions.read(word.text)) for word in words]
    glued = [(i, word.text) for i, word in enumerate(words) if not word.text.isalpha()]
    signs = {i: found for i, text in glued if (found := _signs(text, lexicon))}
    parts: Sequence[Word] = words
    owners: Sequence[int] = range(len(words))
    if signs:
        split_up = [list(_parts(word, signs[i])) if i in signs else [word] for i, word in enumerate(words)]
        parts, owners = list(chain(*split_up)), [i for i, own in enumerate(split_up) for _ in own]
    if any(word.blank_before for word in words):
        parts = _with_paragraphs(parts, model, options)
    return Parted(words, parts, owners, signs, conventions)


def _with_paragraphs(words: Sequence[Word], model: Model, options: Options) -> Sequence[Word]:
    """The words with a new turn after each blank line, if the blank lines separate turns; raises CappuncError."""
    blanks = accumulate(word.blank_before for word in words)
    parted = [
        replace(word, turn=word.turn + before, blank_before=False) for word, before in zip(words, blanks, strict=True)
    ]
    samples = [words[:_BLANK_LINE_SAMPLE], parted[:_BLANK_LINE_SAMPLE]]
    ends, ends_with_turns = (
        read_passage(sample, probabilities(sample, model, options), model, options).posteriors.end_probability()
        for sample in samples
    )
    blank_before = [i for i, word in enumerate(samples[0]) if i and word.blank_before]
    return parted if part_turns(ends, ends_with_turns, blank_before) else words


def probabilities(
    words: Sequence[Word],
    model: Model,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
    silence: int | None = None,
) -> Rows:
    """The model's probabilities for each word, [n, cases + marks + around]; it reads neither marks nor case.

    `progress` is as in `restore`. `silence` is the pause after the last word (ms) of a live text whose words are still
    to come, if known. Raises CappuncError.
    """
    options = options or Options()
    bare = [strip(word.text)[0] for word in words]
    gaps: list[int | None] = [*pauses(words)[:-1], silence] if words and options.pauses else [None] * len(words)
    chunks = split(len(words), *model.config.windows(options))
    asked = bare, gaps, turn_ends(words), chunks, line_ends(words)
    code = options.conventions(model.config).code
    others = [
        (_read(member.engine.predict(*asked), chunks), np.float32(share))
        for member, share in model.ensemble
        if code in member.config.languages
    ]
    rows = _read(model.engine.predict(*asked), chunks, progress)
    if others:
        rows *= 1 - np.sum([share for _, share in others], dtype=np.float32)
        for other, share in others:
            rows += share * other
    return rows


def _read(parts: Iterator[Rows], chunks: Sequence[Chunk], progress: Callable[[int], None] | None = None) -> Rows:
    """The rows of all chunks, as an engine yields them.

    Each goes to its place at once: a list of them would fragment the memory of a long text.
    """
    rows, at = np.zeros((0, 0), np.float32), 0
    for chunk, part in zip(chunks, parts, strict=True):
        if not at:
            rows = np.empty((chunks[-1].stop, part.shape[1]), np.float32)
        rows[at : at + len(part)] = part
        at += len(part)
        if progress is not None:
            progress(chunk.stop)
    return rows


def read_passage(words: Sequence[Word], rows: Rows, model: Model, options: Options, *, live: bool = False) -> Passage:
    """The words as they are written, with their `probabilities`, whose cases are weighed by how others write a word.

    Of a `live` text only the last words so far are given, which do not show how the text as a whole writes them.
    """
    stripped = [strip(word.text) for word in words]
    bare, labels = [bare for bare, _ in stripped], [label for _, label in stripped]
    conventions = options.conventions(model.config)
    if conventions.read_as:
        options = replace(options, glossary=options.glossary.read_by(conventions))
    lexicon = model.lexicons[conventions.code]
    if not live and any(label.case is not Case.LOWER for label in labels):
        lexicon = with_witnesses(lexicon, bare, labels)
    if lexicon.shares:
        repeats = not live and len(set(bare)) < len(bare)
        rows = weigh_forms(rows, bare, lexicon, model.engine.are_rare(bare) if repeats else None)
    turns = np.array(turn_ends(words), np.bool_)
    gaps = pauses(words) if options.pauses else []
    if options.pauses:
        # After so long a silence something else begins, as with another speaker: a title, and then the first scene.
        turns |= np.array([(pause or 0) >= LONGEST_PAUSE for pause in gaps], np.bool_)
    starts = np.array([True, *(now.cue != before.cue for before, now in pairwise(words))])[: len(words)]
    return Passage(
        bare=bare,
        labels=labels,
        rows=rows,
        turn_ends=turns,
        # A word that is cut off (`wait- no`) has its dash for a mark.
        followed=np.array([word.followed or _CUT_OFF.search(word.text) is not None for word in words], np.bool_),
        preceded=np.array([word.preceded for word in words], np.bool_),
        cue_starts=starts,
        cues=find_cue_breaks(words, gaps) if options.pauses and np.count_nonzero(starts) > 1 else None,
        config=model.config,
        options=options,
        conventions=conventions,
        lexicon=lexicon,
        given=[word.given for word in words] if any(word.given is not None for word in words) else (),
        line_ends=np.array(line_ends(words), np.bool_),
        reads_lines=model.engine.reads_lines,
    )


def rewrite(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[str]:
    """The new text of each word, given the model's `probabilities` of them.

    A long text is decided in sections, so that the memory does not grow with it, each with more context on each side
    than a sentence or quotation should need. How its captions break, and how the text itself writes a word, is
    estimated from the section and its context only.
    """
    texts: list[str] = []
    while (start := len(texts)) < len(words):
        stop = start + _SECTION if len(words) - start - _SECTION >= _CONTEXT else len(words)
        first, last = max(start - _CONTEXT, 0), min(stop + _CONTEXT, len(words))
        section, passage = words[first:last], read_passage(words[first:last], rows[first:last], model, options)
        if options.existing == "recheck":
            # Without the marks that are nearly certainly wrong.
            checked = map(dress, passage.bare, recheck(passage, find_missing(passage).lacks_marks))
            section = [replace(word, text=text) for word, text in zip(section, checked, strict=True)]
            passage = read_passage(section, rows[first:last], model, replace(options, existing="auto"))
        own = slice(start - first, stop - first)
        # A text repeats its words, also when it is read back.
        texts += map(intern, map(dress, passage.bare[own], decode(passage)[own]))
    return texts


@dataclass(frozen=True, slots=True)
class Parted:
    """Words, and the `parts` in which a model reads them: several of a glued word, or the word itself.

    `signs` are (start, stop) of those between the parts of a word, by its number; `owners` the numbers of the words of
    the parts.
    """

    words: Sequence[Word]
    parts: Sequence[Word]
    owners: Sequence[int]
    signs: Mapping[int, Sequence[tuple[int, int]]]
    conventions: Language

    @property
    def bare(self) -> tuple[str, ...]:
        """The parts without marks and case."""
        return tuple(strip(part.text)[0] for part in self.parts)

    def whole(self, part: int, text: str) -> str:
        """The word of a part without its marks, as a file has it, if the part without its own were `text`."""
        owner = self.owners[part]
        if owner not in self.signs:
            return self.conventions.written(text)
        first = bisect_left(self.owners, owner)
        texts = [one.text for one in self.parts[first : first + len(self.signs[owner]) + 1]]
        label = strip(texts[part - first])[1]
        texts[part - first] = f"{label.before}{text}{label.after}"
        whole = strip(self.words[owner].text)[1].inside(self._glued(owner, iter(texts)))
        return self.conventions.written(whole)

    def joined(self, texts: Sequence[str]) -> list[str]:
        """One text for each word of the file, from the texts of its parts."""
        written, rest = self.conventions.written, iter(texts)
        if not self.signs:
            return list(map(written, texts)) if self.conventions.read_as else list(texts)
        return [written(self._glued(i, rest)) for i in range(len(self.words))]

    def _glued(self, number: int, texts: Iterator[str]) -> str:
        """The next text of a word, from the texts of its parts; the word itself if its letters would change."""
        old, text = self.words[number].text, next(texts)
        if number not in self.signs:
            return text
        for start, stop in self.signs[number]:
            text += ("" if text.endswith(old[start:stop]) else old[start:stop]) + next(texts)
        return text if fold(strip(text)[0]) == fold(strip(old)[0]) else old


def _signs(text: str, lexicon: Lexicon) -> list[tuple[int, int]]:
    """(start, stop) of the signs between the parts of a word."""
    if ("/" in text or "(" in text) and (found := _SLASH.fullmatch(text)):
        bare = strip(text)[0]
        return [] if bare in UNITS or lexicon.get(bare) else [found.span(1)]
    return [found.span(1) for found in _DASH.finditer(text)]


def _parts(word: Word, signs: Sequence[tuple[int, int]]) -> Iterator[Word]:
    """The parts of a word between its signs; a sign that is a mark belongs to the part before it."""
    text, first = word.text, 0
    word = replace(word, at=-1, length=0, copies=(), given=None)  # only the whole word is written to the source
    for start, stop in signs:
        own = text[first:stop] if strip(text[first:stop])[1].after else text[first:start]
        # No mark comes between a word and the sign after it.
        yield replace(word, text=own, end=None, followed=True)
        word = replace(word, start=None, sound=False, preceded=False, blank_before=False)
        first = stop
    yield replace(word, text=text[first:])
