"""Estimate the trigram model of a language from its training texts.

    python -m models.lab.ngram.estimate ro --data ../shared/data -o models/ro

Modified Kneser-Ney discounts (Chen and Goodman 1999) over plain counts: in a heavily pruned model
Kneser-Ney's lower-order distributions cost more than they gain (Chelba et al. 2010). N-grams are
pruned by their weighted difference to the shorter history (Seymore and Rosenfeld 1996).
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import MARKS, Case, strip
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.metrics import figure
from cappunc_cli.features.train.dataset import GLUE, TokenStream, Types, read_stream
from cappunc_cli.languages import language
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import ENGINES
from cappunc_cli.restoration.models.trigrams import BEGIN, Integers, NgramTable, Trigrams
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite
from models.lab import results
from models.lab.corpora import CORPORA
from models.lab.ngram.token_text import Lexicon, NgramSize, analyse, running, sequence, vocabulary
from models.lab.ngram.trigram_file import save


def corpora_of(code: str) -> list[str]:
    """The names of a language's written texts in CORPORA."""
    return [name for name, corpus in CORPORA.items() if corpus.path.startswith(f"{code}/")]


def estimate(line: Integers, lexicon: Lexicon, size: NgramSize) -> Trigrams:
    """The pruned model of a token sequence."""
    v = len(lexicon.words)
    # N-grams do not cross the beginning of a turn, and the beginning itself is never predicted.
    counts = np.bincount(line, minlength=v)
    counts[BEGIN] = 0
    log_p = np.log((counts + 0.5) / (counts.sum() + 0.5 * v)).astype(np.float64)
    first, second = line[:-1], line[1:]
    inner = second != BEGIN
    pairs, pair_counts = np.unique((first * v + second)[inner], return_counts=True)
    whole = inner[:-1] & inner[1:]
    triples, triple_counts = np.unique(((line[:-2] * v + line[1:-1]) * v + line[2:])[whole], return_counts=True)

    p2, gamma2 = _interpolated(pairs // v, pair_counts, v, log_p[pairs % v])
    known = np.searchsorted(pairs, triples // v)
    shorter = p2[np.searchsorted(pairs, triples % (v * v))]
    p3, gamma3 = _interpolated(known, triple_counts, len(pairs), shorter)

    # Keep the trigrams that gain most, then bigrams, contexts of kept trigrams first.
    gain3 = triple_counts * (p3 - shorter - gamma3[known])
    keep3 = _best(np.where(triple_counts > 1, gain3, -np.inf), size.triples)
    contexts = np.zeros(len(pairs), np.bool_)
    contexts[known[keep3]] = True
    gain2 = pair_counts * np.abs(p2 - log_p[pairs % v] - gamma2[pairs // v])
    gain2[contexts] = np.inf
    keep2 = _best(np.where((pair_counts > 1) | contexts, gain2, -np.inf), max(size.pairs, int(contexts.sum())))
    place = np.full(len(pairs), -1, np.int64)
    place[keep2] = np.arange(len(keep2))
    keys2, log_p2 = pairs[keep2], p2[keep2]
    weights1 = _weights(keys2 // v, log_p2, log_p[keys2 % v], v)
    keys3 = place[known[keep3]] * v + triples[keep3] % v
    # The probability by the shorter history in the pruned model.
    tail = np.searchsorted(keys2, triples[keep3] % (v * v))
    tail[tail == len(keys2)] = 0
    stored = keys2[tail] == triples[keep3] % (v * v)
    middle = triples[keep3] // v % v
    short3 = np.where(stored, log_p2[tail], weights1[middle] + log_p[triples[keep3] % v])
    weights2 = _weights(keys3 // v, p3[keep3], short3, len(keys2))
    return Trigrams(
        tuple(lexicon.words),
        tuple(lexicon.members),
        lexicon.shares.astype(np.float32),
        log_p.astype(np.float32),
        weights1.astype(np.float32),
        NgramTable(keys2, log_p2.astype(np.float32), weights2.astype(np.float32)),
        NgramTable(keys3, p3[keep3].astype(np.float32), np.zeros(0, np.float32)),
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
    context: Integers, log_p: npt.NDArray[np.float64], shorter: npt.NDArray[np.float64], contexts: int
) -> npt.NDArray[np.float64]:
    """Log back-off weights: the probability mass that the kept n-grams of a context leave to the others."""
    kept = np.bincount(context, np.exp(log_p), contexts)
    covered = np.bincount(context, np.exp(shorter), contexts)
    return np.log(np.maximum(1 - kept, 1e-4) / np.maximum(1 - covered, 1e-4))


def _heldout(stream: TokenStream) -> tuple[TokenStream, TokenStream]:
    """Split off the end of a corpus: one word in fifty, at most 20,000."""
    cut = len(stream.types) - min(len(stream.types) // 50, 20_000)
    parts = (slice(None, cut), slice(cut, None))
    first, second = (
        TokenStream(stream.types[p], stream.pauses[p], stream.turn_ends[p], stream.document_ends[p]) for p in parts
    )
    return first, second


def train(code: str, data: Path, output: Path, larger: int = 1) -> None:
    """Write ngram.xz and ngram.json to `output`; the more text, the more words become tokens.

    `larger` multiplies everything that is kept: words as tokens, members of classes, pairs and triples.
    """
    began = time.monotonic()

    def log(text: str) -> None:
        print(f"{time.monotonic() - began:4.0f} s  {text}", flush=True)

    types = Types()
    names = corpora_of(code)
    streams = [_heldout(read_stream(CORPORA[name].corpus(data), types)) for name in names]
    written = analyse(types, language(code))
    text = running([first for first, _ in streams], written)
    kept = NgramSize(words=int(1.5 * len(text.bare) ** 0.5))
    size = NgramSize(larger * kept.words, kept.least, larger * kept.members, larger * kept.pairs, larger * kept.triples)
    log(f"{len(text.bare):,} words read, of {len(written.spellings):,} spellings")
    lexicon = vocabulary(text, written, size)
    model = estimate(sequence(text, lexicon.tokens), lexicon, size)
    output.mkdir(parents=True, exist_ok=True)
    kind = ENGINES["ngram"]
    path = output / kind.weights
    save(model, path)
    config = {
        "name": f"{code}-ngram" if larger == 1 else f"{code}-ngram-large",
        "languages": [code],
        "licence": "; ".join(sorted({CORPORA[name].licence for name in names})),
        "window": 120,
        "overlap": 40,
        "min_words_cut": 20,
        "cases": list(Case),
        "marks": ["", *MARKS],
        "max_pieces": 512,
        "pause_bins_ms": [],
        "bias": {},
        "consistency": 1.0,  # the case probabilities do not depend on the marks
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest()},
    }
    results.write(output / kind.config, config)
    log(
        f"{len(lexicon.words):,} tokens, {len(lexicon.members):,} members, {len(model.pairs.keys):,} pairs, "
        f"{len(model.triples.keys):,} triples: {path.stat().st_size:,} bytes"
    )
    spelled = list(types)
    texts = [[spelled[t].replace(GLUE, " ") for t in second.types if written.bare[t] >= 0] for _, second in streams]
    config["bias"], best = tune(load_model(str(output), engine="ngram"), texts)
    results.write(output / kind.config, config)
    log(f"micro F1 {best:.3f} on the held-out ends with bias {config['bias']}")


def tune(model: Model, texts: Sequence[Sequence[str]]) -> tuple[dict[str, float], float]:
    """The biases of no mark and of the period with the best micro-F1 on the texts, and that F1."""
    options = Options(existing="replace")
    stripped = [[Word(strip(word)[0]) for word in text] for text in texts]
    rows = [probabilities(words, model, options) for words in stripped]

    def score(bias: dict[str, float]) -> float:
        tried = replace(model, config=replace(model.config, bias=bias))
        new = [rewrite(words, table, tried, options) for words, table in zip(stripped, rows, strict=True)]
        samples = [Sample(str(i), *pair) for i, pair in enumerate(zip(texts, new, strict=True))]
        return float(figure(Evaluation(samples).scores["micro"]))

    tries: dict[tuple[tuple[str, float], ...], float] = {}
    best: dict[str, float] = {"": 0.0, ".": 0.0}
    for mark in best:
        for nats in (-1.25, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25):
            if (mark == "") == (nats <= 0) or not nats:
                bias = {**best, mark: nats}
                tries[tuple(bias.items())] = score(bias)
        best = dict(max(tries.items(), key=lambda tried: tried[1])[0])
    return {mark: nats for mark, nats in best.items() if nats}, max(tries.values())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Estimate a trigram model.")
    parser.add_argument("language", help="code of the language")
    parser.add_argument("--data", type=Path, required=True, help="root folder of the corpora")
    parser.add_argument("-o", "--output", type=Path, required=True, help="model directory to write to")
    parser.add_argument("--larger", type=int, default=1, help="keep this many times as much as a shipped model")
    arguments = parser.parse_args()
    train(arguments.language, arguments.data, arguments.output, arguments.larger)


if __name__ == "__main__":
    main()
