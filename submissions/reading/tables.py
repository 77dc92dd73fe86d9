"""From the files of a submission to the JSON of `submission.json` and to Arrow tables, with a fault for all else."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pyarrow as pa

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.jsonl import read_jsonl
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.members import ARCHIVES, READ_ERRORS, Member
from fairspace.submissions.reading.parquet import read_parquet
from fairspace.submissions.reading.strict_json import check_values, decode, parse
from fairspace.submissions.reading.thrift import HeaderBudget

META = "submission.json"
MANIFEST = "manifest.json"
_TABLE_FILE = re.compile(
    r"(responses|annotations|judgements|human_labels|images)(?:-(\d{5})-of-(\d{5}))?\.(jsonl|parquet)"
)
FILE_BITS = 40
LINE_BYTES = 120
"""Bytes of JSONL that cost as much as a short line; longer lines count as several."""
Progress = Callable[[str, int, int], None]


@dataclass
class Files:
    """The files of a submission, by what they are."""

    meta: Member | None = None
    manifest: Member | None = None
    tables: dict[str, list[Member]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """The well-formed rows of one table, and where each of them stands.

    Args:
        table: rows with the table's schema.
        places: per row, file number and line (or row) number in one integer.
        files: the files' names.
    """

    table: pa.Table
    places: Any
    files: tuple[str, ...]

    def where(self, row: int) -> tuple[str, str]:
        """File and place of a row, for a fault."""
        name = self.files[int(self.places[row]) >> FILE_BITS]
        unit = "line" if name.endswith(".jsonl") else "row"
        return name, f"{unit} {int(self.places[row]) & ((1 << FILE_BITS) - 1)}"

    def file_numbers(self) -> Any:
        """Per row the number of its file."""
        return self.places >> FILE_BITS


def sort_files(members: list[Member], faults: Collector) -> Files:
    """Which member is what; notes unknown, missing and contradicting files."""
    files = Files()
    known = (META, MANIFEST, *(f"{table}.{end}" for table in SCHEMAS for end in ("jsonl", "parquet")), "images.parquet")
    for member in members:
        match = _TABLE_FILE.fullmatch(member.name)
        if member.name == META:
            files.meta = member
        elif member.name == MANIFEST:
            files.manifest = member
        elif match and (match[1] != "images" or match[4] == "parquet"):
            files.tables.setdefault(match[1], []).append(member)
        elif member.name.lower().endswith(ARCHIVES):
            expected = "the files themselves"
            faults.add("NESTED_ARCHIVE", member.name, "an archive in the submission", expected=expected)
        else:
            what = f"the file {show(member.name)}{did_you_mean(member.name, known)}"
            faults.add("UNKNOWN_FILE", member.name, what, expected=", ".join(known))
    for table in list(files.tables):
        if not _shards_fit(table, [member.name for member in files.tables[table]], faults):
            del files.tables[table]
    return files


def _shards_fit(table: str, names: list[str], faults: Collector) -> bool:
    matches = [match for name in names if (match := _TABLE_FILE.fullmatch(name))]
    if len({match[4] for match in matches}) > 1:
        faults.add("MIXED_FORMATS", table, f"{names[0]} and {names[-1]}", expected=".jsonl or .parquet")
        return False
    if len(matches) == 1 and matches[0][2] is None:
        return True
    totals = {match[3] for match in matches}
    numbers = sorted(int(match[2]) for match in matches if match[2])
    if len(totals) > 1 or None in totals or numbers != list(range(int(matches[0][3]))):
        what = f"{len(names)} files: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
        expected = f"{table}-00000-of-0000n to the last one of n, or one file without a number"
        faults.add("SHARDS_INCOMPLETE", table, what, expected=expected)
        return False
    return True


def read_object(member: Member, most: int, depth: int) -> dict[str, Any]:
    """The one object in `submission.json` or `manifest.json`.

    Args:
        member: the file.
        most: bytes that are read.
        depth: nesting that is read.

    RefusedError says what is wrong with the file or its JSON.
    """
    if member.size > most:
        raise RefusedError("TOO_LARGE", f"{member.size:,} bytes", f"at most {most:,} bytes")
    try:
        with member.open() as stream:
            data = stream.read(most + 1)
    except READ_ERRORS as error:
        raise unreadable(error) from error
    if len(data) > most:
        raise RefusedError("TOO_LARGE", "it grew while it was read", f"at most {most:,} bytes")
    parsed = parse(decode(data), depth)
    if not isinstance(parsed, dict):
        raise RefusedError("NOT_AN_OBJECT", f"found {show(parsed)}", f"an object with the fields of {member.name}")
    check_values(parsed)
    return parsed


def unreadable(error: Exception) -> RefusedError:
    """What reading raised, as a refusal."""
    return RefusedError("UNREADABLE_FILE", show(str(error)), "a file that can be read")


class Budget:
    """Counts bytes, rows and values of headers over all tables, and stops the reading at the limits."""

    def __init__(self, limits: Limits, total: int, progress: Progress | None):
        self.limits, self.total, self.progress = limits, total, progress
        self.headers = HeaderBudget(limits.header_values)
        self.bytes = self.rows = self.lines = self.good = self.done = 0

    def spend_lines(self, count: int, lines: int) -> None:
        """Note what a block of JSONL holds. RefusedError: as `spend`."""
        self.lines += max(lines, count // LINE_BYTES)
        if self.lines > self.limits.lines:
            raise RefusedError("TOO_MANY_ROWS", f"more than {self.limits.lines:,} lines of JSONL", "tables as Parquet")
        self.spend(count, lines)

    def check_faulty(self) -> None:
        """Count the rows that were spent and are not good. RefusedError: TOO_MANY_FAULTY_ROWS."""
        faulty = self.rows - self.good
        if faulty > self.limits.faulty_rows:
            most = f"at most {self.limits.faulty_rows:,}"
            raise RefusedError("TOO_MANY_FAULTY_ROWS", f"{faulty:,} in {self.rows:,} rows", most)

    def spend(self, count: int, rows: int) -> None:
        """Note what a block holds. RefusedError: TOO_LARGE, TOO_MANY_ROWS."""
        self.bytes += count
        self.rows += rows
        if self.bytes > self.limits.total_bytes:
            raise RefusedError(
                "TOO_LARGE", "too many bytes in all tables", f"at most {self.limits.total_bytes:,} bytes"
            )
        if self.rows > self.limits.rows:
            raise RefusedError("TOO_MANY_ROWS", f"more than {self.limits.rows:,} rows", "each item and sample once")

    def report(self, member: Member) -> None:
        """Tell how far the reading has come."""
        self.done += member.size
        if self.progress is not None:
            self.progress(f"read {member.name}", self.done, self.total)


def read_table(table: str, members: list[Member], limits: Limits, faults: Collector, budget: Budget) -> Rows:
    """All well-formed rows of one table, over its shards."""
    pieces = [SCHEMAS[table].empty_table()]
    places = [np.zeros(0, np.int64)]
    for number, member in enumerate(members):
        try:
            budget.check_faulty()
            with member.open() as stream:
                for piece, lines in _pieces(stream, member, table, limits, faults, budget):
                    budget.good += piece.num_rows
                    budget.check_faulty()
                    pieces.append(piece)
                    places.append(np.asarray(lines, np.int64) + (number << FILE_BITS))
        except RefusedError as refused:
            faults.refuse(refused, member.name)
        except READ_ERRORS as error:
            faults.refuse(unreadable(error), member.name)
        budget.report(member)
    names = tuple(member.name for member in members)
    return Rows(pa.concat_tables(pieces), np.concatenate(places), names)


def _pieces(
    stream: IO[bytes], member: Member, table: str, limits: Limits, faults: Collector, budget: Budget
) -> Iterator[tuple[pa.Table, Any]]:
    schema = (table, SCHEMAS[table])
    if member.name.endswith(".jsonl"):
        return read_jsonl(stream, member.name, schema, limits, faults, budget.spend_lines)
    seekable: IO[bytes] = io.BytesIO(stream.read(limits.member_bytes + 1))
    return read_parquet(seekable, member.name, schema, limits, faults, budget.spend, headers=budget.headers)
