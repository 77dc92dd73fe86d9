"""`python -m tests.leaderboard_space.worker`: scores what waits in a Space that has no workers, until SIGTERM."""

import signal
import threading

from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space

if __name__ == "__main__":
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    space = Space.open(Settings.from_environment())
    space.jobs.start()
    stop.wait()
    space.jobs.stop()
    space.storage.close()
