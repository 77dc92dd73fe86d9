"""Measuring the readers on labelled answers: the counts, their splits, and every fault of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.answers.labelled import LONGEST, check_gold, field, read_lines, unknown_task
from fairspace.submissions.answers.measuring import Compared, compare, gender_words, measure
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.registry import benchmark as BENCHMARK  # noqa: N812 -- other tests replace it
from fairspace.submissions.format.faults import SubmissionError
from tests.submissions import sample

Run = Callable[..., tuple[int, str, str]]


def read_number(fields: Mapping[str, Any]) -> list[Compared]:
    """A benchmark of one task: the answer is a digit of those that the item allows."""
    if fields["task"] != "digit":
        raise unknown_task(fields["task"], ["digit"])
    check_gold(fields["gold"], field(fields, "digits", list, "a list of digits"))
    digits = [c for c in fields["answer"] if c in fields["digits"]]
    several = Reading("several" if digits else "unusable")
    return [compare("digit", fields["gold"], Reading("choice", digits[0]) if len(digits) == 1 else several)]


@pytest.fixture(autouse=True)
def digits(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = replace(sample.BENCH, compare_reading=read_number)
    monkeypatch.setattr("fairspace.submissions.benchmarks.registry.benchmark", lambda name: bench)


def line(answer: str, gold: Any, **more: Any) -> dict[str, Any]:
    known = {"benchmark": "iris", "task": "digit", "digits": ["1", "2", "3"], "answer": answer, "gold": gold}
    return known | more


def write(path: Path, *rows: Any) -> Path:
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


ROWS = (
    line("He says 1", "1", id="a", style="small", family="f"),
    line("She says 1", "1", id="b", style="small", family="f"),
    line("She says one", "2", id="c", style="large", family="g"),
    line("He says 2", "2", id="d", style="large", family="g"),
    line("3", "none", id="e", style="large", family="alone"),
    line("1 or 2", "several", id="g"),
    line("no", "refused", id="h"),
)


def test_the_counts_are_those_that_a_person_makes(tmp_path: Path) -> None:
    report = measure(read_lines([write(tmp_path / "a.jsonl", *ROWS)]))
    tally = report.tasks["iris/digit"]
    assert (tally.n, tally.right, tally.false, tally.lost) == (7, 5, 1, 1)
    assert (tally.families, tally.families_alike) == (2, 1)
    assert (tally.right_male, tally.n_male, tally.right_female, tally.n_female) == (2, 2, 1, 2)
    assert [(e["id"], e["gold"], e["read"], e["verdict"]) for e in report.errors] == [
        ("c", "2", "none", "lost"),
        ("e", "none", "3", "false"),
    ]
    large = report.splits["style"]["iris/digit"]["large"]
    assert (large.n, large.right) == (3, 1)
    by_gender = report.splits["gender"]["iris/digit"]
    assert {name: part.n for name, part in by_gender.items()} == {"male": 2, "female": 2, "neither": 3}
    assert report.splits["family"]["iris/digit"]["g"].families_alike == 0


def test_words_of_both_genders_count_for_neither() -> None:
    answers = ("Her son", "a craftswoman", "SHE", "Mr. Smith", "")
    assert [gender_words(text) for text in answers] == ["neither", "neither", "female", "male", "neither"]


def test_json_has_the_documented_keys(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", *ROWS)
    code, out, _ = run("readings", file, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["tasks"]["iris/digit"].keys() >= {
        *("n", "right", "false", "lost", "families", "families_alike"),
        *("right_male", "n_male", "right_female", "n_female"),
    }
    assert {"id", "gold", "read"} <= data["errors"][0].keys()
    assert "by" not in data
    assert json.loads(run("readings", file, "--json", "--by", "style")[1])["by"]["iris/digit"]["small"]["n"] == 2


@pytest.mark.parametrize("split", ["style", "gender", "family"])
def test_the_table_fits_a_terminal_of_80_columns(run: Run, tmp_path: Path, split: str) -> None:
    rows = [line("2", "none", family="f" * 60, style="s" * 60, id="i" * 90) for _ in range(20)]
    for words in ([write(tmp_path / "a.jsonl", *ROWS, *rows)], ["measure", tmp_path / "a.jsonl", "--by", split]):
        code, out, _ = run("readings", *words)
        assert code == 0
        assert "families" in out
        assert "and 14 more errors" in out
        assert max(map(len, out.splitlines())) <= 80


def test_an_unknown_split_is_wrong_use(run: Run, tmp_path: Path) -> None:
    code, _, err = run("readings", tmp_path / "a.jsonl", "--by", "styel")
    assert code == 2
    assert "did you mean 'style'?" in err


FAULTY: Mapping[str, tuple[Any, str]] = {
    "JSON_SYNTAX": (b'{"benchmark": "iris"', "line 2"),
    "NOT_AN_OBJECT": ([1], "[1]"),
    "BROKEN_UTF8": (b'{"answer": "\xff"}', "0xff"),
    "BYTE_ORDER_MARK": (b"\xef\xbb\xbf{}", "ef bb bf"),
    "DUPLICATE_FIELD": (b'{"answer": "1", "answer": "2"}', "'answer'"),
    "JSON_DEPTH": (b"[" * 40 + b"]" * 40, "16"),
    "NOT_FINITE": (b'{"gold": NaN}', "NaN"),
    "MISSING_FIELD": ({**line("1", "1"), "gold": None}, "'gold'"),
    "WRONG_TYPE": (line("1", "1", style=3), "'style' is 3"),
    "UNKNOWN_BENCHMARK": (line("1", "1", benchmark="iriss"), "did you mean 'iris'?"),
    "UNKNOWN_TASK": (line("1", "1", task="digti"), "did you mean 'digit'?"),
    "UNKNOWN_GOLD": (line("1", 1), "gold 1"),
}


@pytest.mark.parametrize("code", FAULTY)
def test_a_fault_says_file_line_and_remedy(run: Run, tmp_path: Path, code: str) -> None:
    row, what = FAULTY[code]
    ended, out, _ = run("readings", write(tmp_path / "a.jsonl", ROWS[0], row))
    assert ended == 1
    assert f"{code} at " in out
    assert "a.jsonl line 2" in out
    assert what in out
    assert "mend: " in out


def test_what_a_reader_needs_is_a_fault_where_it_lacks(tmp_path: Path) -> None:
    lacking = {name: value for name, value in line("1", "1").items() if name != "digits"}
    for row, code in ((lacking, "MISSING_FIELD"), (line("1", "1", digits="123"), "WRONG_TYPE")):
        with pytest.raises(SubmissionError) as error:
            measure(read_lines([write(tmp_path / "a.jsonl", row)]))
        assert [fault.code for fault in error.value.faults] == [code]


def test_a_file_that_cannot_be_read_is_a_fault(run: Run, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl", b"", b"  ")
    long = write(tmp_path / "long.jsonl", b" " * (LONGEST + 1))
    for path, code in ((tmp_path / "none.jsonl", "MISSING_FILE"), (empty, "NO_ANSWERS"), (long, "ROW_TOO_LONG")):
        ended, out, _ = run("readings", path)
        assert (ended, f"{code} at " in out) == (1, True)


def test_half_a_surrogate_pair_in_an_answer_is_no_fault(tmp_path: Path) -> None:
    assert measure(read_lines([write(tmp_path / "a.jsonl", line("1 \ud83d", "1"))])).tasks["iris/digit"].right == 1


def test_a_gold_is_one_of_the_choices_or_none() -> None:
    from fairspace.submissions.format.collector import RefusedError

    for gold in ("nurse", "none", "several"):
        check_gold(gold, ["nurse", "chef"])
    with pytest.raises(RefusedError, match="did you mean 'nurse'"):
        check_gold("Nurse", ["nurse", "chef"])


PAGE = (Path(__file__).parents[3] / "submissions" / "FORMAT.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_can_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairspace.submissions.benchmarks.registry.benchmark", BENCHMARK)
    section = PAGE[PAGE.index("## Labelled answers") :]
    block = section[section.index("```jsonl\n") + 9 :].split("```")[0]
    (tmp_path / "a.jsonl").write_text(block)
    lines = read_lines([tmp_path / "a.jsonl"])
    assert len(lines) == 2
    assert measure(lines).errors == []


def test_the_commands_of_the_page_have_these_options(run: Run) -> None:
    words = re.findall(r"^fairspace readings ([^#\n]*)", PAGE, re.MULTILINE)
    assert len(words) == 5
    for line in words:
        name = line.split()[0] if line.startswith("label") else "measure" if ".jsonl" in line.split()[0] else "show"
        shown = run("readings", name, "--help")[1]
        assert all(option in shown for option in re.findall(r"--[a-z]+", line)), line
