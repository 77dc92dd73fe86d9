"""The OpenAPI document: each call has an example, and each example is what the application answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.openapi.models import OpenAPI

from fairspace.leaderboard_space.api.data import EXAMPLES
from tests.leaderboard_space.api.examples import examples
from tests.leaderboard_space.api.spaces import opened


def test_every_call_has_its_own_example_in_a_valid_document(tmp_path: Path) -> None:
    with opened(tmp_path) as space:
        document = space.client.get("/api/v1/openapi.json").json()
    OpenAPI.model_validate(document)
    kept = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    calls = {f"{method.upper()} {path}": each for path, of in document["paths"].items() for method, each in of.items()}
    assert {*calls} == {*kept}
    for name, call in calls.items():
        status = "202" if name == "POST /api/v1/submissions" else "200"
        assert call["responses"][status]["content"]["application/json"]["example"] == kept[name]


@pytest.mark.slow
def test_the_examples_are_answers_of_the_application() -> None:
    assert examples() == json.loads(EXAMPLES.read_text(encoding="utf-8"))
