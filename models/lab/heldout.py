"""The held-out ends of the corpora, and a model's probabilities on them."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, mark_of, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.pipeline import probabilities
from models.lab.corpora import CORPORA
from models.lab.recipe import LabRecipe

logger = logging.getLogger(__name__)

_WORDS = 8000


@dataclass(frozen=True, slots=True)
class HeldoutText:
    """Log-probabilities [n, marks] on a held-out end, and the marks [n] that are written there."""

    scores: NDArray[np.float32]
    gold: NDArray[np.int64]


def heldout_words(recipe: LabRecipe, name: str, most: int = _WORDS) -> list[Word]:
    """The last `most` words of a corpus (never more than its held-out share) with their pauses and turns."""
    corpus = CORPORA[name]
    tail: deque[Word] = deque(maxlen=most)
    count = clock = total = 0
    # Whether the pause before the word is known: then it has a start, even if its own pause is unknown.
    followed = False
    for turn in (turn for document in corpus.read(recipe.data / corpus.path) for turn in document):
        tokens = corpus.tidy(turn.text).split()
        gaps = turn.pauses if turn.pauses is not None and len(turn.pauses) == len(tokens) else [None] * len(tokens)
        for token, gap in zip(tokens, gaps, strict=True):
            timed = gap is not None
            if any(c.isalnum() for c in token):
                start = clock if timed or followed else None
                tail.append(Word(token, start, clock + 1 if timed else None, turn=count))
                total += 1
            elif tail and mark_of(token):
                # `it was — well`: as in training, a mark that stands alone belongs to the word before it.
                tail[-1] = replace(tail[-1], text=tail[-1].text + token)
            clock += 1 + (gap or 0)
            followed = timed
        count += corpus.dialogue
    return list(tail)[-max(int(total * recipe.heldout), 1) :]


def texts_of(recipe: LabRecipe, model: Model) -> Iterator[HeldoutText]:
    """The held-out end of each corpus with the model's log-probabilities, its bias included."""
    cases = len(CASE_CLASSES)
    for name in recipe.corpora:
        words = heldout_words(recipe, name)
        gold = np.array([MARK_CLASSES.index(strip(word.text)[1].mark) for word in words])
        rows = probabilities(words, model)[:, cases : cases + len(MARK_CLASSES)]
        scores = np.log(np.maximum(rows, 1e-12))
        for mark, nats in model.config.bias.items():
            scores[:, MARK_CLASSES.index(mark)] += nats
        logger.info("%s: %s words", name, f"{len(words):,}")
        yield HeldoutText(scores, gold)


def halves(texts: Iterable[HeldoutText]) -> tuple[list[HeldoutText], list[HeldoutText]]:
    """Split each text: the first halves to fit on, the second halves to test on."""
    parts: tuple[list[HeldoutText], list[HeldoutText]] = [], []
    for text in texts:
        middle = len(text.gold) // 2
        parts[0].append(HeldoutText(text.scores[:middle], text.gold[:middle]))
        parts[1].append(HeldoutText(text.scores[middle:], text.gold[middle:]))
    return parts
