"""The user's glossary: how names and products are written, whatever a model says.

A glossary file has one term a line, spelled exactly as it is to be written (`iPhone`, `New York`, `npm`). A `#` at the
beginning of a line or after white space begins a comment.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from xml.etree import ElementTree

from cappunc_cli.document.labels import Label, fold, strip
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.languages import TYPEWRITER, Language

#: Endings that are not part of a term: `iPhone's`, `the Smiths'`.
_ENDINGS = ("'s", "'")
#: A hyphen after which a word is not part of a term: `NATO-led`, `New York-based`.
_JOINED = re.compile(r"(?<=[^\W_])[-‐‑](?=[^\W_])")
#: Marks across which a term cannot extend.
_ENDS = frozenset(".?!…;:")
#: The `#` of a comment is followed by white space or the end of the line: `C#` and `#MeToo` are terms.
_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")
# Not str.splitlines: no editor counts a vertical tab or U+2028 as the end of a line.
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Term:
    """The words of a term as they are to be written, and whether each is followed by a period (`Dr. Who`)."""

    words: tuple[str, ...]
    dotted: tuple[bool, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Sightings:
    """The terms found in a text, and the text's words in place of those that were not.

    `apart` are the same with other word boundaries ("bio n tech" for BioNTech), `near` look or sound like the term.
    """

    found: frozenset[str] = frozenset()
    apart: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Glossary:
    """A glossary: `terms` maps the first word of each term, in lower case, to the terms, longest first.

    `aliases` maps what a recogniser writes in the place of terms, in lower case, to these: `CoralNet = coral net`.

    >>> glossary = cappunc.Glossary.of(["npm", "New York"])
    >>> cappunc.fix("she installed npm in new york", glossary=glossary).text
    'She installed npm in New York.'
    """

    terms: Mapping[str, Sequence[Term]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Iterable[str]) -> Glossary:
        """A glossary of these terms; the last spelling of a term counts. Raises CappuncError for an invalid term."""
        if isinstance(terms, str | bytes) or not isinstance(terms, Iterable):  # a str would be a list of letters
            raise WrongUsage(f"glossary must be a list of terms, not {reprlib.repr(terms)}")
        by_key, aliases = dict[tuple[str, ...], Term](), dict[str, str]()
        for line in terms:
            if not isinstance(line, str):
                raise WrongUsage(f"a term of a glossary must be a str, not {line!r}")
            term, _, others = line.partition(" = ")
            aliases |= _aliases(term, others)
            parts = term.split()
            written = tuple(strip(part)[1].inside(part) for part in parts)
            if not written or not any(c.isalnum() for part in written for c in part):
                raise CappuncError(f"“{term}” cannot be a glossary term: it has no letter or digit")
            by_key[tuple(map(_key, written))] = Term(written, tuple(part.endswith(".") for part in parts))
        by_first_word: dict[str, list[Term]] = {}
        for key in sorted(by_key, key=len, reverse=True):
            by_first_word.setdefault(key[0], []).append(by_key[key])
        return cls(by_first_word, aliases)

    def read_by(self, language: Language) -> Glossary:
        """The glossary for words that were read in a language with `Language.read`."""
        by_first_word: dict[str, list[Term]] = {}
        for term in chain.from_iterable(self.terms.values()):
            words = tuple(map(language.read, term.words))
            by_first_word.setdefault(_key(words[0]), []).append(replace(term, words=words))
        return Glossary(by_first_word, self.aliases)

    def matches(self, bare: Sequence[str], labels: Sequence[Label]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield (index of the first word, spelling of its words) for each term in a text, from left to right.

        Of several terms that begin at a word the longest one counts, unless it ends within the previous match. Where
        two matches overlap (`New York University` for the terms `New York` and `York University`), a shared word is
        written as in the first. A term does not extend across a mark that ends a sentence.
        """
        keys = [_key(word) for word in bare]
        spelling: tuple[str, ...] = ()
        end = 0
        for at, key in enumerate(keys):
            term = next((t for t in self._starting_with(key) if _matches_at(t, keys, labels, at)), None)
            if term is None or at + len(term.words) <= end:
                continue
            spelling = spelling[len(spelling) - (end - at) :] if at < end else ()
            # A word has the letters of the term, but its own apostrophes, hyphens and ending.
            for part, word in zip(term.words[len(spelling) :], bare[at + len(spelling) :], strict=False):
                letters = [t if t.isalnum() else c for t, c in zip(part, word, strict=False)]
                spelling += ("".join(letters) + word[len(part) :],)
            end = at + len(spelling)
            yield at, spelling

    def sightings(self, texts: Sequence[str]) -> Sightings:
        """Which terms a text has, and which it has with other word boundaries: `bio n tech` for `BioNTech`."""
        stripped = [strip(text) for text in texts]
        keys, labels = [_key(bare) for bare, _ in stripped], [label for _, label in stripped]
        present = {
            term
            for at, key in enumerate(keys)
            for term in self._starting_with(key)
            if _matches_at(term, keys, labels, at)
        }
        letters = ["".join(filter(str.isalnum, key)) for key in keys]
        starts = {place: i for i, place in enumerate(accumulate(map(len, letters), initial=0))}
        joined = "".join(letters)
        apart: dict[str, str] = {}
        for term in (term for terms in self.terms.values() for term in terms if term not in present):
            joined_term = "".join(c for word in term.words for c in _key(word) if c.isalnum())
            at = joined.find(joined_term)
            while at >= 0 and not (at in starts and at + len(joined_term) in starts):
                at = joined.find(joined_term, at + 1)
            if at >= 0:
                apart[str(term)] = " ".join(bare for bare, _ in stripped[starts[at] : starts[at + len(joined_term)]])
        return Sightings(frozenset(map(str, present)), apart)

    def _starting_with(self, key: str) -> Iterator[Term]:
        for stem in _stems(key):
            yield from self.terms.get(stem, ())


def _aliases(term: str, others: str) -> dict[str, str]:
    """The aliases of a term. Raises CappuncError for one that cannot be replaced word by word or by one word."""
    found = {" ".join(strip(part)[0].lower() for part in alias.split()): term.strip() for alias in others.split(",")}
    found.pop("", None)
    for alias in found:
        if len(term.split()) not in (1, alias.count(" ") + 1):
            raise CappuncError(f"“{alias}” must have as many words as “{term.strip()}”")
    return found


def _matches_at(term: Term, keys: Sequence[str], labels: Sequence[Label], at: int) -> bool:
    last = at + len(term.words) - 1
    if last >= len(keys):
        return False
    for label, dotted in zip(labels[at:last], term.dotted, strict=False):
        if label.mark in _ENDS and label.after and not (dotted and label.mark == "."):
            return False
    *head, end = map(_key, term.words)
    return list(keys[at:last]) == head and end in _stems(keys[last])


def _stems(key: str) -> Iterator[str]:
    """The key of a word, and the keys of its stems: without a possessive ending, without the parts after a hyphen."""
    yield key
    for ending in _ENDINGS:
        if key.endswith(ending) and len(key) > len(ending):
            yield key[: -len(ending)]
            return
    for hyphen in reversed(list(_JOINED.finditer(key))):
        yield key[: hyphen.start()]


def _key(word: str) -> str:
    """A key that ignores case and the form of apostrophes and hyphens."""
    return fold(word).translate(TYPEWRITER)


def parse_glossary(text: str, path: str | None = None) -> list[str]:
    """The terms of a glossary file; raises CappuncError with the line number of an invalid one.

    An XML file is a list of names of Subtitle Edit, of which those in its blacklist are no terms.
    """
    if re.match(r"\s*(?:<\?xml|<(?:ignore_)?(?:names|words)\b)", text.removeprefix("\ufeff"), re.IGNORECASE):
        return _names_of_subtitle_edit(text, path)
    terms = []
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        term = _COMMENT.sub("", line).strip()
        if not term:
            continue
        try:
            Glossary.of([term])
        except CappuncError as error:
            raise CappuncError(error.message, path, number) from error
        terms.append(term)
    return terms


def _names_of_subtitle_edit(text: str, path: str | None) -> list[str]:
    try:
        root = ElementTree.fromstring(text.removeprefix("\ufeff").strip().encode())
    except ElementTree.ParseError as error:
        raise CappuncError(f"broken XML: {error}", path, error.position[0]) from error
    return [one.text.strip() for one in root if one.tag in ("name", "word") and one.text and one.text.strip()]
