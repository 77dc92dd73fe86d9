"""A submission at a path, checked with a progress bar; and whether a path names a result instead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairspace.submissions.format.faults import SubmissionError

if TYPE_CHECKING:
    from fairspace.submissions.checking.submission import CheckReport
    from fairspace.submissions.format.schema import Submission


def check_with_progress(path: Path, *, allow_images: bool = True, allow_baseline: bool = True) -> CheckReport:
    """The report of the check of a submission."""
    from fairspace.submissions.checking.submission import check_submission
    from fairspace.submissions.progress import reported

    with reported(f"Checking {path.name}") as progress:
        return check_submission(path, progress=progress, allow_images=allow_images, allow_baseline=allow_baseline)


def checked_submission(path: Path) -> Submission:
    """A submission without images. SubmissionError holds the faults of one that has any."""
    report = check_with_progress(path, allow_images=False)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    return report.submission


def is_result(path: Path) -> bool:
    """Whether a path names a result rather than a submission, which is a folder or a zip: .json, or a file of JSON."""
    if path.is_dir():
        return False
    if path.suffix == ".json":
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")
