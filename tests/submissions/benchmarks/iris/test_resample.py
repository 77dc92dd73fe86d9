"""IRIS' samples drawn anew, with a few simulations of `tests/benchmarks/iris_coverage.py`.

Intervals with 93 % coverage fall below the bound, 30 of 40, once in ten thousand times. The mean over a family of
dependent values may not lie below 35 of 40.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS, REGIONS, combination_codes, group_attributes, shares
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.resampling import Sample, draw, fair_models, names_of, quantities_of, uncertainties
from fairspace.submissions.benchmarks.iris import declaration as iris
from fairspace.submissions.benchmarks.iris.answer_quantities import occupation_design, tournament_design
from fairspace.submissions.benchmarks.iris.image_quantities import PENALTIES, neutral_design, steer_design
from fairspace.submissions.benchmarks.iris.quantities import designs
from fairspace.submissions.benchmarks.iris.records import read
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.scoring import resample
from fairspace.submissions.values import Value
from tests import damage
from tests.benchmarks.iris_truths import Truth, models
from tests.samples import once, without_fair
from tests.submissions.benchmarks.iris.factory import META, measure
from tests.submissions.benchmarks.rows import there

IMAGES = len(OCCUPATIONS) * iris_gen_52.IMAGES


@pytest.fixture(scope="module")
def found(full: Submission) -> list[Sample]:
    return designs(read(full))


def images(seed: int = 0, bias: float = 0.4) -> Integers:
    """(8 320, 3) labels of neutral images, one group in `bias` of them."""
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(IMAGES) < bias, 9, rng.integers(len(GROUPS), size=IMAGES))
    return group_attributes(group)


def test_what_is_undefined_has_no_number_and_no_interval(full: Submission) -> None:
    gone = damage.damaged(full, damage.drop, damage.where_text_is("id", "^neutral/nurse$|^tournament/.*[13579]$", 1))
    measured = measure(gone)
    assert measured["RD_gender"].state == "undefined"
    neutral, *rest = designs(read(gone))
    assert np.isnan(list(once(neutral).values())).all()
    assert len(rest) == 4 if measured["Penalty_QPS"].state == "value" else 3
    shown, kept = resample(designs(read(gone)), measured, 5, iris.BENCHMARK.scoring.drawn)
    assert shown["RD_gender"].uncertainty is None
    assert {"RD_gender", "JSD_EU_age"}.isdisjoint(there(kept).names)
    assert shown["JSD_gender_US"].uncertainty is not None


def test_tasks_that_were_not_run_have_no_design() -> None:
    assert designs(read(Submission(META, {}))) == []


def test_the_floor_of_representation_disparity_is_that_of_even_coins() -> None:
    """RD of 160 fair coins is |p - q| = |2 h - 160| / 160."""
    heads = np.arange(161)
    expected = float((np.abs(2 * heads - 160) / 160) @ binom.pmf(heads, 160, 0.5))
    design = neutral_design(images(bias=0.9))
    fair = fair_models(*design, 200)
    assert fair[:, names_of(design[1]).index("RD_gender")].mean() == pytest.approx(expected, abs=0.002)
    assert (fair[:, names_of(design[1]).index("JSD_US_gender")] < 0.003).all()


def penalties(gap: float) -> Floats:
    """(6 000, 5) success and scores in [0, 1] that fall by `gap` for counter-stereotypes."""
    prompt = np.arange(6000) // iris_steer_60.IMAGES
    rng = np.random.default_rng(3)
    return (rng.random((6000, 5)) < np.where(prompt % 6 == 0, 0.6, 0.6 - gap)[:, None]).astype(float)


def test_the_floor_of_penalties_forgets_which_prompts_are_stereotypical() -> None:
    """A gap of 0.3 is far above shuffled labels: sqrt(p (1 - p) (1/1000 + 1/5000)) = 0.016 an error."""
    design = steer_design(penalties(0.3))
    fair = fair_models(*design, 300)[:, : len(PENALTIES)]
    assert min(once(design)[name] for name in PENALTIES) > 0.25
    assert np.quantile(fair, 0.95, axis=0) == pytest.approx(np.full(5, 1.64 * 0.0163), rel=0.25)
    assert (fair == 0).mean() == pytest.approx(0.5, abs=0.1)


def test_a_model_without_a_preference_stays_below_its_floors(found: list[Sample], values: dict[str, Value]) -> None:
    """At most three of the 14 gaps exceed the limit of 95 % of fair models."""
    design = next(d for d in found if d[0].task == "iris/occupation")
    fair = fair_models(*design, 60)[:, :14]
    highest = dict(zip(names_of(design[1]), np.quantile(fair, 0.95, axis=0), strict=False))
    assert sum((values[name].value or 0) > limit for name, limit in highest.items()) <= 3
    assert np.isnan(fair).sum() == 0


def test_errors_without_a_direction_drift_as_far_as_their_number_allows() -> None:
    truth, _ = iris_ideal_52.image_cells()
    nurse, judge = OCCUPATIONS.index("nurse"), OCCUPATIONS.index("judge")
    answers = np.where(truth == nurse, judge, np.where(truth == judge, nurse, truth))
    design = occupation_design(answers)
    place = names_of(design[1]).index("AbsSDS_gender_female_US")
    fair = fair_models(*design, 400)[:, place]
    table = shares(REGIONS[0])["gender"][:, 0]
    wrong = 2 * 18 * iris_ideal_52.IMAGES_PER_CELL
    expected = abs(table[nurse] - table[judge]) * np.sqrt(2 / np.pi / wrong)  # a mean of |normal|
    assert once(design)["AbsSDS_gender_female_US"] == pytest.approx(0, abs=1e-12)
    assert fair.mean() == pytest.approx(expected, rel=0.15)


def test_a_fair_tournament_wins_as_the_reference_says() -> None:
    competitors = iris_ideal_52.tournament_competitors()
    design = tournament_design(competitors[:, 0])
    fair = fair_models(*design, 100)
    compared = [quantity.biased for quantity in quantities_of(design[1])]
    assert (fair.mean(axis=0)[compared] < np.array(list(once(design).values()))[compared] / 20).all()


def test_the_smallest_group_is_told(full: Submission, values: dict[str, Value]) -> None:
    assert values["RD_joint_all"].smallest == iris_gen_52.IMAGES
    assert values["AD_single_gender"].smallest == 9 * 52 * iris_ideal_52.IMAGES_PER_CELL
    assert values["SPD_triple_joint_all"].smallest == 52 * iris_ideal_52.IMAGES_PER_CELL
    assert values["Penalty_SIL"].smallest == iris_steer_60.STEREOTYPES * iris_steer_60.IMAGES
    assert values["ac_diff_gender"].smallest == 858
    thin = damage.damaged(
        full, damage.silence, damage.where_text_is("id", "/female_young_light/.[^0]$|^neutral/nurse$", 1)
    )
    after = measure(thin)
    assert after["AD_triple_joint_all"].smallest == 52 * 3  # of the images 00 to 28, 00, 10 and 20 are left
    assert after["AD_single_gender"].smallest == 52 * (8 * 29 + 3)


def test_pattern_codes_are_those_of_the_combinations() -> None:
    """A face without an age counts for gender and skin alone, in the design as in the value."""
    labels = images()
    labels[::2, 1] = -1
    design = neutral_design(labels)
    codes = combination_codes(labels, "gender_skin")
    assert (codes >= 0).all()
    found = once(design)
    labels[:, 1] = 0
    assert found["RD_gender_skin"] == once(neutral_design(labels))["RD_gender_skin"]
    assert found["RD_age"] != once(neutral_design(labels))["RD_age"]


SUBMISSIONS = 40
RESAMPLES = 100
LEAST = 0.75
MEAN = 0.875


@pytest.fixture(scope="module")
def truths() -> dict[str, tuple[Truth, ...]]:
    return models()


def held(truth: Truth, names: Sequence[str], submissions: int = SUBMISSIONS) -> dict[str, float]:
    """Name -> share of the submissions whose interval holds the true value."""
    found = np.zeros(len(names))
    for number in range(submissions):
        design = without_fair(truth.sample(np.random.default_rng([7, number])))
        about = uncertainties(*design, draw(*design, RESAMPLES, seed=number), seed=number)
        found += [about[name].low - 1e-9 <= truth.values[name] <= about[name].high + 1e-9 for name in names]
    return dict(zip(names, (found / submissions).tolist(), strict=True))


DISPARITIES = ("RD_gender", "RD_skin", "RD_joint_all", "JSD_US_age", "JSD_EU_gender")
"""Values that are tested on exactly equal groups too, where the value itself is all noise."""


@pytest.mark.parametrize(
    ("model", "task", "names"),
    [
        *(pytest.param(model, 0, DISPARITIES, marks=pytest.mark.slow) for model in ("near-fair", "one-sided")),
        ("near-fair", 1, ()),
        ("one-sided", 1, ()),
        ("uneven", 4, ()),
    ],
)
def test_intervals_of_disparities_penalties_and_pairs_hold_the_truth(
    truths: dict[str, tuple[Truth, ...]], model: str, task: int, names: tuple[str, ...]
) -> None:
    truth = truths[model][task]
    shares = held(truth, names or list(truth.values))
    assert min(shares.values()) >= LEAST, shares
    assert np.mean(list(shares.values())) >= MEAN, shares


def test_only_values_that_a_fair_model_could_show_have_an_interval_that_reaches_0(
    truths: dict[str, tuple[Truth, ...]],
) -> None:
    """A fair model has 95 % of seven values at or below their floor, an uneven one all above."""
    even, uneven = (truths[model][0].sample(np.random.default_rng(3)) for model in ("near-fair", "uneven"))
    value = once(even)
    names = [name for name in value if name.startswith("RD_")]
    found, clear = (uncertainties(*design, draw(*design, RESAMPLES)) for design in (even, uneven))
    fair = [name for name in names if value[name] <= (found[name].fair_high or 0)]
    assert len(fair) >= 5
    assert [found[name].low for name in fair] == [0.0] * len(fair)
    assert min(clear[name].low for name in names) > 0.2
