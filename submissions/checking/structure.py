"""Checks of a submission without its rows: files, `submission.json` and sizes of tables, in seconds at most.

A Space runs them before a file enters its queue.
"""

from __future__ import annotations

import io
from pathlib import Path

from fairspace.submissions.checking.meta import check_manifest, read_meta
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.collector import Collector, RefusedError
from fairspace.submissions.format.faults import CODES, Fault
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.containers import open_container
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.members import READ_ERRORS, Member
from fairspace.submissions.reading.parquet import HeaderBudget, check_parquet
from fairspace.submissions.reading.tables import sort_files, unreadable

SMALL = 16 << 20
"""Bytes after decompression below which a faulty submission is checked whole, so that all faults are told at once."""


def check_structure(path: Path, limits: Limits = LIMITS) -> tuple[Fault, ...]:
    """The faults of the zip at `path` that its structure shows; all faults of a small one that has any."""
    faults = Collector(limits.faults)
    limits = limits.of_zip(path.stat().st_size)
    with open_container(path, limits, faults) as members:
        files = sort_files(members, faults)
        read_meta(files.meta, bool(members), limits, faults)
        check_manifest(files.manifest, limits, faults)
        headers = HeaderBudget(limits.header_values)
        for table, shards in files.tables.items():
            for member in shards:
                if table in SCHEMAS and member.name.endswith(".parquet"):
                    _check_parquet(member, table, limits, faults, headers)
        size = sum(member.size for member in members)
    if not faults.all() or size > SMALL:
        return faults.all()
    return check_submission(path, allow_baseline=False).faults or faults.all()


def too_costly(seconds: int) -> Fault:
    """The fault of a file whose structure takes too many seconds of the processor."""
    what = f"its structure alone took more than {seconds} seconds of the processor"
    return Fault("CHECK_TOO_COSTLY", "the file", what, "a second or two", CODES["CHECK_TOO_COSTLY"].mend)


def _check_parquet(member: Member, table: str, limits: Limits, faults: Collector, headers: HeaderBudget) -> None:
    try:
        with member.open() as stream:
            held = io.BytesIO(stream.read(limits.member_bytes + 1))
        check_parquet(held, member.name, (table, SCHEMAS[table]), limits, faults, headers=headers)
    except RefusedError as refused:
        faults.refuse(refused, member.name)
    except READ_ERRORS as error:
        faults.refuse(unreadable(error), member.name)
