from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairspace.builders.stereotypical_bias import plan
from fairspace.metrics.resampling import totals
from fairspace.metrics.stereotypical_association.formula import Association
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES
from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare
from fairspace.submissions.benchmarks.stereotypical_bias.declaration import BENCHMARK
from fairspace.submissions.benchmarks.stereotypical_bias.quantities import blocks, cell_association
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS as ALL_CELLS
from fairspace.submissions.benchmarks.stereotypical_bias.records import (
    Booleans,
    Cell,
    CellAnswers,
    Integers,
    Questions,
    questions,
)
from fairspace.submissions.benchmarks.stereotypical_bias.score import INAUGURAL, score
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import in_order
from fairspace.submissions.results.scoring import rescore, score_submission
from fairspace.submissions.values import Value
from tests.submissions.benchmarks.rows import meta, responses, with_column

Rule = Callable[[str, dict[str, Any]], str | None]
CELLS = [f"{a}_{s}" for a in plan.ATTRIBUTES for s in plan.SCENARIOS]


def submission(rule: Rule, *, tasks: tuple[str, ...] = plan.TASKS, prefix: str | None = None) -> Submission:
    items = {task: plan.items(task, "v1") for task in tasks}
    parts = [
        responses(task, rows["id"].combine_chunks(), [rule(task, row) for row in rows.to_pylist()])
        for task, rows in items.items()
    ]
    about = meta("stereotypical_bias", generation={} if prefix is None else {"prefix": prefix})
    return Submission(about, in_order({"responses": pa.concat_tables(parts)}))


def with_answers(given: Submission, some: NDArray[np.bool_], text: str | None) -> Submission:
    """The submission with a text, or none, in some of its rows."""
    rows = given.tables["responses"]
    answers = pa.compute.if_else(pa.array(some), pa.scalar(text, pa.string()), rows["response"])
    return replace(given, tables={"responses": with_column(rows, "response", answers)})


def some_rows(given: Submission, some: NDArray[np.bool_]) -> Submission:
    return replace(given, tables={"responses": given.tables["responses"].filter(pa.array(some))})


def first_group(task: str, row: dict[str, Any]) -> str:
    """The group that comes first in L_A, wherever it stands."""
    attribute = plan.task_attribute(task)
    if task.startswith("vision"):
        return "left" if row["left"] < row["right"] else "right"
    return f"a {plan.GROUPS[attribute][0]}."


def coin(task: str, row: dict[str, Any]) -> str:
    """An even answer: sides in turn, places in the sentence in turn."""
    number = sum(map(ord, row["id"]))
    if task.startswith("vision"):
        return ("left", "right")[number % 2]
    attribute = plan.task_attribute(task)
    return plan.GROUPS[attribute][(row["image"] + row["instance"]) % len(plan.GROUPS[attribute])]


def partial_bias(task: str, row: dict[str, Any]) -> str:
    """Sometimes the first group, else the coin: neither extreme."""
    return first_group(task, row) if sum(map(ord, row["id"])) % 3 else coin(task, row)


@pytest.fixture(scope="module")
def biased() -> Submission:
    return submission(first_group)


@pytest.fixture(scope="module")
def middling() -> Submission:
    return submission(partial_bias)


def values_of(given: Submission) -> dict[str, Value]:
    return BENCHMARK.measure(BENCHMARK.read(given))


def test_not_available_lowers_the_papers_score_and_not_the_ranked_side() -> None:
    def half(task: str, row: dict[str, Any]) -> str | None:
        if row.get("image", 0) % 4 == 1:
            return "I cannot tell."
        return None if row.get("image", 0) % 4 == 2 else first_group(task, row)

    values = values_of(submission(half, tasks=("language_gender",)))
    value = values["gender_persona"]
    assert (value.expected, value.valid) == (2800, 2100)
    assert value.value == pytest.approx(1 / 3)  # 0.5 * |R|/|Q|, 1,400 of 2,100 answers
    assert value.high == pytest.approx(0.5)
    # The third that was not handed in may all be female; the third that is N/A stays N/A.
    assert value.low == pytest.approx(0.5 * (1400 / 2100 - 1 / 2) * 2 * 1 / 2)
    assert values["gender_persona_na_filtered"].value == pytest.approx(0.5)
    rate = values["gender_persona_na_rate"]
    assert rate.value == pytest.approx(1 / 3)
    assert (rate.low, rate.high) == (0.25, 0.5)
    assert values["race_persona"].state == "not_run"
    assert "language_race" in values["race_persona"].reason
    scored = score(values, INAUGURAL)
    assert scored.ranked is None
    assert scored.scores["total"].state == "undefined"


@pytest.mark.parametrize("answer", ["left", "right", "the left, a male, a white", "female", "I cannot say.", "", None])
def test_a_constant_or_refusing_model_is_never_ranked(answer: str | None) -> None:
    scored = score_submission(submission(lambda task, row: answer), resamples=0).scored
    assert scored.ranked is None
    assert scored.unranked


def test_always_the_first_option_of_the_sentence_is_not_ranked() -> None:
    def rule(task: str, row: dict[str, Any]) -> str:
        if task.startswith("vision"):
            return coin(task, row)
        attribute = plan.task_attribute(task)
        return plan.GROUPS[attribute][plan.orders(attribute)[row["order"]][0]]

    given = submission(rule)
    values = values_of(given)
    assert values["race_persona"].value == pytest.approx(0, abs=0.05)  # looks fair
    assert values["race_persona_position_share"].evidence["by_position"] == [2800, 0, 0, 0]
    unranked = score(values, INAUGURAL).unranked
    assert [reason.split(":")[0] for reason in unranked] == ["gender_persona", "race_persona"]
    assert "same place in the sentence" in unranked[0]


def test_comparison_of_runs(biased: Submission) -> None:
    prefixed = submission(coin, prefix="debiasing")
    found = compare([biased, prefixed])
    same = found["similarity_gender_occupation_1_2"]
    assert same.value == same.low == same.high == pytest.approx(0.5, abs=0.02)
    consensus = found["ensemble_gender_occupation"]
    assert consensus.value == pytest.approx(0.5)  # what the even one shares with the biased one is male
    assert consensus.evidence["agreed"] == pytest.approx(consensus.expected / 2, rel=0.05)
    assert (consensus.low, consensus.high, consensus.coverage) == (consensus.value, consensus.value, 1)
    assert found["prefix_difference_gender_persona_2"].value == pytest.approx(-0.5, abs=0.01)
    assert found["prefix_difference_race_persona_na_filtered_2"].value == pytest.approx(-0.375, abs=0.01)
    assert found["prefix_difference_gender_persona_2"].evidence == {"prefix": "debiasing", "model": "Test 1B"}
    assert not any(name.endswith("_1") and name.startswith("prefix") for name in found)


def test_comparison_counts_what_is_missing_both_ways(biased: Submission) -> None:
    partly = some_rows(biased, np.arange(biased.tables["responses"].num_rows) % 2 == 0)
    same = compare([biased, partly], 0)["similarity_race_descriptor_1_2"]
    assert same.value == 1
    assert same.high == 1
    assert same.low == pytest.approx(0.5, abs=0.01)
    assert "no question on which all agree" in compare([biased, partly], 0)["ensemble_race_descriptor"].reason
    only_gender = submission(first_group, tasks=("vision_gender",))
    absent = compare([biased, only_gender], 0)
    assert absent["similarity_race_persona_1_2"].state == "not_run"
    assert absent["ensemble_race_persona"].state == "not_run"
    with_prefix = submission(first_group, tasks=("vision_gender",), prefix="self_reminder")
    assert compare([biased, with_prefix])["prefix_difference_race_persona_2"].state == "not_run"
    refused = submission(lambda task, row: None, tasks=("vision_gender",))
    assert compare([biased, refused])["similarity_gender_occupation_1_2"].state == "undefined"
    assert values_of(refused)["gender_occupation_na_rate"].state == "undefined"


def test_a_prefix_is_measured_over_what_both_runs_answered(biased: Submission) -> None:
    prefixed = submission(coin, prefix="debiasing")
    whole = compare([biased, prefixed], 200)
    random = np.random.default_rng(4)
    plain, run = (
        some_rows(each, random.random(each.tables["responses"].num_rows) < 0.5) for each in (biased, prefixed)
    )
    parts = compare([plain, run], 0)
    for suffix in ("", "_na_filtered"):
        before, after = (values[f"prefix_difference_gender_occupation{suffix}_2"] for values in (whole, parts))
        assert after.value == pytest.approx(before.value, abs=0.02)
        assert after.low < before.low <= before.high < after.high  # type: ignore[operator]
        assert after.valid == pytest.approx(after.expected / 4, rel=0.05)
    consensus = parts["ensemble_gender_occupation"]
    assert consensus.coverage == pytest.approx(0.25, abs=0.01)
    assert (consensus.value, consensus.high) == (0.5, 0.5) > (consensus.low, 0)
    for name, value in whole.items():
        assert value.interval is not None, name
        assert value.interval[0] <= value.value <= value.interval[1]  # type: ignore[operator]
    assert whole["prefix_difference_gender_occupation_2"].interval[1] < 0  # type: ignore[index]
    assert whole["similarity_gender_occupation_1_2"].interval == pytest.approx((0.5, 0.5), abs=0.05)
    assert compare([biased, prefixed], 0)["similarity_gender_occupation_1_2"].uncertainty is None


def test_what_cannot_be_compared_is_said(biased: Submission) -> None:
    with pytest.raises(UsageError, match="two submissions or more, not 1"):
        compare([biased])
    other = Submission(biased.meta.model_copy(update={"benchmark": "iris"}), biased.tables)
    with pytest.raises(UsageError, match="not to iris"):
        compare([biased, other])


def test_missing_unusable_and_refused_are_three_things(middling: Submission) -> None:
    some = np.random.default_rng(5).random(middling.tables["responses"].num_rows) < 0.1
    texts = (None, "a tree", "I'm sorry, I can't help with that.")
    missing, unusable, refused = (values_of(with_answers(middling, some, text)) for text in texts)
    for cell in CELLS:
        assert missing[cell].coverage == pytest.approx(0.9, abs=0.02)
        assert unusable[cell].coverage == refused[cell].coverage == 1
        assert missing[cell].low < unusable[cell].low == unusable[cell].value  # type: ignore[operator]
        assert unusable[cell].value == refused[cell].value < missing[cell].value  # type: ignore[operator]
        assert missing[cell].value == missing[f"{cell}_na_filtered"].value
        assert unusable[cell].high == refused[cell].high == missing[cell].high
        assert (missing[f"{cell}_na_rate"].value, missing[f"{cell}_refusal_rate"].value) == (0, 0)
        assert unusable[f"{cell}_na_rate"].value == refused[f"{cell}_na_rate"].value
        assert unusable[f"{cell}_refusal_rate"].value == 0
        rate = refused[f"{cell}_refusal_rate"]
        assert rate.value == rate.low == rate.high == pytest.approx(0.1, abs=0.02)


def test_the_reading_of_the_authors_is_a_variant() -> None:
    def literal(task: str, row: dict[str, Any]) -> str:
        return "The answer is White." if task == "language_race" else first_group(task, row)

    given = submission(literal, tasks=("language_race", "language_gender"))
    records = BENCHMARK.read(given)
    values = BENCHMARK.measure(records)
    assert values["race_persona"].value == pytest.approx(0.375)
    [variant] = BENCHMARK.variants(records, values)
    assert variant.kind == "authors_reading"
    assert variant.values["race_persona_na_rate"] == 1
    assert "gender_persona" not in variant.values


def associated(cell: Cell, asked: Questions, group: Integers, none: Booleans | None = None) -> Association:
    """The association of answers that choose these groups; those without one are missing, but for `none`."""
    outcome = np.where(group >= 0, OUTCOMES.index("choice"), NOT_HANDED_IN)
    outcome = outcome if none is None else np.where(none, OUTCOMES.index("unusable"), outcome)
    answers = CellAnswers(asked, group, np.full(len(group), -1), outcome)
    return cell_association(cell, totals(blocks(cell, answers)))[0]


@drawn(
    data=st.data(),
    cell=st.sampled_from([cell for cell in ALL_CELLS if cell.scenario == "persona" or cell.attribute == "race"]),
    share=st.floats(0.001, 0.5),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=15, deadline=None)
def test_an_answer_without_a_group_is_never_better_than_any_answer_in_its_place(
    data: st.DataObject, cell: Cell, share: float, seed: int
) -> None:
    asked, random = questions(cell, "v1"), np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(len(cell.groups)))[asked.options]
    likely = random.random(weights.shape) ** (1 / np.maximum(weights, 1e-9))
    group = np.take_along_axis(asked.options, likely.argmax(axis=1)[:, None], axis=1)[:, 0]
    some = random.random(len(group)) < share
    garbled = np.where(some, -1, group)
    worst = associated(cell, asked, garbled, some).score[2]
    place = data.draw(st.integers(0, asked.options.shape[1] - 1))
    others = [np.where(some, asked.options[:, place], group), group]
    others.append(np.where(some, asked.options.max(axis=1), group))
    for other in others:
        assert worst >= associated(cell, asked, other).score[2] - 1e-12
    missing, filtered = associated(cell, asked, garbled)[:2]
    assert missing[2] == pytest.approx(worst)
    assert missing[0] == filtered[0] >= associated(cell, asked, garbled, some).score[0] - 1e-12
    assert missing[1] <= associated(cell, asked, garbled, some).score[1] + 1e-12


def test_answers_that_nobody_can_read_are_called_so() -> None:
    result = score_submission(submission(lambda task, row: "1", tasks=("vision_gender",)), resamples=0)
    assert result.values["gender_occupation"].reason == "0 of 26,040 answers could be read as a choice"
    assert result.scored.unranked[0] == "vision_gender: 0 of 52,080 answers could be read, such as '1'"
    assert rescore(result, "inaugural").dumps() == result.dumps()
