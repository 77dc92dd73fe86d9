"""How many resamples may be asked for: none, or enough for the ends of an interval."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairspace.leaderboard_space.settings import Settings
from fairspace.submissions.commands.app import app
from fairspace.submissions.errors import UsageError
from fairspace.submissions.uncertainty.resampling import SETTING, resamples_setting

REFUSED = ["1", "10", "99", "100001"]


@pytest.mark.parametrize("number", REFUSED)
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
