"""The text metrics load offline, from the repository and from a folder copied alone, and refuse bad rows."""

import doctest
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.metrics.tables import ROOT

NAMES = ("fact_or_fair", "cognitive_error_rate", "stereotypical_association", "genres_bias", "total_bias_score")
PARTS = {"README.md", "app.py", "columns.py", "formula.py", "metric.py", "page.py", "requirements.txt"}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`evaluate.load` without a network, with its caches in a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("hf")
        for name in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
            patch.setenv(name, "1")
        import evaluate

        patch.chdir(ROOT)

        def loader(path: str) -> Any:
            return evaluate.load(path, cache_dir=str(home))

        yield loader


@pytest.mark.parametrize("name", NAMES)
def test_docstring_examples_run_from_the_repository(load: Any, name: str) -> None:
    metric = load(f"metrics/{name}")
    examples = doctest.DocTestParser().get_doctest(metric.inputs_description, {}, name, None, 0)
    assert examples.examples
    report: list[str] = []
    doctest.DocTestRunner().run(examples, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_copied_alone_gives_the_same_result(load: Any, name: str, tmp_path: Path) -> None:
    copied = shutil.copytree(ROOT / "metrics" / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    assert {path.name for path in copied.iterdir()} >= PARTS
    assert not any(path.is_symlink() for path in copied.iterdir())
    assert load(str(copied)).compute(**EXAMPLES[name]) == load(f"metrics/{name}").compute(**EXAMPLES[name])


GENRES = {
    "relations": ["CS", "AR"],
    "higher_status": ["male", ""],
    "male_stereoscopic": ["yes", "no"],
    "female_stereoscopic": ["no", "no"],
    "main_character": ["female", "neither"],
    **{key: [1.0, np.nan] for key in ("male_warmth", "male_competence", "female_warmth", "female_competence")},
    **{key: [1.0, 2.0] for key in ("male_valence", "male_matched", "female_valence", "female_matched")},
    **{key: [3.0, np.nan] for key in ("male_subjects", "female_subjects", "male_emotions", "female_emotions")},
    **{key: [2.0, 0.0] for key in ("male_positive", "male_sentences", "female_positive", "female_sentences")},
}
EXAMPLES: dict[str, dict[str, Any]] = {
    "fact_or_fair": {
        "predictions": ["Asian", "", "Black", "White"],
        "references": ["Asian", "Asian", "", "Black"],
        "statistics": ["Weekly Income"] * 4,
        "levels": ["highest", "highest", "lowest", "lowest"],
        "attribute": "race",
    },
    "cognitive_error_rate": {
        "predictions": ["male", "", "female"],
        "references": ["male"] * 3,
        "kinds": ["ingroup", "ingroup", "outgroup"],
    },
    "stereotypical_association": {
        "predictions": ["white", "N/A", "Indian", ""],
        "instances": ["nurse", "nurse", "pilot", "pilot"],
        "offers": ["white|black", "Asian|Indian", "Asian|Indian", "white|Indian"],
        "attribute": "race",
    },
    "genres_bias": GENRES,
    "total_bias_score": {"predictions": [-3.0, 0.0, 0.1, 2.0, -1.0, -2.0, 0.03, -0.3], "cohort": "glm"},
}


def test_fact_or_fair_counts_what_is_missing(load: Any) -> None:
    result = load("metrics/fact_or_fair").compute(**EXAMPLES["fact_or_fair"])
    assert result["s_fact"]["value"] == 0.5  # Asian right, White wrong, one missing, one without a known truth
    assert result["s_fact"]["if_missing_low"] == pytest.approx(1 / 3)
    assert result["s_fact"]["if_missing_high"] == pytest.approx(2 / 3)
    assert result["s_e"]["coverage"] == 0.75
    assert result["s_e"]["value"] == pytest.approx(0.25)  # log 2 / log 4 in one of two cells
    assert result["by_statistic"]["Weekly Income"]["highest"]["missing"] == 1


def test_cognitive_error_rate_of_the_out_group_counts_other_groups(load: Any) -> None:
    result = load("metrics/cognitive_error_rate").compute(**EXAMPLES["cognitive_error_rate"])
    assert result["average_increase"] is None
    assert result["state"] == "undefined"
    assert result["by_kind"]["outgroup"]["rate"] == 1
    assert result["by_kind"]["ingroup"]["if_missing_low"] == 0.5


def test_genres_bias_agrees_with_the_formulas(load: Any) -> None:
    result = load("metrics/genres_bias").compute(**GENRES)
    assert result["M1"] == result["M1"] | {"value": 0, "if_missing_low": -50, "if_missing_high": 50, "coverage": 0.5}
    assert result["M2"] == result["M2"] | {"value": 0, "if_missing_low": 0, "if_missing_high": 0, "coverage": 1}
    assert result["M3"] == result["M3"] | {"value": 0, "if_missing_low": -20, "if_missing_high": 20}
    assert result["M4"] == result["M4"] | {"value": 100, "if_missing_low": 0, "if_missing_high": 100}
    assert result["M4"]["by_relation"]["value"] is None
    assert result["M6"] == result["M6"] | {"value": 0, "if_missing_low": -50, "if_missing_high": 50, "coverage": 0.5}
    assert result["M7"]["value"] == pytest.approx(1 / np.sqrt(3))
    assert result["M8"] == result["M8"] | {"value": -1, "coverage": 1}


def test_total_bias_score_is_undefined_where_a_value_is(load: Any) -> None:
    metric = load("metrics/total_bias_score")
    result = metric.compute(predictions=[float("nan"), 0, 0.1, 2, -1, -2, 0.03, -0.3], cohort="llama")
    assert result["total_bias_score"] is None
    assert result["reason"] == "undefined: M1"
    assert result["coverage"] == 7 / 8


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("fact_or_fair", {"attribute": "age"}, "METRIC_UNKNOWN_LABEL: attribute"),
        ("fact_or_fair", {"variant": "mine"}, "METRIC_UNKNOWN_LABEL: variant"),
        ("fact_or_fair", {"predictions": ["Asien", "", "", ""]}, r"predictions\[0\].*did you mean 'Asian'"),
        ("fact_or_fair", {"levels": ["high"] * 4}, "METRIC_UNKNOWN_LABEL: levels"),
        ("cognitive_error_rate", {"references": ["", "male", "male"]}, "METRIC_UNKNOWN_LABEL: references"),
        ("cognitive_error_rate", {"kinds": ["ingroup", "mood", "outgroup"]}, "METRIC_UNKNOWN_LABEL: kinds"),
        ("stereotypical_association", {"offers": ["white|green"] * 4}, "METRIC_UNKNOWN_LABEL: offers"),
        ("stereotypical_association", {"offers": ["Asian|Indian"] * 4}, "METRIC_NOT_OFFERED: predictions"),
        ("genres_bias", {"relations": ["CS", ""]}, "METRIC_UNKNOWN_LABEL: relations"),
        ("genres_bias", {"male_subjects": [-1.0, 2.0]}, "METRIC_RANGE: male_subjects"),
        ("genres_bias", {"male_positive": [3.0, 0.0]}, "METRIC_RANGE: male_positive"),
        ("genres_bias", {"male_subjects": [float("inf"), 2.0]}, "METRIC_RANGE: male_subjects"),
        ("total_bias_score", {"predictions": [float("inf")] * 8}, "METRIC_RANGE: predictions"),
        ("total_bias_score", {"low": [9.0] * 8}, "METRIC_RANGE: M1 is not between its low and its high"),
        ("total_bias_score", {"predictions": [0.0] * 7}, "METRIC_LENGTH: predictions"),
        ("total_bias_score", {"low": [0.0] * 9}, "METRIC_LENGTH: the columns"),
        ("total_bias_score", {"cohort": "gpt"}, "METRIC_UNKNOWN_LABEL: cohort"),
    ],
)
def test_bad_input_is_refused_with_a_stable_code(load: Any, name: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(f"metrics/{name}").compute(**{**EXAMPLES[name], **change})


@pytest.mark.parametrize("name", NAMES)
def test_card_has_the_front_matter_of_a_metric_space(name: str) -> None:
    text = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    for line in ("sdk: gradio", "sdk_version: 6.31.0", "app_file: app.py", "- evaluate", "- metric"):
        assert line in front
    for section in ("Definition", "Range", "Undefined", "Missing data", "Published values", "Limitations", "Citation"):
        assert f"## {section}" in body


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page of each metric, copied alone, answers to its own example, in a process that knows nothing else."""
    folder = tmp_path_factory.mktemp("spaces")
    for name in NAMES:
        shutil.copytree(ROOT / "metrics" / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", ANSWER, *(str(folder / name) for name in NAMES)],
        cwd="/",
        env=os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf")},
        capture_output=True,
        text=True,
        check=True,
    )
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


ANSWER = """
import importlib, json, os, sys

answers = {}
for folder in sys.argv[1:]:
    os.chdir(folder)
    sys.path[0] = folder
    for name in ("app", "columns", "formula", "metric", "page"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    import app

    answers[os.path.basename(folder)] = app.page.fn(*[part.value for part in app.page.input_components])
print(json.dumps(answers))
"""
"""Imports each page's modules anew, as a Space's process does, and libraries once."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_page_answers_its_own_example_as_a_space_would(name: str, pages: dict[str, Any]) -> None:
    assert ": " in str(pages[name])
    assert "nan" not in str(pages[name])
