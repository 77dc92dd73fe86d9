import shutil
from pathlib import Path

import numpy as np
import pytest

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_gen_52.dataset import DATASET
from fairspace.builders.sources.model_images import ModelStore
from fairspace.submissions.benchmarks.iris.records import neutral_group_counts
from fairspace.submissions.checking.submission import read_submission
from tests.builders.builds import Built, rows
from tests.builders.model_fixtures import annotation, image, neutral, write_model


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    write_model(folder, "alpha", licence="MIT")
    write_model(folder, "beta", rows=neutral(), images=[])
    return folder


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("built") / "gen"
    return out, build(DATASET, out, source=source)


def test_counts_are_those_of_the_scorer(built: Built, source: Path) -> None:
    counted = rows(built[0], "counts")
    for key in ("alpha", "beta"):
        folder = source.parent / f"{key}-submission"
        shutil.copytree(source / "models" / key, folder, ignore=shutil.ignore_patterns("images*"))
        expected = neutral_group_counts(read_submission(folder))
        own = [row for row in counted if row["model"] == f"Model {key}"]
        grouped = [row["images"] for row in own if row["group"] is not None]
        assert np.array(grouped).reshape(52, 18).tolist() == expected.tolist()
        for occupation in OCCUPATIONS:
            assert sum(row["images"] for row in own if row["occupation"] == occupation) == 160


def test_images_without_labels_stay_rows_with_their_status(built: Built) -> None:
    found, given = rows(built[0], "images"), neutral()
    assert len(found) == 2 * len(given)
    by_key = {(row["model"], row["item"], row["sample"]): row for row in found}
    for one in given:
        alpha, beta = (by_key[f"Model {key}", one["id"], one["sample"]] for key in ("alpha", "beta"))
        for row in (alpha, beta):
            assert [row[c] for c in ("status", "gender", "age", "skin_tone")] == [
                one[c] for c in ("status", "gender", "age", "skin_tone")
            ]
        assert beta["image"] is None
        if one["status"] == "refused":
            assert alpha["image"] is None
        else:
            assert alpha["image"]["bytes"] == image(one)["image"]["bytes"]
    assert {row["licence"] for row in found if row["model"] == "Model alpha"} == {"MIT"}


def test_without_models_the_rest_is_built_and_the_card_says_so(tmp_path: Path) -> None:
    manifest = build(DATASET, tmp_path / "gen")
    assert not {"counts", "images"} & set(manifest.configs())
    assert any("counts and images" in note for note in manifest.notes)
    assert "counts and images" in (tmp_path / "gen/README.md").read_text()


def test_a_changed_source_is_another_build(source: Path, tmp_path: Path) -> None:
    own = tmp_path / "source"
    write_model(own, images=[])
    manifest = build(DATASET, tmp_path / "gen", source=own)
    assert "models/toy/annotations-00000-of-00002.parquet" in manifest.sources
    write_model(own, rows=neutral()[:50] + neutral()[60:], images=[])
    assert build(DATASET, tmp_path / "other", source=own).sources != manifest.sources


def test_a_whole_models_images_are_counted_and_none_is_missing(tmp_path: Path) -> None:
    whole = [annotation("generation_neutral", f"neutral/{o}", n, n % 18) for o in OCCUPATIONS for n in range(160)]
    write_model(tmp_path / "source", rows=whole, images=[])
    store = ModelStore(BuildJob(tmp_path / "source", tmp_path / "work"), tmp_path / "source" / "models")
    assert store.neutral_counts(0).sum() == 8320
    assert store.unlabelled(0) == [{}] * 52
