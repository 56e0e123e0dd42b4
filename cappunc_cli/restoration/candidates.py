"""Terms that a text suggests for a glossary: what it, or a model for it, writes with a capital in mid-sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cappunc_cli.labels import Case, Label, dress, fold, strip
from cappunc_cli.languages import Language
from cappunc_cli.restoration.existing import shape
from cappunc_cli.words import Word

#: Behind one of these a capital may begin a sentence, and so says nothing.
_OPEN = frozenset(".?!…:—")
_POSSESSIVE = ("'s", "’s")
#: A word that is capital in less than this share of its places is no name.
_SHARE = 0.5
#: Words in a line, on average, below which its end says nothing.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term, as it is written most often, and how often it stands in the texts."""

    term: str
    count: int


def is_cased(texts: Sequence[str]) -> bool:
    """Whether the words of a text have capitals and marks that can be believed."""
    if not texts:
        return False
    bare, labels = zip(*map(strip, texts), strict=True)
    kind = shape(bare, labels)
    return not (kind.needs_all or kind.title)


@dataclass(slots=True)
class Finder:
    """Gathers candidates from texts, each a list of words with case and marks."""

    language: Language
    _terms: dict[str, Counter[str]] = field(default_factory=dict)
    _starts: Counter[str] = field(default_factory=Counter)
    _lower: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Sequence[str], breaks: Sequence[bool]) -> None:
        """Take in one text; a sentence may start behind each of its `breaks`."""
        words = [strip(text) for text in texts]
        first = True
        run: list[tuple[str, bool]] = []
        for (bare, label), ended in zip(words, breaks, strict=True):
            if run and label.before:
                self._close(run)
            if self._is_named(bare, label):
                run.append((_written(bare, label), first))
            else:
                self._close(run)
                if not first:
                    self._lower[bare] += 1
            if label.after or bare.endswith(_POSSESSIVE):
                self._close(run)
            first = ended or bool(_OPEN & set(label.after)) or (label.before != "" and first)
        self._close(run)

    def _is_named(self, bare: str, label: Label) -> bool:
        return (
            label.case is not Case.LOWER
            and self.language.spelled(bare) not in self.language.always_capital
            and any(map(str.isalpha, bare))
        )

    def _close(self, run: list[tuple[str, bool]]) -> None:
        """Count the words of a run as one term; a lone capital at a sentence's start only once it is known."""
        if not run:
            return
        term = _without_possessive(" ".join(text for text, _ in run))
        # NATO and iPhone owe nothing to the start of a sentence.
        if run[0][1] and strip(run[0][0])[1].case is Case.CAPITAL:
            self._starts[term] += 1
        else:
            self._terms.setdefault(fold(term), Counter())[term] += 1
        run.clear()

    def candidates(self) -> list[Candidate]:
        """The terms, the most frequent first, then by the alphabet."""
        known: Counter[str] = Counter()
        for start, count in self._starts.items():
            # `Then Peter went`: the first word may be none of the name.
            whole, rest = fold(start), fold(start.partition(" ")[2])
            known[whole if whole in self._terms else rest] += count
        found = []
        for key, forms in self._terms.items():
            term, _ = min(forms.items(), key=lambda form: (-form[1], form[0]))
            count = forms.total() + known[key]
            if count >= _SHARE * (count + self._lower[key]):
                found.append(Candidate(term, count))
        return sorted(found, key=lambda candidate: (-candidate.count, fold(candidate.term)))


def _written(bare: str, label: Label) -> str:
    return dress(bare, replace(label, before="", after=""))


def _without_possessive(term: str) -> str:
    return term[:-2] if term.endswith(_POSSESSIVE) and len(term) > 3 else term


def breaks(words: Sequence[Word]) -> list[bool]:
    """Where a capital may be one of layout: behind turns, and behind cues and lines of several words."""
    lines = sum(a.cue != b.cue for a, b in pairwise(words))
    long = lines * _FEWEST <= len(words)
    return [a.turn != b.turn or (long and a.cue != b.cue) for a, b in pairwise(words)] + [True] * bool(words)


def propose(texts: Iterable[tuple[Sequence[str], Sequence[bool]]], language: Language) -> list[Candidate]:
    """The candidates of several texts, each its words and its breaks."""
    finder = Finder(language)
    for words, ends in texts:
        finder.add(words, ends)
    return finder.candidates()
