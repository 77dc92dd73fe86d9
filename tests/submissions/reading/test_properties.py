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
from fairspace.submissions.reading.canonical import digest
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
@given(
    st.dictionaries(KEYS, TEXT, min_size=1),
    FORMATS,
    st.integers(1, 4),
    st.sampled_from(["s", "s.zip"]),
    st.randoms(use_true_random=False),
)
def test_what_is_written_is_read_and_has_one_digest_in_every_order_sharding_format_and_container(
    tmp_path: Path,
    answers: dict[tuple[int, int], str | None],
    form: TableFormat,
    shards: int,
    name: str,
    order: random.Random,
) -> None:
    rows = table(dict(order.sample(list(answers.items()), len(answers))))
    path = write_submission(fresh(tmp_path / name), meta(), {"responses": rows}, table_format=form, shards=shards)
    read = read_submission(path)
    expected = table(answers).sort_by([("id", "ascending"), ("sample", "ascending")])
    assert read.meta == meta()
    assert read.tables["responses"].equals(expected)
    assert read.digest == digest(meta(), {"responses": expected})


CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=0, max_size=4)), min_size=1, max_size=6)


def damaged(data: bytes, changes: list[tuple[int, bytes]]) -> bytes:
    for at, change in changes:
        at %= len(data) + 1
        data = data[:at] + change + data[at + max(1, len(change)) :]
    return data


FILES = ["responses", "annotations", "judgements", "submission.json"]


@pytest.mark.slow
@settings(several, max_examples=600)
@given(CHANGES, FORMATS, st.sampled_from([*FILES, *["s.zip"] * len(FILES)]))
def test_a_damaged_zip_or_file_never_raises(
    tmp_path: Path, changes: list[tuple[int, bytes]], form: TableFormat, name: str
) -> None:
    path = write_submission(fresh(tmp_path / name.replace(".json", "")), meta(), tables(), table_format=form)
    file = path if name == "s.zip" else path / (name if name.endswith(".json") else f"{name}.{form}")
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
