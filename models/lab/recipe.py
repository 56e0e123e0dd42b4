"""The settings of a training run of the shipped models (train.toml)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cappunc_cli.features.train.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRecipe(Recipe):
    """What makers of models can set beyond what `cappunc train` sets. `start` may also be a safetensors file."""

    #: The root of the corpora.
    data: Path
    #: The sets of eval.json: arguments of `cappunc eval`, the first a path below `data`.
    evaluation: dict[str, list[str]]
    #: Prose for the model card: `before` (stages before this run), `limits`, `beside` (published figures),
    #: `tuned` (what was chosen on which texts).
    card: dict[str, Any] = field(default_factory=dict)
    #: The folder of the prepared arrays if it is not `runs`/data.
    prepared: Path | None = None
    #: The share of windows with simulated ASR errors (`asr_noise`), and the largest share of words in error there.
    noise: float
    noise_rate: float
    #: So many words at each end of a window have only `edge_weight` in the loss.
    edge: int
    edge_weight: float
    #: The share of substituted words (`noise`) that are spelled like the right one.
    similar: float = 0.0
    #: The share of untimed windows that are laid out as pages (`pages`): in cues of lines.
    pages: float = 0.0
    #: The share of the other untimed windows that are cut into captions, so that the gaps between these are known.
    captions: float = 0.0
    #: The share of the other untimed windows that get pauses, sampled for each mark from the timed corpora `clocks`.
    synthetic: float = 0.0
    clocks: tuple[str, ...] = ()
    #: Transfers word vectors from another language (`vocabulary_transfer`): `recipe` of the model in `start`, and
    #: `pairs`, a file of tab-separated language, word, and the word there.
    transfer: dict[str, Path] = field(default_factory=dict)
    #: Parts of the network (prefixes of parameter names) that are initialised anew, whatever `start` has.
    fresh: tuple[str, ...] = ()
    #: Without it the mark head does not see the output of the case head.
    soft_case: bool = True
    #: Without it the mark head sees nothing but the output of the case head.
    contextual: bool = True
    #: The weight of the likelihood of the mark sequence (`mark_chain`) in the loss of marks; the rest is per word.
    crf: float = 0.0
    #: The share of the weights of `start` in the average that is exported.
    averaged: float = 0.0
    #: Bits in which piece vectors are stored: 8 or 4.
    word_bits: int = 8
    #: A larger model to learn from, and the weight of its probabilities in the targets; the rest is the text's.
    teacher: Path | None = None
    taught: float = 0.5
    #: The share of the windows that tell the network which corpus they are from, so that it learns the house style of a
    #: corpus separately from the language.
    styled: float = 0.0
    #: The blend of corpora in whose style the exported model writes.
    style: dict[str, float] = field(default_factory=dict)
    #: The share of the windows with corpus and pauses shown that name the blend instead: the timed corpora are not in
    #: the blend, which would otherwise never learn what a pause means.
    settled: float = 0.0
    #: Settings of a recurrent network (`gru_trainer.GruRecipe`).
    live: dict[str, Any] = field(default_factory=dict)
    #: How the embeddings of pause bins are made (some average over `pause_span` ms), and whether they are added before
    #: the encoder, after it or both (`pause_tables`).
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
    def load(cls, path: Path, *others: Mapping[str, Any]) -> LabRecipe:
        """Read a train.toml; relative paths are relative to the project, `data` to $CAPPUNC_DATA.

        With `extends`, a recipe names another file, relative to its own folder, and has only the settings that differ.
        So does each of `others`, in which a table also has only the entries that differ.
        """
        project = project_of(path)
        table, folder = tomllib.loads(path.read_text("utf-8")), path.parent
        while "extends" in table:
            base = folder / table.pop("extends")
            table, folder = tomllib.loads(base.read_text("utf-8")) | table, base.parent
        for other in others:
            for name, value in other.items():
                old = table.get(name)
                table[name] = old | value if isinstance(old, dict) and isinstance(value, dict) else value
        table["data"] = Path(os.environ.get("CAPPUNC_DATA", project / table["data"]))
        for name in ("runs", "tokenizer"):
            table[name] = project / table[name]
        # A `start` of "" is the pretrained MiniLM-L6.
        for name in ("prepared", "start", "teacher"):
            table[name] = project / table[name] if table.get(name) else None
        table["transfer"] = {name: project / file for name, file in table.get("transfer", {}).items()}
        for name in ("pieces", "clocks", "around", "fresh"):
            table[name] = tuple(table.get(name, ()))
        bins = table["pause_bins_ms"]
        if isinstance(bins, dict):  # { every = 10, until = 3000 }: edges at 10, 20 … 3000 ms
            bins = range(bins["every"], bins["until"] + 1, bins["every"])
        table["pause_bins_ms"] = tuple(bins)
        return cls(**table)


def model_of(path: Path) -> Path:
    """The folder of the shipped model that a file in models/lab/NAME is about."""
    return project_of(path) / "models" / path.resolve().parent.name


def project_of(path: Path) -> Path:
    """The root of the project that a file below its `models` is in."""
    return next(folder for folder in path.resolve().parents if (folder / "models").is_dir())
