"""Sentence ends and questions in film captions: how many are missed, how many are superfluous.

    python -m models.lab.studies.film --data ../shared/data --samples ../shared/samples --run after

Real captions of one film in each of three languages, stripped but for the dashes of their speakers, and the held-out
ends of two dialogue corpora (`heldout` in train.toml) in captions like those of films: most end with a sentence, they
last until the next one or a little less, and only after every third sentence is there a silence. The last words
of captions are counted separately from sentence ends `within` captions. A run is kept in results/film.json under its
name. Three minutes on one core.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import TERMINAL, fold, strip
from cappunc_cli.document.words import Word, cue_ends
from cappunc_cli.files.encodings import decode
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model_for
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from models.lab.heldout import heldout_words
from models.lab.recipe import LabRecipe
from tests.benchmarks.measuring import RESULTS, digest, head, options_with_data

RESULT = RESULTS / "film.json"
FILMS = {
    "en": "vtt/pbs__pycaption__examples_example.vtt",
    "es": "vtt/glut23__webvtt-py__tests_subtitles_netflix_chicas_del_cable.vtt",
    "fr": "srt/byroot__pysrt__tests_static_utf-8.srt",
}
CORPORA = ("crd3", "sgd")
#: Characters of a caption of two lines, how many are read in a second, and the shortest time (ms) that one is shown.
_MOST, _PACE, _SHOWN = 84, 15, 1000
#: Milliseconds between captions that follow each other; those of a silence, which comes after every third sentence.
_GAP, _SILENCES, _SILENT = 83, (600, 1000, 1500, 2500, 4000), 1 / 3
#: How often a sentence's end is a caption's where it need not, and from which share of a caption on a comma may be.
_ALONE, _AT_COMMA = 0.7, 0.6
_ENDS = frozenset(TERMINAL) | {"…"}


def captioned(words: Sequence[Word]) -> Iterator[Word]:
    """Give written words the times of film captions; a speaker change ends a caption and is not marked otherwise."""
    chance = Random(1)
    clock = cue = 0
    shown: list[Word] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        shown.append(word)
        length = sum(len(one.text) + 1 for one in shown)
        mark = strip(word.text)[1].mark
        ended = mark != "" and mark in _ENDS
        turn = following is None or following.turn != word.turn
        full = following is not None and length + len(following.text) > _MOST
        if not (turn or full or (ended and chance.random() < _ALONE) or (mark == "," and length > _AT_COMMA * _MOST)):
            continue
        end = clock + max(length * 1000 // _PACE, _SHOWN)
        for i, one in enumerate(shown):
            first, last = i == 0, i == len(shown) - 1
            yield replace(one, start=clock if first else None, end=end if last else None, cue=cue, turn=0)
        silent = ended and chance.random() < _SILENT
        clock, cue, shown = end + (chance.choice(_SILENCES) if silent else _GAP), cue + 1, []


def bare(words: Sequence[Word]) -> list[Word]:
    return [replace(word, text=fold(strip(word.text)[0])) for word in words]


def counted(gold: Sequence[str], found: Sequence[str], last: Sequence[bool]) -> dict[str, int]:
    """Count sentence ends and questions at the `last` words of captions: in the reference, missed, and superfluous.

    `within` counts the sentence ends at all other words.
    """
    marks = [tuple(strip(word)[1].mark for word in pair) for pair in zip(gold, found, strict=True)]

    def counts(at_end: bool, is_one: Callable[[str], bool]) -> list[int]:
        sides = [
            (is_one(ours), is_one(theirs)) for (ours, theirs), end in zip(marks, last, strict=True) if end == at_end
        ]
        return [sum(a for a, _ in sides), sum(a and not b for a, b in sides), sum(b and not a for a, b in sides)]

    def ends(mark: str) -> bool:
        return mark != "" and mark in _ENDS

    names = [f"{kind}{what}" for kind in ("ends", "questions", "within") for what in ("", " missed", " superfluous")]
    figures = [*counts(True, ends), *counts(True, lambda mark: mark == "?"), *counts(False, ends)]
    return {"captions": sum(last), **dict(zip(names, figures, strict=True))}


def texts(data: Path, samples: Path, most: int) -> Iterator[tuple[str, list[Word]]]:
    """`language name` of each text and its written words, in captions."""
    for code, name in FILMS.items():
        document = formats.read(decode((samples / name).read_bytes())[0], name)
        yield f"{code} film", list(document.words[:most])
    recipe = replace(LabRecipe.load(find_model_for("en") / "train.toml"), data=data)
    for name in CORPORA:
        yield f"en {name}", list(captioned(heldout_words(recipe, name, most)))


def main() -> None:
    """Put a run into results/film.json."""
    parser = options_with_data(__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="the folder of the samples")
    parser.add_argument("--words", type=int, default=4000, help="of each text")
    parser.add_argument("--run", metavar="NAME", required=True, help="keep the figures under this name")
    options = parser.parse_args()
    opened: dict[str, Model] = {}
    rows: dict[str, Any] = {}
    for name, words in texts(options.data, options.samples, options.words):
        code = name.split()[0]
        model = opened.setdefault(code, load_model(str(find_model_for(code)), "cpu"))
        found = restore(bare(words), model, Options(language=code, existing="replace"))
        rows[name] = counted([word.text for word in words], found, [*cue_ends(words)[:-1], True])
        print(name, rows[name], flush=True)
    models = {model.config.name: digest(model.config) for model in opened.values()}
    kept: dict[str, Any] = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    command = f"python -m models.lab.studies.film --data $DATA --samples $SAMPLES --run {options.run}"
    kept[options.run] = {**head(command=command), "words": options.words, "models": models, "rows": rows}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
