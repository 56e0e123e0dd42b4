"""A model of one's own: from punctuated files to a model directory, in one call.

The files become two corpora, `text` and `timed`; the rest is what the shipped models go through:
prepare, train, export, score.
"""

from __future__ import annotations

import lzma
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from cappunc_cli import formats
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.labels import Around, strip
from cappunc_cli.restoration.models import ModelConfig, find
from cappunc_cli.training import score
from cappunc_cli.training.corpora import Corpus, Turn, apart, composed, turns_of
from cappunc_cli.training.export import export
from cappunc_cli.training.prepare import prepare
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.training.train import LOG_EVERY, Progress, train

#: Fewer words than this teach nothing that a rule of thumb would not.
FEWEST_WORDS = 3000
#: A network that two cores train in minutes: 3.2 million parameters beside its vocabulary.
NETWORK = {"embedding": 128, "width": 256, "heads": 8, "layers": 4, "inner": 1024, "positions": 256}
#: How often a run reads its text: small ones need it, large ones have seen it all after once or twice.
_MOST_PASSES, _MOST_PIECES = 12, 30_000_000
_BATCH = 4096
_LOOKS = 24
_PATIENCE = 5
_PAUSE_BINS = (5, 30, 60, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1300, 1700, 2200, 3000, 4000, 6000, 10000)
#: A word in so many has a capital or a mark in any text worth learning from.
_RARE = 50
_MARKED = re.compile(r"[,.?!:;…](?=\s|$)")
#: Written last of all that is prepared.
_HELDOUT = "heldout.txt"

#: By the name of their corpus.
Documents = dict[str, list[list[Turn]]]


@dataclass(frozen=True, slots=True)
class Order:
    """What to train: the language, files to read without and with their times, a model to start from.

    `pieces` is the length of the run in sub-word pieces, None for a length that suits the text.
    `decode` is how the bytes of a file become text; it raises BadInput for what is none.
    """

    language: str
    texts: tuple[Path, ...]
    timed: tuple[Path, ...]
    start: str | None
    output: Path
    decode: Callable[[bytes], str]
    pieces: int | None = None
    licence: str = ""
    device: str = "cpu"


def build(order: Order, said: Callable[[str], None], report: Callable[[Progress], None]) -> ModelConfig:
    """Train the model of an order into its directory and return its config; resumes what was begun.

    `said` hears one line per stage, `report` the progress of the training. Raises CappuncError.
    """
    work = order.output / "training"
    documents = _read(order)
    words, marked = _count(documents)
    if words < FEWEST_WORDS:
        raise CappuncError(f"{words:,} words are too few to learn from; {FEWEST_WORDS:,} are the least")
    if marked * _RARE < words:
        raise CappuncError("the text has hardly any marks: it takes punctuated text to learn punctuation")
    work.mkdir(parents=True, exist_ok=True)
    recipe = _recipe(order, work, words, list(documents))
    corpora = _corpora(order, documents)
    heldout = work / _HELDOUT
    if not heldout.exists():
        said(f"{words:,} words")
        prepare(recipe, corpora)
        heldout.write_text(_heldout(recipe, documents), "utf-8")
    steps = max(recipe.tokens // recipe.batch, 1)
    look_every = max(steps // _LOOKS // LOG_EVERY, 1) * LOG_EVERY
    train(recipe, torch.device(order.device), corpora, report, look_every, _PATIENCE)
    said("exporting")
    export(recipe, order.output)
    said("scoring the held-out end")
    score.score(recipe, order.output, order.output / "eval.json")
    shutil.rmtree(work)
    return ModelConfig.load(order.output)


def _read(order: Order) -> Documents:
    """The documents of the files, by the name of their corpus; raises CappuncError."""
    found = {
        "text": list(_documents(order.texts, order.decode)),
        "timed": list(_documents(order.timed, order.decode, with_times=True)),
    }
    return {name: documents for name, documents in found.items() if documents}


def _documents(
    paths: Sequence[Path], decode: Callable[[bytes], str], *, with_times: bool = False
) -> Iterator[list[Turn]]:
    for path in paths:
        try:
            text = _text(path, decode)
            if path.name.endswith((".txt", ".txt.xz")):
                yield from apart(StringIO(text, newline=None))
            else:
                yield _transcript(text, path.name, with_times)
        except CappuncError as error:
            raise BadInput(error.message, error.path or str(path), error.line) from error


def _text(path: Path, decode: Callable[[bytes], str]) -> str:
    try:
        data = path.read_bytes()
        data = lzma.decompress(data) if path.suffix == ".xz" else data
    except OSError as error:
        raise BadInput(error.strerror or str(error)) from error
    except lzma.LZMAError as error:
        raise BadInput(f"not unpackable: {error}") from error
    # Bytes that are no character, which `fix` carries along, teach nothing.
    return decode(data).encode("utf-8", "ignore").decode()


def _corpora(order: Order, documents: Documents) -> dict[str, Corpus]:
    def reader(own: Sequence[list[Turn]]) -> Callable[[Path], Iterator[list[Turn]]]:
        return lambda _: iter(own)

    return {
        name: Corpus(".", order.licence, reader(own), dialogue=name == "timed", tidy=composed)
        for name, own in documents.items()
    }


def _transcript(text: str, name: str, with_times: bool) -> list[Turn]:
    words = formats.read(text, name).words
    return [turn if with_times else Turn(turn.text) for turn in turns_of(words)]


def _count(documents: Documents) -> tuple[int, int]:
    """Words in all, and how many have a mark."""
    texts = [turn.text for own in documents.values() for document in own for turn in document]
    return sum(len(text.split()) for text in texts), sum(len(_MARKED.findall(text)) for text in texts)


def _recipe(order: Order, work: Path, words: int, corpora: list[str]) -> Recipe:
    values: dict[str, Any] = {
        "name": order.output.name,
        "data": work,
        "runs": work,
        "tokenizer": work / "tokenizer.json",
        "start": None,
        # Times are rare and worth more than their share of the words.
        "corpora": dict.fromkeys(corpora, 1.0),
        "pieces": (32, 64, 96, 128),
        "batch": _BATCH,
        "encoder_rate": 1e-3,
        "head_rate": 1e-3,
        "warmup": 0.05,
        "decay": 0.6,
        "case_weight": 0.5,
        "noise": 0.25,
        "noise_rate": 0.12,
        "pauses": 0.75,
        "turns": 0.3,
        "edge": 4,
        "edge_weight": 0.3,
        "heldout": min(max(FEWEST_WORDS / words, 0.01), 0.1),
        "pause_bins_ms": _PAUSE_BINS,
        "seed": 1,
        "network": NETWORK,
        "vocabulary": min(max(words // 40, 1000), 16_000),
        "around": tuple(Around),
        "tokens": order.pieces or min(int(words * 1.4) * _MOST_PASSES, _MOST_PIECES),
        "evaluation": {"held-out end": [_HELDOUT]},
        "decoding": {
            "languages": [order.language],
            "licence": order.licence,
            "window": 100,
            "overlap": 40,
            "min_words_cut": 10,
            "end_share": 0.01,
        },
    }
    if order.start is not None:
        values |= _adapted(order, words)
        values["decoding"] |= {"languages": [order.language]}
    return Recipe(**values)


def _adapted(order: Order, words: int) -> dict[str, Any]:
    """What differs when a run goes on from a model: its own tokenizer and labels, and a gentle rate.

    A language that the model does not know is written in the pieces of those that it knows; these have to learn
    much, what is above them little.
    """
    directory = find(order.start or "")
    config = ModelConfig.load(directory)
    new = order.language not in config.languages
    passes = 6 if new else 3
    return {
        "start": directory / "model.onnx",
        "tokenizer": directory / "tokenizer.json",
        "pause_bins_ms": config.pause_bins_ms,
        "around": config.around,
        "network": {},
        "word_rate": 1e-3 if new else 1e-4,
        "encoder_rate": 3e-4 if new else 1e-4,
        "head_rate": 3e-4,
        "tokens": order.pieces or min(int(words * 1.4) * passes, _MOST_PIECES),
        "decoding": {
            "licence": config.licence,
            "window": config.window,
            "overlap": config.overlap,
            "min_words_cut": config.min_words_cut,
            "end_share": config.end_share,
            "bias": dict(config.bias),
        },
    }


def _heldout(recipe: Recipe, documents: Documents) -> str:
    """The last words of each corpus, which no window of the training had, as text with its paragraphs."""
    parts = []
    for own in documents.values():
        turns = [turn.text for document in own for turn in document]
        total = sum(sum(bool(strip(token)[0]) for token in text.split()) for text in turns)
        left, kept = int(total * recipe.heldout), []
        for text in reversed(turns):
            left -= len(text.split())
            if left < 0:
                break
            kept.append(text)
        # One long paragraph: its end is the best there is.
        parts += kept[::-1] or [" ".join(turns[-1].split()[-int(total * recipe.heldout) :])]
    return "\n".join(parts) + "\n"
