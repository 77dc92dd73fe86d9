import asyncio
import base64
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Literal, cast

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.served.keys import Request

Finish = Literal["stop", "length", "content_filter"]
IMAGE_TOKENS = 85


class Cut(Response):
    """The beginning of a response, and a reset of the connection; the reset alone without a beginning."""

    def __init__(self, whole: Response, length: int) -> None:
        super().__init__(whole.body, whole.status_code, media_type=whole.media_type)
        self.length = length

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.length:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": self.body[: self.length], "more_body": True})
            await asyncio.sleep(0.02)  # lets the client read it before the reset
        transport = cast(Any, send).__self__.transport  # `send` is a method of uvicorn's cycle, which holds it
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()
        await asyncio.sleep(0.01)  # uvicorn hears of it


def failed(status: int, message: str, code: str, param: str = "", retry_after: float | None = None) -> Response:
    kinds = {401: "authentication_error", 429: "rate_limit_error"}
    kind = "server_error" if status >= 500 else kinds.get(status, "invalid_request_error")
    error = {"message": message, "type": kind, "param": param or None, "code": code}
    return JSONResponse({"error": error}, status, {} if retry_after is None else {"retry-after": f"{retry_after:g}"})


def models(names: tuple[str, ...]) -> Response:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "fairspace-tests"} for name in names]
    return JSONResponse({"object": "list", "data": data})


def completion(
    request: Request,
    body: dict[str, Any],
    texts: Sequence[str | None],
    finish: Finish = "stop",
    refusal: str | None = None,
) -> Response:
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
    return JSONResponse({**head, "model": body["model"], "choices": choices, "usage": usage})


def images(files: Sequence[bytes]) -> Response:
    data = [{"b64_json": base64.b64encode(file).decode()} for file in files]
    return JSONResponse({"created": int(time.time()), "data": data})
