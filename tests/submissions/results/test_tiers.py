from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri, stdtrit

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.draws import KEPT, keep
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, ranked
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.tiers import Cohort, student, tiered, why_no_tier
from fairspace.submissions.values import measured

BENCH = "stereotypical_bias"
META = {"revision": "1", "organisation": "tests", "licence": "MIT"}


def result(model: str, level: float, noise: np.ndarray, missing: int = 0, **meta: str) -> Result:
    """A model whose six scores are `level`, all moved by the same (k,) noise in every draw."""
    names = [f"{cell.name}{tail}" for cell in CELLS for tail in ("", "_na_filtered")]
    values = {
        name: measured(name, level, low=level, high=level + missing / 100, expected=100, valid=100 - missing)
        for name in names
    }
    shares = {
        f"{cell.name}_{tail}": measured(f"{cell.name}_{tail}", 0.5, low=0.5, high=0.5, expected=100, valid=100)
        for cell in CELLS
        for tail in ("na_rate", "position_share")
    }
    draws = keep(names, np.repeat(level + noise[:, None], len(names), axis=1))
    about = {**META, **meta, "model": model}
    made = Result(
        BENCH,
        "up_to_twenty",
        about,
        values | shares,
        Scored({}, "", None),
        {"submission": model, "dataset_revision": "v2"},
        draws=draws,
    )
    return rescore(made, "up_to_twenty", errors=False)


def lacking(whole: Result, score: str, reason: str = "lost") -> Result:
    """The result with a score that is undefined."""
    lost = replace(whole.scored.scores[score], state="undefined", value=None, low=None, high=None, reason=reason)
    return replace(whole, scored=replace(whole.scored, scores={**whole.scored.scores, score: lost}))


def board(*results: Result) -> dict[str, Row]:
    rows = [scored_row(one, "up_to_twenty") for one in results]
    return {row.model: row for row in tiered(ranked(rows, BENCH), BENCH, "up_to_twenty")}


def waves(errors: float, number: int) -> np.ndarray:
    """(200,) draws with that standard error, orthogonal for each number."""
    turn = np.cos(2 * np.pi * number * np.arange(KEPT) / KEPT)
    return np.asarray(errors * turn / turn.std(ddof=1))


def test_tier_1_holds_the_best_and_all_that_are_not_significantly_worse() -> None:
    """Errors 0.01 each, of differences 0.01 * sqrt(2); tested by t of 199 at 0.03 / 2 over 1, 3 and 6 pairs.

    So the second row of a board differs from 0.0309 on, the third from 0.0368 and the fourth from 0.0401.
    """
    levels = {"a": 0.10, "b": 0.1299, "c": 0.137, "d": 0.1755}
    found = board(*(result(name, level, waves(0.01, 3 + i)) for i, (name, level) in enumerate(levels.items())))
    assert {name: row.tier for name, row in found.items()} == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert {name: row.rank_range for name, row in found.items()} == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}


def test_copies_of_a_row_change_no_other_tier() -> None:
    rng = np.random.default_rng(3)
    levels = {"a": 0.10, "b": 0.12, "c": 0.16, "d": 0.19, "e": 0.25, "f": 0.4}
    rows = [result(name, level, rng.normal(0, 0.01, KEPT)) for name, level in levels.items()]
    tiers = {name: row.tier for name, row in board(*rows).items()}
    assert max(tier or 0 for tier in tiers.values()) > 2
    for copied in rows[:3]:
        copies = [replace(copied, meta={**copied.meta, "model": f"copy {i}"}) for i in range(100)]
        with_copies = board(*copies[:50], *rows, *copies[50:])
        assert {name: with_copies[name].tier for name in levels} == tiers
        assert {row.tier for name, row in with_copies.items() if "copy" in name} == {tiers[copied.meta["model"]]}


def test_equal_numbers_are_copies_only_where_their_draws_are_equal() -> None:
    draws, known = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.ones((3, 2))
    numbers = np.full(3, 0.5)
    two, three = (Cohort(numbers, np.array(each), known).quantiles[-1] for each in (draws, [*draws[:2] * 2, draws[2]]))
    of_two = -ndtri(0.03 / 2)
    assert two == three == pytest.approx(of_two)
    other = Cohort(numbers, draws, np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).quantiles[-1]
    assert other == pytest.approx(-ndtri(0.03 / 2 / 3))


def test_rows_below_never_merge_the_tiers_above() -> None:
    rng = np.random.default_rng(4)
    numbers = np.sort(rng.normal(size=60))
    away = rng.normal(size=(60, KEPT)) * 0.1
    tiers = Cohort(numbers, away, np.ones(away.shape)).tiers()
    assert max(tiers) > 3
    for rows in range(1, 60):
        assert Cohort(numbers[:rows], away[:rows], np.ones((rows, KEPT))).tiers() == tiers[:rows]


def test_tiers_do_not_depend_on_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(6)
    levels = {"a": 0.1, "b": 0.1, "c": 0.13, "d": 0.13, "e": 0.2, "f": 0.2, "g": 0.3}
    rows = [result(name, level, rng.normal(0, 0.02 / (1 + i), KEPT)) for i, (name, level) in enumerate(levels.items())]
    shown = {name: (row.tier, row.rank_range) for name, row in board(*rows).items()}
    for _ in range(10):
        shuffled = board(*(rows[place] for place in rng.permutation(len(rows))))
        assert {name: (row.tier, row.rank_range) for name, row in shuffled.items()} == shown


def test_models_are_compared_on_common_items() -> None:
    """The same noise in both leaves their difference without error: 0.001 apart is enough."""
    noise = waves(0.05, 3)
    found = board(result("a", 0.2, noise), result("b", 0.201, noise))
    assert [found[name].tier for name in "ab"] == [1, 2]


def test_equal_models_share_a_tier_also_without_any_error() -> None:
    found = board(*(result(name, 0.2, np.zeros(KEPT)) for name in "abc"))
    assert {row.tier for row in found.values()} == {1}
    assert {row.rank_range for row in found.values()} == {(1, 3)}


def test_missing_samples_count_against_a_model() -> None:
    """Both values are 0.2; the one with missing answers is ranked by its worst case, 0.3, ten errors away."""
    found = board(result("whole", 0.2, waves(0.007, 3)), result("part", 0.2, waves(0.007, 4), missing=10))
    assert found["whole"].tier == 1
    assert found["part"].tier == 2


def test_what_has_no_draws_or_no_rank_has_no_tier_and_says_why() -> None:
    noise = waves(0.01, 3)
    bare = replace(result("bare", 0.3, noise), draws=None)
    found = board(result("a", 0.2, noise), bare, result("line", 0.1, noise, baseline="random"))
    assert {name: row.tier for name, row in found.items()} == {"a": 1, "bare": None, "line": None}
    assert found["a"].rank_range == (1, 2)  # nothing is known of the other's place
    assert "resamples" in why_no_tier(found["bare"])
    assert "no rank" in why_no_tier(found["line"])
    assert why_no_tier(found["a"]) == ""


@pytest.mark.parametrize("kept", [1, 10, 19])
def test_a_model_with_fewer_than_20_draws_has_no_tier(kept: int) -> None:
    few = result("few", 0.9, waves(0.01, 4)[:kept])
    found = board(result("a", 0.1, waves(0.01, 3)), few, result("b", 0.5, waves(0.01, 5)))
    assert {name: row.tier for name, row in found.items()} == {"a": 1, "few": None, "b": 2}
    assert found["a"].rank_range == (1, 2)
    assert "too few" in why_no_tier(found["few"])
    assert "hand it in again" not in why_no_tier(found["few"])


def test_a_pair_with_too_few_common_draws_has_the_largest_error_that_their_own_allow() -> None:
    """30 draws each, 10 of them common: by t of 19 at 0.03 / 2 more than 2.35 * (0.1 + 0.1) = 0.469 is needed."""
    away, known = np.zeros((2, 50)), np.zeros((2, 50))
    for place, columns in enumerate((slice(0, 30), slice(20, 50))):
        noise = np.tile([1.0, -1.0], 15)
        away[place, columns], known[place, columns] = 0.1 * noise / noise.std(ddof=1), 1.0
    for apart, tiers in ((0.46, [1, 1]), (0.48, [1, 2])):
        cohort = Cohort(np.array([0.1, 0.1 + apart]), away, known)
        assert cohort.errors(np.array([0]), np.array([1]))[0] == pytest.approx(0.2)
        assert cohort.tiers() == tiers


def test_a_result_with_more_draws_than_are_kept_leaves_the_board_standing() -> None:
    long = result("long", 0.9, waves(0.01, 4))
    assert long.draws is not None
    long = replace(long, draws=replace(long.draws, steps=np.tile(long.draws.steps, (5, 1))))
    assert {name: row.tier for name, row in board(result("a", 0.1, waves(0.01, 3)), long).items()} == {
        "a": 1,
        "long": 2,
    }


def test_errors_of_differences_are_those_of_the_draws_that_both_have() -> None:
    rng = np.random.default_rng(5)
    away = rng.normal(size=(4, 50))
    away[rng.random(away.shape) < 0.1] = np.nan
    known = ~np.isnan(away)
    cohort = Cohort(np.zeros(4), np.where(known, away, 0.0), known.astype(float))
    found, common = cohort.errors(np.arange(4), np.arange(4))
    for i in range(4):
        for j in range(4):
            both = (away[i] - away[j])[known[i] & known[j]]
            assert found[i, j] == pytest.approx(both.std(ddof=1), abs=1e-7)
            assert common[i, j] == len(both)


@pytest.mark.parametrize("models", [5, 40])
def test_equal_models_are_told_apart_on_at_most_5_percent_of_boards(models: int) -> None:
    rng = np.random.default_rng(1)
    boards = 400
    torn = 0
    for _ in range(boards):
        numbers = np.sort(rng.normal(size=models))
        cohort = Cohort(numbers, rng.normal(size=(models, KEPT)), np.ones((models, KEPT)))
        torn += max(b for _, b in cohort.ranges(models)) < models or max(cohort.tiers()) > 1
    assert torn / boards <= 0.05 + 2 * (0.05 * 0.95 / boards) ** 0.5


def test_students_t_from_normal_quantiles() -> None:
    shares = np.array([0.0175, 1e-3, 1e-5, 3.5e-8])
    for freedom, apart in ((19, 0.004), (50, 0.001), (199, 0.0001)):
        assert student(-ndtri(shares), freedom) == pytest.approx(-stdtrit(freedom, shares), rel=apart)


def test_most_tiers_of_large_boards_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    n = 300
    away = rng.normal(size=(n, KEPT)) * rng.uniform(0.001, 0.1, n)[:, None]
    cohort = Cohort(np.sort(rng.random(n)), away, np.ones((n, KEPT)))
    worse = cohort.worse(np.arange(n), np.arange(n))
    expected, left, tier = [0] * n, list(range(n)), 0
    while left:
        tier += 1
        own = [i for i in left if not worse[i, left[0]]]
        for i in own:
            expected[i] = tier
        left = [i for i in left if i not in own]
    assert cohort.tiers() == expected
    assert max(expected) > 3
