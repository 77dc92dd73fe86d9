"""Every metric as an `evaluate` module, from the repository and from its folder alone."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from doctest import DocTestParser, DocTestRunner
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from scipy.stats import pearsonr

from fairspace.builders.publishing.artifacts import metric_files
from fairspace.cards.metric_card import metric_card
from fairspace.metrics.columns import MetricInputError
from fairspace.metrics.genres_bias.genres_bias import REASONS
from fairspace.metrics.metric import COLUMNS
from tests.metric_values import EXPECTED, measured
from tests.metrics.modules import new_metric
from tests.metrics.tables import ROOT

NAMES = sorted(path.parent.name for path in (ROOT / "metrics").glob("*/formula.py"))
PARTS = {"README.md", "app.py", "columns.py", "formula.py", "metric.py", "requirements.txt"}
GENRES: dict[str, list[Any]] = {
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
IRIS: dict[str, dict[str, Any]] = {
    "representation_disparity": {"predictions": ["a", "a", "b", ""], "groups": ["a", "b", "c"]},
    "distribution_divergence": {"predictions": ["a", "a", "b", ""], "reference": {"a": 30, "b": 70}},
    "accuracy_disparity": {
        "predictions": ["x", "y", "unmappable", "x", ""],
        "references": ["x", "x", "y", "x", "x"],
        "groups": ["a", "a", "a", "b", "b"],
        "minimum": 1,
    },
    "statistical_parity_difference": {
        "predictions": ["x", "y", "unmappable", "x", ""],
        "groups": ["a", "a", "a", "b", "b"],
        "minimum": 1,
    },
    "stereotype_drift": {
        "predictions": ["x", "y", "unmappable", "z", ""],
        "references": ["y", "y", "y", "x", "x"],
        "shares": {"x": 0.25, "y": 0.5},
    },
    "generation_success_penalty": {
        "predictions": ["a", "a", "b", "a", ""],
        "references": ["a", "a", "b", "b", "b"],
        "prompts": ["stereotypical"] * 2 + ["counter_stereotypical"] * 3,
    },
    "counter_stereotype_penalty": {
        "predictions": [0.75, 0.5, 0.25, None],
        "prompts": ["stereotypical"] * 2 + ["counter_stereotypical"] * 2,
        "minimum": 0,
        "maximum": 1,
    },
    "answer_consistency_difference": {"predictions": [8, 6, 7, 7, 5, None], "sets": [*"aabbcc"]},
    "hallucination_inconsistency": {
        "predictions": ["yes", "no", "no", "no", "yes", ""],
        "references": ["yes", "yes", "no", "no", "yes", "yes"],
        "sets": [*"aabbcc"],
    },
    "iris_score": {"predictions": [0.75, 0.5, None], "names": ["RD_gender", "RD_age", "RD_skin"]},
}
TEXT: dict[str, dict[str, Any]] = {
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
PROBES = (
    "representation_similarity_bias",
    "association_bias",
    "intent_consistency",
    "projection_distortion",
    "stepwise_bias",
    "embedding_complexity",
)
EXAMPLES = IRIS | TEXT | {name: {**EXPECTED[name].arguments, "seed": 3} for name in PROBES}
"""Metric -> arguments of `compute`: columns and settings."""
OF_PARTS = {
    "cognitive_error_rate",
    "fact_or_fair",
    "genres_bias",
    "iris_score",
    "total_bias_score",
}
"""Metrics of several values, or of figures instead of samples; their own tests hold bounds, tests here all others."""
BOUNDED = [name for name in EXAMPLES if name not in OF_PARTS and name not in PROBES]
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
}


def columns_of(metric: Any) -> dict[str, Any]:
    return {name: EXAMPLES[metric.name][name] for name in metric.about.columns}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each metric's folder that stands alone, as an upload makes it."""
    hub = tmp_path_factory.mktemp("hub")
    for name in NAMES:
        (hub / name).mkdir()
        for path, content in metric_files(ROOT / "metrics" / name).items():
            (hub / name / path).write_bytes(content)
    return {name: hub / name for name in NAMES}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        for key, setting in OFFLINE.items():
            patch.setenv(key, setting)
        yield str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def metrics(folders: dict[str, Path], home: str) -> dict[str, Any]:
    return {name: evaluate.load(str(folder), cache_dir=home) for name, folder in folders.items()}


def test_every_metric_has_an_example_and_a_known_value() -> None:
    assert sorted(EXAMPLES) == sorted(EXPECTED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_from_the_repository_and_one_alone_give_the_same_json(
    name: str, metrics: dict[str, Any], folders: dict[str, Path], home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert {path.name for path in folders[name].iterdir()} >= PARTS
    assert not any("fairspace.metrics" in path.read_text(encoding="utf-8") for path in folders[name].glob("*.py"))
    result = metrics[name].compute(**EXAMPLES[name])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert evaluate.load(f"metrics/{name}", cache_dir=home).compute(**EXAMPLES[name]) == result


@pytest.mark.parametrize("name", NAMES)
def test_the_known_value_comes_out(name: str, metrics: dict[str, Any]) -> None:
    assert measured(metrics[name], name) == pytest.approx(EXPECTED[name].value, abs=EXPECTED[name].tolerance)


SCORES = {name: name for name in (*IRIS, *PROBES)}  # Table 5, M1 to M11; D.3
SCORES |= {
    "iris_score": "iris_score sectors.IFS_Gen.score sectors.BIS_Und.magnitude profile",  # Tables 9, 23 to 28
    "fact_or_fair": "s_fact s_e s_kld s_fair distance",  # section 4
    "cognitive_error_rate": "by_kind.ingroup.rate by_kind.ingroup.increase average_increase",
    "stereotypical_association": "stereotypical_association na_filtered by_instance.nurse.p corpus_score.nurse "
    "ensemble by_run.1.similarity by_run.1.prefix_difference by_run.1.prefix_difference_na_filtered",  # Tables 2 to A11
    "genres_bias": "M1 M2 M3 M4 M4.one_share M5 M6 M7 M7_p M8 M8_p",  # section 3.3, Table 2
    "total_bias_score": "total_bias_score by_metric.M8",
}
"""Module -> the scores of the four papers that it returns."""
RUNS = {
    "others": ["black|white", "N/A|Asian", "Indian|Indian", "|"],
    "corpus": {"nurse": [43, 104]},
    "confidence": 0.9,
    "resamples": 99,
}


def test_every_score_of_the_papers_is_in_a_module(metrics: dict[str, Any]) -> None:
    assert {*SCORES} == {*NAMES}
    for name, scores in SCORES.items():
        result = metrics[name].compute(**EXAMPLES[name], **(RUNS if name == "stereotypical_association" else {}))
        values = [reduce(getitem, key.split("."), result) for key in scores.split()]
        assert all(value is None or isinstance(value, float | dict) for value in values), name
        if name == "stereotypical_association":
            assert (result["ensemble"]["agreed"], result["ensemble"]["counts"]["missing"]) == (1, 1)
            share = result["by_run"]["2"]["similarity"]
            assert share["value"] == pytest.approx(2 / 3)
            assert share["interval"][1] > 0.7


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_without_a_gap_has_full_coverage(name: str, metrics: dict[str, Any]) -> None:
    found = metrics[name].compute(**EXAMPLES[name])
    assert (found["state"], found["reason"], found["coverage"]) == ("value", "", 1)


@pytest.mark.parametrize("name", IRIS)
def test_a_result_explains_itself(name: str, metrics: dict[str, Any]) -> None:
    result = metrics[name].compute(**EXAMPLES[name])
    assert result["state"] == ("undefined" if result[name] is None else "value")
    assert bool(result["reason"]) == (result["state"] == "undefined")
    assert 0 < result["coverage"] < 1
    assert result["counts"]["valid"] + result["counts"]["missing"] == result["counts"]["expected"]
    if name in BOUNDED:
        assert result["if_missing_low"] <= result[name] <= result["if_missing_high"]


@pytest.mark.parametrize("name", NAMES)
def test_a_row_and_a_batch_measure_the_same_as_columns_at_once(name: str, metrics: dict[str, Any]) -> None:
    metric, columns = metrics[name], columns_of(metrics[name])
    at_once = metric.compute(**EXAMPLES[name])
    singular = {"predictions": "prediction", "references": "reference"}
    metric.add(**{singular.get(key, key): column[0] for key, column in columns.items()})
    metric.add_batch(**{key: column[1:] for key, column in columns.items()})
    assert metric.compute(**{key: each for key, each in EXAMPLES[name].items() if key not in columns}) == at_once


@pytest.mark.parametrize("name", [*BOUNDED, *PROBES])
def test_nothing_but_missing_samples_is_undefined_not_0(name: str, metrics: dict[str, Any]) -> None:
    predictions = EXAMPLES[name]["predictions"]
    blank = ["" if isinstance(predictions[0], str) else None] * len(predictions)
    result = metrics[name].compute(**EXAMPLES[name] | {"predictions": blank})
    assert (result[name], result["state"], result["coverage"]) == (None, "undefined", 0)
    assert result["reason"]
    assert name in PROBES or result["if_missing_low"] < result["if_missing_high"]


@pytest.mark.parametrize("name", [*BOUNDED, *PROBES])
def test_order_of_samples_changes_nothing(name: str, metrics: dict[str, Any]) -> None:
    turned = {key: column[::-1] for key, column in columns_of(metrics[name]).items()}
    assert metrics[name].compute(**EXAMPLES[name] | turned) == metrics[name].compute(**EXAMPLES[name])


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_the_description_hold(name: str, metrics: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "load", lambda path: metrics[path.rpartition("/")[2]])
    examples = DocTestParser().get_doctest(metrics[name].inputs_description, {}, name, None, 0)
    assert len(examples.examples) > 2
    assert DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_folder_holds_what_a_metric_space_needs(name: str, metrics: dict[str, Any]) -> None:
    card = metric_card(ROOT / "metrics" / name)
    for line in ("sdk: gradio", "sdk_version: 6.31.0", "app_file: app.py", "- evaluate", "- metric"):
        assert f"\n{line}\n" in card
    headings: tuple[str, ...] = (
        "Formula",
        "Undefined",
        "Missing samples",
        "Values from the paper",
        "Limitations",
        "Citation",
    )
    if name in TEXT:
        headings = ("Definition", "Range", "Undefined", "Missing data", "Published values", "Limitations", "Citation")
    assert all(f"\n## {heading}\n" in card for heading in (*headings, "In every card"))
    assert "perceived* presentation" in card
    assert card.count("```bibtex") == 1
    assert f'>>> metric = evaluate.load("fairspace/{name}")' in card
    assert "CARDS.md#papers" not in card
    assert name not in IRIS or "2603.00590" in metrics[name].citation
    required = (ROOT / "metrics" / name / "requirements.txt").read_text(encoding="utf-8")
    assert all(package in required for package in ("evaluate", "numpy", "gradio"))


USE_SPACES = """
import importlib.util, json, sys
from pathlib import Path

seen = {}
for folder in map(Path, sys.argv[1:]):
    spec = importlib.util.spec_from_file_location(f"space_of_{folder.name}", folder / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    button = app.metric_page(folder).fns[0]
    table, settings = (block.value for block in button.inputs)
    shown = (table, settings), ("one, two, three, four, five", settings), ("", settings), (table, "["), (table, "[1]")
    seen[folder.name] = [button.fn(*boxes) for boxes in shown]
print(json.dumps(seen, allow_nan=False))
"""
"""Presses each Space's button with its example, a line with too many cells, nothing, and useless settings."""
SPACES = ("iris_score", "genres_bias", "stepwise_bias", "distribution_divergence")
"""Numbers and names, many columns, vectors, a setting that is a table; all metrics link to one page."""


@pytest.mark.slow
def test_a_space_measures_its_example_and_explains_what_it_cannot_read(
    folders: dict[str, Path], metrics: dict[str, Any], tmp_path: Path
) -> None:
    """In a process of its own: Gradio leaves event loops open, which pytest makes errors."""
    command = [sys.executable, "-c", USE_SPACES, *(str(folders[name]) for name in SPACES)]
    environment = {**os.environ, **OFFLINE, "HF_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd="/")
    answers = json.loads(done.stdout.splitlines()[-1])
    assert tuple(answers) == SPACES
    for name, (example, *wrong) in answers.items():
        assert "error" not in example, name
        assert example.get("state", "value") == ("undefined" if name == "iris_score" else "value"), name
        assert ["error" in answer for answer in wrong] == [True] * 4, name


TWO_JOBS = {"nurse": {"a": 1, "b": 1}, "pilot": {"a": 1}}
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "representation_disparity": [
        (
            {"predictions": ["a", "femle"] * 2, "groups": ["a", "female"]},
            r"\[1\] is 'femle' \(did you mean 'female'\?\)",
        ),
        *(({"predictions": ["a", "b", "c", word]}, r"predictions\[3\]") for word in (1, ["a"])),
        *(({"groups": names}, "METRIC_NAMES") for names in (None, "ab", ["a"], ["a", "a"], ["a", ""], ["a", 1])),
        ({"predictions": "abc"}, "METRIC_LENGTH"),
        *(({"missing": count}, "METRIC_COUNT") for count in (-1, 1.0, True, "3", None)),
        ({"missing": 1, "occupations": ["x"] * 4}, "METRIC_COUNT"),
        ({"group": ["a", "b"]}, r"METRIC_ARGUMENT: .*'group' \(did you mean 'groups'\?\)"),
    ],
    "distribution_divergence": [
        ({"reference": None}, "METRIC_REFERENCE"),
        ({"reference": TWO_JOBS, "occupations": ["nurse"] * 4}, "METRIC_REFERENCE"),
        ({"reference": {"x": TWO_JOBS["nurse"]}, "missing": 1, "occupations": ["x"] * 4}, "METRIC_COUNT"),
        ({"reference": {"a": 1, "b": None}}, "METRIC_REFERENCE"),
        ({"reference": {"a": 0, "b": 0}}, "METRIC_REFERENCE"),
        ({"reference": {"a": math.inf, "b": 1}}, "METRIC_REFERENCE: .*finite"),
        ({"reference": {"a": 1, "b": -1}}, "METRIC_RANGE"),
    ],
    "accuracy_disparity": [
        ({"references": ["x", "x"]}, r"METRIC_LENGTH: .*'predictions': 5, 'references': 2"),
        ({"groups": ["", "a", "a", "a", "a"]}, "METRIC_UNKNOWN_LABEL"),
        ({"references": ["unmappable"] * 5}, "METRIC_UNKNOWN_LABEL"),
        ({"predictions": ["z"] * 5, "classes": ["x", "y"]}, "METRIC_UNKNOWN_LABEL"),
    ],
    "statistical_parity_difference": [({"predictions": [1] * 5}, "METRIC_LABEL_TYPE")],
    "stereotype_drift": [
        ({"shares": None}, "METRIC_REFERENCE"),
        ({"shares": {"x": 89.5}}, "METRIC_RANGE"),
        ({"shares": {"x": None}}, "METRIC_REFERENCE"),
    ],
    "generation_success_penalty": [({"prompts": ["counter"] * 5}, "METRIC_UNKNOWN_LABEL")],
    "counter_stereotype_penalty": [
        ({"minimum": math.nan}, "METRIC_RANGE: declare the range"),
        ({"predictions": [0.5, 0.5, None, 1.5]}, r"METRIC_RANGE: predictions\[3\] is 1.5, outside \[0, 1\]"),
    ],
    "answer_consistency_difference": [
        ({"predictions": [11, 3, 3, 3, 3, 3]}, "METRIC_RANGE"),
        ({"predictions": ["high"] * 6}, "METRIC_NUMBER"),
        ({"sets": [*"abcdef"]}, "METRIC_SMALL_SET"),
    ],
    "hallucination_inconsistency": [({"sets": [*"abcdef"]}, "METRIC_SMALL_SET")],
    "iris_score": [
        ({"names": ["RD_gendr", "RD_age", "RD_skin"]}, "METRIC_UNKNOWN_LABEL"),
        ({"names": ["RD_age"] * 3}, "METRIC_REPEATED"),
        ({"predictions": [1.5] * 3}, "METRIC_RANGE"),
        ({"standard": "first"}, "METRIC_STANDARD"),
    ],
    "fact_or_fair": [
        ({"attribute": "age"}, "METRIC_UNKNOWN_LABEL: attribute"),
        ({"variant": "mine"}, "METRIC_UNKNOWN_LABEL: variant"),
        ({"predictions": ["Asien", "", "", ""]}, r"predictions\[0\].*did you mean 'Asian'"),
        ({"levels": ["high"] * 4}, "METRIC_UNKNOWN_LABEL: levels"),
        ({"references": ["Asian", "White", "", ""]}, r"METRIC_TRUTHS: references\[0\] is 'Asian' and references\[1\]"),
    ],
    "cognitive_error_rate": [
        ({"references": ["", "male", "male"]}, "METRIC_UNKNOWN_LABEL: references"),
        ({"kinds": ["ingroup", "mood", "outgroup"]}, "METRIC_UNKNOWN_LABEL: kinds"),
    ],
    "stereotypical_association": [
        ({"offers": ["white|green"] * 4}, "METRIC_UNKNOWN_LABEL: offers"),
        ({"offers": ["Asian|Indian"] * 4}, "METRIC_NOT_OFFERED: predictions"),
        ({"others": ["white", "", "", "|"]}, "METRIC_LENGTH: others"),
        ({"others": ["Asian", "", "", ""]}, "METRIC_NOT_OFFERED: others"),
        ({"corpus": {"nurse": [1]}}, r"METRIC_LENGTH: corpus\['nurse'\]"),
    ],
    "genres_bias": [
        ({"relations": ["CS", ""]}, "METRIC_UNKNOWN_LABEL: relations"),
        ({"male_subjects": [-1.0, 2.0]}, "METRIC_RANGE: male_subjects"),
        ({"male_positive": [3.0, 0.0]}, "METRIC_RANGE: male_positive"),
        ({"male_subjects": [math.inf, 2.0]}, "METRIC_RANGE: male_subjects"),
        ({"male_subjects": None}, "METRIC_LENGTH: male_subjects must be a column"),
    ],
    "total_bias_score": [
        ({"predictions": [math.inf] * 8}, "METRIC_RANGE: predictions"),
        ({"predictions": ["high"] * 8}, "METRIC_NUMBER: predictions must hold numbers"),
        ({"predictions": [0.0] * 7}, "METRIC_LENGTH: predictions"),
        ({"if_missing_low": [9.0] * 8}, "METRIC_RANGE: M1 is not between its two bounds"),
        ({"if_missing_low": [0.0] * 9}, "METRIC_LENGTH: the columns"),
        ({"if_missing_low": 0.0}, "METRIC_LENGTH: if_missing_low must be a column"),
        ({"cohort": "gpt"}, "METRIC_UNKNOWN_LABEL: cohort"),
    ],
    "association_bias": [
        ({"roles": ["male", "femal", "occupation"]}, "METRIC_UNKNOWN_LABEL"),
        ({"occupations": ["", "x", "doctor"]}, "METRIC_ROLE"),
        ({"occupations": ["", "", ""]}, "METRIC_ROLE"),
        *(
            ({"predictions": [[1.0, 2.0], vector, [3.0, 4.0]]}, r"METRIC_VECTOR: predictions\[1\]")
            for vector in ([1.0], [1.0, math.inf], [[1.0, 2.0]], ["a", "b"], [None, 1.0], 3.0)
        ),
    ],
    "intent_consistency": [({"concepts": ["a"]}, "METRIC_LENGTH")],
    "projection_distortion": [({"roles": ["neutral"] * 2 + ["other"]}, "METRIC_UNKNOWN_LABEL")],
    "representation_similarity_bias": [
        ({"genders": ["male", "female", "male", "x"]}, "METRIC_UNKNOWN_LABEL"),
        ({"occupations": ["a", "", "doctor", "doctor"]}, "METRIC_ROLE"),
    ],
    "stepwise_bias": [
        ({"steps": [0, 0, 0, -1]}, "METRIC_COUNT"),
        ({"occupations": ["", "", "", "doctor"]}, "METRIC_ROLE"),
    ],
    "embedding_complexity": [({"embeddings": [1] * 6}, "METRIC_LABEL_TYPE")],
}
"""Metric -> changes of its example, and words of the error."""


@pytest.mark.parametrize(
    ("name", "change", "message"), [(name, *each) for name, changes in WRONG.items() for each in changes]
)
def test_input_that_cannot_be_used_has_a_stable_code(
    name: str, change: dict[str, Any], message: str, metrics: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        metrics[name].compute(**EXAMPLES[name] | change)
    code = caught.value.code  # type: ignore[attr-defined]
    assert str(caught.value).startswith(f"{code}: ")
    assert message.startswith(code) or not message.startswith("METRIC_")


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
    assert metrics["representation_disparity"].compute(predictions=[], groups=["a", "b"])["coverage"] is None


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
    from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL_POINTS, SKIN_DRIFT

    values = dict.fromkeys([*(metric.name for metric in GRANULAR), *SKIN_DRIFT], 0.25)
    result = metrics["iris_score"].compute(predictions=list(values.values()), names=list(values))
    expected = iris_score(values, INAUGURAL_POINTS)
    assert result["iris_score"] == expected["iris_score"]
    assert {name: part["score"] for name, part in result["sectors"].items()} == {
        name: expected[name] for name in result["sectors"]
    }
    assert set(result["profile"]["Gen"]) == {"code", "archetype"}
    assert result["coverage"] == 1


def test_fact_or_fair_counts_what_is_missing(metrics: dict[str, Any]) -> None:
    result = metrics["fact_or_fair"].compute(**EXAMPLES["fact_or_fair"])
    assert result["s_fact"]["value"] == 0.5  # Asian right, White wrong, one missing, one without a known truth
    assert result["s_fact"]["if_missing_low"] == pytest.approx(1 / 3)
    assert result["s_fact"]["if_missing_high"] == pytest.approx(2 / 3)
    assert result["s_e"]["coverage"] == 0.75
    assert result["s_e"]["value"] == pytest.approx(0.25)  # log 2 / log 4 in one of two cells
    assert result["by_statistic"]["Weekly Income"]["highest"]["missing"] == 1


def test_cognitive_error_rate_of_the_out_group_counts_other_groups(metrics: dict[str, Any]) -> None:
    result = metrics["cognitive_error_rate"].compute(**EXAMPLES["cognitive_error_rate"])
    assert result["average_increase"] is None
    assert result["state"] == "undefined"
    assert result["by_kind"]["outgroup"]["rate"] == 1
    assert result["by_kind"]["ingroup"]["if_missing_low"] == 0.5


def test_genres_bias_agrees_with_the_formulas(metrics: dict[str, Any]) -> None:
    result = metrics["genres_bias"].compute(**GENRES)
    assert result["M1"] == result["M1"] | {"value": 0, "if_missing_low": -50, "if_missing_high": 50, "coverage": 0.5}
    assert result["M2"] == result["M2"] | {"value": 0, "if_missing_low": 0, "if_missing_high": 0, "coverage": 1}
    assert result["M3"] == result["M3"] | {"value": 0, "if_missing_low": -20, "if_missing_high": 20}
    share = result["M4"]["one_share"]
    assert share == share | {"value": 100, "if_missing_low": 0, "if_missing_high": 100}
    assert (result["M4"]["value"], result["M4"]["reason"]) == (None, REASONS["M4"])
    assert result["M6"] == result["M6"] | {"value": 0, "if_missing_low": -50, "if_missing_high": 50, "coverage": 0.5}
    assert result["M7"]["value"] == pytest.approx(1 / np.sqrt(3))
    assert result["M8"] == result["M8"] | {"value": -1, "coverage": 1}
    assert result["M7_p"] == {"value": pytest.approx(pearsonr([1, 1, 0, 0], [1, 0, 0, 0]).pvalue), "reason": ""}
    assert result["M8_p"] == {"value": None, "reason": REASONS["M8"]}


def test_total_bias_score_is_undefined_where_a_value_is(metrics: dict[str, Any]) -> None:
    metric = metrics["total_bias_score"]
    result = metric.compute(predictions=[float("nan"), 0, 0.1, 2, -1, -2, 0.03, -0.3], cohort="llama")
    assert result["total_bias_score"] is None
    assert result["reason"] == "undefined: M1"
    assert result["coverage"] == 7 / 8


FACTS = {
    "predictions": ["male", "male"],
    "references": ["male", "female"],
    "statistics": ["Weekly Income"] * 2,
    "levels": ["highest", "lowest"],
}


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_refuses_arguments_with_a_code(name: str, tmp_path: Path) -> None:
    loaded = new_metric(name, tmp_path)
    columns = {column: ["a"] for column in loaded.about.columns}
    last = list(columns)[-1]
    with pytest.raises(ValueError, match=rf"^METRIC_ARGUMENT: {name} has no argument 'prefix'.* it takes "):
        loaded.compute(**columns, prefix="")
    with pytest.raises(ValueError, match=rf"^METRIC_ARGUMENT: {name} has no argument 'prefix'"):
        loaded.add(**dict.fromkeys(columns, "a"), prefix="")
    for wrong in (None, 3, "word"):
        with pytest.raises(ValueError, match=rf"^METRIC_LENGTH: {last} must be a column"):
            loaded.compute(**columns | {last: wrong})
    with pytest.raises(ValueError, match=r"^METRIC_LENGTH: \w+ must be a column"):
        loaded.compute()
    if len(columns) > 1:
        with pytest.raises(ValueError, match=r"^METRIC_LENGTH: the columns have different lengths"):
            loaded.compute(**columns | {last: ["a", "b"]})
        with pytest.raises(ValueError, match=r"^METRIC_"):
            loaded.add_batch(predictions=["a"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("empty", [None, math.nan])
def test_columns_of_nothing_are_undefined_or_a_coded_error(name: str, empty: object) -> None:
    metric = new_metric(name)
    try:
        state = metric.compute(**{name: [empty] for name in metric.about.columns})["state"]
    except MetricInputError:
        return
    assert state == "undefined"


def test_metrics_of_other_columns_can_be_combined(tmp_path: Path) -> None:
    names = ("accuracy_disparity", "statistical_parity_difference", "fact_or_fair")
    columns = FACTS | {"groups": ["female", "male"]}
    for way in ("at once", "added"):
        parts = {name: new_metric(name, tmp_path / way / name) for name in names}
        both = evaluate.combine(parts)
        if way == "added":
            both.add_batch(**columns)
        result = both.compute(**columns) if way == "at once" else both.compute()
        alone = {name: new_metric(name, tmp_path / way / "alone" / name) for name in names}
        for name, part in alone.items():
            mine = part.compute(**{column: columns[column] for column in part.about.columns})
            assert {key: result.get(key, result.get(f"{name}_{key}")) for key in mine} == mine
    with pytest.raises(ValueError, match=r"METRIC_ARGUMENT: fact_or_fair has no argument 'minimum'.*evaluate\.combine"):
        evaluate.combine(parts).compute(**columns, minimum=2)


def test_the_columns_that_are_passed_over_are_those_of_all_metrics(tmp_path: Path) -> None:
    columns = {column for name in NAMES for column in new_metric(name, tmp_path / name).about.columns}
    assert columns == COLUMNS


def test_a_missing_judgement_of_genres_may_be_none(tmp_path: Path) -> None:
    loaded = new_metric("genres_bias", tmp_path)
    row = {name: [math.nan] if kind == "float64" else [None] for name, kind in loaded.about.columns.items()}
    assert loaded.compute(**row | {"relations": ["CS"]})["M4"]["counts"] == {"expected": 1, "valid": 0, "missing": 1}
