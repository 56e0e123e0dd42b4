"""Columns of numbers that store runs of equal values once."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, islice, repeat
from operator import sub
from typing import overload

#: How a RunLengthList stores None, and where it clips values.
_NONE = -(1 << 63)
_LEAST, _LARGEST = -(1 << 62), 1 << 62
_DECODED = {_NONE: None}


@dataclass(slots=True, repr=False)
class RunLengthList(Sequence[int | None]):
    """A list of integers and None that stores each run of equal values once, for columns of words, cues and tokens.

    Values beyond ±2**62 are clipped.
    """

    #: The first index of each run, and its value.
    _starts: array[int] = field(default_factory=partial(array, "I"))
    _values: array[int] = field(default_factory=partial(array, "q"))
    _length: int = 0

    def add(self, value: int | None, count: int = 1) -> None:
        """Append a value `count` times, at least once."""
        if value is None:
            value = _NONE
        elif not _LEAST <= value <= _LARGEST:
            value = _LARGEST if value > 0 else _LEAST
        if not self._length or value != self._values[-1]:
            self._starts.append(self._length)
            self._values.append(value)
        self._length += count

    def extend(self, values: Iterable[int | None]) -> None:
        """Append values."""
        for value, run in groupby(values):
            self.add(value, len(list(run)))

    def extend_from(self, values: Sequence[int | None], indices: Sequence[int]) -> None:
        """Append the value at each of these indices."""
        self.extend(map(list(values).__getitem__, indices))

    def stretches(self) -> Iterator[tuple[int | None, int, int]]:
        """(value, start, stop) of each run of equal values."""
        stops = chain(islice(self._starts, 1, None), (self._length,))
        return zip(map(_DECODED.get, self._values, self._values), self._starts, stops, strict=False)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int | None]:
        values = map(_DECODED.get, self._values, self._values)
        if len(self._values) == self._length:
            return values
        stops = chain(islice(self._starts, 1, None), (self._length,))
        return chain.from_iterable(map(repeat, values, map(sub, stops, self._starts)))

    @overload
    def __getitem__(self, at: int) -> int | None: ...

    @overload
    def __getitem__(self, at: slice) -> RunLengthList: ...

    def __getitem__(self, at: int | slice) -> int | RunLengthList | None:
        if not isinstance(at, slice):
            if not -self._length <= at < self._length:
                raise IndexError(at)
            value = self._values[bisect_right(self._starts, at if at >= 0 else at + self._length) - 1]
            return None if value == _NONE else value
        start, stop, step = at.indices(self._length)
        if step != 1:
            raise ValueError("slices with a step are not supported")
        part = RunLengthList()
        if start < stop:
            first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop)
            starts = self._starts[first + 1 : last]
            part._starts.append(0)
            part._starts.extend(map((-start).__add__, starts) if start else starts)
            part._values = self._values[first:last]
            part._length = stop - start
        return part
