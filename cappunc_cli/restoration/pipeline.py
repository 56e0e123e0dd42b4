"""The whole flow: words, chunks, probabilities, labels, words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, islice
from sys import intern
from typing import TYPE_CHECKING

import numpy as np

from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.chunks import Chunk, merge, split
from cappunc_cli.restoration.decoding.categorical import Categorical
from cappunc_cli.restoration.decoding.decoder import allowed_posteriors, decide
from cappunc_cli.restoration.decoding.evidence import combine, evidence, judge
from cappunc_cli.restoration.decoding.lexical_rules import keep_attached, lexical_rules
from cappunc_cli.restoration.decoding.paragraph_breaks import part_turns
from cappunc_cli.restoration.decoding.posteriors import LabelColumn, Posteriors, posteriors_of, sentence_end_probability
from cappunc_cli.restoration.decoding.unrestored import Lack, expect
from cappunc_cli.restoration.decoding.word_properties import word_properties
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.engines import ENGINES, NETWORK, Engine
from cappunc_cli.restoration.model.registry import find_model, find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.transcript.labels import Label, cached_strip, dress
from cappunc_cli.transcript.pauses import pauses
from cappunc_cli.transcript.words import Word, Words, cue_ends, turn_ends
from cappunc_cli.transcript.words import texts as texts_of

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: A text that judges itself anew after every round (a handful of odd words) is left at that.
_MOST_ROUNDS = 5
#: So many words tell what the blank lines of a text are.
_TELLING = 1000

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
    opened = kind.open(find_model_for(language, kind) if name is None else find_model(name, kind), device)
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


def with_paragraphs(words: Sequence[Word], model: Model, options: Options) -> Sequence[Word]:
    """The words with another turn behind each of their blank lines, if these part turns. Raises CappuncError."""
    if not isinstance(words, Words) or not words.blank_before:
        return words
    some = words[:_TELLING]
    bare, _ = strip_all(some.texts)
    ends = sentence_end_probability(posteriors_for(bare, probabilities(some, model, options), model, options))
    if not part_turns(ends, some.blank_before):
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
    settled: Callable[[int, Rows, int], None] | None = None,
    after: int | None = None,
) -> Iterator[Rows]:
    """The `probabilities` of each text; their windows share batches, so how words are cut into texts costs nothing.

    `progress` hears how many words of all texts the model has read; `settled`, while the model is reading on, the
    number of a text, its rows and how many of them are final; `after` is for the last text. Raises CappuncError.
    """
    window, overlap, min_words_cut = options.windows(model.config)
    bare = [intern(cached_strip(text)[0]) for words in texts for text in texts_of(words)]
    silence: list[int | None] = list(chain.from_iterable(map(pauses, texts)))
    silence[-1:] = [after] if silence else []
    if not options.pauses:
        silence = [None] * len(bare)
    turns = list(chain.from_iterable(map(turn_ends, texts)))
    chunks = [split(len(words), window, overlap, min_words_cut) for words in texts]
    offsets = list(accumulate(map(len, texts), initial=0))
    placed = [chunk.moved(offset) for own, offset in zip(chunks, offsets, strict=False) for chunk in own]
    rows = _reported(model.engine.predict(bare, silence, turns, placed), progress)
    for i, (words, own) in enumerate(zip(texts, chunks, strict=True)):
        found = islice(rows, len(own))
        heard = partial(settled, i) if settled else None
        yield merge(own, found, len(words), settled=heard)


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
    """
    if not words:
        return []
    words = Words.of(words)
    texts = list(words.texts)
    bare, labels = strip_all(texts)
    turns = np.array(turn_ends(words), np.bool_)
    bound = np.array(list(words.followed), np.bool_)
    captions = cue_ends(words) if options.pauses else None
    said = posteriors_for(bare, rows, model, options)
    text = allowed_posteriors(said, turns, model.config, options, captions)
    held = [label for _, label in map(cached_strip, given)]
    wanted = expect(said) if options.existing == "auto" else None
    # Until fixing it once more would change nothing: as good as always, the second round only confirms.
    for _ in range(_MOST_ROUNDS):
        sure = lexical_rules(bare, labels, turns, model.config, options)
        lack = None if wanted is None else judge(bare, labels, wanted, turns)
        known = sure.hold(evidence(words, bare, labels, options.existing, lack)).with_given(held)
        written = sure.labels.changed(dict(enumerate(held)))
        decided = decide(
            text, bare, turns, model.config, options, model.lexicon, known, written, bound, len(held), goes_on
        )
        decided = keep_attached(bound, labels, decided)
        changes = {i: (text, cached_strip(text)[1]) for i, text in enumerate(given) if text != texts[i]}
        # Words share labels: as good as always there is something new where these are others.
        other = (labels.ids != sure.labels.ids) | (labels.ids != decided.ids)
        other[: len(held)] = False
        places = np.flatnonzero(other)
        fixed, settled = (known.cases[places] >= 0).tolist(), known.settled[places].tolist()
        for i, word, *of_word in zip(
            places.tolist(),
            bare.taken(places),
            labels.taken(places),
            sure.labels.taken(places),
            decided.taken(places),
            fixed,
            settled,
            strict=True,
        ):
            dressed = _written(texts[i], word, *of_word)
            again, label = cached_strip(dressed)
            # Whatever a label says, it is the same word or it stays as it was.
            if dressed != texts[i] and again == word:
                changes[i] = intern(dressed), label
        if not changes:
            break
        for i, (new, _) in changes.items():
            texts[i] = new
        labels = labels.changed({i: label for i, (_, label) in changes.items()})
    return texts


def strip_all(texts: Sequence[str]) -> tuple[Categorical[str], LabelColumn]:
    """The bare words of written ones, and their labels."""
    written = Categorical.of(texts)
    pairs = list(map(cached_strip, written.values))
    bare, labels = (Categorical.of([pair[0] for pair in pairs]), LabelColumn.of([pair[1] for pair in pairs]))
    return Categorical(bare.values, bare.codes[written.codes]), LabelColumn(labels.values, labels.codes[written.codes])


def lack_of(words: Sequence[Word], rows: Rows, model: Model, options: Options) -> Lack:
    """Find what the text around each word lacks, given the probabilities: what `existing` auto would restore."""
    bare, labels = strip_all(texts_of(words))
    return judge(bare, labels, expect(posteriors_for(bare, rows, model, options)), turn_ends(words))


def posteriors_for(bare: Sequence[str], rows: Rows, model: Model, options: Options) -> Posteriors:
    """Posteriors of bare words, within what each can carry."""
    conventions = options.conventions(model.config)
    return posteriors_of(rows, word_properties(bare, conventions, model.lexicon), model.config)


def _written(text: str, bare: str, old: Label, sure: Label, new: Label, case_is_fixed: bool, settled: bool) -> str:
    same_marks = old.after == new.after and old.before == new.before
    if settled and sure is old:
        # `Qué?` lacks nothing but its `¿`, `¿Qué.` its `?`.
        return text if same_marks else dress(bare, replace(old, before=new.before, after=new.after))
    if sure is old and same_marks and (case_is_fixed or (old.case is new.case and old.form == new.form)):
        return text
    return dress(bare, combine(sure, new, case_is_fixed=case_is_fixed))


def _reported(
    rows: Iterable[tuple[Chunk, Rows]], progress: Callable[[int], None] | None
) -> Iterator[tuple[Chunk, Rows]]:
    for chunk, values in rows:
        if progress is not None:
            progress(chunk.stop)
        yield chunk, values
