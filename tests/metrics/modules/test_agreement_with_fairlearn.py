"""AD and SPD equal fairlearn's on random answers."""

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("groups", "classes"), [(2, 2), (3, 5), (18, 7)])
def test_random_answers_have_fairlearns_gaps(seed: int, groups: int, classes: int) -> None:
    from fairlearn.metrics import MetricFrame, demographic_parity_difference

    rng = np.random.default_rng(seed)
    n = 40 * groups
    truth, group = rng.integers(classes, size=n), rng.permutation(np.arange(n) % groups)
    skill = rng.random(groups)
    said = np.where(rng.random(n) < skill[group], truth, rng.integers(classes, size=n))
    rates = {f"class {c}": lambda _, y, c=c: float(np.mean(y == c)) for c in range(classes)}
    accuracy = {"accuracy": lambda t, y: float(np.mean(t == y))}
    frame = MetricFrame(metrics=accuracy | rates, y_true=truth, y_pred=said, sensitive_features=group)
    gaps = frame.difference(method="between_groups")

    right = np.bincount(group, weights=said == truth, minlength=groups)
    answers = np.bincount(group * classes + said, minlength=groups * classes).reshape(groups, classes)
    none = np.zeros(groups)
    assert accuracy_disparity(right, answers.sum(1) - right, none, none)[0] == pytest.approx(gaps["accuracy"])
    parity = statistical_parity_difference(answers, none, none)[0]
    assert parity == pytest.approx(gaps.drop("accuracy").max())
    if classes == 2:
        assert parity == pytest.approx(demographic_parity_difference(truth, said, sensitive_features=group))
