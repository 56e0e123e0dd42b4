"""A user's glossaries, read from their files, and which of their terms no file has."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about, checked_name, read_text
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.terms import Glossary, Sightings, parse_glossary

#: Terms that are named in one line; of more there is a number.
_MOST = 10
#: Words of a stream that are looked at together.
_TOGETHER = 1000


def load_glossaries(paths: Sequence[str] | None) -> Glossary:
    """The terms of all files together; of two spellings the later counts.

    Raises CappuncError, and WrongUsage where there is no such file.
    """
    return Glossary.of([term for path in paths or () for term in _terms(path)])


def _terms(path: str) -> list[str]:
    try:
        text, _ = read_text(checked_name(path))
    except OSError as error:
        raise WrongUsage(f"--glossary: {about(error, path)}") from error
    except CappuncError as error:
        raise about(error, path) from error
    return parse_glossary(text, path)


class TermCheck:
    """Hears which terms of a glossary each file has; knows those that none has."""

    def __init__(self, glossary: Glossary) -> None:
        self._glossary = glossary
        self._found: set[str] = set()
        self._apart: dict[str, str] = {}
        #: Letters of the longest term.
        self.longest = max((len(str(term)) for several in glossary.terms.values() for term in several), default=0)

    def look(self, texts: Sequence[str]) -> None:
        """Look for the terms in the words of a file."""
        if self._glossary.terms:
            self.hear(self._glossary.sightings(texts))

    def hear(self, seen: Sightings) -> None:
        self._found |= seen.found
        self._apart = {**seen.apart, **self._apart}

    def tell(self, reporter: Reporter, where: str = "in no file") -> None:
        """One line about the terms that no file has, if there are any."""
        every = dict.fromkeys(str(term) for several in self._glossary.terms.values() for term in several)
        missing = [term for term in every if term not in self._found]
        if not missing:
            return
        named = [f"{term} (“{self._apart[term]}” is there)" if term in self._apart else term for term in missing]
        rest = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
        what = "a term" if len(missing) == 1 else f"{len(missing)} terms"
        reporter.info(f"{what} of the glossary {where}: {', '.join(named[:_MOST])}{rest}")


class StreamTermCheck:
    """The same of one stream: its words come one by one, and few of them are remembered."""

    def __init__(self, terms: TermCheck) -> None:
        self._terms = terms
        self._words: list[str] = []
        self._known = 0

    def take(self, word: str) -> None:
        """Hear the next word."""
        self._words.append(word)
        if len(self._words) - self._known >= _TOGETHER:
            self.end()

    def end(self) -> None:
        """Look at what has not been looked at yet."""
        if len(self._words) > self._known:
            self._terms.look(self._words)
        # A term may begin in these words and end in the next: said letter by letter, it is this long.
        self._words = self._words[max(len(self._words) - self._terms.longest, 0) :]
        self._known = len(self._words)
