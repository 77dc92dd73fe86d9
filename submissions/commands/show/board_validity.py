"""What `fairspace standard validate` prints of a board: reliability over models, methods, other benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.commands.show.validity import figure, share
from fairspace.submissions.validity.board_report import BoardReport, CohortReport, by_reason
from fairspace.submissions.validity.convergence import Convergence
from fairspace.submissions.validity.decision import GOOD
from fairspace.submissions.validity.methods import MethodPair, Shift
from fairspace.submissions.validity.model_reliability import ModelReliability
from fairspace.submissions.validity.rank_correlation import FEWEST, RankCorrelation

LOW = 0.5
"""Rank correlations of one value by two methods that are printed by name: smaller ones."""


def show_board_validity(report: BoardReport) -> None:
    """Print what the rows of a board say."""
    title = benchmark(report.benchmark).title
    for cohort in report.cohorts:
        show.line("")
        show.line(f"{title}, {cohort.cohort}: {', '.join(cohort.models)}", style="bold")
        _cohort(cohort)
    for kind, pairs in report.convergence.items():
        _convergence(kind, pairs)


def _cohort(cohort: CohortReport) -> None:
    if cohort.methods:
        _methods(cohort.methods)
    if cohort.shifts:
        _shifts(cohort.shifts)
    if cohort.reliability:
        _reliability(cohort.reliability)
    show.notes(cohort.notes)


def _methods(pairs: Sequence[MethodPair]) -> None:
    rows = [
        (
            f"{pair.first} / {pair.second}",
            pair.models,
            len(pair.values),
            share(pair.convergent),
            share(pair.others),
            "–" if pair.higher is None else f"{pair.higher:.0%}",
        )
        for pair in pairs
        if not pair.reason
    ]
    if rows:
        headers = ("two methods", "models", "values", "same value", "other values", "higher")
        show.table("Order of the models by two methods (median rho)", headers, rows)
    for pair in pairs:
        low = {name: c.rho for name, c in pair.values.items() if c.rho is not None and c.rho < LOW}
        if low:
            listed = ", ".join(f"{name} {rho:.2f}" for name, rho in low.items())
            show.line(f"{pair.first} / {pair.second} below {LOW}: {listed}.")
    _reasons("methods", ((f"{pair.first} / {pair.second}", pair.reason) for pair in pairs))


def _shifts(shifts: Sequence[Shift]) -> None:
    rows = [
        (
            shift.method,
            shift.results,
            shift.values,
            shift.beyond,
            "–" if shift.errors is None else f"{shift.largest}, {figure(shift.errors)}",
        )
        for shift in shifts
    ]
    headers = ("other method", "results", "values", "> 2 errors", "most, in errors")
    show.table("What another method moves", headers, rows)


def _reliability(values: Sequence[ModelReliability]) -> None:
    rows = [
        (
            value.value,
            value.models,
            figure(value.spread),
            figure(value.error),
            share(value.coefficient),
            "–" if value.times is None else f"{figure(value.times)} times",
        )
        for value in values
        if value.spread is not None
    ]
    if rows:
        headers = ("value", "models", "differ by", "error", "coefficient", f"samples for {GOOD:g}")
        show.table("How well the models are told apart", headers, rows)
    _reasons("values", ((value.value, value.reason) for value in values if value.coefficient is None))


def _convergence(kind: str, pairs: Sequence[Convergence]) -> None:
    """The pairs of measures with a correlation as a table, the others by their number of models in a sentence."""
    rows = [
        (f"{c.first} / {c.second}", c.correlation.models, share(c.correlation.rho), _ends(c.correlation))
        for c in pairs
        if c.correlation.rho is not None
    ]
    if rows:
        show.line("")
        title = f"Measures of one construct by two benchmarks, over {kind}"
        show.table(title, ("two measures", "models", "rho", "95 % interval"), rows)
    few = [c for c in pairs if c.correlation.models < FEWEST]
    if few:
        counts = "; ".join(f"{c.first} with {c.second} ({c.correlation.models})" for c in few)
        show.line("")
        show.line(f"Too few {kind} in common for a rank correlation, which needs {FEWEST}: {counts}.")


def _ends(correlation: RankCorrelation) -> str:
    return "–" if correlation.low is None else f"{correlation.low:.2f} to {correlation.high:.2f}"


def _reasons(what: str, named: Iterable[tuple[str, str]]) -> None:
    """Every reason once, with what it is of."""
    for reason, names in by_reason(named).items():
        of = names[0] if len(names) == 1 else f"{len(names)} {what}"
        show.line(f"No figure of {of}: {reason}.")
