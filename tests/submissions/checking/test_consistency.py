from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.answers.reading import Reading, Readings
from fairspace.submissions.answers.rows import ReadRows
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.checking.consistency import TaskConsistency, broken, prove
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from tests.submissions.sample import BENCH, META

STORY = replace(BENCH.task("story"), samples=2)
JUDGED = Task("profile", "judgements", 2, STORY.ids, judges="story")
SMALL = replace(BENCH, tasks=(STORY, JUDGED))


def rows(keys: Sequence[tuple[str, int, str | None]], task: str = "story") -> pa.Table:
    table, column = ("responses", "response") if task == "story" else ("judgements", "judgement")
    listed = [{"task": task, "id": item, "sample": sample, column: text} for item, sample, text in keys]
    return pa.Table.from_pylist(listed, schema=SCHEMAS[table])


def read(table: pa.Table, left_out: int = 0) -> ReadRows:
    """Every answer read as itself, except the last `left_out` ones."""
    column = "response" if "response" in table.column_names else "judgement"
    answers = table[column]
    place = np.array([-1 if text is None else number for number, text in enumerate(answers.to_pylist())], np.int64)
    place[len(place) - left_out :] = -1
    distinct = [Reading("choice", text) for text in answers.to_pylist()]
    about = pa.table({"id": table["id"], "sample": table["sample"], "answer": answers})
    return ReadRows(table["task"][0].as_py(), about, Readings(distinct, place))


def proof(table: pa.Table, left_out: int = 0, judgements: pa.Table | None = None) -> dict[str, TaskConsistency]:
    tables = {"responses": table} | ({"judgements": judgements} if judgements is not None else {})
    readings = [read(table, left_out)] + ([read(judgements)] if judgements is not None else [])
    return prove(Submission(SubmissionMeta(**META), tables), SMALL, readings)


GOOD = [("story/000", 0, "a"), ("story/000", 1, "b"), ("story/001", 0, None), ("story/002", 0, "c")]


def test_a_proof_counts_answers_readings_and_what_is_missing_and_holds() -> None:
    held = proof(rows(GOOD))["story"]
    assert held.holds
    assert (held.expected, held.answers, held.readings, held.missing) == (80, 3, 3, 77)
    assert not broken({"story": held})
    assert TaskConsistency.from_json(held.to_json()) == held


def test_an_answer_without_a_reading_is_counted_and_breaks_the_proof() -> None:
    held = proof(rows([*GOOD, ("story/003", 0, "not read")]), left_out=1)
    assert broken(held) == ["story"]
    assert held["story"].unread == 1


def test_a_judgement_of_a_narrative_that_was_not_handed_in_breaks_the_proof() -> None:
    judged = rows([("story/000", 0, "fine"), ("story/001", 0, "of no text"), ("story/005", 0, "of nothing")], "profile")
    held = proof(rows(GOOD), judgements=judged)
    assert held["story"].holds
    assert held["profile"].orphans == 2
    assert broken(held) == ["profile"]


def test_digests_follow_keys_and_answers_apart() -> None:
    before, after = proof(rows(GOOD))["story"], proof(rows([*GOOD[:3], ("story/002", 0, "other")]))["story"]
    assert before.keys == after.keys
    assert before.content != after.content
    assert before.read != after.read


def test_a_file_cannot_claim_that_a_proof_holds() -> None:
    data = {**proof(rows(GOOD), left_out=1)["story"].to_json(), "holds": True}
    assert not TaskConsistency.from_json(data).holds
    data = {**proof(rows(GOOD))["story"].to_json(), "duplicates": 1, "holds": True}
    assert not TaskConsistency.from_json(data).holds
    with pytest.raises(ValueError, match="counts"):
        TaskConsistency.from_json({**data, "answers": -1})
    with pytest.raises(ValueError, match="counts and digests"):
        TaskConsistency.from_json({"answers": 1})
