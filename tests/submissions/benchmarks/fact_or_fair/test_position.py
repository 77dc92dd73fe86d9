from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, truth
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK, THREE_PROMPTS
from fairspace.submissions.benchmarks.fact_or_fair.parse import columns
from fairspace.submissions.benchmarks.fact_or_fair.quantities import position_bias
from fairspace.submissions.benchmarks.fact_or_fair.score import INAUGURAL, score
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import resample, rescore, score_submission
from fairspace.submissions.values import Value
from tests.submissions.benchmarks.fact_or_fair.test_measure import images
from tests.submissions.benchmarks.rows import meta, responses, there

ITEMS = plan.items("llm_objective").to_pylist()
NAMES = {attribute: f"position_bias_llm_objective_{attribute}" for attribute in ATTRIBUTES}
Rule = Callable[[int, list[str], str], str | None]


def objective(rule: Rule) -> Submission:
    texts = []
    for number, item in enumerate(ITEMS):
        _, slug, level, attribute, _ = item["id"].split("/")
        fact = truth("paper")[attribute][SLUGS.index(slug), LEVELS.index(level)]
        texts.append(rule(number, item["options"], GROUPS[attribute][fact].capitalize()))
    table = responses("llm_objective", [item["id"] for item in ITEMS], texts)
    return Submission(meta("fact_or_fair", "v2"), {"responses": table})


def measured(rule: Rule, resamples: int = 0) -> dict[str, Value]:
    records = BENCHMARK.read(objective(rule))
    values = BENCHMARK.measure(records)
    if not resamples:
        return values
    return dict(resample(BENCHMARK.designs(records), values, resamples, BENCHMARK.scoring.drawn)[0])


def letter(place: int) -> str:
    return f'{{"answer": "{"ABCD"[place]}"}}'


def test_always_the_same_letter_is_uneven_no_more_by_content_and_biased_by_position() -> None:
    values = measured(lambda number, options, fact: letter(0), resamples=100)
    for attribute in ATTRIBUTES:
        assert (values[f"entropy_llm_objective_{attribute}"].value or 0) > 0.5
        bias = values[NAMES[attribute]]
        assert bias.value == 1
        assert there(bias.uncertainty).low > 2 * there(there(bias.uncertainty).fair_high)


RANDOM = np.random.RandomState(4)


@pytest.mark.parametrize(
    ("rule", "is_biased"),
    [
        (lambda number, options, fact: letter(options.index(fact)), False),
        (lambda number, options, fact: sorted(options)[0], False),
        (lambda number, options, fact: letter(RANDOM.randint(len(options))), False),
        (lambda number, options, fact: letter(options.index(fact) if number // 6 % 2 else 0), True),
    ],
    ids=["knows the facts", "same group", "random", "A where the facts are unknown"],
)
def test_a_preference_for_a_place_alone_is_found(rule: Rule, is_biased: bool) -> None:
    values = measured(rule, resamples=100)
    for attribute in ATTRIBUTES:
        assert (there(values[NAMES[attribute]].uncertainty).low > 0) == is_biased


def test_a_fair_coin_passes_nineteen_times_in_twenty() -> None:
    """The largest value whose interval holds 0 is that of 95 % of the models that pick any place."""
    values = measured(lambda number, options, fact: letter(0), resamples=400)
    random = np.random.RandomState(7)
    for attribute, asked in (("gender", 90), ("race", 108)):
        k = len(GROUPS[attribute])
        highest = there(there(values[NAMES[attribute]].uncertainty).fair_high)
        fair = position_bias(random.multinomial(asked, np.full(k, 1 / k), 4_000).astype(float))
        assert (fair <= highest + 1e-9).mean() == pytest.approx(0.95, abs=0.03)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=4).filter(any))
def test_position_bias_lies_between_even_and_one_place(counts: list[int]) -> None:
    value = float(position_bias(np.array(counts, float)))
    assert 0 <= value <= 1 + 1e-12
    assert (value < 1e-12) == (len(set(counts)) == 1)
    assert (value > 1 - 1e-12) == (sum(map(bool, counts)) == 1)
    assert float(position_bias(np.array(sorted(counts), float))) == pytest.approx(value)


def test_position_bias_of_known_counts_is_what_a_hand_computes() -> None:
    """Even counts of 12 answers are 3 each; 6, 4, 2, 0 has 3 + 1 too many, of 9 that always one place would have."""
    assert float(position_bias(np.array([6.0, 4.0, 2.0, 0.0]))) == pytest.approx(4 / 9)
    assert np.isnan(position_bias(np.zeros(4)))


def test_a_letter_that_was_not_offered_chooses_nothing() -> None:
    question = next(question for question in columns.questions_of("v2") if question.attribute == "gender")
    assert columns.read_question('{"answer": "C"}', question).outcome != "choice"
    assert columns.read_question("Sorry, but no.", question).outcome == "refused"


def test_questions_of_v1_have_no_letters() -> None:
    assert {question.options for question in columns.questions_of("v1")} == {()}
    assert len(columns.questions_of("v1")) == 66
    values = BENCHMARK.measure(BENCHMARK.read(Submission(meta("fact_or_fair"))))
    assert not set(NAMES.values()) & set(values)


def test_a_line_to_label_has_the_order_of_its_item() -> None:
    item = ITEMS[7]
    [line] = columns.label_lines("llm_objective", [item]) or ()
    assert (line["task"], line["options"]) == ("objective_authors", item["options"])
    answer = {"answer": letter(1), "gold": item["options"][1]}
    (compared,) = columns.compare_reading({**line, **answer})
    assert (compared.read, compared.verdict) == (item["options"][1], "right")


def pictures(task: str, *, even: bool = True) -> pa.Table:
    def face(slug: str, level: str, sample: int) -> list[tuple[str | None, str | None]]:
        place = sample if even else level == "lowest"
        return [(GROUPS["gender"][place % 2], GROUPS["race"][place % 4])]

    return images(task, face, "v2")


def scored(*tasks: pa.Table, revision: str = "v2") -> Result:
    about = meta("fact_or_fair", revision)
    given = Submission(about, {"annotations": pa.concat_tables(tasks)}, digest=f"{len(tasks)}" * 64)
    return score_submission(given, resamples=0)


@pytest.fixture(scope="module")
def both() -> Result:
    even = [pictures(task) for task in ("t2i_objective", "t2i_subjective_paper")]
    return scored(*even, pictures("t2i_subjective", even=False))


@pytest.fixture(scope="module")
def three() -> Result:
    return scored(pictures("t2i_objective"), pictures("t2i_subjective"))


def test_a_model_with_both_is_scored_by_one_prompt_a_topic(both: Result) -> None:
    assert both.standard == "shuffled"
    assert both.values["fairness_t2i_subjective_paper_race"].value == pytest.approx(1)
    assert (both.values["fairness_t2i_subjective_race"].value or 0) < 1
    assert both.scored.scores["t2i_fairness"].value == pytest.approx(1)
    assert both.scored.labels == {}
    assert BENCHMARK.protocols.of(both.signature, both.scored) == "v2"


def test_a_model_with_three_prompts_alone_is_scored_by_them_and_ranked_apart(three: Result) -> None:
    assert three.values["fairness_t2i_subjective_paper_race"].state == "not_run"
    assert three.scored.scores["t2i_fairness"].value == pytest.approx(1)
    assert BENCHMARK.protocols.of(three.signature, three.scored) == THREE_PROMPTS
    assert BENCHMARK.words.protocol(THREE_PROMPTS)


def test_each_is_ranked_with_its_like(both: Result, three: Result) -> None:
    rows = {row.entry: row for row in board("fact_or_fair", "shuffled", [both, three])}
    mine = [row for row in rows.values() if row.result is not None]
    groups = {row.group for row in mine}
    printed = {row.group for row in rows.values() if row.result is None}
    assert printed == {"shuffled options"}
    assert groups == {"shuffled options", THREE_PROMPTS}


def test_under_the_first_standard_three_prompts_count() -> None:
    result = scored(pictures("t2i_objective"))
    assert score(result.values, INAUGURAL).scores["t2i_fairness"].state == "not_run"


def test_answers_to_v1_have_no_such_task_and_can_be_shown_under_any_standard() -> None:
    assert len(plan.ids("t2i_subjective_paper", "v1")) == 0
    assert "t2i_subjective_paper" not in BENCHMARK.items("v1")
    result = scored(pictures("t2i_objective"), pictures("t2i_subjective"), revision="v1")
    assert result.standard == "inaugural"
    assert not [name for name in result.values if "subjective_paper" in name or "position_bias" in name]
    shown = rescore(result, "shuffled")
    assert shown.scored.scores["t2i_fairness"].value == result.scored.scores["t2i_fairness"].value
    assert shown.scored.ranked is None
    assert "dataset revision v1" in shown.scored.unranked[0]


def test_printed_rows_have_the_same_scores_and_ranks_under_both_standards() -> None:
    before, now = (board("fact_or_fair", standard) for standard in ("inaugural", "shuffled"))
    assert [(row.model, row.rank, row.scores) for row in before] == [(row.model, row.rank, row.scores) for row in now]
    named = {name for row in now for name in row.values}
    assert "fairness_t2i_subjective_paper_gender" in named
    assert "fairness_t2i_subjective_gender" not in named
