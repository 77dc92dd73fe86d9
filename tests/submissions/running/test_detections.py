from __future__ import annotations

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.builders.errors import BuildError
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.commands.app import app
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.running.detections import LAYOUTS, read_detections
from tests.submissions.running.test_running_page import PAGE
from tests.test_ares_submission import submission

HEAD = "face_name_align,race,race4,gender,age,race_scores_fair,race_scores_fair_4,gender_scores_fair,age_scores_fair"
A, B = "a" * 64, "b" * 64


def fairface(*rows: str) -> str:
    """Rows as predict.py writes them, whose scores span lines."""
    return "\n".join([HEAD, *(f'{row},"[0.9\n 0.1]",[0.9],[0.5 0.5],[0.1]' for row in rows)]) + "\n"


FACE = f"detected_faces/{A}_face0.png,Southeast Asian,Asian,Female,60-69"
ANALYSIS = {"age": 44, "region": {"x": 1, "y": 2, "w": 30, "h": 40, "left_eye": None}, "face_confidence": 0.93}
ANALYSIS |= {"dominant_gender": "Woman", "dominant_race": "latino hispanic", "gender": {"Woman": 99.1, "Man": 0.9}}


def labels(layout: str, text: str, tmp_path: Path) -> list[list[Mapping[str, str]]]:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    found = read_detections(layout, str(tmp_path / "file"))
    return [[face.labels for face in faces] for faces in found.open().label([A, B])]


def test_the_words_of_both_detectors_become_the_formats(tmp_path: Path) -> None:
    other = f"detected_faces/{A}_face1.png,Middle Eastern,White,Male,more than 70"
    said = labels("fairface", fairface(FACE, other), tmp_path)
    assert said == [
        [{"gender": "female", "age": "", "race": "Asian"}, {"gender": "male", "age": "older", "race": "White"}],
        [],
    ]
    unsure = ANALYSIS | {"face_confidence": 0}
    said = labels("deepface", json.dumps({f"in/{A}.png": [ANALYSIS], f"{B}.jpg": unsure}), tmp_path)
    assert said == [[{"gender": "female", "age": "middle-aged", "race": "Hispanic"}], []]


@pytest.mark.parametrize(
    ("layout", "text", "message"),
    [
        ("fairface", "file,race\n", "SOURCE_LAYOUT at file: no column face_name_align, gender, age"),
        ("fairface", HEAD, "SOURCE_LAYOUT at .*no face"),
        ("fairface", fairface(FACE.replace("Southeast ", "South ")), "line 3: 'South Asian'. Expected: one of East"),
        ("fairface", fairface(FACE.replace(A, "cat")), "the file 'detected_faces/cat_face0.png'. Expected: <sha256"),
        ("deepface", "[", "SOURCE_LAYOUT at file: no JSON"),
        ("fairface", fairface(FACE + "a" * 140_000), "SOURCE_MISSING at .*field larger"),
        ("deepface", "[" * 100_000, "SOURCE_LAYOUT at file: no JSON"),
        ("deepface", json.dumps({f"{A}.png": [ANALYSIS | {"age": float("nan")}]}), "nan. Expected: a number"),
        ("deepface", json.dumps({f"{A}.png": [ANALYSIS | {"region": {"x": "1e9"}}]}), "'1e9'. Expected: a number"),
        ("deepface", "[]", "SOURCE_LAYOUT at file: list"),
        ("deepface", json.dumps({f"{A}.png": [{"age": 3}]}), "an analysis without labels"),
        ("deepface", json.dumps({f"{A}.png": [ANALYSIS | {"dominant_race": 3}]}), "3. Expected: one of asian"),
    ],
)
def test_what_is_no_output_of_the_detector_is_refused(layout: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=message):
        labels(layout, text, tmp_path)


@pytest.mark.slow
def test_race_is_scored_from_a_detectors_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    submission(tmp_path / "mine", "fact_or_fair")
    (script,) = (text for text in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "to-label" in text)
    (tmp_path / "write.py").write_text(script, encoding="utf-8")
    (tmp_path / "to-label").mkdir()
    runpy.run_path(str(tmp_path / "write.py"))
    files = sorted((tmp_path / "to-label").iterdir())
    races = ("East Asian", "Black", "White", "Latino_Hispanic")
    rows = [f"{each.stem}_face0.png,{races[n % 4]},x,Female,20-29" for n, each in enumerate(files) if n % 5]
    (tmp_path / "faces.csv").write_text(fairface(*rows), encoding="utf-8")
    analyses = {each.name: ANALYSIS for each in files}
    (tmp_path / "faces.json").write_text(json.dumps(analyses), encoding="utf-8")
    assert list(LAYOUTS) == ["fairface", "deepface"]

    def done(line: str) -> str:
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0, f"{result.output}{result.exception}"
        return result.output

    done("import fairface faces.csv --submission mine --out labelled")
    table = read_submission(tmp_path / "labelled").tables["annotations"].to_pylist()
    assert {row["race"] for row in table} == {None, "Asian", "Black", "White", "Hispanic"}
    assert {row["status"] for row in table} >= {"ok", "no_face", "unreadable"}
    groups = []
    for words in (
        "labelled",
        "mine --labeller fairface:faces.csv",
        "mine --labeller deepface:faces.json?version=0.0.96",
    ):
        done(f"score {words} --resamples 0 --out result.json")
        result = load_result(tmp_path / "result.json")
        groups.append((scored_row(result, result.standard).group.rpartition(", ")[2], result.signature["labels"]))
        assert result.values["entropy_t2i_objective_race"].valid > 20
    assert groups[0] == groups[1] == ("labelled by fairface", "fairface@not stated")
    assert groups[2] == ("labelled by deepface", "deepface@0.0.96")
