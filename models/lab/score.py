"""Score a model on the sets of its recipe; the figures go to eval.json in the recipe's folder.

    python -m models.lab.score models/en/train.toml
    python -m models.lab.score models/multi/train.toml FOLDER -o new.json --words 5000   heads of the sets
    python -m models.lab.score models/multi/train.toml -o now.json --words 5000 --only '* tatoeba' --only 'es *'
    python -m models.lab.score --compare now.json new.json

Each set is one run of `models.lab.variants`, recorded with its command and signature, so that anyone can reproduce it.
With `--words` only the first so many words of each set of plain text are scored (the other sets are left out), with
`--captions` these heads as SRT captions of 5 to 9 words with drawn times.
"""

from __future__ import annotations

import argparse
import json
import logging
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Any

from cappunc_cli.restoration.models.registry import ModelConfig, find_member
from models.lab import results
from models.lab.recipe import LabRecipe

logger = logging.getLogger(__name__)

#: Scores of the report that the card shows, by their names in the report.
KEPT = (
    *("micro", "macro", "comma", "period", "question", "all.micro", "case", "boundary"),
    *("case.initial", "case.other", "around.open_question", "around.open_exclamation", "every.micro"),
)
#: Those for which precision and recall are kept, too.
DIVIDED = {"comma", "period", "question", "case"}
#: The sets of people talking; Basque has none of the others.
DIALOGUE = ("wesnoth", "cdda_talk", "tatoeba", "andors_trail", "game_dialogues")
#: `cappunc eval`, which also reads the files of benchmarks and tells the calibration error.
_PROGRAM = ("-m", "models.lab.variants")
#: The figures of `compare`.
COMPARED = {"micro": "marks", "boundary": "sentence ends", "question": "?", "case": "case"}


def score(recipe: LabRecipe, directory: Path, path: Path) -> dict[str, Any]:
    """Score the model in `directory`, write the figures to `path`, and return those of each set.

    Sets of the same model that `path` already has are kept unless their command or the model's ensemble has changed.
    """
    configs = configs_of(directory)
    model = configs[0].files["model.onnx"]
    sets = results.kept(path, model, "sets")
    for name, (reference, *options) in recipe.evaluation.items():
        arguments = _arguments(directory, reference, options)
        # Whether `cappunc eval` or `models.lab.variants` has scored the set makes no difference.
        same = name in sets and sets[name]["command"].endswith(f" {' '.join(arguments)}")
        if same and not other_ensemble(configs, sets[name]):
            continue
        sets[name] = evaluate(directory, recipe.data, reference, options)
        # A text may have none of the three marks, and so no micro-F1.
        logger.info("%s: %s", name, sets[name].get("micro", "–"))
        ordered = {known: sets[known] for known in recipe.evaluation if known in sets}
        results.write(path, {**results.head(model), "sets": ordered})
    return sets


def score_heads(recipe: LabRecipe, directory: Path, path: Path, words: int, captions: bool = False) -> None:
    """Score the model on the first `words` of each set of plain text, and write the figures to `path`."""
    model = ModelConfig.load(directory).files["model.onnx"]
    sets: dict[str, Any] = {}
    for name, (reference, *options) in recipe.evaluation.items():
        if not reference.endswith(".txt.xz") or "--gold-windows" in options:
            continue
        with tempfile.TemporaryDirectory() as folder:
            head = list(head_of(recipe.data / reference, words))
            text = Path(folder, "head.srt" if captions else "head.txt")
            text.write_text(cut_into_captions(head) if captions else "\n".join(head) + "\n", "utf-8")
            options = [option for option in options if not (captions and option == "--speech-dashes")]
            sets[name] = evaluate(directory, Path(folder), text.name, options)
        logger.info("%s: %s", name, ", ".join(f"{key} {sets[name][key]:.4f}" for key in COMPARED if key in sets[name]))
        results.write(path, {**results.head(model), "head": words, "captions": captions, "sets": sets})


def head_of(path: Path, words: int) -> Iterator[str]:
    """The first lines of a text that hold so many words."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if words <= 0:
                return
            words -= len(line.split())
            yield line.rstrip("\n")


def cut_into_captions(lines: Sequence[str]) -> str:
    """Text as SRT: captions of 5 to 9 words, 0.3 s a word, now and then a silence, mostly where a line ends."""
    chance, start = Random(7), 1.0
    cues: list[str] = []
    words = [(word, i == len(line.split()) - 1) for line in lines for i, word in enumerate(line.split())]
    at = 0
    while at < len(words):
        some = words[at : at + chance.randint(5, 9)]
        end = start + 0.3 * len(some)
        cues.append(f"{len(cues) + 1}\n{_stamp(start)} --> {_stamp(end)}\n{' '.join(word for word, _ in some)}\n")
        silent = chance.random() < (0.5 if some[-1][1] else 0.1)
        start, at = end + (chance.uniform(0.4, 3) if silent else 0.04), at + len(some)
    return "\n".join(cues)


def _stamp(seconds: float) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


def configs_of(directory: Path) -> list[ModelConfig]:
    """The config of a model, and those of the members of its ensemble."""
    own = ModelConfig.load(directory)
    return [own, *(ModelConfig.load(find_member(directory, name)) for name in own.ensemble)]


def other_ensemble(configs: Sequence[ModelConfig], scored: Mapping[str, Any]) -> str:
    """How a set was scored if not with the ensemble that its language has now: `alone`, or `with an earlier NAME`.

    `configs` are those of `configs_of`.
    """
    own, *members = configs
    parts = scored["command"].split()
    language = parts[parts.index("--lang") + 1] if "--lang" in parts else own.languages[0]
    for name, member in () if "--engine" in parts else zip(own.ensemble, members, strict=True):
        if language in member.languages and f"+{name}@{member.files['model.onnx'][:12]}" not in scored["signature"]:
            return f"with an earlier {name}" if f"+{name}@" in scored["signature"] else "alone"
    return ""


def evaluate(directory: Path, data: Path, reference: str, options: Sequence[str]) -> dict[str, Any]:
    """Score the model on a set below `data`; returns the command and the figures.

    If the options name another engine, that engine's own model of the language is scored.
    """
    arguments = _arguments(directory, reference, options)
    shown = [part.replace("$DATA", str(data)) for part in arguments]
    if "--model" in shown:
        shown[shown.index("--model") + 1] = str(directory)
    done = subprocess.run([sys.executable, *_PROGRAM, *shown], stdout=subprocess.PIPE, check=True)
    return {"command": " ".join(("python", *_PROGRAM, *arguments)), **_figures(json.loads(done.stdout))}


def _arguments(directory: Path, reference: str, options: Sequence[str]) -> list[str]:
    model = [] if "--engine" in options else ["--model", directory.name]
    return [*model, "--ref", f"$DATA/{reference}", *options, "--json"]


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    scores = report["scores"]
    figures = {name: round(scores[name]["f1"], 5) for name in KEPT if scores.get(name, {}).get("reference")}
    for name in DIVIDED & figures.keys():
        figures |= {f"{name} {part}": round(scores[name][part], 5) for part in ("precision", "recall")}
    figures["ece"] = round(report["calibration"]["ece"], 5)
    return {**figures, "words": report["words"], "signature": report["signature"]}


def dialogue(sets: Mapping[str, Any], language: str) -> dict[str, float]:
    """The mean of each of COMPARED over a language's sets of DIALOGUE; {} if none was scored.

    Set names are `es wesnoth` in a model of several languages, `wesnoth` in one of a single language (`language` "").
    """
    names = [f"{language} {name}".strip() for name in DIALOGUE]
    return mean([sets[name] for name in names if name in sets])


def mean(some: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean of each of COMPARED over sets; a set without a class of marks does not count for it."""
    known = {key: [one[key] for one in some if key in one] for key in COMPARED}
    return {key: sum(values) / len(values) for key, values in known.items() if values}


def compare(before: Path, after: Path) -> list[str]:
    """Lines with the sets of two result files, the means of dialogue and of the rest by language, and of all."""
    old, new = (json.loads(path.read_text("utf-8"))["sets"] for path in (before, after))
    common = [name for name in old if name in new]
    lines = [_line(name, old[name], new[name]) for name in common]
    languages = list(dict.fromkeys(name.partition(" ")[0] for name in common if name.partition(" ")[2]))
    pairs: dict[str, list[list[dict[str, float]]]] = {"dialogue": [], "the rest": []}
    for language in languages or [""]:
        own = [name for name in common if name.startswith(language)]
        talk = [name for name in own if name.removeprefix(language).strip() in DIALOGUE]
        rest = [name for name in own if name not in talk]
        for title, names in zip(pairs, (talk, rest), strict=True):
            if names:
                pairs[title].append([mean([sets[name] for name in names]) for sets in (old, new)])
                lines.append(_line(f"{language} {title}".strip(), *pairs[title][-1]))
    for title, parts in pairs.items():
        if len(parts) > 1:
            lines.append(_line(f"mean of languages, {title}", *(mean(list(side)) for side in zip(*parts, strict=True))))
    return lines


def _line(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    cells = [
        f"{title} {100 * old[key]:.1f} → {100 * new[key]:.1f} ({100 * (new[key] - old[key]):+.1f})"
        for key, title in COMPARED.items()
        if key in old and key in new
    ]
    return f"{name}: {', '.join(cells)}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="models.lab.score")
    parser.add_argument("recipe", type=Path, nargs="?")
    parser.add_argument("directory", type=Path, nargs="?", help="a model that is not in the recipe's folder")
    parser.add_argument("-o", "--output", type=Path, help="instead of eval.json in the recipe's folder")
    parser.add_argument("--only", action="append", metavar="GLOB", help="score only these sets; repeatable")
    parser.add_argument("--words", type=int, metavar="N", help="score only the first N words of each set")
    parser.add_argument("--captions", action="store_true", help="score the heads as captions")
    parser.add_argument("--compare", type=Path, nargs=2, metavar="JSON", help="show the change between two results")
    asked = parser.parse_args()
    if asked.compare:
        print("\n".join(compare(*asked.compare)))
        return
    recipe = LabRecipe.load(asked.recipe)
    if asked.only:
        for name in [name for name in recipe.evaluation if not any(fnmatch(name, glob) for glob in asked.only)]:
            del recipe.evaluation[name]
    directory = asked.directory or asked.recipe.parent
    shipped = asked.directory is None and not asked.words and not asked.only
    output = asked.output or asked.recipe.with_name("eval.json" if shipped else f"{asked.recipe.stem}.json")
    if asked.words:
        score_heads(recipe, directory, output, asked.words, asked.captions)
    else:
        score(recipe, directory, output)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
