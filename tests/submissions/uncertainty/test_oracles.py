from typing import Any

import errorbars
import numpy as np
import pytest
from inspect_ai.scorer import SampleScore, Score, ci

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, truth, with_attribute
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.resampling import Counts, CountTable, Family, Quantity, Sample, draw, each, tally, uncertainties
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import Context, Grid, independent_answers

CLUSTERS, EACH = 60, 5


def answers() -> tuple[Floats, Integers]:
    """Right or wrong answers, and their clusters; answers of a cluster are correlated."""
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(CLUSTERS), EACH)
    return (rng.random(len(clusters)) < np.repeat(rng.beta(2, 1, CLUSTERS), EACH)).astype(float), clusters


def mean_of(values: Floats, clusters: Integers) -> Sample:
    blocks = {"right": tally(np.zeros_like(clusters), weights=values, cluster=clusters), "all": each(CLUSTERS)}
    table = CountTable("oracle", "cluster", np.zeros(CLUSTERS, np.int64), blocks)
    return table, [Family([Quantity("share", "normal")], share)]


def share(counts: Counts) -> Floats:
    return np.asarray((counts["right"] / (counts["all"].sum(axis=1) * EACH))[:, None])


def test_the_error_of_clustered_answers_is_the_formulas() -> None:
    values, clusters = answers()
    design = mean_of(values, clusters)
    about = uncertainties(*design, draw(*design, 2000))["share"]
    assert about.error == pytest.approx(errorbars.cluster_robust_se(values, clusters), rel=0.06)
    assert about.error > 1.3 * errorbars.mean_ci_clt(values).se  # clusters matter here


def test_the_interval_of_clustered_answers_is_inspects() -> None:
    values, clusters = answers()
    samples = [
        SampleScore(score=Score(value=value), sample_metadata={"cluster": int(cluster)})
        for value, cluster in zip(values, clusters, strict=True)
    ]
    of_samples: Any = ci(cluster="cluster")
    theirs = of_samples(samples)
    design = mean_of(values, clusters)
    about = uncertainties(*design, draw(*design, 2000))["share"]
    width = theirs["upper"] - theirs["lower"]
    assert about.high - about.low == pytest.approx(width, rel=0.08)
    assert (about.low + about.high) / 2 == pytest.approx(values.mean(), abs=0.1 * width)


def test_answers_to_objective_queries_count_as_kish_reckons_them() -> None:
    rng = np.random.default_rng(3)
    grids, likeness = [], {}
    for a in ATTRIBUTES:
        cells = truth("paper")[a][with_attribute(a)].astype(np.intp)
        right = rng.binomial(3, rng.beta(2, 1, cells.shape))
        counts = np.zeros((*cells.shape, len(GROUPS[a])))
        np.put_along_axis(counts, np.maximum(cells, 0)[..., None], right[..., None], axis=-1)
        other = (np.maximum(cells, 0) + 1) % len(GROUPS[a])
        np.put_along_axis(counts, other[..., None], 3 - right[..., None], axis=-1)
        grids.append(Grid(Context("llm_objective"), a, counts))
        known = right[cells >= 0]
        single = np.concatenate([np.repeat([1.0, 0.0], [n, 3 - n]) for n in known])
        likeness[a] = len(single), errorbars.intraclass_correlation(single, np.repeat(np.arange(len(known)), 3))
    independent = independent_answers(grids)
    for a, (number, alike) in likeness.items():
        theirs = number / errorbars.design_effect(alike, 3)
        assert independent[f"factuality_llm_objective_{a}"] == pytest.approx(theirs, rel=0.04)
