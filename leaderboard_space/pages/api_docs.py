"""The API's documentation at `/api`, made from its OpenAPI document, with an example for each call."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.errors import CODES, STATUS
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


class Field(NamedTuple):
    """A parameter, or a field of an answer: its name, its type in words, and what it is."""

    name: str
    kind: str
    about: str


class Call(NamedTuple):
    """One call of the API, with an example; `many`: whether the answer is a list, each with these fields."""

    method: str
    path: str
    about: str
    parameters: list[Field]
    fields: list[Field]
    many: bool
    curl: str


@router.get("/api")
def api_page(request: Request) -> Response:
    """The calls with examples for curl and gradio_client."""
    address = site_of(request)
    shown = (entry for entry in space_of(request).state.entries() if entry.withdrawn is None)
    scored = next(((entry.benchmark, entry.entry) for entry in shown), (EXAMPLES["benchmark"], SCORED))
    codes = sorted(CODES, key=lambda code: (STATUS[code], code))
    return page(
        request,
        "api.html.jinja",
        max_age=300,
        calls=calls(request.app.openapi(), address, scored),
        address=address,
        gradio=GRADIO,
        codes=[(code, STATUS[code], CODES[code]) for code in codes],
        days=DAYS,
    )


def calls(document: Mapping[str, Any], address: str, scored: tuple[str, str]) -> list[Call]:
    """Every call of an OpenAPI document, in its order.

    Args:
        document: the OpenAPI document.
        address: of the Space.
        scored: benchmark and entry of a row that was scored here, for calls that printed rows have no answer to.
    """
    return [
        _call(document, method, path, operation, address, scored)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def _call(
    document: Mapping[str, Any],
    method: str,
    path: str,
    operation: Mapping[str, Any],
    site: str,
    scored: tuple[str, str],
) -> Call:
    success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    schema = success["content"]["application/json"]["schema"]
    many = schema.get("type") == "array"
    shape = _resolved(document, schema["items"] if many else schema)
    parameters = [
        Field(parameter["name"], _kind(parameter["schema"]), parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    fields = [
        Field(name, _kind(about), about.get("description", "")) for name, about in shape.get("properties", {}).items()
    ]
    of_scored = path.endswith(("/result", "/{action}"))
    parts = EXAMPLES | dict(zip(("benchmark", "entry"), scored, strict=True)) if of_scored else EXAMPLES
    curl = _curl(method, site + path.format_map(parts))
    return Call(method.upper(), path, operation["description"], parameters, fields, many, curl)


def _curl(method: str, address: str) -> str:
    words = ["curl"]
    if method == "post":
        words += ["-H", "X-Fairspace-Token: TOKEN"]
        is_upload = address.endswith("/submissions")
        words += ["--data-binary", "@my-submission.zip"] if is_upload else ["--json", '{"reason": "why"}']
    return shlex.join([*words, address])


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema, looked up where it is a reference."""
    name = schema.get("$ref", "").rpartition("/")[2]
    fields: Mapping[str, Any] = document["components"]["schemas"][name] if name else schema
    return fields


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a schema in words."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return f"name → {_kind(schema['additionalProperties'])}"
    return str(schema.get("type", "anything"))
