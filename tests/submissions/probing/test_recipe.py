import json
import os
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.probing.recipe import ARGUMENTS, MOST, STAGES, make_recipe, names, read_recipe
from tests.machine_speed import slowness

GOOD: dict[str, Any] = {
    "name": "mine",
    "generate": {"call": "generate", "arguments": {"do_sample": False}},
    "stages": {"intent": {"module": "a.b", "pool": "last"}},
}


def test_all_recipes_that_come_along_are_read() -> None:
    assert names() == ["blip3o", "harmon", "janus", "qwen-image"]
    assert set(read_recipe("janus").stages) == set(STAGES)
    assert all(set(read_recipe(name).stages) == set(STAGES) - {"step"} for name in names() if name != "janus")


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
        ({"architectures": "X"}, "architectures: 'X'. Expected: a valid list"),
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
        ({"generate": {"special": "no"}}, "a valid boolean"),
        ({"generate": {"arguments": {"temperature": [1]}}}, "generate.arguments.temperature: [1]. Expected: a number"),
        ({"generate": {"arguments": {"do_sample": 1}}}, "generate.arguments.do_sample: 1. Expected: true or false"),
        ({"generate": {"arguments": {"num_beams": True}}}, "generate.arguments.num_beams: True"),
        ({"generate": {"arguments": {"height": 1 << 64}}}, "an integer of 65 bits"),
        ({"generate": {"arguments": {"top_p": float("nan")}}}, "found nan"),
        ({"generate": {"arguments": {"top_pp": 1}}}, "the argument 'top_pp' (did you mean 'top_p'?)"),
        ({"image": {"inputs": {"x": 1}}}, "image.inputs.x: 1"),
        ({"name": "\ud800"}, "'\\ud800'"),
        ({"name": date(2026, 1, 1)}, "name: datetime.date"),
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


@pytest.mark.parametrize("name", ["custom_generate", "trust_remote_code", "logits_processor", "assistant_model"])
@pytest.mark.parametrize("part", ["image", "words", "generate"])
def test_an_argument_that_could_choose_code_is_refused_with_those_that_are_allowed(part: str, name: str) -> None:
    call = {"call": "generate", "inputs": {"x": "x"}, "arguments": {name: "owner/repo"}}
    with pytest.raises(RunError) as caught:
        make_recipe(GOOD | {part: call}, "mine.toml")
    assert caught.value.code == "RECIPE_INVALID"
    assert f"mine.toml: {part}.arguments: the argument '{name}'" in str(caught.value)
    assert ", ".join(sorted(ARGUMENTS)) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bad.toml", b"name = "),
        ("bad.toml", b"x = " + b"[" * 8_000),
        ("bad.toml", b"generate.arguments." + b"a." * 2_000 + b"a = 1"),
        ("bad.toml", b"generate.arguments.height = 0x" + b"f" * 8_000),
        ("bad.toml", b"generate.arguments.height = " + b"9" * 8_000),
        ("bad.toml", b"generate.arguments.top_p = nan"),
        ("bad.toml", b"name = 2026-01-01"),
        ("bad.toml", b"\xff"),
        ("bad.toml", b"#" * (MOST + 1)),
        ("bad.json", b"[" * 8_000),
        ("bad.json", b'{"name": "\\ud800"}'),
        ("bad.json", b'{"generate": {"arguments": {"top_p": NaN}}}'),
        ("bad.json", b'{"generate": {"arguments": {"top_p": 1e999}}}'),
        ("bad.json", b'{"name": "a", "name": "b"}'),
        ("bad.json", b"[]"),
    ],
)
def test_a_file_that_is_no_recipe_is_refused(name: str, text: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(RunError, match=rf"RECIPE_INVALID at {name}"):
        read_recipe(str(tmp_path / name))


def test_the_slowest_file_of_dotted_keys_is_refused_within_seconds(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("a." * 4_000 + "a = 1")
    start = time.process_time()
    with pytest.raises(RunError, match="RECIPE_INVALID"):
        read_recipe(str(path))
    assert time.process_time() - start < 5 * slowness()


@pytest.mark.parametrize("path", ["a\0b", "~no-such-user/x.toml", "/dev/zero", "", "\udcff.toml", "x" * 5_000])
def test_a_path_without_a_plain_file_is_refused(path: str) -> None:
    with pytest.raises(RunError, match="RECIPE_INVALID"):
        read_recipe(path)


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(RunError, match="no plain file"):
        read_recipe(str(tmp_path / "pipe.toml"))


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(RunError, match="did you mean 'janus'"):
        read_recipe("januz")
