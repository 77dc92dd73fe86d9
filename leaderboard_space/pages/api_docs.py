"""The API's documentation at `/api`, made from its OpenAPI document, with an example for each call."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.errors import REFUSALS
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import site_of, space_of
from fairspace.leaderboard_space.web.tokens import DAYS

router = APIRouter(include_in_schema=False)
EXAMPLES = {"benchmark": "iris", "entry": "p-01", "name": "0f1e2d3c4b5a69788796", "action": "withdraw"}
"""What stands in an example for a part of an address."""
SCORED = "f0e1d2c3b4a59687"
"""The entry in an example of a call for rows that were scored here, if this Space has none yet."""
GRADIO = (
    ("boards", 'client.predict(api_name="/boards")'),
    ("board", 'client.predict("iris", standard="algorithm_1", q="bagel", api_name="/board")'),
    ("row", 'client.predict("iris", "p-01", api_name="/row")'),
    ("queue", 'client.predict(api_name="/queue")'),
    ("submit", 'client.predict(handle_file("my-submission.zip"), "", api_name="/submit")'),
    ("submission", 'client.predict("0f1e2d3c4b5a69788796", api_name="/submission")'),
)
"""The endpoints of Gradio's clients; each answers as the call of plain HTTP does."""


class Call(NamedTuple):
    """One call of the API, with an example."""

    method: str
    path: str
    about: str
    curl: str


@router.get("/api")
def api_page(request: Request) -> Response:
    """The calls with examples for curl and gradio_client."""
    address = site_of(request)
    shown = (entry for entry in space_of(request).state.entries() if entry.withdrawn is None)
    scored = next(((entry.benchmark, entry.entry) for entry in shown), (EXAMPLES["benchmark"], SCORED))
    return page(
        request,
        "api.html.jinja",
        max_age=300,
        calls=calls(request.app.openapi(), address, scored),
        address=address,
        gradio=GRADIO,
        codes=sorted((status, code, meaning) for code, (status, meaning) in REFUSALS.items()),
        days=DAYS,
    )


def calls(document: Mapping[str, Any], address: str, scored: tuple[str, str]) -> list[Call]:
    """Every call of an OpenAPI document, in its order.

    Args:
        document: the OpenAPI document.
        address: of the Space.
        scored: benchmark and entry of a row that was scored here, for calls that printed rows have no answer to.
    """
    found = []
    for path, operations in document["paths"].items():
        of_scored = path.endswith(("/result", "/{action}"))
        parts = EXAMPLES | dict(zip(("benchmark", "entry"), scored, strict=True)) if of_scored else EXAMPLES
        for method, operation in operations.items():
            words = ["curl"]
            if method == "post":
                words += ["-H", "X-Fairspace-Token: TOKEN"]
                is_upload = path.endswith("/submissions")
                words += ["--data-binary", "@my-submission.zip"] if is_upload else ["--json", '{"reason": "why"}']
            curl = shlex.join([*words, address + path.format_map(parts)])
            found.append(Call(method.upper(), path, operation["description"], curl))
    return found
