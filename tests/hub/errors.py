"""How the Hub refuses: a status, a code that the clients turn into an exception, and words."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class RefusalError(Exception):
    """An answer other than the one asked for; `code` is what `X-Error-Code` says."""

    def __init__(self, status: int, message: str, code: str = "", **body: object) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.body = status, message, code, body
        self.headers: dict[str, str] = {}


def refuse(request: Request, refusal: Exception) -> Response:
    """The refusal as JSON, with the headers that the clients read."""
    assert isinstance(refusal, RefusalError)
    headers = {
        **refusal.headers,
        "X-Error-Message": refusal.message.encode("ascii", "replace").decode().replace("\n", " "),
    }
    if refusal.code:
        headers["X-Error-Code"] = refusal.code
    return JSONResponse({"error": refusal.message, **refusal.body}, refusal.status, headers)


def not_found(what: str, code: str) -> RefusalError:
    """404 with one of RepoNotFound, RevisionNotFound, EntryNotFound."""
    return RefusalError(404, f"{what} not found", code)
