"""One front door for tables: what pandas, polars, datasets and a spreadsheet really write is one submission."""

import gzip
import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from datasets import Dataset, DatasetDict, IterableDatasetDict

import fairspace as fs
from fairspace.answers import check_answers
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.reading import front
from fairspace.submissions.reading.containers import Limits
from tests.submissions.checking.hostile import GOOD
from tests.submissions.conftest import Run

ABOUT: dict[str, Any] = {"benchmark": "fact_or_fair", "dataset_revision": "v2-core"}
IDS = [f"llm_objective/employment_rate/highest/gender/{number}" for number in range(3)]
IDS += [f"llm_objective/employment_rate/lowest/gender/{number}" for number in range(2)]
ANSWERS = pd.DataFrame({"id": IDS, "response": ["A", None, 'B, "so"; say', "NA!", "é\nB"]})
SPREADSHEET = Path(__file__).parents[2] / "foreign/spreadsheet"
MET = Callable[[pd.DataFrame, Path], Any]


def digest(answers: Any, **more: Any) -> str:
    report = check_answers(answers, **ABOUT, **more)
    assert report.submission is not None, report.faults
    return report.submission.digest


def written(path: Path, write: Callable[[Path], Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    write(path)
    return path


def folder(name: str, write: Callable[[pd.DataFrame, Path], Any]) -> MET:
    """Two part files as Spark names them, with its marks beside them."""

    def parts(frame: pd.DataFrame, at: Path) -> Path:
        for number, rows in enumerate((frame[:2], frame[2:])):
            written(at / name / f"part-0000{number}.{name.split('.')[1]}", partial(write, rows))
        (at / name / "_SUCCESS").touch()
        return at / name

    return parts


PANDAS: dict[str, MET] = {
    "frame": lambda f, at: f,
    "float sample": lambda f, at: f.assign(sample=0.0),
    "NA": lambda f, at: f.convert_dtypes(),
    "rows with pd.NA": lambda f, at: f.convert_dtypes().to_dict("records"),
    "category": lambda f, at: f.astype("category"),
    "index of ids": lambda f, at: f.set_index("id"),
    "filtered columns": lambda f, at: {name: pd.concat([f[name]]).set_axis(range(7, 12)) for name in f},
    "its own columns": lambda f, at: f.assign(status="completed", judgement="x"),
    "csv": lambda f, at: written(at / "a.CSV", lambda path: f.assign(sample=0.0).to_csv(path, index=False)),
    "csv with its index": lambda f, at: written(at / "a.csv", f.to_csv),
    "csv with NA": lambda f, at: written(at / "a.csv", lambda path: f.to_csv(path, na_rep="NA")),
    "csv of Windows": lambda f, at: written(at / "a.csv", lambda p: f.to_csv(p, encoding="utf-8-sig", sep=";")),
    "csv in UTF-16": lambda f, at: written(at / "a.csv", lambda path: f.to_csv(path, encoding="utf-16", sep="\t")),
    "csv.gz": lambda f, at: written(at / "a.csv.gz", lambda path: f.to_csv(path, index=False)),
    "tsv": lambda f, at: written(at / "a.tsv", lambda path: f.to_csv(path, index=False, sep="\t")),
    "json": lambda f, at: written(at / "a.json", f.to_json),
    "json of rows": lambda f, at: written(at / "a.json", lambda path: f.to_json(path, orient="records", indent=1)),
    "json of lines": lambda f, at: written(at / "a.json", lambda p: f.to_json(p, orient="records", lines=True)),
    "jsonl.gz": lambda f, at: written(at / "a.jsonl.gz", lambda p: f.to_json(p, orient="records", lines=True)),
    "parquet": lambda f, at: written(at / "a.parquet", lambda path: f.set_index("id").to_parquet(path)),
    "parts": folder("x.parquet", lambda f, path: f.to_parquet(path)),
    "parts of csv": folder("x.csv", lambda f, path: f.to_csv(path, index=False)),
}
POLARS: dict[str, MET] = {
    "frame": lambda f, at: pl.from_pandas(f),
    "lazy": lambda f, at: pl.from_pandas(f).lazy(),
    "rows": lambda f, at: pl.from_pandas(f).to_dicts(),
    "columns": lambda f, at: pl.from_pandas(f).to_dict(),
    "csv": lambda f, at: written(at / "a.csv", pl.from_pandas(f).write_csv),
    "ndjson": lambda f, at: written(at / "a.ndjson", pl.from_pandas(f).write_ndjson),
    "json": lambda f, at: written(at / "a.json", pl.from_pandas(f).write_json),
    "parquet": lambda f, at: written(at / "a.parquet", pl.from_pandas(f).write_parquet),
}
DATASETS: dict[str, MET] = {
    "set": lambda f, at: Dataset.from_pandas(f),
    "numpy": lambda f, at: Dataset.from_pandas(f).with_format("numpy"),
    "stream": lambda f, at: Dataset.from_pandas(f).to_iterable_dataset(),
    "only split": lambda f, at: DatasetDict(test=Dataset.from_pandas(f)),
    "csv": lambda f, at: written(at / "a.csv", Dataset.from_pandas(f).to_csv),
    "json": lambda f, at: written(at / "a.json", Dataset.from_pandas(f).to_json),
    "parquet": lambda f, at: written(at / "a.parquet", Dataset.from_pandas(f).to_parquet),
}


@pytest.mark.parametrize("kind", PANDAS)
def test_what_pandas_holds_or_writes_is_one_submission(kind: str, tmp_path: Path) -> None:
    assert digest(PANDAS[kind](ANSWERS, tmp_path)) == digest(ANSWERS)


@pytest.mark.parametrize("kind", POLARS)
def test_what_polars_holds_or_writes_is_one_submission(kind: str, tmp_path: Path) -> None:
    assert digest(POLARS[kind](ANSWERS, tmp_path)) == digest(ANSWERS)


@pytest.mark.parametrize("kind", DATASETS)
def test_what_datasets_holds_or_writes_is_one_submission(kind: str, tmp_path: Path) -> None:
    assert digest(DATASETS[kind](ANSWERS, tmp_path)) == digest(ANSWERS)


def test_a_split_is_named_where_there_are_several() -> None:
    parts = {"train": Dataset.from_pandas(ANSWERS[:1]), "test": Dataset.from_pandas(ANSWERS)}
    streams = IterableDatasetDict({name: part.to_iterable_dataset() for name, part in parts.items()})
    assert digest(DatasetDict(parts), split="test") == digest(streams, split="test") == digest(ANSWERS)
    with pytest.raises(fs.UsageError, match=r"splits train, test\. Name one of them with split="):
        fs.score(DatasetDict(parts), "fact_or_fair")


@pytest.mark.parametrize("name", ["semicolon.csv", "utf16.csv"])
def test_what_a_spreadsheet_writes_is_read(name: str) -> None:
    said = ["A", "B; é", None]
    assert digest(SPREADSHEET / name) == digest({"id": IDS[:3], "response": said})


def test_a_spreadsheet_in_the_letters_of_windows_is_refused_with_what_reads_it() -> None:
    with pytest.raises(fs.SubmissionError, match=r"BROKEN_UTF8 at cp1252.csv: a byte in line 3.*encoding='cp1252'"):
        fs.score(SPREADSHEET / "cp1252.csv", "fact_or_fair")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv", b"id,response,response\nx,A,B\n", "a.csv has 2 columns 'response'"),
        ("a.csv", b"id,response\nx,A,B\n", "UNREADABLE_FILE at a.csv.*as many cells"),
        ("a.csv", b"id,response\n", "EMPTY_SUBMISSION at a.csv"),
        ("a.csv", b"", "no column 'response'"),
        ("a.csv", "id,response".encode("utf-16-le"), "UTF-16 without its mark"),
        ("a.json", b'[{"id": 1}, 2]', "Row 1 of a.json is 2"),
        ("a.json", b"", "JSON_SYNTAX at a.json"),
        ("a.ndjson", b'{"id": "x", "id": "y"}\n{}', "DUPLICATE_FIELD at a.ndjson: line 1"),
        ("a.jsonl", b'\xef\xbb\xbf{"id": "x", "response": "A"}\n\n{"id"', "JSON_SYNTAX at a.jsonl: line 3"),
        ("a.parquet", b"PAR1", "PARQUET_CORRUPT at a.parquet"),
        ("a.csv.gz", b"\x1f\x8b\x08nothing", "a.csv.gz cannot be read"),
        ("a.xlsx", b"PK", r"no file of answers. Expected: a folder, a .zip, or a table .\.csv"),
    ],
)
def test_a_table_that_cannot_be_read_says_where_and_why(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    with pytest.raises((fs.UsageError, fs.SubmissionError), match=said):
        fs.score(written(tmp_path / name, lambda path: path.write_bytes(data)), "fact_or_fair")


def test_a_gzip_that_grows_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "LIMITS", Limits(member_bytes=1 << 16))
    bomb = written(tmp_path / "a.csv.gz", lambda path: path.write_bytes(gzip.compress(bytes(1 << 20))))
    with pytest.raises(fs.SubmissionError, match=r"TOO_LARGE at a\.csv\.gz: more than 65,536 bytes"):
        fs.score(bomb, "fact_or_fair")


@pytest.mark.parametrize("place", ["https://example.org/a.csv", "hf://datasets/me/mine"])
def test_an_address_keeps_its_slashes(place: str, run: Run) -> None:
    with pytest.raises(fs.UsageError, match=f"{place} is an address"):
        fs.score(place, "fact_or_fair")
    assert place in "".join(run("check", place)[1:]).replace("\n", "")


def test_the_command_reads_a_table_as_the_library_does(tmp_path: Path, run: Run) -> None:
    table = PANDAS["json of lines"](ANSWERS.assign(status="completed"), tmp_path)
    code, out, said = run(
        "score", table, "--benchmark", "fact_or_fair", "--dataset-revision", "v2-core", "--resamples", 0, "--json"
    )
    assert (code, said) == (0, "Note: passed over column status: these rows are read as responses\n")
    assert json.loads(out)["signature"]["submission"] == digest(ANSWERS)
    assert "--benchmark genres" in run("check", PANDAS["tsv"](ANSWERS, tmp_path))[2]


def test_leftovers_of_other_systems_are_passed_over_and_named(tmp_path: Path, bench: object) -> None:
    left = ["__MACOSX/._responses.jsonl", "._responses.jsonl", ".DS_Store", "Thumbs.db", "Desktop.ini"]
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        for name, data in {**GOOD, **dict.fromkeys(left, b"\0\5\x16\7")}.items():
            archive.writestr(name, data)
    (tmp_path / "mine/__MACOSX").mkdir(parents=True)
    for name, data in {**GOOD, **dict.fromkeys(left, b"\0\5\x16\7")}.items():
        (tmp_path / "mine" / name).write_bytes(data)
    for path in (tmp_path / "mine.zip", tmp_path / "mine"):
        report = check_submission(path)
        assert report.ok, report.faults
        assert len(report.passed_over) == len(left)
        assert "'Thumbs.db', which Mac or Windows left there" in "".join(report.passed_over)
