import numpy as np
import pytest

from fairspace.submissions.results.draws import KEPT, keep


def test_draws_come_back_to_a_fortieth_of_an_error() -> None:
    draws = np.random.default_rng(0).normal(5, 2, (150, 2))
    kept = keep(("a", "b"), draws)
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
    kept = keep(("a",), draws)
    assert kept.steps[7, 0] == sign * 127
    assert kept.table()[7, 0] == pytest.approx(kept.centre[0] + sign * 6.35 * kept.error[0])


def test_a_draw_without_a_number_has_none_when_it_comes_back() -> None:
    draws = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    kept = keep(("a", "b"), draws)
    assert np.isnan(kept.table()).tolist() == [[False, True], [True, True], [False, True]]
    assert kept.table()[[0, 2], 0] == pytest.approx([1, 3], abs=0.05)
    assert (kept.centre.tolist(), kept.error.tolist()) == ([2.0, 0.0], [pytest.approx(2**0.5), 0.0])


def test_draws_that_do_not_vary_come_back_as_they_are() -> None:
    assert (keep(("a",), np.full((9, 1), 0.3)).table() == 0.3).all()
    assert keep(("a",), np.full((1, 1), 0.3)).error.tolist() == [0.0]


def test_the_first_draws_are_kept() -> None:
    draws = np.arange(KEPT + 50.0)[:, None]
    kept = keep(("a",), draws)
    assert kept.table().shape == (KEPT, 1)
    assert kept.centre == pytest.approx((KEPT - 1) / 2)
