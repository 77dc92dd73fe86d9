from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.columns import Floats
from fairspace.metrics.intervals import Uncertainty
from fairspace.metrics.resampling import MOST_UNDEFINED
from fairspace.submissions.benchmarks import scoring_table
from fairspace.submissions.benchmarks.benchmark import Scored, Scoring
from fairspace.submissions.results import draws as of_scores
from fairspace.submissions.values import Value, measured

K = 200
Z = 1.959963984540054


def about(
    low: float, high: float, debiased: float | None = None, fair: tuple[float, float] | None = None
) -> Uncertainty:
    mean, most = (None, None) if fair is None else fair
    return Uncertainty("sample", 10, K, 0, (high - low) / 4, low, high, "size", low, high, debiased, mean, most)


def value(name: str, number: float, uncertainty: Uncertainty | None = None) -> Value:
    return replace(measured(name, number, low=number, high=number), uncertainty=uncertainty)


def normal(seed: int, *columns: tuple[float, float]) -> Floats:
    """(K, m) draws with exactly these means and standard errors."""
    drawn = np.random.default_rng(seed).normal(size=(K, len(columns)))
    drawn = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0, ddof=1)
    means, errors = np.array(columns).T
    return np.asarray(means + errors * drawn)


def negated(columns: scoring_table.Columns, weights: scoring_table.Weights) -> scoring_table.Column:
    return -sum(columns[name] for name in weights)


def table(limits: tuple[float, float] = (-np.inf, np.inf), **centres: float) -> scoring_table.ScoringTable:
    weights = {"a": 1.0, "b": 1.0}
    rules = {
        "total": scoring_table.Rule("total", weights, negated, limits, bounds=scoring_table.falling),
        "a": scoring_table.Rule("a", {"a": 1.0}, scoring_table.same),
    }
    return scoring_table.ScoringTable(rules, centres=centres)


def bench(of: scoring_table.ScoringTable) -> Any:
    scoring = Scoring(
        table=lambda standard, changed: of,
        chances=lambda draws, scored, standard, changed: {name: float(len(column)) for name, column in draws.items()},
    )
    return SimpleNamespace(scoring=scoring, table_of=lambda scored, standard, changed: of)


def sure(of: scoring_table.ScoringTable, values: Mapping[str, Value], draws: of_scores.Draws) -> dict[str, Uncertainty]:
    scored = Scored(of.values(values), "total", None)
    (drawn,) = of_scores.many_score_draws(bench(of), [of_scores.Drawn(scored, values, draws)], None)
    return of_scores.uncertainties_of(scored, values, drawn, of)


def test_a_score_of_plain_values_has_the_interval_of_its_draws() -> None:
    values = {"a": value("a", 1.0, about(0.8, 1.2)), "b": value("b", 2.0, about(1.8, 2.2))}
    (score, same_as_value) = sure(table(), values, of_scores.keep(["a", "b"], normal(1, (1, 0.1), (2, 0.1)))).values()
    error = 0.1 * 2**0.5
    assert (score.low, score.high) == pytest.approx((-3 - Z * error, -3 + Z * error), abs=0.1)
    assert score.error == pytest.approx(error, rel=0.1)
    assert score.debiased == pytest.approx(-3)
    assert (score.fair, score.method) == (None, "score")
    assert same_as_value is values["a"].uncertainty


def test_a_score_reaches_the_estimate_without_bias_and_0_where_a_size_may_be_0() -> None:
    """a lies between 0.6 and 1, clearly above 0; b, whose interval begins at 0, may be 0."""
    drawn = of_scores.keep(["a", "b"], normal(2, (1.2, 0.01), (0.3, 0.01)))
    values = {"a": value("a", 1.0, about(0.55, 1.05, 0.6)), "b": value("b", 0.2, about(0.0, 0.22, 0.1))}
    score = sure(table(), values, drawn)["total"]
    assert score.low == pytest.approx(-1.2 - Z * 0.014, abs=0.01)
    assert score.high == pytest.approx(-0.6 + Z * 0.014, abs=0.01)
    assert score.debiased == pytest.approx(-0.7)


def test_what_may_be_0_is_asked_of_all_values_jointly() -> None:
    """1.96 errors below its estimate a size is above 0; at the joint limit of two values it is not."""
    drawn = of_scores.keep(["a", "b"], normal(3, (1, 0.1), (1, 0.1)))
    far, near = value("b", 1.0, about(0.5, 1.2, 0.8)), value("b", 1.0, about(0.02, 1.2, 0.3))
    plain = value("a", 1.0, about(0.8, 1.2))
    assert sure(table(), {"a": plain, "b": far}, drawn)["total"].high < -1.5
    assert sure(table(), {"a": plain, "b": near}, drawn)["total"].high > -1


def test_a_score_of_values_whose_draws_do_not_vary_has_the_room_that_they_have() -> None:
    """Two shares of 1 whose exact intervals begin at 0.9 and 0.8: their sum is 2, and may be 1.7."""
    values = {"a": value("a", 1.0, about(0.9, 1.0)), "b": value("b", 1.0, about(0.8, 1.0))}
    score = sure(table(), values, of_scores.keep(["a", "b"], np.ones((K, 2))))["total"]
    assert (score.low, score.high) == pytest.approx((-2, -1.7))


def test_a_value_may_lie_where_its_distance_is_taken_from() -> None:
    of = scoring_table.ScoringTable(
        {"total": scoring_table.Rule("total", {"a": 1.0}, lambda columns, weights: abs(columns["a"]), bounds=_nearest)},
        centres={"a": 0.0},
    )
    drawn = of_scores.keep(["a"], normal(4, (0.1, 0.1)))
    assert sure(of, {"a": value("a", 0.1, about(-0.1, 0.3))}, drawn)["total"].low == 0
    assert sure(of, {"a": value("a", 0.5, about(0.3, 0.7))}, drawn)["total"].low > 0.25


def _nearest(parts: Mapping[str, Any]) -> tuple[scoring_table.Columns, scoring_table.Columns]:
    low, high = parts["a"].low, parts["a"].high
    return {"a": np.clip(0.0, low, high)}, {"a": np.where(high >= -low, high, low)}


def test_scores_are_made_of_what_fair_models_show_too_and_are_cut_at_their_limits() -> None:
    values = {name: value(name, 0.4, about(0.3, 0.5, 0.4, fair=(0.05, 0.1))) for name in "ab"}
    drawn = of_scores.keep(["a", "b"], normal(5, (0.4, 0.5), (0.4, 0.5)))
    score = sure(table((-0.9, -0.15)), values, drawn)["total"]
    assert (score.fair, score.fair_high) == pytest.approx((-0.15, -0.2))
    assert (score.low, score.high) == (-0.9, -0.15)
    assert -0.9 <= score.percentile_low < score.percentile_high <= -0.15


def test_draws_without_a_number_are_counted_and_endless_ones_have_no_uncertainty() -> None:
    columns = normal(6, (1, 0.1), (1, 0.1))
    columns[: int(K * MOST_UNDEFINED), 0] = np.nan
    values = {"a": value("a", 1.0), "b": value("b", 1.0)}
    score = sure(table(), values, of_scores.keep(["a", "b"], columns))["total"]
    assert (score.undefined, score.resamples) == (K * MOST_UNDEFINED, K)
    columns[-1, 0] = np.nan
    assert sure(table(), values, of_scores.keep(["a", "b"], columns)) == {}
    scored = Scored({"total": measured("total", 2.0)}, "total", None)
    endless = np.where(np.arange(K) == 7, np.inf, 1.0)
    draws = of_scores.ScoreDraws({"total": endless}, {"total": endless}, {"total": endless}, {"total": np.ones(3)})
    assert of_scores.uncertainties_of(scored, {}, draws, table()) == {}
    assert set(of_scores.uncertainties_of(scored, {}, draws, table((0.0, 10.0)))) == {"total"}


def test_chances_are_of_the_draws_about_both_ends() -> None:
    values = {"a": value("a", 1.0, about(0.8, 1.2)), "b": value("b", 2.0, about(1.8, 2.2))}
    drawn = of_scores.keep(["a", "b"], normal(7, (1, 0.1), (2, 0.1)))
    scored = Scored(table().values(values), "total", None)
    shown = of_scores.with_uncertainty(bench(table()), scored, values, drawn, None, scoring_table.AS_RELEASED)
    assert shown.chances == {"total": 2 * K, "a": 2 * K}
    assert shown.scores["a"].uncertainty is values["a"].uncertainty


def test_draws_of_many_results_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for seed, (rows, names) in enumerate([(20, "ab"), (20, "ab"), (30, "ab"), (20, "ba"), (30, "a"), (20, "ab")]):
        drawn = of_scores.keep(list(names), np.random.default_rng(seed).normal(5, 1, (rows, len(names))))
        values = {name: value(name, 5.0 + seed, about(4.0, 6.0 + seed, 4.5)) for name in "ab"}
        results.append(of_scores.Drawn(Scored(table().values(values), "total", None), values, drawn))
    for together in (200, 2):
        monkeypatch.setattr(of_scores, "_TOGETHER", together)
        every = list(of_scores.many_score_draws(bench(table()), results, None))
        assert len(every) == len(results)
        for result, draws in zip(results, every, strict=True):
            (alone,) = of_scores.many_score_draws(bench(table()), [result], None)
            columns = result.draws.columns()
            assert set(draws.replicates) == ({"total", "a"} if "b" in columns else {"a"})
            assert draws.replicates["a"] == pytest.approx(columns["a"])
            for name in draws.replicates:
                for mine, other in zip(
                    (draws.replicates, draws.low, draws.high, draws.points),
                    (alone.replicates, alone.low, alone.high, alone.points),
                    strict=True,
                ):
                    assert mine[name] == pytest.approx(other[name], nan_ok=True)


def test_draws_come_back_to_a_fortieth_of_an_error() -> None:
    draws = np.random.default_rng(0).normal(5, 2, (150, 2))
    kept = of_scores.keep(("a", "b"), draws)
    assert kept.centre == pytest.approx(draws.mean(axis=0))
    assert kept.error == pytest.approx(draws.std(axis=0, ddof=1))
    assert (abs(kept.table() - draws) <= kept.error / 40 + 1e-9).all()
    assert list(kept.columns()) == ["a", "b"]
    assert (kept.columns()["b"] == kept.table()[:, 1]).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_draw_beyond_6_errors_is_kept_as_the_furthest_and_has_a_number(sign: float) -> None:
    """100 draws of 0 and one of ±1 lie ten errors apart; -128 would mean a draw without a number."""
    draws = np.zeros((101, 1))
    draws[7] = sign
    kept = of_scores.keep(("a",), draws)
    assert kept.steps[7, 0] == sign * 127
    assert kept.table()[7, 0] == pytest.approx(kept.centre[0] + sign * 6.35 * kept.error[0])


def test_a_draw_without_a_number_has_none_when_it_comes_back() -> None:
    draws = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    kept = of_scores.keep(("a", "b"), draws)
    assert np.isnan(kept.table()).tolist() == [[False, True], [True, True], [False, True]]
    assert kept.table()[[0, 2], 0] == pytest.approx([1, 3], abs=0.05)
    assert (kept.centre.tolist(), kept.error.tolist()) == ([2.0, 0.0], [pytest.approx(2**0.5), 0.0])


def test_draws_that_do_not_vary_come_back_as_they_are() -> None:
    assert (of_scores.keep(("a",), np.full((9, 1), 0.3)).table() == 0.3).all()
    assert of_scores.keep(("a",), np.full((1, 1), 0.3)).error.tolist() == [0.0]


def test_the_first_draws_are_kept() -> None:
    draws = np.arange(of_scores.KEPT + 50.0)[:, None]
    kept = of_scores.keep(("a",), draws)
    assert kept.table().shape == (of_scores.KEPT, 1)
    assert kept.centre == pytest.approx((of_scores.KEPT - 1) / 2)
