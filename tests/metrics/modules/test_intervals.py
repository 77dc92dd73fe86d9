"""Intervals of the `evaluate` modules: coverage on populations whose values are known, and the cases without one.

`python -m tests.metrics.modules.test_intervals` draws 2000 studies of each population: the table of metrics/CARDS.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import evaluate
import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.fact_or_fair.formula import entropy
from fairspace.metrics.genres_bias.formula import from_sums
from fairspace.metrics.metric import SAMPLING, Design, interval
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.metrics.stereotypical_association.formula import association

AD, RD, SPD, JSD = (
    "accuracy_disparity",
    "representation_disparity",
    "statistical_parity_difference",
    "distribution_divergence",
)
TWO, ASKED = {"groups": ["g0", "g1"]}, {"confidence": 0.95, "resamples": 100}
HALF, TILTED, MOST, FOUR = [0.5, 0.5], [0.6, 0.4], [0.9, 0.1], [0.25] * 4
VALUES: dict[str, Callable[[Any], Any]] = {
    AD: lambda c: accuracy_disparity(c[..., 0], c[..., 1], 0 * c[..., 0], 0 * c[..., 0])[0],
    SPD: lambda c: statistical_parity_difference(c, 0 * c[..., 0], 0 * c[..., 0])[0],
    RD: lambda c: representation_disparity(c)[0].mean(-1),
    JSD: lambda c: distribution_divergence(c, HALF)[0].mean(-1),
    "stereotypical_association": lambda c: association(c, c.sum(axis=(-2, -1)))[1],
    "fact_or_fair": lambda c: entropy(c.reshape(*c.shape[:-2], -1, 2, c.shape[-1])),
    "hallucination_inconsistency": lambda c: c[..., 0, 0] / c[..., 0, :].sum(-1),
    "generation_success_penalty": lambda c: np.maximum(0, c[..., 0, 0] - c[..., 1, 0]) / c[..., 0, :].sum(-1),
    "genres_bias": lambda c: from_sums("M7", c[..., 0, 0] - c[..., 1, 0], c[..., 0].sum(-1), c[..., 0, :].sum(-1)),
}
"""Metric -> its value of counts of answers, (..., rows, classes)."""
POPULATIONS: dict[str, tuple[str, list[list[float]], int]] = {
    "share, 10 % of 60": ("hallucination_inconsistency", [[0.1, 0.9]], 60),
    "share, 50 % of 30": ("hallucination_inconsistency", [HALF], 30),
    "AD of 2 groups, 0": (AD, [[0.7, 0.3]] * 2, 40),
    "AD of 2 groups, .1": (AD, [[0.7, 0.3], TILTED], 40),
    "AD of 2 groups, .2": (AD, [[0.7, 0.3], HALF], 40),
    "AD of 2 groups, .4": (AD, [MOST, HALF], 40),
    "AD of 6 groups, 0": (AD, [[0.7, 0.3]] * 6, 40),
    "AD of 6 groups, .2": (AD, [*[[0.7, 0.3]] * 5, HALF], 40),
    "SPD, 0": (SPD, [FOUR] * 2, 40),
    "SPD, .3": (SPD, [FOUR, [0.55, 0.15, 0.15, 0.15]], 40),
    "RD of 2 groups, 0": (RD, [HALF], 60),
    "RD of 2 groups, .2": (RD, [TILTED], 60),
    "RD of 4 groups, 0": (RD, [FOUR], 60),
    "RD of 20 occupations, 0": (RD, [HALF] * 20, 20),
    "RD of 20 occupations, .2": (RD, [TILTED] * 20, 20),
    "RD of 20 occupations, .8": (RD, [MOST] * 20, 20),
    "JSD, 0": (JSD, [HALF], 80),
    "JSD, .005": (JSD, [TILTED], 80),
    "JSD of 20 occupations, .1": (JSD, [MOST] * 20, 20),
    "S of 20 instances, 0": ("stereotypical_association", [HALF] * 20, 20),
    "S of 20 instances, .4": ("stereotypical_association", [MOST] * 20, 20),
    "S_E of 10 statistics, 1": ("fact_or_fair", [HALF] * 20, 20),
    "S_E of 10 statistics, .47": ("fact_or_fair", [MOST] * 20, 20),
    "penalty, 0": ("generation_success_penalty", [TILTED] * 2, 60),
    "penalty, .2": ("generation_success_penalty", [[0.7, 0.3], HALF], 60),
    "correlation (M7), .1": ("genres_bias", [[0.7, 0.3], TILTED], 100),
}
"""Name -> metric, shares of classes in each row of the design, and answers to each row."""


def metric(name: str) -> Any:
    module = import_module(f"fairspace.metrics.{name}.{name}")
    kinds = [part for part in vars(module).values() if isinstance(part, type) and issubclass(part, evaluate.Metric)]
    return next(kind for kind in kinds if kind.__name__ != "ColumnMetric")()


def coverage(name: str, studies: int = 2000, resamples: int = 300) -> tuple[float, int, float]:
    """Share of the intervals that hold the truth, how many studies have none, and the mean width."""
    kind, shares, size = POPULATIONS[name]
    p, value, sampling = np.array(shares), VALUES[kind], SAMPLING[kind]
    truth, random = float(value(p * 1e6)), np.random.default_rng(sum(map(ord, name)))
    strata = np.split(np.arange(size * len(p)), len(p))
    whole = np.arange(size * len(p))
    part = Design(whole, np.ones(len(whole), int), strata, renames=False).part(np.ones(len(whole), bool))
    found = []
    for _ in range(studies):
        counts = random.multinomial(size, p).astype(float)
        draws = value(random.multinomial(size, counts / size, (resamples, len(p))).astype(float))
        found.append(interval(float(value(counts)), draws, sampling.kind, sampling.most, 0.95, part)[0])
    ends = np.array([each for each in found if each is not None])
    held = (ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9)
    return float(held.mean()), studies - len(ends), float(np.ptp(ends, axis=1).mean())


def passages(random: np.random.Generator) -> dict[str, Any]:
    """Two hundred passages of GENRES, five to an element that makes them alike in M3."""
    names = metric("genres_bias").about.columns
    blank = {name: [math.nan if kind == "float64" else ""] * 200 for name, kind in names.items()}
    subjects = 10 + np.repeat(random.normal(size=40), 5) + random.normal(size=200)
    given = {"male_subjects": subjects.tolist(), "female_subjects": [10.0] * 200, "relations": ["CS"] * 200}
    return {**blank, **given, "clusters": [str(i // 5) for i in range(200)]}


def answers() -> dict[str, Any]:
    said = ["a"] * 28 + ["b"] * 12 + ["a"] * 20 + ["b"] * 20
    return {"predictions": said, "references": ["a"] * 80, "groups": ["f"] * 40 + ["m"] * 40}


@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_hold_known_values(name: str) -> None:
    share, none, _ = coverage(name, 150, 100)
    assert share >= 0.86
    assert none <= (75 if name == "penalty, 0" else 5)


def test_intervals_come_when_asked_and_repeat() -> None:
    plain, first, again = (metric(AD).compute(**answers(), **more) for more in ({}, ASKED, ASKED))
    assert first == again
    for result in (*first["by_group"].values(), first):
        del result["interval"], result["interval_reason"]
    assert plain == first
    low, high = again["interval"]
    assert 0 <= low < again[AD] < high <= 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"predictions": ["g0"]}, "1 row or cluster; an interval needs two"),
        ({"predictions": ["g0"] * 9, "clusters": ["a"] * 9}, "1 row or cluster; an interval needs two"),
        ({"predictions": ["", ""]}, "the value is undefined"),
        ({"predictions": ["g0", *[""] * 9]}, "1 row or cluster; an interval needs two"),
    ],
)
def test_no_interval_is_none_with_its_reason_and_never_a_point(rows: dict[str, Any], reason: str) -> None:
    result = metric(RD).compute(**rows, **TWO, **ASKED)
    assert result["interval"] is None
    assert reason in result["interval_reason"]


def test_a_value_that_no_resample_varies_has_the_room_of_its_own_rows() -> None:
    few = metric(RD).compute(predictions=["g0"] * 20, **TWO, **ASKED)
    assert few["interval"] == pytest.approx([2 * 0.025 ** (1 / 20) - 1, 1])
    rate = metric(SPD).compute(predictions=["a"] * 20 + ["a", "b"] * 50, groups=["f"] * 20 + ["m"] * 100, **ASKED)
    assert rate["by_group"]["f"]["interval"] == pytest.approx([0.025 ** (1 / 20), 1])


@pytest.mark.slow
def test_a_disparity_over_many_groups_with_few_rows_has_no_low_end() -> None:
    random, names = np.random.default_rng(0), [f"g{i}" for i in range(18)]
    for _ in range(15):
        asked = {"predictions": random.choice(names, 20).tolist(), "groups": names, "confidence": 0.95}
        result = metric(RD).compute(**asked, resamples=50)
        assert result["interval"][0] == 0
        assert "fewer than 5 rows a group" in result["interval_reason"]


def test_clusters_that_are_alike_widen_the_interval() -> None:
    rows = passages(np.random.default_rng(1))
    together = metric("genres_bias").compute(**rows, **ASKED)["M3"]["interval"]
    del rows["clusters"]
    alone = metric("genres_bias").compute(**rows, **ASKED)["M3"]["interval"]
    assert np.ptp(together) > 1.3 * np.ptp(alone)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "iris_score",
            {"predictions": [0.1], "names": ["RD_age"], "confidence": 0.9},
            "METRIC_CONFIDENCE: .*no sample",
        ),
        ("intent_consistency", {"predictions": [[1.0]], "concepts": ["a"], "confidence": 0.9}, "METRIC_CONFIDENCE"),
        (RD, {"predictions": ["g0"], **TWO, "confidence": 95}, "METRIC_CONFIDENCE: confidence is 95"),
        (RD, {"predictions": ["g0"], **TWO, **ASKED, "clusters": [""]}, r"METRIC_CLUSTERS: clusters\[0\]"),
        (AD, {"y_true": ["a"], "y_pred": ["a"]}, "'y_true' .did you mean references"),
        (AD, {"sensitive_features": ["a"]}, "did you mean groups"),
    ],
)
def test_arguments_that_cannot_be_used_are_explained(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric(name).compute(**arguments)


if __name__ == "__main__":
    for each in POPULATIONS:
        share, none, width = coverage(each)
        print(f"| {each} | {100 * share:.0f} | {width:.3f} | {none} |", flush=True)
