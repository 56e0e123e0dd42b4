"""The places where a file shows its words: all copies, by numbers of streams, tokens and words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, takewhile
from typing import NamedTuple

from cappunc_cli.formats.json.columns import RunLengthList

#: In place of the number of a word: there is none.
NO_WORD = -1


class Occurrence(NamedTuple):
    """A token of a stream, and the words whose case and whose mark it shows, all as numbers.

    `case_of` and `mark_of` are None for tokens that are not the first or the last one of another spelling: `25` for
    "twenty five" has both, but the "and" in "one hundred and five" for `105` has neither. Where the same letters
    are split into other words (`well-known` for "well known"), `letters` are the first word, the one after the
    last, and the number of their letters that come before this token.
    """

    stream: int
    token: int
    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


class Occurrences:
    """Occurrences in columns, stream by stream."""

    __slots__ = ("_case_of", "_letters", "_mark_of", "_streams", "_tokens")

    def __init__(self) -> None:
        self._streams, self._tokens = RunLengthList(), array("I")
        self._case_of, self._mark_of = array("q"), array("q")
        self._letters: dict[int, tuple[int, int, int]] = {}

    def add(self, place: Occurrence) -> None:
        """Append an occurrence."""
        if place.letters is not None:
            self._letters[len(self)] = place.letters
        self.add_all(
            place.stream,
            [place.token],
            [NO_WORD if place.case_of is None else place.case_of],
            [NO_WORD if place.mark_of is None else place.mark_of],
        )

    def add_all(self, stream: int, tokens: Iterable[int], case_of: Iterable[int], mark_of: Iterable[int]) -> None:
        """Append occurrences without `letters`."""
        self._tokens.extend(tokens)
        self._case_of.extend(iter(case_of))
        self._mark_of.extend(iter(mark_of))
        if len(self._streams) < len(self._tokens):
            self._streams.add(stream, len(self._tokens) - len(self._streams))

    def renumber(self, start: int, numbers: Sequence[int], first: int) -> None:
        """Change the numbers of words in the occurrences from `start` on: word n becomes numbers[n - first]."""
        for column in (self._case_of, self._mark_of):
            column[start:] = array("q", [n if n == NO_WORD else numbers[n - first] for n in column[start:]])
        for i in list(takewhile(lambda i: i >= start, reversed(self._letters))):
            a, b, at = self._letters[i]
            self._letters[i] = numbers[a - first], numbers[b - 1 - first] + 1, at

    def single_words(self, start: int) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
        """Yield (stream, tokens, words) of the occurrences from `start` on whose token is exactly one word.

        Each stream shows a word at most once, and words in their order.
        """
        for stream, a, b in self._streams[start:].stretches():
            span = slice(start + a, start + b)
            tokens, words, marks = self._tokens[span], self._case_of[span], self._mark_of[span]
            if words != marks or NO_WORD in words:
                single = [word == mark != NO_WORD for word, mark in zip(words, marks, strict=True)]
                tokens, words = array("I", compress(tokens, single)), array("q", compress(words, single))
            yield stream or 0, tokens, words

    def changed(self, flags: Sequence[int]) -> Iterator[Occurrence]:
        """The occurrences of words whose flag is set; the last flag is for tokens without a word (NO_WORD)."""
        columns = zip(self._streams, self._tokens, self._case_of, self._mark_of, strict=True)
        letters = self._letters
        for i, (stream, token, case_of, mark_of) in enumerate(columns):
            if flags[case_of] or flags[mark_of] or i in letters:
                words = None if case_of == NO_WORD else case_of, None if mark_of == NO_WORD else mark_of
                yield Occurrence(stream or 0, token, *words, letters.get(i))

    def tokens(self) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield (stream, tokens) of all occurrences, stream by stream."""
        for stream, a, b in self._streams.stretches():
            yield stream or 0, self._tokens[a:b]

    def __len__(self) -> int:
        return len(self._tokens)
