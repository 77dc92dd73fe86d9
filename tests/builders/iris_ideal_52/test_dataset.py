import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.builders.drawn.sample_sources import write_csv
from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.engine.making import Wanted
from fairspace.builders.engine.tools import PersonBox, Picture, Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_ideal_52.dataset import (
    CELLS,
    DATASET,
    OCCUPATION_RANK,
    check,
    labels_of,
    match,
    occupation_ranks,
    prompt,
    verdicts,
    window,
)
from fairspace.builders.models.detection import SCHEMA, StoredBoxes
from fairspace.builders.publishing.join_images import cropped_jpeg
from tests.builders.builds import Built, Killed, files, rows
from tests.builders.face_fixtures import RED, Painter, Reader
from tests.builders.sources.test_facet import COLUMNS

GENDERS = {"female": "fem", "male": "masc"}
AGES = {"young": "young", "older": "older", "": "na"}
MONK = {"light": 2, "dark": 9}
SIZE = (700, 500)
LEFT, RIGHT = PersonBox(40, 60, 200, 400), PersonBox(400, 50, 250, 440)


@dataclass
class Nurses:
    """Sees the named occupations in every image, one nearer than the other, and all others alike."""

    seen: Sequence[str] = ()
    name: str = "nurses"

    def text_similarity(self, images: Sequence[Image.Image], texts: Sequence[str]) -> list[float]:
        known = {f"work as {name}": 1 - place / 10 for place, name in enumerate(self.seen)}
        return [next((near for words, near in known.items() if words in text), 0.0) for text in texts]

    def image_similarity(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> list[float]:
        raise AssertionError("these builds compare no two images")


@dataclass
class DyingDetector:
    stored: StoredBoxes
    kill_at: str = ""
    seen: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.stored.name

    def detect(self, pictures: Sequence[Picture]) -> list[list[PersonBox]]:
        names = [Path(picture.name).name for picture in pictures]
        if self.kill_at in names:
            raise Killed
        self.seen += names
        return self.stored.detect(pictures)


@dataclass(frozen=True)
class Annotated:
    file: str
    box: PersonBox
    occupation: str = "nurse"
    gender: str = "female"
    age: str = "young"
    skin_tone: str = "dark"
    second: str = ""

    def row(self, number: int) -> dict[str, object]:
        """A line of FACET's annotations."""
        tone = {f"skin_tone_{MONK[self.skin_tone]}": 3} if self.skin_tone else {}
        return tone | {
            "person_id": 1000 + number,
            "filename": self.file,
            "class1": self.occupation,
            "class2": self.second,
            "bounding_box": json.dumps(dict(zip(("x", "y", "width", "height"), self.box, strict=False))),
            f"gender_presentation_{GENDERS[self.gender]}": 1,
            f"age_presentation_{AGES[self.age]}": 1,
        }


def write_boxes(file: Path, boxes: Sequence[tuple[str, PersonBox]]) -> None:
    rows = [{"file": name, **box._asdict()} for name, box in boxes]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), file)


PERSONS = (
    Annotated("000.jpg", LEFT),
    Annotated("000.jpg", RIGHT, "doctor", "male", "older", "light"),
    *(Annotated(f"{n:03}.jpg", LEFT, second="doctor") for n in range(1, 5)),
    Annotated("005.jpg", LEFT, age=""),
    Annotated("006.jpg", LEFT),
    Annotated("007.jpg", LEFT),
    Annotated("007.jpg", RIGHT, skin_tone=""),
    Annotated("008.jpg", PersonBox(0, 0, 384, 384), "farmer"),
)
"""Six nurses of one cell who are detected (0 to 4 and 8 is a farmer), one in an image without detected persons (6), one
whose box is far from any detected one (7), one without age (5), one without skin tone (7).
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("sources")
    annotated = (person.row(number) for number, person in enumerate(PERSONS))
    write_csv(folder / "facet/annotations/annotations.csv", COLUMNS, annotated)
    (folder / "facet/images").mkdir()
    for number in range(9):
        size = (384, 384) if number == 8 else SIZE
        pixels = np.random.RandomState(number).randint(0, 255, (20, 20, 3), np.uint8)
        Image.fromarray(pixels).resize(size).save(folder / f"facet/images/{number:03}.jpg", quality=80)
    near = [(f"images/{n:03}.jpg", LEFT._replace(x=44, score=0.9)) for n in range(6)]
    near += [("images/000.jpg", RIGHT), ("images/007.jpg", RIGHT), ("images/008.jpg", PersonBox(20, 0, 350, 384, 0.99))]
    write_boxes(folder / "boxes.parquet", near)
    return folder


def boxes(source: Path) -> StoredBoxes:
    return StoredBoxes(source / "boxes.parquet")


def rejected(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "review/rejected.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def real(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    out: Path = tmp_path_factory.mktemp("real") / "out"
    return out, build(DATASET, out, source=source, tools=Tools(boxes(source)), options={"per_cell": "3"}, seed=1)


@pytest.fixture(scope="module")
def sample(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Three occupations with two images per cell, made where FACET has none."""
    out: Path = tmp_path_factory.mktemp("sample") / "out"
    makers = Tools(boxes(source), Painter(), labeller=Reader(), matcher=Nurses())
    return out, build(DATASET, out, source=source, tools=makers, sample=True)


def test_boxes_are_matched_one_to_one_the_largest_overlap_first() -> None:
    close, exact = PersonBox(0, 0, 100, 90), PersonBox(0, 0, 100, 100)
    assert match([close, exact], [exact]) == [(None, 0.9), (exact, 1.0)]
    assert match([exact, close], [exact, close]) == [(exact, 1.0), (close, 1.0)]
    assert match([exact], []) == [(None, 0.0)]
    assert match([exact], [PersonBox(60, 0, 100, 100)])[0][0] is None


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        (PersonBox(300, 200, 100, 50), (158, 33, 384, 384)),
        (PersonBox(0, 0, 10, 10), (0, 0, 384, 384)),
        (PersonBox(690, 490, 10, 10), (316, 116, 384, 384)),
        (PersonBox(200, 20, 90.5, 440.2), (25, 20, 441, 441)),
        (PersonBox(10, 10, 680, 480), (100, 0, 500, 500)),
    ],
)
def test_the_window_is_a_square_around_the_box_inside_the_image(box: PersonBox, expected: tuple[int, ...]) -> None:
    assert window(box, *SIZE) == expected


def test_the_prompt_is_c1s_template() -> None:
    assert prompt("disk_jockey/female_young_dark") == (
        "A hyper-realistic close-up photo of the face of a young female dark-colored disk jockey, sharp details, clear "
        "facial features, soft lighting, smooth skin texture, realistic eyes, natural makeup, high-definition quality"
    )
    assert "of an older male light-colored judge," in prompt("judge/male_older_light")


def test_cells_are_the_plans() -> None:
    ids = iris_ideal_52.image_ids("v1").to_pylist()
    assert [f"ideal/{cell}/{place:02d}" for cell in CELLS for place in range(29)] == ids


def test_persons_enter_their_cells_and_the_others_are_logged(real: Built) -> None:
    out, manifest = real
    built = rows(out, "occupation")
    assert [row["id"] for row in built] == [
        "ideal/doctor/male_older_light/00",
        "ideal/farmer/female_young_dark/00",
        *(f"ideal/nurse/female_young_dark/{place:02d}" for place in range(3)),
    ]
    split = manifest.find("occupation", "test")
    assert split is not None
    assert split.joint == {
        "doctor / male / older / light": 1,
        "farmer / female / young / dark": 1,
        "nurse / female / young / dark": 3,
    }
    order = sorted(range(5), key=lambda n: hashlib.sha256(f"1/{1000 + (n and n + 1)}".encode()).digest())[:3]
    assert [row["source_file"] for row in built[2:]] == [f"images/{n:03}.jpg" for n in order]
    reasons = {(line["unit"], line["reason"]) for line in rejected(out)}
    assert reasons == {
        ("facet/1006", "label missing"),
        ("facet/1009", "label missing"),
        ("facet/1007", "no person in the image"),
        ("facet/1008", "person not detected"),
    }
    assert {row["second_occupation"] is None for row in built[:2]} == {True}
    assert all(row["prompt"] is None and row["seed"] is None for row in built)


def test_crops_are_of_the_detected_boxes(real: Built, source: Path) -> None:
    built = rows(real[0], "occupation")
    for row in built:
        data = (source / "facet" / row["source_file"]).read_bytes()
        assert row["source_sha256"] == hashlib.sha256(data).hexdigest()
        crop = tuple(row[f"crop_{side}"] for side in ("x", "y", "width", "height"))
        assert row["image"]["bytes"] == cropped_jpeg(data, crop)
        assert Image.open(BytesIO(row["image"]["bytes"])).size == (384, 384)
    doctor = built[0]
    assert [doctor[f"crop_{side}"] for side in ("x", "y", "width", "height")] == [260, 50, 440, 440]


def test_the_gap_is_what_the_real_images_leave(real: Built) -> None:
    cells = {row["id"]: row for row in rows(real[0], "gap")}
    assert len(cells) == 936
    nurse = cells["gap/nurse/female_young_dark"]
    assert [nurse[name] for name in ("planned", "candidates", "real", "gap", "synthetic")] == [3, 5, 3, 0, 0]
    assert cells["gap/doctor/male_older_light"]["gap"] == 2
    assert sum(row["gap"] for row in cells.values()) == 936 * 3 - 5
    assert any("5 are real and 2803 had to be made" in note for note in real[1].notes)


def test_synthetic_images_fill_the_gap_and_show_what_was_asked(sample: Built) -> None:
    out, manifest = sample
    built = rows(out, "occupation")
    given_up = manifest.rejected.get("gave up", 0)
    assert len(built) == 3 * 18 * 2 - given_up
    assert len({row["id"] for row in built}) == len(built)
    cells = Counter(row["id"].rpartition("/")[0] for row in built)
    assert max(cells.values()) == 2
    assert Counter(row["origin"] for row in built) == {"facet": 4, "synthetic": len(built) - 4}
    for row in built:
        cell = row["id"].removeprefix("ideal/").rpartition("/")[0]
        assert labels_of(cell).items() <= row.items()
        if row["origin"] == "synthetic":
            assert row["prompt"] == prompt(cell)
            assert row["generator"] == "painter"
            assert row["seed"] % 5
            assert row["occupation_rank"] == 1
            red = np.asarray(Image.open(BytesIO(row["image"]["bytes"])))[0, 0, 0]
            assert abs(int(red) - RED * GROUPS.index(cell.partition("/")[2])) < 4
            assert row["source_file"] is None


def test_an_occupation_that_others_are_nearer_than_is_rejected(tmp_path: Path) -> None:
    names = ("nurse", "doctor", "guard", "judge", "waiter", "singer")
    images = [Image.new("RGB", (8, 8))] * 3
    assert occupation_ranks(Nurses(names), images, ["nurse", "waiter", "astronaut"]) == [1, 5, 7]
    assert occupation_ranks(Nurses(names), [], []) == []
    wanted = [Wanted(f"ideal/{name}/female_young_light/00", "") for name in ("nurse", "waiter", "singer")]
    job = BuildJob(None, tmp_path, tools=Tools(labeller=Reader(), matcher=Nurses(names)))
    found = verdicts(job, [Image.new("RGB", (8, 8))] * 3, wanted)
    assert [verdict.reason for verdict in found] == ["", "", "other occupation than asked"]
    assert [verdict.evidence["occupation_rank"] for verdict in found] == [1, OCCUPATION_RANK, OCCUPATION_RANK + 1]
    with pytest.raises(BuildError, match=r"TOOL_MISSING at synthetic images: no labeller or no matcher"):
        verdicts(BuildJob(None, tmp_path, tools=Tools(labeller=Reader())), images, wanted)


def test_a_build_killed_in_detection_goes_on(
    real: Built, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.builders.iris_ideal_52.dataset._BATCH", 2)
    asked: dict[str, Any] = {"source": source, "options": {"per_cell": "3"}, "seed": 1}
    dying, living = DyingDetector(boxes(source), "004.jpg"), DyingDetector(boxes(source))
    with pytest.raises(Killed):
        build(DATASET, tmp_path / "out", tools=Tools(dying), **asked)
    build(DATASET, tmp_path / "out", tools=Tools(living), **asked)
    assert len(living.seen) == 4
    assert files(tmp_path / "out") == files(real[0])


def test_without_facet_and_models_the_tournament_is_left(tmp_path: Path) -> None:
    manifest = build(DATASET, tmp_path / "out")
    assert [split.config for split in manifest.splits] == ["tournament"]
    assert len(manifest.notes) == 2
    rounds = rows(tmp_path / "out", "tournament")
    assert [row["id"] for row in rounds] == iris_ideal_52.tournament_ids("v1").to_pylist()
    last = rounds[35999]
    assert last["prompt"] == iris_ideal_52.tournament_prompts()[35999]
    five = json.loads(last["occupations"])
    assert len(set(five)) == 5
    assert all(name.replace("_", " ") in last["prompt"] for name in five)
    assert f"{last['gender']}_{last['age']}_{last['skin_tone']}" == GROUPS[17]


def test_facet_without_a_detector_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="TOOL_MISSING at FACET: no person detector"):
        build(DATASET, tmp_path / "out", source=source)


def damaged(source: Path, tmp_path: Path, old: str, new: str) -> Path:
    text = (source / "facet/annotations/annotations.csv").read_text()
    assert old in text
    (tmp_path / "facet/annotations").mkdir(parents=True)
    (tmp_path / "facet/images").symlink_to(source / "facet/images")
    (tmp_path / "facet/annotations/annotations.csv").write_text(text.replace(old, new))
    return tmp_path


def test_a_missing_image_is_named(source: Path, tmp_path: Path) -> None:
    broken = damaged(source, tmp_path / "source", "003.jpg", "gone.jpg")
    with pytest.raises(BuildError, match=r"SOURCE_IMAGE at .*facet/images/gone\.jpg: no such file"):
        build(DATASET, tmp_path / "out", source=broken, tools=Tools(boxes(source)))


def test_an_unreadable_image_is_named(source: Path, tmp_path: Path) -> None:
    broken = damaged(source, tmp_path / "source", "003.jpg", "torn.jpg")
    (broken / "facet/other").mkdir()
    (broken / "facet/other/torn.jpg").write_bytes((source / "facet/images/003.jpg").read_bytes()[:300])
    write_boxes(tmp_path / "boxes.parquet", [("other/torn.jpg", LEFT)])
    torn = Tools(detector=StoredBoxes(tmp_path / "boxes.parquet"))
    with pytest.raises(BuildError, match=r"SOURCE_IMAGE at .*facet/other/torn\.jpg"):
        build(DATASET, tmp_path / "out", source=broken, tools=torn)


def test_the_check_finds_cells_that_are_too_full_or_not_filled(real: Built, sample: Built) -> None:
    check(real[1])
    check(sample[1])
    with pytest.raises(BuildError, match="3 images in a cell"):
        check(replace(real[1], options={"per_cell": "2"}))
    fewer = replace(sample[1], rejected={**sample[1].rejected, "gave up": 50})
    with pytest.raises(BuildError, match=r"images\. Expected"):
        check(fewer)
    with pytest.raises(BuildError, match="synthetic images"):
        check(replace(sample[1], tools={}))
    with pytest.raises(ValueError, match="per_cell"):
        check(replace(real[1], options={"per_cell": "none"}))
