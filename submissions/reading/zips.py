"""The members of a zip, listed without unpacking: what is damaged, encrypted, overlapping or a bomb is a fault.

Members are streamed later, one after the other; their names are never used as paths.
"""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.members import IGNORED, READ_ERRORS, Member, name_is_safe


def open_zip(path: Path, stack: ExitStack, limits: Limits) -> zipfile.ZipFile:
    """The zip at `path`, open as long as `stack` is.

    RefusedError: NOT_A_SUBMISSION, ZIP_CORRUPT, ZIP64, TOO_MANY_FILES.
    """
    try:
        stream = stack.enter_context(path.open("rb"))
        _check_directory(stream, path.stat().st_size, limits)
        return zipfile.ZipFile(stream)
    except RefusedError:
        raise
    except READ_ERRORS as error:
        raise RefusedError("ZIP_CORRUPT", show(str(error)), "a zip that can be read") from error


def check_zip(path: Path, limits: Limits = LIMITS) -> None:
    """Refuse what is no whole zip, from its first bytes and its last. RefusedError as `open_zip`; OSError."""
    with path.open("rb") as stream:
        _check_directory(stream, path.stat().st_size, limits)


def _check_directory(stream: IO[bytes], size: int, limits: Limits) -> None:
    """Refuse what is no zip and a zip whose directory is too large to be read, before `zipfile` reads it."""
    stream.seek(max(0, size - 65_557))
    tail = stream.read(65_557)
    plain = len(tail) >= 22 and tail[-22:-18] == b"PK\x05\x06" and tail[-2:] == b"\0\0"
    end = len(tail) - 22 if plain else tail.rfind(b"PK\x05\x06")
    stream.seek(0)
    if end < 0 or len(tail) - end < 22:
        starts_as_zip = stream.read(4) == b"PK\x03\x04"
        code = "ZIP_CORRUPT" if starts_as_zip else "NOT_A_SUBMISSION"
        what = "a zip without its directory (truncated?)" if starts_as_zip else "a file that is no zip"
        raise RefusedError(code, what, "a folder or a .zip file")
    if tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        raise RefusedError("ZIP64", "a zip64 directory", "an ordinary zip")
    entries, length = struct.unpack("<HL", tail[end + 10 : end + 16])
    if entries > limits.members or length > limits.members * 512:
        raise RefusedError("TOO_MANY_FILES", f"{entries:,} entries", f"at most {limits.members:,}")


def members(archive: zipfile.ZipFile, limits: Limits, faults: Collector) -> Iterator[Member]:
    """The members that can be read; notes a fault for every other one. RefusedError: ZIP_CORRUPT."""
    infos = archive.infolist()
    if len(infos) > limits.members:
        most = f"at most {limits.members:,}"
        faults.add("TOO_MANY_FILES", "the zip", f"{len(infos):,} members", expected=most)
        return
    if any(info.header_offset < 0 for info in infos):
        raise RefusedError("ZIP_CORRUPT", "members that begin before the file", "a zip that can be read")
    if _overlaps(infos, archive.start_dir):
        faults.add("ZIP_OVERLAP", "the zip", "members that share bytes", expected="members one after the other")
        return
    seen: dict[str, str] = {}
    for info in infos:
        name = info.orig_filename
        if name.removesuffix("/") in IGNORED:
            continue
        if name_is_safe(name, seen, limits, faults) and _info_is_plain(info, limits, faults):
            yield Member(name, info.file_size, partial(archive.open, info))


def _overlaps(infos: list[zipfile.ZipInfo], end: int) -> bool:
    """Whether two members, or a member and the directory, share bytes (as in a quine or an overlapping bomb)."""
    starts = sorted((i.header_offset, i.header_offset + 30 + i.compress_size) for i in infos)
    following = [start for start, _ in starts[1:]] + [end]
    return any(stop > start for (_, stop), start in zip(starts, following, strict=False))


def _info_is_plain(info: zipfile.ZipInfo, limits: Limits, faults: Collector) -> bool:
    name, mode = info.orig_filename, info.external_attr >> 16
    if stat.S_ISLNK(mode):
        faults.add("LINK_REFUSED", name, "a symbolic link", expected="the file itself")
    elif info.is_dir() or stat.S_ISDIR(mode):
        faults.add("NESTED_FOLDER", name, "a folder", expected="files alone, at the top level")
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        faults.add("NOT_A_FILE", name, "a pipe, socket or device", expected="a plain file")
    elif info.flag_bits & 0x1:
        faults.add("ZIP_ENCRYPTED", name, "an encrypted member", expected="plain members")
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        faults.add("ZIP_METHOD", name, f"compression method {info.compress_type}", expected="stored or deflated")
    elif info.file_size > limits.ratio_from and info.file_size > limits.ratio * info.compress_size:
        growth = f"{info.compress_size:,} bytes that become {info.file_size:,}"
        faults.add("COMPRESSION_RATIO", name, growth, expected=f"at most {limits.ratio} times as many")
    else:
        return True
    return False
