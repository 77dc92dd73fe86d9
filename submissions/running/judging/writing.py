"""Put judgements into a submission's folder, so that a kill at any moment leaves a submission that still checks.

The former judgements are removed, then `manifest.json` and `submission.json` replaced, then the new judgements
written, each file by a rename.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import FILE, Manifest, Stage, read_manifest, write_manifest
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.tables import META

TABLE = "judgements.jsonl"
_ASIDE = "judged.new"


def write_judgements(folder: Path, work: Path, meta: SubmissionMeta, table: pa.Table, stages: Sequence[Stage]) -> None:
    """Replace a checked submission's judgements, and the stages of former judges.

    `work` is a folder on the same file system, for incomplete files; `meta` names the new judges.
    Errors: UsageError if former judgements are in several files, which cannot be removed at once.
    """
    former = sorted(file for file in folder.iterdir() if file.name.startswith("judgements"))
    if len(former) > 1:
        raise UsageError(f"{folder} has judgements in {len(former)} files; remove them, then judge again.")
    aside = work / _ASIDE
    if aside.exists():
        for file in aside.iterdir():
            file.unlink()
    write_submission(aside, meta, {"judgements": table}, table_format="jsonl")
    kept = [stage for stage in read_manifest(folder).stages if stage.what != "judgements"]
    write_manifest(aside, Manifest(stages=[*kept, *stages]))
    for file in aside.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    for file in former:
        file.unlink()
    for name in (FILE, META, TABLE):
        (aside / name).replace(folder / name)
    aside.rmdir()


def link(file: Path, to: Path) -> None:
    """Hard-link a file; copy it where the disk has no links."""
    try:
        to.hardlink_to(file)
    except OSError:  # another file system, or one without links
        shutil.copyfile(file, to)
