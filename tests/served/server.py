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

from starlette.types import Message, Receive, Scope, Send

from tests.served import replies
from tests.served.answers import answer, bound_answer, recognise, refusing, unreadable
from tests.served.counts import Counts
from tests.served.faults import Fault, Faults
from tests.served.keys import InvalidError, Request, chat_request, image_request, unit
from tests.served.options import Options
from tests.served.pictures import encoded, picture
from tests.served.replies import Reply, base64_text, completion, failed, images, json_reply, limited, reply

_PAGE = b"<!doctype html><html><head><title>Gateway</title></head><body><h1>Please sign in</h1></body></html>"
_CODES = {429: "rate_limit_exceeded", 404: "model_not_found", 401: "invalid_api_key"}
_REJECTED = "Your request was rejected by the safety system."


def spoiled(fault: Fault, request: Request, body: dict[str, Any], drawing: Options | None) -> Reply:
    if fault.way == "status":
        if fault.status == 429:
            return limited(fault.seconds)
        code = fault.code or _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_request")
        after = fault.seconds if fault.status == 503 else None
        return failed(fault.status, f"The server answered {fault.status} on purpose.", code, "", after)
    if fault.way == "verbatim":
        return reply(fault.status, fault.body.encode(), fault.form)
    if fault.way == "html":
        return reply(200, _PAGE, "text/html; charset=utf-8")
    if fault.way == "not_completion":
        return json_reply(200, {"status": "ok", "detail": "this is no completion"})
    if fault.way in ("truncated", "cut", "reset"):
        return _broken_off(fault, _truth(request, body, drawing))
    return _image(fault, request, drawing) if drawing else _chat(fault, request, body)


def _broken_off(fault: Fault, whole: Reply) -> Reply:
    half = len(whole.body) // 2
    if fault.way == "truncated":
        return reply(whole.status, whole.body[:half], "application/json")
    return replace(whole, reset_after=half if fault.way == "cut" else 0)


def _truth(request: Request, body: dict[str, Any], drawing: Options | None) -> Reply:
    if drawing:
        return images([{"b64_json": base64_text(_file(request, drawing))}])
    return completion(request, body, [answer(request)])


def _file(request: Request, drawing: Options) -> bytes:
    shown = picture(request.text, request.key, 0)
    return encoded(shown, drawing.pixels or 96, drawing.picture, f"{request.key}-0")


def _chat(fault: Fault, request: Request, body: dict[str, Any]) -> Reply:
    match fault.way:
        case "empty":
            return completion(request, body, [])
        case "silent":
            return completion(request, body, [""], "length")
        case "half":
            text = answer(request)
            return completion(request, body, [text[: len(text) // 2]], "length")
        case "filtered":
            return completion(request, body, [None], "content_filter")
        case "refusal":
            return completion(request, body, [None], "stop", refusing(request))
        case "blocked":
            return failed(
                400, "The prompt was blocked by the content filter.", fault.code or "content_filter", "prompt"
            )
        case "refusing":
            return completion(request, body, [refusing(request)])
        case "unreadable":
            return completion(request, body, [unreadable(request)])
        case _:
            raise ValueError(fault.way)


def _image(fault: Fault, request: Request, drawing: Options) -> Reply:
    match fault.way:
        case "empty":
            return images([])
        case "silent":
            return images([{"b64_json": ""}])
        case "half":
            data = _file(request, drawing)
            return images([{"b64_json": base64_text(data[: len(data) // 2])}])
        case "unreadable":
            return images([{"b64_json": base64_text(f"no image {request.key}".encode())}])
        case "refusal":
            return failed(400, _REJECTED, "moderation_blocked")
        case "filtered" | "refusing" | "blocked":
            return failed(400, _REJECTED, fault.code or "content_policy_violation")
        case _:
            raise ValueError(fault.way)


CHAT, IMAGES = "/v1/chat/completions", "/v1/images/generations"


class Server:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.faults = Faults(options.faults)
        self.counts = Counts()
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
        elif _header(scope, b"authorization") != self._authorization:
            self.counts.fates["unauthorised"] += 1
            await _send(send, replies.failed(401, "Incorrect API key provided.", "invalid_api_key"))
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
            await _send(send, replies.failed(404, f"Unknown request URL: {method} {path}", "unknown_url"))

    async def _ask(self, path: str, data: bytes, receive: Receive, send: Send) -> None:
        counts, options = self.counts, self.options
        try:
            body = _object(data, options.unknown)
            request = chat_request(body) if path == CHAT else image_request(body)
            number = _number(body)
        except InvalidError as error:
            counts.fates["invalid"] += 1
            await _send(send, replies.failed(400, str(error), error.code, error.param))
            return
        kind = recognise(request.text)[0].name if path == CHAT else "image"
        counts.kinds[kind] += 1
        counts.models[str(body.get("model"))] += 1
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
            reply = replies.completion(request, body, [said(choice) for choice in choices])
        else:
            reply = self._pictures(request, body, choices)
            counts.images += number
        counts.fates["answered"] += fault is None
        counts.answers[request.key] += 1
        await _send(send, reply)

    def _pictures(self, request: Request, body: dict[str, Any], choices: range) -> Reply:
        options = self.options
        size = options.pixels or int(str(body.get("size", "1024x1024")).partition("x")[0])
        shown = [(picture(request.text, request.key, choice), f"{request.key}-{choice}") for choice in choices]
        return replies.images(
            [{"b64_json": replies.base64_text(encoded(face, size, options.picture, name))} for face, name in shown]
        )

    def _kill(self) -> None:
        """Signal the group that is due; a missing group is tried again at the next request."""
        if self._killed is None or self.counts.fates.total() < self._killed[1]:
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
            return replies.json_reply(200, {})
        if (method, path) == ("PUT", "/_faults"):
            self.faults = Faults(tuple(Fault(**fault) for fault in json.loads(body)))
            return replies.json_reply(200, {})
        if path != "/_requests":
            return replies.failed(404, f"Unknown control {path}.", "not_found")
        told = replies.json_reply(200, self.counts.told())
        if method == "DELETE":
            self.counts = Counts()
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


def _header(scope: Scope, name: bytes) -> bytes:
    found: bytes = next((value for key, value in scope["headers"] if key == name), b"")
    return found


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _left(receive: Receive, seconds: float) -> bool:
    """Wait; return whether the client left meanwhile."""
    try:
        message: Message = await asyncio.wait_for(_disconnected(receive), seconds)
    except TimeoutError:
        return False
    return message["type"] == "http.disconnect"


async def _disconnected(receive: Receive) -> Message:
    while (message := await receive())["type"] != "http.disconnect":
        pass
    return message


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
