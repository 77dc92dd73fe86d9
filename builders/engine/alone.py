"""One build at a time in a folder: two would write the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from fairspace.builders.errors import BuildError


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
