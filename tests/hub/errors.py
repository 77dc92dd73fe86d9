from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class RefusalError(Exception):
    """A refusal; `code` becomes `X-Error-Code`."""

    def __init__(self, status: int, message: str, code: str = "", **body: object) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.body = status, message, code, body
        self.headers: dict[str, str] = {}


def refuse(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, RefusalError)
    headers = {
        **refusal.headers,
        "X-Error-Message": refusal.message.encode("ascii", "replace").decode().replace("\n", " "),
    }
    if refusal.code:
        headers["X-Error-Code"] = refusal.code
    return JSONResponse({"error": refusal.message, **refusal.body}, refusal.status, headers)


def not_found(what: str, code: str) -> RefusalError:
    return RefusalError(404, f"{what} not found", code)
