"""The files of a submission: a folder, a zip or a snapshot in the Hub's cache, opened without following or unpacking.

Nothing is ever written. Members of a zip are streamed; links, devices, nested archives and unsafe names are faults.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.collector import Collector, RefusedError
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.members import IGNORED, IMAGE_FILE, Member, name_is_safe
from fairspace.submissions.reading.zips import members as zip_members
from fairspace.submissions.reading.zips import open_zip

IGNORED_FOLDERS = (".cache", ".git")
"""Folders that a download or a clone from the Hub leaves in the folder; they are not entered."""


@contextmanager
def open_container(path: Path, limits: Limits, faults: Collector) -> Iterator[list[Member]]:
    """The readable files of the submission at `path`, sorted by name. UsageError: there is nothing at `path`."""
    if not os.path.lexists(path):
        raise UsageError(f"There is nothing at {path}. Name a folder or a zip.")
    if path.is_dir():
        members = list(_folder(path.resolve(), limits, faults))
        images = [member for member in members if IMAGE_FILE.fullmatch(member.name)]
        tables = [member for member in members if not IMAGE_FILE.fullmatch(member.name)]
        large = replace(limits, member_bytes=limits.image_member_bytes, total_bytes=limits.image_total_bytes)
        kept = [*_bounded(tables, limits, faults), *_bounded(images, large, faults)]
        yield sorted(kept, key=lambda member: member.name)
        return
    if not path.is_file():
        expected = "a folder or a .zip file"
        faults.add("NOT_A_SUBMISSION", "the submission", "neither a file nor a folder", expected=expected)
        yield []
        return
    with ExitStack() as stack:
        members = []
        try:
            archive = stack.enter_context(open_zip(path, stack, limits))
            members = _bounded(list(zip_members(archive, limits, faults)), limits, faults)
        except RefusedError as refused:
            faults.refuse(refused, "the file")
        yield members


def _bounded(members: list[Member], limits: Limits, faults: Collector) -> list[Member]:
    """The members whose size is within the limits; none if all together are not."""
    kept, total = [], 0
    for member in sorted(members, key=lambda member: member.name):
        total += member.size
        if member.size > limits.member_bytes:
            most = f"at most {limits.member_bytes:,} bytes a file"
            faults.add("TOO_LARGE", member.name, f"{member.size:,} bytes", expected=most)
        else:
            kept.append(member)
    if total > limits.total_bytes:
        most = f"at most {limits.total_bytes:,} bytes in all"
        faults.add("TOO_LARGE", "the submission", f"{total:,} bytes", expected=most)
        return []
    return kept


def _folder(path: Path, limits: Limits, faults: Collector) -> Iterator[Member]:
    seen: dict[str, str] = {}
    try:
        with os.scandir(path) as scanned:
            entries = list(islice(scanned, limits.members + 1))
        if len(entries) > limits.members:
            what = f"more than {limits.members:,} files"
            faults.add("TOO_MANY_FILES", "the folder", what, expected=f"at most {limits.members:,}")
            return
        for entry in entries:
            if entry.name not in IGNORED and name_is_safe(entry.name, seen, limits, faults):
                yield from _entry(path, entry, faults)
    except OSError as error:
        faults.add("UNREADABLE_FILE", "the folder", error.strerror or "no access", expected="a readable folder")


def _entry(path: Path, entry: os.DirEntry[str], faults: Collector) -> Iterator[Member]:
    status = entry.stat(follow_symlinks=False)
    file = Path(entry.path)
    if stat.S_ISLNK(status.st_mode):
        blob = _blob(path, file)
        if blob is None:
            faults.add("LINK_REFUSED", entry.name, "a symbolic link", expected="the file itself")
            return
        file, status = blob, blob.lstat()
    if stat.S_ISDIR(status.st_mode):
        if entry.name not in IGNORED_FOLDERS:
            faults.add("NESTED_FOLDER", entry.name, "a folder", expected="files alone, at the top level")
    elif stat.S_ISREG(status.st_mode):
        yield Member(entry.name, status.st_size, partial(_open_file, file))
    else:
        faults.add("NOT_A_FILE", entry.name, "a pipe, socket or device", expected="a plain file")


def _blob(path: Path, link: Path) -> Path | None:
    """The file that a link of a Hub snapshot stands for: `snapshots/<commit>/x` -> `../../blobs/<hash>`, else None."""
    target = link.readlink()
    repo = path.parent.parent
    blob = repo / "blobs" / target.name
    in_cache = path.parent.name == "snapshots" and repo.name.startswith(("datasets--", "models--", "spaces--"))
    named = target.parts == ("..", "..", "blobs", target.name) or target == blob
    plain = target.name not in ("", ".", "..") and (repo / "blobs").is_dir() and not (repo / "blobs").is_symlink()
    if in_cache and named and plain and not blob.is_symlink() and blob.is_file():
        return blob
    return None


def _open_file(path: Path) -> IO[bytes]:
    """Open a plain file; a link, pipe or device that has taken its place is an OSError, and never waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path.name} is no longer a plain file")
    return os.fdopen(handle, "rb")
