"""The probes as `evaluate` modules: each loads from a folder that stands alone, in batches too, and checks input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any

import pytest

from tests.metric_values import EXPECTED, measured
from tests.metrics.modules.test_iris_modules import OFFLINE, USE_SPACES
from tests.metrics.tables import ROOT

NAMES = (
    "representation_similarity_bias",
    "association_bias",
    "intent_consistency",
    "projection_distortion",
    "stepwise_bias",
    "embedding_complexity",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    hub = tmp_path_factory.mktemp("hub")
    skip = shutil.ignore_patterns("__pycache__")
    return {name: shutil.copytree(ROOT / "metrics" / name, hub / name, ignore=skip) for name in NAMES}


@pytest.fixture(scope="module")
def metrics(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        for key, setting in OFFLINE.items():
            patch.setenv(key, setting)
        import evaluate

        home = str(tmp_path_factory.mktemp("home"))
        yield {name: evaluate.load(str(folder), cache_dir=home) for name, folder in folders.items()}


@pytest.mark.parametrize("name", NAMES)
def test_copy_that_stands_alone_gives_the_known_value_as_json(name: str, metrics: dict[str, Any]) -> None:
    assert measured(metrics[name], name) == pytest.approx(EXPECTED[name].value, abs=EXPECTED[name].tolerance)
    found = metrics[name].compute(**EXPECTED[name].arguments)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["state"], found["reason"], found["coverage"]) == ("value", "", 1)


@pytest.mark.parametrize("name", NAMES)
def test_batches_measure_the_same_as_columns_at_once(name: str, metrics: dict[str, Any]) -> None:
    columns = dict(EXPECTED[name].arguments)
    at_once = metrics[name].compute(**columns, seed=3)
    for part in (slice(0, 2), slice(2, None)):
        metrics[name].add_batch(**{key: column[part] for key, column in columns.items()})
    assert metrics[name].compute(seed=3) == at_once


@pytest.mark.parametrize("name", NAMES)
def test_nothing_but_missing_vectors_is_undefined_not_0(name: str, metrics: dict[str, Any]) -> None:
    columns = dict(EXPECTED[name].arguments)
    found = metrics[name].compute(**columns | {"predictions": [None] * len(columns["predictions"])})
    assert (found[name], found["state"], found["coverage"]) == (None, "undefined", 0)
    assert found["reason"]


@pytest.mark.parametrize("name", NAMES)
def test_order_of_vectors_changes_nothing(name: str, metrics: dict[str, Any]) -> None:
    columns = EXPECTED[name].arguments
    turned = {key: column[::-1] for key, column in columns.items()}
    assert metrics[name].compute(**turned) == metrics[name].compute(**columns)


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_the_description_hold(name: str, metrics: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import evaluate

    monkeypatch.setattr(evaluate, "load", lambda path: metrics[path.removeprefix("fairspace/")])
    examples = DocTestParser().get_doctest(metrics[name].inputs_description, {}, name, None, 0)
    assert len(examples.examples) > 2
    assert DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_card_has_what_a_metric_space_needs(name: str) -> None:
    card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
    for heading in ("Formula", "Undefined", "Missing samples", "Values from the paper", "Limitations", "Citation"):
        assert f"\n## {heading}\n" in card
    assert "\nsdk: gradio\n" in card


@pytest.mark.slow
def test_every_space_measures_its_example_and_explains_what_it_cannot_read(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", USE_SPACES, *map(str, folders.values())]
    environment = {**os.environ, **OFFLINE, "HF_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd="/")
    answers = json.loads(done.stdout.splitlines()[-1])
    assert set(answers) == set(NAMES)
    for name, (example, too_wide, empty) in answers.items():
        assert example["state"] == "value", name
        assert "error" in too_wide
        assert "error" in empty


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("association_bias", {"roles": ["male", "femal", "occupation"]}, "METRIC_UNKNOWN_LABEL"),
        ("association_bias", {"occupations": ["", "x", "doctor"]}, "METRIC_ROLE"),
        ("association_bias", {"occupations": ["", "", ""]}, "METRIC_ROLE"),
        ("association_bias", {"predictions": [[1, 0], [0], [3, 4]]}, "METRIC_VECTOR"),
        ("intent_consistency", {"concepts": ["a"]}, "METRIC_LENGTH"),
        ("projection_distortion", {"roles": ["neutral"] * 2 + ["other"]}, "METRIC_UNKNOWN_LABEL"),
        ("representation_similarity_bias", {"genders": ["male", "female", "male", "x"]}, "METRIC_UNKNOWN_LABEL"),
        ("representation_similarity_bias", {"occupations": ["a", "", "doctor", "doctor"]}, "METRIC_ROLE"),
        ("stepwise_bias", {"steps": [0, 0, 0, -1]}, "METRIC_COUNT"),
        ("stepwise_bias", {"occupations": ["", "", "", "doctor"]}, "METRIC_ROLE"),
        ("embedding_complexity", {"embeddings": [1] * 6}, "METRIC_LABEL_TYPE"),
    ],
)
def test_input_that_cannot_be_used_has_a_stable_code(
    name: str, change: dict[str, Any], code: str, metrics: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"^{code}: "):
        metrics[name].compute(**{**EXPECTED[name].arguments, **change})
