"""When the collector rests, and what it leaves out afterwards."""

import gc
from collections.abc import Iterator

import pytest

from fairspace.leaderboard_space.folding import collector
from fairspace.leaderboard_space.folding.collector import collect_rarely, pause_collector


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """One number for each time that the collector was told to leave out what there is."""
    times: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: times.append(1))
    monkeypatch.setattr(collector, "_MANY", 1_000)
    gc.enable()
    yield times
    gc.enable()


def test_what_is_loaded_in_bulk_is_left_out_of_later_collections(frozen: list[int]) -> None:
    with pause_collector(many=True):
        assert not gc.isenabled()
        with pause_collector(many=True):  # within another one: that ends it
            loaded = [[number] for number in range(5_000)]
        assert not gc.isenabled()
        assert not frozen
    assert gc.isenabled()
    assert (len(loaded), len(frozen)) == (5_000, 1)


def test_little_is_collected_as_ever(frozen: list[int]) -> None:
    with pause_collector(many=True):
        pass
    with pause_collector(many=False):
        assert gc.isenabled()
    assert not frozen
    with pytest.raises(ZeroDivisionError), pause_collector(many=True):
        1 // 0  # noqa: B018
    assert gc.isenabled()


def test_the_objects_of_a_snapshot_cause_no_collection_of_everything() -> None:
    before = gc.get_threshold()
    phases: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        phases.append(about["generation"])

    try:
        collect_rarely()
        gc.callbacks.append(note)
        snapshot = [[number] for number in range(100_000)]
        gc.callbacks.remove(note)
    finally:
        gc.set_threshold(*before)
    assert len(snapshot) == 100_000
    assert set(phases) == {0}
