"""A weak cache keyed by result."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from fairspace.submissions.results.result import Result

Cached = TypeVar("Cached")


class ByResult(Generic[Cached]):
    """A value for each result, dropped with the result. Safe for several threads, as long as equal values are put."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[Result], Cached]] = {}

    def get(self, result: Result) -> Cached | None:
        """The value of this very result (not of an equal one); None if there is none."""
        entry = self._kept.get(id(result))
        return entry[1] if entry is not None and entry[0]() is result else None

    def get_or_make(self, result: Result | None, make: Callable[[], Cached]) -> Cached:
        """The value of a result, made the first time; without a result, of a printed row, it is made each time."""
        if result is None:
            return make()
        kept = self.get(result)
        if kept is None:
            kept = make()
            self.put(result, kept)
        return kept

    def put(self, result: Result, value: Cached) -> None:
        """Keep a value until nobody holds its result any more."""
        key = id(result)

        def forget(gone: weakref.ref[Result]) -> None:
            entry = self._kept.get(key)
            if entry is not None and entry[0] is gone:
                self._kept.pop(key, None)

        self._kept[key] = (weakref.ref(result, forget), value)
