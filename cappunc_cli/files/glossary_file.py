"""Glossary files, and a check which of their terms occur in no input."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import about, checked_name, read_text
from cappunc_cli.restore.terms import Glossary, Sightings, parse_glossary

#: Most terms listed in a message.
_LISTED = 10
#: Words of a stream that are checked at a time.
_BATCH = 1000


def load_glossaries(paths: Sequence[str] | None) -> Glossary:
    """The terms of all files; of two spellings of a term the last counts.

    Raises CappuncError, and WrongUsage for a file that cannot be opened.
    """
    return Glossary.of([term for path in paths or () for term in _terms(path)])


def _terms(path: str) -> list[str]:
    try:
        text, _ = read_text(checked_name(path))
    except OSError as error:
        raise WrongUsage(f"--glossary: {about(error, path)}") from error
    except CappuncError as error:
        raise about(error, path) from error
    if "\0" in text:
        raise BadInput("is not a text file", path)
    return parse_glossary(text, path)


class TermCheck:
    """Records which terms of a glossary occur in the inputs, to report those that occur in none."""

    def __init__(self, glossary: Glossary) -> None:
        self._glossary = glossary
        self._found: set[str] = set()
        #: Missing terms that occur in another spelling ("bio n tech" for BioNTech).
        self._apart: dict[str, str] = {}
        #: Length of the longest term in characters.
        self.longest = max((len(str(term)) for several in glossary.terms.values() for term in several), default=0)

    def check(self, texts: Sequence[str]) -> None:
        """Look for the terms in the words of a file."""
        if self._glossary.terms:
            self.add(self._glossary.sightings(texts))

    def add(self, seen: Sightings) -> None:
        """Record terms that have been found."""
        self._found |= seen.found
        self._apart = {**seen.apart, **self._apart}

    def report(self, reporter: Reporter, where: str = "in no file") -> None:
        """Print the terms that were not found, if any, in one line."""
        every = dict.fromkeys(str(term) for several in self._glossary.terms.values() for term in several)
        missing = [term for term in every if term not in self._found]
        if not missing:
            return
        named = [f"{term} (but “{self._apart[term]}”)" if term in self._apart else term for term in missing]
        rest = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        count = "1 glossary term" if len(missing) == 1 else f"{len(missing)} glossary terms"
        reporter.info(f"{count} found {where}: {', '.join(named[:_LISTED])}{rest}")


class StreamTermCheck:
    """Adds the words of one stream to a TermCheck, one by one, in bounded memory."""

    def __init__(self, terms: TermCheck) -> None:
        self._terms = terms
        self._words: list[str] = []
        #: How many of the words have been checked.
        self._known = 0

    def take(self, word: str) -> None:
        """Add the next word."""
        self._words.append(word)
        if len(self._words) - self._known >= _BATCH:
            self.end()

    def end(self) -> None:
        """Check the words that have not been checked yet."""
        if len(self._words) > self._known:
            self._terms.check(self._words)
        # Keep enough words for a term that continues: spelled letter by letter it has this many.
        self._words = self._words[max(len(self._words) - self._terms.longest, 0) :]
        self._known = len(self._words)
