import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.annotating.source import ImageEntry, contents, list_images, open_source, passed_over
from fairspace.builders.errors import BuildError
from tests.ares.image_sources import TASK, Stored, folder, images, parquet, rows

LABELS = ("task", "id", "sample", "face", "status", "gender", "age", "skin_tone", "faces")


def listed(place: Path | str, **choices: Any) -> list[ImageEntry]:
    return list_images(open_source(place, **choices))[0]


def bytes_of(place: Path | str, entries: list[ImageEntry], **choices: Any) -> list[bytes | None]:
    found = contents(open_source(place, **choices), entries)
    return [each.read_bytes() if isinstance(each, Path) else each and each["bytes"] for each in found]


def with_card(root: Path, stored: list[Stored]) -> Path:
    parquet(root / "data", stored)
    for number, file in enumerate(sorted((root / "data").iterdir())):
        file.rename(file.with_name(f"train-{number:05}-of-00002.parquet"))
    (root / "README.md").write_text("---\nlicense: mit\n---\n")
    return root


def all_kinds(root: Path, stored: list[Stored]) -> dict[str, Path]:
    return {
        "folder": folder(root / "folder", stored),
        "parquet": parquet(root / "parquet", stored, row_group_size=5),
        "dataset": with_card(root / "dataset", stored),
    }


@pytest.mark.slow
def test_every_kind_of_source_gives_the_same_annotations(tiny_ares: Path, tmp_path: Path) -> None:
    stored = images(18, [b"broken", b"\x89PNG\r\n\x1a\n"])
    found = {}
    for kind, place in all_kinds(tmp_path, stored).items():
        annotate(tiny_ares, place, tmp_path / "out" / kind, shard=7)
        found[kind] = [{name: row[name] for name in LABELS} for row in rows(tmp_path / "out" / kind)]
    assert len(found["folder"]) == 20
    assert all(each == found["folder"] for each in found.values())


def test_the_list_is_in_a_fixed_order_and_its_hash_does_not_depend_on_the_place(tmp_path: Path) -> None:
    stored = images(30)
    first, second = folder(tmp_path / "one", stored), folder(tmp_path / "two", list(reversed(stored)))
    hashes = set()
    for place in (first, second):
        entries, sha256 = list_images(open_source(place))
        hashes.add(sha256)
        assert [entry.sample for entry in entries[:15]] == list(range(15))
    assert len(hashes) == 1


@pytest.mark.parametrize("kind", ["parquet", "dataset"])
def test_a_name_that_comes_twice_is_refused_with_both_places(kind: str, tmp_path: Path) -> None:
    stored = images(8)
    stored.append(stored[3])
    make = {"parquet": parquet, "dataset": with_card}[kind]
    with pytest.raises(
        BuildError, match=r"SOURCE_VALUE at \S+:? ?\d+: task 'generation_neutral', id 'neutral/painter', s"
    ):
        listed(make(tmp_path / "images", stored))


def test_names_that_are_no_items_are_refused_or_taken_as_files(tmp_path: Path) -> None:
    root = tmp_path / "photos"
    (root / "a").mkdir(parents=True)
    for name in ("a/portrait.png", "a/portrait.jpg", "top.webp"):
        (root / name).write_bytes(b"x")
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at top\.webp: 'top\.webp'.*<task>/<id>/<sample>"):
        listed(root)
    found = listed(root, names="files")
    assert [(entry.task, entry.id, entry.sample) for entry in found] == [
        ("images", "top.webp", 0),
        ("images", "a/portrait.jpg", 0),
        ("images", "a/portrait.png", 0),
    ]


@pytest.mark.parametrize("name", ["t/x.png", "t/i/x.png", "t/i/-1.png", "t/i/01.png", "t/i/²·png.png", "0.png"])
def test_a_path_without_a_sample_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "images" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    with pytest.raises(BuildError, match="SOURCE_LAYOUT"):
        listed(tmp_path / "images")


def test_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    root = folder(tmp_path / "images", images(2))
    (tmp_path / "secret.png").write_bytes(b"secret")
    (root / TASK / "neutral" / "nurse" / "7.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(BuildError, match=r"SOURCE_VALUE at .*/7\.png: a link that leads out"):
        listed(root)
    (root / TASK / "neutral" / "nurse" / "7.png").unlink()
    (root / TASK / "neutral" / "nurse" / "8.png").symlink_to(root / TASK / "neutral" / "nurse" / "0.png")
    (root / "linked").symlink_to(tmp_path)
    assert len(listed(root)) == 3


def test_a_snapshot_of_the_hubs_cache_is_read_through_its_links(tmp_path: Path) -> None:
    repo = tmp_path / "datasets--a--b"
    (repo / "blobs").mkdir(parents=True)
    (repo / "blobs" / "abc").write_bytes(b"image")
    file = repo / "snapshots" / "0123" / TASK / "neutral" / "nurse" / "0.png"
    file.parent.mkdir(parents=True)
    file.symlink_to(os.path.relpath(repo / "blobs" / "abc", file.parent))
    root = repo / "snapshots" / "0123"
    assert bytes_of(root, listed(root)) == [b"image"]


def test_a_path_in_parquet_is_a_name_and_is_never_opened(tiny_ares: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(images(1)[0].data or b"")
    place = parquet(tmp_path / "images", [Stored("neutral/nurse", 0, None, str(secret))], shards=1)
    report = annotate(tiny_ares, place, tmp_path / "out")
    assert report.data["counts"]["reasons"] == {"no_image": 1}


def test_an_image_that_is_not_what_its_hash_says_is_unreadable(tiny_ares: Path, tmp_path: Path) -> None:
    place = parquet(tmp_path / "images", images(3), shards=1)
    file = place / "images-00000-of-00001.parquet"
    table = pq.read_table(file)
    swapped = pa.array(["0" * 64, *table["sha256"].to_pylist()[1:]])
    pq.write_table(table.set_column(3, "sha256", swapped), file)
    report = annotate(tiny_ares, place, tmp_path / "out")
    assert report.data["counts"]["reasons"] == {"hash_differs": 1}


def test_columns_may_be_missing_where_images_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    file = tmp_path / "images" / "part.parquet"
    pq.write_table(pa.table({"item": ["a", "b"], "n": [0, 1], "photo": [b"1", b"2"]}), file)
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at part\.parquet: no column 'id'"):
        listed(tmp_path / "images")
    pq.write_table(pa.table({"item": ["a", "b"], "image": [b"1", b"2"]}), file)
    found = listed(file, names="files")
    assert [entry.id for entry in found] == ["part.parquet/0", "part.parquet/1"]
    assert bytes_of(file, found, names="files") == [b"1", b"2"]
    pq.write_table(pa.table({"image": ["a"]}), file)
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at part\.parquet, column image: string"):
        listed(file, names="files")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("sample", -1, "sample -1"), ("sample", None, "sample None"), ("id", "", "id ''"), ("sample", 2**40, "sample 1")],
)
def test_a_bad_name_in_a_row_is_said_with_its_row(column: str, value: Any, said: str, tmp_path: Path) -> None:
    data: dict[str, list[Any]] = {"task": ["t", "t"], "id": ["a", "a"], "sample": [0, 1], "image": [b"1", b"2"]}
    data[column][1] = value
    pq.write_table(pa.table(data), tmp_path / "images.parquet")
    with pytest.raises(BuildError, match=rf"SOURCE_VALUE at images\.parquet: (row 2|1): {said}"):
        listed(tmp_path / "images.parquet")


def test_damaged_containers_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at a\.parquet"):
        listed(tmp_path / "a.parquet")
    (tmp_path / "a.tgz").write_bytes(b"x")
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT at .*a\.tgz: a \.tgz file"):
        listed(tmp_path / "a.tgz")
    with pytest.raises(BuildError, match=r"SOURCE_MISSING at \./nowhere: nothing there"):
        listed("./nowhere")


def test_what_is_no_image_is_counted_and_no_image_is_an_error(tmp_path: Path) -> None:
    root = tmp_path / "images"
    root.mkdir()
    with pytest.raises(BuildError, match=r"SOURCE_MISSING at .*no image; passed over: nothing"):
        listed(root, names="files")
    for name in ("a.heic", "b.HEIC", "plain", "c.zip", ".hidden.png"):
        (root / name).write_bytes(b"x")
    (root / "linked").symlink_to(tmp_path)
    with pytest.raises(BuildError, match=r"2 \.heic, 1 \.zip, 1 hidden, 1 linked folders, 1 without a suffix"):
        listed(root, names="files")
    for name in ("0.jfif", "1.jpe", "2.JPG"):
        (root / name).write_bytes(b"x")
    pq.write_table(pa.table({"prompt": ["x"]}), root / "metadata.parquet")
    assert [entry.id for entry in listed(root, names="files")] == ["0.jfif", "1.jpe", "2.JPG"]
    assert "1 .parquet" in passed_over(open_source(root, names="files"))
