import gc
import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.answers.reading import (
    NOT_HANDED_IN,
    Reading,
    Readings,
    read_coded_column,
    read_column,
    read_once,
)
from fairspace.submissions.answers.rows import (
    COUNTED,
    LONGEST,
    READ,
    Example,
    ReadRows,
    Summary,
    excerpt,
    read_rows,
    summarise,
    write_read_rows,
)
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.format.writing import write_submission
from tests.submissions import sample
from tests.submissions.answers.quiz import read_by, submission


def test_equal_answers_to_equal_items_are_read_once() -> None:
    read: list[tuple[str, int]] = []

    def reader(answer: str, key: int) -> Reading:
        read.append((answer, key))
        return Reading("choice", key) if answer else Reading("unusable")

    answers = pa.chunked_array([["a", "a", "b"], [None, "a", ""]])
    readings = read_column(answers, [1, 1, 1, 1, 2, 2], reader)
    assert sorted(read) == [("", 2), ("a", 1), ("a", 2), ("b", 1)]
    assert readings.outcomes().tolist() == [0, 0, 0, NOT_HANDED_IN, 0, 3]
    np.testing.assert_array_equal(readings.values(float), [1, 1, 1, np.nan, 2, np.nan])


def test_coded_keys_give_the_readings_of_the_keys_themselves() -> None:
    answers, keys = pa.chunked_array([["b", "a", None], ["b", "a", "b"]]), ["x", "y", "not asked"]
    codes = np.array([1, 0, 1, 0, 0, 1])
    coded = read_coded_column(answers, codes, keys, lambda answer, key: Reading("choice", answer + key))
    plain = read_column(answers, [keys[code] for code in codes], lambda answer, key: Reading("choice", answer + key))
    assert len(coded.distinct) == len(plain.distinct) == 3
    for row, (one, other) in enumerate(zip(coded.place, plain.place, strict=True)):
        assert (one == NOT_HANDED_IN) == (other == NOT_HANDED_IN) == (row == 2)
        assert row == 2 or coded.distinct[one] == plain.distinct[other]


class Given:
    """Something that can be told apart and go away."""


def test_what_was_read_last_is_remembered_as_long_as_it_is_there() -> None:
    times: list[int] = []

    @read_once
    def read(given: Given) -> list[int]:
        """A docstring."""
        times.append(1)
        return [len(times)]

    first, second = Given(), Given()
    assert read(first) is read(first)
    assert read(second) == [2]
    assert read(first) == [3]  # only the last one
    kept = weakref.ref(first)
    del first
    gc.collect()
    assert kept() is None
    assert read(second) == [4]
    assert read.__doc__ == "A docstring."


Run = Callable[..., tuple[int, str, str]]


def read_answer(answer: str, key: int) -> Reading:
    """`7` is a choice; the rest by its first letter."""
    if "7" in answer:
        return Reading("choice", 7, (answer.index("7"), answer.index("7") + 1), "digit")
    return Reading("refused", span=(0, 1), rule="no") if answer.startswith("no") else Reading("unusable")


BENCH = replace(sample.BENCH, answers=read_by(read_answer))
ANSWERS = ["I say 7", "I say 7", "no", "what", "7", "", None]


@pytest.fixture(scope="module")
def rows() -> ReadRows:
    [rows] = read_rows(submission(ANSWERS), BENCH)
    return rows


@pytest.fixture
def summary(rows: ReadRows) -> Summary:
    return summarise([rows], BENCH, "v1")["quiz"]


def test_every_row_stands_beside_its_reading(rows: ReadRows) -> None:
    table = rows.table()
    assert table.schema == READ
    lines = table.select(["answer", "outcome", "value", "start", "end", "rule"]).to_pylist()
    assert [tuple(line.values()) for line in lines] == [
        ("I say 7", "choice", "7", 6, 7, "digit"),
        ("I say 7", "choice", "7", 6, 7, "digit"),
        ("no", "refused", None, 0, 1, "no"),
        ("what", "unusable", None, None, None, ""),
        ("7", "choice", "7", 0, 1, "digit"),
        ("", "unusable", None, None, None, ""),
        (None, "not_handed_in", None, None, None, ""),
    ]


def test_the_summary_counts_outcomes_and_rules_and_keeps_examples(summary: Summary) -> None:
    # 10 items, of which 6 have an answer
    assert summary.outcomes == {"choice": 3, "refused": 1, "several": 0, "unusable": 2, "not_handed_in": 4}
    assert summary.handed_in == 6
    assert summary.rules == {"digit": 3, "": 2, "no": 1}
    assert summary.examples[0] == Example("choice", "7", "digit", "I say ", "7")
    assert [example.outcome for example in summary.examples] == ["choice", "choice", "refused", "unusable", "unusable"]
    assert Summary.from_json(json.loads(json.dumps(summary.to_json()))) == summary


def test_examples_are_few_and_short_and_come_from_different_rules() -> None:
    answers = [f"{'a' * 5_000} {number} 7 {'b' * 5_000}\u202e\n" for number in range(400)]
    reads = [Reading("choice", "x" * 900, (5_002, 5_003), f"rule {min(number, 30)}") for number in range(400)]
    read_as = replace(BENCH.answers, rows=lambda given: {"quiz": Readings(reads, pa.array(range(400)).to_numpy())})
    bench = replace(BENCH, answers=read_as)
    summary = summarise([*read_rows(submission(answers), bench)], bench, "v1")["quiz"]
    assert len(summary.examples) == 3
    assert len({example.rule for example in summary.examples}) == 3
    assert summary.examples[0].rule == "rule 30"
    assert len(summary.rules) == 13
    assert sum(summary.rules.values()) == 400
    for example in summary.examples:
        assert len(example.before + example.marked + example.after) <= LONGEST + 3
        assert len(example.value or "") <= LONGEST + 1
    assert len(json.dumps(summary.to_json())) < 3_000


@pytest.mark.parametrize(
    ("answer", "span", "shown"),
    [
        ("It is 7.", (6, 7), ("It is ", "7", ".")),
        ("a\n b\u202e", None, ("a b", "", "")),
        ("x" * 300, None, ("x" * 160 + "…", "", "")),
        ("a" * 300 + "7" + "b" * 300, (300, 301), ("…" + "a" * 79, "7", "b" * 80 + "…")),
        ("7" * 300 + "b", (0, 300), ("", "7" * 80 + "…", "b")),
    ],
)
def test_an_excerpt_shows_what_stands_around_the_span(
    answer: str, span: tuple[int, int] | None, shown: tuple[str, str, str]
) -> None:
    assert excerpt(answer, span) == shown


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_rows_are_written_as_they_are_read(rows: ReadRows, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"readings.{suffix}"
    assert write_read_rows(iter([rows.table()]), out) == 7
    lines = pq.read_table(out).to_pylist() if suffix == "parquet" else [*map(json.loads, out.read_text().splitlines())]
    assert lines == rows.table().to_pylist()


@pytest.fixture
def folder(tmp_path: Path, bench: Benchmark, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("fairspace.submissions.benchmarks.registry.benchmark", lambda name: BENCH)
    given = submission(ANSWERS)
    return write_submission(tmp_path / "s", given.meta, given.tables)


def test_the_command_shows_counts_and_marks_what_was_read(run: Run, folder: Path, tmp_path: Path) -> None:
    code, out, _ = run("readings", folder)
    assert code == 0
    assert "digit 3" in out
    assert "choice 7 (digit): I say [7]" in out
    assert "refused (no): [n]o" in out
    assert [line for line in out.splitlines() if len(line) > 80] == []
    data = json.loads(run("readings", folder, "--json")[1])
    assert set(data["tasks"]["quiz"]["outcomes"]) == set(COUNTED)
    written = tmp_path / "rows.parquet"
    assert run("readings", folder, "--out", written)[0] == 0
    assert pq.read_table(written).num_rows == 7


def test_a_file_of_another_kind_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    code, _, err = run("readings", tmp_path, "--out", tmp_path / "a.csv")
    assert code == 2
    assert ".jsonl or .parquet" in err


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("rules"),
        lambda d: d.update(more=1),
        lambda d: d["outcomes"].pop("choice"),
        lambda d: d["outcomes"].update(choice=-1),
        lambda d: d["outcomes"].update(choice=True),
        lambda d: d["rules"].update({"x" * 400: 1}),
        lambda d: d["examples"][0].update(outcome="maybe"),
        lambda d: d["examples"][0].update(before=1),
        lambda d: d["examples"][0].update(after="x" * 301),
        lambda d: d.update(examples=d["examples"] * 40),
    ],
)
def test_readings_that_nobody_wrote_are_refused(change: Callable[[dict[str, Any]], object], summary: Summary) -> None:
    data = json.loads(json.dumps(summary.to_json()))
    change(data)
    with pytest.raises(ValueError, match=r"reading|expected"):
        Summary.from_json(data)
