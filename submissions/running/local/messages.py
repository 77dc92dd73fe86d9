"""Inspect's messages as chat templates take them, and answers as Inspect takes them."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolInfo

from fairspace.submissions.running.asking.exchange import ENDED

if TYPE_CHECKING:
    from PIL.Image import Image

UNHEEDED = ("frequency_penalty", "presence_penalty", "logit_bias", "num_choices", "response_schema")
"""Settings of Inspect that a model on this machine does not heed."""


def check(tools: list[ToolInfo], config: GenerateConfig) -> None:
    """ValueError if something is asked for that would be left out without a word."""
    unheeded = [name for name in UNHEEDED if getattr(config, name, None) is not None]
    if tools or unheeded:
        raise ValueError(f"a local model does not heed {', '.join(unheeded) or 'tools'}; leave it out")


def parts(message: ChatMessage) -> list[dict[str, Any]]:
    """A message's content as chat templates take it."""
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else [_part(piece) for piece in content]


def _part(piece: Any) -> dict[str, Any]:
    if isinstance(piece, ContentText):
        return {"type": "text", "text": piece.text}
    if isinstance(piece, ContentImage):
        return {"type": "image", "image": _image(piece.image)}
    raise ValueError(f"a local model takes texts and images, no {type(piece).__name__}")


def _image(uri: str) -> Image:
    """The image of a data URI."""
    from PIL import Image

    head, _, data = uri.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise ValueError(f"an image as {uri[:40]!r}, not as a data URI")
    return Image.open(BytesIO(base64.b64decode(data))).convert("RGB")


def output(model: str, text: str, stop: StopReason, usage: ModelUsage | None, ended: str = "") -> ModelOutput:
    """An answer as Inspect has it; `ended` says more of its end than Inspect's words can."""
    message = ChatMessageAssistant(content=text, model=model, source="generate")
    choices = [ChatCompletionChoice(message=message, stop_reason=stop)]
    return ModelOutput(model=model, choices=choices, usage=usage, metadata={ENDED: ended} if ended else None)
