"""One build at a time in a folder: two would write the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairspace.builders.errors import BuildError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, until the block ends or the process is killed, on systems with such locks.

    BuildError OUT_IN_USE if another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    if folder.exists() and not folder.is_dir():
        yield  # the build says so
        return
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            mend = "wait until it is done, or name another --out"
            raise BuildError(
                "OUT_IN_USE", str(folder), "another build is writing here", "one at a time", mend
            ) from error
        yield
    finally:
        os.close(handle)
