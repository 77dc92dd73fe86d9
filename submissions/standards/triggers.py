"""When IRIS needs a next standard (A.3.4): what of the triggers a board shows.

Ceiling: more than five new models from different institutions reach 85 in at least two dimensions. A dimension is one
of the sectors, "the six core dimensions (e.g., IFS_Und)" of A.2.3; how many models reach it in two of IFS, RFS and BIS,
the "three core dimensions" of A.3.2, is counted beside it and decides nothing. A new model is one that was scored here,
is ranked (so it passes the floors of competence) and is not of the standard's cohort; printed rows and baselines are
none. The worst case over the missing samples must reach 85, as ranks go by it; how many still do at the low end of the
95 % interval of that worst case is counted, too. Institutions differ if their names do, but for case and spaces; people
look at the list.

New dimensions: that the field agrees on fairness challenges which IFS, RFS and BIS do not capture is for people to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.values import Value

HIGH = 85.0
DIMENSIONS = 2
MORE_THAN = 5
NEW_DIMENSIONS = "whether IFS, RFS and BIS still capture what matters is for people to decide (A.3.4)"


@dataclass(frozen=True)
class Reached:
    """A new model that reaches the high mark in at least two sectors.

    Args:
        entry, model, organisation: of its row.
        sectors: sector -> its score in the worst case, for those that reach the mark.
        surely: the sectors that reach it at the low end of the worst case's interval, too; None where no interval was
            made.
    """

    entry: str
    model: str
    organisation: str
    sectors: Mapping[str, float]
    surely: tuple[str, ...] | None

    @property
    def dimensions(self) -> int:
        """How many of IFS, RFS and BIS the sectors belong to."""
        return len({sector.partition("_")[0] for sector in self.sectors})


@dataclass(frozen=True)
class Succession:
    """What a board says of the triggers.

    Args:
        standard: under which.
        looked_at: how many new models there are.
        reached: those that count, by model.
        institutions: how many different ones these are from.
        institutions_of_three: how many, if two of IFS, RFS and BIS are asked for.
        institutions_surely: how many, if the low end of the interval must reach the mark.
        unknown: of `reached`, how many have no interval: they keep no draws, or none was asked for.
        met: whether the ceiling trigger is met.
    """

    standard: str
    looked_at: int
    reached: tuple[Reached, ...]
    institutions: int
    institutions_of_three: int
    institutions_surely: int
    unknown: int
    met: bool


def succession(
    rows: Sequence[Row], standard: str, sectors: Sequence[str], cohort: Sequence[str], intervals: int | None = None
) -> Succession:
    """What the rows of a board under a standard say of the triggers.

    Args:
        rows: the board under the standard.
        standard: its name.
        sectors: its sectors.
        cohort: the models that it was calibrated on, which are not new.
        intervals: for how many models intervals are made at most, the best ranked first; for all if None.
    """
    old = {_key(name) for name in cohort}
    new = [row for row in rows if row.provenance == "scored here" and row.rank is not None]
    new = [row for row in new if _key(row.model) not in old]
    candidates = [row for row in new if len(_high(row, sectors)) >= DIMENSIONS]
    sure = {row.entry: row for row in with_errors(candidates[:intervals], standard)}
    reached_models = [
        Reached(row.entry, row.model, row.organisation, _high(row, sectors), _surely(sure.get(row.entry), sectors))
        for row in candidates
    ]
    reached = sorted(reached_models, key=lambda candidate: _key(candidate.model))
    count = _institutions(reached)
    return Succession(
        standard,
        len(new),
        tuple(reached),
        count,
        _institutions(candidate for candidate in reached if candidate.dimensions >= DIMENSIONS),
        _institutions(
            candidate for candidate in reached if candidate.surely is not None and len(candidate.surely) >= DIMENSIONS
        ),
        sum(candidate.surely is None for candidate in reached),
        count > MORE_THAN,
    )


def _high(row: Row, sectors: Sequence[str]) -> dict[str, float]:
    """Sector -> its score in the worst case, where that reaches the mark."""
    lows = {sector: row.scores[sector].low for sector in sectors}
    return {sector: low for sector, low in lows.items() if low is not None and low >= HIGH}


def _surely(row: Row | None, sectors: Sequence[str]) -> tuple[str, ...] | None:
    """The sectors whose worst case reaches the mark at the low end of its interval, too."""
    if row is None or row.result is None or row.result.draws is None:
        return None
    return tuple(name for name, low in _high(row, sectors).items() if _at_least(row.scores[name], low) >= HIGH)


def _at_least(score: Value, worst: float) -> float:
    """The low end of the interval of the worst case: that of `value`, times low / value."""
    return -math.inf if score.uncertainty is None or not score.value else score.uncertainty.low * worst / score.value


def _institutions(reached: Iterable[Reached]) -> int:
    return len({_key(candidate.organisation) for candidate in reached})


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
