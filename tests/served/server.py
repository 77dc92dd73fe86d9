"""OpenAI's chat and images protocols as a bare, fast ASGI application.

Uncounted controls: `GET /_requests` returns the counts, `DELETE` resets them; `PUT /_faults` replaces the faults (JSON
list of `Fault`); `PUT /_kill` takes a process group (null: the server), a count and a signal.
"""

import asyncio
import json
import os
from contextlib import suppress
from typing import Any

from starlette import requests
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.served import replies
from tests.served.answers import answer, bound_answer, recognise, refusing, unreadable
from tests.served.faults import Fault, Faults
from tests.served.keys import InvalidError, Request, chat_request, image_request, unit
from tests.served.options import Options, Requests
from tests.served.pictures import encoded, picture
from tests.served.replies import Cut, Finish, completion, failed, images

_PAGE = b"<!doctype html><html><head><title>Gateway</title></head><body><h1>Please sign in</h1></body></html>"
_CODES = {429: "rate_limit_exceeded", 404: "model_not_found", 401: "invalid_api_key"}


def spoiled(fault: Fault, request: Request, body: dict[str, Any], drawing: Options | None) -> Response:
    match fault.way:
        case "status":
            code = fault.code or _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_request")
            after = fault.seconds if fault.status in (429, 503) else None
            return failed(fault.status, f"The server answered {fault.status} on purpose.", code, "", after)
        case "verbatim":
            return Response(fault.body, fault.status, {"content-type": fault.form})
        case "html":
            return Response(_PAGE, media_type="text/html")
        case "not_completion":
            return JSONResponse({"status": "ok", "detail": "this is no completion"})
        case "truncated" | "cut" | "reset":
            whole = images([_file(request, drawing)]) if drawing else completion(request, body, [answer(request)])
            half = len(whole.body) // 2
            if fault.way == "truncated":
                return Response(whole.body[:half], media_type="application/json")
            return Cut(whole, half if fault.way == "cut" else 0)
    return _image(fault, request, drawing) if drawing else _chat(fault, request, body)


def _file(request: Request, drawing: Options, choice: int = 0) -> bytes:
    shown = picture(request.text, request.key, choice)
    return encoded(shown, drawing.pixels, drawing.picture, f"{request.key}-{choice}")


def _chat(fault: Fault, request: Request, body: dict[str, Any]) -> Response:
    if fault.way == "blocked":
        return failed(400, "The prompt was blocked by the content filter.", fault.code or "content_filter", "prompt")
    text = answer(request)
    spoiled: dict[str, tuple[list[str | None], Finish, str | None]] = {
        "empty": ([], "stop", None),
        "silent": ([""], "length", None),
        "half": ([text[: len(text) // 2]], "length", None),
        "filtered": ([None], "content_filter", None),
        "refusal": ([None], "stop", refusing(request)),
        "refusing": ([refusing(request)], "stop", None),
        "unreadable": ([unreadable(request)], "stop", None),
    }
    return completion(request, body, *spoiled[fault.way])


def _image(fault: Fault, request: Request, drawing: Options) -> Response:
    if fault.way in ("filtered", "refusal", "refusing", "blocked"):
        usual = "moderation_blocked" if fault.way == "refusal" else "content_policy_violation"
        return failed(400, "Your request was rejected by the safety system.", fault.code or usual)
    file = _file(request, drawing)
    spoiled: dict[str, list[bytes]] = {
        "empty": [],
        "silent": [b""],
        "half": [file[: len(file) // 2]],
        "unreadable": [f"no image {request.key}".encode()],
    }
    return images(spoiled[fault.way])


CHAT, IMAGES = "/v1/chat/completions", "/v1/images/generations"


class Server:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.faults = Faults(options.faults)
        self.counts = Requests()
        self._authorization = f"Bearer {options.key}".encode()
        self._in_flight = 0
        self._killed: tuple[int | None, int, int] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path, body = scope["method"], scope["path"], await requests.Request(scope, receive).body()
        if path.startswith("/_"):
            response = self._control(method, path, body)
        elif dict(scope["headers"]).get(b"authorization") != self._authorization:
            self.counts.fates["unauthorised"] += 1
            response = failed(401, "Incorrect API key provided.", "invalid_api_key")
        elif (method, path) == ("GET", "/v1/models"):
            response = replies.models(self.options.models)
        elif method == "POST" and path in (CHAT, IMAGES):
            self._in_flight += 1
            self.counts.highest = max(self.counts.highest, self._in_flight)
            try:
                if answered := await self._ask(path, body, receive):
                    await answered(scope, receive, send)
            finally:
                self._in_flight -= 1
                self._kill()
            return
        else:
            response = failed(404, f"Unknown request URL: {method} {path}", "unknown_url")
        await response(scope, receive, send)

    async def _ask(self, path: str, data: bytes, receive: Receive) -> Response | None:
        """The answer; None for a client that left."""
        counts, options = self.counts, self.options
        try:
            body = _object(data, options.unknown)
            request = chat_request(body) if path == CHAT else image_request(body)
            number = _number(body)
        except InvalidError as error:
            counts.fates["invalid"] += 1
            return failed(400, str(error), error.code, error.param)
        kind = recognise(request.text)[0].name if path == CHAT else "image"
        counts.kinds[kind] += 1
        counts.attempts[request.key] += 1
        attempt = counts.attempts[request.key]
        fault = self.faults.find(request, kind, attempt)
        wait = options.latency + options.spread * unit(request.key, attempt)
        wait += fault.seconds if fault is not None and fault.way == "slow" else 0.0
        if wait and await _left(receive, wait):
            counts.fates[fault.name if fault else "gone"] += 1
            return None
        if fault is not None:
            counts.fates[fault.name] += 1
        if fault is not None and fault.way != "slow":
            return spoiled(fault, request, body, options if path == IMAGES else None)
        counts.fates["answered"] += fault is None
        counts.answers[request.key] += 1
        if path == IMAGES:
            counts.images += number
            return images([_file(request, options, choice) for choice in range(number)])
        form = body.get("response_format")
        bound = form.get("json_schema") if options.schemas and isinstance(form, dict) else None
        return completion(
            request,
            body,
            [
                bound_answer(request, bound["schema"], choice) if bound else answer(request, choice)
                for choice in range(number)
            ],
        )

    def _kill(self) -> None:
        """Signal the group that is due; a missing group is tried again at the next request."""
        if self._killed is None or self.counts.total < self._killed[1]:
            return
        group, _, how = self._killed
        with suppress(ProcessLookupError):
            if group is None:
                os.kill(os.getpid(), how)
            else:
                os.killpg(group, how)
            self._killed = None

    def _control(self, method: str, path: str, body: bytes) -> Response:
        match method, path:
            case "PUT", "/_kill":
                options = json.loads(body)
                self._killed = options["group"], options["requests"], options["signal"]
                self._kill()
                return JSONResponse({})
            case "PUT", "/_faults":
                self.faults = Faults(tuple(Fault(**fault) for fault in json.loads(body)))
                return JSONResponse({})
        response = JSONResponse(vars(self.counts))
        if method == "DELETE":
            self.counts = Requests()
            self.faults = Faults(self.faults.faults)
        return response


def _object(data: bytes, unknown: tuple[str, ...]) -> dict[str, Any]:
    """The request's JSON. InvalidError for anything but an object with a model and known parameters."""
    try:
        body = json.loads(data)
    except ValueError as error:
        raise InvalidError(f"We could not parse the JSON body of your request: {error}", "") from error
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise InvalidError("you must provide a model parameter", "model")
    if body.get("stream"):
        raise InvalidError("streaming is not supported", "stream")
    for name in unknown:
        if name in body:
            raise InvalidError(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    return body


def _number(body: dict[str, Any]) -> int:
    number = 1 if body.get("n") is None else body["n"]
    if not isinstance(number, int) or not 1 <= number <= 10:
        raise InvalidError("n is a number from 1 to 10", "n")
    return number


async def _left(receive: Receive, seconds: float) -> bool:
    """Wait; return whether the client left meanwhile."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
            return True
    return False
