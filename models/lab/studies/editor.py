"""Corrections that an editor still has to make after `fix` in the texts of tests/editor, by language and kind of text.

    python -m models.lab.studies.editor --run before
    python -m models.lab.studies.editor --run after --data ../shared/data

Each kind of text gets its usual form: `film` is SRT captions without gaps, `capitals` is all capitals with marks, the
others are lower-case plain text with a blank line between turns. The result is compared with the nearest accepted text
(`accepted.py`), and corrections are counted (`evaluation/mistakes.py`) per 1,000 words. With --data, the
held-out ends of the models' training corpora are scored in the same way, as one text each: decoding is tuned on these,
never on the texts. A run is kept in results/editor.json under its name; the table is in tests/editor/README.md.
Two minutes on two cores without --data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import Label, dress, fold, strip
from cappunc_cli.document.words import Word, timestamp
from cappunc_cli.evaluation.mistakes import EDITS, edits
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from models.lab.studies.accepted import Accepted, parse
from tests.benchmarks.measuring import RESULTS, digest, head

TEXTS = Path(__file__).resolve().parents[3] / "tests" / "editor"
RESULT = RESULTS / "editor.json"
CAPTIONS, CAPITALS = "film", "capitals"
#: How captions are timed: characters a second, and milliseconds between one and the next.
_PACE, _GAP = 15, 83
#: Corpora whose held-out ends are looked at, by language; and so many words of each.
CORPORA = {
    "en": (
        "changelog",
        "crd3",
        "whpress",
        "whremarks",
        "bitcoin",
        "wikipedia",
        "fiction",
        "ami",
        "earnings22",
        "strato",
    ),
    "es": ("mananeras", "congreso_parlamint", "eltec_spa"),
    "eu": ("argia_bhtc", "game_dialogues", "ted"),
    "ro": ("eltec_rom", "blog_titus"),
    "vi": ("vietnews_q", "novel_obsidian"),
}
_WORDS = 2500
#: A quotation that a reader accepts without marks.
TOLERATED = "quotation never opened"
KINDS = (*EDITS, TOLERATED)

Count = dict[str, int]

_HEAD = """# What an editor still has to mend

Our own texts in spoken style, by language and kind. Nothing is trained or tuned on them. `{. And|, and}` accepts both
alternatives, `{,}` a comma or none; in `{She said, “Go.”|~She said, go.}` the alternative after the tilde is tolerated
and counts as one correction. A blank line separates speakers, or in `film` captions. Each place counts as one
correction, together with its capital. `python -m models.lab.studies.editor --run NAME` writes this page.

"""


def kind_of(path: Path) -> str:
    """`film` of film-2.txt."""
    return path.stem.rpartition("-")[0]


def given(accepted: Accepted, kind: str) -> tuple[str, str]:
    """A text as it comes before anybody has mended it, and a file name that says what it is."""
    if kind == CAPITALS:
        return accepted.text.upper(), "text.txt"
    lines = [" ".join(map(_bare, line.split(" "))) for line in accepted.text.splitlines()]
    text = "\n".join(lines) + "\n"
    return (captions(text), "text.srt") if kind == CAPTIONS else (text, "text.txt")


def _bare(word: str) -> str:
    return word if word in ("-", ">>") else strip(word)[0]


def captions(text: str) -> str:
    """Blocks of lines as SRT: each is shown for as long as it takes to read."""
    cues, start = [], 0
    for number, block in enumerate(text.strip().split("\n\n"), 1):
        end = start + max(len(block) * 1000 // _PACE, 1000)
        times = " --> ".join(timestamp(moment).replace(".", ",") for moment in (start, end))
        cues.append(f"{number}\n{times}\n{block}\n")
        start = end + _GAP
    return "\n".join(cues)


def found_in(source: str, name: str, model: Model, options: Options) -> list[str]:
    """The words that `fix` writes."""
    return restore(formats.read(source, name).words, model, options)


def counted(accepted: Accepted, texts: Sequence[str]) -> Count:
    """What is left to mend in a text, by kind of mend, and its words."""
    gold = [fold(strip(word)[0]) for word in accepted.words]
    if gold != [strip(text)[0] for text in texts]:
        raise SystemExit(
            f"other words: {[pair for pair in zip(gold, texts, strict=False) if pair[0] != fold(pair[1])][:3]}"
        )
    labels: list[Label | None] = [strip(text)[1] for text in texts]
    words, tolerated = accepted.nearest(labels, lambda *at: sum(1 for _ in edits(*at)))
    return _count(words, texts) | {TOLERATED: tolerated}


def _count(words: Sequence[str], texts: Sequence[str]) -> Count:
    counts = Counter(mend for mend, _ in listed(words, texts))
    return {"words": len(words), **{mend: counts[mend] for mend in KINDS}}


def listed(words: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each thing to mend and the number of its word."""
    pairs = [(strip(word)[1], strip(text)[1]) for word, text in zip(words, texts, strict=True)]
    for i, (wanted, found) in enumerate(pairs):
        for mend in edits(wanted, found, pairs[i - 1] if i else (None, None)):
            yield mend, i


def total(counts: Iterable[Mapping[str, int]]) -> Count:
    """Counts added up."""
    every: Counter[str] = Counter()
    for count in counts:
        every.update(count)
    return dict(every)


def rate(count: Mapping[str, int], kinds: Iterable[str] = KINDS) -> float:
    """How many of these mends there are per 1,000 words."""
    return round(1000 * sum(count.get(kind, 0) for kind in kinds) / max(count["words"], 1), 1)


def of_texts(models: Mapping[str, Model], show: bool) -> dict[str, Count]:
    """What is left to mend, by `language kind`."""
    rows: dict[str, list[Count]] = {}
    for path in sorted(TEXTS.glob("*/*.txt")):
        code, kind = path.parent.name, kind_of(path)
        accepted = parse(path.read_text("utf-8"))
        texts = found_in(*given(accepted, kind), models[code], Options(language=code))
        rows.setdefault(f"{code} {kind}", []).append(counted(accepted, texts))
        if show:
            _show(path, accepted, texts)
    return {name: total(counts) for name, counts in rows.items()}


def _show(path: Path, accepted: Accepted, texts: Sequence[str]) -> None:
    labels: list[Label | None] = [strip(text)[1] for text in texts]
    words, tolerated = accepted.nearest(labels, lambda *at: sum(1 for _ in edits(*at)))
    print(f"== {path.parent.name}/{path.stem}: {tolerated} tolerated", file=sys.stderr)
    for mend, i in listed(words, texts):
        around = " ".join([*texts[max(i - 5, 0) : i], f"|{texts[i]}|", *texts[i + 1 : i + 4]])
        print(f"  {mend}: {around}  ({words[i]})", file=sys.stderr)


def of_development(models: Mapping[str, Model], data: Path) -> dict[str, Count]:
    """What is left to mend in the held-out ends of the corpora of each model, by corpus; quotation marks aside."""
    from models.lab.heldout import heldout_words
    from models.lab.recipe import LabRecipe

    rows = {}
    for code, names in CORPORA.items():
        recipe = replace(LabRecipe.load(find_model_for(code) / "train.toml"), data=data)
        for corpus in names:
            name = f"{code}/{corpus}"
            # Those of English have no code before their names.
            gold = heldout_words(recipe, corpus if corpus in recipe.corpora else name, _WORDS)
            bare = [replace(word, text=strip(word.text)[0]) for word in gold]
            texts = restore(bare, models[code], Options(language=code, existing="replace"))
            rows[name] = _count([_lenient(word, text) for word, text in zip(gold, texts, strict=True)], texts)
            print(f"{name}: {rate(rows[name])}", file=sys.stderr)
    return rows


def _lenient(word: Word, text: str) -> str:
    """A word of a corpus without its quotation marks; what is put for its dash is right, but not a sentence end."""
    bare, label = strip(word.text)
    before = "".join(c for c in label.before if c in "¿¡")
    found = strip(text)[1].mark
    mark = found if label.mark == "—" and found in ("", ",", "…") else label.mark
    return dress(bare, replace(label, before=before, after=mark))


def table(runs: Mapping[str, Mapping[str, Count]]) -> str:
    """The rows of each run side by side, then what is to mend in all, by kind of mend."""
    names = list(runs)
    kinds = sorted({row for rows in runs.values() for row in rows})
    lines = [f"| per 1,000 words | words | {' | '.join(names)} |", f"|---|---:|{'---:|' * len(names)}"]
    groups = [
        (code, [kind for kind in kinds if kind.split()[0] == code]) for code in dict.fromkeys(k[:2] for k in kinds)
    ]
    for code, members in groups:
        for label, of in [(f"**{code}**", members), *((kind, [kind]) for kind in members)]:
            counts = [total(rows[kind] for kind in of if kind in rows) for rows in runs.values()]
            lines.append(
                f"| {label} | {counts[-1]['words']:,} | {' | '.join(f'{rate(count):.1f}' for count in counts)} |"
            )
    every = [total(rows.values()) for rows in runs.values()]
    for label, of_mend in [("**all**", list(KINDS)), *((f"{mend}", [mend]) for mend in KINDS)]:
        cells = " | ".join(f"{rate(count, of_mend):.1f}" for count in every)
        lines.append(f"| {label} | {every[-1]['words']:,} | {cells} |")
    return "\n".join(lines) + "\n"


def page(kept: Mapping[str, Any]) -> str:
    """The page beside the texts: how they are written, and the table of all runs that are kept."""
    models = "; ".join(
        f"{name}: " + ", ".join(f"{model} {found}" for model, found in run["models"].items())
        for name, run in kept.items()
    )
    return _HEAD + table({name: run["texts"] for name, run in kept.items()}) + f"\nModels, {models}.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", metavar="NAME", help="keep the figures under this name; otherwise they are only shown")
    parser.add_argument("--data", type=Path, help="the folder of the training data, for the held-out ends")
    parser.add_argument("--model", action="append", default=[], metavar="CODE=DIR", help="a model for a language")
    parser.add_argument("--show", action="store_true", help="name every place on standard error")
    arguments = parser.parse_args()
    chosen = dict(item.split("=", 1) for item in arguments.model)
    codes = sorted(path.name for path in TEXTS.iterdir() if path.is_dir())
    opened: dict[str, Model] = {}
    models = {}
    for code in codes:
        place = chosen.get(code) or str(find_model_for(code))
        models[code] = opened.setdefault(place, load_model(place, "cpu"))
    texts = of_texts(models, arguments.show)
    print(table({arguments.run or "now": texts}))
    held = of_development(models, arguments.data) if arguments.data else {}
    if arguments.run:
        kept: dict[str, Any] = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
        hashes = {model.config.name: digest(model.config) for model in opened.values()}
        kept[arguments.run] = {**head(arguments.data), "models": hashes, "texts": texts, "development": held}
        RESULT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (TEXTS / "README.md").write_text(page(kept), "utf-8")


if __name__ == "__main__":
    main()
