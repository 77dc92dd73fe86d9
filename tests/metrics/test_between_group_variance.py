import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.between_group_variance.between_group_variance import BetweenGroupVariance
from fairspace.metrics.between_group_variance.formula import (
    between_group_variance,
    plain_variance,
    rate_variance,
)
from tests.metrics.intervals import thorough


@thorough
@given(st.lists(st.tuples(st.integers(2, 5), st.floats(0, 1)), min_size=2, max_size=3))
def test_the_mean_over_all_samples_is_the_true_variance(groups: list[tuple[int, float]]) -> None:
    """Every outcome of two or three binomial groups with its probability."""
    sizes, true = np.array([n for n, _ in groups]), np.array([p for _, p in groups])
    counts = np.array(list(product(*(range(n + 1) for n in sizes))))
    coefficients = np.prod(
        [[math.comb(n, x) for n, x in zip(sizes, row, strict=True)] for row in counts.tolist()], axis=1
    )
    weights = coefficients * np.prod(true**counts * (1 - true) ** (sizes - counts), axis=1)
    rates = counts / sizes
    expected = weights @ between_group_variance(rates, rate_variance(rates, np.broadcast_to(sizes, rates.shape)))
    assert expected == pytest.approx(float(plain_variance(true)), abs=1e-9)


def test_groups_that_are_alike_have_0_on_average_where_the_plain_variance_has_not() -> None:
    """The first scenario of the paper: 100 groups of 50 samples at a rate of 0.8."""
    rates = np.random.default_rng(6).binomial(50, 0.8, (2_000, 100)) / 50
    samples = np.full(rates.shape, 50)
    unbiased = between_group_variance(rates, rate_variance(rates, samples))
    assert plain_variance(rates).mean() == pytest.approx(0.0032, abs=2e-5)
    assert unbiased.mean() == pytest.approx(0, abs=4 * unbiased.std() / math.sqrt(len(rates)))
    assert 0.3 < (unbiased < 0).mean() < 0.7


def test_the_module_keeps_the_evidence_beside_the_number(tmp_path: Path) -> None:
    metric = BetweenGroupVariance(cache_dir=str(tmp_path))
    names = ["a", "b", "c"]
    by_rate = metric.compute(predictions=[0.5, 1.0, None], groups=names, samples=[11, 11, 2])
    assert (by_rate["between_group_variance"], by_rate["plain"], by_rate["if_missing_low"]) == (0.1125, 0.125, None)
    assert by_rate["counts"] == {"expected": 3, "valid": 2, "missing": 1}
    assert by_rate["by_group"]["a"] == {"value": 0.5, "variance": 0.025}
    by_variance = metric.compute(predictions=[3.0, 4.0], groups=names[:2], variances=[0.25, 0.75])
    assert by_variance["between_group_variance"] == by_variance["if_missing_low"] == 0.0
