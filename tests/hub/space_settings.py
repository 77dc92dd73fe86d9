"""Variables and secrets of a Space: the values of secrets are never told."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import store_of, writable


async def variables(request: Request) -> Response:
    """GET and POST /api/spaces/id/variables."""
    repository = writable(request)
    if request.method == "POST":
        asked = await request.json()
        repository.variables[asked["key"]] = asked["value"]
        store_of(request).save(repository)
    return JSONResponse({name: {"value": value} for name, value in repository.variables.items()})


async def secrets(request: Request) -> Response:
    """GET and POST /api/spaces/id/secrets."""
    repository = writable(request)
    if request.method == "POST":
        asked = await request.json()
        repository.secrets[asked["key"]] = asked["value"]
        store_of(request).save(repository)
    return JSONResponse({name: {"description": None} for name in repository.secrets})


ROUTES = [
    Route("/api/{kind}/{owner}/{name}/variables", variables, methods=["GET", "POST"]),
    Route("/api/{kind}/{owner}/{name}/secrets", secrets, methods=["GET", "POST"]),
]
