"""The whole flow: words, chunks, probabilities, labels, words; of many texts at once, and of long ones bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import accumulate, chain, islice
from operator import is_
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.chunks import Chunk, merge, split
from cappunc_cli.restoration.decoding.cue_breaks import cue_breaks_of
from cappunc_cli.restoration.decoding.decoder import allowed, decide
from cappunc_cli.restoration.decoding.evidence import evidence, judge
from cappunc_cli.restoration.decoding.lexical_rules import lexical_rules
from cappunc_cli.restoration.decoding.paragraph_breaks import part_turns
from cappunc_cli.restoration.decoding.passage import Passage, posteriors_of, sentence_end_probability
from cappunc_cli.restoration.decoding.unrestored import Lack, expect
from cappunc_cli.restoration.decoding.word_properties import word_properties
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.engines import ENGINES, NETWORK, Engine
from cappunc_cli.restoration.model.registry import find_model, find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.transcript.labels import Label, cached_strip, dress
from cappunc_cli.transcript.pauses import pauses
from cappunc_cli.transcript.words import Word, Words, turn_ends

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: A text that judges itself anew after every round (a handful of odd words) is left at that.
_MOST_ROUNDS = 5
#: So many words tell what the blank lines of a text are.
_TELLING = 1000

#: Words whose marks are decided at a time (an hour of speech), and words to each side that are looked at.
_STRETCH, _SURROUNDINGS = 1 << 13, 512

__all__ = ["Engine", "Model", "Options", "load_model", "probabilities", "restore", "rewrite"]


@dataclass(frozen=True, slots=True)
class Model:
    """An opened model: what it says about itself, what runs it, and its mixed-case words.

    >>> model = cappunc.load_model("en")
    >>> model.config.languages, model.lexicon["iphone"]
    (('en',), 'iPhone')
    """

    config: ModelConfig
    engine: Engine
    lexicon: Mapping[str, str]


def load_model(name: str | None = None, device: str = "auto", *, language: str = "en", engine: str = NETWORK) -> Model:
    """Open a model, by name or directory or else the one for a language, for `device` (auto, cpu, cuda, cuda:N).

    Raises BadModel or, for a named device that cannot be used, CappuncError.
    `model.engine.warning` says if `auto` had to do without a GPU that is there.

    >>> cappunc.load_model(language="es", device="cpu").config.name
    'multi'
    """
    if engine not in ENGINES:
        raise WrongUsage(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
    kind = ENGINES[engine]
    directory = find_model_for(language, kind) if name is None else find_model(name, kind)
    opened: Engine = getattr(import_module(kind.module), kind.opened)(directory, device)
    return Model(opened.config, opened, opened.lexicon)


def restore(
    words: Sequence[Word],
    model: Model,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """The new text of each word; word for word the same words, with other marks and case.

    `progress` hears, now and then, how many words the model has read. Raises CappuncError.

    >>> words = [cappunc.Word("good", 0, 300), cappunc.Word("evening", 300, 700), cappunc.Word("london", 720, 1300)]
    >>> cappunc.restore(words, cappunc.load_model("en"))
    ['Good', 'evening,', 'London.']
    """
    options = options or Options()
    words = with_paragraphs(words, model, options)
    return rewrite(words, probabilities(words, model, options, progress), model, options)


def restore_all(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[str]]:
    """For each text the new texts of its words, as `restore` gives them.

    A long text's beginning is decided while the model reads on. `progress` hears how many words of all texts the
    model has read. Raises CappuncError.
    """
    texts = [with_paragraphs(words, model, options) for words in texts]
    decisions = [Decisions(words, model, options) for words in texts]
    rows = probabilities_of_each(texts, model, options, progress, [decided.take for decided in decisions])
    for decided in decisions:
        next(rows)  # kept nowhere while the result is written: a text's rows are many times as large as the text
        yield decided.new


def with_paragraphs(words: Sequence[Word], model: Model, options: Options) -> Sequence[Word]:
    """The words with another turn behind each of their blank lines, if these part turns. Raises CappuncError."""
    if not isinstance(words, Words) or not words.blank_before:
        return words
    some = words[:_TELLING]
    passage = passage_of(some, probabilities(some, model, options), model, options)
    if not part_turns(sentence_end_probability(passage.posteriors), some.blank_before):
        return words
    more = np.zeros(len(words), np.intp)
    more[list(words.blank_before)] = 1
    turns = np.array([turn or 0 for turn in words.turns]) + np.cumsum(more)
    return words.with_turns(turns.tolist())


def probabilities(
    words: Sequence[Word],
    model: Model,
    options: Options | None = None,
    progress: Callable[[int], None] | None = None,
    after: int | None = None,
) -> Rows:
    """Probabilities of each word, [n, cases + marks + around]; marks and case of `words` are not looked at.

    `progress` as in `restore`; `after` is the pause after the last word (ms), if it is known. Raises CappuncError.
    """
    return next(probabilities_of_each([words], model, options or Options(), progress, after=after))


def probabilities_of_each(
    texts: Sequence[Sequence[Word]],
    model: Model,
    options: Options,
    progress: Callable[[int], None] | None = None,
    settled: Sequence[Callable[[Rows, int], None]] = (),
    after: int | None = None,
) -> Iterator[Rows]:
    """The `probabilities` of each text; their windows share batches, so how words are cut into texts costs nothing.

    `progress` hears how many words of all texts the model has read; those `settled`, one for each text, while the
    model is reading on, its rows and how many of them are final; `after` is for the last text. Raises CappuncError.
    """
    window, overlap, min_words_cut = options.windows(model.config)
    known = list(map(Words.of, texts))
    bare = [intern(cached_strip(text)[0]) for words in known for text in words.texts]
    silence: list[int | None] = list(chain.from_iterable(map(pauses, known)))
    silence[-1:] = [after] if silence else []
    if not options.pauses:
        silence = [None] * len(bare)
    turns = list(chain.from_iterable(map(turn_ends, known)))
    chunks = [split(len(words), window, overlap, min_words_cut) for words in known]
    offsets = list(accumulate(map(len, known), initial=0))
    placed = [chunk.moved(offset) for own, offset in zip(chunks, offsets, strict=False) for chunk in own]
    rows = model.engine.predict(bare, silence, turns, placed)
    if progress is not None:
        rows = _reported(rows, progress)
    for i, (words, own) in enumerate(zip(known, chunks, strict=True)):
        found = islice(rows, len(own))
        yield merge(own, found, len(words), settled=settled[i] if settled else None)


def passage_of(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> Passage:
    """The words as they are written and what the model says of them, given its `probabilities`."""
    known = Words.of(words)
    bare, labels = map(list, zip(*map(cached_strip, known.texts), strict=True)) if words else ([], [])
    conventions = options.conventions(model.config)
    starts = np.zeros(len(bare), np.bool_)
    starts[np.fromiter((start for _, start, _ in known.cues.stretches()), np.intp)] = True
    return Passage(
        bare=bare,
        labels=labels,
        posteriors=posteriors_of(rows, word_properties(bare, conventions, model.lexicon), model.config),
        turn_ends=np.array(turn_ends(known), np.bool_),
        followed=np.array(list(known.followed), np.bool_),
        cue_starts=starts,
        cues=cue_breaks_of(known) if options.pauses else None,
        config=model.config,
        options=options,
        conventions=conventions,
        lexicon=model.lexicon,
    )


def rewrite(
    words: Sequence[Word],
    rows: Rows,
    model: Model,
    options: Options,
    given: Sequence[str] = (),
    goes_on: bool = False,
) -> list[str]:
    """The new text of each word, given the model's `probabilities` of them.

    The first words have the texts `given`, which stay; a text that `goes_on` does not end with its last word.
    It is decided in rounds: new marks and capitals change what the text around them lacks, and so what evidence the
    old ones are. That fixing the result changes nothing is what the last round proves, most often the second one.
    """
    if not words:
        return []
    columns = Words.of(words)
    texts = [*given, *columns.texts[len(given) :]]
    passage = passage_of(columns, rows, model, options)
    passage.given, passage.goes_on = len(given), goes_on
    wanted = expect(passage.posteriors) if options.existing == "auto" else None
    passage.posteriors = allowed(passage)
    held = [label for _, label in map(cached_strip, given)]
    for _ in range(_MOST_ROUNDS):
        labels = passage.labels
        sure = lexical_rules(passage)
        lack = None if wanted is None else judge(passage, wanted)
        known = sure.hold(evidence(passage, options.existing, lack))
        decided = decide(replace(passage, labels=[*held, *sure.labels[len(held) :]]), known)
        for i in np.flatnonzero(passage.followed).tolist():
            # No new mark comes between a word and the address or the formula behind it.
            decided[i] = replace(decided[i], after=labels[i].after)
        again = [*held, *labels[len(held) :]]
        fixed, settled = (known.cases >= 0).tolist(), known.settled.tolist()
        for i, (old, own, new) in enumerate(zip(labels, sure.labels, decided, strict=True)):
            if i < len(held) or (own is old and new is old):
                continue  # words share labels: most are the same in both
            dressed = _written(texts[i], passage.bare[i], old, own, new, fixed[i], settled[i])
            word, label = cached_strip(dressed)
            # Whatever a label says, it is the same word or it stays as it was.
            if dressed != texts[i] and word == passage.bare[i]:
                texts[i], again[i] = intern(dressed), label
        if all(map(is_, labels, again)):
            break
        passage.labels = again
    return texts


def rewrite_long(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> list[str]:
    """`rewrite` in memory that does not grow with the text: a long one in stretches."""
    decisions = Decisions(words, model, options)
    decisions.take(rows, len(rows))
    return decisions.new


@dataclass(slots=True)
class Decisions:
    """The `new` texts of words from their beginning on, as far as the model's rows allow.

    A stretch is decided together with its surroundings, farther than any sentence or quotation
    should reach; how its captions break is learnt from these alone.
    """

    words: Sequence[Word]
    model: Model
    options: Options
    new: list[str] = field(default_factory=list)

    def take(self, rows: Rows, known: int) -> None:
        """Decide what can be decided now that the first `known` rows are final."""
        count = len(self.words)
        while (start := len(self.new)) < count:
            stop = min(start + _STRETCH, count)
            if count - stop < _SURROUNDINGS:
                stop = count
            first, last = max(start - _SURROUNDINGS, 0), min(stop + _SURROUNDINGS, count)
            if last > known:
                return
            new = rewrite(self.words[first:last], rows[first:last], self.model, self.options)
            self.new += new[start - first : stop - first]


def lack_of(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> Lack:
    """Find what the text around each word lacks, given the probabilities: what `existing` auto would restore."""
    passage = passage_of(words, rows, model, options)
    return judge(passage, expect(passage.posteriors))


def _written(text: str, bare: str, old: Label, sure: Label, new: Label, case_is_fixed: bool, settled: bool) -> str:
    same_marks = old.after == new.after and old.before == new.before
    if settled and sure is old:
        # `Qué?` lacks nothing but its `¿`, `¿Qué.` its `?`.
        return text if same_marks else dress(bare, replace(old, before=new.before, after=new.after))
    if sure is old and same_marks and (case_is_fixed or (old.case is new.case and old.form == new.form)):
        return text
    return dress(bare, replace(new, case=sure.case, form=sure.form) if case_is_fixed else new)


def _reported(rows: Iterable[tuple[Chunk, Rows]], progress: Callable[[int], None]) -> Iterator[tuple[Chunk, Rows]]:
    for chunk, values in rows:
        progress(chunk.stop)
        yield chunk, values
