"""Files in several languages: is the language of each line right, and are the marks as good as in a file of its own?

    python -m models.lab.studies.mixed_languages --data ../shared/data > tests/benchmarks/results/mixed_languages.json

Development texts without marks and capitals, as SRT with seven words a cue. Two languages take turns after sentences,
every 5 to 40 cues; or (bilingual) every cue has a line of each. Languages of lines are scored for all pairs, micro-F1
of marks with the fast models for some.
"""

from __future__ import annotations

import lzma
import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from cappunc_cli import formats
from cappunc_cli.document.labels import MARKS, strip
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.language_detection import stretches
from cappunc_cli.files.run import Worker
from cappunc_cli.restoration.models.registry import model_languages
from tests.benchmarks.measuring import head, options_with_data, print_report

TEXTS = {
    "ca": "parlament",
    "de": "bundestag",
    "en": "crd3",
    "es": "mananeras",
    "eu": "common_voice",
    "fr": "europarl",
    "it": "europarl",
    "nl": "tweede_kamer",
    "pl": "cdda_talk",
    "pt": "museu_pessoa",
    "ro": "tatoeba",
    "vi": "common_voice",
}
PAIRS = [("en", other) for other in TEXTS if other != "en"]
PAIRS += [("es", "ca"), ("es", "pt"), ("es", "it"), ("fr", "it"), ("de", "nl"), ("es", "eu"), ("fr", "de")]
SCORED = [("en", "es"), ("en", "de"), ("en", "fr"), ("es", "fr")]
WORDS_A_LINE, LINES = 7, 2400
_WORD = re.compile(r"[^\W\d_]+(['’-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Line:
    language: str
    words: tuple[str, ...]


def blocks_of(data: Path, code: str) -> list[list[Line]]:
    """Running text in a language, with marks and capitals, in blocks of 5 to 40 lines that end with a sentence."""
    words: list[str] = []
    with lzma.open(data / code / f"{TEXTS[code]}.txt.xz", "rt", encoding="utf-8") as file:
        for text in file:
            words += [word for word in text.split() if _WORD.fullmatch(strip(word)[0])]
            if len(words) >= (LINES + 100) * WORDS_A_LINE:
                break
    chance = random.Random(code)
    blocks: list[list[Line]] = []
    while words and sum(map(len, blocks)) < LINES:
        stop = chance.randint(5, 40) * WORDS_A_LINE
        while stop < len(words) and strip(words[stop - 1])[1].mark not in (".", "?", "!"):
            stop += 1
        lines = [words[i : min(i + WORDS_A_LINE, stop)] for i in range(0, min(stop, len(words)), WORDS_A_LINE)]
        blocks.append([Line(code, tuple(line)) for line in lines])
        del words[:stop]
    return blocks


def alternating(one: Sequence[Sequence[Line]], other: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of two texts whose blocks take turns."""
    pairs = zip_longest(one, other, fillvalue=())
    return [line for pair in pairs for block in pair for line in block]


def srt(cues: Sequence[Sequence[Line]]) -> str:
    """The lines as SRT, without marks and capitals."""

    def time(seconds: int) -> str:
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    parts = []
    for i, lines in enumerate(cues):
        text = "\n".join(" ".join(strip(word)[0].lower() for word in line.words) for line in lines)
        parts.append(f"{i + 1}\n{time(3 * i)},000 --> {time(3 * i + 3)},000\n{text}\n")
    return "\n".join(parts)


def right(source: str, lines: Sequence[Line], main: str) -> float:
    """The share of lines whose language is found."""
    document = formats.read(source, "mixed.srt")
    found = [main] * len(document.words)
    for code, numbers in stretches(document, model_languages()):
        for i in numbers:
            found[i] = code
    good = at = 0
    for line in lines:
        good += found[at] == line.language
        at += len(line.words)
    return good / len(lines)


def restored(source: str, lang: str) -> list[str]:
    """The words of a file after `fix --fast`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mixed.srt")
        path.write_text(source, encoding="utf-8")
        request = FixRequest(lang, fast=True, device="cpu")
        (result,) = Worker(request, "new").run([Job(str(path))])
        assert result.data is not None, result.error
        return formats.read(result.data.decode(), "mixed.srt").texts


def f1(words: Sequence[tuple[str, str]]) -> float:
    """Micro-F1 of marks after words, of pairs of a word as it was and as it is restored."""
    hits = said = there = 0
    for gold, text in words:
        mark, own = strip(gold)[1].mark, strip(text)[1].mark
        hits += mark == own and mark in MARKS and mark != ""
        said += own != ""
        there += mark != ""
    return 200 * hits / max(said + there, 1)


def scored(cues: Sequence[Sequence[Line]], lang: str = "auto") -> dict[str, float]:
    """Micro-F1 by language of the cues as one file."""
    lines = [line for cue in cues for line in cue]
    new = restored(srt(cues), lang)
    gold = [(line.language, word) for line in lines for word in line.words]
    assert len(new) == len(gold)
    found = {}
    for code in sorted({line.language for line in lines}):
        found[code] = f1([(word, text) for (own, word), text in zip(gold, new, strict=True) if own == code])
    return found


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--languages-only", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {**head(options.data), "lines right": {}, "marks": {}}
    blocks = {code: blocks_of(options.data, code) for code in TEXTS}
    texts = {code: [line for block in own for line in block] for code, own in blocks.items()}
    for one, other in PAIRS:
        mixed = alternating(blocks[one], blocks[other])
        both = [line for pair in zip(texts[one][:200], texts[other][:200], strict=False) for line in pair]
        report["lines right"][f"{one} {other}"] = {
            "alternating": round(100 * right(srt([[line] for line in mixed]), mixed, one), 1),
            "bilingual cues": round(100 * right(srt(list(zip(both[::2], both[1::2], strict=True))), both, one), 1),
        }
    for code, lines in texts.items():
        alone = right(srt([[line] for line in lines]), lines, code)
        report["lines right"][code] = {"alone": round(100 * alone, 1)}
    for one, other in () if options.languages_only else SCORED:
        found = scored([[line] for line in alternating(blocks[one], blocks[other])])
        alone_of = {code: scored([[line] for line in texts[code]], code)[code] for code in (one, other)}
        report["marks"][f"{one} {other}"] = {
            code: {"mixed": round(found[code], 1), "alone": round(alone_of[code], 1)} for code in (one, other)
        }
    print_report(report)


if __name__ == "__main__":
    main()
