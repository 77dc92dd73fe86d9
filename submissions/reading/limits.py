"""How much of a submission is read: bounds on time and memory that no honest submission comes near."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Limits:
    """Bounds for one submission; what is beyond them is a fault, found before it is read wherever that is possible.

    Args:
        members: files in the folder or zip.
        name_length: characters of a file's name.
        total_bytes: all files together, after decompression.
        member_bytes: one file, after decompression.
        meta_bytes: `submission.json`; `manifest.json` alike.
        ratio: decompressed size over compressed size of a zip member, if that is larger than `ratio_from` bytes.
        ratio_from: see `ratio`.
        row_bytes: one line of JSONL, or one text of a Parquet file.
        rows: rows of all tables together.
        lines: rows of all JSONL files together; of long ones, their bytes by the length of a short one.
        faulty_rows: rows of all tables that may be faulty; after them the rest is left.
        row_groups: row groups of one Parquet file.
        header_values: values in the footers and page headers of all Parquet files.
        depth: nesting of one JSON value.
        faces: faces of one image.
        faults: faults in the report; the others are counted in a note.
        image_member_bytes: one file of images in a folder; in a zip `member_bytes` holds.
        image_total_bytes: all files of images in a folder, and all images once they are read; in a zip `total_bytes`.
        images: rows of all files of images.
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
        """The limits of a zip of so many bytes: what reading it costs is bounded by what was handed in.

        A line of JSONL takes about five microseconds, a row of Parquet one. A submission of equal answers shrinks to
        three bytes for each line, and to one for each row.
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
