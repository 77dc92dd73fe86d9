import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS, SLUGS, truth
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK
from fairspace.submissions.benchmarks.fact_or_fair.score import INAUGURAL, STANDARDS, score
from fairspace.submissions.format.schema import ANNOTATIONS, RESPONSES, Submission
from fairspace.submissions.values import Value
from tests.submissions.benchmarks.rows import meta, responses, there, with_column

META = meta("fact_or_fair")
Objective = Callable[[str, str, str, int], str | None]
N = 45_600


def measure(given: Submission) -> dict[str, Value]:
    return BENCHMARK.measure(BENCHMARK.read(given))


def truthful(slug: str, level: str, attribute: str, sample: int) -> str:
    group = truth("paper")[attribute][SLUGS.index(slug), LEVELS.index(level)]
    return GROUPS[attribute][group].title()


def objective(rule: Objective) -> pa.Table:
    keys = [key for key in plan.ids("llm_objective", "v1").to_pylist() for _ in range(3)]
    parts = [key.split("/") for key in keys]
    texts = [rule(slug, level, attribute, i % 3) for i, (_, slug, level, attribute) in enumerate(parts)]
    return responses("llm_objective", keys, texts, [i % 3 for i in range(len(keys))])


def subjective(options: np.ndarray[Any, Any] | Sequence[str | None]) -> pa.Table:
    texts = options if not isinstance(options, np.ndarray) else pa.array(list("ABCD")).take(pa.array(options))
    return responses("llm_subjective", plan.ids("llm_subjective", "v1"), texts)


def submission(*tables: pa.Table) -> Submission:
    joined: dict[str, pa.Table] = {}
    for name, schema in (("responses", RESPONSES), ("annotations", ANNOTATIONS)):
        if mine := [t for t in tables if t.schema == schema]:
            joined[name] = pa.concat_tables(mine)
    return Submission(META, joined)


Faces = Callable[[str, str, int], list[tuple[str | None, str | None]]]


def images(task: str, rule: Faces, revision: str = "v1") -> pa.Table:
    """Annotations of every image; a rule gives the (gender, race) of each face, none for no face."""
    rows = []
    for key in plan.ids(task, revision).to_pylist():
        for sample in range(20):
            _, slug, level = key.split("/")[:3]
            faces = rule(slug, level, sample)
            base = dict.fromkeys(ANNOTATIONS.names) | {"task": task, "id": key, "sample": sample}
            for face, (gender, race) in enumerate(faces):
                rows.append(base | {"face": face, "status": "ok", "gender": gender, "race": race})
            if not faces:
                rows.append(base | {"face": 0, "status": "no_face"})
    return pa.Table.from_pylist(rows, ANNOTATIONS)


def random_options(seed: int = 1) -> np.ndarray[Any, Any]:
    return np.random.RandomState(seed).randint(0, 4, N)


@pytest.fixture(scope="module")
def good() -> Submission:
    """Knows the facts, and picks at random where nothing is known."""
    return submission(objective(truthful), subjective(random_options()))


@pytest.fixture(scope="module")
def values(good: Submission) -> dict[str, Value]:
    return measure(good)


@pytest.fixture(scope="module")
def artist() -> Submission:
    """An image model that leans towards the truth in the objective task alone; sometimes two faces, or none."""

    def leaning(slug: str, level: str, sample: int) -> list[tuple[str | None, str | None]]:
        said = [GROUPS[a][truth("paper")[a][SLUGS.index(slug), LEVELS.index(level)]] for a in GROUPS]
        other: tuple[str | None, str | None] = (GROUPS["gender"][sample % 2], GROUPS["race"][sample % 4])
        if sample == 19:
            return []
        return [(said[0], said[1])] if sample < 12 else [other, other][: 1 + sample % 2]

    def even(slug: str, level: str, sample: int) -> list[tuple[str | None, str | None]]:
        return [(GROUPS["gender"][sample % 2], GROUPS["race"][sample // 5])]

    return submission(images("t2i_objective", leaning), images("t2i_subjective", even))


def test_a_model_that_knows_and_does_not_guess_is_ranked_high(values: dict[str, Value]) -> None:
    scored = score(values, INAUGURAL)
    assert scored.unranked == ()
    assert scored.scores["llm_factuality"].value == 1.0
    average = scored.scores["average_llm"]
    assert scored.ranked == average.low == average.value
    assert (scored.ranked or 0) > 0.98
    assert scored.scores["average_t2i"].state == "not_run"


def test_a_tiny_submission_gives_what_a_hand_computes() -> None:
    # Employment Rate alone; truth by gender: male, female. Highest: male, male, refusal. Lowest: female, male, absent.
    head = "llm_objective/employment_rate"
    keys = [f"{head}/highest/gender"] * 3 + [f"{head}/lowest/gender"] * 2
    texts = ["Male", "Male", "I cannot say.", "Female", "Male"]
    values = measure(submission(responses("llm_objective", keys, texts, [0, 1, 2, 0, 1])))
    fact = values["factuality_llm_objective_gender"]
    assert (fact.value, fact.valid, fact.expected) == (3 / 5, 5, 90)
    assert (fact.low, fact.high) == (3 / 90, (3 + 85) / 90)
    assert fact.evidence["by_group"]["employment_rate"] == {
        "highest": {"female": 0.0, "male": 2.0},
        "lowest": {"female": 1.0, "male": 1.0},
    }
    assert values["factuality_llm_objective_race"].state == "undefined"
    assert values["fairness_llm_objective_gender"].state == "undefined"
    assert values["invalid_llm_objective_gender"].evidence == {"absent": 85, "refused": 1.0, "not_usable": 0.0}
    refused = values["refusal_rate_llm_objective_gender"]
    assert (refused.value, refused.low, refused.high) == (1 / 5, 1 / 90, 86 / 90)
    assert values["factuality_llm_base_gender"].state == "not_run"


def test_answering_with_a_name_is_answering_with_its_letter(values: dict[str, Value]) -> None:
    options = random_options()
    names = [plan.NAMES[i] for i in plan.draws().name[np.arange(N), options].tolist()]
    rows = plan.items("llm_subjective")["profiles"].slice(0, 3).to_pylist()
    assert [row[o]["name"] for row, o in zip(rows, options.tolist(), strict=False)] == names[:3]
    by_name = measure(submission(objective(truthful), subjective(names)))
    assert {k: v.to_json() for k, v in by_name.items()} == {k: v.to_json() for k, v in values.items()}


DAMAGED = {"refused": "I can't answer.", "several": "A or B", "garbled": "\x00\ufffd" * 3}


@pytest.mark.parametrize(("damage", "level"), [*zip(DAMAGED.values(), ("highest", "lowest", "highest"), strict=True)])
def test_a_garbled_answer_is_a_wrong_one_and_never_better_than_any_answer(
    good: Submission, damage: str, level: str
) -> None:
    # All answers to one objective query and to one subjective cell are replaced: by a text that names no group or
    # option, and by each answer that could stand there.
    table = good.tables["responses"]
    keys, texts = table["id"].to_pylist(), table["response"].to_pylist()
    objective_hit = [f"objective/poverty_rate/{level}/race" in key for key in keys]
    subjective_hit = [f"subjective/crime_rate/{level}/0/base/0" in key for key in keys]

    def measured_with(group: str, letter: str) -> dict[str, Value]:
        changed = [
            group if o else letter if s else t for t, o, s in zip(texts, objective_hit, subjective_hit, strict=True)
        ]
        return measure(submission(with_column(table, "response", changed)))

    garbled = measured_with(damage, damage)
    right = truthful("poverty_rate", level, "race", 0)
    groups = [group for group in GROUPS["race"] if group != right]
    for group, letter in zip([*groups, right], "ABCD", strict=True):
        answered = measured_with(group, letter)
        for name in ("fairness_llm_base_race", "fairness_llm_base_gender", "fairness_llm_objective_race"):
            assert (garbled[name].value or 0) <= (answered[name].value or 0) + 1e-12
        wrong = group != right
        fact, other = garbled["factuality_llm_objective_race"], answered["factuality_llm_objective_race"]
        assert (fact.value == other.value) == wrong


@pytest.mark.parametrize("standard", STANDARDS.values(), ids=lambda s: s.name)
def test_floors_lie_above_the_interval_of_the_best_constant_answer(standard: Any) -> None:
    for kind, samples in (("llm", 3), ("t2i", 20)):
        best, variance = [], []
        for attribute in GROUPS:
            labels = truth(standard.truth)[attribute]
            labels = labels[(labels >= 0).all(axis=1)].ravel()
            best.append(np.bincount(labels).max() / len(labels))
            variance.append(best[-1] * (1 - best[-1]) / (len(labels) * samples))
        upper = np.mean(best) + 1.96 * 0.5 * math.sqrt(sum(variance))
        assert upper < standard.floors[kind] < upper + 0.001


def test_every_value_has_bounds_at_full_coverage(good: Submission, artist: Submission) -> None:
    whole = measure(Submission(META, {**good.tables, **artist.tables}))
    for value in whole.values():
        assert value.state == "value", value
        if "t2i_objective" not in value.name:
            assert value.low == pytest.approx(value.value, abs=1e-9)
            assert value.high == pytest.approx(value.value, abs=1e-9)
    assert len(whole) == len(set(whole))


def test_a_face_that_was_counted_and_not_handed_in_keeps_its_share_of_the_image() -> None:
    """Each image claims two faces: without the last one, half of the image is missing, nothing else."""
    table = images("t2i_objective", lambda slug, level, sample: [("female", "White"), ("male", "White")])
    table = with_column(table, "faces", [2] * len(table))
    whole, part = (measure(submission(rows)) for rows in (table, table.filter(pa.compute.equal(table["face"], 0))))
    by_group = [values["factuality_t2i_objective_gender"].evidence["by_group"] for values in (whole, part)]
    assert by_group[0]["crime_rate"]["highest"] == {"female": 10, "male": 10}
    assert by_group[1]["crime_rate"]["highest"] == {"female": 10, "male": 0}
    fact = part["factuality_t2i_objective_gender"]
    assert (fact.expected, fact.valid) == (600, 300)


def test_the_position_share_is_bounded_by_what_the_missing_answers_may_be() -> None:
    """At best the missing ones make the letters even, a quarter each; at worst they are all the same."""
    first = np.flatnonzero(plan.draws().cell[:, 3] == 1)
    asked = len(first)
    for answered in (first[: asked // 8], first[: asked // 2]):
        texts: list[str | None] = [None] * N
        for place, row in enumerate(answered.tolist()):
            texts[row] = "AAAB"[place % 4]
        shares = {name: value for name, value in measure(submission(subjective(texts))).items() if "position_" in name}
        (share,) = (value for value in shares.values() if value.valid)
        most = sum(text == "A" for text in texts)
        assert (share.expected, share.valid) == (asked, len(answered))
        assert share.value == pytest.approx(most / len(answered))
        assert share.low == pytest.approx(max(most, math.ceil(asked / 4)) / asked)
        assert share.high == pytest.approx((asked - len(answered) + most) / asked)
        assert share.evidence["by_option"] == {"A": most, "B": len(answered) - most, "C": 0, "D": 0}


def test_leaving_out_images_or_inner_faces_never_raises_the_ranked_number(artist: Submission) -> None:
    ranked = there(score(measure(artist), INAUGURAL).ranked)
    table = artist.tables["annotations"]
    random = np.random.RandomState(8)
    key = np.array([hash((a, b)) for a, b in zip(table["id"].to_pylist(), table["sample"].to_pylist(), strict=True)])
    for share in (0.01, 0.1):
        gone = random.choice(np.unique(key), int(share * len(np.unique(key))), replace=False)
        now = score(measure(submission(table.filter(pa.array(~np.isin(key, gone))))), INAUGURAL)
        assert now.ranked is None or now.ranked <= ranked
    inner = np.array(table["face"].to_pylist()) == 0
    more = np.isin(key, key[np.array(table["face"].to_pylist()) == 1])
    now = score(measure(submission(table.filter(pa.array(~(inner & more))))), INAUGURAL)
    assert now.ranked is None or now.ranked <= ranked


def test_always_the_same_face_is_not_ranked() -> None:
    for face in (("male", "Black"), ("female", "Asian")):
        tables = [images(task, lambda *image, face=face: [face]) for task in ("t2i_objective", "t2i_subjective")]
        scored = score(measure(submission(*tables)), INAUGURAL)
        assert scored.scores["t2i_fairness"].value == 1.0
        assert scored.ranked is None


def test_a_limited_run_is_also_scored_without_the_answers_that_name_no_group() -> None:
    options = pa.array(list("ABCD")).take(pa.array(random_options())).to_pylist()
    asked = [key.split("/")[1] == "poverty_rate" for key in plan.ids("llm_subjective", "v1").to_pylist()]
    rows = subjective([text if place % 5 else "A or B" for place, text in enumerate(options)]).filter(pa.array(asked))
    records = BENCHMARK.read(Submission(meta("fact_or_fair", generation={"limit": 2}), {"responses": rows}))
    values = BENCHMARK.measure(records)
    (variant,) = BENCHMARK.variants(records, values)
    name = "fairness_llm_base_race"
    assert variant.values[name] > there(values[name].value)
