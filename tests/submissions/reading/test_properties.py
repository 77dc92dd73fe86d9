import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.schema import RESPONSES
from fairspace.submissions.format.writing import TableFormat, write_submission
from tests.submissions.sample import meta, tables

pytestmark = pytest.mark.usefixtures("bench")
TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
KEYS = st.tuples(st.integers(0, 39), st.integers(0, 1))
FORMATS: st.SearchStrategy[TableFormat] = st.sampled_from(["jsonl", "parquet"])
several = settings(
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def table(answers: dict[tuple[int, int], str | None]) -> pa.Table:
    rows = [
        {"task": "story", "id": f"story/{item:03}", "sample": number, "response": text}
        for (item, number), text in answers.items()
    ]
    return pa.Table.from_pylist(rows, schema=RESPONSES)


def fresh(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    return path


@several
@given(st.dictionaries(KEYS, TEXT, min_size=1), FORMATS, st.integers(1, 4), st.sampled_from(["s", "s.zip"]))
def test_what_is_written_is_read(
    tmp_path: Path, answers: dict[tuple[int, int], str | None], form: TableFormat, shards: int, name: str
) -> None:
    given_table = table(answers)
    path = write_submission(
        fresh(tmp_path / name), meta(), {"responses": given_table}, table_format=form, shards=shards
    )
    read = read_submission(path)
    assert read.meta == meta()
    assert read.tables["responses"].equals(given_table.sort_by([("id", "ascending"), ("sample", "ascending")]))


@several
@given(st.dictionaries(KEYS, TEXT, min_size=1), FORMATS, FORMATS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_order_shards_and_format_leave_the_digest_alone(
    tmp_path: Path,
    answers: dict[tuple[int, int], str | None],
    form: TableFormat,
    other: TableFormat,
    shards: int,
    order: random.Random,
) -> None:
    shuffled = list(answers.items())
    order.shuffle(shuffled)
    one = write_submission(fresh(tmp_path / "a"), meta(), {"responses": table(answers)}, table_format=form)
    two = write_submission(
        fresh(tmp_path / "b"), meta(), {"responses": table(dict(shuffled))}, table_format=other, shards=shards
    )
    assert read_submission(one).digest == read_submission(two).digest


CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=0, max_size=4)), min_size=1, max_size=6)


def damaged(data: bytes, changes: list[tuple[int, bytes]]) -> bytes:
    for at, change in changes:
        at %= len(data) + 1
        data = data[:at] + change + data[at + max(1, len(change)) :]
    return data


@pytest.mark.slow
@settings(several, max_examples=300)
@given(CHANGES, FORMATS)
def test_a_damaged_zip_never_raises(tmp_path: Path, changes: list[tuple[int, bytes]], form: TableFormat) -> None:
    path = write_submission(fresh(tmp_path / "s.zip"), meta(), tables(), table_format=form)
    path.write_bytes(damaged(path.read_bytes(), changes))
    report = check_submission(path)
    assert report.ok != bool(report.faults)


@pytest.mark.slow
@settings(several, max_examples=300)
@given(CHANGES, FORMATS, st.sampled_from(["responses", "annotations", "judgements", "submission.json"]))
def test_a_damaged_file_never_raises(
    tmp_path: Path, changes: list[tuple[int, bytes]], form: TableFormat, name: str
) -> None:
    path = write_submission(fresh(tmp_path / "s"), meta(), tables(), table_format=form)
    file = path / (name if name.endswith(".json") else f"{name}.{form}")
    file.write_bytes(damaged(file.read_bytes(), changes))
    report = check_submission(path)
    assert report.ok != bool(report.faults)


@several
@given(st.binary(max_size=200), st.sampled_from(["responses.jsonl", "responses.parquet", "submission.json", "s.zip"]))
def test_any_bytes_never_raise(tmp_path: Path, data: bytes, name: str) -> None:
    path = write_submission(fresh(tmp_path / "s"), meta(), {})
    (path / name).write_bytes(data)
    assert not check_submission(path).ok
    assert not check_submission(path / name).ok
