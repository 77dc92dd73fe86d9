"""A Space of a test, and the checks of its log that all tests of jobs share."""

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.events import Event, Kind
from fairspace.leaderboard_space.intake import Intake, User
from fairspace.leaderboard_space.jobs.jobs import Jobs, Timing
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.factory import ended, result, state_of
from tests.leaderboard_space.jobs.children import disguised
from tests.leaderboard_space.waiting import until

CHILDREN = "tests.leaderboard_space.jobs.children"
FAST = Timing(sweep=0.1, poll=0.05)
USER = User("ada", ("lab", "school"))


def settings(folder: Path, **others: object) -> Settings:
    about = Settings(store=str(folder / "store"), work=folder / "work", baselines=False, waiting=100, resamples=0)
    return replace(about, **others)  # type: ignore[arg-type]


def space(about: Settings, module: str = CHILDREN, timing: Timing = FAST) -> Space:
    """A Space whose children follow the submitted file."""
    opened = Space.open(about)
    jobs = Jobs(opened.state, about, module=module, timing=timing)
    return replace(opened, jobs=jobs, intake=Intake(opened.state, about))


def hand_in(
    space: Space | Intake, folder: Path, text: str, user: User = USER, organisation: str = ""
) -> LoggedSubmission:
    """Submit a text that passes for a zip."""
    intake = space if isinstance(space, Intake) else space.intake
    folder.mkdir(exist_ok=True)
    file = folder / f"handed-in-{threading.get_ident()}"
    file.write_bytes(disguised(text.encode()))
    return intake.accept(file, user, organisation)


def end(state: State, submission: LoggedSubmission, outcome: Kind = "failed") -> None:
    about = {"faults": [], "reason": "It failed."}
    state.storage.append([ended(outcome, submission.id, submission.attempt, **about)])
    state.refresh()


def good(model: str = "a model") -> str:
    return result("fact_or_fair", "stereotyped", model).dumps()


def until_ended(space: Space) -> None:
    until(lambda: not waits(space))


def waits(space: Space) -> bool:
    space.state.refresh()
    return any(one.outcome == "waiting" for one in space.state.submissions())


def log(space: Space) -> list[Event]:
    """The events as another process reads them."""
    return list(LocalStorage(space.settings.store).events())


def kinds(space: Space) -> Counter[str]:
    """Number of events of each kind, none of them twice."""
    events = log(space)
    assert len({event.key for event in events}) == len(events)
    return Counter(event.kind for event in events)


def rebuilt(space: Space) -> bytes:
    return state_of(Path(space.settings.store)).snapshot()
