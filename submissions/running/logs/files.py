"""An Inspect log as untrusted data: its header, and its samples one after the other, within bounds of memory.

Inspect's reader of samples bounds no member of the zip, so members are read here; it reads the header alone. Nothing
in a log is executed, and no file that it names is opened.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from fairspace.submissions.format.faults import show
from fairspace.submissions.reading.containers import READ_ERRORS
from fairspace.submissions.running.errors import RunError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

EVAL = ".eval"
MEMBER_BYTES = 64 << 20
"""Largest member that is read: a sample with its pictures and events takes a few megabytes."""
_STEP = 4096
"""Bytes at a time: such a block can grow to 128 MiB at most in any method of zips."""
_SAMPLE = re.compile(r"samples/.+\.json", re.DOTALL)
_HEADER = re.compile(r"header\.json|_journal/(start|config_updates/[0-9]{1,9})\.json")
"""Members of the header; Inspect's own reader takes all answers of a log for it, as they are among the reductions."""
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
    if file.suffix != EVAL:
        mend = "name a log of Inspect; one in JSON is converted by `inspect log convert --to eval`"
        raise invalid(file, f"the suffix {show(file.suffix, 20)}", EVAL, mend)
    import inspect_ai.log  # noqa: F401 - lets zipfile read the method (zstandard) that logs are packed with

    with file.open("rb") as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except READ_ERRORS as error:
            raise invalid(file, f"a damaged zip ({show(str(error))})", "a whole .eval file") from error
        with archive:
            yield Log(file, _header(file, archive), _samples(file, archive))


def invalid(file: Path, what: str, expected: str, mend: str = _MEND) -> RunError:
    """The error LOG_INVALID."""
    return RunError("LOG_INVALID", file.name, what, expected, mend)


def _samples(file: Path, archive: zipfile.ZipFile) -> Iterator[Mapping[str, Any]]:
    """Each sample once, in its last version."""
    for name in dict.fromkeys(archive.namelist()):
        if _SAMPLE.fullmatch(name):
            yield _parsed(file, name, _read(file, archive, name))


def _read(file: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """A member, of the size in the directory and with the right checksum."""
    info, data = archive.getinfo(name), bytearray()
    if info.file_size > MEMBER_BYTES:
        raise invalid(file, f"{show(name)} of {info.file_size:,} bytes", f"at most {MEMBER_BYTES:,} bytes")
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


def _header(file: Path, archive: zipfile.ZipFile) -> EvalLog:
    from inspect_ai.log import read_eval_log

    small = io.BytesIO()
    with zipfile.ZipFile(small, "w") as packed:
        for name in filter(_HEADER.fullmatch, dict.fromkeys(archive.namelist())):
            packed.writestr(name, _read(file, archive, name))
            if small.tell() > MEMBER_BYTES:
                raise invalid(file, "a larger header", f"at most {MEMBER_BYTES:,} bytes in all")
    small.seek(0)
    try:
        return read_eval_log(small, header_only=True, format="eval")
    except Exception as error:
        what = f"a header that cannot be read ({show(' '.join(str(error).split()), 200)})"
        raise invalid(file, what, "a log of Inspect") from error
