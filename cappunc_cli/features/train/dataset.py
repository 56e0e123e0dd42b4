"""Training text as arrays: streams of written word types, and the windows that are drawn from them.

A *type* is a distinct written word (`Hello,`); its bare word, pieces, case and mark are computed once with
`labels.strip`, as in decoding. A corpus is then an int32 array of type numbers with parallel arrays of pauses and turn
ends. `prepare` makes these arrays; `Windows` lays them out as running pieces, and a window is a slice of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, Case, PairedMark, capital, fold, strip, upper
from cappunc_cli.features.train.corpora import Corpus
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.network import CLOSING, OPENING, special_piece, tokenise

Ints = NDArray[np.int32]

PAIRED_MARKS = tuple(PairedMark)
UNKNOWN_PAUSE = -1
#: The label of pieces that are not the last of a word.
IGNORED = -100

# A mark that stands alone belongs to the word before it: `it was — well`.
_DETACHED = re.compile(r" +(?=(?:[—–…!?:;,.-]|--+|\.{2,})(?: |$))")
GLUE = "\ue000"
#: A form in the lexicon is seen so often, and of words in other cases, too, an acronym has this share in upper case.
_LEAST, _SURE = 3, 0.9


#: Written word -> its number, in order of appearance.
Types = dict[str, int]


@dataclass(frozen=True, slots=True)
class TokenStream:
    """One corpus: per word its type, pause after it (ms, -1 unknown) and whether the turn ends."""

    types: Ints
    pauses: Ints
    turn_ends: NDArray[np.bool_]
    document_ends: NDArray[np.bool_]

    def take(self, index: NDArray[Any]) -> TokenStream:
        return TokenStream(*(getattr(self, name)[index] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Per type: case, mark, a bit for each of PAIRED_MARKS, and its pieces `pieces[starts[t]:starts[t + 1]]`.

    `frame` are the pieces that open and close a window ([CLS], [SEP]).
    """

    cases: NDArray[np.int8]
    marks: NDArray[np.int8]
    around: NDArray[np.uint8]
    starts: Ints
    pieces: Ints
    frame: Ints


def read_stream(corpus: Corpus, types: Types) -> TokenStream:
    """Read a corpus into a stream, adding its words to `types`."""
    numbers: list[int] = []
    silences: list[int] = []
    turns: list[int] = []
    documents: list[int] = []
    for document in corpus.documents:
        for turn in document:
            tokens = _DETACHED.sub(GLUE, turn.text).split()
            numbers.extend([types.setdefault(token, len(types)) for token in tokens])
            # The pause after a word with a mark that stands alone is that after the mark.
            ends = accumulate(1 + token.count(GLUE) for token in tokens)
            after = [turn.pauses[end - 1] for end in ends] if turn.pauses else [None] * len(tokens)
            silences.extend([UNKNOWN_PAUSE if pause is None else pause for pause in after])
            turns.append(len(numbers) - 1)
        documents.append(len(numbers) - 1)
    turn_ends = np.zeros(len(numbers), bool)
    document_ends = turn_ends.copy()
    document_ends[documents] = True
    if corpus.dialogue:
        turn_ends[turns] = True
    return TokenStream(np.array(numbers, np.int32), np.array(silences, np.int32), turn_ends, document_ends)


def build_vocabulary(types: Types, tokenizer: Tokenizer) -> tuple[Vocabulary, list[str]]:
    """Labels and pieces of every type, and the bare words ('' for types that are not words).

    Raises BadModel if the tokenizer has no special pieces to open and close a window.
    """
    bares, cases, marks = [], np.zeros(len(types), np.int8), np.zeros(len(types), np.int8)
    around = np.zeros(len(types), np.uint8)
    case_number = {case: i for i, case in enumerate(CASE_CLASSES)}
    for number, token in enumerate(types):
        bare, label = strip(token.replace(GLUE, " "))
        bares.append(bare.replace("’", "'") if any(c.isalnum() for c in bare) else "")
        cases[number] = case_number[label.case]
        marks[number] = MARK_CLASSES.index(label.mark)
        around[number] = sum(1 << PAIRED_MARKS.index(mark) for mark in label.paired)
    starts, pieces, frame = split(bares, tokenizer)
    return Vocabulary(cases, marks, around, starts, pieces, frame), bares


def split(bares: Sequence[str], tokenizer: Tokenizer) -> tuple[Ints, Ints, Ints]:
    """`starts`, `pieces` and `frame` of a Vocabulary.

    Raises BadModel if the tokenizer has no special pieces to open and close a window.
    """
    frame = [special_piece(tokenizer, names) for names in (OPENING, CLOSING)]
    starts, pieces = [0], []
    for start in range(0, len(bares), 50_000):
        for ids in tokenise(tokenizer, bares[start : start + 50_000]):
            pieces.extend(ids)
            starts.append(len(pieces))
    return np.array(starts, np.int32), np.array(pieces, np.int32), np.array(frame, np.int32)


def case_lexicon(types: Types, counts: NDArray[np.int64]) -> list[str]:
    """Written forms of mixed-case words (McDonald, iPhone) and of acronyms (BBC), each seen often enough.

    Of words that are seen in other cases, too, only those are acronyms that are nearly always in upper case. No word
    has a mixed form that is rarer than its capital one (`T-Shirt`); if it has a hyphen, the capital one is listed.
    """
    forms: dict[str, Counter[str]] = {}
    uppers, capitals, total = Counter[str](), Counter[str](), Counter[str]()
    for number, token in enumerate(types):
        bare, label = strip(token.replace(GLUE, " "))
        count = int(counts[number])
        total[bare] += count
        if label.case is Case.MIXED and bare.replace("'", "").replace("-", "").isalnum():
            forms.setdefault(bare.replace("’", "'"), Counter())[label.form.replace("’", "'")] += count
        elif label.case is Case.UPPER and bare.isalpha():
            uppers[bare] += count
        elif label.case is Case.CAPITAL:
            capitals[bare.replace("’", "'")] += count
    mixed = set()
    for bare, seen in forms.items():
        form, count = seen.most_common(1)[0]
        if count >= _LEAST and count >= capitals[bare]:
            mixed.add(form)
        elif count >= _LEAST and "-" in bare:
            mixed.add(capital(bare))  # or its parts would be made capital, as in other compounds
    known = set(map(fold, mixed))
    acronyms = {upper(b) for b, count in uppers.items() if count >= max(_LEAST, _SURE * total[b]) and b not in known}
    return sorted(mixed | acronyms)


#: Words from which a vocabulary is learnt.
_LEARNT = 4_000_000


def learn(types: Types, streams: dict[str, TokenStream], recipe: Recipe) -> Tokenizer:
    """Learn a WordPiece vocabulary from the bare words: NFC, lower case, one code point per letter, accents kept.

    Reads _LEARNT words in all, from each corpus in proportion to its share of the windows.
    """
    written = list(types)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    letters = {one: other for code in recipe.decoding["languages"] for one, other in language(code).letters.items()}
    replaced = [normalizers.Replace(*pair) for pair in letters.items()]
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase(), *replaced])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        limit_alphabet=300,
        show_progress=False,
    )
    total = sum(recipe.corpora.values())

    def texts() -> Iterator[str]:
        for name, share in recipe.corpora.items():
            stop = min(len(streams[name].types), int(_LEARNT * share / total))
            for start in range(0, stop, 10_000):
                some = streams[name].types[start : min(stop, start + 10_000)].tolist()
                yield " ".join(strip(written[number].replace(GLUE, " "))[0] for number in some)

    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


@dataclass(frozen=True, slots=True)
class Arrays:
    """The corpora of a recipe by name, all their types with the bare word of each, and the lexicon's forms."""

    streams: Mapping[str, TokenStream]
    vocabulary: Vocabulary
    bares: Sequence[str]
    lexicon: Sequence[str]


def prepare(recipe: Recipe, corpora: Mapping[str, Corpus]) -> Arrays:
    """The arrays of corpora by name; a recipe without a tokenizer learns one. Raises BadModel as `build_vocabulary`."""
    types = Types()
    streams = {name: read_stream(corpus, types) for name, corpus in corpora.items()}
    if not recipe.tokenizer.exists():
        recipe.tokenizer.parent.mkdir(parents=True, exist_ok=True)
        learn(types, streams, recipe).save(str(recipe.tokenizer))
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary, bares = build_vocabulary(types, tokenizer)
    is_word = np.array([bool(bare) for bare in bares])
    words = {name: stream.take(is_word[stream.types]) for name, stream in streams.items()}
    counts = sum(np.bincount(words[name].types, minlength=len(types)) for name in recipe.corpora)
    return Arrays(words, vocabulary, bares, case_lexicon(types, np.asarray(counts)))


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, pieces); labels are IGNORED except at the last piece of a word, bin 0 is an unknown pause."""

    ids: NDArray[np.int64]
    attention: NDArray[np.int64]
    pauses: NDArray[np.int64]
    turns: NDArray[np.int64]
    lines: NDArray[np.int64]
    cases: NDArray[np.int64]
    marks: NDArray[np.int64]
    around: NDArray[np.int64]


#: A piece of running text, with the columns of a Batch.
_PIECE = np.dtype([*zip(Batch.__annotations__, ("i4", "?", "i2", "?", "?", "i1", "i1", "u1"), strict=True)])


class Windows:
    """Draws batches of windows from the training part of corpora, or reads the held-out part.

    `texts` has the pieces of each corpus, and where its words start and the last one ends.
    """

    def __init__(self, recipe: Recipe, streams: Mapping[str, TokenStream], vocabulary: Vocabulary) -> None:
        self.recipe, self.frame, self.names = recipe, vocabulary.frame, list(recipe.corpora)
        shares = np.array([recipe.corpora[name] for name in self.names], float)
        self.shares = shares / shares.sum()
        self.texts = {name: _running(stream, vocabulary, recipe.pause_bins_ms) for name, stream in streams.items()}
        self.train_stops = {name: int(len(stream.types) * (1 - recipe.heldout)) for name, stream in streams.items()}

    def batch(self, rng: np.random.Generator) -> Batch:
        """`recipe.batch` pieces in rows of one length; they show pauses and turns as often as the recipe says."""
        pieces = int(rng.choice(self.recipe.pieces))
        rows = []
        for corpus in rng.choice(len(self.names), self.recipe.batch // pieces, p=self.shares):
            name = self.names[corpus]
            stop = self.train_stops[name]
            row = self._row(name, int(rng.integers(0, max(1, stop - pieces))), stop, pieces)
            if rng.random() > self.recipe.turns:
                row["turns"] = False
            if rng.random() > self.recipe.pauses:
                row["pauses"] = 0
            rows.append(row)
        return _batch(rows)

    def heldout(self, name: str, pieces: int, words: int) -> Batch:
        """The first `words` of the held-out part of a corpus in adjacent windows, without changes of speaker."""
        starts, at = self.texts[name][1], self.train_stops[name]
        stop, rows = min(len(starts) - 1, at + words), []
        while at < stop:
            rows.append(self._row(name, at, stop, pieces))
            rows[-1]["turns"] = False
            # The next one starts with the first word that is not whole in this one.
            at = max(at + 1, int(np.searchsorted(starts, starts[at] + pieces - 2, "right")) - 1)
        return _batch(rows)

    def _row(self, name: str, start: int, stop: int, pieces: int) -> NDArray[np.void]:
        """A row of `pieces` from word `start` on, padded with zeros if the text ends before, at word `stop`."""
        text, starts = self.texts[name]
        inside = text[starts[start] : starts[stop]][: pieces - 2]
        row = np.zeros(pieces, _PIECE)
        row["cases"] = row["marks"] = IGNORED
        row[1 : len(inside) + 1] = inside
        row["ids"][[0, len(inside) + 1]] = self.frame
        row["attention"][: len(inside) + 2] = True
        return row


def _batch(rows: Sequence[NDArray[np.void]]) -> Batch:
    table = np.stack(rows)
    return Batch(*(table[field.name].astype(np.int64) for field in fields(Batch)))


def _running(stream: TokenStream, words: Vocabulary, bins: Sequence[int]) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """The pieces of a corpus, labelled at the last one of each word, and where words start and the last one ends."""
    lengths = np.diff(words.starts)[stream.types]
    starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
    text = np.zeros(starts[-1], _PIECE)
    text["ids"] = words.pieces[np.repeat(words.starts[stream.types] - starts[:-1], lengths) + np.arange(len(text))]
    text["cases"] = text["marks"] = IGNORED
    last, known = starts[1:] - 1, stream.pauses != UNKNOWN_PAUSE
    text["pauses"][last] = np.where(known, 1 + np.searchsorted(bins, stream.pauses, "right"), 0)
    text["turns"][last] = stream.turn_ends
    for name in ("cases", "marks", "around"):
        text[name][last] = getattr(words, name)[stream.types]
    return text, starts
