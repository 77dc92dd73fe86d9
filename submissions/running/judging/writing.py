"""Put judgements into a submission's folder, so that a kill at any moment leaves a submission that still checks.

The former judgements are removed, then `manifest.json` and `submission.json` replaced, then the new judgements
written, each file by a rename. A run that writes a submission anew keeps its judgements if the narratives are equal.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import FILE, Manifest, Stage, read_manifest, write_manifest
from fairspace.submissions.format.schema import REQUIRED, SubmissionMeta
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


@dataclass(frozen=True)
class Kept:
    """Files of judgements that still fit the narratives, `submission.json` with the judges, and their stages."""

    files: tuple[Path, ...] = ()
    meta: SubmissionMeta | None = None
    stages: tuple[Stage, ...] = ()

    def named(self, meta: SubmissionMeta) -> SubmissionMeta:
        """`submission.json` with the judges."""
        if self.meta is None:
            return meta
        return meta.model_copy(update={"judge": self.meta.judge, "other_judges": self.meta.other_judges})


def judgements_of(folder: Path) -> list[Path]:
    """The files of a submission's judgements; none if there is no such folder."""
    return sorted(folder.glob("judgements*"))


def kept_judgements(folder: Path, responses: pa.Table | None) -> Kept:
    """The judgements of a submission; none if they are not of these responses."""
    files = judgements_of(folder)
    try:
        meta = SubmissionMeta.model_validate_json((folder / META).read_bytes())
        stages = [stage for stage in read_manifest(folder).stages if stage.what == "judgements"]
        former = pq.read_table(folder / "responses.parquet")
    except (ValidationError, FileNotFoundError):
        return Kept()
    if not files or meta.judge is None or responses is None or _rows(former) != _rows(responses):
        return Kept()
    return Kept(tuple(files), meta, tuple(stages))


def _rows(table: pa.Table) -> list[dict[str, object]]:
    return table.select([*REQUIRED["responses"]]).to_pylist()


def link(file: Path, to: Path) -> None:
    """Hard-link a file; copy it where the disk has no links."""
    try:
        to.hardlink_to(file)
    except OSError:  # another file system, or one without links
        shutil.copyfile(file, to)
