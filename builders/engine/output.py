"""Output folders of long work: one process at a time, one request, and what it means that both were met before."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import Any

from fairspace.builders.errors import BuildError
from fairspace.builders.writing import write_text


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, until the block ends or the process is killed.

    BuildError OUT_IN_USE if another process holds it; systems without such locks (Windows) hold nothing.
    """
    if is_folder := folder.is_dir() or not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    if not is_folder or find_spec("fcntl") is None:
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        mend = "wait until it is done, or name another --out"
        raise BuildError("OUT_IN_USE", str(folder), "another build is writing here", "one at a time", mend) from error
    finally:
        os.close(handle)


def claim(out: Path, file: Path, request: Mapping[str, Any]) -> None:
    """Enter a request into a file of a work folder in `out`, or find it there as it is; several processes may do so.

    `request` is all that decides the work's bytes. BuildError OUT_IN_USE if `out` holds something else, or unfinished
    work with another request.
    """
    text = json.dumps(request, indent=1)  # in its own order, which a join writes again
    if file.is_file():
        earlier, asked = json.loads(file.read_text(encoding="utf-8")), json.loads(text)
        if earlier != asked:
            raise in_use(out, f"unfinished work with {_difference(earlier, dict.fromkeys(earlier) | asked)}")
        return
    if out.is_file() or (not file.parent.is_dir() and out.is_dir() and {*out.iterdir()} - {file.parent}):
        raise in_use(out, "it is a file" if out.is_file() else "it is not empty")
    file.parent.mkdir(parents=True, exist_ok=True)
    place = file.with_name(f"{file.name}.{os.getpid()}-{token_hex(4)}")  # of this process, on whichever machine
    write_text(place, text)
    place.replace(file)


def check_same(out: Path, finished: Mapping[str, Any], request: Mapping[str, Any]) -> None:
    """Check that finished work has the entries of a request. BuildError OUT_IN_USE names those that differ."""
    if difference := _difference(finished, request):
        raise in_use(out, f"finished work with {difference}")


def in_use(out: Path, what: str) -> BuildError:
    """The error for a folder that holds something else."""
    mend = "name another --out, or remove the folder"
    return BuildError("OUT_IN_USE", str(out), what, "a new folder, or this work's own", mend)


def _difference(before: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    names = [name for name, value in request.items() if before.get(name) != value]
    return f"another {', '.join(names)}" if names else ""
