"""Keep the judgements of a submission that a run writes anew, as long as the narratives are the same."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from fairspace.submissions.format.manifest import Stage, read_manifest
from fairspace.submissions.format.schema import REQUIRED, SubmissionMeta
from fairspace.submissions.reading.tables import META


@dataclass(frozen=True)
class Kept:
    """Judgements that are still those of the narratives.

    Args:
        files: with them.
        meta: names the judges.
        stages: how they judged.
    """

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
    """The judgements of a submission; none if they are not of these responses, or nobody can say whose they are."""
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
    """A file under a second name; a copy where the disk has no links."""
    try:
        to.hardlink_to(file)
    except OSError:  # another file system, or one without links
        shutil.copyfile(file, to)
