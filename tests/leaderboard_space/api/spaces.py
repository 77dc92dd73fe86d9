"""A Space over a small store whose queue only keeps what it is given, and a client of it."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.testclient import TestClient

from fairspace.leaderboard_space import logs
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.intake import Intake, User, add_result
from fairspace.leaderboard_space.jobs.jobs import Jobs
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.builder import Builder
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import Tokens
from fairspace.submissions.results.result import Result


class KeptJobs(Jobs):
    well = True

    def start(self) -> None:
        pass

    def stop(self, seconds: float = 20.0) -> None:
        pass

    def alive(self) -> bool:
        return self.well


@dataclass
class Opened:
    space: Space
    jobs: KeptJobs
    client: TestClient

    @property
    def tokens(self) -> Tokens:
        """Maker and reader of its tokens."""
        tokens: Tokens = self.client.app.state.tokens  # type: ignore[attr-defined]
        return tokens

    def entry(self, model: str = "", benchmark: str = "") -> str:
        """The first entry in the log of a model or benchmark."""
        rows = (row for row in self.space.state.entries() if benchmark in ("", row.benchmark))
        return next(row.entry for row in rows if model in ("", row.result.meta["model"]))

    def headers(self, user: str, *organisations: str) -> dict[str, str]:
        """Headers of a user's program."""
        return {"X-Fairspace-Token": self.tokens.make(User(user, organisations))}

    @property
    def maker(self) -> Builder:
        """The builder of its public pages."""
        maker: Builder = self.client.app.state.maker  # type: ignore[attr-defined]
        return maker


@contextmanager
def process_log() -> Iterator[io.StringIO]:
    """The process log, as a server writes it, in a stream instead of standard error."""
    before, stream = (logging.root.handlers[:], logging.root.level), io.StringIO()
    try:
        logs.configure(stream=stream)
        yield stream
    finally:
        logging.captureWarnings(capture=False)
        logging.root.handlers[:], logging.root.level = before


@contextmanager
def opened(root: Path, results: tuple[Result, ...] = (), **settings: object) -> Iterator[Opened]:
    told = Settings(store=str(root / "store"), work=root / "work", **{"resamples": 0, "board_seconds": 0, **settings})  # type: ignore[arg-type]
    with_jobs = Space.open(told)
    jobs = KeptJobs(with_jobs.state, told)
    space = replace(with_jobs, jobs=jobs, intake=Intake(with_jobs.state, told))
    for result in results:
        add_result(space.storage, result)
    space.state.refresh()
    with TestClient(create_app(space), base_url="http://127.0.0.1") as client:
        yield Opened(space, jobs, client)
