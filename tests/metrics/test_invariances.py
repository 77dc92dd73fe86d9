"""Changes of input that change no result: order, relabelling, merging, scale, and many tables at once."""

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity, accuracy_gap
from fairspace.metrics.accuracy_disparity.formula import left_out as left_out_of_accuracies
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.fact_or_fair.formula import VARIANTS, divergence_score, entropy, entropy_score, kld_score
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.genres_bias.formula import mean_difference
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import left_out, rate_gap, statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import absolute_drift, stereotype_drift
from fairspace.metrics.stereotypical_association.formula import association, stereotypical_association

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
    "association": (association, (counts(2, 4), counts() + 40)),
}
"""Name -> formula of tables along leading axes, and drawn columns."""


TABLES = counts(3, 2, 4, most=9) + RNG.integers(0, 2, (*SHAPE, 1, 1, 1))
CASES |= {"entropy": (lambda c: (entropy(c),), (TABLES,))}
CASES |= {
    f"divergence_score {variant}": (lambda c, variant=variant: (divergence_score(c, variant),), (TABLES,))
    for variant in VARIANTS
}


@pytest.mark.parametrize("name", CASES)
def test_tables_along_leading_axes_give_what_each_gives(name: str) -> None:
    formula, columns = CASES[name]
    together = formula(*columns)
    for place in np.ndindex(*SHAPE):
        alone = formula(*(column[place] for column in columns))
        assert [np.shape(part) for part in alone] == [()] * len(alone)
        assert np.array([part[place] for part in together]) == pytest.approx(np.array(alone), nan_ok=True, rel=1e-12)


@pytest.mark.parametrize("score", [entropy, lambda table, weights=None: divergence_score(table, weights=weights)])
def test_weights_repeat_a_statistic(score: Callable[..., Any]) -> None:
    tables = counts(3, 2, 4, most=9) + 1
    assert score(tables, [2, 1, 1]) == pytest.approx(score(tables[..., [0, 0, 1, 2], :, :]))


def shuffled(formula: Callable[..., Any], columns: tuple[Any, ...], *orders: tuple[int, ...]) -> list[Any]:
    """A row of `SAME` in which the last axis of every column has another order."""
    return [(formula, columns, tuple(np.asarray(column)[..., order] for column in columns)) for order in orders]


def association_score(tables: Any, missing: Any) -> Any:
    """S of the first level of each table; every query offers all groups."""
    wins = tables[:, 0]
    return stereotypical_association(wins, missing[:, :1], np.ones((1, wins.shape[1]), bool)).score


ACCURACIES = ([8, 4, 6, 1], [2, 6, 6, 1], [1, 0, 0, 3], [0, 5, 0, 1])
ANSWERS = np.array([[5, 5, 1], [2, 8, 0], [3, 3, 3]]), np.array([1, 0, 2]), np.array([0, 3, 1])
DRIFTS, KINDS, LOWS, HIGHS, FREE = [0.5, -0.25, 0.0], [1, 3, 2], [-0.5, -1.0], [0.75, 0.25], [2, 1]
ORDER, THREE = [2, 0, 1], tuple(permutations(range(3)))
SAME: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    *shuffled(accuracy_disparity, ACCURACIES, (2, 0, 3, 1)),
    # groups of like accuracy, merged
    (accuracy_disparity, ([4, 4, 6], [1, 1, 6], [0] * 3, [0] * 3), ([8, 6], [2, 6], [0] * 2, [0] * 2)),
    *shuffled(distribution_divergence, ([5, 3, 2], [0.2, 0.2, 0.6]), *THREE),
    (distribution_divergence, ([5, 3, 2], [0.2, 0.2, 0.6]), ([50, 30, 20], [1, 1, 3])),
    # a reference is divided by its sum: the printed US skin row of astronauts adds up to 96.6
    (distribution_divergence, ([5, 3, 2], [66.8, 23.3, 6.5]), ([5, 3, 2], [66.8 / 96.6, 23.3 / 96.6, 6.5 / 96.6])),
    *shuffled(representation_disparity, ([5, 3, 2, 0],), *permutations(range(4))),
    (representation_disparity, ([50, 30, 20],), ([5, 3, 2],)),
    (statistical_parity_difference, ANSWERS, tuple(column[ORDER] for column in ANSWERS)),
    (statistical_parity_difference, ANSWERS, (ANSWERS[0][:, ORDER], *ANSWERS[1:])),
    # groups of like answers, merged
    (
        statistical_parity_difference,
        ([[5, 5], [5, 5], [2, 8]], [0] * 3, [0] * 3),
        ([[10, 10], [2, 8]], [0] * 2, [0] * 2),
    ),
    (
        stereotype_drift,
        (DRIFTS, KINDS, LOWS, HIGHS, FREE),
        (DRIFTS[::-1], KINDS[::-1], LOWS[::-1], HIGHS[::-1], FREE[::-1]),
    ),
    # one kind of error and of open answer, split in two
    (
        stereotype_drift,
        (DRIFTS, KINDS, LOWS, HIGHS, FREE),
        ([*DRIFTS, 0.5], [0, 3, 2, 1], [*LOWS, -0.5], [*HIGHS, 0.75], [1, 1, 1]),
    ),
]
"""Formula, arguments, and others that give the same."""


@pytest.mark.parametrize(("formula", "arguments", "others"), SAME, ids=lambda part: getattr(part, "__name__", ""))
def test_order_merging_and_scale_change_nothing(formula: Any, arguments: Any, others: Any) -> None:
    results = [np.array(formula(*columns), dtype=float) for columns in (arguments, others)]
    assert results[0] == pytest.approx(results[1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("score", [entropy_score, kld_score, association_score])
def test_order_of_statistics_and_groups_changes_nothing(score: Callable[..., Any], k: int) -> None:
    draws = np.random.default_rng(k)
    for _ in range(30):
        tables, missing = draws.integers(0, 7, (3, 2, k)), draws.integers(1, 5, (3, 2))
        statistics, groups = draws.permutation(3), draws.permutation(k)
        moved = score(tables[statistics][..., groups], missing[statistics])
        assert moved == pytest.approx(score(tables, missing), nan_ok=True), (tables, missing)


def test_merging_two_groups_never_raises_a_divergence() -> None:
    assert distribution_divergence([5, 5], [0.2, 0.8])[0] <= distribution_divergence([5, 3, 2], [0.2, 0.2, 0.6])[0]


@pytest.mark.parametrize(("metric", "width"), [("M1", 2), ("M2", 2), ("M3", 1), ("M5", 1), ("M6", 2)])
def test_swapping_the_genders_turns_the_sign_and_order_changes_nothing(metric: str, width: int) -> None:
    for passages in np.random.default_rng(width).integers(0, 9, (80, 2, 2, 8)):
        if metric in ("M2", "M6"):  # a part never exceeds its whole
            passages[:, 0] = passages.min(axis=1)
        male, female = passages[:, :width]
        value, low, high = mean_difference(metric, male, female, 2)
        assert mean_difference(metric, female, male, 2) == pytest.approx((-value, -high, -low), nan_ok=True)
        turned = mean_difference(metric, male[:, ::-1], female[:, ::-1], 2)
        assert turned == pytest.approx((value, low, high), nan_ok=True)


def test_small_groups_are_left_out_and_dropped_answers_leave_none_out() -> None:
    correct, wrong, none = [8, 4, 1], [2, 6, 0], [0, 0, 0]
    assert left_out_of_accuracies(correct, wrong, none, none).tolist() == [False, False, True]
    assert not left_out_of_accuracies(correct, wrong, none, none, minimum=1).any()
    assert not left_out_of_accuracies(correct, wrong, none, [0, 0, 9]).any()
    assert left_out_of_accuracies([0], [0], [0], [0], minimum=0).tolist() == [True]
    answers = [[5, 5], [2, 8], [1, 0]]
    assert left_out(answers, [0, 0, 0], [0, 0, 0]).tolist() == [False, False, True]
    assert not left_out(answers, [0, 0, 0], [0, 0, 1]).any()
