import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.submissions.uncertainty.label_errors import (
    LEAST,
    on_simplex,
    pairs_fault,
    powered_draws,
    prediction_powered,
)

PAIRS = np.array(
    [[[12.0, 3.0, 1.0], [2.0, 9.0, 0.0], [0.0, 4.0, 9.0]], [[8.0, 1.0, 0.0], [1.0, 6.0, 2.0], [3.0, 0.0, 4.0]]]
)
OTHERS = np.array([[120.0, 200.0, 80.0], [30.0, 50.0, 20.0]])


def samples(pairs: Floats) -> tuple[Floats, Floats]:
    k = len(pairs)
    cells = np.repeat(np.arange(k * k), pairs.ravel().astype(int))
    return np.eye(k)[cells // k], np.eye(k)[cells % k]


def by_definition(weight: float) -> tuple[Floats, Floats]:
    """Shares and variances: the labeller's over all other samples, corrected by people's labels in their own."""
    shares, variances = [], []
    for pairs, others in zip(PAIRS, OTHERS, strict=True):
        human, answered = samples(pairs)
        everybody = np.concatenate([answered, np.repeat(np.eye(3), others.astype(int), axis=0)])
        shares.append(weight * others / others.sum() + (human - weight * answered).mean(axis=0))
        own = (human - weight * answered).var(axis=0, ddof=1) / len(human)
        variances.append(own + weight**2 * everybody.var(axis=0) / others.sum())
    return np.array(shares), np.array(variances)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_shares_are_those_of_the_samples(weight: float) -> None:
    shares, used = prediction_powered(PAIRS, OTHERS, weight)
    assert shares == pytest.approx(by_definition(weight)[0])
    assert used == weight


def test_the_weight_is_the_one_of_least_variance() -> None:
    best = prediction_powered(PAIRS, OTHERS)[1]
    assert 0 < best < 1
    total = {weight: by_definition(weight)[1].sum() for weight in (best - 0.01, best, best + 0.01)}
    assert min(total, key=total.__getitem__) == best
    assert total[best - 0.01] == pytest.approx(total[best + 0.01], rel=1e-3)


def test_without_other_samples_the_people_alone_are_heard() -> None:
    human = PAIRS.sum(axis=2) / PAIRS.sum(axis=(1, 2))[:, None]
    shares, weight = prediction_powered(PAIRS, np.zeros((2, 3)))
    assert weight == 0
    assert shares == pytest.approx(human)
    half, weight = prediction_powered(PAIRS, np.array([OTHERS[0], [0.0, 0.0, 0.0]]))
    assert half[1] == pytest.approx(human[1])
    alone = prediction_powered(PAIRS[:1], OTHERS[:1])
    assert weight == pytest.approx(alone[1])
    assert half[0] == pytest.approx(alone[0][0])


def test_draws_spread_as_the_errors_say_and_are_shares() -> None:
    shares, weight = prediction_powered(PAIRS, OTHERS)
    corrected = powered_draws(PAIRS, OTHERS, "a key", draws=4_000)
    assert corrected.shares == pytest.approx(on_simplex(shares))
    assert corrected.draws.shape == (4_000, 2, 3)
    assert corrected.draws.sum(axis=-1) == pytest.approx(np.ones((4_000, 2)))
    assert corrected.draws.mean(axis=0) == pytest.approx(shares, abs=5e-3)
    assert corrected.draws.std(axis=0) == pytest.approx(np.sqrt(by_definition(weight)[1]), rel=0.06)
    again = powered_draws(PAIRS, OTHERS, "a key", draws=4_000).draws
    assert (again == corrected.draws).all()
    assert (powered_draws(PAIRS, OTHERS, "another", draws=4_000).draws != again).any()


def test_each_distribution_needs_the_fewest_labels() -> None:
    enough = np.zeros((2, 3, 3))
    enough[:, 0, 0] = 3 * LEAST
    assert pairs_fault(enough) == ""
    enough[1, 0, 0] -= 1
    assert f"labelled {3 * LEAST - 1} samples of one" in pairs_fault(enough)
    assert pairs_fault(np.zeros((0, 3, 3))) == ""
