"""A column of objects of which few differ (words, labels): what is asked of each is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
U = TypeVar("U")
Codes = npt.NDArray[np.intp]


class Categorical(Sequence[T], Generic[T]):
    """The objects at the places [n] of a column: `values` has those that differ, `codes` [n] their numbers.

    Two values may be equal, and of some there may be no place. Neither list is to be changed.
    """

    def __init__(self, values: list[T], codes: Codes) -> None:
        self.values, self.codes = values, codes

    @classmethod
    def of(cls, items: Iterable[T]) -> Self:
        """The items as such a column, which they may be already."""
        if isinstance(items, cls):
            return items
        column = list(items)
        keys = cls.keys(column)
        values = dict(zip(keys, column, strict=True))
        numbers = dict(zip(values, range(len(values)), strict=True))
        return cls(list(values.values()), np.fromiter(map(numbers.__getitem__, keys), np.intp, len(column)))

    @staticmethod
    def keys(items: list[T]) -> list[Any]:
        """Keys that tell the items apart."""
        return items

    def column(self, of: Callable[[T], Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
        """The value of a function for each object, [n]."""
        found: npt.NDArray[Any] = np.fromiter(map(of, self.values), dtype, len(self.values))[self.codes]
        return found

    def crossed(
        self, numbers: npt.NDArray[np.integer[Any]], count: int, make: Callable[[T, int], U]
    ) -> tuple[list[U], Codes]:
        """Values and codes of what a function makes of each object and its number: `numbers` [n] are below `count`."""
        both = self.codes * count + numbers
        used = np.flatnonzero(np.bincount(both, minlength=1))
        codes = np.empty(used[-1] + 1 if len(used) else 0, np.intp)
        codes[used] = np.arange(len(used))
        return [make(self.values[code // count], code % count) for code in used.tolist()], codes[both]

    def changed(self, changes: Mapping[int, T]) -> Self:
        """The same with other objects at some places."""
        if not changes:
            return self
        others = type(self).of(changes.values())
        codes = self.codes.copy()
        codes[list(changes)] = others.codes + len(self.values)
        return type(self)([*self.values, *others.values], codes)

    def taken(self, places: Codes) -> Self:
        """The items at some places."""
        return type(self)(self.values, self.codes[places])

    @cached_property
    def ids(self) -> Codes:
        """Which object stands at each place, [n]."""
        ids: Codes = self.column(id, np.intp)
        return ids

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[T]:
        return map(self.values.__getitem__, self.codes.tolist())

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: int | slice) -> T | Self:
        if isinstance(at, slice):
            return type(self)(self.values, self.codes[at])
        return self.values[int(self.codes[at])]
