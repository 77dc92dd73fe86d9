"""A process leaves the network: it moves into a network namespace of its own, in which there is nobody to speak to.

`python network.py` ends with 0 if a process can do so here. Nothing but the standard library is loaded.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION = 0x20080522


def leave_network() -> bool:
    """Leave the network; False where the system does not let this process. It may have only one thread.

    A namespace of users comes with it, because only there an ordinary user may do this. This process stays the user
    who it is, and gives up the rights that the new namespace would give it.
    """
    if sys.platform != "linux":
        return False
    user, group = os.geteuid(), os.getegid()
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    with suppress(OSError):  # without them it is the user `nobody` to itself alone; its files stay its own
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    kernel.capset((ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)())
    return True


@cache
def children_leave_network() -> bool:
    """Whether the processes of jobs have no network here; tried once, in a process of its own."""
    command = [sys.executable, "-I", "-S", __file__]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.exit(0 if leave_network() else 1)
