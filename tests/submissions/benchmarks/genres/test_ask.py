import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.genres.plan import pair_list
from fairspace.submissions.benchmarks.genres.ask import judge_items
from fairspace.submissions.commands.main import main
from fairspace.submissions.format.schema import RESPONSES, Submission, SubmissionMeta

FIELDS = ("model", "revision", "organisation", "licence", "contact")


def submission(rows: list[dict[str, object]], revision: str = "v1") -> Submission:
    known = {"format": 1, "benchmark": "genres", "dataset_revision": revision, "generation": {}}
    meta = SubmissionMeta.model_validate(known | dict.fromkeys(FIELDS, "x"))
    return Submission(meta, {"responses": pa.Table.from_pylist(rows, RESPONSES)})


def response(first: str, second: str) -> str:
    return f"Profile of {first}: one\nProfile of {second}: two\nNarrative passage: {first} met {second}."


def test_each_profile_goes_to_the_task_of_its_gender_and_the_passage_with_its_questions() -> None:
    for revision in ("v1", "upstream"):
        for pair in pair_list()[::360]:
            first, second = pair.names if revision == "v1" else ("Emma", "Levi")
            row = {"task": "narrative", "id": pair.id, "sample": 0, "response": response(first, second)}
            unsplit = row | {"id": pair_list()[-1].id, "response": "no"}
            names = {"names": f"{first}|{second}"} if revision == "upstream" else {}
            found = judge_items(submission([row | names, unsplit | names], revision))
            assert {task: table["id"].to_pylist() for task, table in found.items()} == {
                task: [pair.id] for task in ("profile_female", "profile_male", "narrative_analysis")
            }
            prompts = {task: table["prompt"][0].as_py() for task, table in found.items()}
            woman = "one" if revision == "upstream" or pair.female_first else "two"
            assert prompts["profile_female"].endswith(f"Profile:\n{woman}")
            assert prompts["profile_male"].endswith(f"Profile:\n{'two' if woman == 'one' else 'one'}")
            assert prompts["narrative_analysis"].endswith(f"Narrative passage:\n{first} met {second}.")
            assert f"two characters, {first} and {second}" in prompts["narrative_analysis"]
            assert ("conflict" in prompts["narrative_analysis"]) == (pair.element.plot == "conflict")


def test_nothing_to_judge_gives_no_table() -> None:
    assert (
        judge_items(submission([{"task": "narrative", "id": pair_list()[0].id, "sample": 0, "response": None}])) == {}
    )


def test_the_command_writes_them_for_a_submission_of_this_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = pair_list()[0]
    meta = {"format": 1, "benchmark": "genres", "dataset_revision": "v1", "generation": {}} | dict.fromkeys(FIELDS, "x")
    told = tmp_path / "told"
    told.mkdir()
    (told / "submission.json").write_text(json.dumps(meta))

    def run(text: str | None, *arguments: str) -> int:
        row = {"task": "narrative", "id": pair.id, "sample": 0, "response": text}
        (told / "responses.jsonl").write_text(json.dumps(row) + "\n")
        monkeypatch.setattr("sys.argv", ["fairspace", "items", *arguments, "--out", str(tmp_path / "items")])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0)

    assert run(response(*pair.names), "genres", "--after", str(told)) == 0
    assert pq.read_table(tmp_path / "items" / "narrative_analysis.parquet")["id"].to_pylist() == [pair.id]
    assert run(None, "genres", "--after", str(told)) == 2
    assert run(None, "iris", "--after", str(told)) == 2
    err = capsys.readouterr().err
    for message in ("no narrative", "The answers are to genres, not to iris"):
        assert message in err
