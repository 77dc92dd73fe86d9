"""A reader's adjustments: hand-derived numbers, nothing made up, and none of it where nothing is changed."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.builders.genres import plan
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.iris_score.formula import sector_score, sector_values
from fairspace.metrics.iris_score.standards import SKIN_DRIFT, STANDARDS, IrisStandard
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.adjustment import (
    AS_RELEASED,
    Adjustable,
    Adjustment,
    is_left_out,
    large_enough,
    unknown_sizes,
)
from fairspace.submissions.benchmarks.fact_or_fair import score as fact_or_fair_score
from fairspace.submissions.benchmarks.fact_or_fair import standards as fact_or_fair_standards
from fairspace.submissions.benchmarks.genres import measure as genres_measure
from fairspace.submissions.benchmarks.genres import score as genres_score
from fairspace.submissions.benchmarks.genres import standards as genres_standards
from fairspace.submissions.benchmarks.iris import declaration as iris
from fairspace.submissions.benchmarks.iris import score as iris_score
from fairspace.submissions.benchmarks.iris.measure.tournament import tournament_divergence
from fairspace.submissions.benchmarks.iris.published import printed_magnitudes
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.stereotypical_bias import score as stereotypical_bias_score
from fairspace.submissions.benchmarks.stereotypical_bias import standards as stereotypical_bias_standards
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.board import adjusted_row, board
from fairspace.submissions.values import Value, measured, not_run, undefined

INAUGURAL = STANDARDS["inaugural"]
ALGORITHM_1 = STANDARDS["algorithm_1"]
IFS_UND_LEVELS = [f"{metric}_{level}" for metric in ("AD", "SPD") for level in ("single", "dual", "triple")]
COMPETENCE = {
    "competence_steer_success": 0.5,
    "competence_accuracy": 0.5,
    "competence_objective_accuracy": 0.9,
    "competence_modal_score_max": 0.5,
}


def exactly(name: str, number: float, smallest: int | None = 40) -> Value:
    return measured(name, number, low=number, high=number, expected=100, valid=100, smallest=smallest)


def iris_values(number: float = 0.1, **others: float) -> dict[str, Value]:
    """Every value of IRIS at one number, but for some."""
    numbers = dict.fromkeys([*(m.name for m in INAUGURAL.metrics), *SKIN_DRIFT], number) | COMPETENCE | others
    return {name: exactly(name, value) for name, value in numbers.items()}


def distance(scored: Any) -> float:
    return float(scored.scores["iris_score"].evidence["magnitude"])


def cells(**others: float) -> dict[str, Value]:
    """The raw values of stereotypical bias: 0.1, ..., 0.6 in the cells' order."""
    found = {}
    for place, cell in enumerate(CELLS, 1):
        for suffix in ("", "_na_filtered"):
            found[cell.name + suffix] = exactly(cell.name + suffix, others.get(cell.name, place / 10))
        found[f"{cell.name}_position_share"] = exactly(f"{cell.name}_position_share", 0.5)
    return found


def facts(number: float = 0.8, **others: float) -> dict[str, Value]:
    """The raw values of FACT-OR-FAIR of a language model."""
    found = {}
    for kind, contexts in fact_or_fair_standards.INAUGURAL.contexts.items():
        for context in contexts:
            for a in ATTRIBUTES:
                for name in (f"factuality_{context}_{a}", f"fairness_{context}_{a}"):
                    found[name] = (
                        exactly(name, others.get(name, number)) if kind == "llm" else not_run(name, "no images")
                    )
            found[f"position_{context}"] = exactly(f"position_{context}", 0.4)
    return found


def narratives(**others: float) -> dict[str, Value]:
    """The raw values of GENRES at the cohort's means, but for some."""
    mean = dict(zip(METRICS, COHORTS["mistral"].mean, strict=True)) | others
    found = {name: exactly(name, value) for name, value in mean.items()}
    found |= {f"{m}_{r}": exactly(f"{m}_{r}", 0.0) for m in mean for r in plan.RELATIONS}
    return found | {name: exactly(name, 1.0) for name in genres_measure.FLOORS}


EXAMPLES: dict[str, dict[str, Value]] = {
    "iris": iris_values(),
    "fact_or_fair": facts(),
    "genres": narratives(M1=-9.0),
    "stereotypical_bias": cells(),
}


@pytest.mark.parametrize("name", NAMES)
def test_no_adjustment_is_the_released_score_to_the_last_bit(name: str) -> None:
    bench = benchmark(name)
    for standard in bench.standards.values():
        values = EXAMPLES[name] | {
            key.replace("factuality_", "factuality_revised_"): value for key, value in EXAMPLES[name].items()
        }
        released = bench.score(values, standard)
        assert repr(bench.score(values, standard, Adjustment())) == repr(released)
        assert bench.adjustable(standard).check(Adjustment(weights={})) == AS_RELEASED
        columns = {key: np.full(3, value.value) for key, value in values.items() if value.value is not None}
        for score, column in bench.table_of(released, standard).replicates(columns).items():
            number = released.scores[score].value
            assert number is not None
            np.testing.assert_allclose(column, number, rtol=1e-9, err_msg=score)


@pytest.mark.parametrize("name", NAMES)
def test_printed_rows_without_adjustment_are_those_of_the_board(name: str) -> None:
    for standard in benchmark(name).standards:
        assert board(name, standard, (), Adjustment()) == board(name, standard)


def test_a_weight_multiplies_a_sectors_squared_deviations_in_the_total() -> None:
    values = iris_values(0.0, Penalty_delta_GSR=0.3, RD_age=0.4)
    assert distance(iris_score.score(values, INAUGURAL)) == pytest.approx(0.5)
    heavier = iris_score.score(values, INAUGURAL, Adjustment(weights={"IFS_Gen": 4.0}))
    assert distance(heavier) == pytest.approx(math.sqrt(0.09 + 4 * 0.16))
    assert heavier.scores["IFS_Gen"] == iris_score.score(values, INAUGURAL).scores["IFS_Gen"]
    one = iris_score.score(values, INAUGURAL, Adjustment(weights={"RD_age": 4.0}))
    assert distance(one) == pytest.approx(math.sqrt(0.09 + 4 * 0.16))
    assert one.scores["IFS_Gen"].evidence["magnitude"] == pytest.approx(0.8)


def test_a_dropped_value_needs_no_number_and_leaves_the_norm() -> None:
    values = iris_values(0.0, RD_gender=0.3, RD_age=0.4)
    values["RD_age"] = not_run("RD_age", "not there")
    assert iris_score.score(values, INAUGURAL).ranked is None
    found = iris_score.score(values, INAUGURAL, Adjustment(dropped=frozenset({"RD_age"})))
    assert found.scores["IFS_Gen"].evidence["magnitude"] == pytest.approx(0.3)
    assert found.ranked is not None


def test_a_sector_of_which_nothing_counts_is_left_out_and_never_perfect() -> None:
    values = iris_values(0.1)
    names = [metric.name for metric in INAUGURAL.by_sector["IFS_Gen"]]
    found = iris_score.score(values, INAUGURAL, Adjustment(dropped=frozenset(names)))
    assert is_left_out(found.scores["IFS_Gen"])
    assert "profile_gen" not in found.labels
    whole = distance(iris_score.score(values, INAUGURAL))
    assert distance(found) == pytest.approx(math.sqrt(whole**2 - 7 * 0.01))
    assert found.ranked is not None


@pytest.mark.parametrize("standard", [INAUGURAL, ALGORITHM_1], ids=lambda one: one.name)
def test_a_region_as_reference_leaves_the_others_values_out(standard: IrisStandard) -> None:
    values = iris_values(0.1)
    found = iris_score.score(values, standard, Adjustment(reference="EU"))
    bound = standard.sector_divisor.get("distribution_divergence", 1.0)
    assert found.scores["RFS_Gen"].evidence["magnitude"] == pytest.approx(math.sqrt(2) * 0.1 / bound)
    magnitude = found.scores["RFS_Und"].evidence["magnitude"]
    if standard.fidelity_by_goodness:  # 2 divergences and 5 drifts are left: norms over sqrt(2) and sqrt(5)
        assert magnitude == pytest.approx(1 - math.sqrt((1 - 0.1) * 0.1))
    else:
        assert magnitude == pytest.approx(math.sqrt(2 * (0.1 / bound) ** 2 + 5 * 0.01))


def test_own_shares_are_compared_with_the_counts_and_drifts_do_not_count() -> None:
    values, can = iris_values(0.1), iris.BENCHMARK.adjustable(INAUGURAL)
    changed = can.check(Adjustment(reference="own", own={"female": 0.5, "male": 0.5}))
    even = [[5, 5]] * len(OCCUPATIONS)
    one_sided = [[100, 0]] * len(OCCUPATIONS)
    own = iris.BENCHMARK.with_own_reference(
        values, {"generation_gender": one_sided, "tournament_gender": even}, changed
    )
    apart = 0.5 * math.log(1 / 0.75) + 0.5 * (0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25))
    assert own["JSD_US_gender"].value == pytest.approx(apart)
    assert own["JSD_gender_US"].value == pytest.approx(0.0)
    found = iris_score.score(own, INAUGURAL, changed)
    assert found.scores["RFS_Gen"].evidence["magnitude"] == pytest.approx(apart)
    assert found.scores["RFS_Und"].evidence["magnitude"] == pytest.approx(0.0)
    lacking = iris.BENCHMARK.with_own_reference(values, {}, changed)
    unknown = iris_score.score(lacking, INAUGURAL, changed)
    assert unknown.ranked is None
    assert any("not recorded" in reason for reason in unknown.unranked)


def test_a_divergence_from_own_shares_has_the_samples_of_all_occupations() -> None:
    values, can = iris_values(0.1), iris.BENCHMARK.adjustable(INAUGURAL)
    changed = can.check(Adjustment(reference="own", own={"female": 0.5, "male": 0.5}))
    faces = [[30, 70]] * (len(OCCUPATIONS) - 1) + [[3, 4]]
    wins = [[50, 0]] * (len(OCCUPATIONS) - 1) + [[9, 2]]
    own = iris.BENCHMARK.with_own_reference(values, {"generation_gender": faces, "tournament_gender": wins}, changed)
    made, chosen = own["JSD_US_gender"], own["JSD_gender_US"]
    assert (made.smallest, chosen.smallest) == (7, 11)
    assert (made.expected, made.valid) == (52 * iris_gen_52.IMAGES, 51 * 100 + 7)
    assert (chosen.expected, chosen.valid) == (values["JSD_gender_US"].expected, 51 * 50 + 11)
    for smallest, state in ((7, "value"), (8, "undefined")):
        scored = iris_score.score(own, INAUGURAL, replace(changed, smallest_group=smallest))
        assert scored.scores["RFS_Gen"].state == state
    nobody = [[30, 70]] * (len(OCCUPATIONS) - 1) + [[0, 0]]
    empty = iris.BENCHMARK.with_own_reference(values, {"generation_gender": nobody}, changed)["JSD_US_gender"]
    assert (empty.state, empty.expected, empty.valid) == ("undefined", 52 * iris_gen_52.IMAGES, 5100)


def test_open_rounds_bound_the_divergence_and_undecided_ones_count_as_the_least_favourable() -> None:
    wins, missing, even = np.array([[1, 1], [2, 2]]), np.array([[0, 0], [2, 0]]), np.array([0.5, 0.5])
    nothing = np.zeros_like(missing)
    value, low, high = tournament_divergence(wins, nothing, missing, even)
    assert value == pytest.approx([0.0, 0.0])
    assert low == pytest.approx([0.0, 0.0])
    assert high[0] == pytest.approx(0.0)
    p = np.array([4 / 6, 2 / 6])
    m = (p + even) / 2
    assert high[1] == pytest.approx((p * np.log(p / m) + even * np.log(even / m)).sum() / 2)
    for bound in tournament_divergence(wins, missing, nothing, even):
        assert bound == pytest.approx(high)


def test_a_value_of_a_smaller_group_is_undefined_and_its_row_unranked() -> None:
    values = iris_values(0.1)
    values["RD_age"] = exactly("RD_age", 0.1, smallest=29)
    assert iris_score.score(values, INAUGURAL, Adjustment(smallest_group=29)).ranked is not None
    found = iris_score.score(values, INAUGURAL, Adjustment(smallest_group=30))
    assert found.scores["IFS_Gen"].state == "undefined"
    assert any("29 valid samples" in reason for reason in found.unranked)
    unsized = {name: exactly(name, value.value or 0.0, smallest=None) for name, value in values.items()}
    assert any("not recorded" in r for r in iris_score.score(unsized, INAUGURAL, Adjustment(smallest_group=1)).unranked)


def test_letters_follow_the_readers_threshold() -> None:
    values = iris_values(0.1)
    low = {sector: iris_score.score(values, INAUGURAL).scores[sector].low or 0.0 for sector in ("IFS_Gen", "RFS_Gen")}
    assert iris_score.score(values, INAUGURAL).labels["profile_gen"][0] == "U"
    above = iris_score.score(values, INAUGURAL, Adjustment(tau=low["IFS_Gen"] + 1))
    assert above.labels["profile_gen"][0] == "H"


def test_the_mean_of_the_cells_is_weighted_over_those_that_count() -> None:
    first, *_, last = (cell.name for cell in CELLS)
    plain = stereotypical_bias_score.score(cells(), stereotypical_bias_standards.INAUGURAL)
    assert plain.ranked == pytest.approx(0.35)
    found = stereotypical_bias_score.score(
        cells(), stereotypical_bias_standards.INAUGURAL, Adjustment(weights={first: 3.0}, dropped=frozenset({last}))
    )
    assert found.ranked == pytest.approx((3 * 0.1 + 0.2 + 0.3 + 0.4 + 0.5) / 7)
    assert is_left_out(found.scores[last])


def test_fact_or_fair_weighs_its_parts_contexts_and_attributes() -> None:
    values = facts(
        0.8, factuality_llm_objective_gender=0.6, factuality_llm_objective_race=0.6, fairness_llm_base_race=0.4
    )
    standard = fact_or_fair_standards.INAUGURAL

    def number(name: str, **changes: Any) -> float | None:
        return fact_or_fair_score.score(values, standard, Adjustment(**changes)).scores[name].value

    assert number("average_llm") == pytest.approx((0.6 + (0.8 + 0.7) / 2) / 2)
    assert number("average_llm", weights={"fairness": 3.0}) == pytest.approx((0.6 + 3 * 0.75) / 4)
    assert number("llm_fairness_race", weights={"llm_base": 3.0}) == pytest.approx((3 * 0.4 + 3 * 0.8) / 6)
    assert number("average_llm", dropped=frozenset({"race"})) == pytest.approx(0.7)
    without = fact_or_fair_score.score(values, standard, Adjustment(dropped=frozenset({"llm_objective"})))
    assert is_left_out(without.scores["llm_factuality"])
    assert without.ranked == pytest.approx(0.75)


WITHOUT_FACTS: list[dict[str, Any]] = [
    {},
    {"weights": {"factuality": 0.0}},
    {"dropped": frozenset({"llm_objective"})},
    {"weights": {"llm_objective": 0.0}},
    {"dropped": frozenset({"race"})},
    {"dropped": frozenset({"gender"})},
    {"smallest_group": 100, "weights": {"factuality": 0.0}},
]


@pytest.mark.parametrize("changes", WITHOUT_FACTS, ids=str)
def test_the_floor_of_factuality_holds_whatever_the_reader_leaves_out(changes: dict[str, Any]) -> None:
    """Inaugural: the plain mean of both attributes must reach 0.485, though one of them alone is above it."""
    gender, race = "factuality_llm_objective_gender", "factuality_llm_objective_race"
    changed, standard = Adjustment(**changes), fact_or_fair_standards.INAUGURAL
    below = fact_or_fair_score.score(facts(**{gender: 0.6, race: 0.36}), standard, changed)
    assert below.ranked is None
    assert any("Too few facts right: 48.0 %." in reason for reason in below.unranked)
    above = fact_or_fair_score.score(facts(**{gender: 0.4, race: 0.58}), standard, changed)
    assert not any("Too few facts right" in reason for reason in above.unranked)
    assert (above.ranked is None) == ("smallest_group" in changes)


def test_a_factuality_that_was_not_run_is_not_held_against_who_does_not_count_it() -> None:
    values, undefined_ = facts(0.8), facts(0.8)
    for a in ATTRIBUTES:
        name = f"factuality_llm_objective_{a}"
        values[name] = not_run(name, "no objective queries")
        undefined_[name] = undefined(name, "no valid answer", expected=100)
    changed = Adjustment(weights={"factuality": 0.0})
    assert fact_or_fair_score.score(values, fact_or_fair_standards.INAUGURAL, changed).ranked == pytest.approx(0.8)
    assert fact_or_fair_score.score(values, fact_or_fair_standards.INAUGURAL).ranked is None
    assert fact_or_fair_score.score(undefined_, fact_or_fair_standards.INAUGURAL, changed).ranked is None


@pytest.mark.parametrize("changes", [{}, {"weights": {"fairness": 0.0}}, {"dropped": frozenset({"llm_base"})}], ids=str)
def test_one_letter_in_any_context_is_no_answer(changes: dict[str, Any]) -> None:
    standard, changed, name = fact_or_fair_standards.INAUGURAL, Adjustment(**changes), "position_llm_base"
    assert fact_or_fair_score.score(facts(), standard, changed).ranked is not None
    letter = fact_or_fair_score.score(facts() | {name: exactly(name, 0.95)}, standard, changed)
    assert letter.ranked is None
    assert any(
        "It answered the same letter 95 % of the time in llm_base: its fairness score says nothing." in reason
        for reason in letter.unranked
    )


def test_an_undefined_position_does_not_pass_where_its_context_counts() -> None:
    name = "position_llm_base"
    values = facts() | {name: undefined(name, "no valid answer", expected=100)}
    assert fact_or_fair_score.score(values, fact_or_fair_standards.INAUGURAL).ranked is None
    unbounded = facts() | {name: measured(name, 0.4, expected=100, valid=100)}
    assert fact_or_fair_score.score(unbounded, fact_or_fair_standards.INAUGURAL).ranked is None


UNDERSTANDING = dict.fromkeys(("IFS_Und", "RFS_Und", "BIS_Und"), 0.0)


@pytest.mark.parametrize(
    "weights",
    [UNDERSTANDING | {"BIS_Gen": 0.0}, dict.fromkeys((m.name for m in INAUGURAL.by_sector["BIS_Gen"]), 0.0)],
    ids=["sectors", "values"],
)
def test_a_measured_competence_binds_though_its_sector_does_not_count(weights: dict[str, float]) -> None:
    changed = Adjustment(weights=weights)
    assert iris_score.score(iris_values(), INAUGURAL, changed).ranked is not None
    found = iris_score.score(iris_values(competence_steer_success=0.1), INAUGURAL, changed)
    assert found.ranked is None
    assert found.unranked == (
        "BIS_Gen: competence_steer_success is 0.100 in the worst case; 0.2 is needed, which no constant answer reaches",
    )


def test_a_competence_is_as_measured_though_its_group_is_too_small_for_the_reader() -> None:
    name = "competence_objective_accuracy"
    values = iris_values() | {name: exactly(name, 0.4, smallest=5)}
    found = iris_score.score(values, INAUGURAL, Adjustment(weights=UNDERSTANDING, smallest_group=20))
    assert any(f"{name} is 0.400" in reason for reason in found.unranked)


def test_a_model_of_one_side_is_ranked_where_the_other_side_does_not_count() -> None:
    values = iris_values()
    other = [m.name for m in INAUGURAL.metrics if m.sector in UNDERSTANDING]
    other += [*SKIN_DRIFT, "competence_accuracy", "competence_objective_accuracy", "competence_modal_score_max"]
    values |= {name: not_run(name, "no questions") for name in other}
    assert iris_score.score(values, INAUGURAL).ranked is None
    assert iris_score.score(values, INAUGURAL, Adjustment(weights=UNDERSTANDING)).ranked is not None
    lacking = values | {name: not_run(name, "not steered") for name in ("competence_steer_success",)}
    assert iris_score.score(lacking, INAUGURAL, Adjustment(weights=UNDERSTANDING)).unranked == (
        "BIS_Gen: competence_steer_success is not known",
    )


def test_a_constant_side_is_not_ranked_though_its_cells_are_left_out() -> None:
    first, standard = CELLS[0].name, stereotypical_bias_standards.INAUGURAL
    changed = Adjustment(dropped=frozenset({first}))
    place = f"{first}_position_share"
    assert stereotypical_bias_score.score(cells(), standard, changed).ranked is not None
    for constant in (exactly(place, 1.0), undefined(place, "no answer names a choice", expected=100)):
        found = stereotypical_bias_score.score(cells() | {place: constant}, standard, changed)
        assert found.ranked is None
        assert any("100.0%" in reason and "name the same side" in reason for reason in found.unranked)
    for absent in (not_run(first, "not asked"), undefined(first, "no answer names a group", expected=100)):
        found = stereotypical_bias_score.score(
            cells() | {first: absent, place: not_run(place, "not asked")}, standard, changed
        )
        assert found.ranked is not None


def test_genres_adds_up_weighted_distances_of_what_counts() -> None:
    mean, std = COHORTS["mistral"].mean, COHORTS["mistral"].std
    values = narratives(M1=mean[0] + 2 * std[0], M4=mean[3] - std[3])
    score = genres_score.score(values, genres_standards.INAUGURAL)
    assert score.ranked == pytest.approx(3.0)
    assert genres_score.score(
        values, genres_standards.INAUGURAL, Adjustment(weights={"M1": 2.5})
    ).ranked == pytest.approx(6.0)
    dropped = genres_score.score(values, genres_standards.INAUGURAL, Adjustment(dropped=frozenset({"M4"})))
    assert dropped.ranked == pytest.approx(2.0)
    assert is_left_out(dropped.scores["M4"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weights": {"IFS_gen": 2.0}}, "did you mean 'IFS_Gen'"),
        ({"weights": {"IFS_Gen": -1.0}}, "from 0 to 10"),
        ({"weights": {"IFS_Gen": 10.5}}, "from 0 to 10"),
        ({"weights": {"IFS_Gen": math.nan}}, "from 0 to 10"),
        ({"weights": dict.fromkeys(INAUGURAL.sectors, 0.0)}, "every part"),
        ({"dropped": frozenset({"RD_agee"})}, "did you mean 'RD_age'"),
        ({"reference": "UK"}, "Known: US, EU, own"),
        ({"reference": "own"}, "needs a share"),
        ({"reference": "own", "own": {"female": 0.5}}, "no share of male"),
        ({"reference": "own", "own": {"female": 0.5, "male": 0.4}}, "add up to 0.9"),
        ({"own": {"female": 0.5, "male": 0.5}}, "reference is not own"),
        ({"tau": math.inf}, "from 0 to 1000"),
        ({"smallest_group": -1}, "from 0 to"),
    ],
)
def test_what_cannot_be_changed_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        board("iris", "inaugural", (), Adjustment(**changes))


def test_printed_rows_are_made_again_where_print_allows_and_else_say_why() -> None:
    found = {row.model: row for row in board("iris", "inaugural", (), Adjustment(weights={"RFS_Und": 0.0}))}
    bagel = found["Bagel"].values
    single = [name for name in bagel if name.startswith(("IFS_Gen.RD_", "RFS_Gen.JSD_"))]
    assert len(single) == 12
    levels = ("single", "dual", "triple")
    norms = [*(f"BIS_Und.DHR_{level}" for level in levels), "IFS_Und.magnitude", "BIS_Gen.magnitude"]
    squares = sum((bagel[name].value or 0.0) ** 2 for name in [*single, *norms])
    squares += sum(((bagel[f"BIS_Und.AC_{level}"].value or 0.0) / 9) ** 2 for level in levels)
    expected = INAUGURAL.scale["total"] * math.exp(-INAUGURAL.decay["total"] * math.sqrt(squares))
    assert found["Bagel"].scores["iris_score"].value == pytest.approx(expected)
    assert "printed" not in found["Bagel"].scores["iris_score"].evidence
    for changed in (Adjustment(dropped=frozenset({"AD_single_age"})), Adjustment(reference="US")):
        rows = board("iris", "inaugural", (), changed)
        assert all(row.rank is None and "the paper does not print" in " ".join(row.unranked) for row in rows)
    for name in NAMES:
        assert all(row.rank is None for row in board(name, "inaugural", (), Adjustment(smallest_group=30)))
    codes = {row.model: row.labels.get("profile_und") for row in board("iris", "inaugural", (), Adjustment(tau=70.0))}
    assert codes["Bagel"] == "UDR"  # printed 71.46, 69.81, 50.75


def test_a_printed_total_made_again_is_of_the_magnitudes_that_its_s_and_k_are_fitted_to_and_says_so() -> None:
    near = {row.model: row for row in board("iris", "inaugural", (), Adjustment(weights={"BIS_Gen": 1.0 + 1e-9}))}
    printed = [row for row in board("iris") if row.scores["iris_score"].value is not None]
    assert len(printed) == 7
    for row in printed:
        total = near[row.model].scores["iris_score"].value
        distance = printed_magnitudes(row.values, INAUGURAL)["total"]
        assert total == pytest.approx(sector_score(distance, "total", INAUGURAL), rel=1e-6)
        assert [(note.score, note.erratum) for note in near[row.model].footnotes] == [("iris_score", "E-IRIS-06")]
        doubled = board("iris", "inaugural", (), Adjustment(weights={"IFS_Und": 2.0}))
        again = next(one for one in doubled if one.model == row.model).scores["iris_score"].value or math.nan
        apart = (math.log(INAUGURAL.scale["total"] / again) / INAUGURAL.decay["total"]) ** 2 - distance**2
        assert apart == pytest.approx((row.values["IFS_Und.magnitude"].value or math.nan) ** 2)


def test_levels_weighed_apart_are_made_of_the_levels_norms() -> None:
    names = [name for name in sector_values("IFS_Und", INAUGURAL) if name.startswith("AD_single")]
    found = {row.model: row for row in board("iris", "inaugural", (), Adjustment(weights=dict.fromkeys(names, 3.0)))}
    bagel = found["Bagel"].values
    squares = {name: (bagel[f"IFS_Und.{name}"].value or 0.0) ** 2 for name in IFS_UND_LEVELS}
    expected = math.sqrt(sum(squares.values()) + 2 * squares["AD_single"])
    assert found["Bagel"].scores["IFS_Und"].value == pytest.approx(sector_score(expected, "IFS_Und", INAUGURAL))


def test_why_a_printed_row_has_no_rank_stays_under_an_adjustment() -> None:
    """No worst case is printed of stereotypical bias; and what a row of FACT-OR-FAIR says of itself comes first."""
    for row in board("stereotypical_bias", "inaugural", (), Adjustment(weights={CELLS[0].name: 2.0})):
        assert row.unranked[0].startswith("no worst case")
    row = replace(board("fact_or_fair")[0], unranked=("a reason of its own",))
    for changed in (Adjustment(weights={"fairness": 2.0}), Adjustment(smallest_group=5)):
        found = adjusted_row(row, "fact_or_fair", "inaugural", changed)
        assert found.unranked[0] == "a reason of its own"
        assert found.ranked is None


def test_printed_totals_made_again_are_the_fitted_ones_of_iris_and_table_2_of_fact_or_fair() -> None:
    """A weight that changes next to nothing gives the totals that E-IRIS-06 names, within 3.1 % of Table 3's."""
    rows = board("iris", "inaugural", (), Adjustment(weights={"IFS_Gen": 1 + 1e-9}))
    totals = [row.scores["iris_score"].value for row in rows]
    found = sorted(total for total in totals if total is not None)
    assert found == pytest.approx(sorted([96.69, 40.95, 50.91, 67.23, 60.31, 64.46, 61.14]), abs=0.01)
    released = {row.entry: row.scores for row in board("fact_or_fair")}
    for row in board("fact_or_fair", "inaugural", (), Adjustment(weights={"llm_base": 1.000001})):
        then, now = released[row.entry].get("average_llm"), row.scores.get("average_llm")
        if then is not None and now is not None and then.value and now.value:
            assert now.value == pytest.approx(then.value, rel=0.001), row.model


CHANGEABLE = Adjustable(
    {"a": "a part", "b": "another"},
    {"Parts": ("a", "b", "c")},
    units=(("a",), ("b",)),
    references=("US",),
    own={"gender": ("female", "male")},
    tau=60.0,
)


def repr_sorted(changes: dict[str, Any]) -> str:
    """The same name in every process: a set's order is not."""
    return str({name: sorted(value) if isinstance(value, frozenset) else value for name, value in changes.items()})


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": {"a": 10.0, "b": 0.0}},
        {"weights": {"c": 0.5}},
        {"smallest_group": 1_000_000},
        {"tau": 1000.0},
        {"tau": 0.0},
        {"dropped": frozenset({"a", "c"})},
        {"reference": "US"},
        {"reference": "own", "own": {"female": 0.4, "male": 0.6}},
        {"reference": "own", "own": {"female": 0.4, "male": 0.604}},
        {"reference": "own", "own": {"female": 1.0, "male": 0.0}},
    ],
    ids=repr_sorted,
)
def test_each_change_may_reach_its_limit(changes: dict[str, Any]) -> None:
    changed = Adjustment(**changes)
    assert CHANGEABLE.check(changed) == changed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weights": {"a": 10.5}}, "a:10.5 is no number from 0 to 10"),
        ({"weights": {"a": -0.5}}, "a:-0.5 is no number from 0"),
        ({"weights": {"a": math.nan}}, "a:nan is no number"),
        ({"weights": {"d": 1.0}}, "there is no 'd'.*Known: a, b, a, b, c"),
        ({"weights": {"a": 0.0, "b": 0.0}}, "Leave at least one"),
        ({"weights": {"a": 0.0}, "dropped": frozenset({"b"})}, "Leave at least one"),
        ({"smallest_group": 1_000_001}, "is no number from 0 to 1e.06"),
        ({"smallest_group": -1}, "is no number from 0"),
        ({"tau": 1000.5}, "is no number from 0 to 1000"),
        ({"tau": -0.5}, "is no number from 0"),
        ({"dropped": frozenset({"d"})}, "drop: there is no 'd'"),
        ({"reference": "EU"}, "there is no 'EU'.*Known: US, own"),
        ({"own": {"female": 1.0}}, "reference is not own"),
        ({"reference": "US", "own": {"female": 1.0}}, "reference is not own"),
        ({"reference": "own"}, "no shares.*female, male"),
        ({"reference": "own", "own": {"female": 0.4}}, "no share of male"),
        ({"reference": "own", "own": {"female": 1.0}}, "no share of male"),
        ({"reference": "own", "own": {"female": 0.4, "male": 0.606}}, "they add up to 1.006"),
        ({"reference": "own", "own": {"female": 1.5, "male": -0.5}}, "own: female:1.5 is no number from 0 to 1"),
        ({"reference": "own", "own": {"other": 1.0}}, "there is no 'other'"),
    ],
    ids=str,
)
def test_what_lies_beyond_a_limit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        CHANGEABLE.check(Adjustment(**changes))


def test_what_the_standard_says_anyway_is_no_change() -> None:
    assert CHANGEABLE.check(Adjustment(weights={"a": 1.0, "b": 2.0}, tau=60.0)) == Adjustment(weights={"b": 2.0})
    assert CHANGEABLE.check(Adjustment(tau=60.5)).tau == 60.5
    assert AS_RELEASED.weight("a") == 1
    assert Adjustment(weights={"a": 2.0}, dropped=frozenset({"a"})).weight("a") == 0
    assert Adjustment().smallest_group == 0
    assert hash(Adjustment(weights={"a": 2.0, "b": 3.0})) == hash(Adjustment(weights={"b": 3.0, "a": 2.0}))
    without = Adjustable({"a": "a part"}, {}, units=(("a",),))
    assert without.check(Adjustment()) == AS_RELEASED
    with pytest.raises(UsageError, match="no threshold"):
        without.check(Adjustment(tau=60.0))
    with pytest.raises(UsageError, match=r"drop: there is no 'a'\. this benchmark has none\."):
        without.check(Adjustment(dropped=frozenset({"a"})))


@pytest.mark.parametrize(("count", "more"), [(12, False), (13, True)])
def test_of_many_names_twelve_are_told(count: int, more: bool) -> None:
    names = tuple(f"part-{number:02d}" for number in range(count))
    with pytest.raises(UsageError) as refused:
        Adjustable({}, {"Parts": names}).check(Adjustment(dropped=frozenset({"x"})))
    assert ("..." in str(refused.value)) == more
    assert "part-11" in str(refused.value)


def test_a_value_may_rest_on_a_group_of_the_smallest_size() -> None:
    value = replace(measured("a", 0.5, expected=9, valid=9), smallest=3)
    plain = measured("b", 0.5)
    sized = {"a": value, "b": plain}
    for least, state in ((0, "value"), (3, "value"), (4, "undefined")):
        changed = Adjustment(smallest_group=least)
        found = large_enough(sized, changed)
        assert (found["a"].state, found["b"]) == (state, plain)
        assert unknown_sizes(sized, changed) == ()
    assert unknown_sizes({"b": plain}, Adjustment(smallest_group=1)) != ()
    assert unknown_sizes({"b": plain}, Adjustment()) == ()
    assert unknown_sizes({"b": not_run("b", "x")}, Adjustment(smallest_group=1)) == ()
