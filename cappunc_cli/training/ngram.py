"""Estimate the trigram model of a language from its training texts.

    python -m cappunc_cli.training.ngram ro --data ../shared/data -o models/ro

Modified Kneser-Ney discounts (Chen and Goodman 1999) over plain counts: a model that is pruned
hard loses more by Kneser-Ney's own lower orders than it gains (Chelba et al. 2010). N-grams are
kept by their weighted difference to the shorter history (Seymore and Rosenfeld 1996).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.labels import MARKS, TERMINAL, Case, dress, strip
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.ngram import (
    BEGIN,
    CLASS_SIGNS,
    END,
    FIRST_MARK,
    FIRST_WORD,
    LONGEST_ENDING,
    Counts,
    Floats,
    Integers,
    Trigrams,
    mapped,
    save,
)
from cappunc_cli.training.corpora import CORPORA
from cappunc_cli.training.dataset import GLUE, Stream, Types, read_stream

#: Trained and not shipped: licences that forbid it, or text that a language model should not learn from.
_LEFT_OUT: frozenset[str] = frozenset()
_TOKENS_OF_END = np.array([END, BEGIN])


@dataclass(frozen=True, slots=True)
class Size:
    """How much is kept: words seen at least `least` times and the `words` most frequent, so many n-grams."""

    least: int = 4
    words: int = 40_000
    pairs: int = 200_000
    triples: int = 250_000


@dataclass(frozen=True, slots=True)
class Written:
    """Every distinct written word: its bare spelling (a number), case, mark (0: none); -1 is no word."""

    bare: Integers
    cases: Integers
    marks: Integers
    spellings: list[str]
    forms: list[str]


def corpora_of(code: str) -> list[str]:
    """The names of a language's texts in CORPORA; timed ones hold the same texts again, or transcripts of none."""
    return [
        name
        for name, corpus in CORPORA.items()
        if corpus.path.startswith(f"{code}/") and name not in _LEFT_OUT
    ]


def analyse(types: Iterable[str], conventions: Language) -> Written:
    """Take every written word apart once."""
    numbers: dict[str, int] = {}
    bares, cases, marks, forms = [], [], [], []
    order = {case: i for i, case in enumerate(Case)}
    mark_order = {mark: i for i, mark in enumerate(("", *MARKS))}
    for token in types:
        bare, label = strip(conventions.spelled(token.replace(GLUE, " ")))
        word = any(c.isalnum() for c in bare) and "\n" not in bare and bare[0] not in CLASS_SIGNS.values()
        bares.append(numbers.setdefault(mapped(bare), len(numbers)) if word else -1)
        cases.append(order[label.case])
        marks.append(mark_order[label.mark])
        forms.append(label.form)
    return Written(np.array(bares), np.array(cases), np.array(marks), list(numbers), forms)


@dataclass(frozen=True, slots=True)
class Running:
    """A corpus as words: bare spelling, case, mark, and whether a turn ends; sentence starts truecased."""

    bare: Integers
    cases: Integers
    marks: Integers
    ends: npt.NDArray[np.bool_]


LOWER, CAPITAL, UPPER, MIXED = range(4)


def running(streams: Sequence[Stream], written: Written) -> Running:
    """All streams as one. A capital that only begins a sentence is taken back."""
    types = np.concatenate([s.types for s in streams])
    ends = np.concatenate([s.turn_ends | s.document_ends for s in streams])
    keep = written.bare[types] >= 0
    # The turn ends with the last word that is one.
    before = np.maximum(np.cumsum(keep) - 1, 0)
    kept_ends = np.zeros(int(keep.sum()), np.bool_)
    kept_ends[before[ends]] = True
    types = types[keep]
    bare, cases, marks = written.bare[types], written.cases[types].copy(), written.marks[types]
    terminal = np.isin(marks, [1 + MARKS.index(m) for m in TERMINAL]) | kept_ends
    initial = np.append(True, terminal[:-1])
    size = len(written.spellings)
    inside = [np.bincount(bare[~initial & (cases == case)], minlength=size) for case in (LOWER, CAPITAL)]
    name = inside[CAPITAL] > inside[LOWER]
    cases[initial & (cases == CAPITAL) & ~name[bare]] = LOWER
    return Running(bare, cases, marks, kept_ends)


def vocabulary(text: Running, written: Written, size: Size) -> tuple[list[str], Integers]:
    """The words of the model, and the token [bare, case] of every bare word."""
    many = len(written.spellings)
    counts = np.bincount(text.bare * 4 + text.cases, minlength=4 * many).reshape(many, 4)
    total = counts.sum(1)
    # A form that is one in a hundred of its word is a slip or a headline.
    kept = (counts >= size.least) & (counts * 100 >= total[:, None])
    best = _mixed_forms(text, written)
    kept[:, MIXED] &= np.array([spelling in best for spelling in written.spellings])
    where = np.argwhere(kept)
    where = where[np.argsort(-counts[kept], kind="stable")][: size.words]
    words = ["<s>", "</s>", *MARKS]
    tokens = np.full((many, 4), -1, np.int64)
    order = tuple(Case)
    from cappunc_cli.labels import Label

    for bare, case in where.tolist():
        spelling = written.spellings[bare]
        form = best.get(spelling, "") if case == MIXED else ""
        tokens[bare, case] = len(words)
        words.append(dress(spelling, Label(order[case], form=form)))
    rare = tokens < 0
    _add_classes(words, tokens, rare, counts, written.spellings)
    return words, tokens


def _mixed_forms(text: Running, written: Written) -> dict[str, str]:
    """Bare word -> its most frequent mixed form."""
    seen: dict[str, Counter[str]] = {}
    used = np.unique(text.bare[text.cases == MIXED])
    wanted = set(used.tolist())
    for number, form in zip(written.bare.tolist(), written.forms, strict=True):
        if form and number in wanted and mapped(form) == form:
            seen.setdefault(written.spellings[number], Counter())[form] += 1
    return {word: forms.most_common(1)[0][0] for word, forms in seen.items()}


def _add_classes(
    words: list[str], tokens: Integers, rare: npt.NDArray[np.bool_], counts: Integers, spellings: Sequence[str]
) -> None:
    """Give every rare form the class of its ending; endings too rare themselves share a shorter one's."""
    least = max(20, int(counts.sum()) // 100_000)
    for case, kind in enumerate(Case):
        sign = CLASS_SIGNS.get(kind)
        # A rare mixed form is one of a rare name.
        sources = [c for c in (case, MIXED) if sign == CLASS_SIGNS[Case.CAPITAL] or c == case]
        if sign is None:
            continue
        waiting = [(b, c) for c in sources for b in np.flatnonzero(rare[:, c] & (counts[:, c] > 0)).tolist()]
        for length in range(LONGEST_ENDING if sign != "=" else 0, -1, -1):
            sums: Counter[str] = Counter()
            for b, c in waiting:
                sums[spellings[b][-length:] if length else ""] += int(counts[b, c])
            numbers = {}
            for ending, count in sums.most_common():
                if count >= least or not length:
                    numbers[ending] = len(words)
                    words.append(sign + ending)
            still = []
            for b, c in waiting:
                number = numbers.get(spellings[b][-length:] if length else "")
                if number is None:
                    still.append((b, c))
                else:
                    tokens[b, c] = number
            waiting = still
        if sign + "" not in words[-len(numbers) - 1 :] and not waiting:
            words.append(sign)


def sequence(text: Running, tokens: Integers) -> Integers:
    """The tokens of a corpus: words, the marks behind them, and both ends of every turn."""
    own = tokens[text.bare, text.cases]
    marked, ends = text.marks > 0, text.ends
    lengths = 1 + marked + 2 * ends
    stops = np.cumsum(lengths)
    result = np.empty(int(stops[-1]) + 1, np.int64)
    result[0] = BEGIN
    at = stops - lengths + 1
    result[at] = own
    result[at[marked] + 1] = FIRST_MARK - 1 + text.marks[marked]
    after = at[ends] + 1 + marked[ends]
    result[after], result[after + 1] = END, BEGIN
    return result


def estimate(line: Integers, words: Sequence[str], size: Size) -> Trigrams:
    """The pruned model of a token sequence."""
    v = len(words)
    # Nothing goes across the beginning of a turn, and nothing is asked about it.
    counts = np.bincount(line, minlength=v)
    counts[BEGIN] = 0
    chances = np.log((counts + 0.5) / (counts.sum() + 0.5 * v)).astype(np.float64)
    first, second = line[:-1], line[1:]
    inner = second != BEGIN
    pairs, pair_counts = np.unique((first * v + second)[inner], return_counts=True)
    whole = inner[:-1] & inner[1:]
    triples, triple_counts = np.unique(((line[:-2] * v + line[1:-1]) * v + line[2:])[whole], return_counts=True)

    p2, gamma2 = _interpolated(pairs // v, pair_counts, v, chances[pairs % v])
    known = np.searchsorted(pairs, triples // v)
    shorter = p2[np.searchsorted(pairs, triples % (v * v))]
    p3, gamma3 = _interpolated(known, triple_counts, len(pairs), shorter)

    # Trigrams by what they add, then bigrams: contexts of kept trigrams first.
    gain3 = triple_counts * (p3 - shorter - gamma3[known])
    keep3 = _best(np.where(triple_counts > 1, gain3, -np.inf), size.triples)
    contexts = np.zeros(len(pairs), np.bool_)
    contexts[known[keep3]] = True
    gain2 = pair_counts * np.abs(p2 - chances[pairs % v] - gamma2[pairs // v])
    gain2[contexts] = np.inf
    keep2 = _best(np.where((pair_counts > 1) | contexts, gain2, -np.inf), max(size.pairs, int(contexts.sum())))
    place = np.full(len(pairs), -1, np.int64)
    place[keep2] = np.arange(len(keep2))
    keys2, chances2 = pairs[keep2], p2[keep2]
    weights1 = _weights(keys2 // v, chances2, chances[keys2 % v], v)
    keys3 = place[known[keep3]] * v + triples[keep3] % v
    # The shorter history as the pruned model has it.
    tail = np.searchsorted(keys2, triples[keep3] % (v * v))
    tail[tail == len(keys2)] = 0
    stored = keys2[tail] == triples[keep3] % (v * v)
    middle = triples[keep3] // v % v
    short3 = np.where(stored, chances2[tail], weights1[middle] + chances[triples[keep3] % v])
    weights2 = _weights(keys3 // v, p3[keep3], short3, len(keys2))
    return Trigrams(
        tuple(words),
        chances.astype(np.float32),
        weights1.astype(np.float32),
        Counts(keys2, chances2.astype(np.float32), weights2.astype(np.float32)),
        Counts(keys3, p3[keep3].astype(np.float32), np.zeros(0, np.float32)),
    )


def _interpolated(
    context: Integers, counts: Integers, contexts: int, shorter: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """log P of each n-gram, and the log weight of the shorter history of each context."""
    n1, n2, n3, n4 = (max(int((counts == k).sum()), 1) for k in (1, 2, 3, 4))
    y = n1 / (n1 + 2 * n2)
    discounts = np.clip([0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3], 0, [0, 1, 2, 3])
    off = discounts[np.minimum(counts, 3)]
    total = np.bincount(context, counts, contexts)
    gamma = np.bincount(context, off, contexts) / np.maximum(total, 1)
    gamma = np.where(total > 0, np.maximum(gamma, 1e-6), 1)
    own = (counts - off) / total[context]
    return np.log(own + gamma[context] * np.exp(shorter)), np.log(gamma)


def _best(gain: npt.NDArray[np.float64], most: int) -> Integers:
    """Indices, ascending, of the `most` highest gains above zero."""
    good = np.flatnonzero(gain > 0)
    if len(good) > most:
        good = np.sort(good[np.argpartition(-gain[good], most - 1)[:most]])
    return good


def _weights(
    context: Integers, chances: npt.NDArray[np.float64], shorter: npt.NDArray[np.float64], contexts: int
) -> npt.NDArray[np.float64]:
    """Log back-off weights: what the n-grams that are left leave to the others."""
    kept = np.bincount(context, np.exp(chances), contexts)
    covered = np.bincount(context, np.exp(shorter), contexts)
    return np.log(np.maximum(1 - kept, 1e-4) / np.maximum(1 - covered, 1e-4))


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimate a trigram model.")
    parser.add_argument("language")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    train(arguments.language, arguments.data, arguments.output)


def train(code: str, data: Path, output: Path, size: Size | None = None) -> None:
    """Write ngram.xz and ngram.json to `output`."""
    began = time.monotonic()
    types = Types()
    streams = [read_stream(CORPORA[name], data, types) for name in corpora_of(code)]
    print(f"{sum(len(s.types) for s in streams):,} words read in {time.monotonic() - began:.0f} s", flush=True)
    written = analyse(types, language(code))
    text = running(streams, written)
    words, tokens = vocabulary(text, written, size or Size())
    print(f"{len(words):,} tokens, {time.monotonic() - began:.0f} s", flush=True)
    model = estimate(sequence(text, tokens), words, size or Size())
    output.mkdir(parents=True, exist_ok=True)
    path = output / "ngram.xz"
    save(model, path)
    print(
        f"{len(model.pairs.keys):,} pairs, {len(model.triples.keys):,} triples, {path.stat().st_size:,} bytes, "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    config = {
        "name": f"{code}-ngram",
        "languages": [code],
        "licence": "",
        "window": 120,
        "overlap": 40,
        "min_words_cut": 10,
        "cases": list(Case),
        "marks": ["", *MARKS],
        "max_pieces": 512,
        "pause_bins_ms": [],
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest()},
    }
    (output / "ngram.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
