"""What spelling asks of a language: how it speaks numbers, and which of its words lack an apostrophe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumberWords:
    """The words of numbers, all bare, and what stands around those that can be read in one way alone.

    `units` go from one to nine, `teens` from ten to nineteen. `scales` multiply; of these `large` stay words behind
    digits. `zeros` stand within numbers that are read out by digits. An ordinal of `ordinals` is one behind a ten;
    `others` count or divide, too, and leave a number beside them open. `joining` stands within a number behind a
    scale, `point` before decimals. Numbers that `links` join are written alike. What stands before `vague` is none.

    Two numbers in a row are a time of day before `day_times`, or after `clock` at a full quarter; they are a year
    after `year`. Both only where `goes_on` follows, or nothing: `after three thirty minute meetings`.
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
    goes_on: frozenset[str]


@dataclass(frozen=True, slots=True)
class ApostropheWords:
    """Words that lack their apostrophe, and how they are written with it.

    Those of `sure` are no other words; but behind one of `determiners` anything is a noun. Those of `after_subject`
    are verbs with one of `subjects` before them and none of `objects` behind.
    """

    sure: Mapping[str, str]
    after_subject: Mapping[str, str]
    subjects: frozenset[str]
    objects: frozenset[str]
    determiners: frozenset[str]
