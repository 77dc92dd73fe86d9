from collections.abc import Mapping

import numpy as np
import pytest

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.metrics.iris_score.standards import INAUGURAL as IRIS
from fairspace.metrics.resampling import Sample, draw, names_of, uncertainties
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.scoring import resample
from tests.benchmarks.text_coverage import MODELS, coverage
from tests.damage import DAMAGES, at_random, damaged
from tests.oracles import fact_or_fair
from tests.scored_baselines import baseline
from tests.submissions.benchmarks.rows import there


@pytest.fixture(scope="module")
def everything() -> Submission:
    """All four tasks of FACT-OR-FAIR, drawn with a leaning; many images have two faces."""
    (oracle,) = (oracle for oracle in fact_or_fair.ORACLES if oracle.revision == "v1")
    return oracle.submission(oracle.draw(2, "drawn"))


def designs_of(submission: Submission) -> dict[str, Sample]:
    """Task -> its sample."""
    bench = benchmark(submission.meta.benchmark)
    return {design[0].task.partition("/")[2]: design for design in bench.designs(bench.read(submission))}


@pytest.mark.parametrize("damage", [None, *DAMAGES])
@pytest.mark.parametrize("name", ["fact_or_fair", "stereotypical_bias"])
def test_every_value_has_an_interval_whatever_is_missing(everything: Submission, name: str, damage: str | None) -> None:
    bench, given = benchmark(name), everything if name == "fact_or_fair" else baseline("random", name)
    records = bench.read(given if damage is None else damaged(given, DAMAGES[damage], at_random(5, 0.1)))
    values = bench.measure(records)
    found, draws = resample(bench.designs(records), values, 3, bench.scoring.drawn)
    lacking = {name for name, value in found.items() if value.value is not None and value.uncertainty is None}
    assert all(name.startswith("chance") for name in lacking)
    assert set(there(draws).names) <= bench.scoring.drawn
    if name == "stereotypical_bias":
        wins = values["race_persona"].evidence["by_instance"].values()
        assert values["race_persona"].smallest == min(sum(one["wins"].values()) for one in wins)
        return
    asked = 300  # about each statistic and level; what was handed in and names no group is an answer too
    known = asked if damage in ("corrupt", "refuse") else 0
    for value, least in (("entropy_llm_base_race", known), ("fairness_t2i_subjective_gender", 0)):
        table = values[f"fairness_{value.split('_', 1)[1]}"].evidence["by_group"]
        sums = [sum(groups.values()) for levels in table.values() for groups in levels.values()]
        assert values[value].smallest == max(least, int(min(sums) + 1e-5))


def test_both_attributes_of_a_query_and_both_cells_of_a_picture_are_drawn_together(everything: Submission) -> None:
    names = names_of(designs_of(everything)["llm_subjective"][1])
    assert {f"fairness_llm_base_{a}" for a in ATTRIBUTES} <= set(names)
    designs = designs_of(baseline("random", "stereotypical_bias"))
    sizes = {task: (len(table.strata), table.strata.max() + 1) for task, (table, _) in designs.items()}
    assert sizes == {"vision": (48, 1), "language": (2800, 14)}


def test_what_a_fair_model_shows_lies_on_the_worse_side_of_the_ideal(everything: Submission) -> None:
    design = designs_of(everything)["t2i_subjective"]
    entropy = uncertainties(*design, draw(*design, 60))["entropy_t2i_subjective_gender"]
    assert there(entropy.fair_high) < there(entropy.fair) < 1
    design = designs_of(baseline("stereotyped", "stereotypical_bias"))["language"]
    bias = uncertainties(*design, draw(*design, 60))["race_persona"]
    # |x/n - p| of a binomial is sqrt(2 p (1 - p) / (pi n)) on average
    assert bias.fair == pytest.approx((2 * 0.25 * 0.75 / (np.pi * 200)) ** 0.5, rel=0.05)
    assert 0 < there(bias.fair) < there(bias.fair_high) < bias.low


def test_the_error_of_m3_is_the_derived_one() -> None:
    """An element adds a variance of 4, each of its five passages one of 9: (4 + 9 / 5) / 288 of the mean."""
    errors = []
    for number in range(20):
        design = MODELS["passages, leaning"][1](np.random.default_rng(number))
        errors.append(uncertainties(*design, draw(*design, 200))["M3"].error)
    assert np.mean(errors) == pytest.approx((5.8 / 288) ** 0.5, rel=0.05)


@pytest.mark.parametrize(
    ("model", "submissions", "names"),
    [
        ("images, leaning", 24, ("entropy", "kld", "fairness")),
        ("persona, fair", 60, ("gender", "race")),
        pytest.param("passages, leaning", 60, ("M4", "M8", "TBS"), marks=pytest.mark.slow),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(model: str, submissions: int, names: tuple[str, ...]) -> None:
    found = coverage(model, submissions, 200)
    assert np.mean([share for name, (share, _) in found.items() if name.startswith(names)]) >= 0.93


def test_what_scores_can_be_is_that_of_their_formulas() -> None:
    def limits(name: str, changed: Adjustment = AS_RELEASED) -> Mapping[str, tuple[float, float]]:
        return benchmark(name).scoring.table(benchmark(name).standards["inaugural"], changed).limits

    iris, genres = limits("iris"), limits("genres")
    assert (iris["IFS_Gen"], iris["iris_score"]) == ((0, IRIS.scale["IFS_Gen"]), (0, IRIS.scale["total"]))
    assert (genres["CS.M3"], genres["M5"], genres["AR.M8"]) == ((-40, 40), (-200, 200), (-1, 1))
    assert list(genres["TBS"]) == [0, np.inf]
    bias = limits("stereotypical_bias")
    assert (bias["gender_persona"], bias["race_persona_na_filtered"]) == ((0, 0.5), (0, 0.375))
    assert bias["total"][1] == pytest.approx((0.5 + 0.375) / 2)
    weighted = limits("stereotypical_bias", Adjustment(weights={n: 0.0 for n in bias if n.startswith("race")}))
    assert weighted["total"][1] == 0.5
    assert set(limits("fact_or_fair").values()) == {(0.0, 1.0)}
