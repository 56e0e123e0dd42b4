"""Terms that a text suggests for a glossary: what it, or a model for it, writes with a capital in mid-sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cappunc_cli.languages import Language, language
from cappunc_cli.restoration.decoding.evidence import writing_style
from cappunc_cli.transcript.labels import Case, Label, dress, fold, strip
from cappunc_cli.transcript.words import Word

#: Behind one of these a capital may begin a sentence, and so says nothing.
_OPEN = frozenset(".?!…:—")
_POSSESSIVE = ("'s", "’s")
#: A word that is capital in less than this share of its places is no name.
_SHARE = 0.5
#: A word that begins sentences more than so many times as often as it is capital within one is no name either.
_STARTS = 2
#: Words in a line, on average, below which its end says nothing.
_FEWEST = 3


#: Where a word stands: within a sentence; behind a comma, where one may begin all the same (`he said, How`) unless a
#: mark follows (`thanks, Brian.`); behind what opens a quotation or an aside; where a sentence begins.
_WITHIN, _BEHIND, _OPENED, _START = range(4)


@dataclass(frozen=True, slots=True)
class TermCandidate:
    """A term, as it is written most often, and how often it stands in the texts."""

    term: str
    count: int


def is_cased(texts: Sequence[str]) -> bool:
    """Whether the words of a text have capitals and marks that can be believed."""
    if not texts:
        return False
    bare, labels = zip(*map(strip, texts), strict=True)
    kind = writing_style(bare, labels)
    return not (kind.needs_all or kind.title)


@dataclass(slots=True)
class TermFinder:
    """Gathers candidates from texts, each a list of words with case and marks, in the `language` of the last one."""

    language: Language = field(default_factory=lambda: language("en"))
    _terms: dict[str, Counter[str]] = field(default_factory=dict)
    _starts: Counter[str] = field(default_factory=Counter)
    _lower: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Sequence[str], breaks: Sequence[bool], language: Language) -> None:
        """Take in one text; a sentence may start behind each of its `breaks`."""
        self.language = language
        place = _START
        run: list[tuple[str, int]] = []
        for (bare, label), ended in zip(map(strip, texts), breaks, strict=True):
            if label.before:
                self._close(run)
                place = max(place, _OPENED)
            elif place == _BEHIND and label.mark:
                place = _WITHIN
            named = self._is_named(bare, label)
            if named:
                run.append((_written(bare, label), place))
            else:
                self._close(run)
                if place != _START and label.case is Case.LOWER:
                    self._lower[bare] += 1
            if label.after or bare.endswith(_POSSESSIVE):
                self._close(run)
            place = _START if ended else self._behind(bare, label, place, named=named)
        self._close(run)

    def _is_named(self, bare: str, label: Label) -> bool:
        spelled = self.language.spelled(bare)
        return (
            label.case is not Case.LOWER
            and spelled not in self.language.always_capital
            and not self._is_short(spelled, label)
            and any(map(str.isalpha, bare))
        )

    def _is_short(self, spelled: str, label: Label) -> bool:
        """`Dr Smith`, `Inc.`: no terms."""
        return spelled in self.language.titles or (label.after[:1] == "." and self.language.abbreviates(spelled))

    def _behind(self, bare: str, label: Label, place: int, *, named: bool) -> int:
        """Where the next word stands."""
        if label.after == "." and self.language.spelled(bare) in self.language.titles:
            return _WITHIN
        if _OPEN & set(label.after) or (label.before != "" and place == _START):
            return _START
        if not any(map(str.isalnum, bare)):
            return _OPENED
        # `Anna, Peter and Mary`: a list of names.
        return _BEHIND if label.mark and not named else _WITHIN

    def _close(self, run: list[tuple[str, int]]) -> None:
        """Count the words of a run as one term; a lone capital where a sentence begins only once it is known."""
        if not run:
            return
        term = _without_possessive(" ".join(text for text, _ in run))
        place = run[0][1]
        alone = len(run) == 1
        # NATO and iPhone owe nothing to the start of a sentence.
        owes = strip(run[0][0])[1].case is Case.CAPITAL
        if owes and (place == _START or (place != _WITHIN and alone)):
            self._starts[term] += 1
        else:
            self._terms.setdefault(fold(term), Counter())[term] += 1
        run.clear()

    def candidates(self) -> list[TermCandidate]:
        """The terms, the most frequent first, then by the alphabet."""
        starts: Counter[str] = Counter()
        within: Counter[str] = Counter()
        for start, count in self._starts.items():
            whole, rest = fold(start), fold(start.partition(" ")[2])
            if whole in self._terms:
                starts[whole] += count
            else:
                # `Then Peter went`: the first word may be none of the name.
                within[rest] += count
        found = []
        for key, forms in self._terms.items():
            term, _ = min(forms.items(), key=lambda form: (-form[1], form[0]))
            sure = forms.total() + within[key]
            count = sure + starts[key]
            if count >= _SHARE * (count + self._lower[key]) and starts[key] <= _STARTS * sure:
                found.append(TermCandidate(term, count))
        return sorted(found, key=lambda candidate: (-candidate.count, fold(candidate.term)))


def _written(bare: str, label: Label) -> str:
    return dress(bare, replace(label, before="", after=""))


def _without_possessive(term: str) -> str:
    return term[:-2] if term.endswith(_POSSESSIVE) and len(term) > 3 else term


def layout_breaks(words: Sequence[Word]) -> list[bool]:
    """Where a capital may be one of layout: behind turns, and behind cues and lines of several words."""
    lines = sum(a.cue != b.cue for a, b in pairwise(words))
    long = lines * _FEWEST <= len(words)
    return [a.turn != b.turn or (long and a.cue != b.cue) for a, b in pairwise(words)] + [True] * bool(words)


def extract_terms(texts: Iterable[tuple[Sequence[str], Sequence[bool], Language]]) -> list[TermCandidate]:
    """The candidates of several texts, each its words, its breaks and its language."""
    finder = TermFinder()
    for words, ends, spoken in texts:
        finder.add(words, ends, spoken)
    return finder.candidates()
