"""The user's own terms: how names and products are written, whatever a model thinks.

A glossary has one term a line, spelled exactly as it is to be written (`iPhone`, `New York`,
`npm`); what follows a `#` that stands alone is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from cappunc_cli.errors import CappuncError
from cappunc_cli.languages.language import TYPEWRITER
from cappunc_cli.transcript.labels import Label, dress, fold, strip

#: What may hang on a term without being part of it: `iPhone's`, `the Smiths'`.
_ENDINGS = ("'s", "'")
#: Nor is this: `NATO-led`, `New York-based`.
_JOINED = re.compile(r"(?<=[^\W_])[-‐‑](?=[^\W_])")
#: No term goes on behind these.
_ENDS = frozenset(".?!…;:")
#: `C#` and `#MeToo` are terms; a comment's sign stands alone.
_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")


@dataclass(frozen=True, slots=True)
class Term:
    """Words as they are to be written, and whether each has a period of its own (`Dr. Who`)."""

    words: tuple[str, ...]
    dotted: tuple[bool, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Sightings:
    """The terms that a text has, and those that it has `apart`, in other words, with these."""

    found: frozenset[str] = frozenset()
    apart: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Glossary:
    """Terms by their first word in lower case, the longest first.

    >>> glossary = cappunc.Glossary.of(["npm", "New York"])
    >>> cappunc.fix("she installed npm in new york", glossary=glossary).text
    'She installed npm in New York.'
    """

    terms: Mapping[str, Sequence[Term]] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Glossary:
        """The glossary of some terms; the later of two spellings counts. Raises CappuncError for what is no word."""
        by_key: dict[tuple[str, ...], Term] = {}
        for term in terms:
            parts = term.split()
            written = tuple(map(_core, parts))
            if not written or not any(c.isalnum() for part in written for c in part):
                raise CappuncError(f"“{term}” is no term for a glossary")
            by_key[tuple(map(_key, written))] = Term(written, tuple(part.endswith(".") for part in parts))
        found: dict[str, list[Term]] = {}
        for key in sorted(by_key, key=len, reverse=True):
            found.setdefault(key[0], []).append(by_key[key])
        return cls(found)

    def matches(self, bare: Sequence[str], labels: Sequence[Label]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """(index of the first word, how the words are written) for each term in a text, from left to right.

        Of terms that begin at one word the longest counts, and none that ends within the one
        before; where two overlap (`New York University` for `New York`, `York University`), a
        word that they share is written as in the first. A term does not go on behind a mark
        that ends a sentence.
        """
        keys = [_key(word) for word in bare]
        said: tuple[str, ...] = ()
        end = 0
        for at, key in enumerate(keys):
            term = next((t for t in self._starting(key) if _stands(t, keys, labels, at)), None)
            if term is None or at + len(term.words) <= end:
                continue
            said = said[len(said) - (end - at) :] if at < end else ()
            own = zip(term.words[len(said) :], bare[at + len(said) :], strict=False)
            said += tuple(_spelled(part, word) for part, word in own)
            end = at + len(said)
            yield at, said

    def sightings(self, texts: Sequence[str]) -> Sightings:
        """Which terms some written words have, and which they have in other words: `bio n tech` for `BioNTech`."""
        stripped = [strip(text) for text in texts]
        keys, labels = [_key(bare) for bare, _ in stripped], [label for _, label in stripped]
        found = {term for at, key in enumerate(keys) for term in self._starting(key) if _stands(term, keys, labels, at)}
        letters = ["".join(filter(str.isalnum, key)) for key in keys]
        starts = {place: i for i, place in enumerate(accumulate(map(len, letters), initial=0))}
        joined = "".join(letters)
        apart: dict[str, str] = {}
        for term in (term for several in self.terms.values() for term in several if term not in found):
            own = "".join(c for word in term.words for c in _key(word) if c.isalnum())
            at = joined.find(own)
            while at >= 0 and not (at in starts and at + len(own) in starts):
                at = joined.find(own, at + 1)
            if at >= 0:
                apart[str(term)] = " ".join(bare for bare, _ in stripped[starts[at] : starts[at + len(own)]])
        return Sightings(frozenset(map(str, found)), apart)

    def _starting(self, key: str) -> Iterator[Term]:
        for stem in _stems(key):
            yield from self.terms.get(stem, ())


def _stands(term: Term, keys: Sequence[str], labels: Sequence[Label], at: int) -> bool:
    last = at + len(term.words) - 1
    if last >= len(keys):
        return False
    for label, dotted in zip(labels[at:last], term.dotted, strict=False):
        if label.mark in _ENDS and label.after and not (dotted and label.mark == "."):
            return False
    *head, end = map(_key, term.words)
    return list(keys[at:last]) == head and end in _stems(keys[last])


def _spelled(part: str, bare: str) -> str:
    """The bare word with the letters of the term; its apostrophes and its ending stay its own."""
    return "".join([t if t.isalnum() else c for t, c in zip(part, bare, strict=False)]) + bare[len(part) :]


def _stems(key: str) -> Iterator[str]:
    """The word, and what it is without the ending of a possessive or what a hyphen joins to it."""
    yield key
    for ending in _ENDINGS:
        if key.endswith(ending) and len(key) > len(ending):
            yield key[: -len(ending)]
            return
    for found in reversed(list(_JOINED.finditer(key))):
        yield key[: found.start()]


def _key(word: str) -> str:
    """The key that spellings of a word share: case and the forms of apostrophe and hyphen do not count."""
    return fold(word).translate(TYPEWRITER)


def _core(part: str) -> str:
    """A written word without the marks around it."""
    bare, label = strip(part)
    return dress(bare, replace(label, before="", after=""))


def parse_glossary(text: str, path: str | None = None) -> list[str]:
    """The terms of a glossary file; raises CappuncError with the line of what is none."""
    terms = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        term = _COMMENT.sub("", line).strip()
        if not term:
            continue
        try:
            Glossary.of([term])
        except CappuncError as error:
            raise CappuncError(error.message, path, number) from error
        terms.append(term)
    return terms
