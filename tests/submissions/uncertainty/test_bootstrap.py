from dataclasses import replace

import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import GROUPS, Fair, Quantity, Sample, draw, jackknife, uncertainties
from tests.samples import sample

X = np.array([0.0, 1.0, 2.0, 5.0, 7.0, 9.0])


def means(times: Floats) -> Floats:
    return np.stack([(times * X)[:, :3].sum(axis=1), (times * X)[:, 3:].sum(axis=1)], axis=1) / 3


FEW = (6 / 4) ** 0.5
"""Factor by which draws of two strata of three understate a standard error."""
STRATA = np.array([0, 0, 0, 1, 1, 1])
FIRST, SECOND = Quantity("first"), Quantity("second")
DESIGN = sample(means, FIRST, SECOND, strata=STRATA)


def of_means(first: Quantity = FIRST, second: Quantity = SECOND, fair: Fair | None = None, **fields: str) -> Sample:
    return sample(means, first, second, strata=STRATA, fair=fair, **fields)  # type: ignore[arg-type]


def test_every_resample_draws_each_stratum_with_its_own_size() -> None:
    def sizes(times: Floats) -> Floats:
        assert (times == times.round()).all()
        return np.stack([times[:, [0, 2, 4]].sum(axis=1), times[:, [1, 3, 5]].sum(axis=1), times[:, 0]], axis=1)

    mixed = sample(sizes, "a", "b", "c", strata=np.array([0, 1, 0, 1, 0, 1]))
    drawn = draw(*mixed, 120)
    assert drawn.shape == (120, 3)
    assert (drawn[:, :2] == 3).all()
    assert set(drawn[:, 2]) == {0, 1, 2, 3}
    assert draw(*mixed, 0).shape == (0, 3)


def test_draws_depend_on_task_and_seed_alone_and_more_of_them_begin_alike() -> None:
    drawn = draw(*DESIGN, 120)
    assert (draw(*DESIGN, 100) == drawn[:100]).all()
    assert (draw(*of_means(unit="other"), 120) == drawn).all()
    assert (draw(*DESIGN, 120, seed=1) != drawn).any()
    assert (draw(*of_means(task="another"), 120) != drawn).any()
    assert (drawn[:50] != drawn[50:100]).any()


def halves(times: Floats) -> Floats:
    """Number of draws of the first 2 GROUPS clusters, and of the others."""
    return np.stack([times[:, : 2 * GROUPS].sum(axis=1), times[:, 2 * GROUPS :].sum(axis=1)], axis=1)


def test_the_jackknife_leaves_every_cluster_out_once() -> None:
    """With fewer clusters than groups each is left out alone; with more, each group has its share of every stratum."""
    alone = jackknife(*sample(lambda times: times, *X.astype(str), strata=STRATA))
    assert (np.sort(alone.argmin(axis=1)) == range(6)).all()
    assert (alone.sum(axis=1) == 5).all()
    shares = jackknife(*sample(halves, "a", "b", strata=np.repeat([0, 1], [2 * GROUPS, 3 * GROUPS])))
    assert shares.tolist() == [[2 * GROUPS - 2, 3 * GROUPS - 3]] * GROUPS


def test_an_uncertainty_by_hand() -> None:
    drawn = np.stack([np.linspace(0.5, 2.5, 201), np.full(201, 7.0)], axis=1)
    found = uncertainties(*of_means(replace(FIRST, biased=True, note="a note")), drawn)
    first, second = found["first"], found["second"]
    assert (first.unit, first.clusters, first.resamples, first.undefined) == ("number", 6, 201, 0)
    assert first.error == pytest.approx(drawn[:, 0].std(ddof=1) * FEW)
    assert (first.percentile_low, first.percentile_high) == pytest.approx((1.5 - 0.95 * FEW, 1.5 + 0.95 * FEW))
    assert first.debiased == pytest.approx(2 * 1.0 - 1.5)
    assert (first.note, second.note) == ("a note", "")
    assert (first.fair, first.fair_high, second.debiased) == (None, None, None)
    assert (second.low, second.high, second.error) == (7, 7, 0)


def test_an_interval_is_extended_to_its_value_and_ends_at_the_limits() -> None:
    drawn = np.stack([np.linspace(1.5, 2.5, 101), np.linspace(6.0, 9.0, 101)], axis=1)
    first, second = (Quantity(name, "percentile") for name in ("first", "second"))
    found = uncertainties(*of_means(first, second), drawn)
    assert (found["first"].low, found["first"].high) == pytest.approx((1.0, 2 + 0.475 * FEW))
    limited = of_means(replace(first, limits=(0.0, 2.0)), replace(second, limits=(6.5, 8.0), biased=True))
    found = uncertainties(*limited, drawn)
    assert (found["first"].low, found["first"].high) == (1.0, 2.0)
    assert (found["second"].low, found["second"].high) == (6.5, 8.0)
    assert found["second"].debiased == 6.5


@pytest.mark.parametrize(("undefined", "known"), [(40, True), (41, False)])
def test_a_fifth_of_the_draws_may_have_no_number(undefined: int, known: bool) -> None:
    drawn = np.tile(np.linspace(0.5, 2.5, 200)[:, None], 2)
    drawn[:undefined, 0] = np.nan
    found = uncertainties(*DESIGN, drawn)
    assert ("first" in found) == known
    assert "second" in found
    if known:
        assert found["first"].undefined == undefined


def test_a_value_without_a_number_or_without_draws_has_no_interval() -> None:
    undefined = sample(lambda times: means(times) * [np.nan, 1], FIRST, SECOND, strata=STRATA)
    assert set(uncertainties(*undefined, np.ones((9, 2)))) == {"second"}
    last = sample(lambda times: means(times) * [1, np.nan], FIRST, SECOND, strata=STRATA)
    assert set(uncertainties(*last, np.ones((9, 2)))) == {"first"}
    assert uncertainties(*DESIGN, np.empty((0, 2))) == {}
    (single,) = {one.error for one in uncertainties(*DESIGN, np.array([[1.0, 7.0]])).values()}
    assert single == 0


def test_a_tested_value_holds_0_up_to_what_95_percent_of_fair_models_show() -> None:
    def fair(rng: np.random.Generator, size: int) -> Floats:
        return np.stack([np.full(size, 1.0), np.full(size, 6.9)], axis=1)

    drawn = np.stack([np.linspace(0.5, 2.5, 101), np.linspace(6, 8, 101)], axis=1)
    found = uncertainties(*of_means(replace(FIRST, tested=True), replace(SECOND, tested=True), fair), drawn)
    assert (found["first"].low, found["first"].fair, found["first"].fair_high) == (0, 1, 1)
    assert found["second"].low > 5
    assert uncertainties(*of_means(fair=fair), drawn)["first"].low > 0


def test_the_fair_bound_lies_on_the_worse_side() -> None:
    def fair(rng: np.random.Generator, size: int) -> Floats:
        return np.stack([np.linspace(0, 1, size), np.full(size, np.nan)], axis=1)

    drawn = np.tile(np.linspace(0.5, 2.5, 101)[:, None], 2)
    found = uncertainties(*of_means(fair=fair), drawn)
    assert (found["first"].fair, found["first"].fair_high) == pytest.approx((0.5, 0.95))
    assert (found["second"].fair, found["second"].fair_high) == (None, None)
    higher = uncertainties(*of_means(replace(FIRST, higher=True), fair=fair), drawn)
    assert higher["first"].fair_high == pytest.approx(0.05)
