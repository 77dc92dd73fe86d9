"""The Space as one web application: pages, the API, and Gradio for handing in and for its clients, over one store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from starlette.middleware.gzip import GZipMiddleware

from leaderboard_space.errors import SpaceError
from leaderboard_space.pages.rendering import ASSETS, page
from leaderboard_space.settings import Settings
from leaderboard_space.space import Space

ROUTERS: tuple[str, ...] = ()
"""Modules with a `router`, in the order in which they are asked."""


def create_app(space: Space) -> FastAPI:
    """The application over an opened Space; it starts and stops the jobs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        space.jobs.start()
        yield
        space.jobs.stop()
        space.storage.close()

    app = FastAPI(
        title="fairspace", docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json", lifespan=lifespan
    )
    app.state.space = space
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    app.add_exception_handler(SpaceError, _refuse)
    app.get("/site/{version}/{name}", include_in_schema=False)(_asset)
    for name in ROUTERS:
        app.include_router(__import__(name, fromlist=["router"]).router)
    return app


def _asset(version: str, name: str) -> Response:
    """A file of `assets`, under an address that changes with its content."""
    file = ASSETS / name
    if file.parent != ASSETS or not file.is_file():
        raise SpaceError("UNKNOWN_PAGE", f"/site/{version}/{name}", "nothing", "a file of the pages", "reload the page")
    return FileResponse(file, headers={"Cache-Control": "public, max-age=31536000, immutable"})


async def _refuse(request: Request, error: Exception) -> Response:
    """A refusal as a page, or as JSON for the API."""
    assert isinstance(error, SpaceError)
    return page(request, "refused.html.jinja", status=error.status, error=error)


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the Space until it is interrupted."""
    uvicorn.run(create_app(Space.open(settings)), host=host, port=port, log_level="warning")


def main() -> None:
    """What the Space runs."""
    serve(Settings.from_environment(), host="0.0.0.0")  # noqa: S104 a container
