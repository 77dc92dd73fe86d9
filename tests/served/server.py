"""OpenAI's chat and images protocols as a bare, fast ASGI application.

Uncounted controls: `GET /_requests` returns the counts, `DELETE` resets them; `PUT /_faults` replaces the faults (JSON
list of `Fault`); `PUT /_kill` takes a process group (null: the server), a count and a signal.
"""

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import replace
from typing import Any

from starlette.types import Receive, Scope, Send

from tests.served import replies
from tests.served.answers import answer, bound_answer, recognise, refusing, unreadable
from tests.served.counts import Requests
from tests.served.faults import Fault, Faults
from tests.served.keys import InvalidError, Request, chat_request, image_request, unit
from tests.served.options import Options
from tests.served.pictures import encoded, picture
from tests.served.replies import Finish, Reply, completion, failed, images, json_reply, reply

_PAGE = b"<!doctype html><html><head><title>Gateway</title></head><body><h1>Please sign in</h1></body></html>"
_CODES = {429: "rate_limit_exceeded", 404: "model_not_found", 401: "invalid_api_key"}


def spoiled(fault: Fault, request: Request, body: dict[str, Any], drawing: Options | None) -> Reply:
    match fault.way:
        case "status":
            code = fault.code or _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_request")
            after = fault.seconds if fault.status in (429, 503) else None
            return failed(fault.status, f"The server answered {fault.status} on purpose.", code, "", after)
        case "verbatim":
            return reply(fault.status, fault.body.encode(), fault.form)
        case "html":
            return reply(200, _PAGE, "text/html; charset=utf-8")
        case "not_completion":
            return json_reply(200, {"status": "ok", "detail": "this is no completion"})
        case "truncated" | "cut" | "reset":
            whole = images([_file(request, drawing)]) if drawing else completion(request, body, [answer(request)])
            half = len(whole.body) // 2
            if fault.way == "truncated":
                return reply(whole.status, whole.body[:half], "application/json")
            return replace(whole, reset_after=half if fault.way == "cut" else 0)
    return _image(fault, request, drawing) if drawing else _chat(fault, request, body)


def _file(request: Request, drawing: Options, choice: int = 0) -> bytes:
    shown = picture(request.text, request.key, choice)
    return encoded(shown, drawing.pixels, drawing.picture, f"{request.key}-{choice}")


def _chat(fault: Fault, request: Request, body: dict[str, Any]) -> Reply:
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


def _image(fault: Fault, request: Request, drawing: Options) -> Reply:
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
        if scope["type"] != "http":
            raise RuntimeError(f"no {scope['type']} here")
        body = await _read(receive)
        method, path = scope["method"], scope["path"]
        if path.startswith("/_"):
            await _send(send, self._control(method, path, body))
        elif dict(scope["headers"]).get(b"authorization") != self._authorization:
            self.counts.fates["unauthorised"] += 1
            await _send(send, failed(401, "Incorrect API key provided.", "invalid_api_key"))
        elif (method, path) == ("GET", "/v1/models"):
            await _send(send, replies.models(self.options.models))
        elif method == "POST" and path in (CHAT, IMAGES):
            self._in_flight += 1
            self.counts.highest = max(self.counts.highest, self._in_flight)
            try:
                await self._ask(path, body, receive, send)
            finally:
                self._in_flight -= 1
                self._kill()
        else:
            await _send(send, failed(404, f"Unknown request URL: {method} {path}", "unknown_url"))

    async def _ask(self, path: str, data: bytes, receive: Receive, send: Send) -> None:
        counts, options = self.counts, self.options
        try:
            body = _object(data, options.unknown)
            request = chat_request(body) if path == CHAT else image_request(body)
            number = _number(body)
        except InvalidError as error:
            counts.fates["invalid"] += 1
            await _send(send, failed(400, str(error), error.code, error.param))
            return
        kind = recognise(request.text)[0].name if path == CHAT else "image"
        counts.kinds[kind] += 1
        counts.attempts[request.key] += 1
        attempt = counts.attempts[request.key]
        fault = self.faults.find(request, kind, attempt)
        wait = options.latency + (options.spread * unit(request.key, attempt) if options.spread else 0.0)
        if fault is not None and fault.way == "slow":
            wait += fault.seconds
        if wait and await _left(receive, wait):
            counts.fates[fault.name if fault else "gone"] += 1
            return
        if fault is not None:
            counts.fates[fault.name] += 1
        if fault is not None and fault.way != "slow":
            await _send(send, spoiled(fault, request, body, options if path == IMAGES else None))
            return
        choices = range(number)
        form = body.get("response_format")  # a text where images are asked for
        bound = form.get("json_schema") if options.schemas and isinstance(form, dict) else None

        def said(choice: int) -> str:
            return bound_answer(request, bound["schema"], choice) if bound else answer(request, choice)

        if path == CHAT:
            reply = completion(request, body, [said(choice) for choice in choices])
        else:
            reply = images([_file(request, options, choice) for choice in choices])
            counts.images += number
        counts.fates["answered"] += fault is None
        counts.answers[request.key] += 1
        await _send(send, reply)

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

    def _control(self, method: str, path: str, body: bytes) -> Reply:
        if (method, path) == ("PUT", "/_kill"):
            told = json.loads(body)
            self._killed = told["group"], told["requests"], told["signal"]
            self._kill()
            return json_reply(200, {})
        if (method, path) == ("PUT", "/_faults"):
            self.faults = Faults(tuple(Fault(**fault) for fault in json.loads(body)))
            return json_reply(200, {})
        if path != "/_requests":
            return failed(404, f"Unknown control {path}.", "not_found")
        told = json_reply(200, vars(self.counts))
        if method == "DELETE":
            self.counts = Requests()
            self.faults = Faults(self.faults.faults)
        return told


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


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _left(receive: Receive, seconds: float) -> bool:
    """Wait; return whether the client left meanwhile."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
            return True
    return False


async def _send(send: Send, reply: Reply) -> None:
    if reply.reset_after is None or reply.reset_after > 0:
        await send({"type": "http.response.start", "status": reply.status, "headers": reply.headers})
    if reply.reset_after is None:
        await send({"type": "http.response.body", "body": reply.body})
        return
    if reply.reset_after > 0:
        await send({"type": "http.response.body", "body": reply.body[: reply.reset_after], "more_body": True})
        await asyncio.sleep(0.02)  # lets the client read it before the reset
    replies.reset(send)
    await asyncio.sleep(0.01)  # uvicorn hears of it
