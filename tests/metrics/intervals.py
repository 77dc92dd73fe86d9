from collections.abc import Iterator
from itertools import combinations, pairwise

from hypothesis import HealthCheck, settings

SLACK = 1e-12
"""Rounding of a few float operations on numbers of about 1."""

thorough = settings(
    deadline=None, max_examples=80, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


def assert_only_widens(before: tuple[float, float, float], after: tuple[float, float, float]) -> None:
    """`after`, with more samples missing, contains the interval `before`."""
    assert float(after[1]) <= float(before[1]) + SLACK
    assert float(after[2]) >= float(before[2]) - SLACK


def spreads(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `total` equal samples into `cells` cells."""
    for bars in combinations(range(total + cells - 1), cells - 1):
        edges = (-1, *bars, total + cells - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))
