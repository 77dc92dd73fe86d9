"""Which confusion matrices can be inverted, and that each distribution is corrected by itself."""

from __future__ import annotations

import numpy as np
import pytest

from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.misclassification import corrected_shares, fault, instrument

RATES = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]])


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


def test_each_distribution_is_corrected_by_itself() -> None:
    """The second lies outside what these errors can show, so its likeliest shares are searched for."""
    inside, outside = np.array([0.5, 0.3, 0.2]) @ RATES, np.array([0.02, 0.08, 0.9])
    both = corrected_shares(np.stack([inside, outside]), RATES)
    assert both[0] == pytest.approx([0.5, 0.3, 0.2])
    assert both[1] == pytest.approx(corrected_shares(outside[None], RATES)[0])
    assert both.sum(axis=-1) == pytest.approx([1, 1])
    assert (both >= 0).all()

    def likelihood(shares: Floats) -> float:
        return float((outside * np.log(shares @ RATES)).sum())

    for other in np.eye(3):
        nearby = 0.99 * both[1] + 0.01 * other
        assert likelihood(both[1]) >= likelihood(nearby) - 1e-9


def test_two_attributes_err_by_themselves() -> None:
    """The rate of a pair of groups is the product of both rates, in the order of the names."""
    gender, age = np.array([[8.0, 2.0], [1.0, 9.0]]), np.array([[6.0, 4.0], [0.0, 5.0]])
    joint = instrument({"gender": gender, "age": age}, draws=3)
    assert joint.rates == pytest.approx(np.kron(gender / 10, age / age.sum(axis=1, keepdims=True)))
    assert joint.draws.shape == (3, 4, 4)
    assert joint.draws.sum(axis=-1) == pytest.approx(np.ones((3, 4)))
