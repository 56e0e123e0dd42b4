"""Ablations: short training runs of one recipe with one setting changed per row, to see what each choice is worth.

    python -m models.lab.ablation models/en-fast/ablation.toml  every row
    python -m models.lab.ablation models/en-fast/ablation.toml "no errors"  rescore one

The table (each `*ablation.toml`) changes the train.toml in its folder, or another `recipe`: `base` for all rows, and
each of `rows` on top of that. Every row trains its own network below runs/ablation, on the arrays that were prepared
for the recipe, or that are prepared first if only the row names them; a run that was stopped is resumed. `decodings`
train nothing: each is the network of the first row with `options` of `cappunc eval`, or with transitions between the
marks (chain.py) fitted to the held-out ends of the corpora of `chain`.
All are scored in float32, on `sets` and on the held-out ends of the corpora in `heldout` (or in several such tables,
`heldout.NAME`). The figures are written after each row to a .json file with the name of the table; those that are there
are kept as long as their recipe is unchanged. The card shows them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from cappunc_cli.document.words import Word
from cappunc_cli.features.train.trainer import CHECKPOINT
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import ModelConfig
from models.lab import chain, results
from models.lab.export import export
from models.lab.heldout import heldout_words, texts_of
from models.lab.prepare import prepare
from models.lab.recipe import LabRecipe, model_of
from models.lab.score import evaluate
from models.lab.study import by_row, drawn
from models.lab.trainer import train

logger = logging.getLogger(__name__)

#: Fields of a recipe that do not influence the training, or are only paths.
_UNREAD = {"name", "data", "runs", "prepared", "tokenizer", "start", "decoding", "evaluation", "card"}
#: The column of the held-out ends.
HELDOUT = "held-out ends"
_SHOWN = {"micro": "Micro-F1 over `, . ?`", "all.micro": "Micro-F1 over all marks", "case": "F1 of capitals"}


@dataclass(frozen=True, slots=True)
class AblationRow:
    """A row: its change as written in the table, the recipe of its network, and how that is decoded."""

    changed: dict[str, Any]
    recipe: LabRecipe
    options: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldoutSet:
    """The last `words` (at most the held-out share) of each of the `corpora`, scored with `options` of eval.

    `timed`: with their pauses and turns, one document per corpus; otherwise all in one text.
    """

    corpora: list[str]
    words: int
    options: list[str] = field(default_factory=list)
    timed: bool = False

    def score(self, row: AblationRow, directory: Path, folder: Path) -> dict[str, Any]:
        """The figures of a model on this set."""
        ends = {name: heldout_words(row.recipe, name, self.words) for name in self.corpora}
        text = folder / ("heldout.jsonl" if self.timed else "heldout.txt")
        text.write_text((_documents if self.timed else _paragraphs)(ends), "utf-8")
        found = evaluate(directory, folder, text.name, [*self.options, *row.options])
        return found | {"command": found["command"].replace(f"$DATA/{text.name}", "HELDOUT")}


def _paragraphs(ends: Mapping[str, list[Word]]) -> str:
    return "\n\n".join(" ".join(word.text for word in end) for end in ends.values()) + "\n"


def _documents(ends: Mapping[str, list[Word]]) -> str:
    """JSON lines (`models/lab/datasets.py`)."""

    def seconds(milliseconds: int | None) -> float | None:
        return None if milliseconds is None else milliseconds / 1000

    documents = (
        {
            "id": name,
            "words": [[word.text, seconds(word.start), seconds(word.end)] for word in end],
            "spk": [word.turn for word in end],
        }
        for name, end in ends.items()
    )
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)


def rows_of(toml: Path) -> dict[str, AblationRow]:
    """The rows of an ablation.toml by name, those of `decodings` last."""
    table = tomllib.loads(toml.read_text("utf-8"))

    def trained(name: str, changed: dict[str, Any]) -> AblationRow:
        recipe = LabRecipe.load(_recipe(toml, table), table["base"], changed)
        short = re.sub(r"\W+", "-", name.casefold()).strip("-")
        runs = recipe.runs.parent / "ablation" / f"{short}-{training_of(recipe)}"
        return AblationRow(changed, replace(recipe, name=short, runs=runs, prepared=recipe.arrays()))

    rows = {name: trained(name, changed) for name, changed in table["rows"].items()}
    first = next(iter(rows.values())).recipe
    for name, changed in table.get("decodings", {}).items():
        rows[name] = AblationRow(changed, first, **{key: tuple(value) for key, value in changed.items()})
    return rows


def _recipe(toml: Path, table: Mapping[str, Any]) -> Path:
    """The train.toml of the model, or another `recipe`, relative to the table."""
    return toml.parent / table["recipe"] if "recipe" in table else model_of(toml) / "train.toml"


def heldout_sets(table: Mapping[str, Any]) -> dict[str, HeldoutSet]:
    """The held-out ends that an ablation.toml scores, by the name of their column."""
    ends = table.get("heldout", {})
    return {name: HeldoutSet(**one) for name, one in ({HELDOUT: ends} if "corpora" in ends else ends).items()}


def training_of(recipe: LabRecipe) -> str:
    """Eight hex digits of a hash of everything that influences the training.

    Fields at their default are left out, so that adding a field to LabRecipe does not invalidate older runs.
    """
    settings: dict[str, Any] = {"start": recipe.start.name if recipe.start else ""}
    for known in fields(recipe):
        default = known.default if known.default_factory is MISSING else known.default_factory()
        value = getattr(recipe, known.name)
        if known.name not in _UNREAD and value != default:
            settings[known.name] = value
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:8]


def ablate(toml: Path, only: Iterable[str]) -> None:
    """Run the rows of an ablation.toml (all, or those named) and write its .json after each."""
    rows, only, written = rows_of(toml), list(only), toml.with_suffix(".json")
    if unknown := [name for name in only if name not in rows]:
        raise SystemExit(f"{toml}: unknown row {unknown[0]!r}; choose from {', '.join(rows)}")
    table = tomllib.loads(toml.read_text("utf-8"))
    found = _standing(written, rows)
    for name, row in rows.items():
        if (only and name not in only) or (name in found and not only):
            continue
        logger.info("%s: %s", name, row.recipe.runs)
        found[name] = _measured(row, table.get("sets", {}), heldout_sets(table))
        shown = ", ".join(f"{part} {figures['micro']:.4f}" for part, figures in found[name]["sets"].items())
        logger.info("%s: %s", name, shown)
        report = {
            "command": f"python -m models.lab.ablation models/{toml.parent.name}/{toml.name}",
            "rows": {name: found[name] for name in rows if name in found},
        }
        results.write(written, report)


def _standing(path: Path, rows: Mapping[str, AblationRow]) -> dict[str, Any]:
    """The rows of a result file that were made with the current settings of the table."""
    known: dict[str, Any] = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else {}
    stand = {
        name: known[name]
        for name, row in rows.items()
        if name in known
        and known[name]["changed"] == row.changed
        and known[name]["training"] == training_of(row.recipe)
    }
    if gone := known.keys() - stand.keys():
        logger.warning("dropped, because the table has changed since: %s", ", ".join(sorted(gone)))
    return stand


def _measured(row: AblationRow, sets: Mapping[str, list[str]], heldout: Mapping[str, HeldoutSet]) -> dict[str, Any]:
    """Train a row, unless it is trained already, and score it on the `sets` and the held-out ends."""
    if not (row.recipe.arrays() / "vocabulary.npz").exists():
        prepare(row.recipe)
    train(row.recipe, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    saved = torch.load(row.recipe.runs / CHECKPOINT, map_location="cpu", mmap=True)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / row.recipe.name
        directory.mkdir()
        export(row.recipe, directory, "float32")
        if row.chain:
            _add_chain(row, directory)
        model = ModelConfig.load(directory).files["model.onnx"]
        figures = {
            name: evaluate(directory, row.recipe.data, reference, [*more, *row.options])
            for name, (reference, *more) in sets.items()
        }
        figures |= {name: ends.score(row, directory, Path(folder)) for name, ends in heldout.items()}
    return {
        "changed": row.changed,
        "training": training_of(row.recipe),
        **results.head(model),
        "pieces": saved["tokens"],
        "minutes": round(saved["seconds"] / 60, 1),
        "sets": figures,
    }


def _add_chain(row: AblationRow, directory: Path) -> None:
    """Fit transitions between the marks to the output of an exported model, and add them to its config."""
    corpora = {name: row.recipe.corpora[name] for name in row.chain}
    transitions = chain.fit(list(texts_of(replace(row.recipe, corpora=corpora), load_model(str(directory)))))
    path = directory / "config.json"
    results.write(path, json.loads(path.read_text("utf-8")) | {"crf": transitions.tolist()})


def pages(directory: Path) -> str:
    """The sections of the model card on its ablations."""
    return "\n".join(
        page(toml) for toml in sorted(directory.glob("*ablation.toml")) if toml.with_suffix(".json").exists()
    )


def page(toml: Path) -> str:
    """The section of one ablation: a table of its rows for each figure."""
    table = tomllib.loads(toml.read_text("utf-8"))
    report = json.loads(toml.with_suffix(".json").read_text("utf-8"))
    rows = report["rows"]
    pieces = next(iter(rows.values()))["pieces"]
    minutes = sorted(row["minutes"] for row in rows.values())
    machines = " and on ".join(sorted({row["hardware"] for row in rows.values()}))
    sets = {name: row["sets"] for name, row in rows.items()}
    lines = {title: by_row(sets, figure) for figure, title in _SHOWN.items()}
    decoded = sum(name in rows for name in table.get("decodings", {}))
    last = f"The last {decoded} are the network of the first row, decoded differently.\n" if decoded else ""
    start = Path(table["base"].get("start", "")).name or table.get("from", "nothing")
    tables = "\n".join(f"{title}:\n\n{drawn(those)}\n" for title, those in lines.items() if len(those[0]) > 1)
    return f"""
## {table.get("title", "What each choice of the training is worth")}

Every row is a short run of its own with one thing changed: {pieces:,} pieces from
{start}, {minutes[0]:.0f} to {minutes[-1]:.0f} minutes on {machines}.
{table.get("about", "").strip()}
{last}All are scored in float32. {toml.name} says what a row changes, {toml.stem}.json has the commands. In per cent,
with the difference to the first row. `{report["command"]}`

{tables}"""


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    ablate(Path(sys.argv[1]), sys.argv[2:])
