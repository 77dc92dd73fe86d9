from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import Dataset, Job, Split
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.artifacts import public_copy


def pictures(sources: tuple[str, ...]) -> Dataset:
    def rows(part: range) -> list[dict[str, Any]]:
        return [{"id": str(number), "image": None} for number in part]

    def splits(job: Job) -> list[Split]:
        return [Split("faces", "A face.", {"image": ("image", "")}, range(3), rows)]

    return Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", sources, splits)


def test_images_without_a_source_are_not_published_where_a_source_forbids_it(tmp_path: Path) -> None:
    dataset = pictures(("fairface", "utkface"))
    build(dataset, tmp_path / "toy", describe=lambda folder, dataset, manifest: None)
    with pytest.raises(BuildError, match=r"BUILD_CHECK at toy, faces/test: images without origin"):
        public_copy(dataset, tmp_path / "toy", tmp_path / "scratch", "someone")
