"""Prediction-powered shares against their definition, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.misclassification import on_simplex
from fairspace.submissions.uncertainty.prediction_powered import LEAST, fault, powered_draws, prediction_powered

PAIRS = np.array(
    [[[12.0, 3.0, 1.0], [2.0, 9.0, 0.0], [0.0, 4.0, 9.0]], [[8.0, 1.0, 0.0], [1.0, 6.0, 2.0], [3.0, 0.0, 4.0]]]
)
OTHERS = np.array([[120.0, 200.0, 80.0], [30.0, 50.0, 20.0]])


def samples(pairs: Floats) -> tuple[Floats, Floats]:
    """(n, k) which group the people saw in each sample, and which the labeller."""
    k = len(pairs)
    cells = np.repeat(np.arange(k * k), pairs.ravel().astype(int))
    return np.eye(k)[cells // k], np.eye(k)[cells % k]


def by_definition(weight: float) -> tuple[Floats, Floats]:
    """Shares and variances: the labeller's over all other samples, mended by what the people saw in their own."""
    shares, variances = [], []
    for pairs, others in zip(PAIRS, OTHERS, strict=True):
        human, answered = samples(pairs)
        everybody = np.concatenate([answered, np.repeat(np.eye(3), others.astype(int), axis=0)])
        shares.append(weight * others / others.sum() + (human - weight * answered).mean(axis=0))
        own = (human - weight * answered).var(axis=0, ddof=1) / len(human)
        variances.append(own + weight**2 * everybody.var(axis=0) / others.sum())
    return np.array(shares), np.array(variances)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_shares_and_errors_are_those_of_the_samples(weight: float) -> None:
    found = prediction_powered(PAIRS, OTHERS, weight)
    shares, variances = by_definition(weight)
    assert found.shares == pytest.approx(shares)
    assert found.error == pytest.approx(np.sqrt(variances))
    assert found.weight == weight
    humans = [samples(pairs)[0] for pairs in PAIRS]
    assert found.human == pytest.approx(np.array([human.mean(axis=0) for human in humans]))
    errors = [human.std(axis=0, ddof=1) / np.sqrt(len(human)) for human in humans]
    assert found.human_error == pytest.approx(np.array(errors))
    answered = np.array([samples(pairs)[1].sum(axis=0) for pairs in PAIRS]) + OTHERS
    assert found.raw == pytest.approx(answered / answered.sum(axis=1, keepdims=True))


def test_the_weight_is_the_one_of_least_variance() -> None:
    best = prediction_powered(PAIRS, OTHERS).weight
    assert 0 < best < 1
    total = {weight: by_definition(weight)[1].sum() for weight in (best - 0.01, best, best + 0.01)}
    assert min(total, key=total.__getitem__) == best
    assert total[best - 0.01] == pytest.approx(total[best + 0.01], rel=1e-3)


def test_without_other_samples_the_people_alone_are_heard() -> None:
    none = np.zeros((2, 3))
    found = prediction_powered(PAIRS, none)
    assert found.weight == 0
    assert found.shares == pytest.approx(found.human)
    assert found.error == pytest.approx(found.human_error)
    half = prediction_powered(PAIRS, np.array([OTHERS[0], [0.0, 0.0, 0.0]]))
    assert half.shares[1] == pytest.approx(half.human[1])
    assert half.error[1] == pytest.approx(half.human_error[1])
    alone = prediction_powered(PAIRS[:1], OTHERS[:1])
    assert half.weight == pytest.approx(alone.weight)
    assert half.shares[0] == pytest.approx(alone.shares[0])


def test_an_interval_ends_at_0_and_1() -> None:
    found = prediction_powered(PAIRS, OTHERS)
    low, high = found.interval()
    assert low == pytest.approx(found.shares - 1.959964 * found.error)
    assert high == pytest.approx(found.shares + 1.959964 * found.error)
    sure = prediction_powered(np.array([[[40.0, 0.0], [1.0, 0.0]]]), np.zeros((1, 2)))
    assert sure.interval()[1].max() == 1
    assert sure.interval()[0].min() == 0


def test_draws_spread_as_the_errors_say_and_are_shares() -> None:
    found = prediction_powered(PAIRS, OTHERS)
    corrected = powered_draws(PAIRS, OTHERS, found, "a key", draws=4_000)
    assert corrected.shares == pytest.approx(on_simplex(found.shares))
    assert corrected.draws.shape == (4_000, 2, 3)
    assert corrected.draws.sum(axis=-1) == pytest.approx(np.ones((4_000, 2)))
    assert corrected.draws.mean(axis=0) == pytest.approx(found.shares, abs=5e-3)
    assert corrected.draws.std(axis=0) == pytest.approx(found.error, rel=0.06)
    again = powered_draws(PAIRS, OTHERS, found, "a key", draws=4_000).draws
    assert (again == corrected.draws).all()
    assert (powered_draws(PAIRS, OTHERS, found, "another", draws=4_000).draws != again).any()


def test_each_distribution_needs_the_fewest_labels() -> None:
    enough = np.zeros((2, 3, 3))
    enough[:, 0, 0] = 3 * LEAST
    assert fault(enough) == ""
    enough[1, 0, 0] -= 1
    assert f"labelled {3 * LEAST - 1} samples of one" in fault(enough)
    assert fault(np.zeros((0, 3, 3))) == ""
