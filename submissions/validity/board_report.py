"""What the rows of a board say of their benchmark: reliability over models, agreement of methods, convergence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import Provenance, Row
from fairspace.submissions.validity.convergence import Convergence, convergences
from fairspace.submissions.validity.methods import MethodPair, Shift, method_pairs, method_tables, shifts
from fairspace.submissions.validity.model_reliability import ModelReliability, model_reliabilities

COHORTS: Mapping[str, tuple[Provenance, ...]] = {
    "models of the paper": ("published",),
    "models scored here": ("scored here",),
    "baselines": ("baseline",),
}
"""Whom figures are over, each apart: printed rows have other protocols, and baselines are no models."""


@dataclass(frozen=True)
class CohortReport:
    """One cohort of a board's rows.

    Args:
        cohort: one of `COHORTS`, with their protocols where there are several.
        models: who is in it.
        reliability: of the values that scores are made of; empty where no row keeps draws.
        methods: every two of them; empty where all rows have one.
        shifts: what other methods move in the results.
        notes: why something is not there.
    """

    cohort: str
    models: tuple[str, ...]
    reliability: tuple[ModelReliability, ...]
    methods: tuple[MethodPair, ...]
    shifts: tuple[Shift, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardReport:
    """What is said of one benchmark.

    Args:
        benchmark: its name.
        cohorts: that have a row.
        convergence: of its measures with those of other benchmarks: over models, then over baselines.
    """

    benchmark: str
    cohorts: tuple[CohortReport, ...]
    convergence: Mapping[str, tuple[Convergence, ...]]

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def by_reason(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Reason -> the names of what has no figure for it; names without a reason are left out."""
    names: dict[str, list[str]] = {}
    for name, reason in named:
        if reason:
            names.setdefault(reason, []).append(name)
    return names


def board_report(benchmark: str, rows: Mapping[str, Sequence[Row]]) -> BoardReport:
    """What the rows of a benchmark's board say, and those of the others beside them.

    Args:
        benchmark: its name.
        rows: benchmark -> the rows of its board.
    """
    title = find_benchmark(benchmark).title
    kinds = {"models": ("published", "scored here"), "baselines": ("baseline",)}
    by_kind = {
        kind: {name: [row for row in of if row.provenance in provenances] for name, of in rows.items()}
        for kind, provenances in kinds.items()
    }
    cohorts = []
    for name, provenances in COHORTS.items():
        mine = [row for row in rows[benchmark] if row.provenance in provenances]
        groups = list(dict.fromkeys(row.group for row in mine))
        for group in groups:
            called = name if len(groups) == 1 else f"{name}, {group}"
            cohorts.append(_cohort(benchmark, called, [row for row in mine if row.group == group]))
    convergence = {
        kind: tuple(c for c in convergences(of) if title in (c.first.split(", ")[0], c.second.split(", ")[0]))
        for kind, of in by_kind.items()
    }
    return BoardReport(benchmark, tuple(cohorts), convergence)


def _cohort(benchmark: str, name: str, rows: Sequence[Row]) -> CohortReport:
    drawn = find_benchmark(benchmark).drawn
    with_draws = any(row.result is not None and row.result.draws is not None for row in rows)
    names = [value for value in rows[0].values if value in drawn] if with_draws else []
    tables = method_tables(rows)
    scored = {value for row in rows for value in row.scores}
    known = dict.fromkeys(name for models in tables.values() for numbers in models.values() for name in numbers)
    traits = [name for name in known if name in drawn | scored]
    pairs = method_pairs(tables, traits)
    notes = []
    if not with_draws:
        notes.append("No reliability over models: their rows keep no draws.")
    if not pairs:
        notes.append("No table of methods: every value is measured by one method.")
    return CohortReport(
        name,
        tuple(dict.fromkeys(row.model for row in rows)),
        tuple(model_reliabilities(rows, names)),
        tuple(pairs),
        tuple(shifts(rows)),
        tuple(notes),
    )
