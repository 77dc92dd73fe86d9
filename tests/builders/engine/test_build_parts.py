"""A build in parts ends with the bytes of one process; what is no complete division of one build is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.build import build_part, join_parts
from fairspace.builders.errors import BuildError
from tests.builders.engine.test_build import build, toy
from tests.builders.rebuilding import Killed, files


def parts_of(root: Path, number_of: int = 3, units: int = 45, seeds: tuple[int, ...] = (0, 0, 0)) -> list[Path]:
    folders = [root / f"toy.part-0000{number}-of-0000{number_of}" for number in range(number_of)]
    for number, folder in enumerate(folders):
        build_part(toy(units), folder, f"{number}/{number_of}", seed=seeds[number])
    return folders


def test_joined_parts_end_as_one_process(tmp_path: Path) -> None:
    build(toy(45), tmp_path / "whole")
    folders = parts_of(tmp_path)
    assert [len(list(folder.glob("plain/*.parquet"))) for folder in folders] == [2, 2, 1]
    assert join_parts(folders, tmp_path / "joined") == 5
    made = {file: file.stat().st_mtime_ns for file in (tmp_path / "joined").glob("plain/*")}
    build(toy(45), tmp_path / "joined")
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "joined").glob("plain/*")} == made
    assert files(tmp_path / "joined") == files(tmp_path / "whole")


def test_a_killed_part_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "toy.part"
    with pytest.raises(Killed):
        build_part(toy(45, kill_at=31), folder, "1/2")
    assert len(list(folder.glob("plain/*.parquet"))) == 1
    assert build_part(toy(45), folder, "1/2") == 2
    build_part(toy(45), tmp_path / "other", "0/2")
    join_parts([folder, tmp_path / "other"], tmp_path / "joined")


def test_an_empty_part_has_no_shard(tmp_path: Path) -> None:
    folders = parts_of(tmp_path, units=5)
    assert [len(list(folder.glob("plain/*.parquet"))) for folder in folders] == [1, 0, 0]
    assert join_parts(folders, tmp_path / "joined") == 1


WRONG: dict[str, tuple[Callable[[list[Path]], Any], str]] = {
    "a missing part": (lambda parts: parts.pop(1), "2 of 5 shards lack, the first plain/test-00001-of-00005"),
    "a part twice": (lambda parts: parts.append(parts[1]), "plain/test-00001-of-00005, which"),
    "no part": (lambda parts: shutil.rmtree(parts[1] / ".build"), "no part of a build"),
    "another shard": (
        lambda parts: (parts[1] / "plain/test-00001-of-00005.parquet").write_bytes(b""),
        "1 of 5 shards lack, the first plain/test-00001-of-00005",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_part_is_refused_by_name(wrong: str, tmp_path: Path) -> None:
    damage, said = WRONG[wrong]
    folders = parts_of(tmp_path)
    damage(folders)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BuildError) as refused:
        join_parts(folders, tmp_path / "joined")
    assert refused.value.code == "PARTS_UNJOINABLE"
    assert said in refused.value.what
    assert sorted(tmp_path.rglob("*")) == before


def test_parts_of_other_builds_are_refused(tmp_path: Path) -> None:
    for name, options in (("seeds", {"seeds": (0, 1, 0)}), ("sizes", {})):
        folders = parts_of(tmp_path / name, **options)  # type: ignore[arg-type]
        if name == "sizes":
            shutil.rmtree(folders[1])
            build_part(toy(55), folders[1], "1/3")
        with pytest.raises(BuildError, match="another build than"):
            join_parts(folders, tmp_path / "joined")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        join_parts(folders, tmp_path / "there")
