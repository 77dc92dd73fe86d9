"""Run a module within limits: `python -m fairspace.leaderboard_space.jobs.limits LIMITS PARENT MODULE ARGUMENT ...`.

It has no network if the system allows that, dies with its parent, and exits with `MEMORY` after a MemoryError. Only the
standard library is loaded before the limits hold. Without arguments it exits with 0 if a process can leave the network.
"""

import ctypes
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION = 0x20080522


def leave_network() -> bool:
    """Leave the network; False if the system forbids it. The process must have only one thread.

    It enters a new user namespace, as an ordinary user must, keeps its user, and drops the rights there.
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
    """Whether the processes of jobs have no network here; tried once, in a child process."""
    command = [sys.executable, "-I", "-S", __file__]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


MEMORY = 86
"""Exit status after running out of memory."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_GRACE_SECONDS = 5


@dataclass(frozen=True)
class JobLimits:
    """Resource limits of one job.

    Args:
        memory: bytes of all its processes together.
        seconds: wall-clock duration.
        file_bytes: bytes of one file, of all files in its folder, and of its output.
        threads: threads of its user in all, as the kernel counts; root is unlimited.
    """

    memory: int
    cpu_seconds: int
    seconds: float
    file_bytes: int
    open_files: int = 256
    processes: int = 32
    threads: int = 4096
    nice: int = 0

    def dumps(self) -> str:
        """The limits as an argument of this program."""
        return json.dumps(asdict(self))


def apply(limits: JobLimits) -> None:
    """Set the kernel's limits on this process; for memory RLIMIT_DATA, as torch reserves many unused addresses."""
    for kind, most, grace in (
        (resource.RLIMIT_DATA, limits.memory, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes, 0),
        (resource.RLIMIT_NOFILE, limits.open_files, 0),
        (resource.RLIMIT_NPROC, limits.threads, 0),
        (resource.RLIMIT_CPU, limits.cpu_seconds, _GRACE_SECONDS),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, hard = resource.getrlimit(kind)
        ends = (most, most + grace)
        resource.setrlimit(kind, ends if hard == resource.RLIM_INFINITY else (min(most, hard), min(ends[1], hard)))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.nice(limits.nice)


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent ends. It adopts its orphans, so that its descendants can be found."""
    if sys.platform == "linux":
        kernel = ctypes.CDLL(None, use_errno=True)
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module named by the arguments."""
    if not sys.argv[1:]:
        sys.exit(0 if leave_network() else 1)
    text, parent, module = sys.argv[1:4]
    leave_network()
    die_with_parent(int(parent))
    apply(JobLimits(**json.loads(text)))
    sys.argv = sys.argv[3:]
    try:
        runpy.run_module(module, run_name="__main__")
    except MemoryError:
        os._exit(MEMORY)


if __name__ == "__main__":
    main()
