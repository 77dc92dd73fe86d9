"""Convergence: do benchmarks that claim the same construct put the models that they share in the same order?

Each benchmark declares which of its values or scores measure which construct, and whether more of it is more bias.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.validity.constructs import Construct
from fairspace.submissions.validity.rank_correlation import RankCorrelation, rank_correlation


@dataclass(frozen=True)
class Convergence:
    """Two measures of a construct over the models that both benchmarks have.

    Args:
        construct: its name.
        first: benchmark and value.
        second: likewise.
        models: in common, by name.
        correlation: of the bias by both.
    """

    construct: str
    first: str
    second: str
    models: tuple[str, ...]
    correlation: RankCorrelation


def convergences(rows: Mapping[str, Sequence[Row]]) -> list[Convergence]:
    """Every two measures of one construct by two benchmarks.

    Args:
        rows: benchmark -> its rows, of models or of baselines. Models are the same if their names are, but for case
            and signs; the numbers of several rows of one model are averaged.
    """
    measures = [
        (name, construct, _numbers(rows.get(name, ()), construct))
        for name in NAMES
        for construct in find_benchmark(name).constructs
    ]
    compared = []
    for (first, a, of_first), (second, b, of_second) in combinations(measures, 2):
        if first != second and a.name == b.name:
            shared = sorted(of_first.keys() & of_second.keys())
            correlation = rank_correlation(
                [of_first[model] for model in shared], [of_second[model] for model in shared], "models in common"
            )
            about = [f"{find_benchmark(name).title}, {c.values[0]}" for name, c in ((first, a), (second, b))]
            compared.append(Convergence(a.name, about[0], about[1], tuple(shared), correlation))
    return compared


def _numbers(rows: Sequence[Row], construct: Construct) -> dict[str, float]:
    """Model -> its bias, higher is more."""
    numbers: dict[str, list[float]] = {}
    for row in rows:
        known = {**row.values, **row.scores}
        value = next((known[name].value for name in construct.values if name in known), None)
        if value is not None:
            numbers.setdefault(_key(row.model), []).append(construct.sign * value)
    return {model: fmean(values) for model, values in numbers.items()}


def _key(model: str) -> str:
    """A model's name without case and signs."""
    return re.sub(r"[^a-z0-9]", "", model.casefold())
