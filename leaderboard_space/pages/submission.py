"""Pages of a submission and of the queue."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fairspace.leaderboard_space.api.routes import find_submission, queued, submitted_row, wishes
from fairspace.leaderboard_space.jobs.jobs import Progress
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.pages.model import value_lines
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import current_user, required_user, space_of, with_store
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import CLASSES, Row

router = APIRouter(include_in_schema=False)
RELOAD_SECONDS = 5
"""Interval after which the page of a waiting submission reloads."""


@dataclass(frozen=True)
class Standing:
    """A submission with its place in the queue, and its row, if there is one."""

    submission: LoggedSubmission
    progress: Progress
    row: Row | None = None

    @property
    def name(self) -> str:
        """The model, or else the file, or the beginning of the id."""
        return self.submission.name or (self.row.model if self.row is not None else self.submission.id[:8])

    @property
    def words(self) -> str:
        """The state in a few words, with the score in the end."""
        submission, progress = self.submission, self.progress
        if submission.outcome == "scored":
            score = f"scored {self.score}" if self.row is not None else "scored; its row was withdrawn"
            return f"{score}; the same result was on the board before" if submission.same else score
        if submission.outcome == "refused":
            count = len(submission.faults)
            return f"refused: {count} {'fault' if count == 1 else 'faults'}"
        if submission.outcome == "failed":
            because = " because of an error of this Space" if submission.ours else ""
            return f"failed{because}; it does not count as a scored submission"
        if progress.stage == "running":
            return "being scored"
        again = "; an earlier attempt was interrupted" if progress.stage == "retried" else ""
        return f"waits, position {progress.position}{again}" if progress.position else f"waits{again}"

    @property
    def score(self) -> str:
        """The number that ranks the row, with its 95 % interval, such as '0.1207 (95 %: 0.1160 to 0.1250)'."""
        if self.row is None or self.row.result is None:
            return ""
        value = self.row.scores[self.row.result.scored.ranking]
        three = value_lines([value], self.row, self.submission.benchmark)[0].three
        return f"{three.value_text} (95 %: {three.interval_text})" if three.interval else three.value_text

    @property
    def address(self) -> str:
        """The page of the row."""
        return f"/model/{self.submission.benchmark}/{self.submission.entry}"


def standing(space: Space, submission: LoggedSubmission) -> Standing:
    """The current state of a submission."""
    return Standing(submission, space.jobs.progress(submission), submitted_row(space, submission))


@router.get("/submission/{name}")
def submission_page(request: Request, name: str) -> Response:
    """The page of a submission; anybody who knows its id may open it, and it shows no contact."""
    space = space_of(request)
    stored = find_submission(space, name)
    now = standing(space, stored)
    row, logged = now.row, space.state.entry(stored.entry) if stored.entry else None
    return page(
        request,
        "submission.html.jinja",
        user=current_user(request),
        standing=now,
        submission=stored,
        row=row,
        among=CLASSES[row.row_class].among if row is not None else "",
        scores=value_lines(row.scores.values(), row, stored.benchmark) if row is not None else [],
        withdrawn=logged.withdrawn if logged is not None else None,
        reload=RELOAD_SECONDS if stored.outcome == "waiting" else 0,
    )


@router.get("/queue")
def queue_page(request: Request) -> Response:
    """The queue: running submissions, then waiting ones in order."""
    space = space_of(request)
    queue = queued(space, current_user(request))
    wanted, titles = wishes(space)["models"], {name: find_benchmark(name).title for name in NAMES}
    return page(
        request,
        "queue.html.jinja",
        **queue,
        user=current_user(request),
        settings=space.settings,
        wanted=wanted,
        titles=titles,
    )


@router.post("/queue")
async def want(
    request: Request, model: Annotated[str, Form(max_length=200)], benchmark: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """Ask us to run a model, by the form of the page, which follows."""
    await with_store(space_of(request).intake.want, model.strip(), required_user(request), benchmark)
    return RedirectResponse("/queue#wanted", 303)
