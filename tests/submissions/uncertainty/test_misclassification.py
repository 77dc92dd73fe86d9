import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.submissions.uncertainty.label_errors import (
    correct,
    fault,
    first_guess,
    next_parameters,
    posterior_intervals,
    worse,
)
from tests.benchmarks.label_coverage import labeller, shares_held


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([[5.0, 1.0], [1.0, 5.0]], ""),
        ([[1.0, 0.0], [0.0, 1.0]], ""),
        ([[3.0, 2.0], [0.0, 0.0]], "row 2 of its confusion matrix has no image"),
        ([[0.0, 0.0], [1.0, 4.0]], "row 1 of its confusion matrix has no image"),
        ([[5.0, 0.0], [5.0, 0.0]], "singular"),
        ([[50.0, 50.0], [49.0, 51.0]], "of condition"),
    ],
)
def test_a_matrix_that_cannot_be_inverted_says_why(counts: list[list[float]], says: str) -> None:
    found = fault(np.array(counts))
    assert says in found
    assert bool(found) == bool(says)


def test_a_worse_labeller_errs_as_before_and_more_often() -> None:
    """Recall .90 loses five points, half to each error of .05; a row without errors spreads them evenly."""
    counts = np.array([[90.0, 5.0, 5.0], [0.0, 40.0, 10.0], [0.0, 0.0, 20.0]])
    expected = np.array([[85.0, 7.5, 7.5], [0.0, 37.5, 12.5], [0.5, 0.5, 19.0]])
    assert worse(counts, 0.05) == pytest.approx(expected)
    assert worse(counts, 0.0) == pytest.approx(counts)
    assert worse(counts, 0.95)[1, 1] == 0


def test_the_interval_of_a_rare_share_holds_it() -> None:
    held, width, bias = shares_held({"group": labeller(2)}, 0.03, 2_000, 40)
    assert held >= 0.9
    assert width < 0.1
    assert abs(bias) < 0.01


def test_many_samples_of_a_known_labeller_give_the_shares_by_hand() -> None:
    """0.9 x + 0.2 (1 - x) = 0.69 where x = 0.7."""
    matrices = {"group": np.array([[9e6, 1e6], [2e6, 8e6]])}
    corrected = correct(np.array([[690_000.0, 310_000.0]] * 2), matrices, "hand")
    assert corrected.shares == pytest.approx(np.array([[0.7, 0.3]] * 2), abs=1e-3)
    assert corrected.draws.sum(axis=-1) == pytest.approx(1)


def test_two_attributes_err_by_themselves() -> None:
    """A joint labeller shows of gender exactly what its matrix of gender shows; the true joint shares are even."""
    gender, age = np.array([[8e6, 2e6], [1e6, 9e6]]), np.array([[6e6, 4e6], [0.0, 1e7]])
    chances = np.kron(gender, age) / np.kron(gender, age).sum(axis=1, keepdims=True)
    corrected = correct(1e6 * np.full((1, 4), 0.25) @ chances, {"gender": gender, "age": age}, "joint")
    assert corrected.shares[0] == pytest.approx(np.full(4, 0.25), abs=3e-3)


def test_an_interval_reaches_a_limit_that_its_bias_reaches() -> None:
    """All gaps of equal groups are noise, so their mean is as far from 0 as its draws are wide."""

    def gap(shares: Floats) -> Floats:
        return np.abs(shares[..., 0] - shares[..., 1]).mean(axis=-1, keepdims=True)

    test, rng = {"group": np.array([[190.0, 10.0], [20.0, 180.0]])}, np.random.default_rng(3)
    chances = test["group"] / 200
    for share, reaches in ((0.5, True), (0.8, False)):
        seen = rng.multinomial(160, np.array([share, 1 - share]) @ chances, 20).astype(float)
        ((mean, (low, high)),) = posterior_intervals(correct(seen, test, "gap"), gap, [(0.0, 1.0)])  # type: ignore[misc]
        assert low <= abs(2 * share - 1) <= high
        assert low <= mean <= high
        assert (low == 0) == reaches


def test_a_value_that_no_draw_has_has_no_interval() -> None:
    corrected = correct(np.zeros((1, 2)), {"group": np.array([[9.0, 1.0], [1.0, 9.0]])}, "none")
    assert posterior_intervals(corrected, lambda p: p[:, 0, :1], [(0.0, 1.0)]) == [None]


def test_the_prior_of_many_distributions_is_estimated_from_their_counts() -> None:
    rng = np.random.default_rng(4)
    truth = np.array([2.0, 1.0, 0.5])
    counts = np.stack([rng.multinomial(100, p) for p in rng.dirichlet(truth, 500)])
    prior = first_guess(counts.astype(float), np.eye(3)[None])
    assert prior[0] == pytest.approx(truth, rel=0.2)
    chains = np.broadcast_to(counts, (20, *counts.shape))
    prior = np.repeat(prior, 20, axis=0)
    for _ in range(30):
        prior = next_parameters(chains, np.ones(chains.shape[:2]), prior, rng)
    assert prior.mean(axis=0) == pytest.approx(truth, rel=0.15)


def test_distributions_that_show_no_difference_keep_a_finite_prior() -> None:
    """Equal shares of 20 samples: their similarity is unknowable, and each chain has another answer."""
    rng = np.random.default_rng(5)
    chains = np.broadcast_to(rng.multinomial(20, [0.5, 0.5], 40), (50, 40, 2))
    prior = np.full((50, 2), 10.0)
    for _ in range(30):
        prior = next_parameters(chains, rng.standard_exponential((50, 40)), prior, rng)
    whole = np.quantile(prior.sum(axis=-1), [0.1, 0.9])
    assert 10 < whole[0] < whole[1] / 3
