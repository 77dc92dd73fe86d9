import numpy as np
import pytest

from fairspace.metrics import resampling
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.metrics.statistical_parity_difference.formula import rate_gap
from fairspace.metrics.stereotypical_association.formula import association
from tests.samples import once, sample

GROUPS = 6


def gaps(counts: resampling.Counts, order: resampling.Counts | None = None) -> Floats:
    """(b, 1) the sum of |share - 1/k| with the signs of the order."""
    both = (counts["groups"], counts["groups"] if order is None else order["groups"])
    apart = [part / part.sum(axis=1, keepdims=True) - 1 / GROUPS for part in both]
    return np.asarray((np.sign(apart[1]) * apart[0]).sum(axis=1, keepdims=True))


SIZE = resampling.Quantity("gaps", "size", (0.0, 2.0))


def design(groups: Integers, strata: int = 1, fair: resampling.Fair | None = None) -> resampling.Sample:
    blocks = {"groups": resampling.tally(groups, GROUPS)}
    return sample(gaps, SIZE, strata=np.arange(len(groups)) % strata, blocks=blocks, fair=fair)


def held(shares: Floats, samples: int = 60, of: int = 300) -> float:
    true = float(np.abs(shares - 1 / GROUPS).sum())
    hits = 0
    for number in range(samples):
        drawn = design(np.random.default_rng([5, number]).choice(GROUPS, of, p=shares))
        about = resampling.uncertainties(*drawn, resampling.draw(*drawn, 200, seed=number), seed=number)["gaps"]
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
            estimates.append(resampling.cross_fitted(*of, np.ones((1, 300), np.float32), rng)[0][0])
    plain = once(design(rng.choice(GROUPS, 300)))["gaps"]
    assert abs(np.mean(alike)) < 0.02 < plain
    assert np.mean(clear) == pytest.approx(2 * (0.6 - 1 / GROUPS), abs=0.02)


def test_each_stratum_is_halved_and_each_half_says_the_order_once() -> None:
    seen: list[tuple[Floats, Floats]] = []

    def record(times: Floats, order: Floats) -> Floats:
        seen.append((times, order))
        return times[:, :1]

    strata = np.arange(12) % 3
    resampling.cross_fitted(
        *sample(record, SIZE, strata=strata), np.ones((2, 12), np.float32), np.random.default_rng(0)
    )
    (second, first), (again, other) = seen[:2]
    assert first.shape == (resampling.SPLITS, 12)
    assert (first + second == 1).all()
    assert (again == first).all()
    assert (other == second).all()
    assert all((first[:, strata == stratum].sum(axis=1) == 2).all() for stratum in range(3))


def test_a_half_without_a_number_is_left_out_and_too_many_leave_nothing_but_0() -> None:
    """With one sample of a second stratum every other half lacks it."""

    def along(times: Floats, order: Floats | None = None) -> Floats:
        lacking = times[:, 3:] == 0
        return np.where(lacking if order is None else lacking | (order[:, 3:] == 0), np.nan, 1.0)

    of = sample(along, SIZE, strata=np.array([0, 0, 0, 1]))
    estimates, _ = resampling.cross_fitted(*of, np.ones((2, 4), np.float32), np.random.default_rng(0))
    assert np.isnan(estimates).all()
    about = resampling.uncertainties(*of, resampling.draw(*of, 100))["gaps"]
    assert (about.low, about.debiased, about.method) == (0, None, "size")


def test_an_error_is_never_below_that_of_fair_models() -> None:
    of = design(np.repeat(0, 100))
    fair = design(np.repeat(0, 100), fair=lambda rng, models: rng.normal(0.2, 0.05, (models, 1)))
    plain, wider = (resampling.uncertainties(*part, resampling.draw(*part, 100))["gaps"] for part in (of, fair))
    assert plain.error == pytest.approx(0, abs=1e-12)
    assert plain.low < plain.high  # a hundred equal samples leave room for others
    assert wider.error == pytest.approx(0.05, rel=0.3)
    assert wider.low < wider.high == pytest.approx(2 * (1 - 1 / GROUPS) + 1.96 * wider.error, rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_along_its_own_order_a_size_is_the_value_and_along_another_never_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), (2, 7))
    assert disparity(p, p) == pytest.approx(disparity(p))
    assert (disparity(p, q) <= disparity(p) + 1e-12).all()
    counts, other = rng.integers(0, 9, (2, 7, 4, 3)).astype(float)
    counts[0, 0] = other[1, 2] = 0
    assert rate_gap(counts, counts) == pytest.approx(rate_gap(counts), nan_ok=True)
    assert not (rate_gap(counts, other) > rate_gap(counts) + 1e-12).any()
    right, answers = np.minimum(counts[..., 0], counts[..., 1]), counts[..., 1]
    assert accuracy_gap(right, answers, (right, answers)) == pytest.approx(accuracy_gap(right, answers), nan_ok=True)
    order = np.minimum(other[..., 0], other[..., 1]), other[..., 1]
    assert not (accuracy_gap(right, answers, order) > accuracy_gap(right, answers) + 1e-12).any()
    wins, others = rng.integers(1, 9, (2, 7, 4, 3)).astype(float)
    assert association(wins, 1, wins)[1] == pytest.approx(association(wins, 1)[1])
    assert (association(wins, 1, others)[1] <= association(wins, 1)[1] + 1e-12).all()
