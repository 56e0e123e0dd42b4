"""A model's train.toml, read once into a dataclass that travels with the checkpoint."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a training run does.

    `corpora` are shares of the windows; `pieces` the lengths (in sub-word pieces) of the
    windows, one drawn per batch; `batch` the pieces per step; `tokens` the pieces of the whole
    run; learning rates are peaks, held after a linear warm-up and let down to zero over the last `decay` of the
    run. `noise` is the share of windows with ASR-like errors, `noise_rate` the most words in error there, `similar`
    the share of the other words that are spelt like the right one. `pauses` is the share of timed windows that show
    their pauses; `synthetic` the share of untimed windows that get pauses drawn, mark by mark, from the timed
    corpora `clocks`. `word_rate` is the peak of the word vectors, `encoder_rate` where it is zero. `transfer`
    (`recipe` of the text that the model in `start` read, `pairs` of words, tab-separated: language, word, its word
    there) carries its words over.
    `network` gives the sizes of one that starts from nothing (fields of `network.Shape`), with a vocabulary of
    `vocabulary` pieces learnt from the corpora; `around` are the marks beside the one mark that it restores.
    `decoding` goes into config.json as it is;
    `evaluation` names the sets of eval.json: arguments of `cappunc eval`, the first a path below `data`.
    `card` says in words what figures cannot: `before` (stages before this run), `limits`, `beside` (published figures),
    `tuned` (what was chosen on which texts).
    `prepared` is the folder of the prepared arrays where it is not `runs`/data. `fresh` are parts of the network (first
    letters of their names) that begin anew, whatever `start` has; without `soft_case` the head of the marks does not
    see what the case head says, without `contextual` it sees nothing else. `crf` is the share of the likelihood of the
    whole sequence of marks (`mark_chain`) in the loss of the marks; the rest is word by word. `averaged` is the share
    of the weights in `start` in those that are exported.
    `teacher` is the directory of a larger model, whose word counts `taught` in what each word is to be, the text's the
    rest.
    `styled` is the share of the windows that tell the network which corpus they are from, so that it learns the house
    style of a corpus apart from the language; `style` is the blend of corpora that the exported model writes like, and
    `settled` the share of the windows that would name their corpus and show its pauses which name that blend instead:
    the corpora with times are not those of the blend, which would never learn what a pause means there.
    `pause_bins_ms` are the ascending edges of the buckets of pauses; a file may say `{ every = 10, until = 3000 }` for
    edges at 10, 20 … 3000 ms. `pause_encoding` says how the rows that stand for them are made (some are averaged over
    `pause_span` ms), `pause_fusion` whether they enter before the encoder, after it or both (`pause_tables`).
    `live` is for a recurrent network (`gru_trainer.GruRecipe`).
    """

    name: str
    data: Path
    runs: Path
    tokenizer: Path
    start: Path | None
    corpora: dict[str, float]
    pieces: tuple[int, ...]
    batch: int
    tokens: int
    encoder_rate: float
    head_rate: float
    warmup: float
    decay: float
    case_weight: float
    noise: float
    noise_rate: float
    pauses: float
    turns: float
    edge: int
    edge_weight: float
    heldout: float
    pause_bins_ms: tuple[int, ...]
    seed: int
    decoding: dict[str, Any]
    evaluation: dict[str, list[str]]
    word_rate: float = 0.0
    similar: float = 0.0
    synthetic: float = 0.0
    clocks: tuple[str, ...] = ()
    network: dict[str, Any] = field(default_factory=dict)
    vocabulary: int = 0
    around: tuple[str, ...] = ()
    transfer: dict[str, Path] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)
    prepared: Path | None = None
    fresh: tuple[str, ...] = ()
    soft_case: bool = True
    contextual: bool = True
    crf: float = 0.0
    averaged: float = 0.0
    word_bits: int = 8
    teacher: Path | None = None
    taught: float = 0.5
    styled: float = 0.0
    style: dict[str, float] = field(default_factory=dict)
    settled: float = 0.0
    live: dict[str, Any] = field(default_factory=dict)
    pause_encoding: str = "bins"
    pause_span: int = 1000
    pause_fusion: str = "early"

    def arrays(self) -> Path:
        """The folder of the prepared arrays."""
        return self.prepared or self.runs / "data"

    def blend(self) -> list[float]:
        """The share of each corpus in the exported style."""
        return [self.style.get(name, 0.0) for name in self.corpora]

    def texts(self) -> list[str]:
        """The corpora that windows or pauses are drawn from."""
        return [*self.corpora, *(name for name in self.clocks if name not in self.corpora)]

    @classmethod
    def load(cls, path: Path, *others: Mapping[str, Any]) -> Recipe:
        """Read a train.toml; relative paths are relative to the project, `data` to $CAPPUNC_DATA.

        A recipe that names another beside it in `extends` says only what it does otherwise; so does each of `others`,
        and there a table gives only those of its entries that differ.
        """
        table = tomllib.loads(path.read_text("utf-8"))
        if "extends" in table:
            table = tomllib.loads((path.parent / table.pop("extends")).read_text("utf-8")) | table
        for other in others:
            for name, value in other.items():
                old = table.get(name)
                table[name] = old | value if isinstance(old, dict) and isinstance(value, dict) else value
        project = path.resolve().parents[2]
        table["data"] = Path(os.environ.get("CAPPUNC_DATA", project / table["data"]))
        table["runs"] = project / table["runs"]
        table["prepared"] = project / table["prepared"] if "prepared" in table else None
        table["tokenizer"] = project / table["tokenizer"]
        # "" starts from the bare MiniLM-L6.
        table["start"] = project / table["start"] if table["start"] else None
        table["teacher"] = project / table["teacher"] if table.get("teacher") else None
        table["transfer"] = {name: project / file for name, file in table.get("transfer", {}).items()}
        table["pieces"] = tuple(table["pieces"])
        table["clocks"] = tuple(table.get("clocks", ()))
        table["around"] = tuple(table.get("around", ()))
        table["fresh"] = tuple(table.get("fresh", ()))
        bins = table["pause_bins_ms"]
        if isinstance(bins, dict):
            bins = range(bins["every"], bins["until"] + 1, bins["every"])
        table["pause_bins_ms"] = tuple(bins)
        return cls(**table)
