"""The whole flow: words, chunks, probabilities, labels, new words; for one text, many, and long ones in sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice, pairwise
from numbers import Integral
from types import NoneType

import numpy as np

from cappunc_cli.document.labels import cached_strip, dress
from cappunc_cli.document.pauses import LONGEST_PAUSE, pauses, turn_ends
from cappunc_cli.document.words import Word
from cappunc_cli.errors import require
from cappunc_cli.restoration.chunks import Chunk, Rows, merge, split
from cappunc_cli.restoration.decoding.breaks import find_cue_breaks, part_turns
from cappunc_cli.restoration.decoding.decoder import decode
from cappunc_cli.restoration.decoding.doubts import recheck
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.decoding.forms import weigh_forms, with_witnesses
from cappunc_cli.restoration.decoding.passage import UNREAD, Passage, read_rows
from cappunc_cli.restoration.glued import Parted
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options

#: The end of a word that its speaker did not finish.
_CUT_OFF = re.compile(r"[^\W_]-\Z")
#: Words at the beginning of a text that decide whether its blank lines separate turns.
_BLANK_LINE_SAMPLE = 1000
#: Words that are decided at a time (about an hour of speech), and words of context on each side.
_SECTION, _CONTEXT = 1 << 13, 512


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
    for word in words:
        require("a word", word, Word, "a Word")
        require("the text of a word", word.text, str, "a str")
        for time in (word.start, word.end):
            require("a time", time, (Integral, NoneType), "whole milliseconds or None")
    (texts,) = restore_all([words], model, options, progress)
    return texts


def restore_all(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[str]]:
    """For each text, the new texts of its words as in `restore`.

    `progress` is called with the number of words of all texts that the model has read. Raises CappuncError.
    """
    read = [as_read(words, model, options) for words in texts]
    rows = probabilities_of_each([one.parts for one in read], model, options, progress)
    for one in read:
        # Rows are not kept while the caller writes the result: they are many times as large as their text.
        yield one.joined(rewrite_long(one.parts, next(rows), model, options))


def as_read(words: Sequence[Word], model: Model, options: Options) -> Parted:
    """The words as the model reads them: in parts where they are glued, and in paragraphs. Raises CappuncError."""
    parted = Parted.of(words, _lexicon(model, options))
    return replace(parted, parts=_with_paragraphs(parted.parts, model, options))


def _with_paragraphs(words: Sequence[Word], model: Model, options: Options) -> Sequence[Word]:
    """The words with a new turn after each blank line, if the blank lines separate turns; raises CappuncError."""
    if not any(word.blank_before for word in words):
        return words
    blanks = accumulate(word.blank_before for word in words)
    parted = [
        replace(word, turn=word.turn + before, blank_before=False) for word, before in zip(words, blanks, strict=True)
    ]
    samples = [words[:_BLANK_LINE_SAMPLE], parted[:_BLANK_LINE_SAMPLE]]
    ends, ends_with_turns = (
        read_passage(sample, rows, model, options).posteriors.end_probability()
        for sample, rows in zip(samples, probabilities_of_each(samples, model, options), strict=True)
    )
    blank_before = [i for i, word in enumerate(samples[0]) if i and word.blank_before]
    return parted if part_turns(ends, ends_with_turns, blank_before) else words


def probabilities(
    words: Sequence[Word],
    model: Model,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> Rows:
    """The probabilities for each word, [n, cases + marks + around].

    They are the model's, which reads neither marks nor case, with cases weighed by how the words are written elsewhere
    (`decoding/forms.py`). `progress` is as in `restore`. Raises CappuncError.
    """
    return next(probabilities_of_each([words], model, options or Options(), progress))


def probabilities_of_each(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
    live: Sequence[int | None] | None = None,
) -> Iterator[Rows]:
    """The `probabilities` of each text; texts share batches, so many short ones are as fast as one long one.

    `progress` is called with the number of words of all texts that the model has read. Of `live` texts, whose words are
    still to come, these are the pauses after the last word of each (ms), as far as known. Raises CappuncError.
    """
    window, overlap, min_words_cut = options.windows(model.config)
    bare = [cached_strip(word.text)[0] for words in texts for word in words]
    silence: list[int | None] = [None] * len(bare)
    if options.pauses:
        ends = live or [None] * len(texts)
        silence = [gap for words, end in zip(texts, ends, strict=True) if words for gap in (*pauses(words)[:-1], end)]
    turns = list(chain.from_iterable(map(turn_ends, texts)))
    counts = list(map(len, texts))
    chunks = [split(count, window, overlap, min_words_cut) for count in counts]
    offsets = accumulate(counts, initial=0)
    placed = [chunk.moved(offset) for own, offset in zip(chunks, offsets, strict=False) for chunk in own]

    def told(read: tuple[Chunk, Rows]) -> tuple[Chunk, Rows]:
        if progress is not None:
            progress(read[0].stop)
        return read

    rows = map(told, model.predict(bare, silence, turns, placed, options.conventions(model.config).code))
    for own, words in zip(chunks, texts, strict=True):
        yield weigh_cases(words, merge(own, islice(rows, len(own)), len(words)), model, options, live=live is not None)


def weigh_cases(words: Sequence[Word], rows: Rows, model: Model, options: Options, *, live: bool) -> Rows:
    """The rows of a text with their cases weighed by the forms of words, and by its other words if it is not `live`."""
    lexicon = _lexicon(model, options)
    if not lexicon.shares:
        return rows
    bare, labels = zip(*(cached_strip(word.text) for word in words), strict=True) if words else ((), ())
    if live:
        return weigh_forms(rows, bare, lexicon, model.config)
    return weigh_forms(rows, bare, with_witnesses(lexicon, bare, labels), model.config, model.engine.are_rare(bare))


def _lexicon(model: Model, options: Options) -> Lexicon:
    """The model's lexicon in the language of the text."""
    return model.lexicons[options.conventions(model.config).code]


def read_passage(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> Passage:
    """The words as they are written, with what follows from their `probabilities`."""
    passage = make_passage(words, model, options)
    passage.posteriors = read_rows(passage, rows)
    return passage


def make_passage(words: Sequence[Word], model: Model, options: Options, *, live: bool = False) -> Passage:
    """The words as they are written; `live`: the last ones so far, without what a text as a whole shows."""
    stripped = [cached_strip(word.text) for word in words]
    bare, labels = [bare for bare, _ in stripped], [label for _, label in stripped]
    lexicon = _lexicon(model, options)
    turns = np.array(turn_ends(words), np.bool_)
    if options.pauses:
        # After so long a silence something else begins, as with another speaker: a title, and then the first scene.
        turns |= np.array([(pause or 0) >= LONGEST_PAUSE for pause in pauses(words)], np.bool_)
    starts = np.array([True, *(now.cue != before.cue for before, now in pairwise(words))])[: len(words)]
    return Passage(
        bare=bare,
        labels=labels,
        posteriors=UNREAD,
        turn_ends=turns,
        # A word that is cut off (`wait- no`) has its dash for a mark.
        followed=np.array([word.followed or _CUT_OFF.search(word.text) is not None for word in words], np.bool_),
        preceded=np.array([word.preceded for word in words], np.bool_),
        cue_starts=starts,
        cues=find_cue_breaks(words) if options.pauses and np.count_nonzero(starts) > 1 else None,
        config=model.config,
        options=options,
        conventions=options.conventions(model.config),
        lexicon=lexicon if live else with_witnesses(lexicon, bare, labels),
    )


def rewrite(
    words: Sequence[Word],
    rows: Rows,
    model: Model,
    options: Options,
    committed: Sequence[str] = (),
    continues: bool = False,
) -> list[str]:
    """The new text of each word, given the model's `probabilities` of them.

    The first words keep the texts `committed`. If the text `continues`, it does not end with its last word.
    """
    if not words:
        return []
    if options.existing == "recheck":
        words, options = _drop_wrong_marks(words, rows, model, options), replace(options, existing="auto")
    passage = make_passage(words, model, options, live=bool(committed) or continues)
    passage.committed, passage.continues = len(committed), continues
    written = passage.labels
    labels = decode(passage, rows, [cached_strip(text)[1] for text in committed])
    new = zip(words, written, passage.bare, labels, strict=True)
    texts = [word.text if label is old else dress(bare, label) for word, old, bare, label in new]
    return [*committed, *texts[len(committed) :]]


def _drop_wrong_marks(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[Word]:
    """The words without the marks that are nearly certainly wrong."""
    passage = read_passage(words, rows, model, options)
    new_labels = recheck(passage, find_missing(passage).lacks_marks)
    checked = zip(words, passage.labels, new_labels, passage.bare, strict=True)
    return [word if new is old else replace(word, text=dress(bare, new)) for word, old, new, bare in checked]


def rewrite_long(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[str]:
    """`rewrite` a long text in sections, so that the memory for decoding does not grow with it.

    A section is decided with more context on each side than a sentence or quotation should need. How its captions
    break is estimated from the section and its context only.
    """
    texts: list[str] = []
    while (start := len(texts)) < len(words):
        stop = start + _SECTION if len(words) - start - _SECTION >= _CONTEXT else len(words)
        first, last = max(start - _CONTEXT, 0), min(stop + _CONTEXT, len(words))
        new = rewrite(words[first:last], rows[first:last], model, options)
        texts += new[start - first : stop - first]
    return texts
