"""AD and SPD over the seven attribute combinations beside fairlearn's MetricFrame, once and resampled.

A few resamples of the peer (`n_boot`) are timed and a thousand extrapolated. Ours draws a thousand: all values of the
task as `fairspace score` does, and AD alone as multinomial counts. AD alone is the fairer comparison, since the peer
runs the rates of SPD's 52 classes as Python functions.
"""

import warnings
from collections.abc import Callable

import numpy as np
from fairlearn.metrics import MetricFrame
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUPS,
    OCCUPATIONS,
    combination_codes,
    combination_size,
    group_attributes,
)
from fairspace.builders.iris_ideal_52.plan import image_cells
from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.resampling import RESAMPLES, draw
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.submissions.benchmarks.iris.answer_quantities import occupation_design
from tests.benchmarks.record import keep
from tests.benchmarks.timing import fastest, line

BOOTS = 2
AD_BOOTS = 20
PROMISED = 5_000
"""Promised speed as a multiple of the peer's, with all values and with AD alone."""
Rate = Callable[..., float]


def ours(truth: NDArray[np.int_], said: NDArray[np.int_], groups: NDArray[np.int_]) -> list[float]:
    values = []
    attributes = group_attributes(groups)
    for combination in COMBINATIONS:
        codes, size = combination_codes(attributes, combination), combination_size(combination)
        classes = np.bincount(codes * len(OCCUPATIONS) + said, minlength=size * len(OCCUPATIONS)).reshape(size, -1)
        right = np.bincount(codes, weights=said == truth, minlength=size)
        none = np.zeros(size)
        values.append(accuracy_disparity(right, classes.sum(axis=1) - right, none, none)[0])
        values.append(statistical_parity_difference(classes, none, none)[0])
    return values


ACCURACY: dict[str, Rate] = {"accuracy": lambda t, y: float(np.mean(t == y))}
RATES: dict[str, Rate] = {f"class {c}": lambda _, y, c=c: float(np.mean(y == c)) for c in range(len(OCCUPATIONS))}


def fairlearns(
    truth: NDArray[np.int_],
    said: NDArray[np.int_],
    groups: NDArray[np.int_],
    metrics: dict[str, Rate],
    n_boot: int | None = None,
) -> list[float]:
    """The same by MetricFrame, with `n_boot` resamples: gaps of accuracy and, if asked, the largest of the classes."""
    values = []
    attributes = group_attributes(groups)
    further = {} if n_boot is None else {"n_boot": n_boot, "ci_quantiles": [0.025, 0.975], "random_state": 0}
    for combination in COMBINATIONS:
        codes = combination_codes(attributes, combination)
        frame = MetricFrame(metrics=metrics, y_true=truth, y_pred=said, sensitive_features=codes, **further)
        gaps = frame.difference(method="between_groups")
        values.append(float(gaps["accuracy"]))
        if len(gaps) > 1:
            values.append(float(gaps.drop("accuracy").max()))
    return values


def counts_resampled(
    truth: NDArray[np.int_], said: NDArray[np.int_], groups: NDArray[np.int_], resamples: int
) -> NDArray[np.float64]:
    """(resamples, 7) AD of resampled rows, drawn as counts of right and wrong answers per group."""
    cells = np.bincount(groups * 2 + (said == truth), minlength=2 * len(GROUPS))
    drawn = np.random.default_rng(0).multinomial(len(truth), cells / len(truth), resamples).reshape(resamples, -1, 2)
    attributes = group_attributes(np.arange(len(GROUPS)))
    found = []
    for combination in COMBINATIONS:
        member = np.eye(combination_size(combination))[combination_codes(attributes, combination)]
        accuracy = (drawn[:, :, 1] @ member) / (drawn.sum(axis=2) @ member)
        found.append(np.ptp(accuracy, axis=1))
    return np.stack(found, axis=1)


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)
    truth, groups = image_cells()
    rng = np.random.default_rng(0)
    said = np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(len(OCCUPATIONS), size=len(truth)))
    np.testing.assert_allclose(ours(truth, said, groups), fairlearns(truth, said, groups, ACCURACY | RATES))
    mine = fastest(lambda: ours(truth, said, groups))
    peer = fastest(lambda: fairlearns(truth, said, groups, ACCURACY | RATES), repeats=1)
    line(f"AD and SPD over seven combinations of {len(truth)} answers", mine)
    line("the same by fairlearn's MetricFrame", peer, f"{peer / mine:.0f} x ours")
    design = occupation_design(said)
    resampled = fastest(lambda: draw(*design, RESAMPLES))
    with_boot = fastest(lambda: fairlearns(truth, said, groups, ACCURACY | RATES, BOOTS), repeats=1)
    thousand = (with_boot - peer) / BOOTS * RESAMPLES
    line(f"the same with {RESAMPLES} resamples (and accuracy and drifts)", resampled)
    line(f"by MetricFrame, n_boot={RESAMPLES}, reckoned from {BOOTS}", thousand, f"{thousand / resampled:.0f} x ours")
    np.testing.assert_allclose(ours(truth, said, groups)[::2], fairlearns(truth, said, groups, ACCURACY))
    plain = fastest(lambda: fairlearns(truth, said, groups, ACCURACY), repeats=1)
    with_boot = fastest(lambda: fairlearns(truth, said, groups, ACCURACY, AD_BOOTS), repeats=1)
    thousand_of_ad = (with_boot - plain) / AD_BOOTS * RESAMPLES
    counted = fastest(lambda: counts_resampled(truth, said, groups, RESAMPLES))
    line(f"AD alone with {RESAMPLES} resamples, as counts", counted)
    beside = f"{thousand_of_ad / counted:.0f} x ours"
    line(f"by MetricFrame, n_boot={RESAMPLES}, reckoned from {AD_BOOTS}", thousand_of_ad, beside)
    measured = f"{thousand / resampled:.0f} times as fast as MetricFrame; AD alone {thousand_of_ad / counted:.0f}"
    keep(f"AD and SPD of {len(truth)} answers, {RESAMPLES} resamples", f"{measured} (promised: {PROMISED})")
    if thousand < PROMISED * resampled or thousand_of_ad < PROMISED * counted:
        raise SystemExit(f"promised: {PROMISED} x")


if __name__ == "__main__":
    main()
