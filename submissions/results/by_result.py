"""What was made of results, kept as long as these are there."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

from fairspace.submissions.results.result import Result

Made = TypeVar("Made")


class ByResult(Generic[Made]):
    """What was made of each result. Safe for several threads: what is made twice is the same."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[Result], Made]] = {}

    def get(self, result: Result) -> Made | None:
        """What was made of this very result, None if nothing was."""
        found = self._kept.get(id(result))
        return found[1] if found is not None and found[0]() is result else None

    def put(self, result: Result, made: Made) -> None:
        """Keep what was made of a result until nobody holds the result any more."""
        key = id(result)

        def forget(gone: weakref.ref[Result]) -> None:
            found = self._kept.get(key)
            if found is not None and found[0] is gone:
                self._kept.pop(key, None)

        self._kept[key] = (weakref.ref(result, forget), made)
