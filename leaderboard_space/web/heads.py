"""HEAD: what GET would answer, without its content."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMS = "/gradio_api/"
"""Where some answers never end by themselves, so that a head is Gradio's to answer."""


class Heads:
    """Middleware around everything else.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].startswith(STREAMS):
            await self.app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, sent)
