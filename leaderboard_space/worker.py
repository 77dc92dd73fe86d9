"""Score what waits in the queue of a Space: `python -m fairspace.leaderboard_space.worker`.

The Space itself may then have `workers` 0.
"""

from __future__ import annotations

import signal
import threading
from dataclasses import replace

from fairspace.leaderboard_space.operation.logs import configure
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space


def work(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; then finish the jobs that can end in time. Errors: as `Space.open`."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    space = Space.open(settings)
    space.jobs.start()
    stop.wait()
    space.jobs.stop(settings.stop_seconds)
    space.storage.close()


def main() -> None:
    """Entry point; it works even if the settings give the web process no worker."""
    configure()
    settings = Settings.from_environment()
    work(replace(settings, workers=max(settings.workers, 1)))


if __name__ == "__main__":
    main()
