"""Candidates for the cells of a plan, and the choice among them.

Candidates of a cell are ordered by sha256(seed, key), so the choice does not depend on the calls that added them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class Candidate(NamedTuple):
    """A candidate for a cell: `key` names it, `data` is kept for the builder."""

    key: str
    cell: str
    data: Any


class Chosen(NamedTuple):
    """A candidate that entered a cell, at `place` 0, 1, ... of it."""

    cell: str
    place: int
    key: str
    data: Any


class PlanStore:
    """Candidates in memory; `seed` decides their order within a cell."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._candidates: dict[str, Candidate] = {}

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Add candidates. A repeated one changes nothing; ValueError for a known key with other content."""
        for candidate in candidates:
            known = self._candidates.setdefault(candidate.key, candidate)
            if known != candidate:
                raise ValueError(f"{candidate.key} stands in the plan as {tuple(known)}, not as {tuple(candidate)}")

    def counts(self) -> dict[str, int]:
        """Cell -> candidates, in the order of the cells' names."""
        return dict(sorted(Counter(candidate.cell for candidate in self._candidates.values()).items()))

    def select(self, per_cell: int | Mapping[str, int], order: Sequence[str] | None = None) -> list[Chosen]:
        """The first candidates of each named cell, at most `per_cell`, by `order` of the cells or their names."""
        by_cell: dict[str, list[Candidate]] = {}
        for candidate in self._candidates.values():
            by_cell.setdefault(candidate.cell, []).append(candidate)
        chosen = []
        for cell in sorted(by_cell) if order is None else order:
            limit = per_cell if isinstance(per_cell, int) else per_cell.get(cell, 0)
            first = sorted(by_cell.get(cell, []), key=self._rank)[:limit]
            chosen += [Chosen(cell, place, each.key, each.data) for place, each in enumerate(first)]
        return chosen

    def _rank(self, candidate: Candidate) -> bytes:
        return hashlib.sha256(f"{self.seed}/{candidate.key}".encode()).digest()
