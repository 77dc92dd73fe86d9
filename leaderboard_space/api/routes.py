"""The API over plain HTTP, under `/api/v1`: the log, the queue, submitting and maintaining; `boards` has the rest."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import OF_ROWS, Event
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.maintaining import shown_evidence
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import LOCAL, current_user, required_user, space_of, with_store
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.board import values_json
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.show.headline import opening

router = APIRouter(prefix="/api/v1")
MOST_EVENTS = 1000
Data = dict[str, Any]
EXAMPLES = Path(__file__).with_name("examples.json")
"""Call -> an answer of a Space with the shipped results; `python -m tests.leaderboard_space.api.examples` writes it."""


def add_examples(document: Data) -> None:
    """Give calls of the OpenAPI document their real answers, with the first entries of long lists and maps."""
    examples = orjson.loads(EXAMPLES.read_bytes())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if (example := examples.get(f"{method.upper()} {path}")) is not None:
                responses = operation["responses"]
                content = responses["202" if "202" in responses else "200"].setdefault("content", {})
                content.setdefault("application/json", {})["example"] = example


def _fresh(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, {"Cache-Control": "no-store"}, "application/json")


@router.get("/events")
def events(
    request: Request,
    after: Annotated[int, Query(description="number of the last event that you know", ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_EVENTS)] = 100,
) -> Response:
    """The public log: submissions, and rows that were added, withdrawn, restored, verified or released."""
    space, public = space_of(request), list[Data]()
    for event in space.storage.events(after):
        if len(public) == limit:
            break
        public.append(public_event(space, event))
    return _fresh({"last": public[-1]["number"] if public else after, "events": public})


_PUBLIC: Mapping[str, tuple[str, ...]] = {
    **{"result": ("entry",), "scored": ("entry",), "wanted": ("model",), "struck": ("model", "reason")},
    **dict.fromkeys(OF_ROWS, ("entry", "reason")),
}
"""Public fields of each kind of event; users, refused and failed submissions are private."""


def public_event(space: Space, event: Event) -> Data:
    """The public fields of an event."""
    fields = {name: event.body[name] for name in _PUBLIC.get(event.kind, ())}
    if event.body.get("evidence"):
        fields["evidence"] = shown_evidence(event.body["evidence"])
    entry = space.state.entry(fields["entry"]) if "entry" in fields else None
    if entry is not None:
        fields["benchmark"] = entry.benchmark
    return {"number": event.number, "time": event.time, "kind": event.kind} | fields


@router.get("/queue")
def queue(request: Request) -> Response:
    """Waiting submissions, the next one first; ids only of your own."""
    return _fresh(queued(space_of(request), current_user(request)))


MOST_WAITING = 200


def queued(space: Space, user: User | None) -> Data:
    """Running and waiting submissions, the next one first; ids and names only of the user's own."""
    space.state.refresh()
    waiting = [item for item in space.state.submissions() if item.outcome == "waiting"]
    places = [(space.jobs.progress(item), item) for item in waiting]
    places.sort(key=lambda pair: (pair[0].stage != "running", pair[0].position))
    mine = {item.id for item in waiting if user is not None and item.user == user.name}
    lines = [
        {
            "position": progress.position,
            "stage": progress.stage,
            "since": progress.since or item.accepted,
            "size": item.size,
            "id": item.id if item.id in mine else None,
            "name": item.name if item.id in mine else None,
        }
        for progress, item in places
    ]
    return {"length": len(lines), "waiting": lines[:MOST_WAITING]}


@router.get("/wanted")
def wanted(request: Request) -> Response:
    """Models that users asked us to run, for `make rows MODELS=@FILE`, and whether they are on a board."""
    return _fresh(wishes(space_of(request)))


def wishes(space: Space) -> Data:
    """Models that users asked us to run, without the struck ones: those of the most users first, then the earliest."""
    asked = sorted(space.state.wanted().values(), key=lambda wish: (-len(wish.askers), wish.since))
    return {"models": [wish.to_json() for wish in asked if wish.state != "struck"]}


@router.get("/submissions/{name}")
async def submission(request: Request, name: Annotated[str, InPath(max_length=40)]) -> Response:
    """The state of a submission: position, faults, or sentences, scores and row. Anybody who knows its id may ask."""
    space = space_of(request)
    return _fresh(await with_store(lambda: stated(space, find_submission(space, name))))


def find_submission(space: Space, name: str) -> LoggedSubmission:
    """The submission of that id. SpaceError UNKNOWN_SUBMISSION."""
    space.state.refresh()
    stored = space.state.submission(name)
    if stored is None:
        mend = "use the id that you got when you submitted"
        raise SpaceError("UNKNOWN_SUBMISSION", plain(name)[:40], "no such submission", "the id of a submission", mend)
    return stored


STATED = (
    *("id", "name", "outcome", "accepted", "ended", "attempt", "organisation", "size", "reason", "pruned", "same"),
    *("benchmark", "entry"),
)
"""Fields of a submission in an answer."""


def stated(space: Space, stored: LoggedSubmission) -> Data:
    """The state of a submission, with its faults, or its scores and the sentences that `fairspace score` prints."""
    progress, row = space.jobs.progress(stored), submitted_row(space, stored)
    full = None if row is None else space.state.readable(stored.entry)
    return {
        **{name: getattr(stored, name) for name in STATED},
        "stage": progress.stage,
        "position": progress.position,
        "tries": progress.tries if stored.outcome == "waiting" else stored.tries or None,
        "since": progress.since,
        "faults": [fault.to_json() for fault in stored.faults],
        "sentences": [] if full is None else opening(full),
        "unranked": [] if row is None else list(row.unranked),
        "scores": {} if row is None else values_json(row.scores),
        "row": "" if row is None else f"/model/{stored.benchmark}/{stored.entry}",
        "address": f"/submission/{stored.id}",
    }


def submitted_row(space: Space, stored: LoggedSubmission) -> Row | None:
    """The row of a scored submission under its board's default standard, as `State.unplaced`; None once withdrawn."""
    logged = space.state.entry(stored.entry) if stored.entry else None
    if logged is None or logged.withdrawn:
        return None
    standard = benchmark(stored.benchmark).default
    return with_errors([space.state.unplaced(logged, standard)], standard)[0]


@router.post("/submissions", status_code=202)
async def submit(request: Request) -> Response:
    """Submit a .zip in the submission format. A file that is submitted twice is one submission and counts once.

    The body is the file, or a form with `file`; `organisation` names one of yours if you submit on its behalf.
    202 when it is on the disk and waits; 200 with what became of it when it was handed in before.
    """
    user, space = required_user(request), space_of(request)
    async with received(request) as (file, organisation, name):
        accepted: LoggedSubmission = await with_store(space.intake.accept, file, user, organisation, name)
    answer = _fresh(await with_store(stated, space, accepted))
    answer.status_code = 202 if accepted.outcome == "waiting" else 200
    answer.headers["Location"] = f"/api/v1/submissions/{accepted.id}"
    return answer


class Action(BaseModel):
    """A maintainer's action on a row."""

    reason: str = Field(min_length=1, max_length=500)
    evidence: dict[str, Any] | None = Field(
        None, description="of a verification: what `fairspace verify-submission --json` printed"
    )


@router.post("/rows/{entry:path}/{action}")
async def maintain(
    request: Request,
    entry: Annotated[str, InPath(description="entry of a row, or a model to strike", max_length=200)],
    action: Annotated[Literal["withdraw", "restore", "verify", "unverify", "release", "strike"], InPath()],
    about: Action,
) -> Response:
    """Withdraw, restore, verify or release a row, or strike a wanted model, with a reason; for maintainers only."""
    user, space = required_user(request), space_of(request)
    if user.name not in space.settings.admins and not (space.settings.insecure_local and user == LOCAL):
        mend = "ask one of the maintainers"
        raise SpaceError("NOT_A_MAINTAINER", f"rows/{plain(entry)}", "another user", "a maintainer", mend)
    evidence = (about.evidence,) if action == "verify" else ()
    event = await with_store(getattr(maintaining, action), space.state, entry, user, about.reason, *evidence)
    await request.app.state.maker.follow(event.number)  # a withdrawn row has gone before this returns
    return _fresh(await run_in_threadpool(public_event, space, event))


# The file of a request, as a temporary file: the whole body, or the field `file` of a form.
# `guard` bounds how large the body is, how long it takes and how many parts it has.

_CHUNK = 1 << 20
_MEND = "send the .zip as the body, or as the field `file` of a form; see /api"


@asynccontextmanager
async def received(request: Request) -> AsyncIterator[tuple[Path, str, str]]:
    """The uploaded file, while the context lasts, organisation and file name. SpaceError UPLOAD_MISSING, WORK_FULL."""
    folder = space_of(request).settings.work / "uploads"
    with ExitStack() as kept:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = Path(kept.enter_context(tempfile.TemporaryDirectory(dir=folder))) / "submission.zip"
            organisation, name = await _receive(request, path)
        except OSError as error:
            what = f"the upload cannot be written: {error.strerror or type(error).__name__}"
            mend = "send it again later; this file was not accepted, and the maintainers see it in /health"
            raise SpaceError("WORK_FULL", "the working folder", what, "room for the upload", mend) from error
        if path.stat().st_size == 0:
            raise SpaceError("UPLOAD_MISSING", "the request", "no file", "a .zip in the submission format", _MEND)
        yield path, organisation, name


async def _receive(request: Request, path: Path) -> tuple[str, str]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        with path.open("wb") as file:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        return request.query_params.get("organisation", ""), ""
    async with request.form(max_files=1, max_fields=4) as form:
        sent, organisation = form.get("file"), form.get("organisation", "")
        if not isinstance(sent, UploadFile) or not isinstance(organisation, str):
            raise SpaceError("UPLOAD_MISSING", "the form", "no file in its field `file`", "a .zip", _MEND)
        with path.open("wb") as file:
            while chunk := await sent.read(_CHUNK):
                await run_in_threadpool(file.write, chunk)
        return organisation, sent.filename or ""
