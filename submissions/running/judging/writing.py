"""Put judgements into a submission's folder, so that a kill at any moment leaves a submission that still checks.

First the former judgements go, then `manifest.json` and `submission.json` are replaced, and the new judgements come
last: they are never there under another judge's name, and a submission between has none. Each file is written aside and
then renamed. The same command writes it anew, as all answers are in the judges' journals.
"""

from __future__ import annotations

import os
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
    """Replace a submission's judgements.

    Args:
        folder: of a submission that checks.
        work: folder on the same file system, for files that are not whole yet.
        meta: `submission.json`, which names the judges.
        table: their judgements.
        stages: how they judged; those of former judges go.

    Errors: UsageError if former judgements are in several files, which cannot go at once.
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
