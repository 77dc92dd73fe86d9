"""The replies of requests that go wrong, one per way of `faults.WAYS`; `slow` is the true one, late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.served.answers import answer, refusing, unreadable
from tests.served.faults import Fault
from tests.served.keys import Request
from tests.served.options import Options
from tests.served.pictures import encoded, picture
from tests.served.replies import Reply, base64_text, completion, failed, images, json_reply, limited, reply

_PAGE = b"<!doctype html><html><head><title>Gateway</title></head><body><h1>Please sign in</h1></body></html>"
_CODES = {429: "rate_limit_exceeded", 404: "model_not_found", 401: "invalid_api_key"}
_REJECTED = "Your request was rejected by the safety system."


def spoiled(fault: Fault, request: Request, body: dict[str, Any], drawing: Options | None) -> Reply:
    """What is answered instead of the truth; `drawing`: how a picture would be drawn, None for a chat."""
    if fault.way == "status":
        if fault.status == 429:
            return limited(fault.seconds)
        code = fault.code or _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_request")
        after = fault.seconds if fault.status == 503 else None
        return failed(fault.status, f"The server answered {fault.status} on purpose.", code, "", after)
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
    shown = picture(request.text, request.key, 0, drawing.faceless)
    return encoded(shown, drawing.pixels or 96, drawing.picture, f"{request.key}-0")


def _chat(fault: Fault, request: Request, body: dict[str, Any]) -> Reply:
    """The ways of an answer."""
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
    """The ways of pictures."""
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
