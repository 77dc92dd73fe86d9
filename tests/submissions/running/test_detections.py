import hashlib
import json
import os
import re
import runpy
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair.plan import ids
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.running.zero_shot import FAIRFACE_COLUMNS, LAYOUTS, read_detections
from tests.submissions.running.test_running_page import PAGE
from tests.test_ares_submission import drawn, submission

Run = Callable[..., tuple[int, str, str]]
FOREIGN = Path(__file__).parents[2] / "foreign"
HEAD = "face_name_align,race,race4,gender,age,race_scores_fair,race_scores_fair_4,gender_scores_fair,age_scores_fair"
A, B = "a" * 64, "b" * 64
PNG = f"{A}.png"
RACES = ("White", "Black", "Latino_Hispanic", "East Asian", "Southeast Asian", "Indian", "Middle Eastern")
BUCKETS = ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70+")
"""Words of FairFace's predict.py at 74b4f93, in the order of its probabilities."""
GROUPS = dict(zip(RACES, ("White", "Black", "Hispanic", "Asian", "Asian"), strict=False))


def fairface(*rows: str, scores: str = "0.1 0.1 0.1 0.1 0.1\n 0.1 0.4") -> str:
    """Rows as predict.py writes them, whose scores span lines."""
    return "\n".join([HEAD, *(f'{row},"[{scores}]",[0.9],[0.5 0.5],[0.1]' for row in rows)]) + "\n"


FACE = f"detected_faces/{A}_face0.png,Southeast Asian,Asian,Female,60-69"
INDIAN = FACE.replace("Southeast Asian", "Indian")
DEEPFACE = {
    version: json.loads((FOREIGN / "deepface" / f"deepface-{version}.json").read_text(encoding="utf-8"))
    for version in ("0.0.75", "0.0.103")
}
UNIFACE = json.loads((FOREIGN / "uniface" / "uniface-4.2.1.json").read_text(encoding="utf-8"))
UNIFACE_FACE = next(face for faces in UNIFACE.values() for face in faces)
NO_FACES: tuple[Any, ...] = (3, "x", {}, [3], [None], UNIFACE_FACE)
NO_BOXES: tuple[Any, ...] = ([], [1.5], [1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 3, "4"], {"x": 1}, 7)
OTHERS: tuple[Any, ...] = ([UNIFACE_FACE] * 2, [UNIFACE_FACE | {"gender": 0}], [])
COFFEE, ASTRONAUT, TWICE = (Path(file).stem for file in DEEPFACE["0.0.75"]["default"])
ANALYSIS = DEEPFACE["0.0.103"]["default"][f"to-label/{ASTRONAUT}.png"][0]


def labels(layout: str, said: object, folder: Path, *images: str, **settings: str) -> list[Any]:
    text = said if isinstance(said, str) else json.dumps(said)
    (folder / "file").write_text(text, encoding="utf-8")
    found = read_detections(layout, str(folder / "file"), **settings)
    return [faces and [face.labels for face in faces] for faces in found.open().label(images or [A, B])]


def clone() -> Path:
    folder = os.environ.get("FAIRSPACE_FAIRFACE_CLONE")
    if not folder:
        pytest.skip("FAIRSPACE_FAIRFACE_CLONE does not name a clone of dchen236/FairFace")
    return Path(folder)


def test_the_output_that_fairfaces_authors_publish_is_read_whole(tmp_path: Path) -> None:
    """Their pictures have names; ours are named by their hash."""
    text = (clone() / "test_outputs.csv").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "04aa9f574c4e2426f10f85959edc252a303788d3fa58b6a7759137d8537f4055"
    hashes = {each.stem: hashlib.sha256(each.read_bytes()).hexdigest() for each in (clone() / "test").iterdir()}
    named = re.sub(r"(race_\w+)(_face0)", lambda match: hashes[match[1]] + match[2], text.decode())
    (faces,) = zip(*labels("fairface", named, tmp_path, *hashes.values()), strict=True)
    said = {name.removeprefix("race_"): face for name, face in zip(hashes, faces, strict=True)}
    assert {name: (face["race"], face["age"]) for name, face in said.items()} == {
        "Asian": ("Asian", "young"),
        "Black": ("Black", "young"),
        "Latino": ("Hispanic", "young"),
        "Middle_Eastern": ("White", "young"),
        "White": ("White", ""),
    }


def test_the_words_are_those_of_fairfaces_program() -> None:
    program = (clone() / "predict.py").read_text(encoding="utf-8")
    said: dict[str, tuple[str, ...]] = dict.fromkeys(("race", "age"), ())
    for number, column, word in re.findall(r"== (\d+), '(race|age)'\] = '(.*)'", program):
        assert int(number) == len(said[column])
        said[column] += (word,)
    assert said == {"race": RACES, "age": BUCKETS}


def test_every_word_of_fairface_is_read_also_as_a_spreadsheet_saved_it(tmp_path: Path) -> None:
    for race, gender, age in product(RACES, ("Female", "Male"), (*BUCKETS, "Oct-19", "9-Mar")):
        (((said,), _)) = labels("fairface", fairface(f"d/{A}_face0.png,{race},x,{gender},{age}"), tmp_path)
        assert said["gender"] == gender.lower()
        assert said["age"] == {"70+": "older", "60-69": "", "50-59": "middle-aged", "40-49": "middle-aged"}.get(
            age, "young"
        )
        assert said["race"] == GROUPS.get(race, "White")


def test_race_is_the_likeliest_of_four_as_the_authors_program_takes_it(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for chances in random.dirichlet(np.ones(7), 200).astype(np.float32):
        word, ranked = RACES[chances.argmax()], [RACES[place] for place in np.argsort(chances)[::-1]]
        text = fairface(f"{A}_face0.png,{word},x,Male,20-29", scores=str(chances).strip("[]"))
        percent = {
            "asian": chances[3:5].max(),
            **{name.replace("_", " ").lower(): p for name, p in zip(RACES, chances, strict=True)},
        }
        kept = {name: str(100 * share) for name, share in percent.items() if " asian" not in name}
        dominant = max(percent, key=percent.__getitem__)
        analysis = {"race": kept, "dominant_race": "asian" if " asian" in dominant else dominant}
        expected = next(GROUPS[name] for name in ranked if name in GROUPS)
        for layout, said in (("fairface", text), ("deepface", {f"{A}.png": analysis})):
            (((face,), _)) = labels(layout, said, tmp_path)
            assert face["race"] == expected
            ((face,), _) = labels(layout, said, tmp_path, race="omb")
            assert face["race"] == {"Indian": "Asian", "Middle Eastern": "White"}.get(word, GROUPS.get(word))
    read = (
        read_detections("deepface", str(tmp_path / "file")),
        read_detections("deepface", str(tmp_path / "file"), race="omb"),
    )
    assert [each.name for each in read] == ["deepface", "deepface?race=omb"]
    assert read[0].sha256 != read[1].sha256


def test_what_uniface_wrote_is_read(tmp_path: Path) -> None:
    """Race is the likeliest of four, past its own word; `omb` needs no probabilities."""
    read = labels("uniface", UNIFACE, tmp_path, *(Path(file).stem for file in UNIFACE))
    assert [[tuple(face.values()) for face in faces] for faces in read] == [
        [("male", "young", "Asian")],
        [],
        [("male", "young", "Asian"), ("female", "young", "Asian")],
        [("male", "middle-aged", "Asian")],
        [("male", "middle-aged", "Asian")],
        [("male", "young", "Hispanic")],
    ]
    (file, (face,)), *_ = UNIFACE.items()
    assert face["race"] == "Indian"
    without = {file: [{name: fact for name, fact in face.items() if name != "race_scores"}], f"{A}.png": None}
    with pytest.raises(BuildError, match=r"'Indian', with 'None'.*race_scores.*or name the variant"):
        labels("uniface", without, tmp_path)
    assert labels("uniface", without, tmp_path, Path(file).stem, A, race="omb")[1] is None


@pytest.mark.parametrize("version", DEEPFACE)
def test_what_deepface_wrote_is_read(version: str, tmp_path: Path) -> None:
    """Without a detected face its error says so; before 0.0.76 a dict with one face, then a list of all."""
    said = labels("deepface", DEEPFACE[version]["default"], tmp_path, COFFEE, ASTRONAUT, TWICE, A)
    assert [each and len(each) for each in said] == [[], 1, 1 if version == "0.0.75" else 2, None]
    assert {face["gender"] for each in said for face in each or ()} <= {"female", "male"}
    assert {face["race"] for each in said for face in each or ()} <= {"Asian", "Black", "White", "Hispanic"}
    assert {face["age"] for each in said for face in each or ()} == {"middle-aged"}


def test_the_whole_image_that_deepface_takes_without_a_face_is_none(tmp_path: Path) -> None:
    said = labels("deepface", DEEPFACE["0.0.103"]["enforce_detection=False"], tmp_path, COFFEE, ASTRONAUT)
    assert [len(each) for each in said] == [0, 1]
    with pytest.raises(BuildError, match=r"3 with face_confidence 0.*detector_backend='skip'"):
        labels("deepface", DEEPFACE["0.0.103"]["skip"], tmp_path)
    as_text = json.dumps(DEEPFACE["0.0.103"]["enforce_detection=False"]).replace(": 0.0", ': "0"')
    assert labels("deepface", as_text, tmp_path, COFFEE, ASTRONAUT) == said


@pytest.mark.parametrize(
    ("entry", "faces"),
    [
        (ANALYSIS, 1),
        ([[ANALYSIS]], 1),
        ({"results": [ANALYSIS]}, 1),
        ({"instance_1": ANALYSIS}, 1),
        ([ANALYSIS, ANALYSIS], 1),
        (json.loads(json.dumps(ANALYSIS), parse_float=str, parse_int=str), 1),
        ([], 0),
        ({"error": "Face could not be detected in x.png"}, 0),
        ({"error": "Exception while analyzing: cannot read x.png"}, None),
        ("MemoryError()", None),
        (None, None),
        ([None], None),
    ],
)
def test_an_entry_is_faces_no_face_or_missing(entry: object, faces: int | None, tmp_path: Path) -> None:
    ((found, _)) = labels("deepface", {f"in/{A}.png": entry, f"{B}.jpg": [ANALYSIS]}, tmp_path)
    assert (found if found is None else len(found)) == faces


def test_a_face_that_stands_there_twice_is_one(tmp_path: Path) -> None:
    found, _ = labels("fairface", fairface(FACE, FACE, FACE.replace("_face0", "_face1")), tmp_path)
    assert len(found) == 2
    again = {f"in/{A}.png": [ANALYSIS], f"out/{A}.png": [ANALYSIS], f"{B}.png": [ANALYSIS]}
    assert [len(each) for each in labels("deepface", again, tmp_path)] == [1, 1]
    with_missing = {f"in/{A}.png": [UNIFACE_FACE], f"out/{A}.png": [UNIFACE_FACE], f"later/{A}.png": None}
    assert [faces and len(faces) for faces in labels("uniface", with_missing, tmp_path)] == [1, None]


@pytest.mark.parametrize(
    ("layout", "said", "message"),
    [
        ("fairface", "file,race\n", "SOURCE_LAYOUT at .*file:1: no column face_name_align, gender, age"),
        ("fairface", HEAD, "SOURCE_LAYOUT at .*no rows"),
        ("fairface", fairface(FACE.replace("Southeast ", "South ")), "line 3: 'South Asian'. Expected: one of East"),
        ("fairface", fairface(FACE.replace("60-69", "61")), "SOURCE_VALUE at file, line 3: the age '61'"),
        ("fairface", fairface(FACE, FACE.replace("Female", "Male")), "again, with other labels"),
        ("fairface", fairface(FACE) + FACE, "5 cells. Expected: 9"),
        ("fairface", f"{','.join(FAIRFACE_COLUMNS)}\n{A}.png,Indian,Male,3-9\n", "'Indian', with ''.*race_scores_fair"),
        ("deepface", {PNG: {"dominant_race": "indian"}}, "with 'None'.*or name the variant"),
        ("deepface", {"instance_1": ANALYSIS}, "SOURCE_LAYOUT at file: dict without names of files"),
        ("deepface", {f"a/{A}.png": [ANALYSIS], PNG: [ANALYSIS] * 2}, "again, with other faces"),
        ("deepface", f'{{"{A}.png": [], "{A}.png": 1}}', "stands there twice"),
        ("deepface", {PNG: [], f"{B}.png": None}, "no face: 1 without a face, 1 null or an error"),
        ("fairface", fairface(FACE.replace(A, "cat")), "the file 'detected_faces/cat_face0.png'. Expected: <sha256"),
        ("deepface", "[", "SOURCE_LAYOUT at file: no JSON"),
        ("fairface", fairface(FACE + "a" * 140_000), "SOURCE_LAYOUT at .*field larger"),
        ("deepface", "[" * 100_000, "SOURCE_LAYOUT at file: no JSON"),
        ("deepface", {PNG: [ANALYSIS | {"age": float("nan")}]}, "found NaN. Expected: a finite"),
        ("deepface", {PNG: [ANALYSIS | {"region": {"x": "1e9"}}]}, "'1e9'. Expected: a number"),
        ("deepface", "[]", "SOURCE_LAYOUT at file: list"),
        ("uniface", "[]", "SOURCE_LAYOUT at file: list"),
        ("uniface", {PNG: [{"gender": 1, "race": None}]}, "a face without gender or race"),
        ("uniface", {PNG: [{"gender": 2, "race": "White"}]}, "'2'. Expected: one of 0, 1"),
        ("uniface", {PNG: []}, "no face: 1 without a face"),
        *(
            ("uniface", {PNG: entry}, f"SOURCE_LAYOUT at file, {PNG}: a face without gender or race")
            for entry in NO_FACES
        ),
        *(
            ("uniface", {PNG: [UNIFACE_FACE | {"bbox": box}]}, "SOURCE_LAYOUT at file, a.*: the bbox")
            for box in NO_BOXES
        ),
        *(("uniface", {f"a/{PNG}": [UNIFACE_FACE], f"b/{PNG}": faces}, "again, with other faces") for faces in OTHERS),
        *(("uniface", {PNG: [UNIFACE_FACE | {"race_scores": [0.1] * n}]}, "'Indian', .*all 7") for n in (4, 5, 6, 8)),
        *(("fairface", fairface(INDIAN, scores="0.1 " * n), "'Indian', .*all 7") for n in (4, 5, 6, 8)),
        ("deepface", {PNG: [{"age": 3}]}, "an analysis without labels"),
        ("deepface", {PNG: [ANALYSIS | {"dominant_race": 3}]}, "3. Expected: one of asian"),
    ],
)
def test_what_is_no_output_of_the_detector_is_refused(layout: str, said: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=message):
        labels(layout, said, tmp_path)


def stand_in_for_uniface(face: dict[str, Any]) -> dict[str, Any]:
    """Modules with the calls of the page's recipe; each image has that face, whose scores are those it had."""
    written = json.dumps({name: fact for name, fact in face.items() if name != "race_scores"})

    class FairFace:
        def postprocess(self, prediction: Any) -> Any:
            return prediction

    class FaceAnalyzer:
        def __init__(self, *, recognizer: None, predictors: list[Any]) -> None:
            self.predictors = predictors

        def analyze(self, image: str) -> list[Any]:
            self.predictors[0].postprocess([[np.log(face["race_scores"])]])
            return [SimpleNamespace(to_json=lambda: written)]

    return {
        "cv2": SimpleNamespace(imread=str),
        "uniface": SimpleNamespace(FairFace=FairFace, FaceAnalyzer=FaceAnalyzer),
        "uniface.common": SimpleNamespace(softmax=np.exp),
    }


@pytest.mark.slow
def test_race_is_scored_from_a_detectors_output(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    submission(tmp_path / "mine", "fact_or_fair")
    (tmp_path / "to-label").mkdir()
    real = ANALYSIS | {name: {k: np.float32(v) for k, v in ANALYSIS[name].items()} for name in ("race", "gender")}
    monkeypatch.setitem(sys.modules, "deepface", SimpleNamespace(DeepFace=SimpleNamespace(analyze=lambda *_: [real])))
    recipes = stand_in_for_uniface(UNIFACE_FACE)
    for name, module in recipes.items():
        monkeypatch.setitem(sys.modules, name, module)
    for text in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        if "to-label" in text:
            (tmp_path / "write.py").write_text(text, encoding="utf-8")
            runpy.run_path(str(tmp_path / "write.py"))
    files = sorted((tmp_path / "to-label").iterdir())
    races = ("East Asian", "Black", "White", "Latino_Hispanic")
    rows = [f"{each.stem}_face0.png,{races[n % 4]},x,Female,20-29" for n, each in enumerate(files) if n % 5]
    (tmp_path / "faces.csv").write_text(fairface(*rows, f"{A}_face0.png,White,x,Male,70+"), encoding="utf-8")
    assert list(LAYOUTS) == ["fairface", "uniface", "deepface"]

    def done(line: str, code: int = 0) -> str:
        ended, out, err = run(*line.split())
        assert ended == code, err
        return out + err

    said = done("import fairface faces.csv --submission mine --out labelled")
    assert re.search(r"faces\.csv has (\d+) faces in \1 images, 0 images without a face, 0 that were not anal", said)
    assert re.search(r"it does not name \d of 38 images here: missing", said)
    table = read_submission(tmp_path / "labelled").tables["annotations"].to_pylist()
    assert {row["race"] for row in table} == {None, "Asian", "Black", "White", "Hispanic"}
    assert {row["status"] for row in table} == {"ok", "unreadable", "refused"}, "what no row names is missing"
    (tmp_path / "other.csv").write_text(fairface(f"{A}_face0.png,White,x,Male,70+"), encoding="utf-8")
    assert "some of the 38 images here" in done("import fairface other.csv --submission mine --out none", 1)
    done("import uniface uniface.json --submission mine --out labelled-by-uniface")
    done("import deepface faces.json --submission mine --out labelled-by-deepface")
    groups = []
    for words in (
        "labelled",
        "mine --labeller fairface:faces.csv",
        "mine --labeller deepface:faces.json?version=0.0.103",
        "mine --labeller deepface:faces.json?race=omb",
        "mine --labeller uniface:uniface.json?version=4.2.1",
    ):
        done(f"score {words} --resamples 0 --out result.json")
        result = load_result(tmp_path / "result.json")
        groups.append((scored_row(result, result.standard).group.rpartition(", ")[2], result.signature["labels"]))
        assert result.values["entropy_t2i_objective_race"].valid > 20
    assert groups[0] == groups[1] == ("labelled by fairface", "fairface@not stated")
    assert groups[2] == ("labelled by deepface", "deepface@0.0.103")
    assert groups[3] == ("labelled by deepface?race=omb", "deepface?race=omb@not stated")
    assert groups[4] == ("labelled by uniface", "uniface@4.2.1")


@pytest.mark.slow
def test_a_folder_of_pictures_is_labelled_with_the_benchmarks_ids_and_handed_in(run: Run, tmp_path: Path) -> None:
    item = ids("t2i_objective")[0].as_py()
    files = [tmp_path / "mine" / item / f"{number}.png" for number in range(2)]
    files[0].parent.mkdir(parents=True)
    for number, file in enumerate(files):
        file.write_bytes(drawn(number))
    said = {f"{hashlib.sha256(file.read_bytes()).hexdigest()}.png": [ANALYSIS] for file in files}
    (tmp_path / "faces.json").write_text(json.dumps(said), encoding="utf-8")
    for command in ("check", "score --ares nowhere"):
        code, out, err = run(*command.split(), tmp_path / "mine")
        assert (code > 0, "PICTURES" in out + err, "UNKNOWN_FILE" in out + err) == (True, True, False)
    labeller = ("--labeller", f"deepface:{tmp_path / 'faces.json'}", "--names", "fact_or_fair@v2")
    words = ("ares", "annotate", tmp_path / "mine", *labeller, "--out")
    code, _, err = run(*words, tmp_path / "o")
    assert code == 0, err
    handed = read_submission(tmp_path / "o")
    assert (handed.meta.model, handed.tables["annotations"]["id"].to_pylist()) == ("not stated", [item, item])
    files[0].parent.rename(files[0].parent.with_name("middling"))
    assert re.search(r"SOURCE_VALUE.*the id '.*middling'", run(*words, tmp_path / "p")[2])
