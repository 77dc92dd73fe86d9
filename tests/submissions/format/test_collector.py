"""Faults come as a person mends them: file by file, and in a file by line."""

from collections.abc import Callable

import pytest

from fairspace.submissions.format.collector import Collector
from fairspace.submissions.format.faults import CODES
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import Value

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


def test_the_remedy_of_broken_json_holds_for_tables_and_for_submission_json() -> None:
    assert CODES["JSON_SYNTAX"].mend == "use a JSON library; .jsonl has an object per line"
    assert "rename" not in CODES["UNKNOWN_FILE"].mend
    assert ".parquet" in CODES["UNKNOWN_FILE"].mend


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda: Variant.from_json([]), "of type list; expected an object"),  # type: ignore[arg-type]
        (lambda: Variant.from_json({"knid": 1}), "the field 'knid'; expected intervals, kind"),
        (lambda: Variant.from_json({"kind": "odd", "name": "n", "values": {}}), "'odd': expected one of occupation_"),
        (lambda: Value.from_json({"name": "RD", "state": "absent", "reason": "r"}), "'absent'"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_was_expected(read: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("'", ".")):
        read()


def test_an_unknown_method_of_an_interval_is_named() -> None:
    known = Uncertainty("image", 3, 100, 0, 0.1, 0.1, 0.3, "bca", 0.1, 0.3)
    with pytest.raises(ValueError, match="method 'odd': expected one of bca, percentile"):
        Uncertainty.from_json({**known.to_json(), "method": "odd"})
