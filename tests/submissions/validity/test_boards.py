"""What rows say: reliability from kept draws, agreement of methods, convergence of benchmarks."""

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from scipy import stats

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Provenance, Row
from fairspace.submissions.uncertainty.draws import keep
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.validity.board_report import board_report
from fairspace.submissions.validity.convergence import convergences
from fairspace.submissions.validity.methods import method_pairs, method_tables, shifts
from fairspace.submissions.validity.model_reliability import model_reliabilities
from fairspace.submissions.validity.rank_correlation import rank_correlation
from fairspace.submissions.values import measured

Run = Callable[..., tuple[int, str, str]]


def row(
    model: str,
    numbers: Mapping[str, float],
    draws: Mapping[str, np.ndarray] | None = None,
    variants: Sequence[Variant] = (),
    provenance: Provenance = "scored here",
) -> Row:
    values = {name: measured(name, number) for name, number in numbers.items()}
    kept = None if draws is None else keep(list(draws), np.stack(list(draws.values()), axis=1))
    result = Result(
        "genres", "zero_centred", {"model": model}, values, Scored({}, "TBS", None), {}, (), kept, tuple(variants)
    )
    return Row(model, model, "", provenance, "", {}, values=values, result=result)


def test_rho_is_scipys_and_its_interval_that_of_bonett_and_wright() -> None:
    first, second = [1.0, 2, 3, 4, 5, 6, 7, 8], [2.0, 1, 4, 3, 6, 5, 8, 8]
    found = rank_correlation(first, second)
    rho = stats.spearmanr(first, second).statistic
    assert found.rho == pytest.approx(rho)
    ends = np.tanh(np.arctanh(rho) + np.array([-1, 1]) * 1.96 * np.sqrt((1 + rho**2 / 2) / 5))
    assert (found.low, found.high) == pytest.approx(tuple(ends), abs=1e-3)


def test_a_perfect_order_has_an_interval_and_few_models_have_none() -> None:
    found = rank_correlation(range(6), range(6))
    assert found.rho == pytest.approx(1)
    assert found.high == 1
    assert found.low is not None
    assert 0.2 < found.low < 0.95
    few = rank_correlation([1.0, 2], [1.0, 2], "models in common")
    assert (few.rho, few.reason) == (None, "too few models in common: 2, and a rank correlation needs 5")
    assert rank_correlation([1.0] * 6, range(6)).reason == "all models have one number"


def test_reliability_over_models_is_the_variance_beyond_the_error_of_a_comparison() -> None:
    rng = np.random.default_rng(5)
    items = rng.normal(0, 1, 200)  # what the drawn items do to all models alike is no error of a comparison
    truth = rng.normal(0, 0.3, 40)
    errors = rng.normal(0, 0.1, (40, 201))
    rows = [
        row(f"m{i}", {"M1": level + e[0]}, {"M1": level + items + e[1:]})
        for i, (level, e) in enumerate(zip(truth, errors, strict=True))
    ]
    (found,) = model_reliabilities(rows, ["M1"])
    assert found.error == pytest.approx(0.1, rel=0.1)
    assert found.spread == pytest.approx(0.3, rel=0.25)
    assert found.coefficient == pytest.approx(0.9, abs=0.05)
    assert found.times == pytest.approx(4 * (found.error or 0) ** 2 / (found.spread or 1) ** 2)


def test_few_models_or_equal_ones_have_no_reliability() -> None:
    rng = np.random.default_rng(6)
    rows = [row(f"m{i}", {"M1": 1.0}, {"M1": rng.normal(1, 0.2, 50)}) for i in range(4)]
    assert model_reliabilities(rows[:2], ["M1"])[0].reason == "2 models with draws; 3 are needed"
    assert model_reliabilities(rows, ["M1"])[0].reason == "the models differ no more than by chance"


def test_methods_that_agree_converge_and_one_that_does_not_is_seen() -> None:
    rng = np.random.default_rng(7)
    rows = []
    for number in range(12):
        m1, m2 = rng.normal(0, 1, 2)
        judge = Variant("judge", "other", {"M1": m1 + rng.normal(0, 0.1), "M2": -m2})
        rows.append(row(f"m{number}", {"M1": m1, "M2": m2}, variants=[judge]))
    (pair,) = method_pairs(method_tables(rows), ["M1", "M2"])
    assert (pair.first, pair.second, pair.models) == ("as scored", "judge: other", 12)
    assert pair.values["M1"].rho is not None
    assert pair.values["M1"].rho > 0.9
    assert pair.values["M2"].rho == pytest.approx(-1)
    (few,) = method_pairs(method_tables(rows[:3]), ["M1", "M2"])
    assert "a rank correlation needs 5" in few.reason


def test_what_a_method_moves_is_counted_in_errors() -> None:
    draws = {"M1": np.random.default_rng(8).normal(0, 1, 200), "M2": np.zeros(200)}
    variant = Variant("authors_reading", "theirs", {"M1": 3.0, "M2": 1.0, "M3": 5.0})
    (found,) = shifts([row("m", {"M1": 0.0, "M2": 0.0, "M3": 5.0}, draws, [variant])])
    assert (found.method, found.results) == ("authors reading: theirs", 1)
    assert (found.values, found.beyond, found.model, found.largest) == (2, 1, "m", "M1")
    assert found.errors == pytest.approx(3, rel=0.15)


def test_the_evaluators_of_printed_rows_are_methods() -> None:
    (cohort,) = board_report("genres", {name: board(name) for name in NAMES}).cohorts
    by_pair = {(pair.first, pair.second): pair for pair in cohort.methods}
    assert list(by_pair) == [("GLM", "Llama"), ("GLM", "Mistral"), ("Llama", "Mistral")]
    assert by_pair["GLM", "Llama"].convergent == pytest.approx(0.971, abs=0.001)
    # Table 2: by Mistral M4 falls where it rises by GLM and Llama
    assert by_pair["GLM", "Mistral"].values["M4"].rho == pytest.approx(-0.943, abs=0.001)
    assert by_pair["Llama", "Mistral"].values["M4"].rho == pytest.approx(-0.829, abs=0.001)


def test_benchmarks_that_share_models_are_compared_by_the_bias_of_each() -> None:
    models = [f"model {number}" for number in range(6)]
    rows = {
        "iris": [row(name, {"JSD_gender_US": n / 10}) for n, name in enumerate(models)],
        "fact_or_fair": [
            row(name.upper().replace(" ", "-"), {"llm_fairness_gender": 1 - n / 10}) for n, name in enumerate(models)
        ],
        "stereotypical_bias": [row(models[0], {"gender_occupation": 0.1})],
    }
    by_pair = {(c.first, c.second): c.correlation for c in convergences(rows)}
    # a higher S_fair is less bias, so both put the models in one order
    assert by_pair["IRIS, JSD_gender_US", "FACT-OR-FAIR, llm_fairness_gender"].rho == pytest.approx(1)
    few = by_pair["IRIS, JSD_gender_US", "Stereotypical bias, gender_occupation"]
    assert (few.models, few.rho) == (1, None)


def test_of_printed_rows_too_few_models_are_in_common() -> None:
    found = convergences({name: board(name) for name in NAMES})
    assert len(found) == 11
    assert all("too few models in common" in pair.correlation.reason for pair in found)
    assert max(pair.correlation.models for pair in found) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_command_tells_what_rows_say(name: str, run: Run) -> None:
    code, out, _ = run("standard", "validate", "--benchmark", name)
    assert code == 0
    assert "Too few models in common" in out
    assert ("Llama / Mistral" in out) == (name == "genres")
    said = json.loads(run("standard", "validate", "--benchmark", name, "--json")[1])
    assert said["benchmark"] == name
