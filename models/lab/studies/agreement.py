"""Whether `fix` agrees with itself: captions made of a restored text are restored again.

    python -m models.lab.studies.agreement --data ../shared/data --samples ../shared/samples > \
        tests/benchmarks/results/agreement.json

Words with times (recognisers' files, and the ends of training corpora with drawn times) are restored and cut into
captions, which are restored again, as they are (`auto`) and without their marks (`replace`). Reported: the lines that
change, of all. What is not there is left out with a line on stderr.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import TERMINAL, fold, strip
from cappunc_cli.document.words import Document, Word, speaking_time, spread_times, untimed
from cappunc_cli.errors import CappuncError
from cappunc_cli.formats.shown_cues import shown_cues
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_files import render
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.segmentation import cut
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore
from tests.benchmarks.measuring import documents, head, identity, options_with_data, print_report

CORPORA = ("ami", "fomcpc", "icsi", "spacelog")
FOLDERS = ("assemblyai", "aws", "deepgram", "gentle", "google", "ibm", "kaldi", "revai", "vosk", "whisper", "whisperx")
#: Words of a text, and the fewest.
WORDS, FEWEST = 1500, 100
#: The share of words with times of their own that shows when each was said.
TIMED = 0.9
#: How often somebody pauses after no mark, a mark within a sentence and its end, and for how long on average (ms).
PAUSES = {"": (0.04, 300), ",": (0.4, 250), ".": (0.8, 600)}


def spoken(words: Sequence[Word], seed: int) -> list[Word]:
    """Bare words with times as somebody might have said them."""
    chance, clock, found = random.Random(seed), 0, []
    for word in words:
        bare, label = strip(word.text)
        end = clock + speaking_time(bare)
        found.append(Word(fold(bare), clock, end, turn=word.turn))
        share, length = PAUSES["" if not label.mark else "." if label.mark in TERMINAL else ","]
        clock = end + (round(chance.expovariate(1 / length)) if chance.random() < share else 0)
    return found


def texts(data: Path, samples: Path) -> Iterator[tuple[str, Document]]:
    """The name of each text, and its words with times."""
    for name in CORPORA:
        if not (data / "en" / f"{name}.txt.xz").exists():
            print(f"{name}: left out, not in {data}", file=sys.stderr)
            continue
        words = [word for text in documents(data / "en", name, WORDS, True) for word in text][:WORDS]
        yield f"{name}, drawn times", Document("words", "", spoken(words, 1))
    for folder in FOLDERS:
        for path in sorted((samples / f"json_{folder}").glob("*.json")):
            try:
                document = formats.read(path.read_text("utf-8"), path.name)
            except (CappuncError, UnicodeDecodeError) as error:
                print(f"{path.name}: left out, {error}", file=sys.stderr)
                continue
            words = document.words[:WORDS]
            english = sum(fold(word.text).strip(".,?") in language("en").frequent for word in words)
            if len(words) >= FEWEST and untimed(words) <= (1 - TIMED) * len(words) and 5 * english > len(words):
                yield f"{folder}/{path.name}", replace(document, words=words)
    if not samples.is_dir():
        print(f"recognisers' files: left out, not in {samples}", file=sys.stderr)


def captions_of(document: Document, new: Sequence[str]) -> Document:
    """SubRip captions of the words with `new` texts."""
    made = cut(spread_times(document.words), new, language("en"), Limits(), False)
    return formats.read(render(made, "srt", None), "made.srt")


def lines_of(document: Document, new: Sequence[str]) -> list[str]:
    """The lines of captions with other texts."""
    again = formats.read(formats.write(document, new), "made.srt")
    return [line for cue in shown_cues(again) or [] for line in cue.lines]


def measure(document: Document, model: Model) -> dict[str, Any]:
    """The number of lines of a text as captions, and of those that change when they are restored again."""
    options = Options(language="en")
    made = captions_of(document, restore(document.words, model, replace(options, existing="replace")))
    before = lines_of(made, made.texts)
    found: dict[str, Any] = {"words": len(made.words), "lines": len(before)}
    for existing in ("auto", "replace"):
        after = lines_of(made, restore(made.words, model, replace(options, existing=existing)))
        found[existing] = sum(a != b for a, b in zip(before, after, strict=True))
    return found


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="the folder of recognisers' files")
    parser.add_argument("--model", default="en-fast")
    arguments = parser.parse_args()
    model = load_model(arguments.model, "cpu")
    rows = {}
    for name, document in texts(arguments.data, arguments.samples):
        rows[name] = measure(document, model)
        print(name, rows[name], file=sys.stderr)
    total = {key: sum(row[key] for row in rows.values()) for key in ("words", "lines", "auto", "replace")}
    command = f"python -m models.lab.studies.agreement --data $DATA --samples $SAMPLES --model {arguments.model}"
    print_report({**head(command=command), "model": identity(model.config), "total": total, "texts": rows})


if __name__ == "__main__":
    main()
