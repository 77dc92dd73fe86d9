"""Pack the folder of a submission into a zip: the files that are read, the same bytes for the same files."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from fairspace.submissions.format.collector import Collector
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.format.writing import EPOCH
from fairspace.submissions.reading.containers import open_container
from fairspace.submissions.reading.limits import LIMITS, Limits

_UNIX = 3


def pack(folder: Path, path: Path, limits: Limits = LIMITS) -> Path:
    """Write the files of the submission in `folder` into a new zip at `path`. SubmissionError: it cannot be packed."""
    faults = Collector(limits.faults)
    with open_container(folder, limits, faults) as members:
        if listed := faults.all():
            raise SubmissionError(list(listed))
        with zipfile.ZipFile(path, "x") as archive:
            for member in members:
                info = zipfile.ZipInfo(member.name, EPOCH)
                info.create_system = _UNIX
                info.compress_type = zipfile.ZIP_DEFLATED if member.name.endswith(("l", "n")) else zipfile.ZIP_STORED
                with member.open() as source, archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    return path
