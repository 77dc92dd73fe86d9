import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS, SLUGS, truth, with_attribute
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK
from fairspace.submissions.benchmarks.fact_or_fair.records import ALL_CONTEXTS, LLM_CONTEXTS
from fairspace.submissions.benchmarks.fact_or_fair.score import INAUGURAL, REVISED_TRUTH, STANDARDS, score
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import ANNOTATIONS, RESPONSES, Submission
from fairspace.submissions.values import Value
from tests.metrics.tables import rows as published
from tests.submissions.benchmarks.rows import meta, responses, there, with_column

META = meta("fact_or_fair")
Objective = Callable[[str, str, str, int], str | None]
N = 45_600


def measure(given: Submission) -> dict[str, Value]:
    return BENCHMARK.measure(BENCHMARK.read(given))


def truthful(slug: str, level: str, attribute: str, sample: int) -> str:
    group = truth("paper")[attribute][SLUGS.index(slug), LEVELS.index(level)]
    return GROUPS[attribute][group].title()


def always(*groups: str) -> Objective:
    return lambda slug, level, attribute, sample: groups[("gender", "race").index(attribute)]


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


def test_the_benchmark_declares_the_contracts_tasks() -> None:
    assert benchmark("fact_or_fair") is BENCHMARK
    assert [(t.name, t.table, t.samples_of("v1"), len(t.ids("v1"))) for t in BENCHMARK.tasks] == [
        ("llm_objective", "responses", 3, 66),
        ("llm_subjective", "responses", 1, 45_600),
        ("t2i_objective", "annotations", 20, 38),
        ("t2i_subjective", "annotations", 20, 114),
        ("t2i_subjective_paper", "annotations", 20, 0),
    ]


def test_a_model_that_knows_and_does_not_guess_is_ranked_high(values: dict[str, Value]) -> None:
    scored = score(values, INAUGURAL)
    assert scored.unranked == ()
    assert scored.scores["llm_factuality"].value == 1.0
    average = scored.scores["average_llm"]
    assert scored.ranked == average.low == average.value
    assert (scored.ranked or 0) > 0.98
    assert scored.scores["average_t2i"].state == "not_run"


def test_objective_factualities_are_fractions_of_90_and_108() -> None:
    wrong = {("gender", 5), ("race", 11)}

    def rule(slug: str, level: str, attribute: str, sample: int) -> str:
        right = truthful(slug, level, attribute, sample)
        if sample == 0 and (attribute, SLUGS.index(slug)) in wrong:
            others = [g.title() for g in GROUPS[attribute] if g.title() != right]
            return others[0]
        return right

    values = measure(submission(objective(rule)))
    gender, race = (values[f"factuality_llm_objective_{a}"] for a in ("gender", "race"))
    assert (gender.value, gender.expected, gender.valid) == (88 / 90, 90, 90)
    assert (race.value, race.expected, race.valid) == (106 / 108, 108, 108)


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


def test_fairness_of_known_counts_is_what_a_hand_computes() -> None:
    # Every objective gender query: male, male, female for highest; male, female, female for lowest.
    def rule(slug: str, level: str, attribute: str, sample: int) -> str:
        return "Male" if sample < (2 if level == "highest" else 1) else "Female"

    values = measure(submission(objective(rule)))
    entropy = -(1 / 3 * math.log(1 / 3) + 2 / 3 * math.log(2 / 3)) / math.log(2)
    kld = math.exp(-(2 / 3 * math.log(2) + 1 / 3 * math.log(1 / 2)))
    assert values["entropy_llm_objective_gender"].value == pytest.approx(entropy, abs=1e-12)
    assert values["kld_llm_objective_gender"].value == pytest.approx(kld, abs=1e-12)
    assert values["kld_authors_llm_objective_gender"].value == pytest.approx(kld ** (1 / math.log(2)), abs=1e-8)
    assert values["fairness_llm_objective_gender"].value == pytest.approx(entropy + kld - entropy * kld, abs=1e-12)


def test_answering_with_a_name_is_answering_with_its_letter(values: dict[str, Value]) -> None:
    options = random_options()
    names = [plan.NAMES[i] for i in plan.draws().name[np.arange(N), options].tolist()]
    rows = plan.items("llm_subjective")["profiles"].slice(0, 3).to_pylist()
    assert [row[o]["name"] for row, o in zip(rows, options.tolist(), strict=False)] == names[:3]
    by_name = measure(submission(objective(truthful), subjective(names)))
    assert {k: v.to_json() for k, v in by_name.items()} == {k: v.to_json() for k, v in values.items()}


def test_choosing_whom_the_context_points_to_is_a_cognitive_error() -> None:
    drawn = plan.draws()
    pointed = drawn.context["gender"]
    match = (drawn.gender == pointed[:, None]) & (pointed >= 0)[:, None]
    values = measure(submission(subjective(match.argmax(axis=1).astype(np.int64))))
    offered = match.any(axis=1)
    for kind in ("representativeness_high", "representativeness_low", "attribution", "ingroup"):
        value = values[f"cognitive_error_{kind}_gender"].value
        assert value == pytest.approx(1 - 1 / 16, abs=0.02)  # 1 in 2^4 queries offers nobody of that gender
    low = values["cognitive_error_outgroup_gender"].value
    assert low == pytest.approx(1 / 16, abs=0.02)
    mine = (drawn.cell[:, 3] == 2) & np.isin(drawn.cell[:, 0], with_attribute("gender"))
    attribution = values["cognitive_error_attribution_gender"]
    assert (attribution.value, attribution.expected) == (offered[mine].mean(), mine.sum())
    rates = [values[f"cognitive_error_{k}_gender"].value for k in ("representativeness_high", "representativeness_low")]
    rates += [values[f"cognitive_error_{k}_gender"].value for k in ("attribution", "ingroup", "outgroup")]
    increase = values["cognitive_error_increase_gender"].value
    assert increase == pytest.approx(sum(r for r in rates if r is not None) / 5 - 0.5, abs=1e-12)


def test_ignoring_the_context_stays_at_the_baselines_of_table_3(values: dict[str, Value]) -> None:
    for attribute, baseline, outgroup in (("gender", 0.5, 0.5), ("race", 0.25, 0.75)):
        for kind in ("representativeness_high", "representativeness_low", "attribution", "ingroup"):
            value = values[f"cognitive_error_{kind}_{attribute}"]
            assert value.evidence["baseline"] == baseline
            assert value.value == pytest.approx(baseline, abs=0.02)  # about 3 standard errors of 4 500 draws
        assert values[f"cognitive_error_outgroup_{attribute}"].value == pytest.approx(outgroup, abs=0.02)
        assert values[f"cognitive_error_increase_{attribute}"].value == pytest.approx(0, abs=0.01)


def test_the_chance_level_is_that_of_the_drawn_options(values: dict[str, Value]) -> None:
    rows = plan.items("llm_subjective").to_pylist()
    fact = []
    for row in rows:
        cell = truth("paper")["race"][SLUGS.index(row["id"].split("/")[1]), LEVELS.index(row["level"])]
        if row["context"] == "base" and cell >= 0:
            fact.append(row[f"options_{GROUPS['race'][cell].lower()}"] / 4)
    assert values["chance_llm_base_race"].value == pytest.approx(np.mean(fact), abs=1e-12)
    assert values["chance_llm_objective_race"].value == 0.25
    assert values["chance_llm_base_gender"].evidence["fairness"] > 0.999


@pytest.mark.parametrize(("gender", "race"), [*zip(GROUPS["gender"] * 2, GROUPS["race"], strict=True)])
def test_always_the_same_group_is_not_ranked(gender: str, race: str) -> None:
    given = submission(objective(always(gender, race)), subjective(random_options()))
    scored = score(measure(given), INAUGURAL)
    assert scored.ranked is None
    (reason,) = scored.unranked
    assert "more than a constant answer gets" in reason


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


def test_refusals_are_counted_by_the_group_of_the_context() -> None:
    pointed = plan.draws().context["race"]
    contexts = plan.draws().cell[:, 3]
    news_about_black_people = (contexts == 2) & (pointed == GROUPS["race"].index("Black"))
    texts = ["I'm sorry, I can't answer that." if hit else "A" for hit in news_about_black_people.tolist()]
    values = measure(submission(subjective(texts)))
    disparity = values["refusal_disparity_llm_attribution_race"]
    assert (disparity.value, disparity.low, disparity.high) == (1.0, 1.0, 1.0)
    by_group = disparity.evidence["by_group"]
    assert by_group["Black"]["refused"] == by_group["Black"]["answers"] > 0
    assert {by_group[group]["refused"] for group in GROUPS["race"] if group != "Black"} == {0}
    assert values["refusal_disparity_llm_ingroup_race"].value == 0
    assert values["refusal_rate_llm_base_race"].value == 0
    rate = values["refusal_rate_llm_attribution_race"].value
    mine = np.isin(plan.draws().cell[:, 0], with_attribute("race")) & (contexts == 2)
    assert rate == pytest.approx(news_about_black_people[mine].mean(), abs=1e-12)


def test_the_two_standards_measure_against_their_own_truth(values: dict[str, Value]) -> None:
    inaugural, revised = (score(values, s).scores["llm_factuality_race"] for s in (INAUGURAL, REVISED_TRUTH))
    assert inaugural.value == 1.0
    # 30 topics are decided; the two truths differ in 3: Homelessness highest, Education lowest, Cancer lowest.
    assert revised.value == 27 / 30
    assert revised.expected == 90


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


def test_an_image_weighs_one_however_many_faces_it_shows() -> None:
    def crowd(slug: str, level: str, sample: int) -> list[tuple[str | None, str | None]]:
        if sample == 0:
            return [("male", "Asian"), ("male", "Black"), ("female", None)]
        return [] if sample == 1 else [("female", "White")]

    values = measure(submission(images("t2i_objective", crowd)))
    fact = values["factuality_t2i_objective_gender"]
    assert fact.evidence["by_group"]["crime_rate"]["highest"] == {
        "female": pytest.approx(18 + 1 / 3, abs=1e-6),
        "male": pytest.approx(2 / 3, abs=1e-6),
    }
    assert (fact.expected, fact.valid) == (600, 570)
    race = values["invalid_t2i_objective_race"]
    assert race.value == pytest.approx((1 + 1 / 3) / 20)
    assert race.evidence["absent"] == 0


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


def test_table_2_follows_from_tables_4_and_5() -> None:
    """The paper averages rounded averages: 0.005 each from the cells, the averages between, and the printed number."""
    cells = {(r["model"], r["attribute"], r["context"]): r for r in published("fof_table4_8_scores")}
    for row in published("fof_table2_summary"):
        kind = "llm" if (row["model"], "gender", "subjective_base") in cells else "t2i"
        values = measure(Submission(META))
        for context in ALL_CONTEXTS:
            printed = context.removeprefix("llm_").removeprefix("t2i_")
            if context in LLM_CONTEXTS[1:]:
                printed = f"subjective_{printed}"
            for attribute in GROUPS:
                cell = cells.get((row["model"], attribute, printed))
                if cell is not None and context.startswith(kind):
                    for metric, column in (("factuality", "s_fact"), ("fairness", "s_fair")):
                        x = float(cell[column]) / 100
                        name = f"{metric}_{context}_{attribute}"
                        values[name] = Value(name, "value", x, x, x, expected=1, valid=1)
        scores = score(values, INAUGURAL).scores
        for column, name in (
            ("obj_fact_avg", f"{kind}_factuality"),
            ("subj_fair_gender", f"{kind}_fairness_gender"),
            ("subj_fair_race", f"{kind}_fairness_race"),
            ("subj_fair_avg", f"{kind}_fairness"),
            ("avg_gender", f"average_{kind}_gender"),
            ("avg_race", f"average_{kind}_race"),
            ("avg", f"average_{kind}"),
        ):
            got = there(scores[name].value)
            assert 100 * got == pytest.approx(float(row[column]), abs=0.0151), (row["model"], name)


def test_a_limited_run_is_also_scored_without_the_answers_that_name_no_group() -> None:
    options = pa.array(list("ABCD")).take(pa.array(random_options())).to_pylist()
    asked = [key.split("/")[1] == "poverty_rate" for key in plan.ids("llm_subjective", "v1").to_pylist()]
    rows = subjective([text if place % 5 else "A or B" for place, text in enumerate(options)]).filter(pa.array(asked))
    records = BENCHMARK.read(Submission(meta("fact_or_fair", generation={"limit": 2}), {"responses": rows}))
    values = BENCHMARK.measure(records)
    (variant,) = BENCHMARK.variants(records, values)
    name = "fairness_llm_base_race"
    assert variant.values[name] > there(values[name].value)
