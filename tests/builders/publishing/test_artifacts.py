import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from fairspace.builders.drawn.sample_sources import write_sample_sources
from fairspace.builders.engine.build import build, read_manifest
from fairspace.builders.engine.dataset import BuildJob, Dataset, Split
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.artifacts import PACKAGES, ROOT, choose, public_copy, space_requirements
from fairspace.builders.publishing.join_images import join
from fairspace.builders.registry import NAMES, dataset
from fairspace.builders.sources import SOURCES
from fairspace.submissions.version import VERSION
from tests.builders.builds import no_card
from tests.sample_builds import sample_builds

CONSTRAINTS = dict(re.findall(r"^([\w-]+)==([^;\s]+)", (ROOT.parent / "constraints.txt").read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("space")
    (space,) = choose(["space"], folder / "built", folder / "ares", "fairspace", False)
    assert (space.repo.id, space.repo.kind, space.repo.sdk) == ("fairspace/leaderboard", "space", "gradio")
    files = space.files(folder)
    return {path: found if isinstance(found, bytes) else found.read_bytes() for path, found in files.items()}


def test_the_card_names_the_pinned_gradio_and_lets_users_sign_in(published: dict[str, bytes]) -> None:
    card = yaml.safe_load(published["README.md"].split(b"---")[1])
    assert card["sdk"] == "gradio"
    assert card["sdk_version"] == CONSTRAINTS["gradio"]
    assert card["hf_oauth"] is True
    assert card["app_file"] == "app.py"
    assert card["python_version"] == "3.11"


def test_the_space_has_every_package_its_data_and_its_requirements(published: dict[str, bytes]) -> None:
    assert b"fairspace.leaderboard_space.serving import main" in published["app.py"]
    assert {path.split("/")[0] for path in published if "/" in path} == {"fairspace"}
    assert {path.split("/")[1] for path in published if path.count("/") > 1} == set(PACKAGES)
    for path in ("assets/style.css", "templates/base.html.jinja", "storage/hub.py", "pages/board.py"):
        assert f"fairspace/leaderboard_space/{path}" in published
    assert not [path for path in published if "__pycache__" in path or path.endswith(".pyc")]
    names = {re.split(r"[<>=\[]", line)[0] for line in published["requirements.txt"].decode().splitlines()}
    assert {"gradio", "orjson", "pyarrow", "spacy"} <= names
    assert published["fairspace/VERSION"].decode() == f"{VERSION}\n"


def test_every_requirement_of_the_space_has_the_one_version_that_it_is_tested_with(published: dict[str, bytes]) -> None:
    lines = published["requirements.txt"].decode().splitlines()
    assert lines == space_requirements()
    pinned = dict(re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", line).groups() for line in lines)  # type: ignore[union-attr, misc]
    assert pinned["torch"] == CONSTRAINTS["torch"].partition("+")[0], "any build of that version"
    assert {name: pinned[name] for name in ("numpy", "spacy", "scipy", "transformers", "thinc")} == {
        name: CONSTRAINTS[name] for name in ("numpy", "spacy", "scipy", "transformers", "thinc")
    }, "what scores are made with, and what that needs"
    assert "huggingface_hub[oauth]" in {line.split("==")[0] for line in lines}
    assert "pytest" not in pinned


def pictures(sources: tuple[str, ...]) -> Dataset:
    def rows(part: range) -> list[dict[str, Any]]:
        return [{"id": str(number), "image": None} for number in part]

    def splits(job: BuildJob) -> list[Split]:
        return [Split("faces", "A face.", {"image": ("image", "")}, range(3), rows)]

    return Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", sources, splits)


def test_images_without_a_source_are_not_published_where_a_source_forbids_it(tmp_path: Path) -> None:
    dataset = pictures(("fairface", "utkface"))
    build(dataset, tmp_path / "toy", describe=no_card)
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
