"""Extract candidates for a glossary from texts: words that are capitalised within sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cappunc_cli.document.labels import Case, Label, fold, strip
from cappunc_cli.document.words import Word
from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.decoding.passage import columns, writing_style

#: After one of these a capital may begin a sentence, and is no evidence for a name.
_OPEN = frozenset(".?!…:—")
_POSSESSIVE = ("'s", "’s")
#: A word that is capitalised in less than this share of its occurrences is no name.
_MIN_SHARE = 0.5
#: Nor is a word that begins sentences more than this many times as often as it is capitalised within one.
_MAX_STARTS = 2
#: The average number of words in a line from which on a new line may explain a capital.
_MIN_LINE = 3

#: What joins the parts of a name of a person, and what may follow it: `Sarmiento de Gamboa`, `van der Berg`.
_OF = frozenset(
    ("de", "del", "della", "di", "da", "dos", "das", "do", "du", "des", "van", "von", "zu", "ter", "af", "bin")
)
_THE = frozenset(("la", "las", "los", "le", "der", "den", "het"))

#: Positions of a word: within a sentence; after a comma, where a sentence may begin nevertheless (`he said, How`),
#: unless the word has a mark (`thanks, Brian.`); after an opening quotation mark or bracket; at a sentence start.
_WITHIN, _AFTER_COMMA, _OPENED, _START = range(4)


def is_cased(texts: Sequence[str]) -> bool:
    """Whether the capitals and marks of a text with words can be trusted."""
    bare, labels = zip(*map(strip, texts), strict=True)
    style = writing_style(bare, *columns(labels))
    return style.punctuated and not (style.lower or style.upper or style.title)


@dataclass(slots=True)
class TermFinder:
    """Collects candidates from texts with case and marks; `language` is that of the text added last."""

    language: Language = field(default_factory=lambda: language("en"))
    _terms: dict[str, Counter[str]] = field(default_factory=dict)
    _starts: Counter[str] = field(default_factory=Counter)
    _lower: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Sequence[str], breaks: Sequence[bool], language: Language) -> None:
        """Add the words of a text; a sentence may begin after each of its `breaks` [n]."""
        self.language = language
        place = _START
        run, joining = list[tuple[str, int]](), list[tuple[str, int]]()
        for text, ended in zip(texts, breaks, strict=True):
            text = language.read(text)
            bare, label = strip(text)
            if label.before:
                self._close(run)
                place = max(place, _OPENED)
            elif place == _AFTER_COMMA and label.mark:
                place = _WITHIN
            named = self._is_named(bare, label)
            if named:
                run += [*joining, (label.inside(text), place)]
            elif run and not (label.before or label.after) and bare in (_THE if joining else _OF):
                joining.append((text, place))
                continue
            else:
                self._close(run)
                if place != _START and label.case is Case.LOWER:
                    self._lower[bare] += 1
            joining.clear()
            if label.after or bare.endswith(_POSSESSIVE):
                self._close(run)
            place = _START if ended else self._next_place(bare, label, place, named=named)
        self._close(run)

    def _is_named(self, bare: str, label: Label) -> bool:
        spelled, own = self.language.spelled(bare), self.language
        # `Dr Smith`, `Inc.`
        abbreviated = spelled in own.titles or (label.has_period and own.abbreviates(spelled))
        lower = label.case is Case.LOWER or spelled in own.always_capital
        return not lower and not abbreviated and any(map(str.isalpha, bare))

    def _next_place(self, bare: str, label: Label, place: int, *, named: bool) -> int:
        """The position of the next word."""
        if label.after == "." and self.language.spelled(bare) in self.language.titles:
            return _WITHIN
        if _OPEN & set(label.after) or (label.before != "" and place == _START):
            return _START
        if not any(map(str.isalnum, bare)):
            return _OPENED
        # A name follows a name in a list: `Anna, Peter and Mary`.
        return _AFTER_COMMA if label.mark and not named else _WITHIN

    def _close(self, run: list[tuple[str, int]]) -> None:
        """Count the words of a run as one term, or as a sentence start if that may be the reason for its capital."""
        if not run:
            return
        term = " ".join(text for text, _ in run)
        term = term[:-2] if term.endswith(_POSSESSIVE) and len(term) > 3 else term
        place = run[0][1]
        alone = len(run) == 1
        # NATO and iPhone are written so anywhere.
        may_be_start = strip(run[0][0])[1].case is Case.CAPITAL
        if may_be_start and (place == _START or (place != _WITHIN and alone)):
            self._starts[term] += 1
        else:
            self._terms.setdefault(fold(term), Counter())[self.language.written(term)] += 1
        run.clear()

    def candidates(self) -> list[tuple[str, int]]:
        """The terms in their most frequent spelling, with their counts: the most frequent first, then by alphabet."""
        starts: Counter[str] = Counter()
        within: Counter[str] = Counter()
        for start, count in self._starts.items():
            key, rest = fold(start), fold(start.partition(" ")[2])
            if key in self._terms:
                starts[key] += count
            else:
                # The first word may not be part of the name: `Then Peter went`.
                within[rest] += count
        found: list[tuple[str, int]] = []
        for key, forms in self._terms.items():
            term, _ = min(forms.items(), key=lambda form: (-form[1], form[0]))
            certain = forms.total() + within[key]
            count = certain + starts[key]
            if count >= _MIN_SHARE * (count + self._lower[key]) and starts[key] <= _MAX_STARTS * certain:
                found.append((term, count))
        return sorted(found, key=lambda one: (-one[1], fold(one[0])))


def layout_breaks(words: Sequence[Word]) -> list[bool]:
    """Where a capital may be due to layout, [n]: after turns, and after cues or lines if they have several words."""
    lines = sum(a.cue != b.cue for a, b in pairwise(words))
    are_long = lines * _MIN_LINE <= len(words)
    return [a.turn != b.turn or (are_long and a.cue != b.cue) for a, b in pairwise(words)] + [True] * bool(words)
