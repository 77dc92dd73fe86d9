"""Errors that are made on purpose: as many as stated, evenly, and never on what was not handed in."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.answers import misreading
from fairspace.submissions.answers.error_table import COLUMNS, Rates, TaskErrors, measured_errors, task_errors
from fairspace.submissions.answers.labelled import read_lines
from fairspace.submissions.answers.measuring import Tally, measure
from fairspace.submissions.answers.misreading import misread, reading_variants
from fairspace.submissions.answers.reading import Reading, Readings
from fairspace.submissions.answers.rows import ReadRows, read_rows
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import Value, measured
from tests.submissions.answers.test_labelling import BENCH, WORDS, submission

ROOT = Path(__file__).parents[3]
MANY = ["It is a dog."] * 20_000 + ["no idea"] * 10_000 + [None] * 1_000
ERRORS = TaskErrors("genres/quiz", 200, 190, 150, 3, 2, 50, 1, 0, 0, 0, 0, 0, 0)


def rows_of(answers: list[str | None]) -> ReadRows:
    distinct = [Reading("choice", "dog", (8, 11), "name"), Reading("unusable")]
    place = np.array([-1 if answer is None else int("dog" not in answer) for answer in answers])
    table = pa.table({"id": ["quiz/000"] * len(answers), "sample": range(len(answers)), "answer": answers})
    return ReadRows("quiz", table, Readings(distinct, place))


def test_as_many_are_misread_as_stated_and_nothing_that_was_not_handed_in() -> None:
    items = BENCH.items("v1")["quiz"]
    places, texts = misread(rows_of(MANY), items, BENCH, Rates(0.02, 0.01, 0.05), np.random.RandomState(1))
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
    places, texts = misread(rows_of(MANY), items, BENCH, Rates(0, 0, 0), np.random.RandomState(1))
    assert (len(places), texts) == (0, [])


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
    bench = replace(BENCH, label_line=lambda task, item: {"choices": choices})
    rows = replace(rows_of(["a dog"] * 60), readings=Readings([Reading("choice", read)], np.zeros(60, np.int64)))
    _, texts = misread(rows, BENCH.items("v1")["quiz"], bench, Rates(0, 1, 0), np.random.RandomState(1))
    assert set(texts) == others


def _share(given: Submission) -> dict[str, Value]:
    answers = given.tables["responses"]["response"].to_pylist()
    return {"dogs": measured("dogs", sum("dog" in (answer or "") for answer in answers) / len(answers))}


def test_the_variants_move_the_values_by_the_size_of_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misreading, "measured_errors", lambda: {ERRORS.task: ERRORS})
    bench = replace(BENCH, measure=_share)
    given = submission(["It is a dog."] * 200)
    variants = reading_variants(given, bench, list(read_rows(given, bench)), _share(given))
    assert [variant.name for variant in variants] == ["as measured", "upper 95 % end"]
    less, least = (1 - variant.values["dogs"] for variant in variants)
    assert 0 < less < 0.1 < least + 0.06
    assert less < least
    assert "quiz lost 2.0%, false 1.3%" in variants[0].note
    assert Variant.from_json(variants[1].to_json()) == variants[1]
    assert reading_variants(given, bench, list(read_rows(given, bench)), _share(given)) == variants
    assert given.tables["responses"]["response"].to_pylist() == ["It is a dog."] * 200


def test_a_task_without_a_measured_error_has_no_variant() -> None:
    given = submission()
    assert reading_variants(given, BENCH, list(read_rows(given, BENCH)), {}) == []


def test_upper_ends_are_those_of_clopper_and_pearson() -> None:
    # 3 of 150 and 2 of 150 (binom.test in R): 0.0573 and 0.0473; 1 of 50: 0.1065
    upper = ERRORS.upper()
    assert (upper.lost, upper.false, upper.invented) == pytest.approx((0.0573, 0.0473, 0.1065), abs=1e-4)
    assert ERRORS.measured() == Rates(3 / 150, 2 / 150, 1 / 50)


@pytest.mark.slow
def test_the_table_is_that_of_the_blind_answers() -> None:
    files = sorted((ROOT / "tests" / "data" / "readings" / "blind").glob("*.jsonl"))
    tallies: dict[str, Tally] = measure(read_lines(files)).tasks if files else {}
    measured_anew = {name: task_errors(name, tally) for name, tally in tallies.items()}
    assert measured_errors() == measured_anew, "write it anew: python -m fairspace.cards.readers"


def test_the_command_writes_the_table(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.submissions.benchmarks.registry.benchmark", lambda name: BENCH)
    line = '{"benchmark": "iris", "task": "quiz", "answer": "a dog", "gold": "%s"}\n'
    (tmp_path / "a.jsonl").write_text(line % "dog" + line % "cat" + line % "none")
    assert run("readings", tmp_path / "a.jsonl", "--csv", tmp_path / "a.csv")[0] == 0
    with (tmp_path / "a.csv").open() as stream:
        [row] = csv.DictReader(stream)
    assert tuple(row) == COLUMNS
    assert [row[name] for name in ("answers", "right", "choices", "false", "no_choice", "invented")] == [*"312111"]
