"""A Space of a test, and what its log says: the judge of every test of jobs."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.intake import Intake, User
from fairspace.leaderboard_space.jobs.jobs import Jobs, Timing
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.jobs.children import ZIP_END

CHILDREN = "tests.leaderboard_space.jobs.children"
FAST = Timing(sweep=0.1, poll=0.05)
WAIT_SECONDS = 120.0
USER = User("ada")


def settings(folder: Path, **others: object) -> Settings:
    """Of a Space below a folder, without baselines."""
    about = Settings(store=str(folder / "store"), work=folder / "work", baselines=False, waiting=100, resamples=0)
    return replace(about, **others)  # type: ignore[arg-type]


def space(about: Settings, module: str = CHILDREN, timing: Timing = FAST, prechecking: str = "") -> Space:
    """A Space whose children run what the handed-in file says; without a look before, if none is named."""
    opened = Space.open(about)
    jobs = Jobs(opened.state, about, module=module, prechecking=prechecking, timing=timing)
    return replace(opened, jobs=jobs, intake=Intake(opened.state, jobs, about))


def hand_in(space: Space, folder: Path, text: str, user: User = USER) -> Submission:
    """Hand in a file with that text."""
    folder.mkdir(exist_ok=True)
    file = folder / "handed-in"
    file.write_bytes(text.encode() + ZIP_END)
    return space.intake.accept(file, user)


def good(model: str = "a model") -> str:
    """A file from which the child of a test makes a result."""
    return result("fact_or_fair", "stereotyped", model).dumps()


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.02)


def until_ended(space: Space) -> None:
    """Wait until nothing waits any more, by the log."""
    until(lambda: not waits(space))


def waits(space: Space) -> bool:
    """Whether a submission waits, by the log."""
    space.state.refresh()
    return any(one.outcome == "waiting" for one in space.state.submissions())


def log(about: Settings) -> list[Event]:
    """The whole log, read afresh: every line follows from the one before."""
    return list(LocalStorage(Path(about.store)).events())


def kinds(about: Settings) -> Counter[str]:
    """How many events of each kind the log has, none of them twice."""
    events = log(about)
    assert len({event.key for event in events}) == len(events)
    return Counter(event.kind for event in events)


def rebuilt(about: Settings) -> bytes:
    """Every board, made from the log alone."""
    state = State(LocalStorage(Path(about.store)))
    state.refresh()
    return state.snapshot()
