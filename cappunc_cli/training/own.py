"""A model of one's own: from punctuated files to a model directory, in one call.

The files become two corpora, `text` and `timed`; the rest is what the shipped models go through:
prepare, train, export, score.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from cappunc_cli import formats
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.labels import Around, Case, capital, strip
from cappunc_cli.restoration.models import ModelConfig, find
from cappunc_cli.training import results, score
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
#: Below the model's directory while it is made: what the run was begun with, and what it has learnt.
_WORK, _ORDER = "training", "order.json"
#: Beside the model, so that anyone can score it again; written last of all that is prepared.
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
    work = order.output / _WORK
    _vacant(order.output)
    documents = _read(order)
    words, notice = _judged(documents)
    recipe = _recipe(order, work, words, list(documents))
    _begin(order, work, documents)
    corpora = _corpora(order, documents)
    heldout = order.output / _HELDOUT
    if notice:
        said(notice)
    if not heldout.exists():
        said(f"{words:,} words")
        prepare(recipe, corpora)
        heldout.write_text(_heldout(recipe, documents), "utf-8")
    else:
        said(f"{words:,} words; going on")
    steps = max(recipe.tokens // recipe.batch, 1)
    look_every = max(steps // _LOOKS // LOG_EVERY, 1) * LOG_EVERY
    train(recipe, torch.device(order.device), corpora, report, look_every, _PATIENCE)
    said("exporting")
    export(recipe, order.output)
    said("scoring the held-out end")
    ((name, found),) = score.score(recipe, order.output, order.output / "eval.json").items()
    said(f"{name}: {_in_short(found)}{_before(order, recipe)}")
    shutil.rmtree(work)
    return ModelConfig.load(order.output)


def _vacant(directory: Path) -> None:
    """Raises CappuncError for a directory that holds anything but an unfinished run."""
    if not directory.is_dir() or (directory / _WORK / _ORDER).is_file():
        return
    if (directory / "config.json").exists():
        raise CappuncError(f"{directory} holds a model already")
    if any(directory.iterdir()):
        raise CappuncError(f"{directory} is not empty: a model has a directory of its own")


def _begin(order: Order, work: Path, documents: Documents) -> None:
    """Write down what the run is begun with; raises CappuncError where another run was begun there."""
    text = hashlib.sha256()
    for name, own in documents.items():
        for document in own:
            text.update(repr((name, document)).encode())
    asked = {
        "language": order.language,
        "from": str(find(order.start)) if order.start is not None else None,
        "text": text.hexdigest(),
    }
    path = work / _ORDER
    if not path.exists():
        work.mkdir(parents=True, exist_ok=True)
        results.write(path, asked)
        return
    begun = json.loads(path.read_text("utf-8"))
    if other := [name for name, value in asked.items() if begun.get(name) != value]:
        raise CappuncError(
            f"{order.output} holds an unfinished run with another {other[0]}: "
            f"go on with its own command, name another directory, or delete {work}"
        )


def _in_short(found: Mapping[str, Any]) -> str:
    shown = {"marks , . ?": "micro", "case": "case"}
    return ", ".join(f"{title} {100 * found[name]:.1f}" for title, name in shown.items() if name in found)


def _before(order: Order, recipe: Recipe) -> str:
    """What the model that the run began with scores on the same words, if it knows the language."""
    if order.start is None or order.language not in ModelConfig.load(find(order.start)).languages:
        return ""
    found = score.evaluate(find(order.start), recipe.data, _HELDOUT, ["--lang", order.language])
    return f" ({order.start} has {_in_short(found)})"


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
            plain = path.name.endswith((".txt", ".txt.xz"))
            found = list(apart(StringIO(text, newline=None))) if plain else [_transcript(text, path.name)]
            if with_times and not any(_is_timed(turn) for document in found for turn in document):
                raise BadInput("has no times")
            yield from found if with_times else ([Turn(turn.text) for turn in document] for document in found)
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


def _transcript(text: str, name: str) -> list[Turn]:
    return turns_of(formats.read(text, name).words)


def _is_timed(turn: Turn) -> bool:
    return turn.pauses is not None and any(pause is not None for pause in turn.pauses)


def _judged(documents: Documents) -> tuple[int, str]:
    """How many words there are, and what their user should know; raises CappuncError for text that teaches nothing."""
    turns = (turn for own in documents.values() for document in own for turn in document)
    tokens = Counter(token for turn in turns for token in turn.text.split())
    words = tokens.total()
    if words < FEWEST_WORDS:
        raise CappuncError(f"{words:,} words are too few to learn from; {FEWEST_WORDS:,} are the least")
    marked = cased = small = shouted = 0
    for token, count in tokens.items():
        bare, label = strip(token)
        marked += count * bool(label.mark)
        if capital(bare) != bare:
            cased += count
            small += count * (label.case is Case.LOWER)
            shouted += count * (label.case is Case.UPPER)
    if marked * _RARE < words:
        raise CappuncError("the text has hardly any marks: it takes punctuated text to learn punctuation")
    if shouted * 2 > cased:
        raise CappuncError("most of the text is in capitals: it takes upper and lower case to learn capitals")
    # Georgian, Arabic, Hindi and their like have none to learn.
    lacks = cased * 2 > words and (cased - small) * _RARE < words
    return words, "the text has hardly any capitals: the model will restore few" if lacks else ""


def _recipe(order: Order, work: Path, words: int, corpora: list[str]) -> Recipe:
    values: dict[str, Any] = {
        "name": order.output.resolve().name,
        "data": order.output,
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
        # It decodes as the model it comes from; what is new (labels, hashes) the export writes over.
        "decoding": json.loads((directory / "config.json").read_text("utf-8"))
        | {
            "name": order.output.resolve().name,
            "languages": [order.language],
            "licence": "; ".join(dict.fromkeys(name for name in (config.licence, order.licence) if name)),
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
