"""Where a file shows its words: each copy of a word, by numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, takewhile
from typing import NamedTuple

from cappunc_cli.transcript.run_lengths import RunLengthList

#: The number of no word.
NOBODY = -1


class Occurrence(NamedTuple):
    """A token of a stream, and the words whose case and mark it shows, all by their numbers.

    None: another word's spelling has no such end (`25` for "twenty five" has both, the
    "and" in "one hundred and five" against `105` neither). Where the same letters are cut
    into other words (`well-known` for "well known"), `letters` are the words from, to, and
    the number of their letters before this token's own.
    """

    stream: int
    token: int
    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


class Occurrences:
    """Places in columns, stream by stream."""

    __slots__ = ("_case_of", "_letters", "_mark_of", "_streams", "_tokens")

    def __init__(self) -> None:
        self._streams, self._tokens = RunLengthList(), array("I")
        self._case_of, self._mark_of = array("q"), array("q")
        self._letters: dict[int, tuple[int, int, int]] = {}

    def add(self, place: Occurrence) -> None:
        """Append a place."""
        if place.letters is not None:
            self._letters[len(self)] = place.letters
        self.add_all(
            place.stream,
            [place.token],
            [NOBODY if place.case_of is None else place.case_of],
            [NOBODY if place.mark_of is None else place.mark_of],
        )

    def add_all(self, stream: int, tokens: Iterable[int], case_of: Iterable[int], mark_of: Iterable[int]) -> None:
        """Append places without letters."""
        self._tokens.extend(tokens)
        self._case_of.extend(iter(case_of))
        self._mark_of.extend(iter(mark_of))
        if len(self._streams) < len(self._tokens):
            self._streams.add(stream, len(self._tokens) - len(self._streams))

    def renumber(self, start: int, numbers: Sequence[int], first: int) -> None:
        """From `start` on, the words have other numbers: `numbers`, which begin with that of word `first`."""
        for column in (self._case_of, self._mark_of):
            column[start:] = array("q", [n if n == NOBODY else numbers[n - first] for n in column[start:]])
        for i in list(takewhile(lambda i: i >= start, reversed(self._letters))):
            a, b, at = self._letters[i]
            self._letters[i] = numbers[a - first], numbers[b - 1 - first] + 1, at

    def whole(self, start: int) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
        """Of the places from `start` on that show one word and all of it: tokens and words, stream by stream.

        A stream shows a word once, and words in their order.
        """
        for stream, a, b in self._streams[start:].stretches():
            some = slice(start + a, start + b)
            tokens, words, marks = self._tokens[some], self._case_of[some], self._mark_of[some]
            if words != marks or NOBODY in words:
                good = [word == mark != NOBODY for word, mark in zip(words, marks, strict=True)]
                tokens, words = array("I", compress(tokens, good)), array("q", compress(words, good))
            yield stream or 0, tokens, words

    def changed(self, words: Sequence[int]) -> Iterator[Occurrence]:
        """The places that show a word that is true in `words`, which ends with a false one for nobody."""
        columns = zip(self._streams, self._tokens, self._case_of, self._mark_of, strict=True)
        letters = self._letters
        for i, (stream, token, case_of, mark_of) in enumerate(columns):
            if words[case_of] or words[mark_of] or i in letters:
                whose = None if case_of == NOBODY else case_of, None if mark_of == NOBODY else mark_of
                yield Occurrence(stream or 0, token, *whose, letters.get(i))

    def tokens(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The tokens of all places, stream by stream."""
        for stream, a, b in self._streams.stretches():
            yield stream or 0, self._tokens[a:b]

    def __len__(self) -> int:
        return len(self._tokens)
