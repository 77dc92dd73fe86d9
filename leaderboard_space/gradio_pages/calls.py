"""Checks calls of Gradio's events before Gradio reads them, because it would follow file paths in them."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import gradio as gr
import orjson
from gradio.block_function import BlockFunction
from gradio.blocks import Block
from gradio.components.api_component import Api
from starlette.requests import Request
from starlette.types import Message, Receive

from fairspace.leaderboard_space.errors import SpaceError

LOGGER = logging.getLogger("fairspace.gradio")
JOIN = "/gradio_api/queue/join"
_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}
"""Of what is given to `gr.api`'s endpoints."""


async def checked(request: Request, blocks: gr.Blocks, uploads: Path) -> Receive:
    """The body of a call, once it was found to be one; the files that it names lie in the folder of uploads.

    SpaceError BAD_PARAMETER or UPLOAD_MISSING.
    """
    try:
        call = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise _bad("the body", str(error)) from error
    if not isinstance(call, dict) or not isinstance(call.get("data", []), list):
        raise _bad("the body", "no call of an event")
    _check_inputs(call.get("data", []), _event(request, call, blocks).inputs)
    values = [call.get("data", [])]
    while values:
        part = values.pop()
        if isinstance(part, dict) and ("path" in part or "url" in part):
            _check_file(part.get("path"), uploads)
            part.pop("url", None)
            part["meta"] = {"_type": "gradio.FileData"}
            continue
        values += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    try:
        body = [orjson.dumps(call)]
    except orjson.JSONEncodeError as error:  # what is nested deeper than it writes
        raise _bad("the body", str(error)) from error

    async def receive() -> Message:
        if not body:
            return await request.receive()
        return {"type": "http.request", "body": body.pop(), "more_body": False}

    return receive


def _event(request: Request, call: dict[str, Any], blocks: gr.Blocks) -> BlockFunction:
    """What is called: by its number, as the pages do, or by its name."""
    if request.url.path == JOIN:
        number = call.get("fn_index")
        function = blocks.fns.get(number) if isinstance(number, int) else None
    else:
        name = request.url.path.rpartition("/")[2]
        function = next((each for each in blocks.fns.values() if each.api_name == name), None)
    if function is None or (request.url.path != JOIN and function.api_visibility == "private"):
        raise _bad("the event", "no event of these pages")
    return function


def _check_inputs(data: list[Any], inputs: Sequence[Block]) -> None:
    if len(data) != len(inputs):
        raise _bad("data", f"{len(data)} values for {len(inputs)} inputs")
    for number, (value, block) in enumerate(zip(data, inputs, strict=True)):
        if isinstance(block, Api):
            allowed: tuple[type, ...] = (_TYPES[str(block.api_info()["type"])],)
        elif isinstance(block, gr.File):
            allowed = (dict, NoneType)
        else:
            allowed = (str, NoneType)
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise _bad(f"data[{number}]", repr(value)[:100])
        if isinstance(block, gr.File) and isinstance(value, dict) and "path" not in value:
            raise _bad(f"data[{number}]", "no file")


def _check_file(path: Any, folder: Path) -> None:
    """Whether a path is a file below the folder: of a folder Gradio would keep note, and fail to delete it."""
    file = Path(path).resolve() if isinstance(path, str) and "\0" not in path else folder
    if file == folder or not file.is_relative_to(folder):
        raise _bad("path", repr(path)[:100])
    if not os.path.isfile(file):  # noqa: PTH113 Path.is_file raises for names that are too long
        raise SpaceError("UPLOAD_MISSING", "path", "no such file", "one that was uploaded", "upload it again")


def _bad(where: str, problem: str) -> SpaceError:
    return SpaceError("BAD_PARAMETER", where, problem, "what the page or gradio_client sends", "see /api")


class Failures:
    """Replaces Gradio's printing of tracebacks: errors within events are logged too."""

    @staticmethod
    def print_exc() -> None:
        """Log the exception that is being handled."""
        LOGGER.exception("an event failed")
