"""The IRIS metrics as `evaluate` modules: loaded offline from the repository and from a copy of each folder."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "representation_disparity": ({"predictions": ["a", "a", "b", ""]}, {"groups": ["a", "b", "c"]}),
    "distribution_divergence": ({"predictions": ["a", "a", "b", ""]}, {"reference": {"a": 30, "b": 70}}),
    "accuracy_disparity": (
        {
            "predictions": ["x", "y", "unmappable", "x", ""],
            "references": ["x", "x", "y", "x", "x"],
            "groups": ["a", "a", "a", "b", "b"],
        },
        {"minimum": 1},
    ),
    "statistical_parity_difference": (
        {"predictions": ["x", "y", "unmappable", "x", ""], "groups": ["a", "a", "a", "b", "b"]},
        {"minimum": 1},
    ),
    "stereotype_drift": (
        {"predictions": ["x", "y", "unmappable", "z", ""], "references": ["y", "y", "y", "x", "x"]},
        {"shares": {"x": 0.25, "y": 0.5}},
    ),
    "generation_success_penalty": (
        {
            "predictions": ["a", "a", "b", "a", ""],
            "references": ["a", "a", "b", "b", "b"],
            "prompts": ["stereotypical"] * 2 + ["counter_stereotypical"] * 3,
        },
        {},
    ),
    "counter_stereotype_penalty": (
        {"predictions": [0.75, 0.5, 0.25, None], "prompts": ["stereotypical"] * 2 + ["counter_stereotypical"] * 2},
        {"minimum": 0, "maximum": 1},
    ),
    "answer_consistency_difference": (
        {"predictions": [8, 6, 7, 7, 5, None], "sets": ["a", "a", "b", "b", "c", "c"]},
        {},
    ),
    "hallucination_inconsistency": (
        {
            "predictions": ["yes", "no", "no", "no", "yes", ""],
            "references": ["yes", "yes", "no", "no", "yes", "yes"],
            "sets": ["a", "a", "b", "b", "c", "c"],
        },
        {},
    ),
    "iris_score": ({"predictions": [0.75, 0.5, None], "names": ["RD_gender", "RD_age", "RD_skin"]}, {}),
}
"""Columns and settings of each metric, with a missing sample in each."""


OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
}

USE_SPACES = """
import importlib.util, json, sys
from pathlib import Path

seen = {}
for folder in map(Path, sys.argv[1:]):
    sys.path.insert(0, str(folder))
    sys.modules.pop("page", None)
    spec = importlib.util.spec_from_file_location(f"space_of_{folder.name}", folder / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    button = app.demo.fns[0]
    defaults = [block.value for block in button.inputs]
    tables = defaults[0], "one, two, three, four, five", ""
    seen[folder.name] = [button.fn(table, *defaults[1:]) for table in tables]
print(json.dumps(seen))
"""
"""Presses each Space's button with its own example, a line with too many cells, and nothing."""


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The library, offline, with its caches in a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        for key, setting in OFFLINE.items():
            patch.setenv(key, setting)
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("home")))
        import evaluate

        yield evaluate


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A copy of each metric's folder that stands alone, links followed, as an upload makes it."""
    hub = tmp_path_factory.mktemp("hub")
    skip = shutil.ignore_patterns("__pycache__")
    return {name: shutil.copytree(ROOT / "metrics" / name, hub / name, ignore=skip) for name in EXAMPLES}


@pytest.fixture(scope="module")
def metrics(evaluate: Any, folders: dict[str, Path]) -> dict[str, Any]:
    """Each metric, loaded once from its copied folder."""
    return {name: evaluate.load(str(folder)) for name, folder in folders.items()}


@pytest.fixture(scope="module")
def spaces(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each Space answers, from a process of its own: Gradio leaves event loops open, which pytest makes errors."""
    command = [sys.executable, "-c", USE_SPACES, *map(str, folders.values())]
    environment = {**os.environ, **OFFLINE, "HF_HOME": str(tmp_path_factory.mktemp("home"))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd="/")
    answers: dict[str, list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return answers


@pytest.mark.parametrize("name", EXAMPLES)
def test_loads_from_the_repository_by_its_folder(name: str, evaluate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    columns, settings = EXAMPLES[name]
    assert name in evaluate.load(f"metrics/{name}").compute(**columns, **settings)


@pytest.mark.parametrize("name", EXAMPLES)
def test_copy_that_stands_alone_measures_and_explains(name: str, metrics: dict[str, Any]) -> None:
    columns, settings = EXAMPLES[name]
    result = metrics[name].compute(**columns, **settings)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["state"] == ("undefined" if result[name] is None else "value")
    assert bool(result["reason"]) == (result["state"] == "undefined")
    assert 0 < result["coverage"] < 1
    assert result["counts"]["valid"] + result["counts"]["missing"] == result["counts"]["expected"]
    if name != "iris_score":
        assert result["if_missing_low"] <= result[name] <= result["if_missing_high"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_batches_measure_the_same_as_columns_at_once(name: str, metrics: dict[str, Any]) -> None:
    columns, settings = EXAMPLES[name]
    at_once = metrics[name].compute(**columns, **settings)
    for part in (slice(0, 2), slice(2, None)):
        metrics[name].add_batch(**{key: column[part] for key, column in columns.items()})
    assert metrics[name].compute(**settings) == at_once


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_description_hold(
    name: str, metrics: dict[str, Any], evaluate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "load", lambda path: metrics[path.removeprefix("fairspace/")])
    examples = DocTestParser().get_doctest(metrics[name].inputs_description, {}, name, None, 0)
    assert len(examples.examples) > 2
    assert DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_folder_holds_what_a_metric_space_needs(name: str, metrics: dict[str, Any]) -> None:
    card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
    for line in ("sdk: gradio", "sdk_version: 6.31.0", "app_file: app.py", "- evaluate", "- metric"):
        assert f"\n{line}\n" in card
    for heading in ("Formula", "Undefined", "Missing samples", "Values from the paper", "Limitations", "Citation"):
        assert f"\n## {heading}\n" in card
    assert "2603.00590" in metrics[name].citation
    required = (ROOT / "metrics" / name / "requirements.txt").read_text(encoding="utf-8")
    assert all(package in required for package in ("evaluate", "numpy", "gradio"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_space_measures_its_example_and_explains_what_it_cannot_read(
    name: str, spaces: dict[str, list[dict[str, Any]]]
) -> None:
    example, too_wide, empty = spaces[name]
    assert example["state"] == ("undefined" if name == "iris_score" else "value")
    assert "error" in too_wide
    assert "error" in empty


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("representation_disparity", {"predictions": ["femle"], "groups": ["female", "male"]}, "METRIC_UNKNOWN_LABEL"),
    ("representation_disparity", {"predictions": ["a"]}, "METRIC_NAMES"),
    ("representation_disparity", {"predictions": ["a"], "groups": ["a", "a"]}, "METRIC_NAMES"),
    ("representation_disparity", {"predictions": "abc", "groups": ["a", "b"]}, "METRIC_LENGTH"),
    ("representation_disparity", {"predictions": ["a"], "groups": ["a", "b"], "missing": -1}, "METRIC_COUNT"),
    ("representation_disparity", {"predictions": ["a"], "groups": ["a", "b"], "missing": True}, "METRIC_COUNT"),
    (
        "representation_disparity",
        {"predictions": ["a"], "groups": ["a", "b"], "missing": 1, "occupations": ["x"]},
        "METRIC_COUNT",
    ),
    ("distribution_divergence", {"predictions": ["a"]}, "METRIC_REFERENCE"),
    (
        "distribution_divergence",
        {"predictions": ["a"], "reference": {"x": {"a": 1, "b": 1}, "y": {"a": 1}}, "occupations": ["x"]},
        "METRIC_REFERENCE",
    ),
    (
        "distribution_divergence",
        {"predictions": ["a"], "reference": {"x": {"a": 1, "b": 1}}, "missing": 1, "occupations": ["x"]},
        "METRIC_COUNT",
    ),
    ("distribution_divergence", {"predictions": ["a"], "reference": {"a": 1, "b": None}}, "METRIC_REFERENCE"),
    ("distribution_divergence", {"predictions": ["a"], "reference": {"a": 0, "b": 0}}, "METRIC_REFERENCE"),
    ("distribution_divergence", {"predictions": ["a"], "reference": {"a": 1, "b": -1}}, "METRIC_RANGE"),
    ("accuracy_disparity", {"predictions": ["x"], "references": ["x", "x"], "groups": ["a"]}, "METRIC_LENGTH"),
    ("accuracy_disparity", {"predictions": ["x"]}, "METRIC_LENGTH"),
    ("accuracy_disparity", {"predictions": ["x"], "references": ["x"], "groups": [""]}, "METRIC_UNKNOWN_LABEL"),
    (
        "accuracy_disparity",
        {"predictions": ["x"], "references": ["unmappable"], "groups": ["a"]},
        "METRIC_UNKNOWN_LABEL",
    ),
    (
        "accuracy_disparity",
        {"predictions": ["z"], "references": ["x"], "groups": ["a"], "classes": ["x", "y"]},
        "METRIC_UNKNOWN_LABEL",
    ),
    ("statistical_parity_difference", {"predictions": [1], "groups": ["a"]}, "METRIC_LABEL_TYPE"),
    ("stereotype_drift", {"predictions": ["x"], "references": ["x"]}, "METRIC_REFERENCE"),
    ("stereotype_drift", {"predictions": ["x"], "references": ["x"], "shares": {"x": 89.5}}, "METRIC_RANGE"),
    ("stereotype_drift", {"predictions": ["x"], "references": ["x"], "shares": {"x": None}}, "METRIC_REFERENCE"),
    (
        "generation_success_penalty",
        {"predictions": ["a"], "references": ["a"], "prompts": ["counter"]},
        "METRIC_UNKNOWN_LABEL",
    ),
    ("counter_stereotype_penalty", {"predictions": [0.5], "prompts": ["stereotypical"]}, "METRIC_RANGE"),
    (
        "counter_stereotype_penalty",
        {"predictions": [1.5], "prompts": ["stereotypical"], "minimum": 0, "maximum": 1},
        "METRIC_RANGE",
    ),
    ("answer_consistency_difference", {"predictions": [11, 3], "sets": ["a", "a"]}, "METRIC_RANGE"),
    ("answer_consistency_difference", {"predictions": ["high", 3], "sets": ["a", "a"]}, "METRIC_NUMBER"),
    ("answer_consistency_difference", {"predictions": [5], "sets": ["a"]}, "METRIC_SMALL_SET"),
    ("hallucination_inconsistency", {"predictions": ["a"], "references": ["a"], "sets": ["s"]}, "METRIC_SMALL_SET"),
    ("iris_score", {"predictions": [0.5], "names": ["RD_gendr"]}, "METRIC_UNKNOWN_LABEL"),
    ("iris_score", {"predictions": [0.5, 0.5], "names": ["RD_age", "RD_age"]}, "METRIC_REPEATED"),
    ("iris_score", {"predictions": [1.5], "names": ["RD_age"]}, "METRIC_RANGE"),
    ("iris_score", {"predictions": [0.5], "names": ["RD_age"], "standard": "first"}, "METRIC_STANDARD"),
]


@pytest.mark.parametrize(("name", "arguments", "code"), WRONG)
def test_input_that_cannot_be_used_has_a_stable_code(
    name: str, arguments: dict[str, Any], code: str, metrics: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"^{code}: ") as caught:
        metrics[name].compute(**arguments)
    assert caught.value.code == code  # type: ignore[attr-defined]


def test_unknown_label_is_named_with_its_row_and_the_nearest_known_one(metrics: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"predictions\[1\] is 'femle' \(did you mean 'female'\?\)"):
        metrics["representation_disparity"].compute(predictions=["male", "femle"], groups=["female", "male"])


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "iris_score"])
def test_nothing_but_missing_samples_is_undefined_not_0(name: str, metrics: dict[str, Any]) -> None:
    columns, settings = EXAMPLES[name]
    blank = None if isinstance(columns["predictions"][0], float | int) else ""
    result = metrics[name].compute(**{**columns, "predictions": [blank] * len(columns["predictions"])}, **settings)
    assert result[name] is None
    assert result["state"] == "undefined"
    assert result["reason"]
    assert result["if_missing_low"] < result["if_missing_high"]
    assert result["coverage"] == 0


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "iris_score"])
def test_order_of_samples_changes_nothing(name: str, metrics: dict[str, Any]) -> None:
    columns, settings = EXAMPLES[name]
    turned = {key: column[::-1] for key, column in columns.items()}
    assert metrics[name].compute(**turned, **settings) == metrics[name].compute(**columns, **settings)


def test_representation_disparity_is_the_mean_over_occupations(metrics: dict[str, Any]) -> None:
    result = metrics["representation_disparity"].compute(
        predictions=["a", "a", "a", "b", ""],
        occupations=["nurse", "nurse", "pilot", "pilot", "cook"],
        groups=["a", "b"],
        missing={"pilot": 2, "judge": 1},
    )
    assert result["representation_disparity"] == 0.5  # nurse 1, pilot 0; cook and judge have no label
    assert (result["if_missing_low"], result["if_missing_high"]) == (0.25, pytest.approx((1 + 0.5 + 1 + 1) / 4))
    assert result["counts"] == {"expected": 8, "valid": 4, "missing": 4}
    assert result["by_occupation"]["cook"] == {"value": None, "if_missing_low": 0.0, "if_missing_high": 1.0, "valid": 0}


def test_distribution_divergence_is_the_mean_over_occupations_with_figures(metrics: dict[str, Any]) -> None:
    figures = {"nurse": {"a": 1, "b": 1}, "pilot": {"a": 0, "b": 1}}
    result = metrics["distribution_divergence"].compute(
        predictions=["a", "b", "a", "a"], occupations=["nurse", "nurse", "pilot", "astronaut"], reference=figures
    )
    assert result["distribution_divergence"] == pytest.approx(math.log(2) / 2)
    assert result["left_out"] == ["astronaut"]
    assert result["counts"]["expected"] == 3


def test_answers_outside_the_shares_are_no_part_of_the_drift(metrics: dict[str, Any]) -> None:
    result = metrics["stereotype_drift"].compute(
        predictions=["x", "z", "x", ""], references=["y", "y", "z", "z"], shares={"x": 0.25, "y": 0.5}
    )
    assert (result["stereotype_drift"], result["if_missing_low"], result["if_missing_high"]) == (-0.25, -0.25, -0.25)
    assert result["absolute_drift"] == 0.25
    assert result["by_error"] == [{"true": "y", "answered": "x", "count": 1, "drift": -0.25}]


def test_iris_score_of_all_values_has_a_profile(metrics: dict[str, Any]) -> None:
    from fairspace.metrics.iris_score.formula import iris_score
    from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL, SKIN_DRIFT

    values = dict.fromkeys([*(metric.name for metric in GRANULAR), *SKIN_DRIFT], 0.25)
    result = metrics["iris_score"].compute(predictions=list(values.values()), names=list(values))
    expected = iris_score(values, INAUGURAL)
    assert result["iris_score"] == expected["iris_score"]
    assert {name: part["score"] for name, part in result["sectors"].items()} == {
        name: expected[name] for name in result["sectors"]
    }
    assert set(result["profile"]["Gen"]) == {"code", "archetype"}
    assert result["coverage"] == 1
