"""`/submit`: plain forms that hand in a file, and make and revoke tokens. `Guard` refuses forms of other sites."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from fairspace.leaderboard_space.api.routes import received
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.pages.submission import standing
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import (
    LOGIN,
    LOGOUT,
    current_user,
    required_user,
    signs_in,
    space_of,
    with_store,
)
from fairspace.leaderboard_space.web.tokens import DAYS, revoke_all, revoke_token, token_id

router = APIRouter(include_in_schema=False)
OWN = 20
"""Number of the user's last submissions in the list."""


@router.get("/submit")
def submit_page(request: Request) -> Response:
    """The page with the user's submissions and quota."""
    return _page(request)


@router.post("/submit")
async def hand_in(request: Request) -> Response:
    """Hand in the file of the form; its page follows what becomes of it. Errors: as `Intake.accept`."""
    user, space = required_user(request), space_of(request)
    async with received(request) as (file, organisation):
        accepted = await with_store(space.intake.accept, file, user, organisation)
    return RedirectResponse(f"/submission/{accepted.id}", 303)


@router.post("/submit/token")
def make_token(request: Request) -> Response:
    """The page with a new token, which no cache may keep."""
    made = space_of(request).tokens.make(required_user(request))
    answer = _page(request, token=made, token_id=token_id(made))
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


@router.post("/submit/revoke")
async def revoke(request: Request) -> Response:
    """Revoke the token of the form, or all of the user's where the button `every` was pressed."""
    user, space = required_user(request).name, space_of(request)
    async with request.form(max_files=0, max_fields=2) as form:
        if "every" in form:
            event = await with_store(revoke_all, space.state, user, user)
        else:
            event = await with_store(revoke_token, space.state, str(form.get("token", "")), user)
    return await run_in_threadpool(_page, request, revoked=event)


def _page(request: Request, **made: Any) -> Response:
    space, user = space_of(request), current_user(request)
    links: dict[str, Any] = {"login": LOGIN if signs_in() else "", "logout": LOGOUT if signs_in() else ""}
    own = {} if user is None else _own(space, user)
    values = {"token": "", "token_id": "", "revoked": None} | made
    return page(request, "submit.html.jinja", settings=space.settings, days=DAYS, **links, **own, **values)


def _own(space: Space, user: User) -> dict[str, Any]:
    space.state.refresh()
    submissions = [submission for submission in reversed(space.state.submissions()) if submission.user == user.name]
    used = space.intake.usage(user)
    return {
        "standings": [standing(space, submission) for submission in submissions[:OWN]],
        "total": len(submissions),
        "usage": {"waiting": len(used.waiting), "scored": len(used.scored), "faulty": len(used.faulty)},
    }
