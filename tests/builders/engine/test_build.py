import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.engine import build as engine
from fairspace.builders.engine.build import MANIFEST, read_manifest
from fairspace.builders.engine.dataset import BuildJob, BuildManifest, Dataset, Row, Split
from fairspace.builders.errors import BuildError
from tests.builders.rebuilding import Killed, files

CARD = """---
configs:
- config_name: plain
  data_files:
  - split: test
    path: plain/test-*.parquet
---
"""


COLUMNS = {"gender": (("female", "male"), ""), "n": ("int64", "")}


def card(folder: Path, dataset: Dataset, manifest: BuildManifest) -> None:
    (folder / "README.md").write_text(CARD)


def build(dataset: Dataset, out: Path, **arguments: Any) -> BuildManifest:
    return engine.build(dataset, out, describe=card, **arguments)


def toy(units: int = 25, kill_at: int | None = None) -> Dataset:
    def rows(part: Sequence[int], job: BuildJob) -> Iterator[Row]:
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
                rows=lambda part: rows(part, job),
                shard=10,
                groups=("gender",),
            )
        ]

    return Dataset("toy", "Toy", "iris", "v1", "CC0-1.0", (), splits)


def test_a_build_has_shards_counts_and_rejections(tmp_path: Path) -> None:
    manifest = build(toy(), tmp_path / "toy")
    split = manifest.find("plain", "test")
    assert split is not None
    assert [shard.file for shard in split.shards] == [f"plain/test-0000{i}-of-00003.parquet" for i in range(3)]
    assert split.rows == 21
    assert sum(split.counts["gender"].values()) == 21
    assert split.joint == split.counts["gender"]
    assert manifest.rejected == {"seven": 4}
    lines = (tmp_path / "toy/review/rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [3, 10, 17, 24]
    assert read_manifest(tmp_path / "toy") == manifest
    assert not (tmp_path / "toy/.build").exists()
    read = pa.concat_tables(pq.read_table(tmp_path / "toy" / shard.file) for shard in split.shards)
    assert read["n"].to_pylist() == [n for n in range(25) if n % 7 != 3]


@pytest.mark.parametrize("kill_at", [0, 9, 10, 24])
def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, kill_at: int) -> None:
    build(toy(), tmp_path / "whole")
    with pytest.raises(Killed):
        build(toy(kill_at=kill_at), tmp_path / "resumed")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "resumed").rglob("*-of-*.parquet")}
    build(toy(), tmp_path / "resumed")
    assert files(tmp_path / "whole") == files(tmp_path / "resumed")
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


def test_a_second_call_does_nothing(tmp_path: Path) -> None:
    build(toy(), tmp_path / "toy")
    assert build(toy(kill_at=0), tmp_path / "toy") == read_manifest(tmp_path / "toy")


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(), tmp_path)
    assert files(tmp_path) == {"letters.txt": b"dear"}


def test_another_seed_is_another_build(tmp_path: Path) -> None:
    build(toy(), tmp_path / "done")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(toy(), tmp_path / "done", seed=1)
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


def test_an_entered_shard_that_is_not_what_was_entered_is_written_again(tmp_path: Path) -> None:
    build(toy(), tmp_path / "whole")
    with pytest.raises(Killed):
        build(toy(kill_at=20), tmp_path / "resumed")
    shard = next((tmp_path / "resumed/plain").glob("test-00000-*.parquet"))
    shard.write_bytes(bytes(shard.stat().st_size))
    build(toy(), tmp_path / "resumed")
    assert files(tmp_path / "whole") == files(tmp_path / "resumed")
