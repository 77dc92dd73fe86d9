import json
import math
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.association_bias import formula as association
from fairspace.metrics.embedding_complexity import formula as complexity
from fairspace.metrics.intent_consistency import formula as consistency
from fairspace.metrics.projection_distortion import formula as distortion
from fairspace.metrics.representation_similarity_bias import formula as similarity
from fairspace.metrics.stepwise_bias import formula as stepwise
from fairspace.metrics.vectors import cosines, distances, folded, read_vectors
from tests.metrics.tables import rows

RANDOM = np.random.default_rng(7)


def v(*numbers: Any) -> Any:
    return np.array(numbers, dtype=np.float64)


EAST, NORTH, BETWEEN = [1.0, 0.0], [0.0, 1.0], [3.0, 4.0]


def test_table_32_calls_all_but_two_a_lazy_commander() -> None:
    means = {row["occupation"]: float(row["mean_similarity"]) for row in rows("probe_table32_consistency")}
    assert {name for name, mean in means.items() if mean <= consistency.LAZY} == {"guard"}


def test_similarity_is_to_the_anchor_of_the_image_s_own_gender() -> None:
    images = {
        "doctor": {("stereotypical", "male"): v(EAST, BETWEEN), ("counter_stereotypical", "female"): v(NORTH, NORTH)}
    }
    found = similarity.measure(images, {"male": v(EAST), "female": v(NORTH)})
    doctor = found["by_occupation"]["doctor"]
    assert (doctor["stereotypical"], doctor["counter_stereotypical"]) == (pytest.approx(0.8), 1.0)
    assert found["representation_similarity_bias"] == pytest.approx(0.2)
    assert doctor["interval"] == pytest.approx([0, 0.4])  # both images EAST, or both BETWEEN


def similar(stereotypical: Any, counter: Any, female_anchor: Any) -> Any:
    images = {"x": {("stereotypical", "male"): stereotypical, ("counter_stereotypical", "female"): counter}}
    return similarity.measure(images, {"male": v(EAST), "female": female_anchor})


def test_similarity_bias_is_0_for_like_images_and_2_for_opposite_ones() -> None:
    ends = [similar(v(EAST), v(counter), v(NORTH)) for counter in (NORTH, [0, -1])]
    assert [found["representation_similarity_bias"] for found in ends] == [0, 2]


def test_a_folded_interval_by_hand_holds_0_where_the_signed_ends_straddle_it_and_always_the_value() -> None:
    assert folded((-0.1, 0.3), 0.1) == (0, 0.3)
    assert folded((-0.4, 0.3), 0.05) == (0, 0.4)
    assert folded((-0.4, -0.2), 0.3) == (0.2, 0.4)
    assert folded((0.2, 0.4), 0.3) == (0.2, 0.4)
    assert folded((0.2, 0.4), 0.1) == (0.1, 0.4)
    assert folded((0.2, 0.4), 0.5) == (0.2, 0.5)
    assert folded(None, 0.5) is None


@pytest.mark.parametrize("truth", [0.0, 0.4])
def test_intervals_of_a_similarity_bias_cover_its_truth_also_at_0(truth: float) -> None:
    # an image at angle a from its anchor has the similarity cos a, here 0.5 + noise in both roles, or less in one
    random = np.random.default_rng(12)
    occupation = mean = own = 0
    for seed in range(200):
        similarities = 0.5 + random.uniform(-0.1, 0.1, (10, 2, 25)) - np.array([0, truth])[:, None]
        vectors = np.stack([similarities, np.sqrt(1 - similarities**2)], axis=-1)
        images = {
            str(i): {("stereotypical", "male"): one, ("counter_stereotypical", "female"): other}
            for i, (one, other) in enumerate(vectors)
        }
        found = similarity.measure(images, {"male": v(EAST), "female": v(EAST)}, seed, 200)
        row = found["by_occupation"]["0"]
        occupation += row["interval"][0] <= truth <= row["interval"][1]
        mean += found["interval"][0] <= truth <= found["interval"][1]
        own += row["interval"][0] <= row["value"] <= row["interval"][1]
    assert own == 200
    assert occupation >= 180
    assert mean >= 170  # of ten occupations, as in Table 30: percentiles of so few are somewhat too narrow


def test_signed_intervals_of_the_other_probes_reach_below_0_where_nothing_is_there() -> None:
    random = np.random.default_rng(13)
    reached = {"association": 0, "stepwise": 0, "complexity": 0}
    for seed in range(100):
        terms = {side: random.normal(size=(20, 6)) for side in association.ATTRIBUTES}
        row = association.measure({"x": random.normal(size=(1, 6))}, terms, seed, 200)["by_occupation"]["x"]
        reached["association"] += row["interval"][0] <= 0 <= row["interval"][1]
        steps = {str(i): {t: random.normal(size=(1, 6)) for t in (0, 1)} for i in range(12)}
        low, high = stepwise.measure(steps, random.normal(size=6), seed, 200)["interval"]
        reached["stepwise"] += low <= 0 <= high
        prompts = {role: [(1.0, ratio) for ratio in random.uniform(2, 3, 20)] for role in complexity.ROLES}
        low, high = complexity.measure({"x": prompts}, seed, 200)["by_occupation"]["x"]["interval"]
        reached["complexity"] += low <= 0 <= high
    assert min(reached.values()) >= 85, reached


def distorted(stereotypical: Any, counter: Any) -> Any:
    roles = {"neutral": EAST, "stereotypical": stereotypical, "counter_stereotypical": counter}
    return distortion.measure({"x": {role: (v(vector), v(EAST)) for role, vector in roles.items()}})


def stepped(last: Any, towards: Any) -> Any:
    return stepwise.measure({"x": {0: v(EAST), **({} if last is None else {1: v(last)})}}, towards)


@pytest.mark.parametrize(
    ("measure", "arguments", "reason"),
    [
        (similar, (v([0, 0]), v(NORTH), v(NORTH)), "a vector is zero and has no direction"),
        (similar, (v([math.nan, math.nan]), v(NORTH), v(NORTH)), "a vector is missing"),
        (similar, (np.empty((0, 2)), v(NORTH), v(NORTH)), "there is no stereotypical image"),
        (similar, (v(EAST), v(NORTH), np.empty((0, 2))), "there is no female anchor"),
        (distorted, (EAST, NORTH), "a distance before the projection is 0"),
        (distorted, ([1 + 1e-8, 0], NORTH), "a distance before the projection is 0"),
        (distorted, (NORTH, EAST), "a distance before the projection is 0"),
        (distorted, ([0, 0], NORTH), "a vector is zero and has no direction"),
        (stepped, (None, v(1, 0)), "there are fewer than two steps"),
        (stepped, ([0, 0], v(1, 0)), "a vector is zero and has no direction"),
        (stepped, (EAST, v(0, 0)), "the male-female direction: a vector is zero and has no direction"),
        (
            stepped,
            (EAST, stepwise.direction(np.empty((0, 2)), v(EAST))),
            "the male-female direction: a vector is missing",
        ),
    ],
)
def test_what_has_no_direction_or_distance_is_undefined(measure: Any, arguments: Any, reason: str) -> None:
    found = measure(*arguments)
    name = {similar: "representation_similarity_bias", distorted: "projection_distortion", stepped: "stepwise_bias"}
    assert (found["state"], found[name[measure]], found["coverage"]) == ("undefined", None, 0)
    assert found["by_occupation"]["x"]["reason"] == reason
    assert found.get("curve", []) == []


def test_association_keeps_its_sign_and_opposite_leanings_cancel_only_in_the_mean() -> None:
    found = association.measure({"a": v(BETWEEN), "b": v([4, 3])}, {"male": v(EAST), "female": v(NORTH)})
    assert [found["by_occupation"][name]["value"] for name in "ab"] == pytest.approx([-0.2, 0.2])
    assert found["association_bias"] == pytest.approx(0)
    assert found["absolute_difference"] == pytest.approx(0.2)
    assert found["by_occupation"]["a"]["interval"] is None  # one term on each side shows no spread


def test_association_reaches_both_ends_of_its_range_and_turns_with_the_sets() -> None:
    terms = {"male": v(EAST), "female": v([-1, 0])}
    assert association.measure({"x": v(EAST)}, terms)["association_bias"] == 2
    turned = {"male": terms["female"], "female": terms["male"]}
    assert association.measure({"x": v(EAST)}, turned)["association_bias"] == -2


def test_interval_of_an_association_is_that_of_its_terms() -> None:
    terms = {"male": v(EAST, NORTH), "female": v(NORTH, NORTH)}
    row = association.measure({"x": v(EAST)}, terms)["by_occupation"]["x"]
    assert (row["value"], row["interval"]) == (0.5, [0, 1])


@pytest.mark.parametrize(
    ("vectors", "mean", "deviation"),
    [
        (v(EAST, BETWEEN, NORTH), 7 / 15, math.sqrt((0.6**2 + 0.8**2) / 3 - (7 / 15) ** 2)),
        (v(EAST, BETWEEN), 0.6, math.nan),  # one pair has no deviation
    ],
)
def test_consistency_by_hand(vectors: Any, mean: float, deviation: float) -> None:
    assert consistency.intent_consistency(vectors) == pytest.approx((mean, deviation), nan_ok=True)


def test_consistency_is_1_for_one_direction_and_undefined_for_one_paraphrase() -> None:
    found = consistency.measure({"one": v(EAST, [2, 0], [5, 0]), "alone": v(EAST), "zero": v(EAST, [0, 0])})
    assert found["by_occupation"]["one"]["value"] == 1
    assert found["by_occupation"]["one"]["standard_deviation"] == 0
    assert found["by_occupation"]["alone"]["reason"] == "there are fewer than two paraphrases"
    assert found["by_occupation"]["zero"]["value"] is None
    assert (found["intent_consistency"], found["partial_mean"], found["coverage"]) == (None, 1, 1 / 3)
    told = "alone (there are fewer than two paraphrases), zero (a vector is zero and has no direction)"
    assert (found["state"], found["reason"]) == ("undefined", f"2 of 3 have no value: {told}")
    assert found["above_threshold"] == ["one"]


def test_interval_of_a_consistency_covers_the_true_mean() -> None:
    covered = 0
    base = np.ones(40)
    truth = consistency.intent_consistency(base + RANDOM.normal(size=(1500, 40)))[0]
    for seed in range(100):
        sample = base + RANDOM.normal(size=(25, 40))
        low, high = consistency.measure({"x": sample}, seed, 200)["by_occupation"]["x"]["interval"]
        covered += low <= truth <= high
    assert covered >= 85  # 95 is meant; percentiles of 25 stimuli are somewhat too narrow


def test_a_projection_that_only_turns_and_scales_distorts_nothing() -> None:
    turn = np.linalg.qr(RANDOM.normal(size=(6, 6)))[0]
    prompts = {role: RANDOM.normal(size=(1, 6)) for role in distortion.ROLES}
    found = distortion.measure({"x": {role: (p, 3 * p @ turn) for role, p in prompts.items()}})
    assert found["projection_distortion"] == pytest.approx(1)


def test_mean_distortion_is_geometric() -> None:
    def roles(counter: list[float]) -> Any:
        return {
            "neutral": (v(EAST), v(EAST)),
            "stereotypical": (v(NORTH), v(NORTH)),
            "counter_stereotypical": (v(counter), v([-1, 0])),
        }

    there = distortion.measure({"a": roles(NORTH)})
    row = there["by_occupation"]["a"]
    assert (row["ratio_before"], row["ratio_after"], there["projection_distortion"]) == pytest.approx((1, 2, 2))
    back = {role: (after, before) for role, (before, after) in roles(NORTH).items()}
    assert distortion.measure({"a": roles(NORTH), "b": back})["projection_distortion"] == pytest.approx(1)


def test_small_distances_are_exact() -> None:
    angle = 1e-5
    assert distances(v(EAST), v([math.cos(angle), math.sin(angle)]))[0, 0] == pytest.approx(angle**2 / 2, rel=1e-6)
    assert distances(v(EAST), v([7, 0]))[0, 0] == 0


def test_steps_that_turn_to_the_male_side_rise_from_0_to_1() -> None:
    towards = stepwise.direction(v([2, 0], [4, 0]), v([-1, 0]))
    assert towards.tolist() == [4, 0]
    found = stepwise.measure({"pilot": {0: v(NORTH), 1: v(BETWEEN), 2: v(EAST)}}, towards)
    assert found["curve"] == pytest.approx([0, 0.6, 1])
    assert (found["stepwise_bias"], found["by_occupation"]["pilot"]["steepest"]) == (1, 1)


def test_a_rise_to_the_female_side_is_a_rise_and_a_fall_is_below_0() -> None:
    assert stepwise.rise(v(0.0, -0.5)) == 0.5
    assert stepwise.rise(v(0.5, 0.25)) == -0.25
    assert math.isnan(stepwise.rise(v(0.5)))


@pytest.mark.parametrize("shape", [(5, 3), (3, 9), (40, 12)])
def test_participation_ratio_is_that_of_the_covariance_s_eigenvalues(shape: tuple[int, int]) -> None:
    vectors = RANDOM.normal(size=shape) * np.arange(1, shape[1] + 1)
    eigenvalues = np.linalg.eigvalsh(np.cov(vectors.T))
    expected = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert complexity.participation_ratio(vectors) == pytest.approx(expected)
    assert complexity.participation_ratio(1e200 * vectors) == pytest.approx(expected)


def test_participation_ratio_is_1_on_a_line_d_on_a_cross_and_undefined_without_spread() -> None:
    assert complexity.participation_ratio(v(EAST, [2, 0], [5, 0])) == pytest.approx(1)
    cross = np.concatenate([np.eye(4), -np.eye(4)])
    assert complexity.participation_ratio(cross) == pytest.approx(4)
    assert math.isnan(complexity.participation_ratio(v(EAST)))
    assert math.isnan(complexity.participation_ratio(v([0.1, 0.3], [0.1, 0.3], [0.1, 0.3])))


def test_complexity_compares_the_roles_and_says_where_the_hypothesis_holds() -> None:
    line, cross = complexity.embedding(v([3, 0], [1, 0])), complexity.embedding(v([4, 1], [4, -1], [5, 0], [3, 0]))
    found = complexity.measure(
        {
            "a": {"stereotypical": [line], "counter_stereotypical": [cross, cross]},
            "b": {"stereotypical": [cross], "counter_stereotypical": [line]},
            "c": {"stereotypical": [(2.0, math.nan)], "counter_stereotypical": [line]},
        }
    )
    assert (line[0], cross[0]) == (2, 4)
    assert found["by_occupation"]["a"]["value"] == pytest.approx(1)
    assert (found["embedding_complexity"], found["magnitude_difference"]) == (None, pytest.approx(0))
    assert (found["state"], found["interval"], found["partial_mean"]) == ("undefined", None, pytest.approx(0))
    assert found["supported"] == ["a"]
    assert found["by_occupation"]["c"]["value"] is None
    assert found["by_occupation"]["c"]["magnitude_difference"] == 0
    assert found["counts"] == {"expected": 3, "valid": 2, "missing": 1}


def test_scale_of_a_vector_changes_no_cosine_even_at_the_ends_of_its_range() -> None:
    assert cosines(v([3e200, 4e200]), v([1e-200, 0]))[0, 0] == pytest.approx(0.6)


def test_one_missing_vector_takes_the_mean_of_every_probe_away_and_lists_what_is_left() -> None:
    def turned(sine: float) -> Any:
        return v([math.sqrt(1 - sine * sine), sine])

    gone, anchors = v([math.nan, math.nan]), {"male": v(EAST), "female": v(EAST)}
    pair = ("stereotypical", "male"), ("counter_stereotypical", "female")
    triple = {"neutral": (v(EAST), v(EAST)), "stereotypical": (v(NORTH), v(NORTH))}
    found = {
        "representation_similarity_bias": similarity.measure(
            {"a": dict(zip(pair, (v(EAST), turned(0.6)), strict=True)), "b": dict.fromkeys(pair, gone)}, anchors
        ),
        "association_bias": association.measure({"a": v(BETWEEN), "b": gone}, {"male": v(EAST), "female": v(NORTH)}),
        "intent_consistency": consistency.measure({"a": v(EAST, BETWEEN), "b": np.concatenate([v(EAST), gone])}),
        "projection_distortion": distortion.measure(
            {
                "a": {**triple, "counter_stereotypical": (v(NORTH), v([-1, 0]))},
                "b": {**triple, "counter_stereotypical": (gone, v([-1, 0]))},
            }
        ),
        "stepwise_bias": stepwise.measure({"a": {0: v(NORTH), 1: v(BETWEEN)}, "b": {0: v(NORTH), 1: gone}}, v(1, 0)),
        "embedding_complexity": complexity.measure(
            {
                "a": {"stereotypical": [(1.0, 2.0)], "counter_stereotypical": [(1.5, 2.5)]},
                "b": {"stereotypical": [(math.nan, math.nan)], "counter_stereotypical": [(1.5, 2.5)]},
            }
        ),
    }
    left = dict(zip(found, (0.2, -0.2, 0.6, 2.0, 0.6, 0.5), strict=True))
    for name, each in found.items():
        assert (each[name], each["interval"], each["state"], each["coverage"]) == (None, None, "undefined", 0.5), name
        assert each["reason"] == "1 of 2 have no value: b (a vector is missing)"
        assert each["partial_mean"] == pytest.approx(left[name]), name
    assert found["association_bias"]["absolute_difference"] is None
    assert found["embedding_complexity"]["magnitude_difference"] is None
    assert (found["stepwise_bias"]["curve"], found["stepwise_bias"]["curve_interval"]) == ([], [])


def test_a_reason_names_five_occupations_without_a_value_and_counts_the_others() -> None:
    lacking = {f"x{i}": v(EAST) for i in range(7)}
    reason = consistency.measure({"whole": v(EAST, EAST), **lacking})["reason"]
    assert reason.startswith("7 of 8 have no value: x0 (there are fewer than two paraphrases), x1 (")
    assert reason.endswith("x4 (there are fewer than two paraphrases), 2 others")


def test_missing_vectors_are_rows_without_numbers() -> None:
    assert np.isnan(read_vectors([None, [1, 2], []], "x")[[0, 2]]).all()
    assert read_vectors([None, []], "x").shape == (2, 0)


def test_the_same_seed_gives_the_same_bytes_in_any_order_and_none_is_0() -> None:
    vectors = RANDOM.normal(size=(8, 5))
    in_order, turned = {"a": vectors[:3], "b": vectors}, {"b": vectors[::-1], "a": vectors[2::-1]}
    texts = [json.dumps(consistency.measure(images, seed)) for images in (in_order, turned) for seed in (0, 4)]
    assert texts[:2] == texts[2:]
    assert texts[0] != texts[1]
    assert texts[0] == json.dumps(consistency.measure(in_order))
