"""The authors' report of labels: written by `predict.py`'s own last statement, compiled from a clone."""

import ast
import hashlib
import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.iris.importing import import_iris
from fairspace.submissions.checking.submission import check_submission
from tests.submissions.benchmarks.rows import there

SHA256 = "4e3daf6ea37655055bafdbc65897c46f927e6a49123f687da01292a0684da1ed"
ROWS = [
    {"image_path": "doctor_003.png", "final_age_gender": "middle female", "final_skin_tone": "dark"},
    {"image_path": "doctor_001.png", "final_age_gender": "S1 Failed", "final_skin_tone": "light"},
    {"image_path": "basketball player_7.jpg", "final_age_gender": "Image Load Failed"},
    {
        "image_path": "disk_jockey_1.png",
        "final_age_gender": "L2 Failed",
        "final_skin_tone": "ST Feature Extraction Failed",
    },
]


def report(folder: Path, rows: list[dict[str, str]]) -> Path:
    """The rows as the statement of `predict.py` that saves them writes them."""
    if "FAIRSPACE_IRIS_CLONE" not in os.environ:
        pytest.skip("FAIRSPACE_IRIS_CLONE names no clone of Warren118/IRIS-Benchmark")
    program = (Path(os.environ["FAIRSPACE_IRIS_CLONE"]) / "ares_classifier" / "scripts" / "predict.py").read_bytes()
    assert hashlib.sha256(program).hexdigest() == SHA256
    saves: list[ast.stmt] = [
        node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Expr) and "to_csv" in ast.unparse(node)
    ]
    names = {"pd": pd, "os": os, "Config": SimpleNamespace(OUTPUT_DIR=str(folder)), "final_results": rows}
    exec(compile(ast.Module(saves, []), "predict.py", "exec"), names)
    return folder / "ares_prediction_report.csv"


def test_a_report_of_labels_becomes_neutral_images(tmp_path: Path) -> None:
    checked = check_submission(import_iris([report(tmp_path, ROWS)], tmp_path / "out", model="Bagel"))
    assert checked.ok
    columns = ["id", "sample", "status", "gender", "age", "skin_tone"]
    rows = there(checked.submission).rows("annotations", "generation_neutral").select(columns).to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [
        ("neutral/basketball_player", 0, "unreadable", None, None, None),
        ("neutral/disk_jockey", 0, "abstained", None, None, None),
        ("neutral/doctor", 0, "ok", None, None, "light"),
        ("neutral/doctor", 1, "ok", "female", "middle-aged", "dark"),
    ]


def test_an_image_that_names_no_occupation_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = [*ROWS, {"image_path": "pilot_1.png", "final_age_gender": "young male", "final_skin_tone": "light"}]
    with pytest.raises(BuildError, match=r"SOURCE_VALUE at ares_prediction_report\.csv line 6: image_path 'pilot_1"):
        import_iris([report(tmp_path, rows)], tmp_path / "out")


@pytest.mark.parametrize(
    "columns",
    [
        "image_name,raw_answer",  # raw_vqa_results.csv
        "image_name,raw_answer,mapped_occupation,mapping_method,confidence_score",  # mapped_vqa_results.csv
        "model_name,occupation,image_name,question_type,question,answer",  # *_individual_results.csv
    ],
)
def test_files_without_items_of_ours_are_refused_with_the_reason(tmp_path: Path, columns: str) -> None:
    """Their columns are facts of `run_semantic_mapping.py` and `prepare_bis_data.py`."""
    file = tmp_path / "results.csv"
    file.write_text(f"{columns}\n")
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT .*sums, or answers about pictures that have no id of ours"):
        import_iris([file], tmp_path / "out")
