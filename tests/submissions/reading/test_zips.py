"""Members of a zip that share bytes with each other or with the directory are refused before they are read."""

from __future__ import annotations

import struct
import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairspace.submissions.format.collector import Collector
from fairspace.submissions.reading.containers import members, open_zip
from fairspace.submissions.reading.limits import LIMITS


def zipped(path: Path) -> Path:
    """Two stored members, of 100 and of 50 bytes; the directory begins right after the second."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.jsonl", bytes(100))
        archive.writestr("b.jsonl", bytes(50))
    return path


def with_size(path: Path, member: int, size: int) -> Path:
    """The same zip, whose directory says that a member has so many bytes."""
    data = bytearray(path.read_bytes())
    at = [place for place in range(len(data)) if data.startswith(b"PK\x01\x02", place)][member]
    struct.pack_into("<LL", data, at + 20, size, size)
    path.write_bytes(data)
    return path


def codes(path: Path) -> list[str]:
    faults = Collector(LIMITS.faults)
    with ExitStack() as stack:
        names = [member.name for member in members(open_zip(path, stack, LIMITS), LIMITS, faults)]
    assert bool(names) != bool(faults.all())
    return [fault.code for fault in faults.all()]


@pytest.mark.parametrize(("member", "size"), [(0, 100), (1, 50)])
def test_members_may_lie_side_by_side_and_not_overlap(member: int, size: int, tmp_path: Path) -> None:
    """A local header has 30 bytes and a name, here of 7, which the directory's sizes leave out."""
    zipped(tmp_path / "s.zip")
    assert codes(tmp_path / "s.zip") == []
    assert codes(with_size(tmp_path / "s.zip", member, size + len("a.jsonl"))) == []
    assert codes(with_size(tmp_path / "s.zip", member, size + len("a.jsonl") + 1)) == ["ZIP_OVERLAP"]
