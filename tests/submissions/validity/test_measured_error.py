"""What another run's samples say of the smallest difference that a run can show."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import ALL_ALIKE, MEASURED, detectable
from fairspace.submissions.benchmarks.power import smallest_difference
from fairspace.submissions.validity.measured_error import MeasuredError, measured_errors
from fairspace.submissions.validity.study import Factor, Study

Run = Callable[..., tuple[int, str, str]]


def passages(count: int) -> dict[str, list[Stimulus]]:
    return {"narrative": [Stimulus(f"cs/young/00/{number}/0", "narrative", "cs", 1) for number in range(count)]}


def test_of_independent_samples_it_is_the_standard_error_of_their_mean() -> None:
    scores = np.random.default_rng(0).normal(0, 2, 900)
    factors = (Factor("prompt", "prompt", np.repeat(np.arange(300), 3)),)
    (error,) = measured_errors([Study("s", "", "", scores, factors, "prompt", means=("M3",))])
    assert (error.value, error.n) == ("M3", 900)
    assert error.drawn == pytest.approx(2 / 30, rel=0.1)
    assert error.repeated == pytest.approx(2 / 30, rel=0.1)


def test_prompts_count_where_they_do_nothing_alike() -> None:
    rng = np.random.default_rng(1)
    prompt = np.repeat(np.arange(400), 4)
    scores = rng.normal(0, 1, 400)[prompt] + rng.normal(0, 1, 1600)
    study = Study("s", "", "", scores, (Factor("prompt", "prompt", prompt),), "prompt", means=("M3",))
    (error,) = measured_errors([study])
    assert error.repeated == pytest.approx(np.sqrt(1 / 1600), rel=0.1)
    assert error.drawn == pytest.approx(np.sqrt(1 / 400 + 1 / 1600), rel=0.1)


def test_of_a_level_of_the_target_it_is_the_error_of_that_level() -> None:
    rng = np.random.default_rng(2)
    level, pair, _ = np.indices((5, 80, 3)).reshape(3, -1)
    scores = rng.normal(0, 1, (5, 80))[level, pair] + level + rng.normal(0, 1, 1200)
    factors = (Factor("level", "prompt", level, fixed=True), Factor("pair", "prompt", pair, within=("level",)))
    study = Study("s", "", "", scores, factors, "level", means_of_levels=("a", "b"), counted="pair")
    errors = measured_errors([study])
    assert [(error.value, error.n) for error in errors] == [("a", 80), ("b", 80)]
    assert errors[0].drawn == pytest.approx(np.sqrt(1 / 80 + 1 / 240), rel=0.15)


def test_values_that_are_no_means_are_left_out() -> None:
    study = Study("s", "", "", np.arange(4.0), (Factor("prompt", "prompt", np.arange(4) // 2),), "prompt")
    assert measured_errors([study]) == []


def test_a_measured_error_takes_the_place_of_what_is_assumed() -> None:
    chosen, whole = passages(360), passages(1440)
    assumed = {value.value: value for value in detectable("genres", chosen, whole)}
    measured = [MeasuredError("M3", 1440, 0.05, 0.08), MeasuredError("M5", 1440, 0.0, 0.4)]
    found = {value.value: value for value in detectable("genres", chosen, whole, measured)}
    assert found["M3"].smallest == pytest.approx(smallest_difference(0.05 * 2))
    assert found["M3"].worst == pytest.approx(smallest_difference(0.08 * 2))
    assert found["M3"].full == pytest.approx(smallest_difference(0.05))
    assert found["M3"].note == MEASURED
    assert found["M5"].smallest == pytest.approx(smallest_difference(0.4 * 2))
    assert found["M5"].note == ALL_ALIKE
    assert found["M1"] == assumed["M1"]


def test_the_dry_run_takes_a_submission(objective: Path, run: Run) -> None:
    asked = ("run", "--dry-run", "--benchmark", "fact_or_fair", "--tasks", "llm_objective", "--model", "openai/m")
    code, out, err = run(*asked, "--like", objective, "--json")
    assert code == 0, err
    notes = {value["value"]: value["note"] for value in json.loads(out)["values"]}
    assert notes["llm_factuality_gender"] == MEASURED
    assert notes["llm_factuality"] != MEASURED
    other = ("run", "--dry-run", "--benchmark", "genres", "--model", "openai/m", "--text-only")
    assert "name one to genres" in run(*other, "--like", objective)[2]
    assert "--like can only be given with --dry-run" in run(*asked[:1], *asked[2:], "--like", objective)[2]
