"""Glossary files, and a check which of their terms occur in no input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from cappunc_cli.document.labels import strip
from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.files.output import Reporter, counted
from cappunc_cli.files.storage import about, read_text
from cappunc_cli.restoration.terms import Glossary, Sightings, parse_glossary

#: Most terms listed in a message.
_LISTED = 10
#: Words of a stream that are checked at a time.
_BATCH = 1000
#: Words that are like a missing term are looked for in this many words of the inputs.
_MOST_WORDS = 200_000
#: Terms of fewer letters are like too many words.
_FEWEST_LETTERS = 5
#: The likeness, in per cent of the letters, of words that look like a term, and of words that sound like it.
_LOOKS_LIKE, _SOUNDS_LIKE = 80, 55


def load_glossaries(paths: Sequence[str]) -> Glossary:
    """The terms of all files; of two spellings of a term the last counts.

    Raises CappuncError, and WrongUsage for a file that cannot be opened.
    """
    return Glossary.of([term for path in paths for term in _terms(path)]) if paths else Glossary()


def _terms(path: str) -> list[str]:
    try:
        text, _ = read_text(path)
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
        self._terms = list(dict.fromkeys(str(term) for several in glossary.terms.values() for term in several))
        self._seen = Sightings()
        self._looked = 0
        #: Length of the longest term in characters.
        self.longest = max(map(len, self._terms), default=0)

    def check(self, texts: Sequence[str]) -> Sightings | None:
        """Look for the terms in the words of a file; returns what is new, None without a glossary."""
        if not self._terms:
            return None
        seen = self._glossary.sightings(texts)
        self.add(seen)
        known = self._seen.found | self._seen.apart.keys() | self._seen.near.keys()
        missing = [term for term in self._terms if term not in known]
        if missing and self._looked < _MOST_WORDS:
            self._looked += len(texts)
            seen = replace(seen, near=near_matches(missing, [strip(text)[0].lower() for text in texts]))
            self.add(seen)
        return seen

    def add(self, seen: Sightings) -> None:
        """Record terms that have been found."""
        old = self._seen
        self._seen = Sightings(seen.found | old.found, {**seen.apart, **old.apart}, {**seen.near, **old.near})

    def report(self, reporter: Reporter, where: str = "in no file") -> None:
        """Print the terms that were not found, if any, in one line, with what is written in their place."""
        missing = [term for term in self._terms if term not in self._seen.found]
        if not missing:
            return
        # "bio n tech" for BioNTech, "cynthia brazil" for Cynthia Breazeal.
        near = {term: f" (perhaps “{words}”)" for term, words in self._seen.near.items()}
        near |= {term: f" (but “{words}”)" for term, words in self._seen.apart.items()}
        listed = ", ".join(f"{term}{near.get(term, '')}" for term in missing[:_LISTED])
        rest = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        reporter.info(f"{counted(len(missing), 'glossary term')} found {where}: {listed}{rest}")


def near_matches(terms: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """The words of a text, in lower case, that look or sound most like a term, for each term that has any."""
    from rapidfuzz import fuzz, process  # only where a term is missing

    found: dict[str, str] = {}
    by_size: dict[int, dict[str, str]] = {}
    for term in terms:
        parts = term.lower().split()
        if sum(map(str.isalnum, term)) < _FEWEST_LETTERS:
            continue
        sounds: dict[str, str] = {}
        for size in range(max(len(parts) - 1, 1), len(parts) + 2):
            sounds |= by_size.setdefault(size, dict(_runs(words, size)))
        sound = "".join(map(_sound, parts))
        # The most alike first.
        like = process.extract(" ".join(parts), list(sounds), scorer=fuzz.ratio, score_cutoff=_SOUNDS_LIKE, limit=None)
        near = (
            run for run, likeness, _ in like if likeness >= _LOOKS_LIKE or (sounds[run] == sound and len(sound) > 2)
        )
        if best := next(near, None):
            found[term] = best
    return found


def _runs(words: Sequence[str], size: int) -> Iterator[tuple[str, str]]:
    """Every run of so many words, with its sound."""
    for run in dict.fromkeys(zip(*(words[at:] for at in range(size)), strict=False)):
        yield " ".join(run), "".join(map(_sound, run))


@cache
def _sound(word: str) -> str:
    """The phonetic key of a word, by Lawrence Philips' Double Metaphone."""
    from metaphone import doublemetaphone

    key: str = doublemetaphone(word)[0]
    return key


class StreamTermCheck:
    """Adds the words of one stream to a TermCheck, some at a time, in bounded memory."""

    def __init__(self, terms: TermCheck) -> None:
        self._terms = terms
        self._words: list[str] = []

    def take(self, word: str) -> None:
        """Add the next word."""
        self._words.append(word)
        if len(self._words) >= _BATCH + self._terms.longest:
            self.end()

    def end(self) -> None:
        """Check the words that have not been checked yet."""
        self._terms.check(self._words)
        # Keep enough words for a term that continues: spelled letter by letter it has this many.
        self._words = self._words[max(len(self._words) - self._terms.longest, 0) :]
