from pathlib import Path

import pyarrow as pa
import pytest

from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Collector
from fairspace.submissions.format.writing import write_submission
from tests.submissions.sample import meta, tables


@pytest.mark.parametrize("name", ["s.zip", "s"])
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    one, two = (write_submission(tmp_path / part / name, meta(), tables()) for part in ("a", "b"))
    files = [one] if one.is_file() else sorted(one.iterdir())
    assert [f.read_bytes() for f in files] == [(two / f.name if two.is_dir() else two).read_bytes() for f in files]


def test_columns_without_content_are_left_out(tmp_path: Path) -> None:
    path = write_submission(tmp_path / "s", meta(), tables(), table_format="jsonl")
    assert "names" not in (path / "responses.jsonl").read_text()
    assert "race" not in (path / "annotations.jsonl").read_text()
    assert '"response": null' in (path / "responses.jsonl").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = write_submission(tmp_path / "s", meta(), tables())
    with pytest.raises(UsageError, match="already"):
        write_submission(path, meta(), tables())
    with pytest.raises(UsageError, match="already"):
        write_submission(path / "submission.json", meta(), tables())


@pytest.mark.parametrize(
    ("name", "table", "says"),
    [
        ("answers", pa.table({"task": ["a"]}), "no table 'answers'"),
        ("responses", pa.table({"tsk": ["a"]}), "no column 'tsk'"),
        ("responses", pa.table({"task": ["a"], "sample": ["x"]}), "does not fit"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, name: str, table: pa.Table, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        write_submission(tmp_path / "s", meta(), {name: table})
    assert not (tmp_path / "s").exists()


PLACES = [
    ("responses.jsonl", "line 30"),
    ("submission.json", ""),
    ("responses.jsonl", "line 4"),
    ("responses.jsonl", ""),
    ("responses.jsonl", "line 5"),
]


def test_faults_are_in_the_order_of_files_and_lines() -> None:
    faults = Collector(10)
    for number, (file, place) in enumerate(PLACES):
        faults.add("WRONG_TYPE", file, "x", expected="y", place=place, kind=str(number))
    assert [fault.where for fault in faults.all()] == [
        "responses.jsonl",
        "responses.jsonl line 4",
        "responses.jsonl line 5",
        "responses.jsonl line 30",
        "submission.json",
    ]
