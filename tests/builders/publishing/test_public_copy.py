from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from fairspace.builders.drawn.sample_sources import write_sample_sources
from fairspace.builders.engine.build import build, read_manifest
from fairspace.builders.engine.dataset import BuildJob, Dataset, Split
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.artifacts import public_copy
from fairspace.builders.publishing.join_images import join
from fairspace.builders.registry import NAMES, dataset
from fairspace.builders.sources import SOURCES
from tests.sample_builds import sample_builds


def pictures(sources: tuple[str, ...]) -> Dataset:
    def rows(part: range) -> list[dict[str, Any]]:
        return [{"id": str(number), "image": None} for number in part]

    def splits(job: BuildJob) -> list[Split]:
        return [Split("faces", "A face.", {"image": ("image", "")}, range(3), rows)]

    return Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", sources, splits)


def test_images_without_a_source_are_not_published_where_a_source_forbids_it(tmp_path: Path) -> None:
    dataset = pictures(("fairface", "utkface"))
    build(dataset, tmp_path / "toy", describe=lambda folder, dataset, manifest: None)
    with pytest.raises(BuildError, match=r"BUILD_CHECK at toy, faces/test: images without origin"):
        public_copy(dataset, tmp_path / "toy", tmp_path / "scratch", "someone")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    write_sample_sources(folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_images_that_must_not_be_passed_on_are_left_out_and_joined_again(
    name: str, sources: Path, tmp_path: Path
) -> None:
    built, kept_back = sample_builds() / name, {key for key, source in SOURCES.items() if not source.redistribute}
    released = public_copy(dataset(name), built, tmp_path, "someone")
    assert all(path.is_file() for path in released.values())
    manifest, hidden = read_manifest(built), 0
    for split in manifest.splits:
        for shard in split.shards:
            table = pq.read_table(released[shard.file])
            if "image" not in table.column_names or "origin" not in split.counts:
                continue
            origins = [origin for origin in split.counts["origin"] if origin]
            whole, public = pq.read_table(built / shard.file).to_pylist(), table.to_pylist()
            for row, full in zip(public, whole, strict=True):
                closed = row["origin"] is not None and origins[row["origin"]] in kept_back
                assert row["image"] == (None if closed else full["image"])
                hidden += closed
            if any(row["image"] != full["image"] for row, full in zip(public, whole, strict=True)):
                joined = [row["image"] and row["image"]["bytes"] for row in join(public, sources)]
                assert joined == [row["image"] and row["image"]["bytes"] for row in whole]
    assert ("join_images.py" in released) == bool(hidden)
    assert bool(hidden) == bool(kept_back & set(dataset(name).sources))
