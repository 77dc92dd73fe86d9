"""Progress without a terminal: lines with a speed and the time that is left, anew with each count."""

import pytest

from fairspace.submissions import progress


def test_a_count_that_begins_anew_has_a_speed_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter(range(0, 1000, 100))
    monkeypatch.setattr("time.monotonic", lambda: float(next(seconds)))
    with progress.watched() as tell:
        for done, total in ((0, 20), (10, 20), (20, 20), (0, 20), (5, 20)):
            tell("Asking, again", done, total)
    assert capsys.readouterr().err.splitlines() == [
        "Asking: 0 of 20",
        "Asking: 10 of 20, 6.0 a minute, about 2 min left",
        "Asking: 20 of 20, 6.0 a minute, about 0 min left",
        "Asking: 0 of 20",
        "Asking: 5 of 20, 3.0 a minute, about 5 min left",
    ]
