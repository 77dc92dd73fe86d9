"""Bounds on time and memory of reading that no honest submission comes near."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Limits:
    """Bounds for one submission; excesses are faults, found before reading wherever possible.

    Args:
        ratio: Decompressed over compressed size of a zip member of more than `ratio_from` bytes.
        row_bytes: Bytes of one line of JSONL, or one text of a Parquet file.
        lines: Rows of all JSONL files; long ones count as their bytes over the length of a short one.
        faulty_rows: Faulty rows of all tables before reading stops.
        header_values: Values in the footers and page headers of all Parquet files.
        depth: Nesting of one JSON value.
        faults: Faults in the report; a note counts the others.
        image_member_bytes: Bytes of one file of images in a folder; in a zip `member_bytes` holds.
        image_total_bytes: Bytes of all files of images in a folder, and of all images; in a zip `total_bytes` holds.
    """

    members: int = 2_000
    name_length: int = 128
    total_bytes: int = 1 << 30
    member_bytes: int = 512 << 20
    meta_bytes: int = 256 << 10
    ratio: int = 200
    ratio_from: int = 4 << 20
    row_bytes: int = 1 << 20
    rows: int = 3_000_000
    lines: int = 10_000_000
    faulty_rows: int = 100_000
    row_groups: int = 4_096
    header_values: int = 20_000_000
    depth: int = 16
    faces: int = 1_000
    faults: int = 100
    image_member_bytes: int = 1 << 30
    image_total_bytes: int = 64 << 30
    images: int = 200_000

    def of_zip(self, size: int) -> Limits:
        """The limits of a zip of `size` bytes, so that the upload bounds the cost of reading.

        A line of JSONL takes about five microseconds and at least three bytes, a row of Parquet one of each.
        """
        return replace(
            self,
            total_bytes=min(self.total_bytes, (128 << 20) + 64 * size),
            rows=min(self.rows, 1_000_000 + size),
            lines=min(self.lines, 150_000 + size // 3),
            faulty_rows=min(self.faulty_rows, 50_000 + size // 20),
            header_values=min(self.header_values, 400_000 + size // 2),
        )


LIMITS = Limits()
