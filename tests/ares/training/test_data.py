import json
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from fairspace.ares.configuration_ares import AGE_GENDER, SKIN_TONE
from fairspace.ares.training.data import Data, drawn_face, open_data
from fairspace.builders.engine.dataset import Split
from fairspace.builders.errors import BuildError
from fairspace.builders.iris_classifier_25.dataset import columns
from tests.ares.hostile import encoded

TASKS = [AGE_GENDER, SKIN_TONE]
PARTS = ("train", "stop", "routers", "calibration", "test")


def test_drawn_faces_hold_every_group_and_swatch_equally_often() -> None:
    faces = [drawn_face("train", number, size=32) for number in range(120)]
    counts = Counter((face.labels["gender"], face.labels["age"], face.monk) for face in faces)
    assert set(counts.values()) == {2}
    assert len(counts) == 60


def test_a_tenth_of_drawn_faces_is_incomplete() -> None:
    share = np.mean([drawn_face("train", number, size=16).incomplete for number in range(600)])
    assert 0.07 < share < 0.13


def test_parts_of_drawn_faces_share_no_image(tmp_path: Path) -> None:
    data = open_data("drawn:60", TASKS, 32, 0, tmp_path)
    seen: set[bytes] = set()
    total = 0
    for part in PARTS:
        faces = data.part(part, "skin_tone")
        rows = np.arange(len(faces.labels["skin_tone"]))
        (pixels,) = faces.batches([rows], 0)
        total += len(rows)
        seen |= {image.numpy().tobytes() for image in pixels}
    assert len(seen) == total == 300


@pytest.mark.parametrize("data", ["drawn:", "drawn:7", "drawn:-60", "nowhere"])
def test_data_that_is_not_there_is_named(tmp_path: Path, data: str) -> None:
    with pytest.raises(BuildError, match="TRAINING_DATA"):
        open_data(data, TASKS, 32, 0, tmp_path)


FACE = 24
SPLITS = {"train": 240, "validation": 60, "test": 24}


def built(folder: Path, splits: Mapping[str, int] = SPLITS, *, spoil: bool = False) -> Path:
    from datasets import Dataset

    cells = list(product(("female", "male"), ("young", "middle-aged", "older"), ("light", "middle", "dark")))
    for config in ("age_gender", "skin_tone"):
        features = Split(config, "", columns(config), ()).features()
        for split, n in splits.items():
            rows = []
            for number in range(n):
                gender, age, tone = cells[number % len(cells)]
                face = drawn_face(f"{config}-{split}", number, size=FACE).image
                data = b"none" if spoil and number == 3 else encoded(face, "PNG")
                real = number % 4 == 0
                row = dict.fromkeys(features) | {
                    "id": f"{config}/{split}/{number}",
                    "image": {"bytes": data, "path": "face.png"},
                    "gender": gender,
                    "age": age,
                    "skin_tone": None if real and config == "age_gender" else tone,
                    "origin": "utkface" if real else "synthetic",
                    "adversarial": False,
                }
                row[config] = tone if config == "skin_tone" else f"{gender}_{age}"
                rows.append(row)
            (folder / config).mkdir(parents=True, exist_ok=True)
            table = Dataset.from_list(rows, features=features)
            table.to_parquet(folder / config / f"{split}-00000-of-00001.parquet")
    manifest = {"dataset": "iris_classifier_25", "revision": "v1", "sample": True}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("data") / "built")


@pytest.fixture(scope="module")
def opened(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Data:
    return open_data(str(folder), TASKS, 32, 0, tmp_path_factory.mktemp("work"))


def test_a_built_folder_is_split_into_disjoint_parts_with_labels(opened: Data) -> None:
    rows = {part: opened.part(part, "age_gender") for part in PARTS}
    sizes = {part: len(faces.labels["age_gender"]) for part, faces in rows.items()}
    assert sizes["train"] + sizes["stop"] == 240
    assert sizes["routers"] + sizes["calibration"] == 60
    assert sizes["test"] == 24
    assert min(sizes.values()) > 0
    train = rows["train"]
    expected = ["young female", "middle-aged female", "older female", "young male", "middle-aged male", "older male"]
    assert AGE_GENDER["labels"] == expected
    assert set(train.labels["age_gender"]) == set(range(6))
    assert (train.labels["skin_tone"] == -1).any()
    assert (opened.part("train", "skin_tone").labels["skin_tone"] >= 0).all()


def test_images_are_the_same_with_and_without_workers(opened: Data) -> None:
    faces = opened.part("test", "skin_tone")
    order = [np.arange(7), np.array([], dtype=int), np.array([20, 3])]
    alone, helped = list(faces.batches(order, 0)), list(faces.batches(order, 2))
    assert [len(batch) for batch in alone] == [7, 0, 2]
    assert all(torch.equal(a, b) for a, b in zip(alone, helped, strict=True))
    assert alone[0].shape == (7, 3, 32, 32)
    assert alone[0].dtype == torch.uint8


def test_an_image_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    faces = open_data(str(built(tmp_path / "built", {"test": 5}, spoil=True)), TASKS, 32, 0, tmp_path / "work")
    part = faces.part("test", "skin_tone")
    with pytest.raises(BuildError, match=r"skin_tone/test/3.*not_an_image"):
        list(part.batches([np.arange(5)], 0))
