"""The files of a submission (a folder, a zip or a snapshot in the Hub's cache), without following or unpacking.

Nothing is written and names are never used as paths. Members of a zip are streamed; links, devices, nested archives,
unsafe names, and damaged, encrypted or overlapping members or bombs are faults. `Limits` bounds the time and memory of
all reading, far from any honest submission.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

from fairspace.submissions.errors import UsageError, address
from fairspace.submissions.format.faults import Collector, RefusedError, show


@dataclass(frozen=True)
class Limits:
    """Bounds for one submission; excesses are faults, found before reading wherever possible.

    Args:
        ratio: Decompressed over compressed size of a zip member of more than `ratio_from` bytes.
        row_bytes: Bytes of one line of JSONL, or one text of a Parquet file.
        lines: Rows of all JSONL files; long ones count as their bytes over the length of a short one.
        faulty_rows: Faulty rows of all tables before reading stops.
        header_values: Values in the footers and page headers of all Parquet files.
        depth: Nesting of one JSON value.
        faults: Faults in the report; a note counts the others.
        image_member_bytes: Bytes of one file of images in a folder; in a zip `member_bytes` holds.
        image_total_bytes: Bytes of all files of images in a folder, and of all images; in a zip `total_bytes` holds.
    """

    members: int = 2_000
    name_length: int = 128
    total_bytes: int = 1 << 30
    member_bytes: int = 512 << 20
    meta_bytes: int = 256 << 10
    ratio: int = 200
    ratio_from: int = 4 << 20
    row_bytes: int = 1 << 20
    rows: int = 3_000_000
    lines: int = 10_000_000
    faulty_rows: int = 100_000
    row_groups: int = 4_096
    header_values: int = 20_000_000
    depth: int = 16
    faces: int = 1_000
    faults: int = 100
    image_member_bytes: int = 1 << 30
    image_total_bytes: int = 64 << 30
    images: int = 200_000

    def of_zip(self, size: int) -> Limits:
        """The limits of a zip of `size` bytes, so that the upload bounds the cost of reading.

        A line of JSONL takes about five microseconds and at least three bytes, a row of Parquet one of each.
        """
        return replace(
            self,
            total_bytes=min(self.total_bytes, (128 << 20) + 64 * size),
            rows=min(self.rows, 1_000_000 + size),
            lines=min(self.lines, 150_000 + size // 3),
            faulty_rows=min(self.faulty_rows, 50_000 + size // 20),
            header_values=min(self.header_values, 400_000 + size // 2),
        )


LIMITS = Limits()


IGNORED = ("README.md", "LICENSE", "LICENSE.txt", ".gitattributes", ".gitignore", "annotation.json")
"""Unopened companions of a submission in a dataset repo on the Hub, or from `fairspace ares annotate`."""
IMAGE_FILE = re.compile(r"images(-\d{5}-of-\d{5})?\.parquet")
"""A file of images; in a folder it may be larger than others."""
ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".whl", ".jar")
READ_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    IndexError,
)
LEFTOVERS = re.compile(r"(__MACOSX/.*|(.*/)?(\._[^/]+|\.DS_Store|Thumbs\.db|desktop\.ini))", re.IGNORECASE | re.DOTALL)
"""Files that Mac and Windows leave in folders, and so in zips; they are named and never opened."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Member:
    """One file of a submission: its name, size after decompression and opener."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


def name_is_safe(name: str, names: dict[str, str], limits: Limits, faults: Collector) -> bool:
    """Whether a name is a plain and unique file name; notes a fault if not."""
    parts = name.removesuffix("/").split("/")
    marks = any(unicodedata.category(character)[0] == "C" for character in name)
    if marks or len(name) > limits.name_length:
        problem = show(name) if marks else f"{show(name, 40)}, {len(name)} characters"
        faults.add(
            "UNSAFE_NAME", show(name, 40), problem, expected=f"at most {limits.name_length} printable characters"
        )
    elif name.startswith("/") or "\\" in name or re.match("[A-Za-z]:", name) or {"", ".", ".."} & set(parts):
        faults.add("UNSAFE_PATH", show(name), "a path that leaves the submission", expected="a plain file name")
    elif any(_RESERVED.fullmatch(part) or part[-1] in ". " for part in parts):
        faults.add("UNSAFE_NAME", show(name), "a name that some systems reserve", expected="a name of the format")
    elif len(parts) > 1:
        problem = "a file in a folder"
        faults.add("NESTED_FOLDER", show(parts[0]), problem, expected="files alone, at the top level")
    elif names.get(name.casefold()) == name:
        faults.add("DUPLICATE_FILE", name, "two members of this name", expected="every name once")
    elif name.casefold() in names:
        problem = f"{show(name)} beside {show(names[name.casefold()])}"
        faults.add("CASE_COLLISION", show(name), problem, expected="names that differ in more than capitals")
    else:
        names[name.casefold()] = name
        return True
    return False


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
    """Refuse an incomplete zip by its first and last bytes. RefusedError as `open_zip`; OSError."""
    with path.open("rb") as stream:
        _check_directory(stream, path.stat().st_size, limits)


def _check_directory(stream: IO[bytes], size: int, limits: Limits) -> None:
    """Refuse a zip with too large a directory before `zipfile` reads it."""
    stream.seek(max(0, size - 65_557))
    tail = stream.read(65_557)
    plain = len(tail) >= 22 and tail[-22:-18] == b"PK\x05\x06" and tail[-2:] == b"\0\0"
    end = len(tail) - 22 if plain else tail.rfind(b"PK\x05\x06")
    stream.seek(0)
    if stream.read(4) not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise RefusedError("NOT_A_SUBMISSION", "a file that does not begin as a zip", "a folder or a .zip file")
    if end < 0 or len(tail) - end < 22:
        raise RefusedError("ZIP_CORRUPT", "a zip without its directory (truncated?)", "a folder or a .zip file")
    if tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        raise RefusedError("ZIP64", "a zip64 directory", "an ordinary zip")
    entries, length = struct.unpack("<HL", tail[end + 10 : end + 16])
    if entries > limits.members or length > limits.members * 512:
        raise RefusedError("TOO_MANY_FILES", f"{entries:,} entries", f"at most {limits.members:,}")


def zip_members(archive: zipfile.ZipFile, limits: Limits, faults: Collector) -> Iterator[Member]:
    """The readable members; notes a fault for every other one. RefusedError: ZIP_CORRUPT."""
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
    names: dict[str, str] = {}
    for info in infos:
        name = info.orig_filename
        if _is_left_out(name, faults):
            continue
        if name_is_safe(name, names, limits, faults) and _info_is_plain(info, limits, faults):
            yield Member(name, info.file_size, partial(archive.open, info))


def _is_left_out(name: str, faults: Collector) -> bool:
    if ".." not in name and LEFTOVERS.fullmatch(name):
        faults.passed_over.append(f"{show(name, 40)}, which Mac or Windows left there")
        return True
    return name.removesuffix("/") in IGNORED or (name.split("/")[0] in IGNORED_FOLDERS and ".." not in name)


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


IGNORED_FOLDERS = (".cache", ".git", "routes")
"""Folders of a download or clone from the Hub, or from `fairspace ares annotate`; they are not entered."""
_PICTURE = re.compile(r"[^.].*\.(avif|bmp|gif|heic|jfif|jpe|jpe?g|png|tiff?|webp)", re.IGNORECASE)


def _pictures(path: Path, limits: Limits) -> int:
    """The number of pictures below a folder that is no submission, at most the limit of files; 0 for any other."""
    names = list(islice((name for _, _, files in os.walk(path) for name in files), limits.members))
    return 0 if "submission.json" in names else sum(_PICTURE.fullmatch(name) is not None for name in names)


@contextmanager
def open_container(path: Path, limits: Limits, faults: Collector) -> Iterator[list[Member]]:
    """The readable files of the submission at `path`, sorted by name. UsageError: there is nothing at `path`."""
    if not os.path.lexists(path):
        where = address(path)
        raise UsageError(
            f"There is nothing at {where or path}. {'Download it, and n' if where else 'N'}ame a folder or a zip."
        )
    if path.is_dir() and (number := _pictures(path, limits)):
        faults.add("PICTURES", show(path.name), f"{number:,} pictures", expected="submission.json and images.parquet")
        yield []
        return
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
    names: dict[str, str] = {}
    try:
        with os.scandir(path) as scanned:
            entries = list(islice(scanned, limits.members + 1))
        if len(entries) > limits.members:
            what = f"more than {limits.members:,} files"
            faults.add("TOO_MANY_FILES", "the folder", what, expected=f"at most {limits.members:,}")
            return
        for entry in entries:
            name = f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
            if not _is_left_out(name, faults) and name_is_safe(entry.name, names, limits, faults):
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
    """The target of a link in a Hub snapshot: `snapshots/<commit>/x` -> `../../blobs/<hash>`, else None."""
    target = link.readlink()
    repo = path.parent.parent
    blob = repo / "blobs" / target.name
    in_cache = path.parent.name == "snapshots" and repo.name.startswith(("datasets--", "models--", "spaces--"))
    is_blob = target.parts == ("..", "..", "blobs", target.name) or target == blob
    plain = target.name not in ("", ".", "..") and (repo / "blobs").is_dir() and not (repo / "blobs").is_symlink()
    if in_cache and is_blob and plain and not blob.is_symlink() and blob.is_file():
        return blob
    return None


def _open_file(path: Path) -> IO[bytes]:
    """Open a plain file without waiting; OSError for a link, pipe or device in its place."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path.name} is no longer a plain file")
    return os.fdopen(handle, "rb")
