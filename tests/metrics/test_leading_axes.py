"""A formula of many tables at once gives each table's own result."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity, accuracy_gap
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import rate_gap, statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import absolute_drift, stereotype_drift

RNG = np.random.default_rng(0)
SHAPE = (6, 5)


def counts(*shape: int, most: int = 4) -> Any:
    """Counts with many zeros, so that groups are left out, have no answer, or are alone."""
    return RNG.integers(0, most, (*SHAPE, *shape)) * RNG.integers(0, 2, (*SHAPE, *shape))


PAIRS, COUNTER = counts(), counts()
DRIFT, LOW = RNG.uniform(-1, 1, 7), RNG.uniform(-1, 0, 3)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "accuracy_disparity": (accuracy_disparity, tuple(counts(3) for _ in range(4))),
    "accuracy_gap": (lambda c, w: (accuracy_gap(c, c + w),), (counts(3), counts(3))),
    "statistical_parity_difference": (statistical_parity_difference, (counts(3, 4), counts(3), counts(3))),
    "rate_gap": (lambda c: (rate_gap(c.astype(float)),), (counts(3, 4),)),
    "stereotype_drift": (
        lambda n, free: stereotype_drift(DRIFT, n, LOW, LOW + 0.5, free),
        (counts(7), counts(3)),
    ),
    "absolute_drift": (absolute_drift, tuple(RNG.uniform(-1, 1, (3, *SHAPE)))),
    "answer_consistency_difference": (answer_consistency_difference, (PAIRS * 3, PAIRS, counts())),
    "hallucination_inconsistency": (hallucination_inconsistency, (PAIRS // 2, PAIRS, counts())),
    "generation_success_penalty": (
        generation_success_penalty,
        (PAIRS // 2, PAIRS, counts(), COUNTER // 2, COUNTER, counts()),
    ),
    "counter_stereotype_penalty": (
        partial(counter_stereotype_penalty, minimum=-1.0, maximum=1.0),
        (PAIRS * 0.5, PAIRS, counts(), COUNTER * -0.25, COUNTER, counts()),
    ),
    "representation_disparity": (representation_disparity, (counts(3), counts())),
    "distribution_divergence of rows": (
        lambda c, q, m: distribution_divergence(c, q + 1, m),
        (counts(3), counts(3), counts()),
    ),
    "distribution_divergence": (lambda c, m: distribution_divergence(c, [0.2, 0.3, 0.5], m), (counts(3), counts())),
}


@pytest.mark.parametrize("name", CASES)
def test_tables_along_leading_axes_give_what_each_gives(name: str) -> None:
    formula, columns = CASES[name]
    together = formula(*columns)
    for place in np.ndindex(*SHAPE):
        alone = formula(*(column[place] for column in columns))
        assert [np.shape(part) for part in alone] == [()] * len(alone)
        assert np.array([part[place] for part in together]) == pytest.approx(np.array(alone), nan_ok=True, rel=1e-12)
