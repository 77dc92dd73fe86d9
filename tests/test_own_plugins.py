"""The plugins of these tests: what counts as a test's own CPU seconds, which test is too long, what `--only` keeps."""

import time
from pathlib import Path

import pytest

from tests import only, store
from tests.cpu_seconds import LIMIT, Clock, too_long


def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_what_tests_share_is_not_counted() -> None:
    clock = Clock()
    clock.start()
    work(0.05)
    with clock.sharing():
        work(0.1)
        with clock.sharing():
            work(0.1)
    assert clock.shared == pytest.approx(0.2, abs=0.08)
    assert clock.seconds == pytest.approx(0.05, abs=0.04)


def test_an_unmarked_test_over_the_limit_is_named() -> None:
    tests = {
        "a::long": {"cpu": LIMIT + 0.1, "mark": ""},
        "a::marked": {"cpu": 60.0, "mark": "slow"},
        "a::short": {"cpu": LIMIT, "mark": ""},
    }
    (line,) = too_long(tests)
    assert line.startswith("a::long took 3.1 CPU seconds")


def test_a_file_belongs_to_a_word_by_its_path_or_its_text() -> None:
    folder = Path(__file__).parent
    assert only._named(folder / "builders" / "genres" / "test_plan.py", "genres")
    assert only._named(Path(__file__), "genres")
    assert not only._named(folder / "metrics" / "test_leading_axes.py", "genres")


def test_a_stored_thing_is_made_once_and_again_when_its_sources_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROOT", tmp_path)
    monkeypatch.setattr(store, "STORE", tmp_path / "store")
    source = tmp_path / "code.py"
    calls: list[Path] = []

    def make(folder: Path) -> None:
        calls.append(folder)
        (folder / "thing").write_text(source.read_text())

    def thing() -> str:
        store._hash.cache_clear()
        return (store.stored("thing", make, ("code.py",)) / "thing").read_text()

    for text in ("first", "second"):
        source.write_text(text)
        assert [thing(), thing()] == [text, text]
    assert len(calls) == 2
    assert len(list((tmp_path / "store").glob("thing-*"))) == 1
    source.write_text("third")
    store._hash.cache_clear()
    with pytest.raises(ZeroDivisionError):
        store.stored("thing", lambda folder: 1 / 0, ("code.py",))
    assert not list((tmp_path / "store").glob("thing-?*"))
