"""Draws are kept to a twentieth of an error, and a draw without a number stays one without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairspace.submissions.uncertainty.draws import KEPT, LARGEST, MOST_NAMES, Draws, keep


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
    """100 draws of 0 and one of ±1 lie ten errors apart; -128 would say that the draw has no number."""
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


def data(**changes: Any) -> dict[str, Any]:
    return keep(("a", "b"), np.random.default_rng(0).normal(5, 2, (4, 2))).to_json() | changes


def test_what_is_written_is_read() -> None:
    kept = Draws.from_json(data())
    assert kept.to_json() == data()
    Draws.from_json(data(centre=[LARGEST, -LARGEST], error=[0.0, 0.0]))
    names = [str(number) for number in range(MOST_NAMES)]
    most = keep(names, np.ones((KEPT, MOST_NAMES))).to_json()
    assert Draws.from_json(most).steps.shape == (KEPT, MOST_NAMES)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"names": []}, "no values"),
        ({"names": ("a", "b")}, "no values"),
        ({"names": ["a"] * (MOST_NAMES + 1)}, "more than 300"),
        ({"names": ["a", "a"]}, "twice"),
        ({"names": ["a", 7]}, "none"),
        ({"centre": [1.0, True]}, "number"),
        ({"centre": [1.0, 1.1 * LARGEST]}, "beyond"),
        ({"centre": [1.0, float("nan")]}, "number"),
        ({"centre": [1.0]}, "fit"),
        ({"error": [1.0]}, "fit"),
        ({"error": [1.0, -1e-9]}, "below 0"),
        ({"draws": 0}, "not from 1"),
        ({"draws": True}, "not from 1"),
        ({"draws": KEPT + 1}, "not from 1"),
        ({"draws": 3}, "fit"),
        ({"draws": 5}, "fit"),
        ({"steps": "AAAAAAAAAAAA==="}, "fit"),
        ({"steps": 12}, "fit"),
        ({"steps": "AAAAAAAAAA=="}, "fit"),
    ],
    ids=str,
)
def test_what_is_no_record_of_draws_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Draws.from_json(data(**changes))
