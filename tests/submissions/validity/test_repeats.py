"""Halves of the samples, and the agreement of samples of one item."""

import numpy as np
import pandas as pd
import pytest

from fairspace.submissions.uncertainty.design import Design, Floats, Times
from fairspace.submissions.validity.agreement import Agreement, agreements
from fairspace.submissions.validity.halves import on_halves, spearman_brown, splits
from fairspace.submissions.validity.retest import retests
from fairspace.submissions.validity.study import Factor, Study
from fairspace.submissions.values import measured


def mean_design(scores: Floats, strata: np.ndarray, name: str = "mean") -> Design:
    def statistic(times: Times) -> Floats:
        return (times @ scores / times.sum(axis=1))[:, None].astype(np.float64)

    return Design("task", "answer", strata, (name,), statistic)


def agreement(study: Study, factor: str) -> Agreement:
    return next(agreed for agreed in agreements(study) if agreed.factor == factor)


def test_every_stratum_keeps_its_size_in_both_halves() -> None:
    strata = np.repeat([4, 2, 9], [6, 5, 1])
    halves = splits(strata, 30)
    for stratum, size in ((4, 6), (2, 5)):
        assert halves[:, :, strata == stratum].sum(axis=-1) == pytest.approx(np.full((2, 30), size))
    assert not ((halves[0] > 0) & (halves[1] > 0)).any()
    assert ((halves[0] > 0) | (halves[1] > 0)).all()
    sizes = (halves[0][:, strata == 2] > 0).sum(axis=1)
    assert set(sizes.tolist()) == {2, 3}  # an odd stratum gives the larger part to either half


def test_the_difference_of_halves_is_twice_the_standard_error() -> None:
    scores = np.random.default_rng(0).normal(0, 1, 2000)
    (half,) = on_halves([[mean_design(scores, np.zeros(2000, np.int64))]])
    assert half.whole == pytest.approx(scores.mean(), abs=1e-5)
    assert half.difference == pytest.approx(2 / np.sqrt(2000), rel=0.3)
    assert (half.reliability, half.reason) == (None, "1 model; a correlation needs 3")


def test_the_reliability_is_that_of_classical_test_theory() -> None:
    rng, n = np.random.default_rng(1), 50
    truth = rng.normal(0, 0.2, 200)
    models = [[mean_design(rng.normal(level, 1, n), np.zeros(n, np.int64))] for level in truth]
    (half,) = on_halves(models)
    assert half.reliability == pytest.approx(0.04 / (0.04 + 1 / n), abs=0.08)


def test_without_differences_between_models_there_is_no_reliability() -> None:
    same = [[mean_design(np.ones(10), np.zeros(10, np.int64))] for _ in range(3)]
    assert on_halves(same)[0].reason == "the models do not differ"


def test_a_value_that_a_half_does_not_have_says_so() -> None:
    design = mean_design(np.full(4, np.nan), np.zeros(4, np.int64))
    (half,) = on_halves([[design]])
    assert (half.difference, half.reason) == (None, "a half has no number")


def test_designs_that_a_model_lacks_are_left_out() -> None:
    design = mean_design(np.arange(4.0), np.zeros(4, np.int64))
    assert on_halves([[design], []]) == []
    assert on_halves([[design]], frozenset(("other",))) == []


@pytest.mark.parametrize(("r", "reliability"), [(0.5, 2 / 3), (0.8, 8 / 9), (1.0, 1.0)])
def test_spearman_and_brown(r: float, reliability: float) -> None:
    assert spearman_brown(r) == pytest.approx(reliability)
    assert spearman_brown(r, 1) == pytest.approx(r)


def test_kappa_is_fleiss_kappa() -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    ratings = np.random.default_rng(2).choice(3, (30, 5), p=[0.5, 0.3, 0.2])
    ratings[:10] = ratings[:10, :1]
    item, judge = np.indices(ratings.shape).reshape(2, -1)
    factors = (Factor("item", "prompt", item), Factor("judge", "judge", judge))
    study = Study("s", "", "", ratings.ravel().astype(float), factors, "item", answers=ratings.ravel())
    found = agreement(study, "judge")
    peer = fleiss_kappa(aggregate_raters(ratings)[0])
    # Fleiss takes chance from shares with replacement, this from pairs of different samples
    p = np.bincount(ratings.ravel()) / ratings.size
    fleiss = (found.across - np.square(p).sum()) / (1 - np.square(p).sum())
    assert fleiss == pytest.approx(peer)
    assert found.kappa == pytest.approx(peer, abs=0.01)
    assert found.pairs == 30 * 10
    assert found.alike is None


def test_numbers_agree_as_their_intraclass_correlation() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 1, (300, 1)) + rng.normal(0, 1, (300, 4))
    item, sample = np.indices(scores.shape).reshape(2, -1)
    factors = (Factor("item", "prompt", item), Factor("sample", "sample", sample, within=("item",)))
    found = agreement(Study("s", "", "", scores.ravel(), factors, "item"), "sample")
    assert found.kappa == pytest.approx(pd.DataFrame(scores).corr().to_numpy()[np.triu_indices(4, 1)].mean(), abs=0.03)


def test_a_wording_that_moves_answers_is_seen_beside_repeats() -> None:
    item, wording, repeat = np.indices((20, 2, 10)).reshape(3, -1)
    answers = np.where(wording == 0, item % 2, 1 - item % 2)
    factors = (Factor("item", "prompt", item), Factor("wording", "wording", wording))
    found = agreement(Study("s", "", "", answers.astype(float), factors, "item"), "wording")
    assert (found.across, found.alike) == (0.0, 1.0)
    assert found.kappa is not None
    assert found.kappa < -0.9
    assert agreement(Study("s", "", "", answers.astype(float), factors, "item"), "repeat").across == 1.0
    assert repeat.max() == 9


def test_where_all_say_the_same_chance_alone_makes_them_agree() -> None:
    factors = (Factor("item", "prompt", np.arange(6) // 2), Factor("order", "order", np.arange(6) % 2))
    found = agreement(Study("s", "", "", np.ones(6), factors, "item"), "order")
    assert (found.across, found.kappa) == (1.0, None)
    assert agreements(Study("s", "", "", np.full(6, np.nan), factors, "item")) == []


def test_repeated_runs_of_models_have_an_intraclass_correlation() -> None:
    rng = np.random.default_rng(9)
    models = [f"m{number // 2}" for number in range(400)]
    truth = rng.normal(0, 2, 200)
    values = [{"M1": measured("M1", truth[number // 2] + rng.normal(0, 1))} for number in range(400)]
    (test,) = retests(models, values, frozenset(("M1",)))
    assert test.reliability == pytest.approx(4 / 5, abs=0.06)
    assert test.difference == pytest.approx(np.sqrt(2), abs=0.15)
    assert test.runs["m7"] == (values[14]["M1"].value, values[15]["M1"].value)


def test_without_repeated_runs_or_models_there_is_no_retest() -> None:
    values = [{"M1": measured("M1", float(number))} for number in range(4)]
    wanted = frozenset(("M1",))
    assert retests(["a", "b", "c", "d"], values, wanted) == []
    (test,) = retests(["a", "a", "a", "a"], values, wanted)
    assert (test.reliability, test.reason) == (None, "1 model with runs; a correlation needs 3")
    assert test.difference == pytest.approx(np.sqrt(2 * 5 / 3))
    assert retests(["a", "a"], [values[0], {}], wanted) == []


def test_scores_of_more_than_two_sizes_are_numbers() -> None:
    item = np.repeat(np.arange(50), 2)
    scores = item // 10 + np.tile([0.0, 1.0], 50)  # never equal, and yet close
    factors = (Factor("item", "prompt", item), Factor("order", "order", np.tile([0, 1], 50)))
    found = agreement(Study("s", "", "", scores, factors, "item"), "order")
    assert found.kappa is not None
    assert found.kappa > 0.7
