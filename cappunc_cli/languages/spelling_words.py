"""Language data for the spelling options: number words, and words that lack an apostrophe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumberWords:
    """Number words, all bare, and the context words that make a sequence of numbers unambiguous.

    `units` are one to nine, `teens` ten to nineteen, `tens` twenty to ninety. `scales` multiply; the `large` ones
    among them stay words after digits. `zeros` occur in numbers that are read out digit by digit. `ordinals` combine
    with a ten (`twenty-first`); `others` are further counting words and fractions, which leave a neighbouring number
    ambiguous. `joining` connects the parts of a number after a scale, `point` introduces decimals. Numbers joined by
    one of `links` are written the same way. A number word before one of `vague` is no exact number.

    Two numbers in a row are a time of day before `day_times`, or after `clock` at a quarter of an hour; they are a
    year after `year`. Both only at the end of a text or before one of `may_follow`: not in `after three thirty minute
    meetings`.
    """

    units: frozenset[str]
    teens: frozenset[str]
    tens: frozenset[str]
    scales: frozenset[str]
    large: frozenset[str]
    zeros: frozenset[str]
    ordinals: frozenset[str]
    others: frozenset[str]
    joining: str
    point: str
    links: frozenset[str]
    vague: frozenset[str]
    clock: frozenset[str]
    day_times: frozenset[str]
    year: frozenset[str]
    may_follow: frozenset[str]


@dataclass(frozen=True, slots=True)
class ApostropheWords:
    """Words that are written without their apostrophe, mapped to the spelling with it.

    Those of `sure` are no other word, except after one of `determiners`, where they must be nouns. Those of
    `after_subject` are corrected only after one of `subjects` and not before one of `objects`.
    """

    sure: Mapping[str, str]
    after_subject: Mapping[str, str]
    subjects: frozenset[str]
    objects: frozenset[str]
    determiners: frozenset[str]
