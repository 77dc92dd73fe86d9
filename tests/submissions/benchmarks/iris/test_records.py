"""A submission's tables are read once, whatever is made of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.answers.reading import read_coded_column
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.iris.declaration import BENCHMARK
from fairspace.submissions.benchmarks.iris.parse import nearest
from fairspace.submissions.benchmarks.iris.records import (
    NEUTRAL,
    OCCUPATION,
    STEER,
    Records,
    neutral_counts,
    neutral_group_counts,
    read,
)
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results import scoring
from fairspace.submissions.results.scoring import score_submission
from tests import damage
from tests.submissions.benchmarks.iris.factory import META, annotated, responses, submission


@pytest.mark.slow
def test_scoring_reads_every_answer_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, intervals, variants and readings are made from one set of records; the rows are taken thrice."""
    handed_in = read_submission(write_baseline("random", "iris", tmp_path / "random"))
    reads: Counter[tuple[str, str]] = Counter()
    rows = Submission.rows

    def counted(self: Submission, table: str, task: str) -> pa.Table:
        reads[table, task] += 1
        return rows(self, table, task)

    read: Counter[str] = Counter()
    columns = "fairspace.submissions.benchmarks.iris.parse.rows.read_coded_column"
    monkeypatch.setattr(columns, lambda *given: (read.update(["column"]), read_coded_column(*given))[1])
    monkeypatch.setattr(scoring, "reading_variants", lambda *of: ())
    monkeypatch.setattr(Submission, "rows", counted)
    result = score_submission(handed_in, resamples=100)
    assert result.draws is not None
    # once each: what is measured, what readings are of (two tables' worth of columns), and the consistency proof
    expected = {(task.table, task.name): 2 if task.table == "annotations" else 4 for task in BENCHMARK.tasks}
    expected["annotations", NEUTRAL] += 1  # its images to look at
    assert reads == expected
    assert read["column"] == 3  # tasks that are answered with text


def codes(records: Records) -> dict[str, NDArray[np.float64]]:
    """The arrays of the records of a submission that lacks nothing."""
    assert records.absent == {}
    assert records.neutral is not None
    assert records.steer is not None
    assert records.occupations is not None
    assert records.winners is not None
    assert records.pairs is not None
    return {
        "neutral": records.neutral.astype(float),
        "steer": records.steer.measures,
        "occupations": records.occupations.codes().astype(float),
        "winners": records.winners.astype(float),
        "ratings": records.pairs.ratings,
        "correct": records.pairs.correct,
    }


def test_records_are_in_the_order_of_the_plan_whatever_the_order_of_the_rows() -> None:
    handed_in = submission()
    shuffled = {
        name: table.take(np.random.default_rng(0).permutation(table.num_rows))
        for name, table in handed_in.tables.items()
    }
    plain, moved = (codes(read(Submission(META, tables))) for tables in (handed_in.tables, shuffled))
    for name, column in plain.items():
        assert np.array_equal(column, moved[name], equal_nan=True), name


def test_an_image_without_a_usable_face_has_no_label() -> None:
    ids = [f"neutral/{OCCUPATIONS[1]}"] * 2
    rows = annotated(NEUTRAL, ids, np.array([3, 7]), np.array([17, 17]), np.random.default_rng(0))
    silent = damage.damaged(
        Submission(META, {"annotations": rows}), damage.refuse, lambda table, name: np.array([False, True])
    )
    labels = read(silent).neutral
    assert labels is not None
    assert labels[iris_gen_52.IMAGES + 3].tolist() == [1, 2, 2]
    assert (labels >= 0).all(axis=1).sum() == 1
    assert neutral_counts(labels, "gender_age_skin")[1, 17] == 1
    assert (neutral_group_counts(silent) == neutral_counts(labels, "gender_age_skin")).all()


def test_what_is_not_submitted_or_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(texts: list[str]) -> None:
        raise nearest.EmbeddingMissingError("install the extra")

    monkeypatch.setattr(nearest, "nearest_occupations", missing)
    handed_in = submission()
    steer = Submission(META, {"annotations": handed_in.rows("annotations", STEER)})
    assert read(steer).absent[STEER] == f"the task {NEUTRAL} was not submitted"
    assert read(Submission(META, {})).absent[STEER] == f"the task {STEER} was not submitted"
    other = responses(OCCUPATION, iris_ideal_52.image_ids("v1"), ["The person is a zymurgist."] * 27144)
    unclear = Submission(META, {"responses": other})
    assert read(unclear).absent[OCCUPATION] == "install the extra"
    assert read(unclear).occupations is None
