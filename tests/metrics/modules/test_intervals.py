"""Intervals of the `evaluate` modules: coverage on populations whose values are known, and the cases without one.

`python -m tests.metrics.modules.test_intervals` draws 2000 studies of each population: the table of metrics/CARDS.md.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS
from fairspace.builders.iris_ideal_52.plan import image_cells
from fairspace.metrics.accuracy_disparity.formula import accuracy_gap
from fairspace.metrics.columns import mean_of_defined
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.fact_or_fair.formula import entropy
from fairspace.metrics.genres_bias.formula import from_sums
from fairspace.metrics.representation_disparity.formula import mean_disparity
from fairspace.metrics.resampling import Counts, CountTable, Family, estimate, tally
from fairspace.metrics.sampling import SAMPLING, interval
from fairspace.metrics.statistical_parity_difference.formula import rate_gap
from fairspace.metrics.stereotypical_association.formula import association
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.checking.submission import check_submission
from tests.metrics.modules import new_metric

AD, RD, SPD, JSD = (
    "accuracy_disparity",
    "representation_disparity",
    "statistical_parity_difference",
    "distribution_divergence",
)
TWO, ASKED = {"groups": ["g0", "g1"]}, {"confidence": 0.95, "resamples": 100}
HALF, TILTED, MOST, FOUR = [0.5, 0.5], [0.6, 0.4], [0.9, 0.1], [0.25] * 4
VALUES: dict[str, Callable[..., Any]] = {
    AD: lambda c, *order: accuracy_gap(c[..., 0], c.sum(-1), *((o[..., 0], o.sum(-1)) for o in order)),
    SPD: rate_gap,
    RD: mean_disparity,
    JSD: lambda c: mean_of_defined(distribution_divergence(c, HALF)[0]),
    "stereotypical_association": lambda c, *order: association(c, c.sum(axis=(-2, -1)), *order)[1],
    "fact_or_fair": lambda c: entropy(c.reshape(*c.shape[:-2], -1, 2, c.shape[-1])),
    "hallucination_inconsistency": lambda c: c[..., 0, 0] / c[..., 0, :].sum(-1),
    "generation_success_penalty": lambda c: np.maximum(0, c[..., 0, 0] - c[..., 1, 0]) / c[..., 0, :].sum(-1),
    "genres_bias": lambda c: from_sums("M7", c[..., 0, 0] - c[..., 1, 0], c[..., 0].sum(-1), c[..., 0, :].sum(-1)),
}
"""Metric -> its value of counts of answers, (..., rows, classes), and of others that say the order of groups."""
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


def coverage(name: str, studies: int = 2000, resamples: int = 300) -> tuple[float, int, float]:
    """Share of the intervals that hold the truth, how many studies have none, and the mean width."""
    kind, shares, size = POPULATIONS[name]
    p, value, sampling = np.array(shares), VALUES[kind], SAMPLING[kind]
    truth, random = float(value(p[None] * 1e6)[0]), np.random.default_rng(sum(map(ord, name)))
    strata, quantity = np.repeat(np.arange(len(p)), size), sampling.quantity(kind)

    def of(*counts: Counts) -> Any:
        return value(*(part["answers"] for part in counts))[:, None]

    ends = []
    for _ in range(studies):
        counts = random.multinomial(size, p).ravel()
        table = CountTable(
            sampling.task, "row", strata, {"answers": tally(np.repeat(np.arange(p.size), counts), *p.shape)}
        )
        made = estimate(table, [Family([quantity], of)], resamples)
        ends.append(interval(made.value[kind], made.uncertainty.get(kind), quantity, len(strata), 0.95)[0])
    intervals = np.array([each for each in ends if each is not None])
    held = (intervals[:, 0] - 1e-9 <= truth) & (truth <= intervals[:, 1] + 1e-9)
    return float(held.mean()), studies - len(intervals), float(np.ptp(intervals, axis=1).mean())


def passages(random: np.random.Generator) -> dict[str, Any]:
    """Two hundred passages of GENRES, five to an element that makes them alike in M3."""
    names = new_metric("genres_bias").about.columns
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
    plain, first, again = (new_metric(AD).compute(**answers(), **more) for more in ({}, ASKED, ASKED))
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
    result = new_metric(RD).compute(**rows, **TWO, **ASKED)
    assert result["interval"] is None
    assert reason in result["interval_reason"]


def test_a_value_that_no_resample_varies_has_the_room_of_its_own_rows() -> None:
    few = new_metric(RD).compute(predictions=["g0"] * 20, **TWO, **ASKED)
    assert few["interval"] == pytest.approx([2 * 0.025 ** (1 / 20) - 1, 1])
    rate = new_metric(SPD).compute(predictions=["a"] * 20 + ["a", "b"] * 50, groups=["f"] * 20 + ["m"] * 100, **ASKED)
    assert rate["by_group"]["f"]["interval"] == pytest.approx([0.025 ** (1 / 20), 1])


@pytest.mark.slow
def test_a_disparity_over_many_groups_with_few_rows_has_no_low_end() -> None:
    random, names = np.random.default_rng(0), [f"g{i}" for i in range(18)]
    for _ in range(15):
        asked = {"predictions": random.choice(names, 20).tolist(), "groups": names, "confidence": 0.95}
        result = new_metric(RD).compute(**asked, resamples=50)
        assert result["interval"][0] == 0


@pytest.mark.slow
def test_the_same_answers_have_the_interval_of_the_board(tmp_path: Path) -> None:
    """The fair models of AD and SPD are drawn otherwise here, for one grouping alone: the errors differ by chance."""
    bench, asked = benchmark("iris"), {"confidence": 0.95, "resamples": 300}
    report = check_submission(write_baseline("random", "iris", tmp_path / "submission", revision="v2-core"))
    assert report.submission is not None
    records = bench.read(report.submission)
    assert records.neutral is not None
    assert records.occupations is not None
    board: dict[str, Any] = {}
    for table, families in bench.designs(records):
        board |= estimate(table, families, 300).uncertainty
    pictured = np.repeat(OCCUPATIONS, len(records.neutral) // len(OCCUPATIONS)).tolist()
    for attribute, codes in zip(GROUP_NAMES, records.neutral.T, strict=True):
        words = [["", *GROUP_NAMES[attribute]][code + 1] for code in codes]
        shown = {"predictions": words, "groups": list(GROUP_NAMES[attribute]), "occupations": pictured}
        of_board = board[f"RD_{attribute}"]
        assert new_metric(RD).compute(**shown, **asked)["interval"] == pytest.approx([of_board.low, of_board.high])
    truth, cells = image_cells("v2-core")
    said = [["refused", "", "unmappable", *OCCUPATIONS][code + 3] for code in records.occupations.codes()]
    groups = [GROUP_NAMES["gender"][cell // 9] for cell in cells]
    compared = {"predictions": said, "references": [OCCUPATIONS[code] for code in truth], "groups": groups}
    for name, of_board in ((AD, board["AD_single_gender"]), (SPD, board["SPD_single_gender"])):
        taken = {key: column for key, column in compared.items() if key in new_metric(name).about.columns}
        interval = new_metric(name).compute(**taken, **asked)["interval"]
        assert interval == pytest.approx([of_board.low, of_board.high], abs=0.05 * of_board.high)


@pytest.mark.slow
def test_personas_have_the_interval_of_the_board(tmp_path: Path) -> None:
    bench = benchmark("stereotypical_bias")
    report = check_submission(write_baseline("random", bench.name, tmp_path / "submission"))
    assert report.submission is not None
    records = bench.read(report.submission)
    cell = next(cell for cell in CELLS if cell.name == "gender_persona")
    answers = records.cells[cell.name]
    table, families = next((table, families) for table, families in bench.designs(records) if "language" in table.task)
    of_board = estimate(table, families, 300).uncertainty[cell.name]
    queries = {
        "predictions": [[*cell.groups, "N/A"][code] for code in answers.group],
        "instances": [cell.instances[code] for code in answers.asked.instance],
        "offers": ["|".join(cell.groups)] * len(answers.group),
        "clusters": answers.asked.cluster.tolist(),
    }
    interval = new_metric("stereotypical_association").compute(**queries, confidence=0.95, resamples=300)["interval"]
    assert interval == pytest.approx([of_board.low, of_board.high], rel=0.02)


def test_clusters_that_are_alike_widen_the_interval() -> None:
    rows = passages(np.random.default_rng(1))
    together = new_metric("genres_bias").compute(**rows, **ASKED)["M3"]["interval"]
    del rows["clusters"]
    alone = new_metric("genres_bias").compute(**rows, **ASKED)["M3"]["interval"]
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
        new_metric(name).compute(**arguments)


if __name__ == "__main__":
    for each in POPULATIONS:
        share, none, width = coverage(each)
        print(f"| {each} | {100 * share:.0f} | {width:.3f} | {none} |", flush=True)
