"""`python -m tests.leaderboard_space.jobs.killed FOLDER TRANSITION FILE`: a worker that kills itself there."""

import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.jobs.jobs import Jobs
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.jobs.spaces import USER, settings, space
from tests.leaderboard_space.waiting import until

TRANSITIONS = ("accepted", "waiting", "taken", "running", "scored", "torn", "appended")
append, take = LocalStorage.append, Jobs._take_next


def kill() -> None:
    """Kill all of the worker's processes, as a power failure does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(*_: object) -> None:
    """A call before which the worker is killed."""
    kill()


def taken(*about: Any) -> None:
    take(*about)
    kill()


def append_and_die(
    at: str, storage: LocalStorage, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None
) -> list[Event]:
    """Kill before, within or after the append that ends an attempt."""
    if drafts[-1].kind != "scored":
        return append(storage, drafts, files)
    if at != "scored":
        append(storage, drafts[:1] if at == "torn" else drafts, files)
    kill()
    return []


def kill_when_running(folder: Path) -> None:
    until(lambda: list(folder.glob("work/scoring/*/pid")))
    kill()


def main() -> None:
    folder, at, file = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    if at == "accepted":
        Jobs.start = killed  # type: ignore[assignment, method-assign]
    elif at == "waiting":
        Jobs._take_next = killed  # type: ignore[assignment, method-assign]
    elif at == "taken":
        Jobs._take_next = taken  # type: ignore[assignment, method-assign]
    elif at in ("scored", "torn", "appended"):
        LocalStorage.append = lambda *about: append_and_die(at, *about)  # type: ignore[method-assign]
    else:
        threading.Thread(target=kill_when_running, args=[folder]).start()
    opened = space(settings(folder))
    opened.intake.accept(file, USER)
    opened.jobs.start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
