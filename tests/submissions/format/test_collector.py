from fairspace.submissions.format.faults import CODES, Collector

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
