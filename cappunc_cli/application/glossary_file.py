"""A user's glossaries, read from their files, and which of their terms no file has."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about, checked_name, read_text
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.terms import Glossary, Sightings, parse_glossary

#: Terms that are named in one line; of more there is a number.
_MOST = 10


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

    def look(self, texts: Sequence[str]) -> None:
        """Look for the terms in the words of a file."""
        if self._glossary.terms:
            self.hear(self._glossary.sightings(texts))

    def hear(self, seen: Sightings) -> None:
        self._found |= seen.found
        self._apart = {**seen.apart, **self._apart}

    def tell(self, reporter: Reporter) -> None:
        """One line about the terms that no file has, if there are any."""
        every = dict.fromkeys(str(term) for several in self._glossary.terms.values() for term in several)
        missing = [term for term in every if term not in self._found]
        if not missing:
            return
        named = [f"{term} (“{self._apart[term]}” is there)" if term in self._apart else term for term in missing]
        rest = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
        what = "a term" if len(missing) == 1 else f"{len(missing)} terms"
        reporter.info(f"{what} of the glossary in no file: {', '.join(named[:_MOST])}{rest}")
