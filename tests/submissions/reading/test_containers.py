import os
import struct
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.submissions.format.faults import Collector
from fairspace.submissions.reading.containers import (
    LIMITS,
    Limits,
    _open_file,
    open_container,
    open_zip,
    zip_members,
)
from tests.submissions.sample import write_folder, write_zip

FILES = {"a.jsonl": b"12345", "b.jsonl": b"123"}


def opened(path: Path, limits: Limits = LIMITS) -> tuple[dict[str, bytes], list[str]]:
    faults = Collector(limits.faults)
    with open_container(path, limits, faults) as members:
        contents = {}
        for member in members:
            with member.open() as stream:
                contents[member.name] = stream.read()
            assert member.size == len(contents[member.name])
    return contents, [fault.code for fault in faults.all()]


@pytest.fixture(params=["folder", "zip"])
def container(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "folder":
        return write_folder(tmp_path / "s", FILES)
    return write_zip(tmp_path / "s.zip", FILES.items())


def test_files_are_given_by_name_with_their_content(container: Path) -> None:
    assert opened(container) == (FILES, [])
    assert list(opened(container)[0]) == sorted(FILES)


@pytest.mark.parametrize(
    ("limit", "most", "left", "code"),
    [
        ("member_bytes", 5, ["a.jsonl", "b.jsonl"], ""),
        ("member_bytes", 4, ["b.jsonl"], "TOO_LARGE"),
        ("total_bytes", 8, ["a.jsonl", "b.jsonl"], ""),
        ("total_bytes", 7, [], "TOO_LARGE"),
        ("members", 2, ["a.jsonl", "b.jsonl"], ""),
        ("members", 1, [], "TOO_MANY_FILES"),
        ("name_length", 7, ["a.jsonl", "b.jsonl"], ""),
        ("name_length", 6, [], "UNSAFE_NAME"),
    ],
)
def test_each_limit_may_be_reached(limit: str, most: int, left: list[str], code: str, container: Path) -> None:
    contents, codes = opened(container, replace(LIMITS, **{limit: most}))
    assert list(contents) == left
    assert set(codes) == ({code} if code else set())


def test_images_in_a_folder_have_limits_of_their_own(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "s", {**FILES, "images.parquet": b"1" * 9})
    small = replace(LIMITS, member_bytes=5, total_bytes=8, image_member_bytes=9, image_total_bytes=9)
    assert list(opened(path, small)[0]) == ["a.jsonl", "b.jsonl", "images.parquet"]
    assert opened(path, replace(small, image_member_bytes=8)) == (FILES, ["TOO_LARGE"])
    assert opened(path, replace(small, image_total_bytes=8)) == (FILES, ["TOO_LARGE"])


def test_what_a_clone_leaves_is_not_opened(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "s", {**FILES, "README.md": b"x", ".gitattributes": b"x"})
    (path / ".git").mkdir()
    (path / ".cache").mkdir()
    assert opened(path) == (FILES, [])
    (path / "more").mkdir()
    assert opened(path) == (FILES, ["NESTED_FOLDER"])


def test_a_link_or_a_pipe_that_has_taken_a_files_place_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    with _open_file(tmp_path / "file") as stream:
        assert stream.read() == b"x"
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=r"symbolic links|no longer a plain file"):
            _open_file(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "target", "read"),
    [
        ("datasets--a--b", "../../blobs/hash", True),
        ("datasets--a--b", "{repo}/blobs/hash", True),
        ("datasets--a--b", "../../../other/blobs/hash", False),
        ("datasets--a--b", "/zz/hash", False),
        ("datasets--a--b", "{repo}/blobs/../blobs/hash", False),
        ("datasets--a--b", "../../blobs/other", False),
        ("datasets--a--b", "../../blobs/link", False),
        ("a--b", "../../blobs/hash", False),
    ],
)
def test_a_link_of_a_hub_snapshot_is_read_only_if_it_names_its_blob(
    name: str, target: str, read: bool, tmp_path: Path
) -> None:
    repo = tmp_path / name
    snapshot = write_folder(repo / "snapshots" / "commit", FILES)
    write_folder(repo / "blobs", {"hash": b"blob"})
    (repo / "blobs" / "link").symlink_to(repo / "blobs" / "hash")
    (snapshot / "c.jsonl").symlink_to(target.format(repo=repo))
    contents, codes = opened(snapshot)
    assert contents == (FILES | {"c.jsonl": b"blob"} if read else FILES)
    assert codes == ([] if read else ["LINK_REFUSED"])


def zipped(path: Path) -> Path:
    """Two stored members, of 100 and of 50 bytes; the directory begins right after the second."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.jsonl", bytes(100))
        archive.writestr("b.jsonl", bytes(50))
    return path


def with_size(path: Path, member: int, size: int) -> Path:
    data = bytearray(path.read_bytes())
    at = [place for place in range(len(data)) if data.startswith(b"PK\x01\x02", place)][member]
    struct.pack_into("<LL", data, at + 20, size, size)
    path.write_bytes(data)
    return path


def codes(path: Path) -> list[str]:
    faults = Collector(LIMITS.faults)
    with ExitStack() as stack:
        names = [member.name for member in zip_members(open_zip(path, stack, LIMITS), LIMITS, faults)]
    assert bool(names) != bool(faults.all())
    return [fault.code for fault in faults.all()]


@pytest.mark.parametrize(("member", "size"), [(0, 100), (1, 50)])
def test_members_may_lie_side_by_side_and_not_overlap(member: int, size: int, tmp_path: Path) -> None:
    """A local header has 30 bytes and a name, here of 7, which the directory's sizes leave out."""
    zipped(tmp_path / "s.zip")
    assert codes(tmp_path / "s.zip") == []
    assert codes(with_size(tmp_path / "s.zip", member, size + len("a.jsonl"))) == []
    assert codes(with_size(tmp_path / "s.zip", member, size + len("a.jsonl") + 1)) == ["ZIP_OVERLAP"]
