"""An Inspect log as untrusted data: its header, and its samples one after the other, within bounds of time and memory.

Inspect's reader of samples bounds no member of the zip, so members are read here; it reads the header alone. Nothing
in a log is executed, and no file that it names is opened.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pydantic_core import from_json

from fairspace.submissions.format.collector import show
from fairspace.submissions.reading.containers import READ_ERRORS
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

EVAL, JSON = ".eval", ".json"
MEMBER_BYTES = 64 << 20
"""Largest member of an `.eval` file: a sample with its pictures and events takes a few megabytes."""
JSON_BYTES = 256 << 20
"""Largest `.json` log; it is read whole."""
DIRECTORY_BYTES = 128 << 20
"""Largest directory of an `.eval` file: about a million samples."""
_STEP = 4096
"""Bytes at a time: such a block can grow to 128 MiB at most in any method of zips."""
_HEADERS = re.compile(r"header\.json|_journal/start\.json|_journal/config_updates/[0-9]{1,9}\.json")
_SAMPLE = re.compile(r"samples/.+\.json", re.DOTALL)
_MEND = "copy the log again, or leave it out"


@dataclass(frozen=True)
class Log:
    """An open log; each sample once, as unchecked JSON data. A log that broke off has a header too."""

    file: Path
    header: EvalLog
    samples: Iterator[Mapping[str, Any]]


@contextmanager
def open_log(file: Path) -> Iterator[Log]:
    """Open a log on this machine. RunError LOG_INVALID, then or while it is read: none, damaged or too large."""
    if not file.is_file():
        raise invalid(file, "no file", "a log of Inspect", "name a file that `inspect eval` or `fairspace run` wrote")
    if file.suffix == JSON:
        data = _read_json(file)
        yield Log(file, _header(file, io.BytesIO(data), "json"), _samples_of(file, data))
    elif file.suffix == EVAL:
        import inspect_ai.log  # noqa: F401 - lets zipfile read the method (zstandard) that logs are packed with

        with _opened(file) as archive:
            yield Log(file, _header(file, _small(file, archive), "eval"), _samples(file, archive))
    else:
        what = f"the suffix {show(file.suffix, 20)}"
        raise invalid(file, what, ".eval or .json", "name a log of Inspect")


def invalid(file: Path, what: str, expected: str, mend: str = _MEND) -> RunError:
    """The error LOG_INVALID."""
    return RunError("LOG_INVALID", file.name, what, expected, mend)


def _read_json(file: Path) -> bytes:
    with file.open("rb") as stream:
        data = stream.read(JSON_BYTES + 1)
    if len(data) > JSON_BYTES:
        mend = "convert it: inspect log convert --to eval"
        raise invalid(file, "a larger file", f"at most {JSON_BYTES:,} bytes in JSON", mend)
    return data


def _samples_of(file: Path, data: bytes) -> Iterator[Mapping[str, Any]]:
    samples = _parsed(file, "the log", data).get("samples")
    for sample in samples if isinstance(samples, list) else []:
        if not isinstance(sample, dict):
            raise invalid(file, f"the sample {show(sample)}", "an object for each sample")
        yield sample


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    with file.open("rb") as stream:
        try:
            _check_directory(file, stream)
            archive = zipfile.ZipFile(stream)
        except READ_ERRORS as error:
            raise invalid(file, f"a damaged zip ({show(str(error))})", "a whole .eval file") from error
        with archive:
            yield archive


def _check_directory(file: Path, stream: IO[bytes]) -> None:
    """Refuse a directory that is too large, before `zipfile` reads it."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - 65_557))
    tail = stream.read(65_557)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) - end < 22:
        raise invalid(file, "a file without a zip's directory (truncated?)", "a whole .eval file")
    (length,) = struct.unpack("<L", tail[end + 12 : end + 16])
    if tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        (place,) = struct.unpack("<Q", tail[end - 12 : end - 4])
        stream.seek(min(place, size))
        (length,) = struct.unpack("<40xQ8x", stream.read(56))
    stream.seek(0)
    if length > DIRECTORY_BYTES:
        raise invalid(file, f"a directory of {length:,} bytes", f"at most {DIRECTORY_BYTES:,}")


def _small(file: Path, archive: zipfile.ZipFile) -> IO[bytes]:
    """A zip in memory with only the members of the header."""
    names = [name for name in dict.fromkeys(archive.namelist()) if _HEADERS.fullmatch(name)]
    small = io.BytesIO()
    with zipfile.ZipFile(small, "w") as packed:
        total = 0
        for name in names:
            data = _read(file, archive, name)
            total += len(data)
            if total > MEMBER_BYTES:
                raise invalid(file, "a header that is larger", f"at most {MEMBER_BYTES:,} bytes")
            packed.writestr(name, data)
    small.seek(0)
    return small


def _samples(file: Path, archive: zipfile.ZipFile) -> Iterator[Mapping[str, Any]]:
    """Each sample once, in its last version."""
    for name in dict.fromkeys(archive.namelist()):
        if _SAMPLE.fullmatch(name):
            yield _parsed(file, name, _read(file, archive, name))


def _read(file: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """A member, of the size in the directory and with the right checksum."""
    info = archive.getinfo(name)
    if info.file_size > MEMBER_BYTES:
        raise invalid(file, f"{show(name)} of {info.file_size:,} bytes", f"at most {MEMBER_BYTES:,} bytes")
    data = bytearray()
    try:
        with archive.open(info) as stream:
            while piece := stream.read(_STEP):
                data += piece
    except Exception as error:
        raise invalid(file, f"{show(name)} cannot be read ({show(str(error))})", "a whole .eval file") from error
    if len(data) != info.file_size:
        raise invalid(file, f"{show(name)} ends too early", "a whole .eval file")
    return bytes(data)


def _parsed(file: Path, name: str, data: bytes) -> dict[str, Any]:
    try:
        parsed = from_json(data)
    except ValueError as error:
        raise invalid(file, f"{show(name)} is no JSON ({show(str(error))})", "JSON, as Inspect writes it") from error
    if not isinstance(parsed, dict):
        raise invalid(file, f"{show(name)} holds {show(parsed)}", "an object")
    return parsed


def _header(file: Path, stream: IO[bytes], kind: Any) -> EvalLog:
    from inspect_ai.log import read_eval_log

    try:
        return read_eval_log(stream, header_only=True, format=kind)
    except Exception as error:
        what = f"a header that cannot be read ({show(' '.join(str(error).split()), 200)})"
        raise invalid(file, what, "a log of Inspect") from error
