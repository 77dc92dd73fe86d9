"""What a server makes after its first page, and when."""

import threading
import time
from pathlib import Path

import pytest

from fairspace.leaderboard_space import app
from fairspace.leaderboard_space.operation.metrics import Metrics
from tests.leaderboard_space.api.spaces import opened


@pytest.fixture
def metrics(tmp_path: Path) -> Metrics:
    with opened(tmp_path) as board:
        return Metrics(board.space)


def waited(metrics: Metrics) -> float:
    """Seconds until the start goes on."""
    began = time.monotonic()
    app._await_pause(metrics)
    return time.monotonic() - began


def test_the_start_goes_on_once_nobody_asks(metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "PAUSE", 0.2)
    assert waited(metrics) < 0.1
    metrics.request("GET", "/", 200, 0.01)
    assert waited(metrics) >= 0.19


def test_the_start_goes_on_at_last_where_somebody_always_asks(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "PAUSE", 30.0)
    monkeypatch.setattr(app, "LONGEST_WAIT", 0.3)
    metrics.request("GET", "/", 200, 0.01)
    start = threading.Thread(target=app._await_pause, args=(metrics,))
    start.start()
    start.join(0.1)
    assert start.is_alive()
    start.join(30)
    assert not start.is_alive()
