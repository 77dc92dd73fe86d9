import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from datasets import Dataset

import fairspace as fs
from fairspace.answers import submission_of
from fairspace.submissions.format.schema import Submission

BENCHMARK, CORE = "fact_or_fair", "v2-core"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A whole answer to the language model's part of the core, beside the items; every tenth is a refusal."""
    items = fs.items(BENCHMARK, dataset_revision=CORE)
    asked = items[items["task"].str.startswith("llm_")].reset_index(drop=True)
    response: Any = [None if row % 10 == 0 else "AB"[row % 2] for row in range(len(asked))]
    return asked.assign(response=response)


def read(answers: Any, **options: Any) -> Submission:
    return submission_of(answers, BENCHMARK, dataset_revision=CORE, **options)


def faults(answers: Any) -> list[str]:
    with pytest.raises(fs.SubmissionError) as refused:
        read(answers)
    return [f"{fault.code} at {fault.where}" for fault in refused.value.faults]


def test_frame_dataset_rows_and_files_of_any_order_are_one_submission(frame: pd.DataFrame, tmp_path: Path) -> None:
    columns = frame[["id", "response"]]
    lines = "".join(f"{json.dumps(row)}\n" for row in columns.to_dict("records"))
    (tmp_path / "a.jsonl").write_text(lines.replace("NaN", "null"))
    columns.to_parquet(tmp_path / "a.parquet")
    columns.to_csv(tmp_path / "a.csv", index=False)
    kinds = [
        frame.sample(frac=1, random_state=1),
        Dataset.from_pandas(columns),
        columns.to_dict("records"),
        {"responses": columns},
        {"id": columns["id"].tolist(), "response": columns["response"].tolist()},
        *(tmp_path / f"a.{kind}" for kind in ("jsonl", "parquet", "csv")),
    ]
    assert len({read(answers).digest for answers in kinds}) == 1
    held = read(frame)
    assert held.meta.contact == "not stated"
    assert held.tables["responses"]["response"].null_count == -(-len(frame) // 10)


def test_a_saved_submission_has_the_result_of_its_frame_and_no_identity(frame: pd.DataFrame, tmp_path: Path) -> None:
    scored = fs.score(frame, BENCHMARK, dataset_revision=CORE, resamples=0)
    folder = fs.Answers(read(frame)).save(tmp_path / "mine")
    again = fs.score(folder, resamples=0)
    assert again.to_json() == scored.to_json()
    assert scored.scores["average_llm"].state == "value"
    assert {scored.meta[name] for name in ("model", "revision", "organisation", "licence")} == {"not stated"}


def test_faults_are_told_by_row_all_at_once(frame: pd.DataFrame) -> None:
    wrong: Any = frame[["id", "response"]].astype(object)
    wrong.iloc[3, 0] = str(wrong.iloc[3, 0]) + "x"
    wrong.iloc[7, 0] = wrong.iloc[8, 0]
    assert faults(wrong) == ["UNKNOWN_ID at answers row 3", "DUPLICATE_ID at answers row 8"]
    wrong.at[wrong.index[5], "response"] = ["a", "list"]
    assert faults(wrong) == ["WRONG_TYPE at answers row 5"]
    wrong.iloc[4, 0] = None
    assert faults(wrong) == ["NULL_VALUE at answers row 4", "WRONG_TYPE at answers row 5"]


def test_faults_of_a_file_of_lines_are_told_by_line(frame: pd.DataFrame, tmp_path: Path) -> None:
    rows = frame[["id"]].assign(response="A").to_dict("records")
    rows[2]["id"] = "nothing"
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert faults(file) == ["UNKNOWN_ID at mine.jsonl line 3"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (pd.DataFrame({"id": ["a"], "reponse": ["A"]}), r"no column 'response' \(did you mean 'reponse'\?\)"),
        (pd.DataFrame({"id": ["a"], "answer": ["A"]}), r"no column 'response' \(did you mean 'answer'\?"),
        (pd.DataFrame({"response": ["A"]}), "no column 'id'"),
        ({"id": ["a", "b"], "response": ["A"]}, "'response' has 1 values, and 'id' has 2"),
        (["A", "B"], "Row 0 of answers is 'A'"),
        (7, "The answers are int"),
        ("nowhere.jsonl", "nowhere.jsonl cannot be read"),
        ("nowhere", "nowhere"),
    ],
)
def test_what_is_no_answer_is_told_with_what_is_expected(answers: Any, said: str) -> None:
    with pytest.raises(fs.UsageError, match=said):
        fs.score(answers, BENCHMARK)


def test_a_benchmark_must_be_named_and_known(frame: pd.DataFrame) -> None:
    with pytest.raises(fs.UsageError, match="Name the benchmark"):
        fs.score(frame)
    with pytest.raises(fs.UsageError, match=r"fact_or_fiar.*fact_or_fair"):
        fs.score(frame, "fact_or_fiar")


def test_ids_that_two_tasks_have_ask_for_a_column_of_tasks() -> None:
    judged = pd.DataFrame({"id": fs.items("genres")["id"], "judgement": "{}"})
    with pytest.raises(fs.UsageError, match="Add a column 'task': profile_female and profile_male have the same ids"):
        submission_of(judged, "genres")
    held = submission_of(judged.assign(task="profile_male"), "genres", judge="mistral")
    assert held.meta.judge is not None
    assert (held.meta.judge.name, held.tables["judgements"].num_rows) == ("mistral", len(judged))


def test_annotations_need_no_labeller_by_name() -> None:
    images = fs.items("fact_or_fair", "t2i_objective")
    held = submission_of(images.assign(status="ok", gender="female", faces=1), "fact_or_fair")
    assert held.meta.labels is not None
    assert held.tables["annotations"].num_rows == len(images) == 38 * 20
