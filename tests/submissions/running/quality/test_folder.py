import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import counter_groups, steer_ids, steer_prompt
from fairspace.submissions.benchmarks.iris.records import STEER
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.schema import ANNOTATIONS
from fairspace.submissions.running.quality.measuring import fill_quality, steer_prompts
from fairspace.submissions.running.quality.models import PHOTO, Antonyms, QualityModels
from tests.submissions.running.quality import factory

SEES = factory.Fixed({(48, 48): [0.6, 0.8]})
MODELS = QualityModels(image=Antonyms(SEES, PHOTO), similarity=SEES, reference=SEES)


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
    found = fill_quality(images, before, tmp_path / "out", MODELS, cache=tmp_path / "cache.sqlite")
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
    fill_quality(images, place, place, MODELS, cache=tmp_path / "cache.sqlite")
    first = {file.name: file.read_bytes() for file in place.iterdir()}
    fill_quality(images, place, place, MODELS, cache=tmp_path / "cache.sqlite")
    assert {file.name: file.read_bytes() for file in place.iterdir()} == first


def test_annotations_that_are_not_there_or_broken_are_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunError, match=r"DATA_MISSING.*no annotations\*\.parquet.*fairspace ares annotate"):
        fill_quality(tmp_path, tmp_path / "empty", tmp_path / "out", MODELS, cache=tmp_path / "c")
    (tmp_path / "empty/annotations.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError, match="DATA_INVALID"):
        fill_quality(tmp_path, tmp_path / "empty", tmp_path / "out", MODELS, cache=tmp_path / "c")
    assert not (tmp_path / "out").exists()


def test_the_prompts_are_those_of_the_steer_items() -> None:
    found = steer_prompts(["neutral/nurse", "steer/a/b/c", *steer_ids("v1").to_pylist()])
    assert len(found) == len(OCCUPATIONS) * len(GROUPS) * 6
    group = 7
    for requested in (group, *counter_groups(group)):
        item = f"steer/{OCCUPATIONS[3]}/{GROUPS[group]}/{GROUPS[requested]}"
        assert found[STEER, item] == steer_prompt(3, requested)
