import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import counter_groups, steer_ids, steer_prompt
from fairspace.submissions.benchmarks.iris.records import QUALITY, STEER
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.format.schema import ANNOTATIONS, RANGES
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.images.generating import _rate
from fairspace.submissions.running.quality.measuring import (
    MeasuredQuality,
    fill_quality,
    measure_quality,
    steer_prompts,
)
from fairspace.submissions.running.quality.models import (
    FACE,
    PHOTO,
    Antonyms,
    ClipFeatures,
    DinoFeatures,
    Measure,
    PromptSimilarity,
    References,
    ReferenceSimilarity,
    Vectors,
    cosine,
    image_key,
    mean_to,
    open_quality,
)
from fairspace.submissions.running.settings import RunSettings, RunSteps
from tests.submissions.running.quality import factory
from tests.submissions.running.quality.factory import IDS, PROMPTS, TASK, Fixed, Stored, stored

COLUMNS = tuple(QUALITY.values())


@pytest.fixture(scope="module")
def models(features: Path) -> list[Measure]:
    return opened(features)


def opened(features: Path) -> list[Measure]:
    clip = f"clip:{features}/clip"
    roles = {"iqa": clip, "face-iqa": clip, "similarity": clip, "reference": f"dinov2:{features}/dinov2"}
    return open_quality(roles, device="cpu")


@pytest.fixture(scope="module")
def whole(models: list[Measure], tmp_path_factory: pytest.TempPathFactory) -> MeasuredQuality:
    return measured(tmp_path_factory.mktemp("whole"), stored(), models)


def measured(root: Path, rows: Sequence[Stored], models: Sequence[Measure], **options: Any) -> MeasuredQuality:
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
    none = ("unreadable", "refused", "missing", "without_face", "without_reference", "not_annotated")
    assert whole.counts == {"images": 12, "measured": 12, **dict.fromkeys(none, 0)}
    assert whole.embedded == 12
    assert set(whole.about) == set(COLUMNS)


def test_all_else_of_the_annotations_stays_as_it_was(whole: MeasuredQuality) -> None:
    before = factory.annotated(stored())
    assert whole.annotations.schema == before.schema
    assert whole.annotations.drop_columns(list(COLUMNS)) == before.drop_columns(list(COLUMNS))


def test_the_scores_are_those_of_the_models(whole: MeasuredQuality, features: Path) -> None:
    clip, dino = (
        kind(str(features / name), device="cpu") for kind, name in ((ClipFeatures, "clip"), (DinoFeatures, "dinov2"))
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


def test_batches_order_and_sharding_change_nothing(
    whole: MeasuredQuality, models: list[Measure], tmp_path: Path
) -> None:
    rows = stored()
    mixed = [rows[place] for place in np.random.RandomState(3).permutation(len(rows))]
    assert measured(tmp_path / "batches", rows, models, batch=3).annotations == whole.annotations
    assert values(measured(tmp_path / "a", mixed, models, shards=5, batch=5)) == values(whole)
    written = {"shards": 1, "written": {"row_group_size": 3}, "annotations": factory.annotated(rows)}
    assert values(measured(tmp_path / "b", mixed, models, **written)) == values(whole)


def test_the_second_time_no_model_is_loaded(
    whole: MeasuredQuality, features: Path, models: list[Measure], tmp_path: Path
) -> None:
    measured(tmp_path, stored(), models)
    fresh = opened(features)
    said: list[tuple[str, int, int]] = []
    again = measured(tmp_path, stored(), fresh, progress=lambda *how: said.append(how))
    assert again.annotations == whole.annotations
    assert again.embedded == 0
    similarity, reference = (measure.features for measure in fresh[2:])
    assert isinstance(similarity, ClipFeatures)
    assert "_model" not in similarity._clip.__dict__
    assert isinstance(reference, DinoFeatures)
    assert "_loaded" not in reference.__dict__


def test_what_has_no_image_is_null_and_counted(models: list[Measure], tmp_path: Path) -> None:
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


def test_bytes_that_are_not_those_of_their_hash_are_unreadable(models: list[Measure], tmp_path: Path) -> None:
    place = factory.images(tmp_path / "images", stored(2), 1)
    table = pq.read_table(place / "images-00000-of-00001.parquet")
    wrong = pa.array(["0" * 64, table["sha256"][1].as_py()])
    pq.write_table(table.set_column(3, "sha256", wrong), place / "images-00000-of-00001.parquet")
    found = measured(tmp_path, stored(2), models)
    assert found.counts["unreadable"] == 1
    assert values(found)[IDS[0], 0] == (None,) * 4


def test_no_face_leaves_face_quality_alone_null(tmp_path: Path) -> None:
    sees = Fixed({(48, 48): [1.0, 0.0]})
    faces = Fixed({(48, 48): []}, "blind")
    models = [
        *(Antonyms("image_quality", sees, PHOTO), Antonyms("face_quality", faces, FACE)),
        *(PromptSimilarity(sees), ReferenceSimilarity(sees)),
    ]
    found = measured(tmp_path, stored(4), models)
    assert set(values(found).values()) == {(0.5, None, 1.0, 1.0)}
    assert found.counts["without_face"] == 4


def test_only_face_0_of_the_steer_images_is_filled_in(models: list[Measure], tmp_path: Path) -> None:
    rows = stored(4)
    table = factory.annotated(rows)
    more = table.set_column(3, table.schema.field(3), pa.array([1] * 4, pa.int32()))
    neutral = factory.annotated([each._replace(id="neutral/nurse") for each in rows], "generation_neutral")
    found = measured(tmp_path, rows, models, annotations=pa.concat_tables([table, more, neutral]))
    filled = [row["image_quality"] is not None for row in found.annotations.to_pylist()]
    assert filled == [True] * 4 + [False] * 8
    assert found.counts["images"] == 4


def test_a_column_without_a_model_stays_as_it_is(models: list[Measure], tmp_path: Path) -> None:
    rows = stored(4)
    given = factory.annotated(rows)
    given = given.set_column(given.schema.get_field_index("face_quality"), "face_quality", pa.array([0.25] * 4))
    quality = measured(tmp_path, rows, [models[0], models[3]], annotations=given)
    assert quality.annotations["face_quality"].to_pylist() == [0.25] * 4
    assert quality.annotations["prompt_similarity"].null_count == 4
    assert "without_face" not in quality.counts
    bare = measured(tmp_path, rows, models, annotations=given.drop_columns(list(COLUMNS)))
    assert values(bare).keys() == values(quality).keys()
    assert bare.annotations["image_quality"] == quality.annotations["image_quality"]


def test_what_does_not_fit_together_is_said(models: list[Measure], tmp_path: Path) -> None:
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
    sees = Fixed({(48, 48): value})
    with pytest.raises(RunError, match=r"MODEL_OUTPUT at fixed"):
        measured(tmp_path, stored(4), [PromptSimilarity(sees)])
    rows = sqlite3.connect(tmp_path / "cache.sqlite").execute("SELECT count(*) FROM vector").fetchone()
    assert rows == (0,)


SEES = {(48, 48): [1.0, 0.0], (40, 40): [0.6, 0.8], (44, 44): [0.8, 0.6], (36, 36): [0.0, 1.0]}


def ideal(root: Path, cells: dict[str, list[int]]) -> References:
    rows = [
        {"id": f"ideal/{cell}/{n:02d}", "image": {"bytes": factory.png(factory.face(n, size)), "path": ""}}
        for cell, sizes in cells.items()
        for n, size in enumerate(sizes)
    ]
    folder = root / "iris_ideal_52" / "occupation"
    folder.mkdir(parents=True)
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("id", pa.string()), ("image", image)])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "test-00000-of-00001.parquet")
    return References(str(root))


def test_an_image_is_compared_with_the_images_of_what_its_prompt_asks_for(tmp_path: Path) -> None:
    """Cosines of (1, 0) to (0.6, 0.8) and (0.8, 0.6) are 0.6 and 0.8; another group has its own images."""
    groups = [item.split("/")[3] for item in IDS]
    cells = {f"{OCCUPATIONS[0]}/{groups[0]}": [40, 44], f"{OCCUPATIONS[0]}/{groups[1]}": [36]}
    references = ideal(tmp_path / "built", cells)
    sees = Fixed(SEES)
    rows = [Stored(IDS[n % 3], n // 3, factory.png(factory.face(n))) for n in range(6)]
    models = [ReferenceSimilarity(sees, references)]
    found = measured(tmp_path, rows, models)
    scores = found.annotations["reference_similarity"].to_pylist()
    assert scores == [pytest.approx(0.7), 0.0, None] * 2  # no image fits the third prompt
    assert found.counts["without_reference"] == 2
    assert sees.looked == 9
    assert found.about["reference_similarity"].startswith("mean cosine to iris_ideal_52 (")
    again = measured(tmp_path, rows, models)
    assert (again.annotations, sees.looked) == (found.annotations, 9)


def test_alike_images_gain_nothing_by_being_alike(tmp_path: Path) -> None:
    group = IDS[0].split("/")[3]
    references = ideal(tmp_path / "built", {f"{OCCUPATIONS[0]}/{group}": [40]})
    sees = Fixed(SEES)
    rows = [Stored(IDS[0], n, factory.png(factory.face(0))) for n in range(10)]
    models = [ReferenceSimilarity(sees, references)]
    found = measured(tmp_path, rows, models)
    assert set(found.annotations["reference_similarity"].to_pylist()) == {0.6}


def test_the_mean_is_over_all_references_and_none_without_any() -> None:
    first, second = np.array([1, 0], np.float32), np.array([0, 2], np.float32)
    assert mean_to(first, [first, second]) == (cosine(first, first) + cosine(first, second)) / 2
    assert mean_to(first, []) is None


def test_a_folder_without_the_dataset_is_said(tmp_path: Path) -> None:
    (tmp_path / "iris_gen_52").mkdir()
    with pytest.raises(RunError, match="DATA_MISSING"):
        References(str(tmp_path))


SIDE = Fixed({(48, 48): [0.6, 0.8]})
BY_SIDE = [Antonyms("image_quality", SIDE, PHOTO), PromptSimilarity(SIDE), ReferenceSimilarity(SIDE)]


def written(root: Path, table: pa.Table, shards: int = 2) -> Path:
    root.mkdir()
    for number in range(shards):
        part = table.slice(number * 3, 3 if number + 1 < shards else None)
        name = f"annotations-{number:05}-of-{shards:05}.parquet"
        pq.write_table(part.replace_schema_metadata({"ares_name": f"ares {number}"}), root / name)
    return root


def test_shards_keep_names_rows_order_and_metadata(tmp_path: Path) -> None:
    rows = factory.stored(8)
    images = factory.images(tmp_path / "images", rows)
    before = written(tmp_path / "annotations", factory.annotated(rows))
    found = fill_quality(images, before, tmp_path / "out", BY_SIDE, cache=tmp_path / "cache.sqlite")
    names = sorted(file.name for file in before.iterdir())
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [*names, "quality.json"]
    for number, name in enumerate(names):
        old, new = pq.read_table(before / name), pq.read_table(tmp_path / "out" / name)
        assert new.schema.metadata == {b"ares_name": f"ares {number}".encode()}
        assert new.schema.remove_metadata() == ANNOTATIONS
        assert new["sample"] == old["sample"]
        assert set(new["prompt_similarity"].to_pylist()) == {0.6}
        assert new["face_quality"].null_count == new.num_rows
    said = json.loads((tmp_path / "out/quality.json").read_text())
    assert said == {"format": 1, "models": dict(found.about), "counts": dict(found.counts)}
    assert said["counts"]["measured"] == 8


def test_a_folder_can_be_filled_in_place_and_again(tmp_path: Path) -> None:
    rows = factory.stored(8)
    images = factory.images(tmp_path / "images", rows)
    place = written(tmp_path / "annotations", factory.annotated(rows))
    fill_quality(images, place, place, BY_SIDE, cache=tmp_path / "cache.sqlite")
    first = {file.name: file.read_bytes() for file in place.iterdir()}
    fill_quality(images, place, place, BY_SIDE, cache=tmp_path / "cache.sqlite")
    assert {file.name: file.read_bytes() for file in place.iterdir()} == first


def test_annotations_that_are_not_there_or_broken_are_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match=r"DATA_MISSING.*no annotations\*\.parquet.*fairspace ares annotate"):
        fill_quality(tmp_path, tmp_path / "empty", tmp_path / "out", BY_SIDE, cache=tmp_path / "c")
    (tmp_path / "empty/annotations.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match="DATA_INVALID"):
        fill_quality(tmp_path, tmp_path / "empty", tmp_path / "out", BY_SIDE, cache=tmp_path / "c")
    assert not (tmp_path / "out").exists()


def test_the_prompts_are_those_of_the_steer_items() -> None:
    found = steer_prompts(["neutral/nurse", "steer/a/b/c", *steer_ids("v1").to_pylist()])
    assert len(found) == len(OCCUPATIONS) * len(GROUPS) * 6
    group = 7
    for requested in (group, *counter_groups(group)):
        item = f"steer/{OCCUPATIONS[3]}/{GROUPS[group]}/{GROUPS[requested]}"
        assert found[STEER, item] == steer_prompt(3, requested)


def test_vectors_come_back_to_the_bit_under_their_own_key(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=7).astype(np.float32)
    with closing(Vectors(tmp_path / "a/cache.sqlite")) as vectors:
        vectors.put(Fixed({}, "clip a"), {image_key("1"): values, image_key("2"): np.zeros(0, np.float32)})
    with closing(Vectors(tmp_path / "a/cache.sqlite")) as vectors:
        found, nothing = (vectors.get("clip a", image_key(name)) for name in "12")
        assert found is not None
        assert found.tobytes() == values.tobytes()
        assert nothing is not None
        assert nothing.size == 0
        assert vectors.get("clip b", image_key("1")) is None
        assert vectors.get("clip a", image_key("3")) is None


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but a text that is long enough to look like one" * 20)
    with pytest.raises(RunError, match=r"RUN_OTHER.*a cache of image quality"):
        Vectors(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE answer (task TEXT)")
    other.close()
    with pytest.raises(RunError, match="RUN_OTHER"):
        Vectors(tmp_path / "other.sqlite")


def test_no_role_rates_nothing() -> None:
    assert open_quality({}) == []


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("face_iqa", "did you mean 'face-iqa'"),
        ("similarty", "did you mean 'similarity'"),
        ("", "Known: iqa, face-iqa, similarity, reference"),
    ],
)
def test_an_unknown_role_is_told_with_the_known_ones(role: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", "\\(")):
        open_quality({"iqa": "clip", role: "clip"})


def rating(folder: Path, quality: dict[str, str]) -> RunSettings:
    out, chosen = folder / "mine", ChosenPart("iris")
    return RunSettings(chosen, out, images="python:a:b", ares="a", quality=quality)


def test_a_run_rates_its_steered_images_and_counts_each_once(features: Path, tmp_path: Path) -> None:
    work = tmp_path / "mine.run"
    rows = [*stored(5), Stored(IDS[0], 9, None, "refused")]
    factory.images(work / "images" / STEER / "shards", rows)
    made = RunSteps(tables={"annotations": factory.annotated(rows)})
    _rate(rating(tmp_path, {"face-iqa": f"clip:{features}/clip"}), work, made, lambda what, done, total: None)
    table = made.tables["annotations"]
    assert table.schema.names == ANNOTATIONS.names
    assert [value is not None for value in table["face_quality"].to_pylist()] == [True] * 5 + [False]
    assert table["image_quality"].null_count == table.num_rows
    (stage,) = made.stages
    assert (stage.what, stage.requests) == ("quality", 6)
    assert stage.fates == {"measured": 5, "unreadable": 0, "refused": 1, "missing": 0}
    assert list(stage.settings) == ["face_quality"]
    assert str(tmp_path) not in stage.model_dump_json()


def test_without_steered_images_nothing_is_rated_and_it_is_said(tmp_path: Path) -> None:
    made = RunSteps(tables={"annotations": factory.annotated(stored(2))})
    _rate(rating(tmp_path, {"iqa": "clip"}), tmp_path, made, lambda what, done, total: None)
    assert not made.stages
    assert "not measured" in made.notes[0]
