"""Folders of a submission's workings, and locks on them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairspace.builders.engine.output import alone
from fairspace.builders.errors import BuildError
from fairspace.submissions.errors import RunError

WORK = ".run"


def work_folder(out: Path) -> Path:
    """Folder of a submission's workings."""
    return out.with_name(out.name + WORK)


@contextmanager
def held(work: Path) -> Iterator[None]:
    """Lock a folder of workings, made if absent. RunError RUN_IN_USE if another run holds it."""
    try:
        with alone(work):
            yield
    except BuildError as error:
        if error.code != "OUT_IN_USE" or error.where != str(work):
            raise
        mend = "wait until it is done, or name another --out"
        raise RunError("RUN_IN_USE", str(work), "another run is writing here", "one at a time", mend) from error


def public_name(model: str) -> str:
    """A model's public name: of a path (begins with `/`, `.` or `~`, or has `//`) the last part, without the revision.

    Of a function in a file the file's name and the function stay. Nothing is looked up.
    """
    provider, _, what = model.partition("/")
    file, _, function = what.rpartition(":")
    if provider == "python" and (file.endswith(".py") or "/" in file):
        return f"{provider}/{_last(file)}:{function}"
    if what.startswith(("/", ".", "~")) or "//" in what or what[1:3] == ":/":
        return f"{provider}/{_last(what).partition('@')[0] or _NAMELESS}"
    return model


_NAMELESS = "folder"
"""Name of a folder whose path does not say it, such as `.` or `~`."""


def _last(path: str) -> str:
    parts = [part for part in path.split("/") if part.strip(". ") and part[0] != "~"]
    return parts[-1] if parts else _NAMELESS


def link(file: Path, to: Path) -> None:
    """Hard-link a file; copy it where the disk has no links."""
    try:
        to.hardlink_to(file)
    except OSError:  # another file system, or one without links
        shutil.copyfile(file, to)
