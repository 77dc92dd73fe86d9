"""Decompression bombs: the amount read is bounded by the size of the upload."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.faults import RefusedError
from fairspace.submissions.reading import parquet
from fairspace.submissions.reading.containers import LIMITS
from fairspace.submissions.reading.parquet import HeaderBudget, check_pages

LONG = b"\x18" + b"\xf0\xff\x3f" + b"a" * 0xFFFF0


def varint(number: int) -> bytes:
    value, parts = number << 1, bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def many(kind: int, elements: list[bytes]) -> bytes:
    count, size = bytearray(), len(elements)
    while size > 127:
        count.append(size & 127 | 128)
        size >>= 7
    return bytes([0xF0 | kind, *count, size]) + b"".join(elements)


def closed(content: bytes, footer: bytes) -> bytes:
    return b"PAR1" + content + footer + struct.pack("<I", len(footer)) + b"PAR1"


def page_bomb(groups: int = 100, columns: int = 300) -> bytes:
    """Row groups whose columns all lie at one page, which has a header of a megabyte."""
    page = b"\x15\x00\x15\x00\x15\x00\x5c" + LONG + b"\x00\x00"
    column = b"\x3c" + b"\x76" + varint(len(page)) + b"\x26" + varint(4) + b"\x00" + b"\x00"
    group = b"\x19" + many(12, [column] * columns) + b"\x26" + varint(1) + b"\x00"
    schema = many(12, [b"\x55" + varint(columns) + b"\x00", *[b"\x00"] * columns])
    footer = b"\x29" + schema + b"\x16" + varint(groups) + b"\x19" + many(12, [group] * groups) + b"\x00"
    return closed(page, footer)


def footer_bomb(kind: int, size: int = 1_000_000) -> bytes:
    """A footer of millions of values of a byte each: empty maps, lists, structs or truths."""
    return closed(b"", b"\x09" + varint(100) + many(kind, [b"\x00"] * size) + b"\x00")


def zipped(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        meta = baseline_meta("stereotyped", "fact_or_fair", 1, {})
        archive.writestr("submission.json", meta.model_dump_json(exclude_none=True))
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


class Counted(io.BytesIO):
    total = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.total += len(data)
        return data


BOMBS: dict[str, Callable[[], bytes]] = {
    "pages": page_bomb,
    "pages of few columns": lambda: page_bomb(100, 4),
    "maps": lambda: footer_bomb(11),
    "lists": lambda: footer_bomb(9),
    "structs": lambda: footer_bomb(12),
    "truths": lambda: footer_bomb(1),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_a_page_of_it_is_read(name: str) -> None:
    bomb = BOMBS[name]()
    stream, budget = Counted(bomb), HeaderBudget(LIMITS.of_zip(len(bomb)).header_values)
    with pytest.raises(RefusedError) as refused:
        check_pages(stream, LIMITS, budget)
    assert refused.value.code in ("PARQUET_CORRUPT", "TOO_LARGE")
    footer = struct.unpack("<I", bomb[-8:-4])[0]
    assert stream.total == footer + 12, "the footer and the marks at both ends"


@pytest.mark.parametrize("name", BOMBS)
def test_many_bombs_cost_no_more_than_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[HeaderBudget] = []
    begin = HeaderBudget.__init__

    def kept(self: HeaderBudget, most: int) -> None:
        begin(self, most)
        budgets.append(self)

    values = 0
    one_value = parquet.Compact._value

    def counted(self: parquet.Compact, kind: int, depth: int) -> object:
        nonlocal values
        values += 1
        return one_value(self, kind, depth)

    bomb = BOMBS[name]()
    shards = 4
    path = tmp_path / "bombs.zip"
    path.write_bytes(zipped({f"responses-{n:05}-of-{shards:05}.parquet": bomb for n in range(shards)}))
    monkeypatch.setattr(HeaderBudget, "__init__", kept)
    monkeypatch.setattr(parquet.Compact, "_value", counted)
    report = check_submission(path)
    assert {fault.code for fault in report.faults} <= {"PARQUET_CORRUPT", "TOO_LARGE", "COMPRESSION_RATIO"}
    assert report.faults
    assert len(budgets) == 1
    assert values <= budgets[0].most + shards * 100
