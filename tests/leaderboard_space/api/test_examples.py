"""The OpenAPI document: each call has an example, and each example is what the application answers."""

import json
from pathlib import Path

import pytest
from fastapi.openapi.models import OpenAPI

from fairspace.leaderboard_space.api.routes import EXAMPLES, add_examples
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
        content = call["responses"][status]["content"]["application/json"]
        assert content["example"] == kept[name]
        assert "schema" in content


def test_a_call_without_an_example_is_left_as_it_is() -> None:
    """A further call must not keep the board from starting."""
    document = {"paths": {"/api/v1/further": {"get": {"responses": {"204": {"description": "Done"}}}}}}
    before = json.dumps(document)
    add_examples(document)
    assert json.dumps(document) == before


@pytest.mark.slow
def test_the_examples_are_answers_of_the_application() -> None:
    assert examples() == json.loads(EXAMPLES.read_text(encoding="utf-8"))
