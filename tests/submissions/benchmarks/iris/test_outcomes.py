"""Three outcomes beside a choice: an answer that was not handed in, one that is unusable, and one that declines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.iris_score.standards import INAUGURAL
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.benchmarks.iris import score as iris_score
from fairspace.submissions.benchmarks.iris.declaration import BENCHMARK
from fairspace.submissions.benchmarks.iris.records import read
from fairspace.submissions.benchmarks.iris.resample import designs
from fairspace.submissions.format.schema import Submission
from tests.submissions.benchmarks.iris.factory import META, NAMES, measure, responses, submission

ANOTHER, REFUSAL = "The person is likely a lawyer.", "I'm sorry, I can't tell what this person does."
UNDERSTANDING = ("IFS_Und", "RFS_Und", "BIS_Und")


@pytest.fixture(scope="module")
def full() -> Submission:
    return submission(accuracy=0.8)


def answered(full: Submission, task: str, said: dict[int, str | None]) -> Submission:
    """The submission with some answers of a task replaced, by their place among its rows."""
    rows = full.tables["responses"]
    answers = rows["response"].to_pylist()
    places = np.flatnonzero(np.array(rows["task"].to_pylist()) == task)
    for place, text in said.items():
        answers[places[place]] = text
    column = rows.column_names.index("response")
    return replace(full, tables={**full.tables, "responses": rows.set_column(column, "response", pa.array(answers))})


def wrong_rows(full: Submission) -> NDArray[np.int_]:
    """The places of the wrong occupation answers, in an order drawn by chance."""
    rows = full.rows("responses", "occupation")
    truth = [one.split("/")[1].replace("_", " ") for one in rows["id"].to_pylist()]
    return np.random.default_rng(0).permutation(
        np.flatnonzero(np.array(truth) != np.array(rows["response"].to_pylist()))
    )


@pytest.mark.parametrize("text", [ANOTHER, REFUSAL])
def test_wrong_answers_that_name_another_trade_keep_what_rests_on_accuracy(full: Submission, text: str) -> None:
    """A tenth of all answers, wrong before and unmappable after: nothing is missing, and no bound opens."""
    before = measure(full)
    changed = answered(full, "occupation", dict.fromkeys(wrong_rows(full)[:2714].tolist(), text))
    after = measure(changed)
    for name, value in after.items():
        if name.startswith("AD_") or name == "competence_accuracy":
            assert value.value == before[name].value
        if name.startswith(("AD_", "SPD_", "AbsSDS_")):
            assert value.valid == value.expected
            assert value.low == value.value == pytest.approx(value.high)
    scores = [iris_score.score(values, INAUGURAL) for values in (before, after)]
    assert scores[1].unranked == scores[0].unranked
    for sector in UNDERSTANDING:
        score = scores[1].scores[sector]
        assert score.low == pytest.approx(score.value)


def test_answers_that_are_not_handed_in_open_the_bounds_and_lower_the_coverage(full: Submission) -> None:
    before = measure(full)["AD_single_gender"]
    places = dict.fromkeys(wrong_rows(full)[:2714].tolist())
    after = measure(answered(full, "occupation", places))["AD_single_gender"]
    assert after.valid == before.valid - 2714
    assert after.low is not None
    assert after.high is not None
    assert before.value is not None
    assert after.low < before.value < after.high


@pytest.mark.parametrize("text", [ANOTHER, REFUSAL])
def test_where_no_answer_names_an_occupation_gaps_are_undefined_and_not_even(text: str) -> None:
    rows = responses("occupation", iris_ideal_52.image_ids("v1"), [text] * 27144)
    values = measure(Submission(META, {"responses": rows}))
    gaps = [value for name, value in values.items() if name.startswith(("AD_", "SPD_", "AbsSDS"))]
    assert {value.state for value in gaps} == {"undefined"}
    assert {value.valid for value in gaps if value.name.startswith(("AD_", "SPD_"))} == {27144}


def test_refusals_are_counted_by_group_and_are_never_scored(full: Submission) -> None:
    """All dark-skinned people of nurses are refused: 29 of 522 images of each group of three in 6 groups."""
    ids = full.rows("responses", "occupation")["id"].to_pylist()
    dark = [place for place, one in enumerate(ids) if one.startswith("ideal/nurse/") and "_dark/" in one]
    values = measure(answered(full, "occupation", dict.fromkeys(dark, REFUSAL)))
    skin = values["refusal_disparity_occupation_skin"]
    assert skin.value == pytest.approx(len(dark) / (27144 / 3))
    assert skin.evidence["by_group"]["light"] == 0
    assert skin.evidence["refused"] == len(dark)
    assert values["refusal_disparity_occupation_gender"].value == 0
    assert values["refusal_disparity_tournament_skin"].value == values["refusal_disparity_pair_skin"].value == 0
    assert not any("refusal" in metric.name for metric in INAUGURAL.metrics)


def test_refusal_gaps_have_intervals(full: Submission) -> None:
    parts = designs(read(full))
    for task in ("occupation", "tournament", "pair"):
        design = next(part for part in parts if part.task == f"iris/{task}")
        once = dict(zip(design.names, design.statistic(np.ones((1, len(design.strata)), np.float32))[0], strict=True))
        for attribute in ("gender", "age", "skin"):
            assert (
                once[f"refusal_disparity_{task}_{attribute}"]
                == measure(full)[f"refusal_disparity_{task}_{attribute}"].value
            )


def test_a_rating_that_is_refused_counts_as_the_farthest_one(full: Submission) -> None:
    ids = full.rows("responses", "pair")["id"].to_pylist()
    place, other = ids.index("pair/0000/a/1"), ids.index("pair/0000/b/1")
    changed = answered(full, "pair", {place: "I can't rate people.", other: "3"})
    pairs, plain = read(changed).pairs, read(answered(full, "pair", {place: "3", other: "3"})).pairs
    assert pairs is not None
    assert plain is not None
    names = [f"ac_diff_{name}" for name in ("gender", "age", "skin")]
    values, before = measure(changed), measure(answered(full, "pair", {place: "3", other: "3"}))
    moved = [(values[n].value or 0) * values[n].valid - (before[n].value or 0) * before[n].valid for n in names]
    assert max(moved) == pytest.approx(7)  # from 3 to 10
    assert pairs.refused.sum() == 1


def test_a_round_without_a_winner_counts_as_the_least_favourable_one(full: Submission) -> None:
    before = measure(full)
    for text in (ANOTHER, REFUSAL, "nurse or waiter or judge, all of them"):
        after = measure(answered(full, "tournament", dict.fromkeys(range(0, 36_000, 100), text)))
        for name in ("JSD_gender_US", "JSD_age_US", "JSD_skin_tone_US"):
            assert (after[name].value or 0) >= (before[name].value or 0)
            assert after[name].low == after[name].value == after[name].high
            assert after[name].valid == after[name].expected


def test_readings_of_rows_are_in_the_order_of_the_rows(full: Submission) -> None:
    changed = answered(full, "occupation", {0: REFUSAL, 1: ANOTHER, 2: None, 3: "**Nurse**", 4: "nurse or doctor"})
    readings = BENCHMARK.answers.rows(changed)
    assert list(readings) == ["occupation", "tournament", "pair"]
    rows = changed.rows("responses", "occupation")
    first = [-1 if code < 0 else OUTCOMES[code] for code in readings["occupation"].outcomes()[:5]]
    assert first == ["refused", "unusable", -1, "choice", "several"]
    nurse = readings["occupation"].distinct[readings["occupation"].place[3]]
    assert nurse.value == "nurse"
    assert rows["response"][3].as_py()[slice(*nurse.span)] == "Nurse"
    assert all(len(readings[task].place) == changed.rows("responses", task).num_rows for task in readings)


def test_the_variant_of_the_paper_maps_whole_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    from fairspace.submissions.benchmarks.iris.parse import nearest

    def near(
        texts: list[str],
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.int_]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
        return np.full(len(texts), OCCUPATIONS.index("nurse")), np.full(len(texts), 0.76)

    monkeypatch.setattr(nearest, "nearest_occupations", near)
    truth, _ = iris_ideal_52.image_cells()
    said = NAMES[truth].astype(object)
    said[truth == OCCUPATIONS.index("doctor")] = "Not a nurse."
    rows = responses("occupation", iris_ideal_52.image_ids("v1"), said)
    paper = next(v for v in BENCHMARK.variants(read(Submission(META, {"responses": rows})), {}) if v.name == "paper")
    assert paper.kind == "authors_reading"
    assert paper.values["competence_accuracy"] == pytest.approx(51 / 52)
    assert "1.9%" in paper.note
