from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from fairspace.builders.drawn.sample_sources import FACET_OCCUPATIONS, UTKFACE_AGES, write_sample_sources
from fairspace.builders.drawn.tools import DrawnDetector, measure
from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.tools import Picture
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_ideal_52.persons import match
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.models.detection import StoredBoxes
from fairspace.builders.sources import SOURCES, facet
from fairspace.builders.sources import faces as fairface
from fairspace.builders.sources import faces as mst_e
from fairspace.builders.sources import faces as utkface
from fairspace.builders.sources.model_images import NEUTRAL, STEER, ImageReader, ModelStore


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sources")
    write_sample_sources(place)
    return place


def test_every_source_is_there_and_small(folder: Path) -> None:
    assert all(source.found(folder) for source in SOURCES.values())
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 8_000_000


def test_facet_has_persons_whom_a_detector_finds(folder: Path) -> None:
    persons = list(facet.persons(folder / "facet"))
    assert {person.occupations[0] for person in persons} == set(FACET_OCCUPATIONS)
    assert any(len(person.occupations) == 2 for person in persons)
    assert any(not person.age for person in persons)
    assert all(person.gender and person.skin_tone for person in persons)
    files = sorted({person.file for person in persons})
    assert max(Counter(person.file for person in persons).values()) == 3
    pictures = [Picture(file, folder / "facet" / file) for file in files]
    drawn = DrawnDetector().detect(pictures)
    stored = StoredBoxes(folder / "facet/boxes.parquet").detect(pictures)
    missed = 0
    for file, found, kept in zip(files, drawn, stored, strict=True):
        boxes = [person.box for person in persons if person.file == file]
        assert all(box for box, _ in match(boxes, found))
        missed += sum(box is None for box, _ in match(boxes, kept))
    assert missed == 1


def test_facet_shows_what_its_annotations_say(folder: Path) -> None:
    for person in list(facet.persons(folder / "facet"))[::4]:
        image = Picture(person.file, folder / "facet" / person.file).open()
        middle = person.box.x + person.box.width / 2
        face = min(measure(image), key=lambda face: abs(face.x - middle))
        assert (face.gender, face.skin_tone) == (person.gender, person.skin_tone)
        assert person.age in (face.age, "")


def test_fairface_has_every_bucket_and_repaired_damage(folder: Path) -> None:
    train, val = (list(fairface.faces(folder / "fairface", "train")), list(fairface.faces(folder / "fairface", "val")))
    assert {face.bucket for face in train} == {face.bucket for face in val} == set(fairface.BUCKETS)
    assert {face.race for face in train} == set(fairface.FAIRFACE_RACES)
    assert {face.damaged for face in train + val} - {""} == {"9-Mar", "19-Oct"}
    for face in (train + val)[::9]:
        (shown,) = measure(Image.open(folder / "fairface" / face.file))
        assert shown.gender == face.gender
        assert face.age in (shown.age, "")


def test_utkface_has_two_faces_of_each_cell_and_broken_names(folder: Path) -> None:
    scan = utkface.scan(folder / "utkface")
    cells = Counter((face.age, face.gender, face.race) for face in scan.faces)
    assert len(cells) == len(UTKFACE_AGES) * 2 * 4
    assert set(cells.values()) == {2}
    assert scan.skipped == {"missing part": 2, "age": 1, "date and time": 1}


def test_mst_e_has_all_tones_and_leaves_a_video_out(folder: Path) -> None:
    images = list(mst_e.images(folder / "mst_e"))
    assert len({image.subject for image in images}) == 10
    assert not any(image.file.endswith(".mp4") for image in images)
    for image in images[::5]:
        (shown,) = measure(Image.open(folder / "mst_e" / image.file))
        assert shown.skin_tone == image.skin_tone


def test_models_have_images_for_their_annotations(folder: Path, tmp_path: Path) -> None:
    store = ModelStore(Job(folder, tmp_path), folder / "models")
    assert [model.key for model in store.models] == ["drawn-a", "drawn-b"]
    cells = [(model, item) for model in range(2) for item in range(len(store.ids[STEER]))]
    made = {task: store.select(task, cells) for task in (NEUTRAL, STEER)}
    assert {one.status for task in made for one in made[task]} == {"ok", "no_face", "refused"}
    assert all((one.image is None) == (one.status == "refused") for task in made for one in made[task])
    image = made[NEUTRAL][0].image
    assert image is not None
    data, suffix = ImageReader().read(image)
    assert (hashlib.sha256(data).hexdigest(), suffix) == (image.sha256, "jpg")
    for number in range(2):
        counts = store.neutral_counts(number)
        assert counts.shape == (len(OCCUPATIONS), len(GROUPS))
        asked = {
            iris_steer_60.steer_id(occupation, group, wanted)
            for occupation, group in iris_steer_60.steer_plan(counts)
            for wanted in (group, *iris_steer_60.counter_groups(group))
        }
        assert {store.ids[STEER][one.item].as_py() for one in made[STEER] if one.model == number} == asked
