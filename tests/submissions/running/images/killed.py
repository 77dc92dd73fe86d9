"""Makes a plan's images in processes killed (SIGKILL) at chosen points, then in one that is not.

    python -m tests.submissions.running.images.killed FOLDER MODEL COUNT POINT ...

A point is the number of fates begun and of files put in their places after which the process is killed.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from fairspace.submissions.running.images import making
from fairspace.submissions.running.images.models import open_image_model
from tests.submissions.running.images.painter import plan

REFUSED, FAILED = (3, 70, 71), (5, 90)


def run(folder: Path, model: str, count: int, point: int) -> None:
    """Make the images; kill the process after `point` steps, never if negative."""
    steps = 0

    def killing(step: Any) -> Any:
        def counted(*given: Any) -> Any:
            nonlocal steps
            if steps == point:
                os.kill(os.getpid(), signal.SIGKILL)
            steps += 1
            return step(*given)

        return counted

    for owner, name in ((Path, "replace"), (making._Store, "keep")):
        setattr(owner, name, killing(getattr(owner, name)))
    making.make_images(plan(count, refused=REFUSED, failed=FAILED), open_image_model(model), folder, seed=7)


def main() -> None:
    folder, model, count, *points = sys.argv[1:]
    for point in [*map(int, points), -1]:
        # Python warns about forks beside threads, and here are none yet: Arrow starts its own at its first use.
        child = os.fork()
        if not child:
            run(Path(folder), model, int(count), point)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if died != (point >= 0):
            raise SystemExit(f"at {point}: status {status}")


if __name__ == "__main__":
    main()
