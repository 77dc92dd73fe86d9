"""The bracket of a score and the draws of many results, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.scoring_table import Column, Columns, Rule, ScoringTable, Weights, same
from fairspace.submissions.uncertainty import scores as score_uncertainty
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED, TIED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.draws import Draws, keep
from fairspace.submissions.uncertainty.scores import WITHOUT, many_score_draws, true_draws, turned, uncertainties_of
from fairspace.submissions.values import measured, undefined

Z = 1.959963984540054


def scored(cohort: float = 1.0, **numbers: float) -> Scored:
    values = {name: measured(name, number) for name, number in numbers.items()}
    return Scored(values, "a", None, labels={"cohort": str(cohort)})


def bench(logarithmic: bool = False, limits: tuple[float, float] = WITHOUT) -> Any:
    """A benchmark of which every raw value is a score, times what its standard and the cohort say."""

    def resolve_standard(standard: float, labels: Mapping[str, str]) -> float:
        return standard * float(labels["cohort"])

    def scoring(standard: float, changed: object) -> ScoringTable:
        def times(columns: Columns, weights: Weights) -> Column:
            return standard * same(columns, weights)

        return ScoringTable({name: Rule(name, {name: 1.0}, times, limits) for name in ("a", "b")})

    def table_of(own: Scored, standard: float, changed: object) -> ScoringTable:
        return scoring(resolve_standard(standard, own.labels), changed)

    return SimpleNamespace(
        logarithmic=logarithmic, resolve_standard=resolve_standard, scoring=scoring, table_of=table_of
    )


def test_a_bracket_reaches_from_no_bias_to_the_largest() -> None:
    """The true score may lie below the score by up to `TIED` times what the mean of its draws does."""
    draws = np.array([0.5, 0.6, 0.7, 1.0])
    found = uncertainties_of(scored(a=0.8), {"a": draws}, logarithmic=False)["a"]
    half, bias = Z * draws.std(ddof=1), 0.8 - draws.mean()
    assert (found.low, found.high) == pytest.approx((0.8 - TIED * bias - half, 0.8 + half))
    assert found.debiased == pytest.approx(draws.mean())
    assert found.error == pytest.approx(draws.std(ddof=1))
    assert (found.percentile_low, found.percentile_high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    assert (found.resamples, found.undefined, found.method, found.clusters) == (4, 0, "bracket", 0)
    above = uncertainties_of(scored(a=0.6), {"a": draws}, logarithmic=False)["a"]
    assert (above.low, above.high) == pytest.approx((0.6 - half, 0.6 + TIED * 0.1 + half))


def test_a_logarithmic_score_has_its_bracket_on_the_logarithm() -> None:
    draws = np.array([50.0, 60.0, 70.0, 100.0])
    found = uncertainties_of(scored(a=80.0), {"a": draws}, logarithmic=True)["a"]
    half, middle = Z * np.log(draws).std(ddof=1), np.log(draws).mean()
    ends = np.exp([np.log(80) - TIED * (np.log(80) - middle) - half, np.log(80) + half])
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert found.debiased == pytest.approx(np.exp(middle))
    assert found.error == pytest.approx(draws.std(ddof=1))
    below = uncertainties_of(scored(a=80.0, b=0.1), {"a": draws, "b": draws / 100 - 0.6}, logarithmic=True)
    assert below["a"].low == pytest.approx(found.low)
    assert below["b"].high == pytest.approx(0.1 + Z * draws.std(ddof=1) / 100)  # no logarithm of what is below 0


def test_no_number_of_an_uncertainty_lies_beyond_the_limits_and_an_interval_holds_its_score() -> None:
    draws = {"a": np.array([0.5, 0.6, 0.7, 1.0]), "b": np.array([0.4, 0.4, 0.4])[[0, 1, 2, 2]]}
    found = uncertainties_of(scored(a=0.8, b=0.3), draws, logarithmic=False, limits={"a": (0.55, 0.9)})
    assert (found["a"].low, found["a"].high) == (0.55, 0.9)
    assert (found["a"].percentile_low, found["a"].percentile_high) == pytest.approx((0.55375, 0.885), abs=0.02)
    assert found["a"].error == pytest.approx(np.std([0.55, 0.6, 0.7, 0.9], ddof=1))
    assert (found["b"].low, found["b"].high) == pytest.approx((0.3, 0.3 + TIED * 0.1))
    debiased = uncertainties_of(scored(a=0.8), {"a": draws["a"] / 10}, logarithmic=False, limits={"a": (0.55, 0.9)})
    assert debiased["a"].debiased == 0.55
    assert debiased["a"].high == pytest.approx(0.8 + Z * draws["a"].std(ddof=1) / 10, abs=0.03)


def test_draws_without_a_number_are_counted_and_endless_ones_have_no_uncertainty() -> None:
    draws = {
        "a": np.array([0.5, np.nan, 0.7, 0.6]),
        "b": np.array([0.5, np.inf, 0.7, 0.6]),
        "c": np.array([0.5, np.inf, 0.7, 0.6]),
    }
    found = uncertainties_of(scored(a=0.6, b=0.6, c=0.6), draws, logarithmic=False, limits={"c": (0.0, 1.0)})
    assert list(found) == ["a", "c"]
    assert found["a"].undefined == 1
    assert found["a"].error == pytest.approx(0.1)
    assert found["c"].error == pytest.approx(np.std([0.5, 1.0, 0.7, 0.6], ddof=1))
    assert uncertainties_of(scored(b=0.6), {"b": draws["b"]}, logarithmic=False) == {}
    assert uncertainties_of(scored(a=0.6), {}, logarithmic=False) == {}
    single = uncertainties_of(scored(a=0.6), {"a": np.array([0.5])}, logarithmic=False)["a"]
    assert (single.error, single.low, single.high) == pytest.approx((0, 0.6 - TIED * 0.1, 0.6))


def test_draws_are_turned_round_about_their_score() -> None:
    own = scored(a=0.8, b=0.5)
    assert turned(bench(), own, {"a": np.array([0.7, 1.0])})["a"] == pytest.approx([0.9, 0.6])
    assert turned(bench(logarithmic=True), own, {"a": np.array([0.4, 1.6])})["a"] == pytest.approx([1.6, 0.4])
    few = np.full(100, 0.4)
    few[: int(100 * MOST_UNDEFINED)] = np.nan
    many = few.copy()
    many[-1] = np.nan
    assert list(turned(bench(), own, {"a": few, "b": many, "c": few})) == ["a"]
    own.scores["a"] = undefined("a", "no samples")
    assert turned(bench(), own, {"a": few}) == {}


def test_what_a_true_score_may_be_is_cut_at_its_limits() -> None:
    draws = keep(["a"], np.array([[0.5], [0.8], [1.1]]))
    found = true_draws(bench(limits=(0.6, 1.0)), scored(a=1.6, cohort=2.0), draws, 1.0, AS_RELEASED)
    assert found["a"] == pytest.approx([1.0, 1.0, 1.0])
    found = true_draws(bench(limits=(1.2, 2.0)), scored(a=1.6, cohort=2.0), draws, 1.0, AS_RELEASED)
    assert found["a"] == pytest.approx([2.0, 1.6, 1.2], abs=0.02)


def kept(seed: int, rows: int, *names: str) -> Draws:
    return keep(names, np.random.default_rng(seed).normal(5, 1, (rows, len(names))))


def test_draws_of_many_results_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results differ in their values, their number of draws, and in what the standard is for them."""
    results = [
        (scored(1), kept(0, 20, "a", "b")),
        (scored(2), kept(1, 20, "a", "b")),
        (scored(1), kept(2, 20, "a", "b")),
        (scored(1), kept(3, 30, "a", "b")),
        (scored(1), kept(4, 20, "b", "a")),
        (scored(2), kept(5, 30, "a")),
        (scored(1), kept(6, 20, "a", "b")),
    ]
    about, sizes = bench(), []
    each = about.scoring

    def counted(standard: float, changed: object) -> Any:
        table = each(standard, changed)

        def replicates(columns: Mapping[str, Floats]) -> dict[str, Floats]:
            sizes.append(len(columns["a"]))
            found: dict[str, Floats] = table.replicates(columns)
            return found

        return SimpleNamespace(replicates=replicates)

    about.scoring = counted
    for together, expected in ((200, [60, 20, 30, 20, 30]), (3, [40, 20, 30, 20, 30, 20])):
        sizes.clear()
        monkeypatch.setattr(score_uncertainty, "_TOGETHER", together)
        found = list(many_score_draws(about, results, 10.0))
        assert sizes == expected
        assert len(found) == len(results)
        for (own, draws), columns in zip(results, found, strict=True):
            assert set(columns) == set(draws.names)
            for name, column in draws.columns().items():
                assert columns[name] == pytest.approx(column * 10 * float(own.labels["cohort"]))
