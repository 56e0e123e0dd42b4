"""A run-length encoded list of integers, for the columns of words, cues and tokens."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress, islice, repeat
from operator import ne
from typing import ClassVar, overload


@dataclass(slots=True, repr=False)
class RunLengthList(Sequence[int | None]):
    """A list of integers and None that stores each run of equal values once.

    Values beyond ±2**62 are clipped.
    """

    #: The first index of each run, and its value.
    _starts: array[int] = field(default_factory=partial(array, "I"))
    _values: array[int] = field(default_factory=partial(array, "q"))
    _length: int = 0
    _last: int | None = field(default=None, compare=False)

    #: How None is stored, and where values are clipped.
    _NONE: ClassVar[int] = -(1 << 63)
    _LARGEST: ClassVar[int] = 1 << 62

    def add(self, value: int | None, count: int = 1) -> None:
        """Append a value `count` times, at least once."""
        if value != self._last or not self._length:
            self._starts.append(self._length)
            self._values.append(self._encoded(value))
            self._last = value
        self._length += count

    def _encoded(self, value: int | None) -> int:
        return self._NONE if value is None else max(-self._LARGEST, min(value, self._LARGEST))

    def extend(self, values: Iterable[int | None]) -> None:
        if isinstance(values, RunLengthList):
            self._extend_by_runs(values)
            return
        column = list(values)
        if column and column.count(column[0]) == len(column):
            self.add(column[0], len(column))
        elif column:
            self.add(column[0])
            offset, largest = self._length - 1, self._LARGEST
            starts: Sequence[int] = list(compress(range(1, len(column)), map(ne, islice(column, 1, None), column)))
            new = list(map(column.__getitem__, starts))
            self._starts.extend(map(offset.__add__, starts))
            if None in new or min(new) < -largest or max(new) > largest:  # type: ignore[type-var,operator]
                new = list(map(self._encoded, new))
            self._values.extend(new)  # type: ignore[arg-type]
            self._last, self._length = column[-1], offset + len(column)

    def _extend_by_runs(self, other: RunLengthList) -> None:
        if not other._length:
            return
        first = int(self._length > 0 and other[0] == self._last)
        starts = other._starts[first:]
        self._starts.extend(map(self._length.__add__, starts) if self._length else starts)
        self._values.extend(other._values[first:])
        self._last = other._last
        self._length += other._length

    def extend_from(self, values: Sequence[int | None], indices: Sequence[int]) -> None:
        """Append the value at each of these indices."""
        if isinstance(values, RunLengthList) and values.is_constant and indices:
            self.add(values[0], len(indices))
        else:
            self.extend(map(list(values).__getitem__, indices))

    @property
    def is_constant(self) -> bool:
        """Whether all values are equal."""
        return len(self._values) <= 1

    def stretches(self) -> Iterator[tuple[int | None, int, int]]:
        """(value, start, stop) of each run of equal values."""
        stops = chain(islice(self._starts, 1, None), (self._length,))
        return zip(self._decoded(), self._starts, stops, strict=False)

    def stretch_ends(self) -> list[bool]:
        """Whether the value after each one differs; False for the last one."""
        ends = [False] * self._length
        for start in islice(self._starts, 1, None):
            ends[start - 1] = True
        return ends

    def _decoded(self) -> Iterator[int | None]:
        none = self._NONE
        return (None if value == none else value for value in self._values)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int | None]:
        if len(self._values) == self._length:
            return self._decoded()
        return chain.from_iterable(repeat(value, stop - start) for value, start, stop in self.stretches())

    @overload
    def __getitem__(self, at: int) -> int | None: ...

    @overload
    def __getitem__(self, at: slice) -> RunLengthList: ...

    def __getitem__(self, at: int | slice) -> int | RunLengthList | None:
        if not isinstance(at, slice):
            if not -self._length <= at < self._length:
                raise IndexError(at)
            value = self._values[bisect_right(self._starts, at if at >= 0 else at + self._length) - 1]
            return None if value == self._NONE else value
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
            part._last = self[stop - 1]
            part._length = stop - start
        return part
