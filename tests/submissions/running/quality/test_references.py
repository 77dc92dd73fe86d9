from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.quality.measuring import measure_quality
from fairspace.submissions.running.quality.models import QualityModels, References, cosine, mean_to
from tests.submissions.running.quality import factory
from tests.submissions.running.quality.factory import Fixed, Stored

SEES = {(48, 48): [1.0, 0.0], (40, 40): [0.6, 0.8], (44, 44): [0.8, 0.6], (36, 36): [0.0, 1.0]}


def ideal(root: Path, cells: dict[str, list[int]]) -> Path:
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
    return root


def test_an_image_is_compared_with_the_images_of_what_its_prompt_asks_for(tmp_path: Path) -> None:
    """Cosines of (1, 0) to (0.6, 0.8) and (0.8, 0.6) are 0.6 and 0.8; another group has its own images."""
    groups = [item.split("/")[3] for item in factory.IDS]
    cells = {f"{OCCUPATIONS[0]}/{groups[0]}": [40, 44], f"{OCCUPATIONS[0]}/{groups[1]}": [36]}
    references = References(str(ideal(tmp_path / "built", cells)))
    sees = Fixed({size: list(vector) for size, vector in SEES.items()})
    rows = [Stored(factory.IDS[n % 3], n // 3, factory.png(factory.face(n))) for n in range(6)]
    place = factory.images(tmp_path / "images", rows)
    models = QualityModels(reference=sees, references=references)
    found = measure_quality(place, factory.annotated(rows), factory.PROMPTS, models, cache=tmp_path / "cache.sqlite")
    scores = found.annotations["reference_similarity"].to_pylist()
    assert scores == [pytest.approx(0.7), 0.0, None] * 2  # no image fits the third prompt
    assert found.counts["without_reference"] == 2
    assert sees.looked == 9
    assert found.about["reference_similarity"].startswith("mean cosine to iris_ideal_52 (")
    again = measure_quality(place, factory.annotated(rows), factory.PROMPTS, models, cache=tmp_path / "cache.sqlite")
    assert (again.annotations, sees.looked) == (found.annotations, 9)


def test_alike_images_gain_nothing_by_being_alike(tmp_path: Path) -> None:
    group = factory.IDS[0].split("/")[3]
    references = References(str(ideal(tmp_path / "built", {f"{OCCUPATIONS[0]}/{group}": [40]})))
    sees = Fixed({size: list(vector) for size, vector in SEES.items()})
    rows = [Stored(factory.IDS[0], n, factory.png(factory.face(0))) for n in range(10)]
    place = factory.images(tmp_path / "images", rows)
    models = QualityModels(reference=sees, references=references)
    found = measure_quality(place, factory.annotated(rows), factory.PROMPTS, models, cache=tmp_path / "cache.sqlite")
    assert set(found.annotations["reference_similarity"].to_pylist()) == {0.6}


def test_the_mean_is_over_all_references_and_none_without_any() -> None:
    first, second = np.array([1, 0], np.float32), np.array([0, 2], np.float32)
    assert mean_to(first, [first, second]) == (cosine(first, first) + cosine(first, second)) / 2
    assert mean_to(first, []) is None


def test_a_folder_without_the_dataset_is_said(tmp_path: Path) -> None:
    (tmp_path / "iris_gen_52").mkdir()
    with pytest.raises(RunError, match="DATA_MISSING"):
        References(str(tmp_path))
