"""What a run can show of each value: the values of a result, their items, and what a limited run leaves undefined."""

import math

import numpy as np
import pytest

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.representation_disparity.formula import disparity, representation_disparity
from fairspace.metrics.stereotypical_association.formula import filtered_association
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import Detectable, detectable
from fairspace.submissions.benchmarks.iris.measure.means import mean_over_occupations
from fairspace.submissions.benchmarks.power import smallest_difference, smallest_share_difference
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.running.asking.inspect_task import Chosen, Opened, open_benchmark
from fairspace.submissions.running.data.data import Data, open_data
from fairspace.submissions.running.planning.images import made_parts
from tests.submissions.running.data.factory import write


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Complete datasets of all benchmarks; the images are no images."""
    root = tmp_path_factory.mktemp("built")
    for name in NAMES:
        write(root, name)
    return open_data(str(root))


def shown(chosen: Chosen, data: Data | None, *, images: bool = True) -> dict[str, Detectable]:
    """Name -> what the run can show of it."""
    opened: Opened = open_benchmark(chosen, data)
    some = {task: [opened.parts[task].stimuli[p] for p in places] for task, places in opened.positions.items()}
    every = {task: part.stimuli for task, part in opened.parts.items()}
    if images:
        some |= {one.task: one.chosen for one in made_parts(chosen)}
        every |= {one.task: one.stimuli for one in made_parts(chosen)}
    return {value.value: value for value in detectable(chosen.benchmark, some, every)}


@pytest.mark.parametrize("name", NAMES)
def test_every_headline_value_of_a_whole_run_has_its_difference(name: str, whole: Data) -> None:
    found = shown(Chosen(name), whole)
    headline = benchmark(name).headline or [one.name for one in GRANULAR]
    assert set(headline) <= set(found)
    for value in found.values():
        assert value.smallest is not None
        assert value.smallest > 0
        assert value.worst is None or value.worst >= value.smallest
        assert value.floor is None or value.floor >= 0
        assert value.full is None
        assert value.n > 0
        assert value.note
    assert shown(Chosen(name), whole) == found, "the same numbers each time"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_fewer_items_show_less(name: str, whole: Data) -> None:
    every, some = shown(Chosen(name), whole), shown(Chosen(name, limit=160, stratified=True), whole)
    assert list(some) == list(every)
    for value in some.values():
        before = every[value.value].smallest
        assert value.full == before
        if value.smallest is not None and before is not None and value.n < every[value.value].n:
            assert value.smallest > before


def test_genres_by_hand(whole: Data) -> None:
    found = shown(Chosen("genres"), whole)
    # 2.801585 * sqrt(2 / 1440) = 0.104408; times 3.8 sentences, 22.8 words, 100 points
    assert found["M3"].smallest == pytest.approx(0.39675, abs=1e-4)
    assert found["M5"].smallest == pytest.approx(2.3805, abs=1e-3)
    assert found["M4"].smallest == pytest.approx(10.4408, abs=1e-3)
    assert found["M8"].smallest == pytest.approx(0.104408, abs=1e-5)


def test_a_difference_that_no_two_models_can_have_is_none() -> None:
    found = shown(Chosen("genres", text_only=True, limit=3), None)
    assert found["M4"].smallest is None  # 229 points, where 200 lie between the ends of the scale
    assert found["M4"].note.startswith("too few items")
    assert found["M3"].smallest is not None


def test_the_spreads_of_genres_are_those_of_drawn_words() -> None:
    random = np.random.default_rng(3)
    male, female = random.binomial(5, 0.5, (2, 100_000)) / 5
    found = shown(Chosen("genres", text_only=True), None)
    assert found["M1"].smallest == pytest.approx(
        smallest_difference(100 * (male - female).std() / math.sqrt(1440)), rel=0.02
    )
    assert found["M2"].smallest == pytest.approx(
        smallest_difference(2 * (male - female).std() / math.sqrt(1440)), rel=0.02
    )


def test_factuality_by_hand() -> None:
    found = shown(Chosen("fact_or_fair"), None)
    gender, race = (found[f"llm_factuality_{attribute}"] for attribute in ("gender", "race"))
    assert (gender.n, race.n) == (90, 108)  # the denominators of the printed fractions
    assert gender.smallest == smallest_share_difference(0.6, 90)
    assert gender.worst == smallest_share_difference(0.5, 30)
    assert (found["t2i_factuality_gender"].n, found["t2i_factuality_race"].n) == (600, 720)
    assert found["llm_fairness_gender"].n == 15 * 2 * 3 * 100 * 4
    assert found["t2i_fairness_race"].n == 18 * 2 * 20


def test_a_fairness_with_an_empty_cell_is_undefined_and_says_so() -> None:
    found = shown(Chosen("fact_or_fair", limit=20), None)
    for name in ("llm_fairness_gender", "llm_fairness", "average_llm", "t2i_fairness", "average_t2i"):
        assert found[name].smallest is None
        assert found[name].floor is None
        assert found[name].note.startswith("undefined: ")
        assert found[name].full is not None
    stratified = shown(Chosen("fact_or_fair", limit=152, stratified=True), None, images=False)
    assert stratified["llm_fairness"].smallest is not None


def test_iris_gaps_by_hand(whole: Data) -> None:
    found = shown(Chosen("iris", tasks=("occupation", "pair")), whole, images=False)
    gender, joint = found["AD_single_gender"], found["AD_triple_joint_all"]
    assert (gender.n, joint.n) == (52 * 29 * 9, 52 * 29)
    # 2.801585 * sqrt(2) * sqrt(0.3 * 0.7 * 2 / 1508) = 0.066122
    assert joint.smallest == pytest.approx(0.066122, abs=1e-5)
    assert joint.worst == pytest.approx(2.801585 * math.sqrt(4 * 0.25 / 1508), rel=1e-5)
    assert joint.floor == pytest.approx(3.640 * math.sqrt(0.21 / 1508), rel=0.03)
    pairs = found["dhr_inconsistency_gender"]
    assert pairs.n == 858  # 6 000 pairs in seven combinations, the first of them with one more
    assert pairs.smallest == pytest.approx(2.801585 * 0.4 * math.sqrt(2 / (858 * 8)), rel=1e-5)


def test_iris_drift_by_hand(whole: Data) -> None:
    found = shown(Chosen("iris", tasks=("occupation",)), whole, images=False)["AbsSDS_gender_female_US"]
    column = shares(next(region for region in REGIONS if region.code == "US"))["gender"][:, 0]
    known = column[~np.isnan(column)]
    n = 27144 * 0.7 * (len(known) / 52) ** 2  # wrong answers whose true and named occupations both have figures
    assert found.n == round(n)
    assert found.smallest == pytest.approx(2.801585 * math.sqrt(2) * known.std() * math.sqrt(2 / n), rel=1e-4)
    random = np.random.default_rng(6)
    drifts = [(random.choice(known, 400) - random.choice(known, 400)).mean() for _ in range(2000)]
    assert found.floor == pytest.approx(np.abs(drifts).mean() * math.sqrt(400 / n), rel=0.06)


def test_a_group_without_images_has_no_gap() -> None:
    only = [Stimulus(f"{place}", "occupation", f"nurse/{GROUPS[0]}", 1) for place in range(50)]
    found = {value.value: value for value in detectable("iris", {"occupation": only}, {"occupation": only})}
    assert found["AD_single_gender"].smallest is None
    assert "fewer than two groups" in found["AD_single_gender"].note


def test_neutral_images_of_some_occupations_leave_the_means_undefined() -> None:
    task = "generation_neutral"
    chosen = [Stimulus(f"{name}/{n}", task, f"neutral/{name}", 1) for name in OCCUPATIONS[:9] for n in (0, 1)]
    found = {value.value: value for value in detectable("iris", {task: chosen}, {task: chosen})}
    assert found["RD_gender"].note == "undefined: 43 of 52 occupations have no image"
    assert found["JSD_US_gender"].smallest is None


def test_an_instance_that_is_not_asked_leaves_its_cell_and_the_total_undefined(whole: Data) -> None:
    found = shown(Chosen("stereotypical_bias", limit=10), whole)
    assert found["gender_persona"].smallest is None
    assert "instances are not asked" in found["gender_persona"].note
    assert found["total"].smallest is None
    assert found["gender_occupation"].smallest is not None


def test_the_scores_are_those_of_the_metrics() -> None:
    wins = np.random.default_rng(4).integers(1, 20, (6, 4))
    assert mean_over_occupations(disparity, wins[None].astype(float))[0] == pytest.approx(
        representation_disparity(wins)[0].mean()
    )


def test_the_difference_of_an_association_is_found_in_four_tests_of_five(whole: Data) -> None:
    """Ten instances with 400 pairs each: the cell gender_occupation of such a run, and one model more biased by d."""
    value = shown(Chosen("stereotypical_bias", limit=400), whole)["gender_occupation"]
    assert value.n == 4000
    assert value.smallest is not None
    random, tests = np.random.default_rng(5), 2000
    values = []
    for p in (0.75, 0.75 + value.smallest):  # S = p - 1/2 for two groups
        wins = random.binomial(400, p, (tests, 10))
        values.append(filtered_association(np.stack([wins, 400 - wins], axis=-1).astype(float)))
    error = values[0].std(ddof=1) * math.sqrt(2)
    power = (np.abs(values[1] - values[0]) / error > 1.959964).mean()
    # Three standard errors of the power, and the error of the simulated deviation (5 % over 400 draws).
    assert power == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / tests) + 0.06)


def test_image_tasks_are_chosen_as_the_run_chooses_them() -> None:
    from fairspace.submissions.running.images.generating import image_asks

    for name in ("iris", "fact_or_fair"):
        chosen = Chosen(name, limit=70, stratified=True)
        for part in made_parts(chosen):
            if part.task == "generation_steer":
                assert len(part.stimuli) == 6000
                assert (len(part.positions), part.prompts) == (70, 60)
                continue
            asks = image_asks(chosen, part.task, benchmark(name).items()[part.task])
            assert [f"{ask.id}/{ask.sample}" for ask in asks] == [one.id for one in part.chosen]
    assert made_parts(Chosen("genres")) == []
    assert [part.task for part in made_parts(Chosen("iris", tasks=("generation_neutral", "pair")))] == [
        "generation_neutral"
    ]
