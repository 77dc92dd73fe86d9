import base64
import json
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from starlette.types import Send

from tests.served.keys import Request

Finish = Literal["stop", "length", "content_filter"]
IMAGE_TOKENS = 85


@dataclass(frozen=True)
class Reply:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    reset_after: int | None = None


def reply(status: int, body: bytes, content_type: str, *more: tuple[bytes, bytes]) -> Reply:
    length = str(len(body)).encode()
    return Reply(status, [(b"content-type", content_type.encode()), (b"content-length", length), *more], body)


def json_reply(status: int, data: object, *more: tuple[bytes, bytes]) -> Reply:
    return reply(status, json.dumps(data).encode(), "application/json", *more)


def failed(status: int, message: str, code: str, param: str = "", retry_after: float | None = None) -> Reply:
    kinds = {401: "authentication_error", 429: "rate_limit_error"}
    kind = "server_error" if status >= 500 else kinds.get(status, "invalid_request_error")
    more = () if retry_after is None else ((b"retry-after", f"{retry_after:g}".encode()),)
    error = {"message": message, "type": kind, "param": param or None, "code": code}
    return json_reply(status, {"error": error}, *more)


def models(names: tuple[str, ...]) -> Reply:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "fairspace-tests"} for name in names]
    return json_reply(200, {"object": "list", "data": data})


def completion(
    request: Request,
    body: dict[str, Any],
    texts: Sequence[str | None],
    finish: Finish = "stop",
    refusal: str | None = None,
) -> Reply:
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text, "refusal": refusal},
            "logprobs": None,
            "finish_reason": finish,
        }
        for index, text in enumerate(texts)
    ]
    prompt = len(request.text) // 4 + IMAGE_TOKENS * request.images + 4 * request.turns
    written = sum(len(text or "") // 4 + 1 for text in texts)
    usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    head = {"id": f"chatcmpl-{request.conversation[:24]}", "object": "chat.completion", "created": int(time.time())}
    return json_reply(200, {**head, "model": body["model"], "choices": choices, "usage": usage})


def images(files: Sequence[bytes]) -> Reply:
    data = [{"b64_json": base64.b64encode(file).decode()} for file in files]
    return json_reply(200, {"created": int(time.time()), "data": data})


def reset(send: Send) -> None:
    """Reset the connection: `send` is a method of uvicorn's cycle, which holds the transport."""
    transport = cast(Any, send).__self__.transport
    linger = struct.pack("ii", 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    transport.abort()
