"""A build in shards, its resumption after kills, and its parts.

Parts end with the bytes of one process; what is no complete division of one build is refused.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine import build as engine
from fairspace.builders.engine.build import MANIFEST, build_part, join_parts, read_manifest
from fairspace.builders.engine.dataset import BuildJob, Dataset, Row, Split
from fairspace.builders.errors import BuildError
from tests.builders.builds import Killed, files, no_card, rows

COLUMNS = {"gender": (("female", "male"), ""), "n": ("int64", "")}
build = partial(engine.build, describe=no_card)


def toy(units: int = 25, kill_at: int | None = None) -> Dataset:
    def made(part: Sequence[int], job: BuildJob) -> Iterator[Row]:
        for number in part:
            if number == kill_at:
                raise Killed
            if number % 7 == 3:
                job.reject(f"unit/{number}", "seven", number=number)
                continue
            yield {"id": f"unit/{number}", "gender": ("female", "male", None)[number % 3], "n": number}

    def splits(job: BuildJob) -> list[Split]:
        return [
            Split(
                config="plain",
                about="A number.",
                columns=COLUMNS,
                units=range(units),
                rows=lambda part: made(part, job),
                shard=10,
                groups=("gender",),
            )
        ]

    return Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", (), splits)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "toy"
    build(toy(), out)
    return out


def test_a_build_has_shards_counts_and_rejections(tmp_path: Path) -> None:
    out = tmp_path / "toy"
    manifest = build(toy(), out)
    split = manifest.find("plain", "test")
    assert split is not None
    assert [shard.file for shard in split.shards] == [f"plain/test-0000{i}-of-00003.parquet" for i in range(3)]
    assert split.rows == 21
    assert sum(split.counts["gender"].values()) == 21
    assert split.joint == split.counts["gender"]
    assert manifest.rejected == {"seven": 4}
    lines = (out / "review/rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [3, 10, 17, 24]
    assert build(toy(kill_at=0), out) == read_manifest(out) == manifest, "a second call does nothing"
    assert not (out / ".build").exists()
    assert [row["n"] for row in rows(out, "plain")] == [n for n in range(25) if n % 7 != 3]


@pytest.mark.parametrize("kill_at", [0, 9, 10, 24])
def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(whole: Path, tmp_path: Path, kill_at: int) -> None:
    with pytest.raises(Killed):
        build(toy(kill_at=kill_at), tmp_path / "resumed")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "resumed").rglob("*-of-*.parquet")}
    build(toy(), tmp_path / "resumed")
    assert files(tmp_path / "resumed") == files(whole)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(), tmp_path)
    assert files(tmp_path) == {"letters.txt": b"dear"}


def test_another_seed_is_another_build(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(), whole, seed=1)
    with pytest.raises(Killed):
        build(toy(kill_at=20), tmp_path / "part")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(), tmp_path / "part", seed=1)
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(units=26), tmp_path / "part")


def test_a_damaged_build_is_not_read(tmp_path: Path) -> None:
    build(toy(), tmp_path / "toy")
    (tmp_path / "toy/plain/test-00001-of-00003.parquet").write_bytes(b"short")
    with pytest.raises(BuildError, match="BUILD_INCOMPLETE"):
        read_manifest(tmp_path / "toy")
    (tmp_path / "toy" / MANIFEST).write_text("{}")
    with pytest.raises(BuildError, match=r"BUILD_INCOMPLETE at .*manifest\.json.*dataset"):
        read_manifest(tmp_path / "toy")
    (tmp_path / "toy" / MANIFEST).unlink()
    with pytest.raises(BuildError, match=r"BUILD_INCOMPLETE.*no manifest"):
        read_manifest(tmp_path / "toy")


def test_an_entered_shard_that_is_not_what_was_entered_is_written_again(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        build(toy(kill_at=20), tmp_path / "resumed")
    shard = next((tmp_path / "resumed/plain").glob("test-00000-*.parquet"))
    shard.write_bytes(bytes(shard.stat().st_size))
    build(toy(), tmp_path / "resumed")
    assert files(tmp_path / "resumed") == files(whole)


def build_parts(root: Path, units: int = 45) -> list[Path]:
    folders = [root / f"toy.part-0000{number}-of-00003" for number in range(3)]
    for number, folder in enumerate(folders):
        build_part(toy(units), folder, f"{number}/3")
    return folders


@pytest.fixture(scope="module")
def built_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_parts(tmp_path_factory.mktemp("parts"))[0].parent


@pytest.fixture
def parts(built_parts: Path, tmp_path: Path) -> list[Path]:
    return sorted(Path(shutil.copytree(built_parts, tmp_path / "parts")).iterdir())


def shards(folder: Path) -> dict[Path, int]:
    """Shards and the times of their writing."""
    return {file: file.stat().st_mtime_ns for file in folder.glob("plain/*.parquet")}


def test_joined_parts_end_as_one_process(parts: list[Path], tmp_path: Path) -> None:
    build(toy(45), tmp_path / "whole")
    assert [len(shards(part)) for part in parts] == [2, 2, 1]
    assert join_parts(parts, tmp_path / "joined") == 5
    made = shards(tmp_path / "joined")
    build(toy(45), tmp_path / "joined")
    assert shards(tmp_path / "joined") == made
    assert files(tmp_path / "joined") == files(tmp_path / "whole")


def test_a_killed_part_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "toy.part"
    with pytest.raises(Killed):
        build_part(toy(45, kill_at=31), folder, "1/2")
    assert len(shards(folder)) == 1
    assert build_part(toy(45), folder, "1/2") == 2
    build_part(toy(45), tmp_path / "other", "0/2")
    join_parts([folder, tmp_path / "other"], tmp_path / "joined")


def test_an_empty_part_has_no_shard(tmp_path: Path) -> None:
    folders = build_parts(tmp_path, units=5)
    assert [len(shards(folder)) for folder in folders] == [1, 0, 0]
    assert join_parts(folders, tmp_path / "joined") == 1


def built_again(units: int, seed: int) -> Callable[[list[Path]], Any]:
    def change(parts: list[Path]) -> None:
        shutil.rmtree(parts[1])
        build_part(toy(units), parts[1], "1/3", seed=seed)

    return change


WRONG: dict[str, tuple[Callable[[list[Path]], Any], str]] = {
    "a missing part": (lambda parts: parts.pop(1), "2 of 5 shards lack, the first plain/test-00001-of-00005"),
    "a part twice": (lambda parts: parts.append(parts[1]), "plain/test-00001-of-00005, which"),
    "no part": (lambda parts: shutil.rmtree(parts[1] / ".build"), "no part of a build"),
    "another shard": (
        lambda parts: (parts[1] / "plain/test-00001-of-00005.parquet").write_bytes(b""),
        "1 of 5 shards lack, the first plain/test-00001-of-00005",
    ),
    "another seed": (built_again(45, 1), "another build than"),
    "another size": (built_again(55, 0), "another build than"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_part_is_refused_by_name(wrong: str, parts: list[Path], tmp_path: Path) -> None:
    damage, said = WRONG[wrong]
    damage(parts)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BuildError) as refused:
        join_parts(parts, tmp_path / "joined")
    assert refused.value.code == "PARTS_UNJOINABLE"
    assert said in refused.value.what
    assert sorted(tmp_path.rglob("*")) == before


def test_parts_are_joined_into_nothing_else(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        join_parts(parts, tmp_path)
