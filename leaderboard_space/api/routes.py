"""The API over plain HTTP, under `/api/v1`: the log, the queue, submitting and maintaining; `boards` has the rest."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.api import data
from fairspace.leaderboard_space.api.data import Action
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.log_state import LoggedSubmission
from fairspace.leaderboard_space.web.identity import current_user, is_maintainer, required_user, space_of, with_store
from fairspace.submissions.errors import plain

router = APIRouter(prefix="/api/v1")
MOST_EVENTS = 1000


def _fresh(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, {"Cache-Control": "no-store"}, "application/json")


@router.get("/events")
def events(
    request: Request,
    after: Annotated[int, Query(description="number of the last event that you know", ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_EVENTS)] = 100,
) -> Response:
    """The public log: submissions, and rows that were added, withdrawn, restored, verified or released."""
    return _fresh(data.events(space_of(request), after, limit))


@router.get("/queue")
def queue(request: Request) -> Response:
    """Waiting submissions, the next one first; ids only of your own."""
    return _fresh(data.queue(space_of(request), current_user(request)))


@router.get("/wanted")
def wanted(request: Request) -> Response:
    """Models that users asked us to run, for `make rows MODELS=@FILE`, and whether they are on a board."""
    return _fresh(data.wanted(space_of(request)))


@router.get("/submissions/{name}")
async def submission(request: Request, name: Annotated[str, InPath(max_length=40)]) -> Response:
    """The state of a submission: position, faults, or sentences, scores and row. Anybody who knows its id may ask."""
    space = space_of(request)
    return _fresh(await with_store(lambda: data.submission(space, data.find_submission(space, name))))


@router.post("/submissions", status_code=202)
async def submit(request: Request) -> Response:
    """Submit a .zip in the submission format. A file that is submitted twice is one submission and counts once.

    The body is the file, or a form with `file`; `organisation` names one of yours if you submit on its behalf.
    202 when it is on the disk and waits; 200 with what became of it when it was handed in before.
    """
    user, space = required_user(request), space_of(request)
    async with received(request) as (file, organisation, name):
        accepted: LoggedSubmission = await with_store(space.intake.accept, file, user, organisation, name)
    answer = _fresh(await with_store(data.submission, space, accepted))
    answer.status_code = 202 if accepted.outcome == "waiting" else 200
    answer.headers["Location"] = f"/api/v1/submissions/{accepted.id}"
    return answer


@router.post("/rows/{entry:path}/{action}")
async def maintain(
    request: Request,
    entry: Annotated[str, InPath(description="entry of a row, or a model to strike", max_length=200)],
    action: Annotated[Literal["withdraw", "restore", "verify", "unverify", "release", "strike"], InPath()],
    about: Action,
) -> Response:
    """Withdraw, restore, verify or release a row, or strike a wanted model, with a reason; for maintainers only."""
    user, space = required_user(request), space_of(request)
    if not is_maintainer(request, user):
        mend = "ask one of the maintainers"
        raise SpaceError("NOT_A_MAINTAINER", f"rows/{plain(entry)}", "another user", "a maintainer", mend)
    evidence = (about.evidence,) if action == "verify" else ()
    event = await with_store(getattr(maintaining, action), space.state, entry, user, about.reason, *evidence)
    await request.app.state.maker.follow(event.number)  # a withdrawn row has gone before this returns
    return _fresh(await run_in_threadpool(data.public_event, space, event))


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
