"""A Space of a test, and the checks of its log that all tests of jobs share."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.intake import Intake, User
from fairspace.leaderboard_space.jobs.jobs import Jobs, Timing
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.jobs.children import disguised

CHILDREN = "tests.leaderboard_space.jobs.children"
FAST = Timing(sweep=0.1, poll=0.05)
WAIT_SECONDS = 120.0
USER = User("ada")


def settings(folder: Path, **others: object) -> Settings:
    about = Settings(store=str(folder / "store"), work=folder / "work", baselines=False, waiting=100, resamples=0)
    return replace(about, **others)  # type: ignore[arg-type]


def space(about: Settings, module: str = CHILDREN, timing: Timing = FAST) -> Space:
    """A Space whose children follow the submitted file."""
    opened = Space.open(about)
    jobs = Jobs(opened.state, about, module=module, timing=timing)
    return replace(opened, jobs=jobs, intake=Intake(opened.state, about))


def hand_in(space: Space, folder: Path, text: str, user: User = USER) -> LoggedSubmission:
    folder.mkdir(exist_ok=True)
    file = folder / "handed-in"
    file.write_bytes(disguised(text.encode()))
    return space.intake.accept(file, user)


def good(model: str = "a model") -> str:
    return result("fact_or_fair", "stereotyped", model).dumps()


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.02)


def until_ended(space: Space) -> None:
    until(lambda: not waits(space))


def waits(space: Space) -> bool:
    space.state.refresh()
    return any(one.outcome == "waiting" for one in space.state.submissions())


def log(about: Settings) -> list[Event]:
    return list(LocalStorage(Path(about.store)).events())


def kinds(about: Settings) -> Counter[str]:
    """Number of events of each kind, none of them twice."""
    events = log(about)
    assert len({event.key for event in events}) == len(events)
    return Counter(event.kind for event in events)


def rebuilt(about: Settings) -> bytes:
    state = State(LocalStorage(Path(about.store)))
    state.refresh()
    return state.snapshot()
