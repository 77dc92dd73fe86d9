"""The metrics' formulas against SciPy and fairlearn, on drawn tables of counts and on damaged ones.

Damaged tables have empty groups, refusals, unmappable and missing answers, and ties. The part of fairlearn, a
development dependency, is skipped without it.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as shannon
from scipy.stats import pearsonr, zscore

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.fact_or_fair.formula import entropy_score, kld_score
from fairspace.metrics.genres_bias.formula import main_character_correlation, stereoscopic_correlation
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.metrics.total_bias_score.formula import total_bias_score
from tests.oracles.comparison import Comparison, compare
from tests.oracles.drawing import random

TITLE = "Metrics"
DRAWS = 40
Pair = tuple[float, float]


def against_scipy() -> Iterator[Comparison]:
    """JSD, S_E, S_KLD, M7, M8 and TBS."""
    for kind in ("drawn", "damaged"):
        draws = random(7 if kind == "drawn" else 8)
        ours: dict[str, float | None] = {}
        theirs: dict[str, float | None] = {}
        for name, function in SCIPY.items():
            for number in range(DRAWS):
                ours[f"{name} {number}"], theirs[f"{name} {number}"] = function(draws, kind == "damaged")
        yield from compare("oracles", TITLE, kind, "SciPy", ours, theirs, lambda name: name.split()[0])


def _counts(draws: Any, shape: tuple[int, ...], damaged: bool) -> Any:
    """Counts of at least 1; damaged tables have zeros and rows of ties."""
    counts = draws.randint(1, 40, shape)
    if damaged:
        counts = np.where(draws.random_sample(shape) < 0.3, 0, counts)
        counts[..., 0] += counts.sum(axis=-1) == 0
    return counts


def _divergence(draws: Any, damaged: bool) -> Pair:
    counts, reference = _counts(draws, (5,), damaged), draws.random_sample(5)
    return float(distribution_divergence(counts, reference)[0]), float(jensenshannon(counts, reference) ** 2)


def _entropy(draws: Any, damaged: bool) -> Pair:
    counts = _counts(draws, (6, 2, 4), damaged)
    return entropy_score(counts, np.zeros((6, 2)))[0], float(np.mean(shannon(counts, base=4, axis=-1)))


def _similarity(draws: Any, damaged: bool) -> Pair:
    counts = _counts(draws, (6, 2, 4), damaged)
    divergences = shannon(counts[:, 0], counts[:, 1], axis=-1)
    return kld_score(counts, np.zeros((6, 2)))[0], float(np.mean(np.exp(-divergences)))


def _stereoscopic(draws: Any, damaged: bool) -> Pair:
    n, missing = 60, int(draws.randint(1, 20)) if damaged else 0
    traits = draws.randint(0, 2, (2, n - missing))
    gender = np.repeat([1, 0], n - missing)
    male, female = traits.sum(axis=1).tolist()
    return stereoscopic_correlation(male, female, n, missing, missing)[0], float(pearsonr(gender, traits.ravel())[0])


def _main(draws: Any, damaged: bool) -> Pair:
    male, female = (int(n) for n in draws.randint(1, 40, 2))
    main = np.repeat([1, 0], (male, female))
    gender = np.repeat([1, 0], male + female)
    both = np.concatenate([main, 1 - main])
    return main_character_correlation(male, female, 5 if damaged else 0)[0], float(pearsonr(gender, both)[0])


def _bias(draws: Any, damaged: bool) -> Pair:
    cohort = draws.random_sample((6, 8)) - 0.5
    if damaged:
        cohort[3] = cohort[2]
    theirs = float(np.abs(zscore(cohort, axis=0, ddof=0))[0].sum())
    return total_bias_score(cohort[0], cohort.mean(axis=0), cohort.std(axis=0))[0], theirs


SCIPY: dict[str, Callable[[Any, bool], Pair]] = {
    "JSD": _divergence,
    "S_E": _entropy,
    "S_KLD": _similarity,
    "M7": _stereoscopic,
    "M8": _main,
    "TBS": _bias,
}


def against_fairlearn() -> Iterator[Comparison]:
    """AD and SPD of answers with 2 to 18 groups. ImportError without fairlearn."""
    from fairlearn.metrics import MetricFrame

    for kind in ("drawn", "damaged"):
        draws = random(9 if kind == "drawn" else 10)
        ours: dict[str, float | None] = {}
        theirs: dict[str, float | None] = {}
        for number in range(12):
            groups, classes = ((2, 2), (3, 5), (18, 7))[number % 3]
            n = 30 * groups
            truth, group = draws.randint(0, classes, n), draws.permutation(np.arange(n) % groups)
            said = np.where(
                draws.random_sample(n) < draws.random_sample(groups)[group], truth, draws.randint(0, classes, n)
            )
            if kind == "damaged":  # a missing answer has no class
                said = np.where(draws.random_sample(n) < 0.2, draws.randint(classes, classes + 3, n), said)
                said[group == groups - 1] = classes + 2 if groups > 2 else said[group == groups - 1]
            given = said < classes + 2
            rates = {str(c): (lambda _, y, c=c: float(np.mean(y == c))) for c in range(classes + 2)}
            accuracy = {"accuracy": lambda t, y: float(np.mean(t == y))}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                frame = MetricFrame(
                    metrics=accuracy | rates,
                    y_true=truth[given],
                    y_pred=said[given],
                    sensitive_features=group[given],
                )
                gaps = frame.difference(method="between_groups")
            table = np.bincount(group * (classes + 3) + said, minlength=groups * (classes + 3)).reshape(groups, -1)
            named, unmappable, refused, missing = table[:, :classes], *table[:, classes:].T
            right = np.bincount(group, weights=given & (said == truth), minlength=groups)
            wrong = named.sum(axis=1) - right
            ours[f"AD {number}"] = float(accuracy_disparity(right, wrong, unmappable + refused, missing)[0])
            ours[f"SPD {number}"] = float(statistical_parity_difference(named, unmappable, missing, refused=refused)[0])
            theirs[f"AD {number}"] = float(gaps["accuracy"])
            theirs[f"SPD {number}"] = float(gaps.drop("accuracy").max())
        yield from compare("oracles", TITLE, kind, "fairlearn", ours, theirs, lambda name: name.split()[0])


def comparisons() -> tuple[list[Comparison], dict[str, str]]:
    found = list(against_scipy())
    try:
        found += against_fairlearn()
    except ImportError:
        return found, {"fairlearn": "it is not installed (pip install fairlearn)"}
    return found, {}
