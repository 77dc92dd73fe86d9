import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.answers import misreading
from fairspace.submissions.answers.misreading import (
    COLUMNS,
    Rates,
    TaskErrors,
    measured_errors,
    misread,
    reading_variants,
)
from fairspace.submissions.answers.reading import Compared, Misread, Reading, Readings, compare
from fairspace.submissions.answers.rows import ReadRows, read_rows
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Value, measured
from tests.readings import BLIND, FITTED, main, measure, published, read_lines, write_table
from tests.scored_baselines import baseline
from tests.submissions import sample
from tests.submissions.answers.quiz import read_by, submission
from tests.submissions.benchmarks.rows import with_column

WORDS = ("cat", "cow", "dog")


def read_animal(answer: str, key: int = 0) -> Reading:
    named = [word for word in WORDS if word in answer]
    if len(named) == 1:
        start = answer.index(named[0])
        return Reading("choice", named[0], (start, start + 3), "name")
    return Reading("several" if named else "unusable")


def _items(revision: str) -> pa.Table:
    return pa.table(
        {"id": [f"quiz/{n:03}" for n in range(200)], "prompt": [f"What is in picture {n}?" for n in range(200)]}
    )


def _label_lines(task: str, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    return [{"choices": WORDS}] * len(items) if task == "quiz" else None


TASKS = tuple(replace(task, items=_items if task.name == "quiz" else None) for task in sample.BENCH.tasks)
ANSWERED = replace(read_by(read_animal), label_lines=_label_lines)
BENCH = replace(sample.BENCH, tasks=TASKS, answers=ANSWERED)
MANY = ["It is a dog."] * 20_000 + ["no idea"] * 10_000 + [None] * 1_000
ERRORS = TaskErrors("genres/quiz", 200, 190, 150, 3, 2, 50, 1, 0, 0, 0, 0, 0, 0)


def rows_of(answers: list[str | None]) -> ReadRows:
    distinct = [Reading("choice", "dog", (8, 11), "name"), Reading("unusable")]
    place = np.array([-1 if answer is None else int("dog" not in answer) for answer in answers])
    table = pa.table({"id": ["quiz/000"] * len(answers), "sample": range(len(answers)), "answer": answers})
    return ReadRows("quiz", table, Readings(distinct, place))


def test_as_many_are_misread_as_stated_and_nothing_that_was_not_handed_in() -> None:
    items = BENCH.items("v1")["quiz"]
    found = misread(rows_of(MANY), items, BENCH, Rates(0.02, 0.01, 0.05), np.random.RandomState(1))
    places, texts = found.rows, found.texts
    by_text = {text: sum(given == text for given in texts) for text in ("", *WORDS)}
    of_choices = np.array(places) < 20_000
    lost, changed = by_text[""], int(of_choices.sum()) - by_text[""]
    assert lost == pytest.approx(400, abs=60)  # three standard errors
    assert changed == pytest.approx(200, abs=45)
    assert int((~of_choices).sum()) == pytest.approx(500, abs=70)
    assert max(places) < 30_000
    assert [text for place, text in zip(places, texts, strict=True) if place < 20_000 and text == "dog"] == []
    assert by_text["cat"] == pytest.approx(by_text["cow"], abs=90)


def test_without_errors_nothing_is_misread() -> None:
    items = BENCH.items("v1")["quiz"]
    changed = misread(rows_of(MANY), items, BENCH, Rates(0, 0, 0), np.random.RandomState(1))
    assert (len(changed.rows), len(changed.items), changed.texts) == (0, 0, [])


@pytest.mark.parametrize(
    ("read", "choices", "others"),
    [
        (7.0, (1.0, 3.0), {"1", "2", "3"}),
        (2.0, (1.0, 3.0), {"1", "3"}),
        (1, ("A", "B", "C"), {"A", "C"}),
        ("B", ("A", "B", "C"), {"A", "C"}),
    ],
)
def test_another_choice_is_never_the_one_that_was_read(read: Any, choices: tuple[Any, ...], others: set[str]) -> None:
    bench = replace(
        BENCH, answers=replace(BENCH.answers, label_lines=lambda task, items: [{"choices": choices}] * len(items))
    )
    rows = replace(rows_of(["a dog"] * 60), readings=Readings([Reading("choice", read)], np.zeros(60, np.int64)))
    changed = misread(rows, BENCH.items("v1")["quiz"], bench, Rates(0, 1, 0), np.random.RandomState(1))
    assert set(changed.texts) == others


def _share(given: Submission) -> dict[str, Value]:
    answers = given.tables["responses"]["response"].to_pylist()
    return {"dogs": measured("dogs", sum("dog" in (answer or "") for answer in answers) / len(answers))}


def _misread(given: Submission, revision: str, tasks: Mapping[str, Misread]) -> Submission:
    rows = given.tables["responses"]
    answers = np.array(rows["response"].to_pylist(), object)
    answers[tasks["quiz"].rows] = tasks["quiz"].texts
    return replace(given, tables={"responses": with_column(rows, "response", answers.tolist())})


def test_the_variants_move_the_values_by_the_size_of_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misreading, "measured_errors", lambda: {ERRORS.task: ERRORS})
    bench = replace(BENCH, measure=_share, answers=replace(BENCH.answers, misread=_misread))
    given = submission(["It is a dog."] * 200)
    variants = reading_variants(given, bench, given, list(read_rows(given, bench)), _share(given))
    assert [variant.name for variant in variants] == ["as measured", "upper 95 % end"]
    less, least = (1 - variant.values["dogs"] for variant in variants)
    assert 0 < less < 0.1 < least + 0.06
    assert less < least
    assert "quiz lost 2.0%, false 1.3%" in variants[0].note
    assert Variant.from_json(variants[1].to_json()) == variants[1]
    assert reading_variants(given, bench, given, list(read_rows(given, bench)), _share(given)) == variants
    assert given.tables["responses"]["response"].to_pylist() == ["It is a dog."] * 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "fact_or_fair", "stereotypical_bias"])
def test_misread_records_are_those_of_a_submission_with_the_other_answers(name: str) -> None:
    bench, given = benchmark(name), baseline("random", name)
    revision, responses = given.meta.dataset_revision, given.tables["responses"]
    items, answers, changed = bench.items(revision), np.array(responses["response"].to_pylist(), object), {}
    for rows in read_rows(given, bench):
        some = misread(rows, items[rows.task], bench, Rates(0.1, 0.2, 0), np.random.RandomState(1))
        places = np.flatnonzero(np.array(responses["task"].to_pylist()) == rows.task)
        answers[places[some.rows]], changed[rows.task] = some.texts, some
    others = with_column(responses, "response", answers.tolist())
    expected = bench.measure(bench.read(replace(given, tables={**given.tables, "responses": others})))
    found = bench.measure(bench.answers.misread(bench.read(given), revision, changed))
    assert {key: value.value for key, value in found.items()} == {key: value.value for key, value in expected.items()}


def test_a_task_without_a_measured_error_has_no_variant() -> None:
    given = submission(["It is a dog.", "a cat or a dog", "no idea", None])
    assert reading_variants(given, BENCH, given, list(read_rows(given, BENCH)), {}) == []


def test_upper_ends_are_those_of_clopper_and_pearson() -> None:
    # 3 of 150 and 2 of 150 (binom.test in R): 0.0573 and 0.0473; 1 of 50: 0.1065
    upper = ERRORS.upper()
    assert (upper.lost, upper.false, upper.invented) == pytest.approx((0.0573, 0.0473, 0.1065), abs=1e-4)
    assert ERRORS.measured() == Rates(3 / 150, 2 / 150, 1 / 50)


def test_labelled_lines_end_at_newlines_alone_and_are_told_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"benchmark": "iris", "task": "pair", "item": "pair/0001/a/4", "answer": "7\u2028", "gold": "8"}
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    main([str(file), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["tasks"]["iris/pair"]["answers"], told["errors"][0]["read"]) == (1, 7.0)


@pytest.mark.slow
def test_the_table_is_that_of_the_blind_answers_and_of_the_two_tasks_without_any() -> None:
    blind = measure(read_lines(sorted(BLIND.glob("*.jsonl")))).tasks
    measured_anew = published().tasks
    assert measured_anew == blind | {name: measured_anew[name] for name in FITTED}
    assert measured_errors() == measured_anew, "write it anew: python -m tests.readings --write"


def compare_animal(line: Mapping[str, Any]) -> list[Compared]:
    return [compare(line["task"], line["gold"], read_animal(line["answer"]))]


def test_the_counts_are_those_that_a_person_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = replace(BENCH, answers=replace(BENCH.answers, compare=compare_animal))
    monkeypatch.setattr("tests.readings.benchmark", lambda name: bench)
    said = (
        ("he has a dog", "dog", "f"),
        ("she has a dog", "dog", "f"),
        ("her pet", "cow", "g"),
        ("his cow", "cow", "g"),
        ("a cat", "none", "alone"),
        ("a cat or a dog of her son", "several", ""),
    )
    lines = [
        {"benchmark": "iris", "task": "quiz", "answer": answer, "gold": gold, "family": family}
        for answer, gold, family in said
    ]
    report = measure(lines)
    assert [(error["gold"], error["read"], error["verdict"]) for error in report.errors] == [
        ("cow", "none", "lost"),
        ("none", "cat", "false"),
    ]
    write_table(report, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as stream:
        [row] = csv.DictReader(stream)
    assert tuple(row) == COLUMNS
    assert [int(count) for count in [*row.values()][1:]] == [6, 4, 4, 1, 0, 2, 1, 2, 1, 2, 2, 2, 1]
