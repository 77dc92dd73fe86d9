from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fairspace.leaderboard_space.settings import Settings
from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import Sample, draw
from fairspace.submissions.commands.app import app
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.scoring import as_wide, resample
from fairspace.submissions.uncertainty.uncertainty import SETTING, resamples_setting
from fairspace.submissions.values import Value, measured, undefined
from tests.samples import sample

X = np.array([[0.0, 1.0, 2.0, 5.0], [4.0, 4.0, 4.0, 8.0]])


def means(times: Floats) -> Floats:
    return np.asarray(times @ X.T / 4, float)


def design(*names: str) -> Sample:
    return sample(means, *names, strata=np.zeros(4, np.int64))


def values(a: float = 2.0, b: float = 5.0) -> dict[str, Value]:
    return {"a": measured("a", a), "b": measured("b", b), "c": measured("c", 9.0)}


def test_every_value_of_a_design_gets_its_uncertainty_and_keeps_its_draws() -> None:
    found, draws = resample([design("a", "b")], values(), 150)
    assert draws is not None
    assert draws.names == ("a", "b")
    assert draws.centre == pytest.approx(draw(*design("a", "b"), 150).mean(axis=0))
    assert {name for name, value in found.items() if value.uncertainty is not None} == {"a", "b"}
    assert found["c"] == values()["c"]


def test_only_the_draws_that_scores_are_made_of_are_kept() -> None:
    found, draws = resample([design("a", "b")], values(), 150, frozenset({"b"}))
    assert draws is not None
    assert draws.names == ("b",)
    assert found["a"].uncertainty is not None
    assert resample([design("a", "b")], values(), 150, frozenset({"c"}))[1] is None
    assert resample([], values(), 150) == (values(), None)


def test_a_value_without_a_number_has_no_draws_and_the_next_one_has() -> None:
    lacking = values() | {"a": undefined("a", "no samples")}
    found, draws = resample([design("a", "b")], lacking, 150)
    assert draws is not None
    assert draws.names == ("b",)
    assert found["a"] == lacking["a"]


@pytest.mark.parametrize(("number", "fits"), [(2.0 + 1e-6, True), (2.0 + 1e-5, False), (2.0 - 1e-5, False)])
def test_a_table_that_gives_another_number_is_a_mistake(number: float, fits: bool) -> None:
    if fits:
        assert resample([design("a", "b")], values(number), 100)[1] is not None
    else:
        with pytest.raises(ValueError, match=r"a was measured as .*, and its table gives 2\.0"):
            resample([design("a", "b")], values(number), 100)


@pytest.mark.parametrize("number", ["1", "10", "99", "100001"])
def test_too_few_or_too_many_resamples_are_refused_wherever_they_are_set(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rf"is {number}; give 0 \(no intervals\) or a whole number from 100 to 100000"
    monkeypatch.setenv(SETTING, number)
    with pytest.raises(UsageError, match=expected):
        resamples_setting()
    with pytest.raises(UsageError, match=expected):
        Settings.from_environment({SETTING: number})
    with pytest.raises(UsageError, match=expected):
        Settings(resamples=int(number))
    told = CliRunner().invoke(app, ["score", str(tmp_path), "--resamples", number])
    assert isinstance(told.exception, UsageError)
    assert "--resamples is" in str(told.exception)


@pytest.mark.parametrize("number", [0, 100, 1000, 100_000])
def test_none_and_enough_resamples_are_taken(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, str(number))
    assert resamples_setting() == number
    assert Settings.from_environment({SETTING: str(number)}).resamples == number


def test_draws_near_a_floor_vary_as_much_as_their_value_does() -> None:
    column = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(as_wide(column, 0.2), [0.0, 0.2, 0.4], atol=1e-15)
    np.testing.assert_array_equal(as_wide(column, 0.05), column)
    np.testing.assert_array_equal(as_wide(np.full(4, 0.25), 0.1), np.full(4, 0.25))
