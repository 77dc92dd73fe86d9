"""What the served models will answer, computed here: for tests that every answer reached its own item.

They import what makes the answers, so they are no part of `tests.served` itself, which starts in a moment.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.served.answers import answer
from tests.served.keys import chat_request, image_request
from tests.served.pictures import Picture, picture


def said(text: str, images: Sequence[str] = (), seed: int | None = None, *, choice: int = 0) -> str:
    """The answer to one message: a text, images as data URIs, and the request's seed."""
    parts: list[dict[str, object]] = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    content = [*parts, {"type": "text", "text": text}]
    return answer(chat_request({"messages": [{"role": "user", "content": content}], "seed": seed}), choice)


def drawn(prompt: str, seed: int | None = None, *, choice: int = 0, faceless: float = 0.0) -> Picture:
    """What the picture of a prompt shows; `choice` is its place among several to one request."""
    request = image_request({"prompt": prompt, "seed": seed})
    return picture(request.text, request.key, choice, faceless)
