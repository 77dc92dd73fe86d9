"""Answers to the quiz of the sample benchmark, by a reader of a test's own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from fairspace.submissions.answers.reading import Reading, Readings, read_column
from fairspace.submissions.benchmarks.benchmark import AnswerReading
from fairspace.submissions.format.schema import Submission
from tests.submissions import sample


def submission(answers: Sequence[str | None]) -> Submission:
    rows = {
        "task": ["quiz"] * len(answers),
        "id": [f"quiz/{number:03}" for number in range(len(answers))],
        "sample": pa.array([0] * len(answers), pa.int32()),
        "response": answers,
    }
    return Submission(sample.meta(), {"responses": pa.table(rows)}, digest="d" * 64)


def read_by(read: Callable[[str, int], Reading]) -> AnswerReading:
    def row_readings(given: Submission) -> dict[str, Readings[Any]]:
        rows = given.rows("responses", "quiz")
        return {"quiz": read_column(rows["response"], [0] * rows.num_rows, read)}

    return replace(sample.BENCH.answers, rows=row_readings)
