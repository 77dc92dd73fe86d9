"""Errors as answers: a page, or JSON under `/api/`, with code, place, finding and remedy."""

import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import Match, Mount

from fairspace.leaderboard_space.errors import UNREADABLE, SpaceError, StorageError
from fairspace.leaderboard_space.logs import REQUEST
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.site.addresses import is_public
from fairspace.leaderboard_space.web.identity import client
from fairspace.submissions.errors import UsageError, plain

LOGGER = logging.getLogger("fairspace.refused")
RETRY_AFTER = {
    **{"QUEUE_FULL": 60, "STORE_FAILED": 30, "WORK_FULL": 60, "TOO_MANY_REQUESTS": 10, "TOO_MANY_WAITING": 60},
    "BUILDER_GONE": 10,
}
"""Seconds after which a retry may help."""
CUT = "fairspace.cut"
"""Key of a request's scope: the reason for the end of its body; the application's own error is then ignored."""
QUIET = "fairspace.quiet"
"""Key of a request's scope: it is one of too many of its client, and one was logged already."""
_NOTED = "fairspace.noted"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LAST = "the rest of the API"
_LONGEST = 300


def add_handlers(app: FastAPI) -> None:
    """Register the error handlers of the application."""
    for error in (SpaceError, StorageError, UsageError, RequestValidationError, HTTPException):
        app.add_exception_handler(error, _answer)


def refuse_the_rest(app: FastAPI) -> None:
    """Answer unknown addresses under `/api/`, before Gradio would answer them in another form."""
    app.add_route("/api/{rest:path}", _refuse_unknown, [*METHODS], LAST, include_in_schema=False)


async def _answer(request: Request, error: Exception) -> Response:
    return refuse(request, as_space_error(request, error))


def as_space_error(request: Request, error: Exception) -> SpaceError:
    """The error for the client; internal errors appear only in the log."""
    if CUT in request.scope:
        error = request.scope[CUT]
    if isinstance(error, SpaceError):
        return error
    if isinstance(error, StorageError) and error.code == UNREADABLE:
        return SpaceError("EVIDENCE_UNREADABLE", "the result", error.what, error.expected, "see the row on its board")
    if isinstance(error, StorageError):
        LOGGER.error("the store failed", extra={"code": error.code, "what": str(error)})
        return SpaceError("STORE_FAILED", "the store", error.code, "a storage that answers", "ask again later")
    if isinstance(error, UsageError):
        return SpaceError("BAD_PARAMETER", "the request", str(error), "one of the known names", "choose one of them")
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = f"{first['msg']}: {str(first.get('input'))[:80]!r}"
        return SpaceError("BAD_PARAMETER", where, problem, "a value that /api describes", "mend the parameter")
    if isinstance(error, HTTPException):
        return _of_status(request, error)
    what = f"an unexpected error; it is in the log as request {REQUEST.get()}"
    return SpaceError(
        "OUR_FAULT", request.url.path, what, "an answer", "try again; if the error persists, tell the maintainers"
    )


def _of_status(request: Request, error: HTTPException) -> SpaceError:
    path = request.url.path
    if error.status_code in (404, 405):
        return unknown(request)
    if error.status_code == 413:
        return SpaceError(
            "UPLOAD_TOO_LARGE", "the request", str(error.detail), "fewer bytes", "see /api for the limits"
        )
    if error.status_code < 500:
        return SpaceError("BAD_PARAMETER", path, str(error.detail), "a request that /api describes", "mend the request")
    return SpaceError("OUR_FAULT", path, str(error.detail), "an answer", "ask again later")


def unknown(request: Request) -> SpaceError:
    """The error for an unknown address, or for a wrong method."""
    path = request.url.path
    allowed = [method for method in METHODS if _answers(request, method)]
    if allowed and request.method not in allowed:
        expected = ", ".join(allowed)
        return SpaceError("WRONG_METHOD", path, request.method, expected, "see /api for the list of addresses")
    mend = "see /api for the list of addresses" if path.startswith("/api") else "look for a typing error in the address"
    return SpaceError("UNKNOWN_PAGE", path, "no page", "a page of this site", mend)


def _answers(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": "GET" if method == "HEAD" else method}  # see `heads`
    routes = (
        route for route in request.app.routes if not isinstance(route, Mount) and getattr(route, "name", "") != LAST
    )
    is_page = scope["method"] == "GET" and is_public(request.url.path)
    return is_page or any(route.matches(dict(scope))[0] is Match.FULL for route in routes)


def _refuse_unknown(request: Request) -> Response:
    raise unknown(request)


def refuse(request: Request, error: SpaceError) -> Response:
    """An error as a page, or as JSON for the API and for clients that ask for JSON."""
    note(request, error)
    where, what = plain(error.where)[:_LONGEST], plain(error.what)[:_LONGEST]
    answer: Response
    if _wants_json(request):
        body = {"code": error.code, "where": where, "what": what, "expected": error.expected, "mend": error.mend}
        answer = JSONResponse(body, error.status, {"Cache-Control": "no-store"})
    elif error.code == "TOO_MANY_REQUESTS":  # a page would cost what is refused
        answer = PlainTextResponse(f"{error.code}: {what}. Mend: {error.mend}.\n", error.status)
    else:
        answer = page(request, "refused.html.jinja", status=error.status, error=error)
    if error.code in RETRY_AFTER:
        answer.headers["Retry-After"] = str(RETRY_AFTER[error.code])
    if error.code == "WRONG_METHOD":
        answer.headers["Allow"] = error.expected
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def note(request: HTTPConnection, error: SpaceError) -> None:
    """Log an error once, however many handlers it passes; too many requests of a client, once a minute."""
    if request.scope.setdefault(_NOTED, error) is not error:
        return
    if error.code == "TOO_MANY_REQUESTS" and not request.app.state.told.take(client(request)):
        request.scope[QUIET] = True
        return
    about = {"code": error.code, "where": plain(error.where)[:_LONGEST], "status": error.status}
    LOGGER.info("refused", extra=about | {"path": plain(request.url.path)[:_LONGEST], "client": client(request)})


def _wants_json(request: Request) -> bool:
    accept, path = request.headers.get("accept", ""), request.url.path
    return path.startswith(("/api/", "/gradio_api/")) or ("application/json" in accept and "text/html" not in accept)
