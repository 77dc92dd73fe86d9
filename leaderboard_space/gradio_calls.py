"""Calls of Gradio's events: read before Gradio reads them, as it would follow what they say of files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import gradio as gr
import orjson
from starlette.requests import Request
from starlette.types import Message, Receive

from leaderboard_space.errors import SpaceError
from leaderboard_space.gradio_parts import uploads

LOGGER = logging.getLogger("fairspace.gradio")
JOIN = "/gradio_api/queue/join"


async def checked(request: Request, blocks: gr.Blocks) -> Receive:
    """The body of a call, once it was found to be one; the files that it names lie in the folder of uploads.

    SpaceError BAD_PARAMETER.
    """
    try:
        call = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise _bad("the body", str(error)) from error
    if not isinstance(call, dict) or not isinstance(call.get("data", []), list):
        raise _bad("the body", "no call of an event")
    if request.url.path == JOIN:
        number = call.get("fn_index")
        event = blocks.fns.get(number) if isinstance(number, int) else None
        if event is None or len(call.get("data", [])) != len(event.inputs):
            raise _bad("fn_index", "no event of these pages with so many inputs")
    folder, found = uploads(), [call.get("data", [])]
    while found:
        part = found.pop()
        if isinstance(part, dict) and ("path" in part or "url" in part):
            _check_file(part.get("path"), folder)
            part.pop("url", None)
            part["meta"] = {"_type": "gradio.FileData"}
            continue
        found += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    body = [orjson.dumps(call)]

    async def receive() -> Message:
        if not body:
            return await request.receive()
        return {"type": "http.request", "body": body.pop(), "more_body": False}

    return receive


def _check_file(path: Any, folder: Path) -> None:
    if not isinstance(path, str) or "\0" in path or not Path(path).resolve().is_relative_to(folder):
        raise _bad("path", repr(path)[:100])


def _bad(where: str, found: str) -> SpaceError:
    return SpaceError("BAD_PARAMETER", where, found, "what the page or gradio_client sends", "see /api")


class Failures:
    """Stands where Gradio prints a traceback: what goes wrong within an event is a line of the log, too."""

    @staticmethod
    def print_exc() -> None:
        """Log the exception that is being handled."""
        LOGGER.exception("an event failed")
