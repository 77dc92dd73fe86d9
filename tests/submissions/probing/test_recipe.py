"""Recipes: those that ship are read, and everything that is wrong in one is said with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from submissions.probing.recipe import STAGES, make_recipe, names, read_recipe
from submissions.running.errors import RunError

GOOD: dict[str, Any] = {
    "name": "mine",
    "generate": {"call": "generate", "arguments": {"do_sample": False}},
    "stages": {"intent": {"module": "a.b", "pool": "last"}},
}


def test_both_recipes_that_come_along_are_read() -> None:
    assert names() == ["janus", "qwen-image"]
    assert set(read_recipe("janus").stages) == set(STAGES)
    assert set(read_recipe("qwen-image").stages) == set(STAGES) - {"step"}


def test_toml_and_json_of_the_same_content_are_the_same_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(GOOD))
    toml = 'name = "mine"\n[generate]\ncall = "generate"\narguments = {do_sample = false}\n'
    (tmp_path / "a.toml").write_text(toml + '[stages.intent]\nmodule = "a.b"\npool = "last"\n')
    assert read_recipe(str(tmp_path / "a.json")) == read_recipe(str(tmp_path / "a.toml"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nmae": "x"}, "the key 'nmae' (did you mean 'name'?)"),
        ({"name": 3}, "name: 3"),
        ({"opens": "transformer"}, "did you mean 'transformers'?"),
        ({"architectures": "X"}, "a list of class names"),
        ({"stages": {}}, "stages: none"),
        ({"stages": {"intnet": {"module": "a"}}}, "did you mean 'intent'?"),
        ({"stages": {"intent": {}}}, "stages.intent.module: nothing"),
        ({"stages": {"intent": {"module": "a", "pool": "avg"}}}, "one of mean, last, first, map, flat, vector"),
        ({"stages": {"intent": {"module": "a", "side": "both"}}}, "one of output, input"),
        ({"stages": {"vision": {"module": "a"}}}, "no call during which it is taken. Expected: [image]"),
        ({"stages": {"before": {"module": "a"}}}, "both before and after, or neither"),
        ({"image": {"call": "x"}}, "image.inputs: none"),
        ({"generate": {"batch": 0}}, "generate.batch: 0"),
        ({"generate": {"batch": True}}, "generate.batch: True"),
        ({"generate": {"special": "no"}}, "true or false"),
        ({"generate": {"arguments": {"x": [1]}}}, "generate.arguments.x: [1]"),
        ({"generate": {"gives": "token"}}, "did you mean 'tokens'?"),
        ({"generate": "x"}, "a table"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RunError) as caught:
        make_recipe(GOOD | change, "mine.toml")
    assert caught.value.code == "RECIPE_INVALID"
    assert said in str(caught.value)
    assert "mine.toml" in str(caught.value)


@pytest.mark.parametrize("text", ["name = ", "[" * 50_000, "\xff", "x" * 70_000])
def test_a_file_that_is_no_recipe_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(RunError, match=r"RECIPE_INVALID at bad\.toml"):
        read_recipe(str(path))


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(RunError, match="did you mean 'janus'"):
        read_recipe("januz")
