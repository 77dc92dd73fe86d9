"""Agreement of methods: do another judge, another parser or another labeller put the models in the same order?

A multitrait-multimethod table (Campbell and Fiske 1959) over models: traits are values, methods are the instrument of
a result and those of its variants, or several evaluators of one printed model. Two methods converge if their numbers of
one value go together, and they tell values apart if these go together more than their numbers of different values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median_low

import numpy as np

from fairspace.submissions.results.row import Row
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.validity.rank_correlation import FEWEST, RankCorrelation, rank_correlation

MAIN = "as scored"
"""The method that a result's values are measured by."""
_LEAST_ERROR = 1e-9
"""A smaller standard error is what rounding leaves of one value in all draws."""
Numbers = Mapping[str, float]
Tables = Mapping[str, Mapping[str, Numbers]]
"""Method -> model -> value -> number."""


@dataclass(frozen=True)
class MethodPair:
    """Two methods over the models that both measured.

    Args:
        first: a method.
        second: another.
        models: that both measured.
        values: name -> the correlation of its numbers by both methods.
        convergent: median of those that are defined; None if none is.
        others: median of the correlations, by both methods, of different values, without their signs; None if none is.
        higher: share of those that are below the correlations of their own values (Campbell and Fiske's criterion).
        reason: why nothing is defined; '' if something is.
    """

    first: str
    second: str
    models: int
    values: Mapping[str, RankCorrelation]
    convergent: float | None
    others: float | None
    higher: float | None
    reason: str = ""


@dataclass(frozen=True)
class Shift:
    """How far another method moves the values of results.

    Args:
        method: the other method.
        results: that have it.
        values: that it gives another number to, in the middle one of the results.
        beyond: of these, how many it moves by more than twice their standard error, in the middle one of the results.
        model: whose value is moved most, in standard errors; '' if no error is known.
        largest: that value.
        errors: by how many; None if no error is known.
    """

    method: str
    results: int
    values: int
    beyond: int
    model: str
    largest: str
    errors: float | None


def method_tables(rows: Sequence[Row]) -> Tables:
    """The numbers of the rows' models by method.

    Rows of one model in several cohorts are several methods (GENRES: its evaluators); otherwise the methods are those
    of the variants. A model that has several rows of one method keeps its first.
    """
    cohorts: dict[str, set[str]] = {}
    for row in rows:
        cohorts.setdefault(row.model, set()).add(row.cohort)
    tables: dict[str, dict[str, Numbers]] = {}
    for row in rows:
        method = row.cohort if len(cohorts[row.model]) > 1 else MAIN
        known = {**row.scores, **row.values} if row.result is None else row.values
        numbers = {name: value.value for name, value in known.items() if value.value is not None}
        tables.setdefault(method, {}).setdefault(row.model, numbers)
        for variant in row.result.variants if row.result is not None else ():
            tables.setdefault(_label(variant), {}).setdefault(row.model, {**numbers, **variant.values})
    return tables


def method_pairs(tables: Tables, traits: Sequence[str]) -> list[MethodPair]:
    """Every two methods that are not both variants, or every two evaluators."""
    methods = list(tables)
    pairs = [(a, b) for a, b in combinations(methods, 2) if MAIN in (a, b) or MAIN not in methods]
    return [_pair(first, second, tables, traits) for first, second in pairs]


def _pair(first: str, second: str, tables: Tables, traits: Sequence[str]) -> MethodPair:
    models = [model for model in tables[first] if model in tables[second]]
    if len(models) < FEWEST:
        reason = f"{len(models)} model{'s' * (len(models) != 1)} measured by both; a rank correlation needs {FEWEST}"
        return MethodPair(first, second, len(models), {}, None, None, None, reason)
    columns = [_columns(tables[method], models, traits) for method in (first, second)]
    shared = [name for name in columns[0] if name in columns[1] and columns[0][name] != columns[1][name]]
    if not shared:
        return MethodPair(first, second, len(models), {}, None, None, None, "both give every value the same numbers")
    values = {name: rank_correlation(columns[0][name], columns[1][name]) for name in shared}
    defined = [name for name in shared if values[name].rho is not None]
    if not defined:
        reason = "all models have one number of every value"
        return MethodPair(first, second, len(models), values, None, None, None, reason)
    from scipy.stats import rankdata  # as in `rank_correlation`

    ranks = [np.stack([rankdata(of_method[name]) for name in defined]) for of_method in columns]
    rho = np.abs(np.corrcoef(ranks[0], ranks[1])[: len(defined), len(defined) :])
    same = np.array([values[name].rho for name in defined], float)
    different = ~np.eye(len(defined), dtype=bool)
    lower = (rho < same[:, None])[different]
    return MethodPair(
        first,
        second,
        len(models),
        values,
        float(np.median(same)),
        float(np.median(rho[different])) if len(lower) else None,
        float(lower.mean()) if len(lower) else None,
    )


def _columns(table: Mapping[str, Numbers], models: Sequence[str], traits: Sequence[str]) -> dict[str, list[float]]:
    """Value -> its numbers, one for each model, of the values that all of them have."""
    shared = [name for name in traits if all(name in table[model] for model in models)]
    return {name: [table[model][name] for model in models] for name in shared}


def shifts(rows: Sequence[Row]) -> list[Shift]:
    """What each kind of variant moves, over all results that have it."""
    by_method: dict[str, list[tuple[str, int, dict[str, float]]]] = {}
    for row in rows:
        for variant in row.result.variants if row.result is not None else ():
            moved, in_errors = _moved(row, variant.values)
            by_method.setdefault(_label(variant), []).append((row.model, moved, in_errors))
    results = []
    for method, moves in by_method.items():
        sizes = [(size, model, name) for model, _, in_errors in moves for name, size in in_errors.items()]
        errors, model, largest = max(sizes, default=(None, "", ""))
        values = median_low([moved for _, moved, _ in moves])
        beyond = median_low([sum(size > 2 for size in in_errors.values()) for _, _, in_errors in moves])
        results.append(Shift(method, len(moves), values, beyond, model, largest, errors))
    return results


def _moved(row: Row, numbers: Numbers) -> tuple[int, dict[str, float]]:
    """How many values have another number, and by how many of their errors, where these are known."""
    draws = row.result.draws if row.result is not None else None
    errors = {} if draws is None else dict(zip(draws.names, draws.error.tolist(), strict=True))
    moved = {
        name: number - value.value
        for name, number in numbers.items()
        if (value := row.values.get(name)) is not None and value.value not in (None, number)
    }
    known = {name: abs(by) / errors[name] for name, by in moved.items() if errors.get(name, 0) > _LEAST_ERROR}
    return len(moved), known


def _label(variant: Variant) -> str:
    return f"{variant.kind.replace('_', ' ')}: {variant.name}"
