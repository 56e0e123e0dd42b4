"""The user's own terms: how names and products are written, whatever a model thinks.

A glossary has one term a line, spelled exactly as it is to be written (`iPhone`, `New York`,
`npm`); what follows a `#` that stands alone is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cappunc_cli.errors import CappuncError
from cappunc_cli.labels import Label, dress, fold, strip

#: What may hang on a term without being part of it: `iPhone's`, `the Smiths'`.
_ENDINGS = ("'s", "'")
#: No term goes on behind these.
_ENDS = frozenset(".?!…;:")
#: `C#` and `#MeToo` are terms; a comment's sign stands alone.
_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")


@dataclass(frozen=True, slots=True)
class Glossary:
    """Terms by their first word in lower case, the longest first; each term is its written words."""

    terms: Mapping[str, Sequence[tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Glossary:
        """The glossary of some terms; the later of two spellings counts. Raises CappuncError for what is no word."""
        by_key: dict[tuple[str, ...], tuple[str, ...]] = {}
        for term in terms:
            written = tuple(_core(part) for part in term.split())
            if not written or not any(c.isalnum() for part in written for c in part):
                raise CappuncError(f"“{term}” is no term for a glossary")
            by_key[tuple(_key(part) for part in written)] = written
        found: dict[str, list[tuple[str, ...]]] = {}
        for key in sorted(by_key, key=len, reverse=True):
            found.setdefault(key[0], []).append(by_key[key])
        return cls(found)

    def matches(self, bare: Sequence[str], labels: Sequence[Label]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """(index of the first word, how the words are written) for each term in a text, from left to right.

        Of terms that begin at one word the longest counts. A term does not go on behind a mark
        that ends a sentence.
        """
        if not self.terms:
            return
        if not self.terms:
            return
        keys = [_key(word) for word in bare]
        at = 0
        while at < len(keys):
            term = next((t for t in self._starting(keys[at]) if _stands(t, keys, labels, at)), None)
            if term is None:
                at += 1
                continue
            yield at, tuple(_spelled(part, word) for part, word in zip(term, bare[at:], strict=False))
            at += len(term)

    def _starting(self, key: str) -> Iterator[tuple[str, ...]]:
        for stem in _stems(key):
            yield from self.terms.get(stem, ())


def _stands(term: Sequence[str], keys: Sequence[str], labels: Sequence[Label], at: int) -> bool:
    last = at + len(term) - 1
    if last >= len(keys) or any(label.mark in _ENDS for label in labels[at:last] if label.after):
        return False
    *head, end = (_key(part) for part in term)
    return list(keys[at:last]) == head and end in _stems(keys[last])


def _spelled(part: str, bare: str) -> str:
    """The bare word with the letters of the term; its apostrophes and its ending stay its own."""
    return "".join([t if t.isalnum() else c for t, c in zip(part, bare, strict=False)]) + bare[len(part) :]


def _stems(key: str) -> Iterator[str]:
    """The word, and what it is without the ending of a possessive."""
    yield key
    for ending in _ENDINGS:
        if key.endswith(ending) and len(key) > len(ending):
            yield key[: -len(ending)]
            return


def _key(word: str) -> str:
    """What words have in common however they are written: case and the form of the apostrophe do not count."""
    return fold(word).replace("’", "'")


def _core(part: str) -> str:
    """A written word without the marks around it."""
    bare, label = strip(part)
    return dress(bare, replace(label, before="", after=""))


def parse(text: str, path: str | None = None) -> list[str]:
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
