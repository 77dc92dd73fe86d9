"""The processes that a child began, found without looking at every process of the machine where the kernel lists them.

Linux lists the children of each thread below /proc if it was built so; elsewhere all processes have to be looked
through, which is then done less often.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import psutil

LISTED = Path("/proc/thread-self/children").is_file()
"""Whether the kernel lists children."""
_SEARCH_SECONDS = 2.0
"""How often all processes are looked through where it does not."""


class Descendants:
    """The processes below one process.

    Args:
        root: the process.
        listed: whether the kernel lists children.
    """

    def __init__(self, root: psutil.Process, listed: bool = LISTED) -> None:
        self._root, self._listed = root, listed
        self._known: set[psutil.Process] = set()
        self._searched = 0.0

    def __len__(self) -> int:
        return len(self._known)

    def look(self, thorough: bool = False) -> set[psutil.Process]:
        """Those that run; a `thorough` look misses none that was there before, whatever it costs."""
        self._known = {process for process in self._known if process.is_running()}
        if self._listed:
            pids = [self._root.pid, *(process.pid for process in self._known)]
            while pids:
                self._known |= (new := {child for pid in pids for child in _children(pid)} - self._known)
                pids = [process.pid for process in new]
        elif thorough or time.monotonic() - self._searched > _SEARCH_SECONDS:
            self._searched = time.monotonic()
            with suppress(psutil.NoSuchProcess):
                self._known |= set(self._root.children(recursive=True))
        return self._known


def _children(pid: int) -> set[psutil.Process]:
    """The children of a process, as the kernel lists them for each of its threads."""
    children = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in listed.read_text().split():
                with suppress(psutil.NoSuchProcess):
                    children.add(psutil.Process(int(child)))
    return children
