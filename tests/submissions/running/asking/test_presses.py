"""Presses of Ctrl-C in a running event loop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from fairspace.submissions.running.asking import presses
from fairspace.submissions.running.asking.presses import first_press_counts, one_press_is_enough


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Python's own handler: what a shell starts in the background begins deaf to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def pressed(ended: list[str], times: int) -> None:
    first_press_counts()
    try:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        ended.append("cancelled")
        raise


@pytest.mark.parametrize("times", [1, 2, 5])
def test_the_first_press_cancels_and_the_next_ones_do_nothing(times: int) -> None:
    ended: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), one_press_is_enough():
        asyncio.run(pressed(ended, times))
    assert ended == ["cancelled"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_press_after_a_while_ends_what_does_not_end_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(presses, "PATIENCE", -1.0)
    with pytest.raises(KeyboardInterrupt), one_press_is_enough():
        asyncio.run(pressed(ended, 2))
    assert ended == []
