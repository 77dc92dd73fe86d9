import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.faults import CODES, Fault, SubmissionError
from fairspace.submissions.format.manifest import Manifest
from fairspace.submissions.format.schema import RANGES, REQUIRED, SCHEMAS, VOCABULARY, SubmissionMeta
from fairspace.submissions.format.writing import TableFormat, write_submission
from fairspace.submissions.reading.canonical import digest, matched
from fairspace.submissions.reading.containers import LIMITS
from fairspace.submissions.reading.parquet import PAGES
from tests.papers import NAMES
from tests.submissions import sample
from tests.submissions.sample import (
    jsonl,
    judgement_rows,
    meta,
    meta_bytes,
    response_rows,
    tables,
    write_folder,
)

SOURCE = Path(__file__).parents[3] / "submissions"
pytestmark = pytest.mark.usefixtures("bench")
DIGEST = "09f25dfab51778c597fd3bc9acb4a7c4ba959bce64c995ae96d3e4777b8caa47"
"""Digest of the good submission since version 0.1.0; results name submissions by it."""


def check_rows(path: Path, rows: list[dict[str, Any]]) -> tuple[Fault, ...]:
    files = {"submission.json": meta_bytes(), "responses.jsonl": jsonl(rows)}
    return check_submission(write_folder(path / "s", files)).faults


def test_a_good_submission_is_read_whole_and_sorted(tmp_path: Path) -> None:
    submission = read_submission(write_submission(tmp_path / "s", meta(), tables()))
    assert submission.meta == meta()
    for name, table in tables().items():
        keys = [column for column in ("task", "id", "sample", "face") if column in table.column_names]
        assert submission.tables[name].schema == SCHEMAS[name]
        assert submission.tables[name].equals(table.sort_by([(key, "ascending") for key in keys]))


def test_a_table_that_was_not_handed_in_is_absent(tmp_path: Path) -> None:
    files = {"submission.json": meta_bytes(), "responses.jsonl": jsonl(response_rows()), "annotations.jsonl": b""}
    report = check_submission(write_folder(tmp_path / "s", files))
    assert report.submission is not None
    assert set(report.submission.tables) == {"responses"}
    assert report.submission.rows("annotations", "image").num_rows == 0
    assert report.notes == ("without rows, so not run: quiz, image, profile",)


@pytest.mark.parametrize("table_format", ["jsonl", "parquet"])
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("name", ["s", "s.zip"])
def test_the_container_does_not_change_the_digest(
    tmp_path: Path, table_format: TableFormat, shards: int, name: str
) -> None:
    first = read_submission(write_submission(tmp_path / "first", meta(), tables()))
    path = write_submission(tmp_path / name, meta(), tables(), table_format=table_format, shards=shards)
    assert read_submission(path) == first


def story(*answers: str | None, **changes: Any) -> dict[str, bytes]:
    rows = [{"task": "story", "id": "story/001", "sample": s, "response": text} for s, text in enumerate(answers)]
    return {"submission.json": meta_bytes(), "responses.jsonl": jsonl(row | changes for row in rows)}


def test_any_other_content_has_another_digest(tmp_path: Path) -> None:
    """Texts that join to the same bytes are different contents too."""
    contents = [story(*texts) for texts in (("ab", "c"), ("a", "bc"), ("abc", None), ("abc", ""))]
    contents += [story(text) for text in ("one", "another", None, "")]
    contents += [story("one", sample=1), story("one", id="story/002"), story("one", task="quiz", id="quiz/001")]
    contents.append(story("one") | {"submission.json": meta_bytes(model="other")})
    paths = [write_folder(tmp_path / str(number), files) for number, files in enumerate(contents)]
    assert len({read_submission(path).digest for path in paths}) == len(contents)


def test_judgements_of_several_judges_are_sorted_the_scored_one_first_whatever_their_order(tmp_path: Path) -> None:
    rows = [row | {"judge": judge} for row in judgement_rows() for judge in ("b", None, "a")]
    others = [{"name": name, "version": "1"} for name in ("b", "a")]
    digests = set()
    for number, turned in enumerate((rows, rows[::-1], random.Random(1).sample(rows, len(rows)))):
        files = {"submission.json": meta_bytes(other_judges=others), "judgements.jsonl": jsonl(turned)}
        read = read_submission(write_folder(tmp_path / str(number), files))
        assert read.tables["judgements"]["judge"].to_pylist() == [None, "a", "b"] * 10
        assert read.judgements("profile").num_rows == read.judgements("profile", "a").num_rows == 10
        digests.add(read.digest)
    assert len(digests) == 1


def test_all_faults_come_at_once_each_with_a_count_and_its_first_place(tmp_path: Path) -> None:
    rows = [*response_rows(), response_rows()[0], response_rows()[1], {"task": "story"}]
    rows += [{"task": "story", "id": f"story/{i}", "sample": 0, "response": ""} for i in (700, 800, 900)]
    files = {"submission.json": meta_bytes(modle="x"), "responses.jsonl": jsonl(rows), "notes.txt": b""}
    files["annotations.parquet"] = b"none"
    first = check_submission(write_folder(tmp_path / "a", files)).faults
    expected = {"UNKNOWN_FIELD", "MISSING_FIELD", "UNKNOWN_FILE", "PARQUET_CORRUPT", "DUPLICATE_ID", "UNKNOWN_ID"}
    assert {fault.code for fault in first} == expected
    found = {fault.code: fault for fault in check_rows(tmp_path / "b", rows)}
    assert (found["DUPLICATE_ID"].where, found["DUPLICATE_ID"].count) == ("responses.jsonl line 81", 2)
    assert (found["UNKNOWN_ID"].where, found["UNKNOWN_ID"].count) == ("responses.jsonl line 84", 3)
    assert found["MISSING_FIELD"].where == "responses.jsonl line 83"


@pytest.mark.parametrize("revision", ["v1", "v99"])
def test_a_wrong_benchmark_is_told_whatever_the_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    monkeypatch.setattr("fairspace.submissions.checking.submission.benchmark", benchmark)
    rows = [{"task": "llm_objective", "id": "an item", "sample": 0, "response": "men"}]
    files = {"submission.json": meta_bytes(benchmark="iris", dataset_revision=revision), "responses.jsonl": jsonl(rows)}
    faults = {fault.code: fault for fault in check_submission(write_folder(tmp_path / "s", files)).faults}
    assert faults["WRONG_BENCHMARK"].what == "benchmark is iris, the answers are of fact_or_fair"
    assert ("UNKNOWN_REVISION" in faults) == (revision == "v99")
    assert "UNKNOWN_TASK" not in faults
    files["responses.jsonl"] += jsonl([rows[0] | {"task": "occupation"}])  # one of the named benchmark's
    both = check_submission(write_folder(tmp_path / "both", files)).faults
    assert "WRONG_BENCHMARK" not in {fault.code for fault in both}


def test_facts_of_the_model_are_optional_and_change_no_digest_where_they_are_left_out() -> None:
    assert digest(meta(), tables()) == DIGEST
    told = meta(parameters=7, open_weights=False, architecture="masked")
    assert digest(told, tables()) != DIGEST
    assert digest(told, tables()) == digest(meta(architecture="masked", parameters=7.0, open_weights=False), tables())
    assert digest(meta(parameters=None, open_weights=None), tables()) == DIGEST


@pytest.mark.parametrize(("column", "low", "high"), [(name, low, high) for name, (low, high) in RANGES.items()])
def test_both_ends_of_a_range_belong_to_it(column: str, low: float, high: float, tmp_path: Path) -> None:
    for number, codes in ((low, []), (high, []), (low - 1e-6, ["VALUE_RANGE"]), (high + 1e-6, ["VALUE_RANGE"])):
        rows = sample.annotation_rows()
        rows[0][column] = number
        files = {"submission.json": meta_bytes(), "annotations.jsonl": jsonl(rows)}
        faults = check_submission(write_folder(tmp_path / str(number), files)).faults
        assert [fault.code for fault in faults] == codes


def test_the_place_names_the_shard(tmp_path: Path) -> None:
    good, bad = response_rows()[:2], response_rows()[0] | {"sample": 7}
    parts = [jsonl(good), jsonl([response_rows()[2], bad])]
    files = {f"responses-0000{i}-of-00002.jsonl": part for i, part in enumerate(parts)}
    report = check_submission(write_folder(tmp_path / "s", files | {"submission.json": meta_bytes()}))
    assert [fault.where for fault in report.faults] == ["responses-00001-of-00002.jsonl line 2"]


def test_the_report_is_bounded(tmp_path: Path) -> None:
    rows = [{f"f{i}": 1} for i in range(500)]
    files = {"submission.json": meta_bytes(), "responses.jsonl": jsonl(rows)}
    report = check_submission(write_folder(tmp_path / "s", files), limits=replace(LIMITS, faults=20))
    assert len(report.faults) == 20
    assert "more faults are not shown" in report.notes[0]


def test_read_submission_raises_all_faults(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError) as raised:
        read_submission(write_folder(tmp_path / "s", {"submission.json": b"{}"}))
    assert {fault.code for fault in raised.value.faults} == {"MISSING_FIELD"}
    assert len(raised.value.faults) == 9


def test_a_baseline_is_refused_where_it_is_not_allowed(tmp_path: Path) -> None:
    path = write_submission(tmp_path / "s", meta(baseline="constant"), tables())
    assert "fairspace baseline" in check_submission(path).notes[-1]
    assert [f.code for f in check_submission(path, allow_baseline=False).faults] == ["BASELINE_NOT_ALLOWED"]


def test_a_table_that_the_benchmark_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bench: Benchmark) -> None:
    without = replace(bench, tasks=bench.tasks[:3])
    monkeypatch.setattr("fairspace.submissions.checking.submission.benchmark", lambda name: without)
    report = check_submission(write_submission(tmp_path / "s", meta(), tables()))
    assert [(f.code, f.where) for f in report.faults] == [("UNEXPECTED_TABLE", "judgements.parquet")]


def test_upstream_names_are_one_womans_and_one_mans(tmp_path: Path) -> None:
    from fairspace.builders.genres.plan import NAMES

    woman, man = NAMES["female"][0], NAMES["male"][0]
    rows = response_rows()[:2]
    upstream = {"submission.json": meta_bytes(dataset_revision="upstream")}
    good = [rows[0] | {"names": f"{woman}|{man}"}, rows[1] | {"names": f"{man}|{woman}"}]
    assert check_submission(write_folder(tmp_path / "a", upstream | {"responses.jsonl": jsonl(good)})).ok
    bad = [rows[0] | {"names": f"{woman}|{woman}"}, rows[1] | {"names": f"{man}|{woman}|{man}"}]
    report = check_submission(write_folder(tmp_path / "b", upstream | {"responses.jsonl": jsonl(bad)}))
    assert [(fault.code, fault.count) for fault in report.faults] == [("INVALID_NAMES", 2)]


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_submission(tmp_path / "s", meta(), tables(), shards=2)
    check_submission(path, progress=lambda what, done, total: told.append((what, done, total)))
    read = [(done, total) for what, done, total in told if what.startswith("read ")]
    assert len(read) == 6
    assert read[-1][0] == read[-1][1]
    assert [what for what, _, _ in told[-3:]] == ["check responses", "check annotations", "check judgements"]


def test_float_columns_of_other_widths_are_read(tmp_path: Path) -> None:
    table = tables()["annotations"]
    position = table.column_names.index("image_quality")
    narrow = table.set_column(position, "image_quality", table["image_quality"].cast(pa.float32()))
    made = write_folder(tmp_path / "s", {"submission.json": meta_bytes()})
    pq.write_table(narrow, made / "annotations.parquet")
    assert read_submission(made).tables["annotations"]["image_quality"].drop_null()[0].as_py() == 0.25


def test_every_code_is_raised_somewhere() -> None:
    source = "".join(path.read_text() for path in SOURCE.rglob("*.py") if path.name != "faults.py")
    raised = {word for word in re.findall(r'"([A-Z][A-Z0-9_]+)"', source) if word in CODES}
    calls = set(re.findall(r'(?:add|flag|RefusedError)\(\s*(?:odd, )?"([A-Z0-9_]+)"', source))
    assert raised == set(CODES)
    assert calls <= set(CODES)


def test_the_page_shows_the_limits_and_good_examples(tmp_path: Path) -> None:
    page = (SOURCE / "FORMAT.md").read_text()
    for number in (
        LIMITS.members,
        LIMITS.rows,
        LIMITS.row_groups,
        LIMITS.faces,
        LIMITS.ratio,
        LIMITS.faults,
        LIMITS.faulty_rows,
        LIMITS.images,
        PAGES,
    ):
        assert f"{number:,}" in page
    assert f"{LIMITS.total_bytes >> 20:,} MiB" in page
    assert f"{LIMITS.member_bytes >> 20:,} MiB" in page
    assert f"| one file of images in a folder | {LIMITS.image_member_bytes >> 20:,} MiB |" in page
    assert f"once they are read | {LIMITS.image_total_bytes >> 30} GiB |" in page
    examples = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    tables = ("responses", "annotations", "human_labels", "judgements")
    names = ("submission.json", "manifest.json", *(f"{table}.jsonl" for table in tables))
    files = {name: text.encode() for name, text in zip(names, examples, strict=True)}
    faults = check_submission(write_folder(tmp_path / "s", files)).faults
    assert {fault.code for fault in faults} == {"UNKNOWN_TASK", "NOT_ANNOTATED"}


def test_the_page_lists_every_task() -> None:
    page = (SOURCE / "FORMAT.md").read_text()
    for name in NAMES:
        for task in benchmark(name).tasks:
            row = next(row for row in page.splitlines() if row.startswith(f"| {name} |") and f"`{task.name}`" in row)
            assert f"| {task.table} |" in row
            assert row.endswith(f"| {task.samples} |")


def test_the_schema_beside_the_page_is_the_one_of_the_models() -> None:
    assert json.loads((SOURCE / "submission.schema.json").read_text()) == json_schema()


def json_schema() -> dict[str, Any]:
    """JSON schema of `submission.json`; `$defs` also holds those of `manifest.json` and of each table's row."""
    schema = SubmissionMeta.model_json_schema()
    manifest = Manifest.model_json_schema(ref_template="#/$defs/{model}")
    schema["$defs"] |= {**manifest.pop("$defs"), "manifest": manifest}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    for table in SCHEMAS:
        schema["$defs"][f"{table}_row"] = _row_schema(table)
    return schema


def _row_schema(table: str) -> dict[str, Any]:
    types = {"string": "string", "int32": "integer", "double": "number"}
    properties = {}
    for column in SCHEMAS[table]:
        kind = types[str(column.type)]
        rule: dict[str, Any] = {"type": [kind, "null"] if column.nullable else kind}
        if column.name in VOCABULARY:
            rule["enum"] = [*VOCABULARY[column.name], *([None] if column.nullable else [])]
        if column.name in RANGES:
            rule["minimum"], rule["maximum"] = RANGES[column.name]
        if kind == "integer":
            rule["minimum"] = 0
        properties[column.name] = rule
    return {
        "type": "object",
        "properties": properties,
        "required": list(REQUIRED[table]),
        "additionalProperties": False,
    }


def keyed(*rows: tuple[str, int]) -> pa.Table:
    return pa.table({"id": pa.array([name for name, _ in rows], pa.string()), "sample": [number for _, number in rows]})


@pytest.mark.parametrize(
    ("rows", "among", "expected"),
    [
        ([("a", 0), ("b", 1)], [("b", 1), ("a", 0)], [1, 0]),
        ([("a", 1), ("b", 0)], [("a", 0), ("b", 1)], [-1, -1]),
        ([("z", 9), ("a", 0), ("0", -1)], [("a", 0), ("b", 1)], [-1, 0, -1]),
        ([("a", 0), ("a", 0)], [("b", 0), ("a", 0), ("a", 0)], [1, 1]),
        ([("a", 5), ("a", 6), ("b", 5)], [("b", 5)], [-1, -1, 0]),
        ([("a", 0)], [], [-1]),
        ([], [("a", 0)], []),
    ],
)
def test_rows_are_matched_with_the_first_of_the_same_keys(
    rows: list[tuple[str, int]], among: list[tuple[str, int]], expected: list[int]
) -> None:
    keys = keyed(*rows) if rows else keyed(("a", 0)).slice(0, 0)
    other_keys = keyed(*among) if among else keyed(("a", 0)).slice(0, 0)
    assert matched(keys, other_keys, ["id", "sample"]).tolist() == expected
