from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_gap, accuracy_gap_along
from fairspace.metrics.representation_disparity.formula import disparity, disparity_along
from fairspace.metrics.statistical_parity_difference.formula import rate_gap, rate_gap_along
from fairspace.metrics.stereotypical_association.formula import association_along, filtered_association
from fairspace.submissions.uncertainty.bootstrap import SPLITS, cross_fitted, draw, uncertainties
from fairspace.submissions.uncertainty.design import Design, Floats, Sizes, Times

GROUPS = 6


def gaps(order: Floats, counts: Floats) -> Floats:
    """(b, 1) the sum of |share - 1/k| with the signs of the order."""
    apart = [part / part.sum(axis=1, keepdims=True) - 1 / GROUPS for part in (order, counts)]
    return np.asarray((np.sign(apart[0]) * apart[1]).sum(axis=1, keepdims=True))


def design(groups: np.ndarray[tuple[int], np.dtype[np.int64]], strata: int = 1) -> Design:
    members = np.eye(GROUPS)[groups]
    sizes = Sizes(("gaps",), lambda times: np.asarray(times.astype(float) @ members), gaps)
    return Design(
        "a task",
        "sample",
        np.arange(len(groups)) % strata,
        ("gaps",),
        sizes.values,
        limits={"gaps": (0.0, 2.0)},
        sizes=sizes,
    )


def held(shares: Floats, samples: int = 60, of: int = 300) -> float:
    true = float(np.abs(shares - 1 / GROUPS).sum())
    hits = 0
    for number in range(samples):
        drawn = design(np.random.default_rng([5, number]).choice(GROUPS, of, p=shares))
        about = uncertainties(drawn, draw(drawn, 200, seed=number), seed=number)["gaps"]
        hits += about.low <= true <= about.high
    return hits / samples


@pytest.mark.parametrize(
    "shares",
    [np.full(GROUPS, 1 / GROUPS), np.array([0.3, *[0.14] * 5]), np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])],
    ids=["fair", "one ahead", "uneven"],
)
def test_intervals_of_sizes_hold_the_truth(shares: Floats) -> None:
    """95 % of 60 are 57; fewer than 52 come about once in a thousand times."""
    assert held(shares) >= 52 / 60


def test_halves_have_no_bias_where_groups_are_alike_and_lose_nothing_where_they_are_not() -> None:
    rng = np.random.default_rng(1)
    alike: list[float] = []
    clear: list[float] = []
    for _ in range(150):
        for shares, estimates in (([1 / GROUPS] * GROUPS, alike), ([0.6, *[0.08] * 5], clear)):
            of = design(rng.choice(GROUPS, 300, p=shares))
            assert of.sizes is not None
            estimates.append(cross_fitted(of.sizes, of.strata, np.ones((1, 300), np.float32), rng)[0][0])
    plain = design(rng.choice(GROUPS, 300)).statistic(np.ones((1, 300), np.float32))[0, 0]
    assert abs(np.mean(alike)) < 0.02 < plain
    assert np.mean(clear) == pytest.approx(2 * (0.6 - 1 / GROUPS), abs=0.02)


def test_each_stratum_is_halved_and_each_half_says_the_order_once() -> None:
    seen: list[Times] = []
    of = design(np.arange(12) % GROUPS, strata=3)

    def counts(times: Times) -> Floats:
        seen.append(times)
        return np.asarray(times, np.float64)

    sizes = Sizes(("gaps",), counts, lambda order, others: others[:, :1])
    cross_fitted(sizes, of.strata, np.ones((2, 12), np.float32), np.random.default_rng(0))
    first, second = seen[:2]
    assert first.shape == (SPLITS, 12)
    assert (first + second == 1).all()
    assert all((first[:, of.strata == stratum].sum(axis=1) == 2).all() for stratum in range(3))


def test_a_half_without_a_number_is_left_out_and_too_many_leave_nothing_but_0() -> None:
    """With one sample of a second stratum every other half lacks it."""
    of = replace(design(np.array([0, 1, 2, 3])), strata=np.array([0, 0, 0, 1]))

    def along(order: Floats, counts: Floats) -> Floats:
        lacking = (order[:, 3:4] == 0) | (counts[:, 3:4] == 0)
        return np.where(lacking, np.nan, gaps(order, counts))

    assert of.sizes is not None
    sizes = replace(of.sizes, along=along)
    estimates, _ = cross_fitted(sizes, of.strata, np.ones((2, 4), np.float32), np.random.default_rng(0))
    assert np.isnan(estimates).all()
    about = uncertainties(replace(of, sizes=sizes), draw(of, 100))["gaps"]
    assert (about.low, about.debiased, about.method) == (0, None, "size")


def test_an_error_is_never_below_that_of_fair_models() -> None:
    of = design(np.repeat(0, 100))
    fair = replace(of, fair=lambda rng, models: rng.normal(0.2, 0.05, (models, 1)))
    plain, wider = (uncertainties(part, draw(part, 100))["gaps"] for part in (of, fair))
    assert plain.error == pytest.approx(0, abs=1e-12)
    assert plain.low < plain.high  # a hundred equal samples leave room for others
    assert wider.error == pytest.approx(0.05, rel=0.3)
    assert wider.low < wider.high == pytest.approx(2 * (1 - 1 / GROUPS) + 1.96 * wider.error, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_along_its_own_order_a_size_is_the_value_and_along_another_never_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), (2, 7))
    assert disparity_along(p, p) == pytest.approx(disparity(p))
    assert (disparity_along(q, p) <= disparity(p) + 1e-12).all()
    counts, other = rng.integers(0, 9, (2, 7, 4, 3)).astype(float)
    counts[0, 0] = other[1, 2] = 0
    assert rate_gap_along(counts, counts) == pytest.approx(rate_gap(counts), nan_ok=True)
    assert not (rate_gap_along(other, counts) > rate_gap(counts) + 1e-12).any()
    right, answers = np.minimum(counts[..., 0], counts[..., 1]), counts[..., 1]
    assert accuracy_gap_along((right, answers), right, answers) == pytest.approx(
        accuracy_gap(right, answers), nan_ok=True
    )
    order = np.minimum(other[..., 0], other[..., 1]), other[..., 1]
    assert not (accuracy_gap_along(order, right, answers) > accuracy_gap(right, answers) + 1e-12).any()
    wins, others = rng.integers(1, 9, (2, 7, 4, 3)).astype(float)
    assert association_along(wins, wins) == pytest.approx(filtered_association(wins))
    assert (association_along(others, wins) <= filtered_association(wins) + 1e-12).all()
