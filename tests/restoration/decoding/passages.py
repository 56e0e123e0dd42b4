"""Texts to decode: probabilities as a model gives them, and what is known of the words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from commands import TINY

from cappunc_cli.document.labels import MARKS, Case, Label, strip
from cappunc_cli.languages import language
from cappunc_cli.restoration.decoding.evidence import Evidence
from cappunc_cli.restoration.decoding.passage import Passage
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import Options

CONFIG = replace(ModelConfig.load(TINY), consistency=1.0)


LEXICON = {"iphone": "iPhone", "ebay": "eBay"}


def likely(case: Case, mark: str, case_p: float = 0.97, mark_p: float = 0.95) -> list[float]:
    """A row with the given case and mark; the remaining probability is on lower case and on no mark.

    If these are the given ones, it is on capital, and on all marks equally.
    """
    cases = dict.fromkeys(Case, 0.0)
    cases[Case.CAPITAL if case is Case.LOWER else Case.LOWER] = 1 - case_p
    marks = dict.fromkeys(("", *MARKS), (1 - mark_p) / 9 if mark == "" else 0.0)
    marks[""] = 1 - mark_p
    return [*(cases | {case: case_p}).values(), *(marks | {mark: mark_p}).values()]


def passage(
    rows: np.ndarray,
    words: list[str],
    turns: list[bool],
    config: ModelConfig,
    options: Options,
    lexicon: dict[str, str] | None = None,
    written: list[Label] | None = None,
) -> Passage:
    """English words without captions, with a model's probabilities."""
    english, forms, none = language("en"), Lexicon(lexicon or {}), np.zeros(len(words), bool)
    labels = written or [Label()] * len(words)
    return Passage(words, labels, rows, np.array(turns), none, none, none, None, config, options, english, forms)


def no_evidence(count: int) -> Evidence:
    """The evidence for `count` bare words: none."""
    marks, cases = np.full((2, count), -1, np.int8)
    capitals, free_start = np.zeros((2, count), np.bool_)
    capital_odds, start_odds = np.zeros((2, count), np.float32)
    return Evidence(marks, cases, capital_odds, capitals, np.zeros((count, 3), np.float32), free_start, start_odds)


def taken_apart(text: str) -> tuple[list[str], list[Label]]:
    """The bare words of a written text, and the labels that they have there."""
    bare, labels = zip(*map(strip, text.split()), strict=True)
    return list(bare), list(labels)
