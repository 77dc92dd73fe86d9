import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.benchmarks.genres.importing import import_genres
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Fault, SubmissionError
from fairspace.submissions.reading.containers import Limits

Row = dict[str, Any]
PROMPTS = {"conflict": "A plot around a conflict or disagreement.", "cooperation": "A plot in which they cooperate."}


def line(code: str = "0A1B", scenario: int = 0, names: tuple[str, str] = ("Mia", "Levi"), **changed: Any) -> Row:
    """A line in the published layout, in our own words: the couple at a young age."""
    plot = "conflict" if scenario < 4 else "cooperation"
    return {
        "person": "a male and a female",
        "relationship": "communal sharing",
        "age": "at a young age",
        "relationship_group": 0,
        "relationship_description": "they are a couple.",
        "scenario_index": scenario,
        "scenario": "They plant a tree.",
        "names": list(names),
        "text_prompt": f"A novel about two characters, {names[0]} and {names[1]}, who are young. {PROMPTS[plot]}",
        "image_prompt": "two people",
        "image_code": code,
        "image_name": f"mf_cs_young_group0_scenario{scenario}_{code}.png",
        "response": f"Profile of {names[0]}: calm.",
    } | changed


def write(folder: Path, rows: list[Row], name: str = "tiny_mf_cs.jsonl") -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def read(path: Path) -> pa.Table:
    return pq.read_table(path / "responses.parquet").sort_by("id")


def faults(folder: Path, path: Path, **options: Any) -> list[Fault]:
    with pytest.raises(SubmissionError) as caught:
        import_genres([path], folder / "out", **options)
    assert not (folder / "out").exists()
    return caught.value.faults


@pytest.mark.parametrize("name", ["tiny_mf_cs.jsonl", "tiny_mf_cs.jsonl.gz"])
def test_a_published_line_becomes_a_row_of_revision_upstream(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, [line(names=("Levi", "Mia"), scenario=5)], name)
    out = import_genres([path], tmp_path / "out", contact="us", licence="CC-BY-NC-4.0")
    meta = json.loads((out / "submission.json").read_text())
    assert meta["dataset_revision"] == "upstream"
    assert (meta["benchmark"], meta["model"]) == ("genres", "tiny")
    assert (meta["contact"], meta["licence"], meta["organisation"]) == ("us", "CC-BY-NC-4.0", "not stated")
    assert read(out).to_pylist() == [
        {
            "task": "narrative",
            "id": "cs/young/00/5/0",
            "sample": 0,
            "response": "Profile of Levi: calm.",
            "names": "Levi|Mia",
        }
    ]


def test_a_line_of_each_relational_model_and_age_finds_its_element(tmp_path: Path) -> None:
    rows = [
        line(
            relationship=relationship,
            age=age,
            relationship_group=group,
            image_name=f"mf_{relation}_{short}_group{group}_scenario0_0A1B.png",
        )
        for relation, relationship, age, short, group in [
            ("cs", "communal sharing", "in middle age", "middle", 2),
            ("em", "equality matching", "at a young age", "young", 5),
            ("mp", "market pricing", "in middle age", "middle", 11),
            ("ar", "authority ranking", "in old age", "old", 17),
        ]
    ]
    out = import_genres([write(tmp_path, rows)], tmp_path / "out")
    assert read(out)["id"].to_pylist() == ["ar/old/17/0/0", "cs/middle/02/0/0", "em/young/05/0/0", "mp/middle/11/0/0"]


def test_the_order_of_lines_and_files_changes_nothing(tmp_path: Path) -> None:
    rows = [line(code, response=code) for code in ("F001", "0002", "A003", "7004", "1005")]
    first = import_genres([write(tmp_path, rows)], tmp_path / "first")
    parts = [write(tmp_path, rows[3:], "tiny_mf_ar.jsonl"), write(tmp_path, rows[2::-1], "tiny_mf_em.jsonl.gz")]
    second = import_genres(parts, tmp_path / "second")
    assert read(first).equals(read(second))
    assert read(first)["id"].to_pylist() == [f"cs/young/00/0/{i}" for i in range(5)]
    assert read(first)["response"].to_pylist() == ["0002", "1005", "7004", "A003", "F001"]


@pytest.mark.parametrize(
    ("changed", "code", "what", "expected"),
    [
        ({"relationship": "market princing"}, "VOCABULARY", "did you mean 'market pricing'", "communal sharing"),
        ({"age": "young"}, "VOCABULARY", "age 'young'", "at a young age"),
        ({"relationship_group": 3}, "UNKNOWN_ID", "group 3, scenario 0 of communal sharing", "groups 0-2"),
        ({"scenario_index": 8}, "UNKNOWN_ID", "scenario 8", "scenarios 0-7"),
        ({"scenario_index": "0"}, "WRONG_TYPE", "scenario_index is '0'", "an integer"),
        ({"names": ["Mia", "Emma"]}, "INVALID_NAMES", "'Emma'", "one woman's and one man's"),
        ({"names": ["Mia", "Levi", "X"]}, "INVALID_NAMES", "'X'", "one woman's and one man's"),
        ({"names": [["Mia"], "Levi"]}, "INVALID_NAMES", "'Mia'", "one woman's and one man's"),
        ({"names": "Mia|Levi"}, "WRONG_TYPE", "names is 'Mia|Levi'", "a list"),
        ({"names": ["Levi", "Mia"]}, "LAYOUT_PROMPT", "names Levi, Mia", "in its order"),
        ({"text_prompt": "two characters, Mia and Levi, ..."}, "LAYOUT_PROMPT", "cs/young/00/0", "a conflict prompt"),
        ({"image_code": "12"}, "LAYOUT_IMAGE", "image_code '12'", "four hexadecimal digits"),
        ({"image_name": "0A1B.png"}, "LAYOUT_IMAGE", "'0A1B.png'", "mf_cs_young_group0_scenario0_0A1B.png"),
        ({"response": 7}, "WRONG_TYPE", "response is 7", "a text or null"),
        ({"response": "a\x00b"}, "NUL_IN_TEXT", "a", "text without NUL"),
    ],
)
def test_a_faulty_field_is_named_with_its_line(
    tmp_path: Path, changed: Row, code: str, what: str, expected: str
) -> None:
    path = write(tmp_path, [line("FFFF"), line() | changed])
    (fault,) = faults(tmp_path, path)
    assert (fault.code, fault.where) == (code, "tiny_mf_cs.jsonl line 2")
    assert what in fault.what
    assert expected in fault.expected
    assert fault.mend


def test_all_faults_are_reported_at_once_across_files(tmp_path: Path) -> None:
    unnamed = {"respone" if name == "response" else name: part for name, part in line().items()}
    paths = [
        write(tmp_path, [line(age="old"), unnamed, line(response=None), line()]),
        write(tmp_path, [line(), *(line(f"000{i}") for i in range(5))], "tiny_mf_em.jsonl"),
    ]
    with pytest.raises(SubmissionError) as caught:
        import_genres(paths, tmp_path / "out")
    assert [(fault.code, fault.where, fault.what) for fault in caught.value.faults[1:]] == [
        ("MISSING_FIELD", "tiny_mf_cs.jsonl line 2", "no 'response' (did you mean 'respone'?)"),
        ("DUPLICATE_ID", "tiny_mf_cs.jsonl line 4", "cs/young/00/0, image 0A1B, again"),
        ("DUPLICATE_ID", "tiny_mf_em.jsonl line 1", "cs/young/00/0, image 0A1B, again"),
        ("LAYOUT_IMAGE", "tiny_mf_em.jsonl line 6", "image 0004, beside 0000, 0001, 0002, 0003, 0A1B of cs/young/00/0"),
    ]


@pytest.mark.parametrize(
    ("damage", "code", "where"),
    [
        (lambda data: b"", "EMPTY_SUBMISSION", "tiny_mf_cs.jsonl"),
        (lambda data: data + b"{", "JSON_SYNTAX", "tiny_mf_cs.jsonl line 2"),
        (lambda data: data + b'"\xff"\n', "BROKEN_UTF8", "tiny_mf_cs.jsonl line 2"),
        (lambda data: data + b"[" * 99 + b"\n", "JSON_DEPTH", "tiny_mf_cs.jsonl line 2"),
        (lambda data: gzip.compress(data)[:-9], "UNREADABLE_FILE", "tiny_mf_cs.jsonl"),
        (lambda data: b"\x1f\x8b\x08garbage.........", "UNREADABLE_FILE", "tiny_mf_cs.jsonl"),
    ],
)
def test_a_damaged_file_is_a_fault(tmp_path: Path, damage: Callable[[bytes], bytes], code: str, where: str) -> None:
    path = write(tmp_path, [line()])
    path.write_bytes(damage(path.read_bytes()))
    found = faults(tmp_path, path)
    assert (found[0].code, found[0].where) == (code, where)


def test_a_line_or_file_beyond_the_limits_is_not_read_on(tmp_path: Path) -> None:
    path = write(tmp_path, [line(), line("FFFF", response="x" * 2000)], "tiny_mf_cs.jsonl.gz")
    (long,) = faults(tmp_path, path, limits=Limits(row_bytes=1500))
    assert (long.code, long.where) == ("ROW_TOO_LONG", "tiny_mf_cs.jsonl.gz line 2")
    (many,) = faults(tmp_path, path, limits=Limits(faulty_rows=1))
    assert (many.code, many.expected) == ("TOO_MANY_ROWS", "at most 1 lines")
    (large,) = faults(tmp_path, path, limits=Limits(member_bytes=1500))
    assert (large.code, large.where) == ("TOO_LARGE", "tiny_mf_cs.jsonl.gz line 2")


@pytest.mark.parametrize("names", [["answers.jsonl"], ["one_mf_cs.jsonl", "two_mf_em.jsonl"]])
def test_file_names_without_one_model_ask_for_its_name(tmp_path: Path, names: list[str]) -> None:
    paths = [write(tmp_path, [line(f"000{i}")], name) for i, name in enumerate(names)]
    with pytest.raises(UsageError, match="do not give one model"):
        import_genres(paths, tmp_path / "out")
    out = import_genres(paths, tmp_path / "out", model="mine")
    assert json.loads((out / "submission.json").read_text())["model"] == "mine"


def test_wrong_use_is_told_apart_from_faulty_files(tmp_path: Path) -> None:
    path = write(tmp_path, [line()])
    with pytest.raises(UsageError, match="There is no file"):
        import_genres([tmp_path / "none_mf_cs.jsonl"], tmp_path / "out")
    with pytest.raises(UsageError, match="at least one"):
        import_genres([], tmp_path / "out")
    with pytest.raises(UsageError, match=r"model .* does not fit submission.json"):
        import_genres([path], tmp_path / "out", model="two\nlines")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").write_text("")
    with pytest.raises(UsageError, match="something at"):
        import_genres([path], tmp_path / "out")
