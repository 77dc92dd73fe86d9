import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.iris.records import QUALITY
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.running.quality.measuring import MeasuredQuality, measure_quality
from fairspace.submissions.running.quality.models import (
    FACE,
    PHOTO,
    Antonyms,
    ClipFeatures,
    DinoFeatures,
    QualityModels,
    open_quality,
)
from tests.builders.models import tiny
from tests.submissions.running.quality import factory
from tests.submissions.running.quality.factory import IDS, PROMPTS, TASK, Stored, stored

COLUMNS = tuple(QUALITY.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    tiny.clip(root / "clip")
    factory.dinov2(root / "dinov2")
    return root


@pytest.fixture(scope="module")
def models(folder: Path) -> QualityModels:
    return opened(folder)


def opened(folder: Path) -> QualityModels:
    clip = f"clip:{folder}/clip"
    return open_quality(iqa=clip, face_iqa=clip, similarity=clip, reference=f"dinov2:{folder}/dinov2", device="cpu")


@pytest.fixture(scope="module")
def whole(models: QualityModels, tmp_path_factory: pytest.TempPathFactory) -> MeasuredQuality:
    root = tmp_path_factory.mktemp("whole")
    rows = stored()
    return measured(root, rows, models)


def measured(root: Path, rows: Sequence[Stored], models: QualityModels, **options: Any) -> MeasuredQuality:
    shards = options.pop("shards", 2)
    place = root / "images"
    if not place.exists():
        factory.images(place, rows, shards, **options.pop("written", {}))
    table = options.pop("annotations", factory.annotated(rows))
    return measure_quality(place, table, PROMPTS, models, cache=root / "cache.sqlite", **options)


def values(found: MeasuredQuality) -> dict[tuple[str, int], tuple[float | None, ...]]:
    rows = found.annotations.to_pylist()
    return {(row["id"], row["sample"]): tuple(row[column] for column in COLUMNS) for row in rows}


def test_every_image_has_four_scores_in_their_ranges(whole: MeasuredQuality) -> None:
    for column in COLUMNS:
        low, high = RANGES[column]
        scores = whole.annotations[column].to_numpy()
        assert ((scores >= low) & (scores <= high)).all()
        assert len(set(scores)) > 6
    assert whole.counts == {
        "images": 12,
        "measured": 12,
        "unreadable": 0,
        "refused": 0,
        "missing": 0,
        "without_face": 0,
        "without_reference": 0,
        "not_annotated": 0,
    }
    assert whole.embedded == 12
    assert set(whole.about) == set(COLUMNS)


def test_all_else_of_the_annotations_stays_as_it_was(whole: MeasuredQuality) -> None:
    before = factory.annotated(stored())
    assert whole.annotations.schema == before.schema
    assert whole.annotations.drop_columns(list(COLUMNS)) == before.drop_columns(list(COLUMNS))


def test_the_scores_are_those_of_the_models(whole: MeasuredQuality, folder: Path) -> None:
    clip, dino = (
        kind(str(folder / name), device="cpu") for kind, name in ((ClipFeatures, "clip"), (DinoFeatures, "dinov2"))
    )
    assert isinstance(clip, ClipFeatures)
    images = [factory.face(n) for n in range(0, 12, 2)]
    seen = np.stack(clip.images(images)).astype(np.float64)
    words = {text: clip.text(text).astype(np.float64) for pair in (*PHOTO, *FACE) for text in pair}

    def share(good: str, bad: str) -> Any:
        return 1 / (1 + np.exp(-clip.scale() * (seen @ words[good] - seen @ words[bad])))

    directions = np.stack(dino.images(images)).astype(np.float64)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    cosines = directions @ directions.T
    prompt = clip.text(
        "a photo of the face of a young light-color skintone female " + IDS[0].split("/")[1].replace("_", " ")
    )
    expected = np.stack(
        [
            share(*PHOTO[0]),
            np.mean([share(*pair) for pair in FACE], axis=0),
            seen @ prompt.astype(np.float64),
            (cosines.sum(axis=1) - 1) / 5,
        ],
        axis=1,
    )
    found = values(whole)
    np.testing.assert_allclose([found[IDS[0], sample] for sample in range(6)], expected, atol=2e-6)  # type: ignore[arg-type]


def test_the_batch_size_changes_nothing(whole: MeasuredQuality, models: QualityModels, tmp_path: Path) -> None:
    again = measured(tmp_path, stored(), models, batch=3)
    assert again.annotations == whole.annotations


def test_order_and_sharding_change_nothing(whole: MeasuredQuality, models: QualityModels, tmp_path: Path) -> None:
    rows = stored()
    mixed = [rows[place] for place in np.random.RandomState(3).permutation(len(rows))]
    found = [
        measured(tmp_path / "a", mixed, models, shards=5, batch=5),
        measured(
            tmp_path / "b",
            mixed,
            models,
            shards=1,
            written={"row_group_size": 3},
            annotations=factory.annotated(rows),
        ),
    ]
    for each in found:
        assert values(each) == values(whole)


def test_the_second_time_no_model_is_loaded(
    whole: MeasuredQuality, folder: Path, models: QualityModels, tmp_path: Path
) -> None:
    measured(tmp_path, stored(), models)
    fresh = opened(folder)
    said: list[tuple[str, int, int]] = []
    again = measured(tmp_path, stored(), fresh, progress=lambda *how: said.append(how))
    assert again.annotations == whole.annotations
    assert again.embedded == 0
    assert isinstance(fresh.similarity, ClipFeatures)
    assert "_model" not in fresh.similarity._clip.__dict__
    assert isinstance(fresh.reference, DinoFeatures)
    assert "_loaded" not in fresh.reference.__dict__


def test_what_has_no_image_is_null_and_counted(models: QualityModels, tmp_path: Path) -> None:
    rows = [
        Stored(IDS[0], 0, factory.png(factory.face(0))),
        Stored(IDS[0], 1, b"\x89PNG\r\n broken"),
        Stored(IDS[0], 2, None, "refused"),
        Stored(IDS[0], 3, factory.png(factory.face(1)), "unreadable"),
        Stored(IDS[0], 5, factory.png(factory.face(2)), "no_face"),
        Stored(IDS[1], 0, factory.png(factory.face(3)), "abstained"),
    ]
    unknown = Stored(IDS[0], 9, factory.png(factory.face(4)))
    factory.images(tmp_path / "images", [*rows, unknown])
    asked = factory.annotated([*rows, Stored(IDS[0], 4, None)])
    found = measured(tmp_path, rows, models, annotations=asked)
    scores = values(found)
    for sample in (1, 2, 3, 4):
        assert scores[IDS[0], sample] == (None,) * 4
    assert None not in scores[IDS[0], 0] + scores[IDS[0], 5]
    assert scores[IDS[1], 0][3] is None
    assert None not in scores[IDS[1], 0][:3]
    assert found.counts == {
        "images": 7,
        "measured": 3,
        "unreadable": 2,
        "refused": 1,
        "missing": 1,
        "without_face": 0,
        "without_reference": 1,
        "not_annotated": 1,
    }
    assert values(measured(tmp_path, rows, models, annotations=asked)) == scores


def test_bytes_that_are_not_those_of_their_hash_are_unreadable(models: QualityModels, tmp_path: Path) -> None:
    place = factory.images(tmp_path / "images", stored(2), 1)
    table = pq.read_table(place / "images-00000-of-00001.parquet")
    wrong = pa.array(["0" * 64, table["sha256"][1].as_py()])
    pq.write_table(table.set_column(3, "sha256", wrong), place / "images-00000-of-00001.parquet")
    found = measured(tmp_path, stored(2), models)
    assert found.counts["unreadable"] == 1
    assert values(found)[IDS[0], 0] == (None,) * 4


def test_no_face_leaves_face_quality_alone_null(tmp_path: Path) -> None:
    sees = factory.Fixed({(48, 48): [1.0, 0.0]})
    faces = factory.Fixed({(48, 48): []}, "blind")
    models = QualityModels(Antonyms(sees, PHOTO), Antonyms(faces, FACE), sees, sees)
    found = measured(tmp_path, stored(4), models)
    assert set(values(found).values()) == {(0.5, None, 1.0, 1.0)}
    assert found.counts["without_face"] == 4


def test_only_face_0_of_the_steer_images_is_filled_in(models: QualityModels, tmp_path: Path) -> None:
    rows = stored(4)
    table = factory.annotated(rows)
    more = table.set_column(3, table.schema.field(3), pa.array([1] * 4, pa.int32()))
    neutral = factory.annotated([each._replace(id="neutral/nurse") for each in rows], "generation_neutral")
    found = measured(tmp_path, rows, models, annotations=pa.concat_tables([table, more, neutral]))
    filled = [row["image_quality"] is not None for row in found.annotations.to_pylist()]
    assert filled == [True] * 4 + [False] * 8
    assert found.counts["images"] == 4


def test_a_column_without_a_model_stays_as_it_is(models: QualityModels, tmp_path: Path) -> None:
    rows = stored(4)
    given = factory.annotated(rows)
    given = given.set_column(given.schema.get_field_index("face_quality"), "face_quality", pa.array([0.25] * 4))
    found = measured(tmp_path, rows, replace(models, face=None, similarity=None), annotations=given)
    assert found.annotations["face_quality"].to_pylist() == [0.25] * 4
    assert found.annotations["prompt_similarity"].null_count == 4
    assert "without_face" not in found.counts
    bare = measured(tmp_path, rows, models, annotations=given.drop_columns(list(COLUMNS)))
    assert values(bare).keys() == values(found).keys()
    assert bare.annotations["image_quality"] == found.annotations["image_quality"]


def test_what_does_not_fit_together_is_said(models: QualityModels, tmp_path: Path) -> None:
    rows = stored(4)
    with pytest.raises(RunError, match=rf"DATA_INVALID at prompts: no prompt of {TASK} steer/none and 0 more"):
        measured(tmp_path, rows, models, annotations=factory.annotated([rows[0]._replace(id="steer/none")]))
    with pytest.raises(RunError, match=r"DATA_INVALID at annotations.*sample 0 twice with face 0"):
        measured(tmp_path, rows, models, annotations=factory.annotated([rows[0], rows[0]]))
    factory.images(tmp_path / "twice/images", [rows[0], rows[0]])
    with pytest.raises(RunError, match=r"DATA_INVALID at images-00001.*sample 0 again"):
        measured(tmp_path / "twice", rows, models)
    with pytest.raises(BuildError, match="SOURCE_MISSING"):
        measure_quality(tmp_path / "none", factory.annotated(rows), PROMPTS, models, cache=tmp_path / "c")


@pytest.mark.parametrize("value", [[0.0, 0.0], [float("nan"), 1.0]])
def test_a_vector_without_direction_is_no_score(tmp_path: Path, value: list[float]) -> None:
    sees = factory.Fixed({(48, 48): value})
    with pytest.raises(RunError, match=r"MODEL_OUTPUT at fixed"):
        measured(tmp_path, stored(4), QualityModels(similarity=sees))
    rows = sqlite3.connect(tmp_path / "cache.sqlite").execute("SELECT count(*) FROM vector").fetchone()
    assert rows == (0,)
