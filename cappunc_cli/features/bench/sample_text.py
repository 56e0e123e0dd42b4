"""Generate reproducible input for measurements from a model's vocabulary.

Words are drawn from the whole words of the tokenizer, frequent ones (low ids) more often. Some are two words joined, so
that words have about as many pieces as in speech (1.1 to 1.2).
"""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from random import Random

from cappunc_cli.errors import BadModel
from cappunc_cli.layout.caption_files import render
from cappunc_cli.layout.segmentation import Caption

_SECONDS_PER_WORD = 0.35
_WORDS_PER_CUE = 12
#: One word in this many is two words joined.
_JOINED = 12
#: Words are drawn from this many, the most frequent.
_COMMON = 20_000


def sample_words(directory: Path, count: int) -> list[str]:
    """`count` words from the tokenizer.json of a model directory; raises BadModel if it has none."""
    path = directory / "tokenizer.json"
    try:
        vocabulary = json.loads(path.read_text("utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadModel("has no vocabulary to generate text from", str(path)) from error
    pieces = (
        [entry[0] for entry in vocabulary] if isinstance(vocabulary, list) else sorted(vocabulary, key=vocabulary.get)
    )
    marked = any(piece.startswith("▁") for piece in pieces)
    whole = [piece.removeprefix("▁") for piece in pieces if not marked or piece.startswith("▁")]
    whole = [word for word in whole if word.isalpha() and word == word.lower() and len(word) > 1][:_COMMON]
    if not whole:
        raise BadModel("has no vocabulary to generate text from", str(path))
    chance = Random(1)
    # Zipf's law, flattened, since the head of a vocabulary is not ordered by frequency.
    weights = list(accumulate(1 / (i + 30) for i in range(len(whole))))
    drawn = chance.choices(whole, cum_weights=weights, k=count)
    joined = chance.choices(whole, cum_weights=weights, k=count // _JOINED + 1)
    for i in range(0, count, _JOINED):
        drawn[i] += joined[i // _JOINED]
    return drawn


def srt(words: list[str]) -> str:
    """The words as SubRip, with cues of two lines of six words, some after a pause."""
    cues = []
    at = 1000
    for number, i in enumerate(range(0, len(words), _WORDS_PER_CUE)):
        cue = words[i : i + _WORDS_PER_CUE]
        end = at + round(len(cue) * 1000 * _SECONDS_PER_WORD)
        lines = (" ".join(cue[: _WORDS_PER_CUE // 2]), " ".join(cue[_WORDS_PER_CUE // 2 :]))
        cues.append(Caption(i, i + len(cue), at, end, tuple(filter(None, lines))))
        at = end + (0, 100, 700)[number % 3]
    return render(cues, "srt")


def whisper_json(words: list[str]) -> str:
    """The words as Whisper's JSON with word times."""
    segments: list[dict[str, object]] = []
    at = 0.0
    for i in range(0, len(words), _WORDS_PER_CUE):
        timed = []
        for word in words[i : i + _WORDS_PER_CUE]:
            timed.append({"word": f" {word}", "start": round(at, 2), "end": round(at + 0.3, 2), "probability": 0.9})
            at += _SECONDS_PER_WORD
        text, end = "".join(str(entry["word"]) for entry in timed), timed[-1]["end"]
        segments.append({"id": len(segments), "start": timed[0]["start"], "end": end, "text": text, "words": timed})
    return json.dumps({"text": "".join(str(s["text"]) for s in segments), "segments": segments, "language": "en"})
