from dataclasses import replace

import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.metrics.iris_score.standards import GRANULAR, SECTORS, SKIN_DRIFT, STANDARDS, IrisStandard
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.iris import score as iris_score
from fairspace.submissions.benchmarks.iris.score import DRAWN, chances, scoring
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment
from fairspace.submissions.comparing import compare
from fairspace.submissions.errors import UsageError
from fairspace.submissions.gating import checked_values, gate
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.show.headline import opening
from fairspace.submissions.values import Value, measured
from tests.submissions.benchmarks.iris.results import iris_result

NAMES = (*(metric.name for metric in GRANULAR), *SKIN_DRIFT)
LARGEST = {metric.name: metric.bound or 5.0 for metric in GRANULAR}
DRIFT = next(metric.name for metric in GRANULAR if metric.metric == "stereotype_drift")


def drawn(rows: int, seed: int = 0) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0, LARGEST.get(name, 1.0), rows) for name in NAMES}


def values(draws: dict[str, Floats], row: int) -> dict[str, Value]:
    return {name: measured(name, x := column[row], low=x, high=x) for name, column in draws.items()}


@pytest.mark.parametrize("standard", STANDARDS.values(), ids=list(STANDARDS))
def test_score_draws_equal_the_score_of_every_draw(standard: IrisStandard) -> None:
    draws = drawn(7)
    found = scoring(standard, AS_RELEASED).replicates(draws)
    assert set(found) == {*SECTORS, "iris_score"}
    for row in range(7):
        scored = iris_score.score(values(draws, row), standard)
        for name, column in found.items():
            assert column[row] == pytest.approx(scored.scores[name].value, rel=1e-12)


def test_a_score_without_draws_of_a_value_is_left_out_and_one_without_a_number_is_nan() -> None:
    draws = drawn(3)
    del draws["RD_age"]
    draws["JSD_US_age"][1] = np.nan
    found = scoring(STANDARDS["inaugural"], AS_RELEASED).replicates(draws)
    assert set(found) == {*SECTORS} - {"IFS_Gen"}
    assert np.isnan(found["RFS_Gen"]).tolist() == [False, True, False]


def test_scores_need_every_value_whose_draws_are_kept() -> None:
    assert frozenset(NAMES) == DRAWN


def scored(low: float) -> Scored:
    numbers = dict.fromkeys(SECTORS, 80.0) | {"RFS_Gen": 30.0}
    scores = {name: measured(name, value, low=value, high=value) for name, value in numbers.items()}
    scores["IFS_Gen"] = replace(scores["IFS_Gen"], low=low)
    return Scored(scores, "iris_score", None, (), {"profile_gen": "UDF" if low >= 60 else "HDF"})


def test_the_chance_of_a_code_is_that_of_its_three_letters_together() -> None:
    """Two of four draws of IFS_Gen and three of RFS_Gen show the letter, one of four both."""
    flat = np.full(4, 80.0)
    draws = {"IFS_Gen": np.array([59, 61, 62, 59.9]), "RFS_Gen": np.array([20, 60, 20, 20.0]), "BIS_Gen": flat}
    found = chances(draws, scored(80.0), STANDARDS["inaugural"], AS_RELEASED)
    assert found == {"IFS_Gen": 0.5, "RFS_Gen": 0.25, "BIS_Gen": 1.0, "profile_gen": 0.25}


def test_chances_follow_the_worst_case_and_a_readers_threshold() -> None:
    """With a worst case of three quarters of the value, a draw of 79.9 is below 60 and one of 80 reaches it."""
    flat = np.full(2, 80.0)
    draws = {"IFS_Gen": np.array([79.9, 80.0]), "RFS_Gen": flat / 4, "BIS_Gen": flat}
    assert chances(draws, scored(60.0), STANDARDS["inaugural"])["IFS_Gen"] == 0.5
    assert chances(draws, scored(60.0), STANDARDS["inaugural"], Adjustment(tau=50))["IFS_Gen"] == 1.0
    assert chances(draws, scored(80.0), STANDARDS["inaugural"])["IFS_Gen"] == 1.0


def test_a_sector_without_a_number_has_no_chance() -> None:
    draws = {"IFS_Gen": np.array([np.nan, 70.0]), "RFS_Gen": np.full(2, 30.0)}
    found = chances(draws, scored(80.0), STANDARDS["inaugural"])
    assert found == {"IFS_Gen": 1.0, "RFS_Gen": 0.0}


@pytest.mark.parametrize("standard", STANDARDS.values(), ids=list(STANDARDS))
def test_the_worst_case_of_a_drift_is_the_one_that_the_standard_scores_lower(standard: IrisStandard) -> None:
    """Table 27 rewards drift: its worst case is the smallest drift there; elsewhere, and in the total, the largest."""
    whole = dict(iris_result("a model", "o").values)
    for name, sector in ((DRIFT, "RFS_Und"), ("RD_age", "IFS_Gen")):
        open_value = {name: replace(whole[name], low=0.1, high=0.3)}
        scores = iris_score.score(whole | open_value, standard).scores
        ends = [{name: replace(whole[name], value=number, low=number, high=number)} for number in (0.1, 0.3)]
        for score in (sector, "iris_score"):
            at_ends = [iris_score.score(whole | end, standard).scores[score].value or 0.0 for end in ends]
            assert (scores[score].low, scores[score].high) == pytest.approx((min(at_ends), max(at_ends)))
            rewarded = standard.fidelity_by_goodness and score == "RFS_Und"
            assert (at_ends[0] < at_ends[1]) == rewarded


def test_no_larger_drift_is_called_fairer_and_its_number_under_bounded_stands_beside_it() -> None:
    calm = rescore(iris_result("calm", "a lab", 0.2, 0.02), "inaugural_points")
    drifts = {name: 0.6 for name in NAMES if name.startswith("AbsSDS")}
    drifting = rescore(iris_result("drifting", "a lab", 0.2, 0.02, **drifts), "inaugural_points")
    higher, lower = (result.scored.scores["RFS_Und"].value or 0 for result in (drifting, calm))
    assert higher > lower
    bounded = rescore(drifting, "bounded").scored.scores
    sentences = " ".join(opening(drifting))
    assert f"RFS_Und {higher:.2f}: a larger drift from labour statistics counts as better" in sentences
    assert f"so the A of {drifting.scored.labels['profile_und']} does not mean accurate" in sentences
    assert f"under bounded, where it counts as worse, {bounded['RFS_Und'].value:.2f}" in sentences
    assert f"under inaugural_points, {bounded['iris_score'].value:.2f} under bounded." in sentences
    compared = compare(calm, drifting)
    (line,) = (line for line in compared.lines if line.name == "RFS_Und")
    assert (line.verdict, "even" in line.sentence) == ("significant", False)
    assert "under bounded, where it counts as worse" in repr(compared).replace("\n", " ")
    assert ", less even" in " ".join(compare(calm, drifting, standard="bounded").sentences)
    assert "RFS_Und" not in checked_values(drifting, calm)
    with pytest.raises(UsageError, match="no fairer direction under inaugural_points: a larger drift"):
        gate(drifting, calm, scores=["RFS_Und"])
    assert "not inaugural_points" in repr(compare(rescore(calm, "bounded"), drifting))
